"""What the files of all plans have in common: how many seeds, which limits, and a name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from examiner.messages import InputError, shorten
from examiner.validation import Bounds, ShapeError, Wanted
from examiner.workers import Limits

SILENT_SECONDS = 3600.0
"""An agent of which nothing is heard for an hour hangs, unless a plan says otherwise."""
_MOST_SEEDS = 1_000_000  # more jobs than any ledger was made for
MOST_JOBS = 1_000_000
"""More take minutes to list and gigabytes to keep, before the first is played."""

Text = Annotated[str, Bounds(1, words="text")]
Count = Annotated[int, Bounds(1, words="a whole number of at least 1")]
Whole = Annotated[int, Bounds(0, words="a whole number of at least 0")]
Seeds = Annotated[
    Annotated[int, Bounds(1, _MOST_SEEDS)] | Annotated[tuple[Whole, ...], Bounds(1)],
    Wanted(f"how many there are, up to {_MOST_SEEDS:,}, or a list such as [0, 1, 2]"),
]
_Limit = Annotated[
    float,
    # Above 0, and below what clocks and systems can still count.
    Bounds(5e-324, 1e12, "a number above 0 and below 1e+12"),
]


@dataclass(frozen=True, slots=True)
class LimitsTable:
    """The limits of a job, as a plan gives them."""

    job_seconds: _Limit | None = None
    silent_seconds: _Limit = SILENT_SECONDS
    memory_mib: _Limit | None = None

    @property
    def limits(self) -> Limits:
        """The limits in the units that workers keep."""
        memory = self.memory_mib
        return Limits(
            seconds=self.job_seconds,
            silent_seconds=self.silent_seconds,
            memory_bytes=None if memory is None else int(memory * 2**20),
        )


LimitsField = Annotated[LimitsTable, Wanted("a table, for example { job_seconds = 3600 }")]


def listed_seeds(given: int | Sequence[int]) -> tuple[int, ...]:
    """Return the seeds, each once: so many from 0 on, or those of a list.

    >>> listed_seeds(3), listed_seeds([5, 5, 1])
    ((0, 1, 2), (5, 1))
    """
    return tuple(dict.fromkeys(range(given) if isinstance(given, int) else given))


def refuse_too_many(jobs: int) -> None:
    """Refuse a plan of more jobs than a run may have.

    >>> refuse_too_many(5_490)
    """
    if jobs > MOST_JOBS:
        raise InputError(
            f"The plan has {jobs:,} jobs, seeds × games × agents, and a run may have {MOST_JOBS:,}. "
            f"Give it fewer seeds, or make several plans of it."
        )


def folder_name(name: str) -> str:
    """Refuse a plan's name that cannot be that of a folder.

    >>> folder_name("pilot")
    'pilot'
    """
    # A terminal obeys what cannot be printed, also in the name of a folder that somebody lists.
    if name in (".", "..") or not name.isprintable() or any(letter in name for letter in "/\\"):
        wanted = "a name without slashes and control characters: it becomes the name of a folder"
        raise ShapeError("name", f"is {shorten(name)}", wanted, "plan")
    return name
