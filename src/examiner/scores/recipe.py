"""Recipe: how raw results became responses, so that a new agent's can be treated the same way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, get_args

import numpy as np

from examiner.results import ResponseMatrix, Results, Scales, atari_game
from examiner.results.table import check_results
from examiner.scores.cells import cell_means
from examiner.scores.comparable import Normaliser
from examiner.scores.normalise import normalise as normalised
from examiner.scores.normalise import task_scores
from examiner.scores.reduce import reduce as reduce_runs
from examiner.scores.standing import RELATIVE, Standing
from examiner.scores.success import Landmark, responses
from examiner.wording import InputError, listed, shorten

PROTOCOL = "protocol"
"""The column that names the protocol of a row, where results have one."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Measure, items, reduction, normaliser, scales and success: all it takes to respond alike.

    `standing` is what a normaliser that compares agents learnt from the first table, `beating` the
    means of the agent that was to be beaten, `protocols` what the column `protocol` said.

    >>> recipe = prepare(Results.from_numpy([[3.0], [9.0]], tasks=["t"]), success=5.0).recipe
    >>> recipe.responses(Results.from_numpy([[7.0]], agents=["new"], tasks=["t"])).to_numpy()
    array([[1.]])
    """

    measure: str = "score"
    item: tuple[str, ...] = ()
    reduction: str | None = None
    normaliser: str | None = None
    success: float | Landmark | None = None
    share: float | None = None
    counts: bool = True
    scales: Scales = field(default_factory=Scales)
    standing: Standing | None = None
    beating: Mapping[str, float] | None = None
    protocols: tuple[str, ...] = ()

    def responses(self, results: Results) -> ResponseMatrix:
        """Return how agents of raw results responded, treated as the first table was.

        >>> new = Results.from_numpy([[7.0, 3.0]], tasks=["t", "u"])
        >>> Recipe(success=5.0).responses(new).to_numpy()
        array([[1., 0.]])
        """
        results = self._ready(check_results(results))
        if self.normaliser is not None:
            if self.standing is None:
                results = normalised(results, self.normaliser, self.measure)
            else:
                values = self.standing.apply(results, self.measure)
                kept = Scales(scale for scale in results.scales if scale.measure != self.measure)
                results = replace(results.with_measure(self.measure, values), scales=kept)
        if self.beating is not None:
            won = self._against_the_beaten(results)
            return responses(won, share=self.share, measure=self.measure)
        made = responses(results, self.success, share=self.share, measure=self.measure)
        if made.is_counts and not self.counts:  # whole scores that happen to be 0 and 1 only
            return _as_values(made)
        if self.counts and not made.is_counts:
            raise InputError(
                f"The fit is of successes, and the measure {shorten(self.measure)} of the new results "
                f"is not made of zeros and ones. Give wins, or the scores the success was counted from."
            )
        return made

    def _ready(self, results: Results) -> Results:
        """The results with the recipe's measure, items, scales and reduction."""
        if self.measure in results.attributes:
            results = results.with_measures(self.measure)
        if self.measure not in results.measures:
            raise InputError(
                f"The recipe is for the measure {shorten(self.measure)}, and the results have "
                f"{listed(results.measures)}. Name the column with `--measure`, or rename it."
            )
        if results.item != self.item:
            results = results.with_items(*self.item)
        how = self.reduction if results.provenance.reduction is None else None
        if results.provenance.training or (how is not None and how != "all"):
            results = reduce_runs(results, how)
        return results.with_scales(self.scales) if len(self.scales) else results

    def _against_the_beaten(self, results: Results) -> Results:
        """1 where a trial is better than the beaten agent's mean, 0 where not."""
        scores = task_scores(results, self.measure)
        beaten = self.beating or {}
        mark = np.array([beaten.get(task, np.nan) for task in results.tasks])[scores.task_codes]
        ahead = scores.sign[scores.task_codes] * (scores.values - mark)
        won = np.where(np.isnan(ahead), np.nan, (ahead > 0).astype(np.float64))
        return results.with_measure(self.measure, won)

    def to_dict(self) -> dict[str, Any]:  # Any: JSON values
        """Return the recipe as JSON values, which `from_dict` takes back.

        >>> Recipe.from_dict(Recipe(success=1.0).to_dict()) == Recipe(success=1.0)
        True
        """
        return {
            "measure": self.measure,
            "item": list(self.item),
            "reduction": self.reduction,
            "normaliser": self.normaliser,
            "success": self.success,
            "share": self.share,
            "counts": self.counts,
            "scales": self.scales.to_dicts(),
            "standing": None if self.standing is None else self.standing.to_dict(),
            "beating": None if self.beating is None else dict(self.beating),
            "protocols": list(self.protocols),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Recipe:  # Any: JSON values
        """Read what `to_dict` gave.

        >>> Recipe.from_dict(Recipe(share=0.5).to_dict()).share
        0.5
        """
        try:
            standing = content["standing"]
            return cls(
                measure=str(content["measure"]),
                item=tuple(str(name) for name in content["item"]),
                reduction=_text(content["reduction"]),
                normaliser=_text(content["normaliser"]),
                success=_number_or(content["success"], get_args(Landmark)),
                share=_number_or(content["share"]),
                counts=bool(content["counts"]),
                scales=Scales.from_dicts(content["scales"]),
                standing=None if standing is None else Standing.from_dict(standing),
                beating=None
                if content["beating"] is None
                else {str(task): float(mean) for task, mean in content["beating"].items()},
                protocols=tuple(str(name) for name in content["protocols"]),
            )
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"This is no recipe: {error} is missing or wrong.") from None


def _text(value: Any) -> str | None:  # Any: JSON values
    return None if value is None else str(value)


def _number_or(value: Any, words: tuple[str, ...] = ()) -> Any:  # Any: JSON values
    return value if value is None or value in words else float(value)


class Prepared(NamedTuple):
    """Responses, and the recipe that made them of raw results."""

    matrix: ResponseMatrix
    recipe: Recipe


def prepare(
    results: Results,
    normalise: str | Normaliser | None = None,
    success: float | Landmark | None = None,
    *,
    beating: str | None = None,
    share: float | None = None,
    measure: str | None = None,
    reduce: str | None = None,
) -> Prepared:
    """Reduce, normalise and count successes, and keep the recipe for agents that come later.

    The parts are those of `reduce_runs`, `normalise` and `responses`, in this order.

    >>> made = prepare(Results.from_numpy([[10.0, 1.0], [30.0, 2.0]]), "min-max", success=0.5)
    >>> made.matrix.to_numpy()
    array([[0., 0.],
           [1., 1.]])
    >>> made.recipe.normaliser
    'min-max'
    """
    measure = check_results(results).measure_name(measure)
    if results.provenance.training or reduce is not None:
        results = reduce_runs(results, reduce)
    if callable(normalise):
        raise InputError(
            "A normaliser that is a function of your own cannot be stored in a recipe. Name one of "
            "NORMALISERS, or normalise first and give the results without one."
        )
    method = None if normalise is None else str(normalise).lower().replace("_", "-")
    scores = results if method is None else normalised(results, method, measure)
    matrix = responses(scores, success, beating=beating, share=share, measure=measure)
    standing = Standing.of(results, method, measure) if method in RELATIVE else None
    recipe = Recipe(
        measure=measure,
        item=results.item,
        reduction=results.provenance.reduction,
        normaliser=method,
        success=success,
        share=share,
        counts=matrix.is_counts,
        scales=_scales_of(results, measure),
        standing=standing,
        beating=None if beating is None else _means_of(scores, beating, measure),
        protocols=_protocols(results),
    )
    return Prepared(matrix, recipe)


def _scales_of(results: Results, measure: str) -> Scales:
    """The scales of the measure and of these tasks, under any of their names."""
    tasks = set(results.task_names)
    games = {atari_game(task) for task in tasks} - {None}
    return Scales(
        entry
        for entry in results.scales
        if entry.measure == measure and (entry.task in tasks or atari_game(entry.task) in games)
    )


def _means_of(scores: Results, agent: str, measure: str) -> dict[str, float]:
    row = cell_means(scores, measure)[scores.agents.index(agent)]
    pairs = zip(scores.tasks, row.tolist(), strict=True)
    return {task: value for task, value in pairs if not np.isnan(value)}


def _protocols(results: Results) -> tuple[str, ...]:
    if PROTOCOL not in results.attributes:
        return ()
    return tuple(sorted({str(value) for value in results.column(PROTOCOL) if value is not None}))


def _as_values(matrix: ResponseMatrix) -> ResponseMatrix:
    return ResponseMatrix(
        matrix.agents, matrix.tasks, None, None, np.asarray(matrix.to_numpy(), dtype=np.float64)
    )
