"""Study: everything a section may look at, computed once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from examiner.checking import read_only
from examiner.results import Classification, Results
from examiner.results.table import check_results
from examiner.scores import (
    NORMALISERS,
    AgentAggregates,
    Landmark,
    OwnFunction,
    Recipe,
    Success,
    cell_means,
    shared_ranks,
)
from examiner.scores import aggregate as agent_aggregates
from examiner.telling.finding import Name, Prose
from examiner.wording import counted


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Study:
    """Results, the same made comparable, and what both come to; arrays are read-only.

    Training logs are reduced to one value a run; `training` is then the log itself, else None.
    `raw` and `comparable` have shape [agents, tasks], NaN where nothing was observed. `ranks` has
    shape [agents]: 1 is the best mean, ties share the better rank, NaN is an agent without any.
    `success` is what counts as one, in comparable units, where that was said.

    >>> study = Study.of(Results.from_numpy([[0.5, 1.0], [0.0, 0.5]]))
    >>> study.ranks, study.normaliser
    (array([1., 2.]), None)
    """

    results: Results
    scores: Results
    training: Results | None
    classification: Classification | None
    measure: str
    normaliser: str | None
    title: str
    seed: int
    counts: Mapping[str, int]
    raw: NDArray[np.float64]
    comparable: NDArray[np.float64]
    aggregates: AgentAggregates
    ranks: NDArray[np.float64]
    success: Success | None = None

    @classmethod
    def of(
        cls,
        results: Results,
        normalise: str | OwnFunction | None = "auto",
        measure: str | None = None,
        *,
        reduce: str | None = None,
        classification: Classification | None = None,
        title: str | None = None,
        success: Success | None = None,
        seed: int = 0,
    ) -> Study:
        """Reduce training logs, make the results comparable and aggregate them.

        >>> Study.of(Results.from_numpy([[3.0], [9.0]]), "min-max").comparable
        array([[0.],
               [1.]])
        """
        measure = check_results(results).measure_name(measure)
        training = results if results.provenance.training else None
        wished = Recipe(measure, reduction=reduce, normaliser=normalise, success=success)
        results = wished.ready(results)
        recipe = wished.learn(results)
        scores = recipe.comparable(results)
        raw = cell_means(results, measure)
        comparable = raw if recipe.normaliser is None else cell_means(scores, measure)
        aggregates = agent_aggregates(scores, measure)
        ranks = shared_ranks(aggregates.mean)
        for array in (raw, comparable, ranks):
            read_only(array)
        return cls(
            results=results,
            scores=scores,
            training=training,
            classification=classification,
            measure=measure,
            normaliser=_name(recipe.normaliser),
            title=title or _title(results),
            seed=seed,
            counts=MappingProxyType(results.counts()),
            raw=raw,
            comparable=comparable,
            aggregates=aggregates,
            ranks=ranks,
            success=success,
        )

    @property
    def relative(self) -> bool:
        """Whether scores only compare the agents at hand with each other."""
        known = NORMALISERS.get(self.normaliser or "")
        return known is not None and known.relative

    @property
    def binary(self) -> bool:
        """Whether every comparable cell is 0 or 1: then medians, quarters and ranges say nothing."""
        seen = self.comparable[np.isfinite(self.comparable)]
        return bool(len(seen)) and bool(((seen == 0) | (seen == 1)).all())

    @property
    def unit(self) -> Prose:
        """What the comparable numbers are, in words."""
        if self.normaliser is None:
            return (Name(self.measure), " as it was read")
        step = self.scores.provenance.steps[-1]
        start = f"{self.measure} normalised by {self.normaliser!r} "
        if not step.startswith(start):
            return (Name(step),)
        return (
            Name(self.measure),
            " normalised by ",
            Name(self.normaliser),
            f" {step[len(start) :]}",
        )

    @property
    def landmark(self) -> Landmark | None:
        """The value at which the comparable score means something, if there is one."""
        known = NORMALISERS.get(self.normaliser or "")
        return None if known is None else known.landmark

    @property
    def order(self) -> NDArray[np.intp]:
        """The agents' positions from the best mean to the worst; those without any come last."""
        return np.argsort(self.ranks, kind="stable")


def _name(method: str | OwnFunction | None) -> str | None:
    if method is None:
        return None
    if callable(method):
        return getattr(method, "__name__", "function")
    return str(method).lower().replace("_", "-")


def _title(results: Results) -> str:
    source = results.provenance.source
    if source and source != "memory":
        return PurePath(source).name or source
    return f"{counted(len(results.agents), 'agent')} on {counted(len(results.tasks), 'task')}"
