"""Recipe: how raw results become the values a set of tasks was chosen on, so that new ones can too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from examiner.checking import check_names
from examiner.results import Results, Scales
from examiner.scores.cells import cell_means
from examiner.scores.normalise import normalise
from examiner.wording import InputError, counted, shorten, unknown_name

Array = NDArray[np.float64]
Transform = Literal["none", "log"]

LEARNT = ("z-score", "min-max", "rank")
"""Normalisers that compare agents with each other: learnt inside each fold, from its agents alone."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Measure, item, reduction, normaliser with its scales, transform; `floor` is the log's least value.

    `lexicographic` are measures in falling importance, a minus before those of which less is better.

    >>> Recipe.from_dict(Recipe("score", normaliser="human").to_dict()).normaliser
    'human'
    """

    measure: str
    item: tuple[str, ...] = ()
    reduction: str | None = None
    normaliser: str | None = None
    scales: Scales = field(default_factory=Scales)
    transform: Transform = "none"
    floor: float = 1.0
    lexicographic: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.transform not in get_args(Transform):
            raise unknown_name("transform", self.transform, get_args(Transform))
        if not self.floor > 0:
            raise InputError(
                f"The floor is {self.floor:g}. A logarithm needs a least value above 0."
            )

    @property
    def fixed_normaliser(self) -> str | None:
        """The normaliser where it needs no other agents, else None."""
        return None if self.normaliser in LEARNT else self.normaliser

    def prepared(self, results: Results) -> Results:
        """Return results with the measure normalised and transformed, trial by trial.

        >>> results = Results.from_numpy([[100.0, 0.0]])
        >>> Recipe("score", transform="log").prepared(results).measure()
        array([2., 0.])
        """
        if self.measure not in results.measures:
            raise InputError(
                f"The results have no measure {shorten(self.measure)}, by which the tasks were chosen; "
                f"they have {', '.join(map(repr, results.measures))}. Name it with `--measure`."
            )
        if len(self.scales) and self.fixed_normaliser is not None:
            results = results.with_scales(self.scales)
        name = self.fixed_normaliser
        if name is not None:
            results = normalise(results, name, self.measure)
        if self.transform == "none":
            return results
        values = np.log10(np.maximum(results.measure(self.measure), self.floor))
        step = f"{self.measure} as log₁₀, at least {self.floor:g}"
        return results.with_measure(self.measure, values, step)

    def values(self, results: Results) -> Array:
        """Return the mean of each cell, higher is better; shape [agents, tasks], NaN if not observed.

        >>> Recipe("score").values(Results.from_numpy([[[1.0, 3.0]]]))
        array([[2.]])
        """
        if self.lexicographic:
            return lexicographic_order(results, self.lexicographic)
        prepared = self.prepared(results)
        sign = prepared.scales.aligned(prepared.task_names, self.measure).sign
        return cell_means(prepared, self.measure) * sign

    def to_dict(self) -> dict[str, Any]:  # Any: JSON values
        """Return the recipe as JSON values.

        >>> Recipe("score").to_dict()["transform"]
        'none'
        """
        stored = {part.name: getattr(self, part.name) for part in fields(self)}
        lists = {name: list(stored[name]) for name in ("item", "lexicographic")}
        return stored | lists | {"scales": self.scales.to_dicts()}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Recipe:  # Any: JSON values
        """Read what `to_dict` gave.

        >>> Recipe.from_dict(Recipe("score", item=("level",)).to_dict()).item
        ('level',)
        """
        known = {part.name for part in fields(cls)}
        given = {name: value for name, value in stored.items() if name in known}
        lists = {
            name: check_names(tuple(given.get(name, ())), name)
            for name in ("item", "lexicographic")
        }
        return cls(**given | lists | {"scales": Scales.from_dicts(given.get("scales", ()))})


def lexicographic_order(results: Results, measures: tuple[str, ...]) -> Array:
    """Number agents on each task by several measures, the first deciding; shape [agents, tasks].

    The worst has 0 and equals share a number. A minus before a measure says that less is better. An
    agent counts where all measures were observed.

    >>> table = {"agent": ["a", "b", "c"], "task": ["t"] * 3, "win": [1, 1, 0], "ticks": [9, 5, 1]}
    >>> lexicographic_order(Results.from_dict(table, measures=["win", "ticks"]), ("win", "-ticks"))
    array([[1.],
           [2.],
           [0.]])
    """
    parts = []
    for name in measures:
        plain = name.removeprefix("-")
        if plain not in results.measures:
            raise unknown_name("measure", plain, results.measures)
        means = cell_means(results, plain)
        sign = results.scales.aligned(results.task_names, plain).sign
        parts.append(-means if name.startswith("-") else means * sign)
    agents, tasks = parts[0].shape[:2]
    order = np.full((agents, tasks), np.nan)
    for task in range(tasks):
        columns = np.stack([part[:, task] for part in parts])
        seen = np.isfinite(columns).all(axis=0)
        _, place = np.unique(columns[:, seen].T, axis=0, return_inverse=True)
        order[seen, task] = place.reshape(-1)
    if not np.isfinite(order).any():
        raise InputError(
            f"No agent has all of {counted(len(measures), 'measure')} on any task. Name fewer."
        )
    return order
