"""Packed responses on disk: what was decoded once, read in blocks of agents as often as a fit asks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.checking import from_record, to_record
from examiner.engines.cell_file import CellFile, disk_error
from examiner.engines.name_numbers import Names
from examiner.engines.packing import Table, decode
from examiner.engines.shard_files import Stamp, check_alike, check_unchanged, shard_paths
from examiner.irt import Dropped
from examiner.irt.estimation.parts import Whole
from examiner.irt.estimation.usable_responses import check_enough_agents, set_aside
from examiner.results import ResponseMatrix
from examiner.results.storage import write_text
from examiner.scores.cells import ratio
from examiner.wording import InputError, shorten

_SCHEMA = "examiner.packed/1"
_PIECE = 1 << 25
_TOGETHER = 256
"""Agents summed up at once: so few that they stay in the processor's cache."""
Progress = Callable[[str, int, int], None]


class PackedNote(NamedTuple):
    """What is stored beside the cells: of which files they are, and who and what they are."""

    stamps: tuple[Stamp, ...]
    success: float | None
    measure: str | None
    bytes: int
    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    dropped: tuple[Dropped, ...]
    left_out: tuple[Dropped, ...]


class Packed:
    """Cells on disk, [agents, tasks], with sums over both."""

    def __init__(self, folder: Path, note: PackedNote, sums: _Sums) -> None:
        self.folder, self.note, self._sums = folder, note, sums
        self._path = folder / "cells"
        self._stamp = Stamp.of(self._path)
        given = sums.given
        self.whole = Whole(
            note.agents,
            note.tasks,
            sums.won,
            sums.tried,
            sums.scores,
            sums.means,
            None if given is None else given.astype(np.float64),
            sums.most,
            note.dropped,
            note.left_out,
        )

    @classmethod
    def open(cls, folder: Path) -> Packed:
        """Return what was packed in a folder before; the shards it was made of need not be there."""
        before = _stored(folder)
        if before is None:
            raise InputError(
                f"There are no packed responses in {shorten(folder, 200)}. Name a folder that all nodes "
                f"see (`--cache`)."
            )
        return cls(folder, before[0]._replace(stamps=()), before[1])

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return self.whole.cells * self.note.bytes

    def check(self) -> None:
        """Refuse to go on where a shard, or what was made of them, has changed."""
        check_unchanged(self.note.stamps)
        check_unchanged([self._stamp])

    def matrix(self, start: int, stop: int) -> ResponseMatrix:
        """Return some agents as a matrix."""
        tasks, size = len(self.whole.tasks), self.note.bytes
        count = (stop - start) * tasks
        kind: type[np.unsignedinteger] = np.uint8 if size == 1 else np.uint16
        cells = np.fromfile(self._path, kind, count, offset=start * tasks * size)
        if len(cells) < count:
            raise InputError(
                f"The packed responses in {shorten(self.folder, 200)} are cut off. Begin again."
            )
        won, tried = unpacked(cells.reshape(-1, tasks), want_trials=self.whole.given is None)
        if tried is None:
            assert self.whole.given is not None
            tried = np.broadcast_to(self.whole.given.astype(won.dtype), won.shape)
        return ResponseMatrix(self.whole.agents[start:stop], self.whole.tasks, (won, tried))


def unpacked(
    cells: NDArray[np.unsignedinteger], *, want_trials: bool
) -> tuple[NDArray[np.unsignedinteger], NDArray[np.unsignedinteger] | None]:
    """Return the successes and trials of cells; `cells` is overwritten."""
    bits = 4 if cells.dtype == np.uint8 else 8
    tried = np.right_shift(cells, bits, dtype=cells.dtype) if want_trials else None
    np.bitwise_and(cells, (1 << bits) - 1, out=cells)
    return cells, tried


class _Sums(NamedTuple):
    """Sums of successes and trials over agents [tasks] and over tasks [agents], and the most trials."""

    won: NDArray[np.float64]
    tried: NDArray[np.float64]
    scores: NDArray[np.float64]
    tries: NDArray[np.float64]
    most: int
    given: NDArray[np.unsignedinteger] | None
    means: NDArray[np.float64]
    """Mean share of successes over the tasks an agent met, [agents]."""

    @classmethod
    def over(cls, blocks: Iterator[NDArray[np.unsignedinteger]], tasks: int) -> _Sums:
        won, tried = np.zeros((2, tasks))
        scores, tries, means, most = [], [], [], 0
        given: NDArray[np.unsignedinteger] | None = None
        alike = True
        for block in blocks:
            k, n = unpacked(block, want_trials=True)
            assert n is not None
            given = n[0].copy() if given is None else given
            same = bool((n == given).all())
            alike = alike and same
            by_task, by_agent = _added(k)
            met, mine = _alike(given, len(n)) if same else _added(n)
            won, tried = won + by_task, tried + met
            scores.append(by_agent)
            tries.append(mine)
            here = int((given if same else n).max(initial=0))
            most = max(most, here)
            means.append(ratio(by_agent, mine) if here <= 1 else ratio(*_shares(k, n)))
        joined = np.concatenate(scores), np.concatenate(tries)
        return cls(won, tried, *joined, most, given if alike else None, np.concatenate(means))


def _added(counts: NDArray[np.unsignedinteger]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sums over agents [tasks] and over tasks [agents], by products: whole numbers below 2²⁴ are exact."""
    by_task, by_agent = np.zeros(counts.shape[1]), np.empty(len(counts))
    ones = np.ones(counts.shape[1], dtype=np.float32)
    for start in range(0, len(counts), _TOGETHER):
        rows = slice(start, start + _TOGETHER)
        some = counts[rows].astype(np.float32)
        by_task += np.ones(len(some), dtype=np.float32) @ some
        by_agent[rows] = some @ ones
    return by_task, by_agent


def _alike(
    given: NDArray[np.unsignedinteger], agents: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The same sums where all agents were given the same trials."""
    each = given.astype(np.float64)
    return agents * each, np.full(agents, each.sum())


def _shares(
    won: NDArray[np.unsignedinteger], tried: NDArray[np.unsignedinteger]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sums of shares of successes over tasks, and how many tasks were met: [agents] each."""
    seen = tried > 0
    met = seen.sum(axis=1, dtype=np.float64)
    shares = np.divide(won, tried, out=np.zeros(won.shape, dtype=np.float32), where=seen)
    return shares.sum(axis=1, dtype=np.float64), met


def packed(
    source: str | Path | Sequence[str | Path],
    folder: Path,
    *,
    measure: str | None = None,
    success: float | None = None,
    progress: Progress | None = None,
) -> Packed:
    """Decode Parquet shards into a folder, or take what was decoded there from the same shards before."""
    paths = [path.absolute() for path in shard_paths(source)]
    stamps = tuple(Stamp.of(path) for path in paths)
    before = _stored(folder)
    if before is not None and before[0][:3] == (stamps, success, measure):
        note = before[0]
        return Packed(folder, note, before[1])
    columns = check_alike(paths, measure)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = CellFile(folder / "cells")
    except OSError as problem:
        raise disk_error(folder / "cells", 0, problem) from None
    table = Table(file, Names(), Names())
    try:
        for done, path in enumerate(paths, start=1):
            decode(path, columns, success, table)
            if progress is not None:
                progress("decoding shards", done, len(paths))
        check_unchanged(stamps)
        if not file.rows:
            raise InputError(f"The shards at {shorten(source, 200)} hold no results. Check them.")
        note, sums = _finished(table, PackedNote(stamps, success, measure, 1, (), (), (), ()))
    except BaseException:
        file.discard()
        raise
    _store(folder, note, sums)
    return Packed(folder, note, sums)


def _finished(table: Table, note: PackedNote) -> tuple[PackedNote, _Sums]:
    """Set aside what cannot be fitted, and leave the file with exactly the rest."""
    file, agents, tasks = table.cells, tuple(table.agents.all()), tuple(table.tasks.all())
    sums = _Sums.over(_blocks(file, len(agents), len(tasks)), len(tasks))
    kept, dropped = set_aside(tasks, sums.won, sums.tried)
    file.cut_to(len(agents))
    if dropped or file.width != len(tasks):
        file.copy(slice(0, len(agents)), np.array(kept), width=len(kept), size=file.bytes)
        rest = _Sums.over(_blocks(file, len(agents), len(kept)), len(kept))
        sums = rest._replace(means=sums.means)  # of all tasks, those set aside among them
    unseen = np.flatnonzero(sums.tries == 0)
    left_out = tuple(
        Dropped(agents[row], "observed only on tasks with constant results") for row in unseen
    )
    if left_out:
        seen = np.flatnonzero(sums.tries > 0)
        file.copy(seen, slice(0, len(kept)), width=len(kept), size=file.bytes)
        agents = tuple(agents[row] for row in seen)
        rest = _Sums.over(_blocks(file, len(agents), len(kept)), len(kept))
        sums = rest._replace(means=sums.means[seen])
    check_enough_agents(len(agents))
    file.close()
    chosen = tuple(tasks[column] for column in kept)
    return note._replace(
        bytes=file.bytes, agents=agents, tasks=chosen, dropped=dropped, left_out=left_out
    ), sums


def _blocks(file: CellFile, agents: int, tasks: int) -> Iterator[NDArray[np.unsignedinteger]]:
    step = max(1, _PIECE // max(1, file.width * file.bytes))
    for start in range(0, agents, step):
        yield file.rows_of(start, min(start + step, agents))[:, :tasks]


def _store(folder: Path, note: PackedNote, sums: _Sums) -> None:
    """Write the note last, so that a folder without one is none."""
    arrays = {name: part for name, part in sums._asdict().items() if part is not None}
    np.savez(folder / "sums.npz", **arrays)
    record: dict[str, Any] = {"schema": _SCHEMA, **to_record(note)}  # Any: JSON values
    write_text(folder / "note.json", json.dumps(record))


def _stored(folder: Path) -> tuple[PackedNote, _Sums] | None:
    """What lies in a folder; None where nothing whole does."""
    try:
        record = json.loads((folder / "note.json").read_text(encoding="utf-8"))
        if record.pop("schema", None) != _SCHEMA:
            return None
        note = from_record(PackedNote, record)
        with np.load(folder / "sums.npz") as arrays:
            held = {name: arrays[name] for name in arrays.files}
        sums = _Sums(**{"given": None, **held, "most": int(held["most"])})
        whole = len(note.agents) * len(note.tasks) * note.bytes
        return (note, sums) if (folder / "cells").stat().st_size == whole else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
