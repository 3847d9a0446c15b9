"""Packed responses on disk: what was decoded once, read in blocks of agents as often as a fit asks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from examiner.engines.cell_file import CellFile, disk_error
from examiner.engines.cell_sums import Sums, unpacked
from examiner.engines.folder_lock import FolderLock, let_go_here
from examiner.engines.name_numbers import Names
from examiner.engines.packed_folder import (
    PackedNote,
    refuse_others,
    refuse_the_shards,
    size_of_cells,
    store,
    stored,
)
from examiner.engines.packing import PackedTable, decode
from examiner.engines.shard_columns import Columns, check_alike
from examiner.engines.shard_places import (
    LocalShard,
    Shard,
    Source,
    Stamp,
    check_unchanged,
    on_this_machine,
    shards_at,
    stamps_of,
)
from examiner.engines.sparse_cells import cut_off, listed, thin_out
from examiner.irt import Dropped, Whole, check_enough_agents, set_aside
from examiner.messages import InputError, counted, shorten
from examiner.results import (
    MOST_AGENTS,
    MOST_OBSERVED,
    Connections,
    ResponseMatrix,
    connections,
    connections_of_blocks,
    in_short_blocks,
)
from examiner.scores import Learnt, Recipe

_FEW_CELLS = 10_000_000
"""Up to here the weakest link between agents is looked for with all cells in memory."""
_PIECE = 1 << 25
_WAIT_SECONDS = 0.1
Progress = Callable[[str, int, int], None]


class Packed:
    """Cells on disk, [agents, tasks], with sums over both."""

    def __init__(
        self, folder: Path, note: PackedNote, sums: Sums, lock: FolderLock | None = None
    ) -> None:
        self.folder, self.note, self.sums, self._lock = folder, note, sums, lock
        self._path = folder / "cells"
        self._files = (*on_this_machine(note.stamps), LocalShard(self._path).stamp())
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
            _connections(note, sums),
            Recipe(note.taken, item=(), reduction="all", success=note.success, learnt=Learnt()),
            note.notes,
            listed=None if sums.starts is None else sums.observed,
        )

    @classmethod
    def open(cls, folder: Path) -> Packed:
        """Return what was packed in a folder before; the shards it was made of need not be there."""
        before = stored(folder)
        if before is None:
            raise InputError(
                f"There are no packed responses in {shorten(folder, 200)}. Name a folder that all nodes "
                f"see (`--cache`)."
            )
        return cls(folder, before[0]._replace(stamps=()), before[1])

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return size_of_cells(self.note, self.sums)

    def check(self) -> None:
        """Refuse to go on where a file, of shards or made of them, has changed; objects are not asked."""
        check_unchanged((LocalShard(Path(file.place)).stamp() for file in self._files), self._files)

    def matrix(self, start: int, stop: int) -> ResponseMatrix:
        """Return some agents as a matrix."""
        if self.sums.starts is not None:
            found = listed(
                self.folder, self.sums.starts, (start, stop), len(self.whole.tasks), self._kind
            )
            return ResponseMatrix(self.whole.agents[start:stop], self.whole.tasks, found)
        cells = self._cells(start, stop)
        won, tried = unpacked(cells, want_trials=self.whole.given is None)
        if tried is None:
            assert self.whole.given is not None
            tried = np.broadcast_to(self.whole.given.astype(won.dtype), won.shape)
        return ResponseMatrix(self.whole.agents[start:stop], self.whole.tasks, (won, tried))

    @property
    def _kind(self) -> type[np.unsignedinteger]:
        return np.uint8 if self.note.bytes == 1 else np.uint16

    def _cells(self, start: int, stop: int) -> NDArray[np.unsignedinteger]:
        tasks = len(self.whole.tasks)
        count = (stop - start) * tasks
        cells = np.fromfile(self._path, self._kind, count, offset=start * tasks * self.note.bytes)
        if len(cells) < count:
            raise cut_off(self.folder)
        return cells.reshape(-1, tasks)


def packed(
    source: Source,
    folder: Path,
    *,
    measure: str | None = None,
    success: float | None = None,
    progress: Progress | None = None,
) -> Packed:
    """Decode Parquet shards into a folder, or take what was decoded there from the same shards before.

    One process decodes while others that want the same wait; a folder that is read is not written anew.
    """
    shards = shards_at(source)
    refuse_the_shards(folder, source, shards)
    stamps = stamps_of(shards)
    asked = PackedNote(stamps, success, measure, 1, (), (), (), ())
    columns = None
    if _same(stored(folder), asked) is None:
        columns = check_alike(shards, measure)
        refuse_others(folder)
    lock = _locked(folder, asked)
    found = _same(stored(folder), asked)
    if found is not None:
        lock.shared()
        note, sums = found
        note = note._replace(notes=(*note.notes, *_known_again(stamps)))
        return Packed(folder, note, sums, lock)
    columns = columns or check_alike(shards, measure)
    asked = asked._replace(taken=columns.measure, notes=columns.notes)
    note, sums = _decoded(shards, folder, columns, asked, progress)
    store(folder, note, sums)
    lock.shared()
    return Packed(folder, note, sums, lock)


def _same(
    before: tuple[PackedNote, Sums] | None, asked: PackedNote
) -> tuple[PackedNote, Sums] | None:
    """What was decoded before, if it is what is asked for now."""
    return before if before is not None and before[0][:3] == asked[:3] else None


def _locked(folder: Path, asked: PackedNote) -> FolderLock:
    """Wait until a folder holds what is asked for, or is free to be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FolderLock(folder)
    except OSError as problem:
        raise disk_error(folder / "cells", 0, problem) from None
    looked = False
    while not lock.alone():
        if not lock.shared():  # somebody decodes
            time.sleep(_WAIT_SECONDS)
        elif _same(stored(folder), asked) is not None:
            return lock
        elif looked:
            raise InputError(
                f"The folder {shorten(folder, 200)} holds other responses, which a fit is using. Name "
                f"another folder (`--cache`), or wait until that fit has ended."
            )
        else:
            let_go_here(folder)
            looked = True
    return lock


def _decoded(
    shards: Sequence[Shard],
    folder: Path,
    columns: Columns,
    note: PackedNote,
    progress: Progress | None,
) -> tuple[PackedNote, Sums]:
    """Write the cells of shards to a folder, or nothing."""
    try:
        # From here on nothing whole lies there until the new note does.
        (folder / "note.json").unlink(missing_ok=True)
        file = CellFile(folder / "cells")
    except OSError as problem:
        raise disk_error(folder / "cells", 0, problem) from None
    table = PackedTable(file, Names(), Names())
    try:
        for done, shard in enumerate(shards, start=1):
            decode(shard, columns, note.success, table)
            if progress is not None:
                progress("decoding shards", done, len(shards))
        check_unchanged(stamps_of(shards), note.stamps)
        if not file.rows:
            raise InputError(
                f"The shards from {shorten(shards[0], 200)} on hold no results. Check them."
            )
        note, sums = _finished(table, note)
        if file.repeated:
            note = note._replace(notes=(*note.notes, columns.repeated(sums.most)))
    except BaseException:
        file.discard()
        (folder / "columns").unlink(missing_ok=True)
        raise
    return note, sums


def _known_again(stamps: Sequence[Stamp]) -> tuple[str, ...]:
    """Say of objects that were decoded before by what they were known: not by all they hold."""
    remote = len(stamps) - len(on_this_machine(stamps))
    if not remote:
        return ()
    return (
        f"{counted(remote, 'shard')} at a URL, decoded before and found in the cache, known by rows and "
        f"columns alone. Name another folder (`--cache`) where results in them were changed since.",
    )


def _finished(table: PackedTable, note: PackedNote) -> tuple[PackedNote, Sums]:
    """Set aside what cannot be fitted, and leave the file with exactly the rest."""
    file, agents, tasks = table.cells, tuple(table.agents.all()), tuple(table.tasks.all())
    sums = Sums.over(_blocks(file, len(agents), len(tasks)), len(tasks))
    kept, dropped = set_aside(tasks, sums.won, sums.tried)
    file.cut_to(len(agents))
    if dropped or file.width != len(tasks):
        file.copy(slice(0, len(agents)), np.array(kept), width=len(kept), size=file.bytes)
        rest = Sums.over(_blocks(file, len(agents), len(kept)), len(kept))
        sums = rest._replace(means=sums.means)  # of all tasks, those set aside among them
    unseen = np.flatnonzero(sums.tries == 0)
    left_out = tuple(
        Dropped(agents[row], "observed only on tasks with constant results") for row in unseen
    )
    if left_out:
        seen = np.flatnonzero(sums.tries > 0)
        file.copy(seen, slice(0, len(kept)), width=len(kept), size=file.bytes)
        agents = tuple(agents[row] for row in seen)
        rest = Sums.over(_blocks(file, len(agents), len(kept)), len(kept))
        sums = rest._replace(means=sums.means[seen])
    check_enough_agents(len(agents))
    chosen = tuple(tasks[column] for column in kept)
    joined = None if sums.given is not None else _hanging_together(file, agents, chosen)
    if joined is not None and joined.separate:
        sums = sums._replace(groups=joined.agent_group)
    if sums.observed < MOST_OBSERVED * len(agents) * len(kept):
        starts = thin_out(file.path.parent, _blocks(file, len(agents), len(kept)))
        sums = sums._replace(starts=starts)
    file.close()
    return note._replace(
        bytes=file.bytes,
        agents=agents,
        tasks=chosen,
        dropped=dropped,
        left_out=left_out,
        weakest=None if joined is None else joined.weakest,
    ), sums


def _hanging_together(
    file: CellFile, agents: tuple[str, ...], tasks: tuple[str, ...]
) -> Connections:
    """How agents hang together; the weakest link too, of as many agents as in memory."""
    if len(agents) <= MOST_AGENTS and len(agents) * len(tasks) <= _FEW_CELLS:
        cells = file.rows_of(0, len(agents))[:, : len(tasks)].copy()
        won, tried = unpacked(cells, want_trials=True)
        assert tried is not None
        return connections(ResponseMatrix(agents, tasks, (won, tried)))
    return connections_of_blocks(
        agents, tasks, in_short_blocks(_blocks(file, len(agents), len(tasks)))
    )


def _connections(note: PackedNote, sums: Sums) -> Connections | None:
    """The same as it was stored; None where there is nothing to say."""
    if sums.groups is None and note.weakest is None:
        return None
    groups = np.zeros(len(note.agents), dtype=np.int64) if sums.groups is None else sums.groups
    return Connections(note.agents, note.tasks, groups, np.zeros(0, dtype=np.int64), note.weakest)


def _blocks(file: CellFile, agents: int, tasks: int) -> Iterator[NDArray[np.unsignedinteger]]:
    step = max(1, _PIECE // max(1, file.width * file.bytes))
    for start in range(0, agents, step):
        yield file.rows_of(start, min(start + step, agents))[:, :tasks]
