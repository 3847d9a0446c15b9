"""Decoded responses: blocks of agents in Arrow files, with what is known of all, made once from shards.

A folder holds those of any shards, each under a digest of their places, sizes and times of change and of
what a success is. So nothing is ever written anew that somebody reads, and who comes second finds it.
"""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from examiner.engines.decoding import Rows, check_names, check_trials, decode
from examiner.engines.shard_columns import Columns, check_alike
from examiner.engines.shard_places import (
    LocalShard,
    Shard,
    Source,
    Stamp,
    check_unchanged,
    on_this_machine,
    path_of,
    shards_at,
    stamps_of,
)
from examiner.irt import Dropped, Whole, check_enough_agents, set_aside
from examiner.messages import InputError, counted, shorten
from examiner.results import (
    MOST_AGENTS,
    MOST_OBSERVED,
    PROBLEMS,
    Connections,
    ObservedCells,
    ResponseMatrix,
    WeakLink,
    connections,
    connections_of_blocks,
)
from examiner.scores import Learnt, Recipe, ratio
from examiner.validation import from_record, smallest_unsigned, to_record

_SCHEMA = "examiner.decoded/1"
_MOST_FILE_CELLS, _FEWEST_FILE_CELLS = 1 << 24, 1 << 18
"""Cells of one file: several of them are a block, as memory allows."""
PROGRAM = 0.25
"""GB that Python, numpy and polars take before there is any data."""
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Note:
    """What is stored besides names, sums and cells."""

    places: tuple[str, ...]
    """The shards, without secrets."""
    starts: tuple[int, ...]
    """The first agent of each file, and the number of agents."""
    alike: bool
    listed: bool
    most: int
    observed: int
    dropped: tuple[Dropped, ...]
    left_out: tuple[Dropped, ...]
    success: float | None
    taken: str | None
    """The measure that was taken; None where there is a column for each task, or counts."""
    notes: tuple[str, ...]
    weakest: WeakLink | None = None


class DecodedFolder:
    """Responses on disk, in files of agents, and what is known of all of them."""

    def __init__(self, folder: Path, stamps: Sequence[Stamp] = ()) -> None:
        self.folder = folder
        try:
            record = json.loads((folder / "note.json").read_text(encoding="utf-8"))
            note = from_record(Note, record)
            agents, tasks = (pl.read_ipc(folder / f"{name}.arrow") for name in ("agents", "tasks"))
        except (*PROBLEMS, OSError, ValueError, KeyError, TypeError, RecursionError):
            raise unreadable(folder) from None
        self.note, self._stamps = note, (*on_this_machine(stamps),)
        self.given = tasks["given"].to_numpy()
        score = agents["score"].to_numpy()
        names = tuple(agents["agent"].to_list()), tuple(tasks["task"].to_list())
        group = agents["group"].to_numpy()
        joined = None
        if note.weakest is not None or group.any():
            joined = Connections(*names, group, np.zeros(0, dtype=np.int64), note.weakest)
        cells = note.observed if note.listed else len(names[0]) * len(names[1])
        self.whole = Whole(
            *names,
            tasks["won"].to_numpy(),
            tasks["tried"].to_numpy(),
            agents["mean"].to_numpy(),
            note.alike,
            note.most,
            cells,
            (float(score.mean()), max(float(score.std()), 1e-12)),
            note.listed,
            note.dropped,
            tuple(Dropped(agent.name, agent.reason) for agent in note.left_out),
            joined,
            Recipe(note.taken, item=(), reduction="all", success=note.success, learnt=Learnt()),
            note.notes,
        )

    def check(self) -> None:
        """Refuse to go on where a shard on this machine has changed."""
        check_unchanged(
            (LocalShard(Path(stamp.place)).stamp() for stamp in self._stamps), self._stamps
        )

    def matrix(self, start: int, stop: int) -> ResponseMatrix:
        """Return agents from one to another."""
        starts, tasks = self.note.starts, len(self.whole.tasks)
        names = self.whole.agents[start:stop], self.whole.tasks
        first, last = np.searchsorted(starts, [start, stop - 1], side="right") - 1
        try:
            needed = ["won"] if self.note.alike else None
            files = (_file(self.folder, number) for number in range(first, last + 1))
            frames = [pl.read_ipc(path, columns=needed) for path in files]
        except (*PROBLEMS, OSError):
            raise unreadable(self.folder) from None
        if self.note.listed:
            parts = pl.concat(frames, how="vertical_relaxed")
            parts = parts.filter(pl.col("agent").is_between(start, stop, closed="left"))
            agent, task, won, tried = (parts[name].to_numpy() for name in parts.columns)
            cells = ObservedCells.of((stop - start, tasks), agent - start, task, won, tried)
            return ResponseMatrix(*names, cells)
        inside = slice(start - starts[first], stop - starts[first])
        counts = [
            np.broadcast_to(self.given.astype(np.uint16), (stop - start, tasks))
            if name == "tried" and self.note.alike
            else _stacked([frame[name].to_numpy() for frame in frames])[inside]
            for name in ("won", "tried")
        ]
        return ResponseMatrix(*names, (counts[0], counts[1]))


def _stacked(parts: list[NDArray[np.unsignedinteger]]) -> NDArray[np.unsignedinteger]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def decoded(
    source: Source,
    cache: Path,
    *,
    measure: str | None = None,
    success: float | None = None,
    memory: float = 2.0,
    progress: Progress | None = None,
) -> DecodedFolder:
    """Return shards decoded in a folder, now or before."""
    shards = shards_at(source)
    _refuse_the_shards(cache, source, shards)
    stamps = stamps_of(shards)
    key = json.dumps([_SCHEMA, [[s.place, s.marks] for s in stamps], measure, success])
    folder = cache / hashlib.blake2b(key.encode(), digest_size=12).hexdigest()
    if (folder / "note.json").exists():
        try:
            before = DecodedFolder(folder, stamps)
        except InputError:
            shutil.rmtree(folder, ignore_errors=True)
        else:
            notes = (*before.whole.notes, *_recognised(stamps))
            before.whole = replace(before.whole, notes=notes)
            return before
    columns = check_alike(shards, measure)
    work: Path | None = None
    try:
        cache.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix="decoding-", dir=cache))
        rows = Rows(work)
        for number, shard in enumerate(shards, start=1):
            decode(shard, columns, success, rows)
            if progress is not None:
                progress("decoding shards", number, len(shards))
        check_unchanged(stamps_of(shards), stamps)
        check_names(rows, shards)
        if not rows.pieces:
            raise InputError(
                f"The shards from {shorten(shards[0], 200)} on hold no results. Check them."
            )
        _store(rows, work, shards, columns, success, memory)
        for piece in rows.pieces:
            piece.path.unlink()
        if not folder.exists():  # somebody else may have been faster
            work.rename(folder)
    except OSError as problem:
        raise _disk_error(cache, problem) from None
    finally:
        if work is not None:
            shutil.rmtree(work, ignore_errors=True)
    return DecodedFolder(folder, stamps)


def _store(
    rows: Rows,
    folder: Path,
    shards: Sequence[Shard],
    columns: Columns,
    success: float | None,
    memory: float,
) -> None:
    """Write cells of agents × tasks file by file, without what cannot be fitted, and the note last."""
    agents, tasks = rows.agents.all(), rows.tasks.all()
    sums = rows.task_sums()
    kept, dropped = set_aside(tasks, *sums)
    cells = _ListedCells(rows, (len(agents), len(tasks)), np.array(kept), folder, memory)
    starts, numbers = [0], []
    for won, tried in cells.blocks():
        numbers.append(cells.write(len(starts) - 1, won, tried, starts[-1]))
        starts.append(starts[-1] + int(numbers[-1]["seen"].sum()))
    table = pl.concat(numbers).insert_column(0, pl.Series("agent", agents))
    left_out = tuple(
        Dropped(agent, "observed only on tasks with constant results")
        for agent in table.filter(~pl.col("seen"))["agent"]
    )
    table = table.filter("seen").drop("seen").with_columns(group=pl.lit(0, pl.Int64))
    check_enough_agents(len(table))
    notes = columns.notes
    if cells.repeated:
        notes = (*notes, columns.repeated(cells.most))
    note = Note(
        tuple(map(str, shards)),
        tuple(starts),
        cells.alike,
        cells.listed,
        cells.most,
        cells.observed,
        dropped,
        left_out,
        success,
        columns.measure,
        notes,
    )
    given = np.zeros(len(kept)) if cells.given is None else cells.given.astype(np.float64)
    chosen = {"task": [tasks[column] for column in kept], "given": given}
    chosen |= {"won": sums[0][kept], "tried": sums[1][kept]}
    pl.DataFrame(chosen).write_ipc(folder / "tasks.arrow")
    table.write_ipc(folder / "agents.arrow")
    _write_note(folder, note)
    if not cells.alike:
        joined = _connected(DecodedFolder(folder))
        table = table.with_columns(group=pl.Series(joined.agent_group, dtype=pl.Int64))
        table.write_ipc(folder / "agents.arrow")
        _write_note(folder, replace(note, weakest=joined.weakest))


class _ListedCells:
    """Cells of agents × tasks from rows in any order, in blocks of agents that memory holds."""

    def __init__(
        self,
        rows: Rows,
        shape: tuple[int, int],
        kept: NDArray[np.intp],
        folder: Path,
        memory: float,
    ) -> None:
        self._rows, self._shape, self._kept, self._folder = rows, shape, kept, folder
        self.listed = rows.rows < MOST_OBSERVED * shape[0] * shape[1]
        self._together = max(64, int(0.15e9 * memory / (4 * shape[1])))
        cells = np.clip((memory - PROGRAM) * 1e9 / 16, _FEWEST_FILE_CELLS, _MOST_FILE_CELLS)
        self._file = max(64, int(cells) // shape[1])
        self.given: NDArray[np.unsignedinteger] | None = None
        self.alike, self.repeated, self.most, self.observed = not self.listed, False, 0, 0

    def blocks(self) -> Iterator[tuple[NDArray[np.uint16], NDArray[np.uint16]]]:
        """Yield successes and trials of agents, of all tasks, file by file."""
        for start in range(0, self._shape[0], self._together):
            stop = min(start + self._together, self._shape[0])
            won, tried = np.zeros((2, (stop - start) * self._shape[1]), dtype=np.uint16)
            added = count = 0
            for rows in self._rows.of_agents(start, stop):
                agent, task, k, n = (part.to_numpy() for part in rows)
                cell = (agent.astype(np.int64) - start) * self._shape[1] + task
                np.add.at(won, cell, k.astype(np.uint16, copy=False))
                np.add.at(tried, cell, n.astype(np.uint16, copy=False))
                added, count = added + int(n.sum(dtype=np.int64)), count + len(rows)
            if added != int(tried.sum(dtype=np.int64)):
                check_trials(added)  # a count ran over
            self.repeated |= count > int(np.count_nonzero(tried))
            won, tried = (part.reshape(stop - start, -1) for part in (won, tried))
            for first in range(0, stop - start, self._file):
                part = slice(first, first + self._file)
                yield won[part], tried[part]

    def write(
        self,
        number: int,
        won: NDArray[np.uint16],
        tried: NDArray[np.uint16],
        start: int,
    ) -> pl.DataFrame:
        """Write a file of the agents and tasks that can be fitted, and return numbers of all its agents."""
        most = int(tried.max(initial=0))
        kind = smallest_unsigned(most)
        won, tried = won.astype(kind), tried.astype(kind)
        if most <= 1:
            mean = ratio(*(part.sum(axis=1, dtype=np.float64) for part in (won, tried)))
        else:
            observed = tried > 0
            share = np.divide(won, tried, out=np.zeros(won.shape, dtype=np.float32), where=observed)
            mean = ratio(
                share.sum(axis=1, dtype=np.float64), observed.sum(axis=1, dtype=np.float64)
            )
        if len(self._kept) < won.shape[1]:
            won, tried = won[:, self._kept], tried[:, self._kept]
        any_seen = tried.any(axis=1)
        numbers = {"mean": mean, "score": won.sum(axis=1, dtype=np.float64), "seen": any_seen}
        if not any_seen.all():
            won, tried = won[any_seen], tried[any_seen]
        self.most = max(self.most, int(tried.max(initial=0)))
        self.observed += int(np.count_nonzero(tried))
        if self.given is None and len(tried):
            self.given = tried[0].copy()
        self.alike = self.alike and bool((tried == self.given).all())
        if self.listed:
            row, column = np.nonzero(tried)
            cells = {"agent": (row + start).astype(np.uint32), "task": column.astype(np.uint32)}
            frame = pl.DataFrame(cells | {"won": won[row, column], "tried": tried[row, column]})
        else:
            frame = pl.DataFrame([pl.Series("won", won), pl.Series("tried", tried)])
        frame.write_ipc(_file(self._folder, number))
        return pl.DataFrame(numbers)


def _connected(held: DecodedFolder) -> Connections:
    """How agents are connected; the weakest link too, of as many agents as in memory."""
    whole, agents = held.whole, len(held.whole.agents)
    # the weakest link needs all cells in memory
    if agents <= MOST_AGENTS and agents * len(whole.tasks) <= 10_000_000:
        return connections(held.matrix(0, agents))
    trials = (held.matrix(*edges).trials for edges in pairwise(held.note.starts))
    return connections_of_blocks(whole.agents, whole.tasks, trials)


def _file(folder: Path, number: int) -> Path:
    return folder / f"agents-{number:06}.arrow"


def _write_note(folder: Path, note: Note) -> None:
    record: dict[str, Any] = {"schema": _SCHEMA, **to_record(note)}  # Any: JSON values
    (folder / "note.json").write_text(json.dumps(record), encoding="utf-8")


def _refuse_the_shards(folder: Path, source: Source, shards: Sequence[Shard]) -> None:
    """Refuse to decode shards into the folder in which they are."""
    there = {shard.path.parent.resolve() for shard in shards if isinstance(shard, LocalShard)}
    named = path_of(source) if isinstance(source, (str, Path)) else None
    if folder.resolve() in there | ({named.resolve()} if named is not None else set()):
        raise InputError(
            f"The folder {shorten(folder, 200)} is that of the shards themselves. Name another folder for "
            f"what is decoded (`--cache`)."
        )


def _recognised(stamps: Sequence[Stamp]) -> tuple[str, ...]:
    """Say of objects that were decoded before by what they were recognised: not by all they hold."""
    remote = len(stamps) - len(on_this_machine(stamps))
    if not remote:
        return ()
    return (
        f"{counted(remote, 'shard')} at a URL, decoded before and found in the cache, known by rows and "
        f"columns alone. Name another folder (`--cache`) where results in them were changed since.",
    )


def unreadable(folder: Path) -> InputError:
    """Build the error for decoded responses that are not all there."""
    return InputError(
        f"The decoded responses in {shorten(folder, 200)} are missing or damaged. Remove the folder and "
        f"begin again; nodes of a cluster must all see it (`--cache`)."
    )


def _disk_error(folder: Path, problem: OSError) -> InputError:
    """Build the error for a disk that cannot take the decoded responses."""
    full = problem.errno in (errno.ENOSPC, errno.EDQUOT)
    reason = "the disk is full" if full else (problem.strerror or "it cannot be written")
    return InputError(
        f"Cannot write decoded responses to {shorten(folder, 200)}: {reason}. Free space, or name another "
        f"folder (`--cache`)."
    )
