"""What a score is measured against: the random and the reference score of each (task, measure)."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.messages import InputError, counted, listed, shorten
from examiner.results.atari import matched, recognition_notes
from examiner.validation import from_record

Direction = Literal["higher", "lower"]
Anchor = Literal["random", "reference"]


@dataclass(frozen=True, slots=True)
class TaskScale:
    """The scores of a random and of a reference player on one task, and which way is better.

    The reference is usually a human. Either score may be unknown (None).

    >>> TaskScale("pong", random=-20.7, reference=14.6).inverted
    False
    """

    task: str
    measure: str = "score"
    random: float | None = None
    reference: float | None = None
    direction: Direction = "higher"
    source: str = ""

    def __post_init__(self) -> None:
        if self.direction not in ("higher", "lower"):
            raise InputError(
                f"The direction of {shorten(self.task)} is {shorten(self.direction)}. "
                f"Say 'higher' or 'lower', whichever is better."
            )
        for anchor in ("random", "reference"):
            value = getattr(self, anchor)
            if value is not None and not math.isfinite(value):
                raise InputError(
                    f"The {anchor} score of {shorten(self.task)} is {value}. "
                    f"Give a finite number, or leave it out."
                )

    def knows(self, needs: Iterable[Anchor]) -> bool:
        """Tell whether every needed score is known.

        >>> TaskScale("pong", random=-20.7).knows(["random", "reference"])
        False
        """
        return all(getattr(self, anchor) is not None for anchor in needs)

    @property
    def inverted(self) -> bool:
        """Whether the reference is no better than random, so that normalised scores flip or blow up."""
        if self.random is None or self.reference is None:
            return False
        gap = self.reference - self.random
        return (gap if self.direction == "higher" else -gap) <= 0


class ScaleArrays(NamedTuple):
    """Scales lined up with tasks: arrays of shape [tasks], NaN where unknown."""

    random: NDArray[np.float64]
    reference: NDArray[np.float64]
    sign: NDArray[np.float64]  # +1 where higher is better, -1 where lower is
    inverted: tuple[str, ...]
    sources: tuple[str, ...]
    unscaled: tuple[str, ...]
    # Tasks whose scale stands under another name of the same Atari game.
    recognised: tuple[str, ...]

    @property
    def flips(self) -> tuple[str, ...]:
        """A sentence that names the tasks whose normalised scores flip, where there are any."""
        if not self.inverted:
            return ()
        return (
            f"The reference is no better than random on {listed(self.inverted)}: "
            f"normalised scores flip there (or cannot be computed, where both are equal).",
        )


@dataclass(frozen=True, slots=True)
class Scales:
    """An ordered collection of task scales; the first that knows what is needed is used.

    Two studies may have measured the random player differently. Both scales can be kept: a
    normaliser asks for what it needs and gets the first scale that has all of it, never a mixture
    of two.

    >>> scales = Scales([TaskScale("pong", random=-20.0, source="A"),
    ...                  TaskScale("pong", random=-20.7, reference=14.6, source="B")])
    >>> scales.lookup("pong", needs=["random"]).source
    'A'
    >>> scales.lookup("pong", needs=["random", "reference"]).source
    'B'
    """

    entries: tuple[TaskScale, ...] = ()

    def __init__(self, entries: Iterable[TaskScale] = ()) -> None:
        object.__setattr__(self, "entries", tuple(entries))

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[TaskScale]:
        return iter(self.entries)

    def __add__(self, other: Scales) -> Scales:
        """Put another collection behind this one."""
        return Scales(dict.fromkeys(self.entries + other.entries))

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that have a scale, each once."""
        return tuple(dict.fromkeys(entry.task for entry in self.entries))

    def lookup(
        self, task: str, measure: str = "score", *, needs: Sequence[Anchor] = ()
    ) -> TaskScale | None:
        """Return the first scale of a (task, measure) that knows every needed score, or None.

        A task without a scale of its own name gets that of the same Atari game under another one.

        >>> scales = Scales([TaskScale("pong", random=-20.7)])
        >>> scales.lookup("venture") is None, scales.lookup("PongNoFrameskip-v4").random
        (True, -20.7)
        """
        return _found(self.entries, [task], measure, needs)[0]

    def aligned(
        self, tasks: Sequence[str], measure: str = "score", *, needs: Sequence[Anchor] = ()
    ) -> ScaleArrays:
        """Line scales up with tasks, NaN where a task has none.

        Atari games are found under any of their names. Which way is better is said by the first
        scale of a task, whether it knows the needed scores or not.

        >>> scales = Scales([TaskScale("pong", random=-20.7, reference=14.6)])
        >>> scales.aligned(["Pong", "venture"]).reference
        array([14.6,  nan])
        >>> scales.aligned(["Pong", "venture"]).unscaled
        ('venture',)
        """
        matches = _found(self.entries, tasks, measure, needs)
        first = matches if not needs else _found(self.entries, tasks, measure, ())
        lower = np.array([scale is not None and scale.direction == "lower" for scale in first])
        random, reference = _column(matches, "random"), _column(matches, "reference")
        sign = np.where(lower, -1.0, 1.0)
        flat = sign * reference <= sign * random  # NaN, an unknown score, is not
        distinct = [scale for scale in dict.fromkeys(matches) if scale is not None]
        pairs = list(zip(tasks, matches, strict=True))
        return ScaleArrays(
            random=random,
            reference=reference,
            sign=sign,
            inverted=_distinct(task for task, bad in zip(tasks, flat, strict=True) if bad),
            sources=_distinct(scale.source for scale in distinct if scale.source),
            unscaled=_distinct(task for task, scale in pairs if scale is None),
            recognised=_distinct(task for task, scale in pairs if scale and scale.task != task),
        )

    def to_dicts(self) -> list[dict[str, Any]]:  # Any: JSON values
        """Return plain dictionaries, one per scale, for JSON.

        >>> Scales([TaskScale("pong", random=-20.7)]).to_dicts()[0]["random"]
        -20.7
        """
        return [asdict(entry) for entry in self.entries]

    @classmethod
    def from_dicts(cls, rows: Iterable[Mapping[str, Any]]) -> Scales:  # Any: JSON values
        """Build scales from dictionaries or table rows; `human` is read as `reference`.

        >>> Scales.from_dicts([{"task": "pong", "random": -20.7, "human": 14.6}]).entries[0].reference
        14.6
        """
        return cls(_entry(row, number) for number, row in enumerate(rows, start=1))

    def to_record(self) -> list[dict[str, Any]]:  # Any: JSON values
        """Return the scales as a record, one entry a scale.

        >>> Scales([TaskScale("pong", random=-20.7)]).to_record()[0]["task"]
        'pong'
        """
        return self.to_dicts()

    @classmethod
    def from_record(cls, stored: object) -> Scales:
        """Read what `to_record` gave.

        >>> Scales.from_record([{"task": "pong", "random": -20.7}]).tasks
        ('pong',)
        """
        return cls(from_record(list[TaskScale], stored))

    def __repr__(self) -> str:
        sources = ", ".join(dict.fromkeys(entry.source for entry in self.entries if entry.source))
        return f"Scales of {len(self.tasks)} tasks" + (f" ({sources})" if sources else "")


NO_SCALES = Scales()


def scale_notes(scales: Scales, tasks: Sequence[str], measures: Sequence[str]) -> tuple[str, ...]:
    """Say which tasks have no scale, which were found as Atari games, and where scores would flip.

    >>> scale_notes(Scales([TaskScale("pong", random=1.0, reference=0.0)]), ["pong", "go"], ["score"])
    ("1 of 2 tasks have no scale: 'go'.", "The reference is no better than random on 'pong': ...)
    >>> scale_notes(Scales([TaskScale("pong", measure="win")]), ["pong"], ["score"])
    ("No scale is for a measure of these results: scales are of 'win', results have 'score'.",)
    """
    tasks = _distinct(tasks)
    scaled = _distinct(entry.measure for entry in scales)
    shared = [measure for measure in measures if measure in scaled]
    if len(scales) and not shared:
        return (
            f"No scale is for a measure of these results: scales are of {listed(scaled)}, "
            f"results have {listed(measures)}.",
        )
    notes: list[str] = []
    for measure in shared:
        aligned = scales.aligned(tasks, measure)
        notes += recognition_notes(aligned.recognised)
        if aligned.unscaled:
            of = "" if len(measures) == 1 else f" for the measure {measure!r}"
            count = f"{len(aligned.unscaled)} of {counted(len(tasks), 'task')}"
            notes.append(f"{count} have no scale{of}: {listed(aligned.unscaled)}.")
        notes += scales.aligned(tasks, measure, needs=["random", "reference"]).flips
    return _distinct(notes)


_KNOWN = ("task", "measure", "random", "reference", "direction", "source")


def _entry(row: Mapping[str, Any], number: int) -> TaskScale:
    fields = {
        "reference" if name == "human" else name: value
        for name, value in row.items()
        if value is not None and value != ""
    }
    if "task" not in fields:
        raise InputError(
            f"Row {number} of the scales names no task; it has {listed(row)}. "
            f"A scale needs 'task' and 'random', 'reference' (or 'human'), or both."
        )
    for anchor in ("random", "reference"):
        if anchor in fields:
            try:
                fields[anchor] = float(fields[anchor])
            except (TypeError, ValueError):
                raise InputError(
                    f"The {anchor} score of {shorten(fields['task'])} is "
                    f"{shorten(fields[anchor])}. Give a number, or leave it empty."
                ) from None
    values = {name: fields[name] for name in _KNOWN if name in fields}
    return TaskScale(**values | {"task": str(values["task"])})


def _found(
    entries: Sequence[TaskScale], tasks: Sequence[str], measure: str, needs: Sequence[Anchor]
) -> list[TaskScale | None]:
    """The first scale of each task that knows what is needed: under its own name, else as a game."""
    fitting = [entry for entry in entries if entry.measure == measure and entry.knows(needs)]
    rows = matched(tasks, [entry.task for entry in fitting])
    return [None if row is None else fitting[row] for row in rows]


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _column(scales: Sequence[TaskScale | None], anchor: Anchor) -> NDArray[np.float64]:
    values = [None if scale is None else getattr(scale, anchor) for scale in scales]
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


@cache
def atari_scales() -> Scales:
    """Return the scales of the data set `atari-human-random`: 0 is random, 1 human.

    >>> atari_scales().lookup("pong").reference
    14.6
    """
    data = files("examiner").joinpath("datasets", "data", "atari-human-random.csv")
    rows = csv.DictReader(data.read_text(encoding="utf-8").splitlines())
    return Scales.from_dicts(
        {
            "task": row["game"],
            "random": float(row["random"]),
            "human": float(row["human"]),
            "source": "Mnih et al. 2015 and Wang et al. 2016, no-op starts",
        }
        for row in rows
    )
