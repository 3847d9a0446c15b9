"""A new ledger from what is whole of a damaged one; the damaged one is left as it is."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from examiner.answers import Answer, Scalar, Table
from examiner.ledger.checkpoints import CheckpointFolder
from examiner.ledger.file import reading
from examiner.ledger.integrity import EPISODE_COLUMNS, Row, insert_episodes, insert_sealed
from examiner.ledger.salvage import Salvage, salvage
from examiner.ledger.schema import PLAYS, create, read_only
from examiner.messages import InputError, counted, shorten

_ROWS_AT_ONCE = 20_000
_STATELESS, _STATE, _REASON = -3, -2, -1  # columns of a job, its seal left out
_UNKNOWN_SESSION = ("unknown", "unknown", 0, "{}", "")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Repair(Answer):
    """What was saved of a damaged ledger, and where the new ledger is.

    `lost` counts the episodes that the ledger is known to have held; they are played again. `open_jobs` are
    those of which episodes are missing, or that had not ended before.

    >>> Repair(Path("pilot-repaired/ledger.sqlite"), 346, 54, 4, 1, 2)
    346 episodes were saved and 54 lost; 4 jobs were kept, 1 of them to be continued.
    """

    kind = "repair"

    ledger: Path
    saved: int
    lost: int
    jobs: int
    open_jobs: int
    checkpoints: int

    @property
    def headline(self) -> str:
        """How many episodes and jobs were saved and lost."""
        saved = f"{counted(self.saved, 'episode')} {'was' if self.saved == 1 else 'were'} saved"
        kept = f"{counted(self.jobs, 'job')} {'was' if self.jobs == 1 else 'were'} kept"
        open_jobs = f", {self.open_jobs:,} of them to be continued" if self.open_jobs else ""
        return f"{saved} and {self.lost:,} lost; {kept}{open_jobs}."

    @property
    def tables(self) -> Mapping[str, Table]:
        """No tables: a repair has only counts."""
        return {}

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """Where the new ledger is, and the counts."""
        return {
            "ledger": Scalar(str(self.ledger), "File of the new ledger"),
            "saved": Scalar(self.saved, "Episodes saved"),
            "lost": Scalar(self.lost, "Episodes lost, which are played again"),
            "jobs": Scalar(self.jobs, "Jobs saved"),
            "open_jobs": Scalar(self.open_jobs, "Jobs that are to be continued"),
            "checkpoints": Scalar(self.checkpoints, "Checkpoints saved"),
        }


def repair(ledger: str | Path, output: str | Path | None = None) -> Repair:
    """Write what is whole of a damaged ledger to a new folder, in which its run can go on.

    `ledger` is its file or its folder, `output` the new folder: by default the old name with `-repaired`.
    Of each job the episodes before its first damaged one are kept, so that the rest can be played again
    as it was. Nothing is overwritten.

    >>> repair("missing.sqlite")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Cannot read 'missing.sqlite': no such file. Check the path.
    """
    source = _ledger_file(Path(ledger))
    target = _target(source, output)
    _refuse_whole(source)
    found = salvage(source)
    if not found.jobs:
        raise InputError(
            f"Nothing of {shorten(source, 200)} can be saved: no row of a job in it is whole. Put back a "
            f"copy of it, or run the plan into another folder."
        )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        checkpoints = _written(found, source, target)
    except (OSError, sqlite3.OperationalError) as problem:
        raise InputError(
            f"Cannot write {shorten(target, 200)}: {problem}. Make room, or choose another folder with "
            f"`--output`."
        ) from problem
    return Repair(
        ledger=target,
        saved=found.saved,
        lost=max(0, found.written - found.saved),
        jobs=len(found.jobs),
        open_jobs=sum(_row_of_job(row, found)[_STATE] == "waiting" for row in found.jobs),
        checkpoints=checkpoints,
    )


def _ledger_file(path: Path) -> Path:
    path = path / "ledger.sqlite" if path.is_dir() else path
    if not path.is_file():
        raise InputError(f"Cannot read {shorten(path, 200)}: no such file. Check the path.")
    return path.absolute()


def _target(source: Path, output: str | Path | None) -> Path:
    folder = (
        source.parent.with_name(f"{source.parent.name}-repaired")
        if output is None
        else Path(output)
    )
    target = folder / "ledger.sqlite"
    if target.exists():
        raise InputError(
            f"{shorten(target, 200)} is there already, and nothing is overwritten. Choose another folder "
            f"with `--output`."
        )
    return target


def _refuse_whole(path: Path) -> None:
    try:
        with reading(path):
            pass
    except InputError:
        return
    raise InputError(
        f"The ledger {shorten(path, 200)} is whole: there is nothing to repair. Go on with its plan."
    )


def _written(found: Salvage, source: Path, target: Path) -> int:
    """Write a ledger, which has its name only when it is whole; return how many checkpoints it has."""
    unfinished = target.with_name(target.name + ".part")
    unfinished.unlink(missing_ok=True)
    with (
        closing(read_only(source)) as old,
        closing(sqlite3.connect(unfinished, isolation_level=None)) as new,
    ):
        old.execute("PRAGMA writable_schema = ON")  # see `salvage`
        create(new)
        new.execute("BEGIN")
        insert_sealed(new, "jobs", [_row_of_job(row, found) for row in found.jobs])
        sessions = {row[0]: row for row in found.sessions}
        for job, count in found.episodes.items():
            if not count:  # perhaps nothing of it can be read
                continue
            query = "SELECT * FROM episodes WHERE job = ? ORDER BY episode"  # names may be damaged
            for found_rows in _chunks(old.execute(query, (job,)), count):
                rows = [row[: len(EPISODE_COLUMNS)] for row in found_rows]
                insert_episodes(new, rows)
                for session in {row[-1] for row in rows} - sessions.keys():
                    sessions[session] = (session, *_UNKNOWN_SESSION)
        insert_sealed(new, "sessions", list(sessions.values()))
        plays = [row for row in found.plays if found.episodes.get(row[0])]
        if plays:
            new.execute(PLAYS)
            insert_sealed(new, "plays", plays)
        checkpoints = list(_kept_checkpoints(found, source.parent, target.parent))
        insert_sealed(new, "checkpoints", checkpoints)
        new.execute("COMMIT")
    unfinished.rename(target)
    return len(checkpoints)


def _chunks(rows: Iterator[Row], count: int) -> Iterator[list[Row]]:
    while count > 0 and (chunk := list(islice(rows, min(count, _ROWS_AT_ONCE)))):
        count -= len(chunk)
        yield chunk


def _row_of_job(row: Row, found: Salvage) -> Row:
    """The row of a job as it is now: one of which episodes are missing has not ended."""
    return row if row[0] in found.whole else (*row[:_STATE], "waiting", None)


def _kept_checkpoints(found: Salvage, before: Path, after: Path) -> Iterator[Row]:
    """The checkpoints whose episodes and files are there; other learners begin again."""
    old, new = (CheckpointFolder(folder / "checkpoints") for folder in (before, after))
    for row in found.checkpoints:
        job, episodes, _, _, name, sha256 = row
        if episodes > found.episodes.get(job, -1):
            continue
        try:
            data = old.read(name, sha256)
        except InputError:  # a path that leads elsewhere
            continue
        if data is not None:
            new.write(name, data)
            yield row
