"""The folder of packed responses: what is stored beside the cells, and where they may not lie."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np

from examiner.engines.cell_file import disk_error
from examiner.engines.cell_sums import Sums
from examiner.engines.shard_places import LocalShard, Shard, Source, Stamp, path_of
from examiner.irt import Dropped
from examiner.messages import InputError, shorten
from examiner.results import WeakLink, write_text
from examiner.validation import from_record, to_record

_SCHEMA = "examiner.packed/4"


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
    taken: str | None = None
    """The measure that was taken; None where there is a column for each task, or counts."""
    weakest: WeakLink | None = None
    notes: tuple[str, ...] = ()


def refuse_the_shards(folder: Path, source: Source, shards: Sequence[Shard]) -> None:
    """Refuse to decode shards into the folder in which they lie."""
    there = {shard.path.parent.resolve() for shard in shards if isinstance(shard, LocalShard)}
    named = path_of(source) if isinstance(source, (str, Path)) else None
    if folder.resolve() in there | ({named.resolve()} if named is not None else set()):
        raise InputError(
            f"The folder {shorten(folder, 200)} is that of the shards themselves. Name another folder for "
            f"what is decoded (`--cache`)."
        )


def refuse_others(folder: Path) -> None:
    """Refuse a folder in which somebody else's files have our names."""
    try:
        record = json.loads((folder / "note.json").read_text(encoding="utf-8"))
        ours = str(record.get("schema", "")).startswith(_SCHEMA.split("/")[0])
    except FileNotFoundError:
        return
    except (OSError, ValueError, AttributeError, RecursionError):
        ours = False
    if not ours:
        raise InputError(
            f"The folder {shorten(folder, 200)} holds a note.json that is not of decoded shards. Name "
            f"another folder for them."
        )


def store(folder: Path, note: PackedNote, sums: Sums) -> None:
    """Write the note last, so that a folder without one is none."""
    arrays = {name: part for name, part in sums._asdict().items() if part is not None}
    record: dict[str, Any] = {"schema": _SCHEMA, **to_record(note)}  # Any: JSON values
    try:
        np.savez(folder / "sums.npz", **arrays)
        write_text(folder / "note.json", json.dumps(record))
    except OSError as problem:
        raise disk_error(folder / "note.json", 0, problem) from None


def stored(folder: Path) -> tuple[PackedNote, Sums] | None:
    """Return what lies in a folder; None where nothing whole does."""
    try:
        record = json.loads((folder / "note.json").read_text(encoding="utf-8"))
        if record.pop("schema", None) != _SCHEMA:
            return None
        note = from_record(PackedNote, record)
        with np.load(folder / "sums.npz") as arrays:
            held = {name: arrays[name] for name in arrays.files}
        numbers = {name: int(held[name]) for name in ("most", "observed")}
        sums = Sums(**{"given": None, **held, **numbers})
        if sums.won.shape != (len(note.tasks),) or sums.scores.shape != (len(note.agents),):
            return None
        names = ("cells",) if sums.starts is None else ("cells", "columns")
        there = sum((folder / name).stat().st_size for name in names)
        return (note, sums) if there == size_of_cells(note, sums) else None
    except (OSError, EOFError, BadZipFile, ValueError, KeyError, TypeError, AttributeError):
        return None
    except RecursionError:  # no note of ours is so deep
        return None


def size_of_cells(note: PackedNote, sums: Sums) -> int:
    """Return how many bytes the cells take."""
    if sums.starts is not None:
        return int(sums.starts[-1]) * (note.bytes + 4)
    return len(note.agents) * len(note.tasks) * note.bytes
