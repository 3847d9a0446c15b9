"""Recipe: how raw results become comparable values and responses, newcomers as the first table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np

from examiner.messages import InputError, listed, shorten
from examiner.results import ResponseMatrix, Results, Scales, atari_game, check_results
from examiner.scores.cells import cell_means
from examiner.scores.comparable import LearntScale, OwnFunction
from examiner.scores.normalise import (
    check_reachable,
    judges_as_read,
    normaliser_name,
    on_scale,
    task_scores,
    with_isolated_notes,
)
from examiner.scores.normalisers import NORMALISERS
from examiner.scores.standing import lexicographic_order
from examiner.scores.success import (
    Success,
    better_than,
    check_share,
    check_success,
    count_successes,
    responses,
)
from examiner.scores.total import Total
from examiner.scores.training.reduce import reduce as reduced
from examiner.validation import Floats, check_known

Transform: TypeAlias = Literal["none", "log"]

PROTOCOL = "protocol"
"""The column that names the protocol of a row, where results have one."""


@dataclass(frozen=True, slots=True)
class Learnt:
    """What a recipe learnt from its first table, so that newcomers are treated alike.

    `scale` is the normaliser's, `beaten` the means of the agent to be beaten, `counts` whether
    responses are successes of trials, `protocols` what the column `protocol` said. `success_as_read`
    says that a success is a number in the units of the scores as they were read.
    """

    scales: Scales = field(default_factory=Scales)
    scale: LearntScale | None = None
    beaten: Mapping[str, float] | None = None
    counts: bool = True
    protocols: tuple[str, ...] = ()
    success_as_read: bool = False


@dataclass(frozen=True, slots=True)
class Recipe:
    """Measure, items, reduction, normaliser, transform and success: all it takes to treat results alike.

    `normaliser` is a name in `NORMALISERS`, a function, "auto" for what suits, or None. `transform`
    "log" takes log₁₀ of values, at least `floor` (by default a hundredth of the human's, or 1); a
    normaliser that compares agents comes after it, any other before. `lexicographic` orders agents
    by several measures, in falling importance, a minus before those of which less is better. What a
    success is is said as in `responses`: a number is in units of the normaliser that is named, with "auto"
    in those of the scores as they were read; a landmark is a score of the task's scale. `total` says how
    tasks make one number, by which levels and weights; without it every task counts once.

    A recipe that has `learnt` from a table treats any other as it treated that one; one that has not
    learns from whatever it is given.

    >>> table = Results.from_numpy([[10.0], [30.0]], tasks=["t"])
    >>> recipe = Recipe(normaliser="min-max", success=0.5).learn(table)
    >>> new = Results.from_numpy([[15.0], [25.0]], agents=["x", "y"], tasks=["t"])
    >>> recipe.values(new).ravel(), recipe.responses(new).to_numpy().ravel()
    (array([0.25, 0.75]), array([0., 1.]))
    """

    measure: str | None = None
    item: tuple[str, ...] | None = None
    reduction: str | None = None
    normaliser: str | OwnFunction | None = None
    transform: Transform = "none"
    floor: float | None = None
    lexicographic: tuple[str, ...] = ()
    success: Success | None = None
    share: float | None = None
    beating: str | None = None
    learnt: Learnt | None = None
    total: Total | None = None

    def __post_init__(self) -> None:
        if self.transform not in ("none", "log"):
            raise InputError(f"The transform is {shorten(self.transform)}. Say 'none' or 'log'.")
        if self.floor is not None and not 0 < self.floor < np.inf:
            raise InputError(
                f"The floor is {self.floor:g}. A logarithm needs a least value above 0."
            )
        check_success(self.success)
        check_share(self.share)
        if self.learnt is not None:
            self._check_learnt(self.learnt)

    def _check_learnt(self, learnt: Learnt) -> None:
        """What was stored may have been altered since."""
        if isinstance(self.normaliser, str):
            check_known("normaliser", self.normaliser, NORMALISERS)
            if learnt.scale is not None and not learnt.scale.fits(NORMALISERS[self.normaliser]):
                raise InputError(
                    f"The scale of this recipe was not learnt by the normaliser {self.normaliser!r}. Make "
                    f"it again."
                )
        if (self.beating is None) != (learnt.beaten is None):
            raise InputError(
                f"The recipe is to beat {shorten(self.beating)}, and knows other agents' means, or none. "
                f"Make it again."
            )

    @property
    def relative(self) -> bool:
        """Whether values compare agents with each other, so that they depend on who is at hand."""
        normaliser = NORMALISERS.get(self.normaliser) if isinstance(self.normaliser, str) else None
        return bool(self.lexicographic) or (normaliser is not None and normaliser.relative)

    def learn(self, results: Results) -> Recipe:
        """Settle what was left open, and keep what the first table says of its tasks.

        >>> recipe = Recipe(normaliser="auto").learn(Results.from_numpy([[500.0, 1.0]] * 3))
        >>> recipe.measure, recipe.normaliser
        ('score', 'z-score')
        """
        if self.learnt is not None:
            return self
        ready = self.ready(results)
        measure = ready.measures[0]
        method = normaliser_name(ready, "rank" if self.lexicographic else self.normaliser, measure)
        as_read = judges_as_read(self.normaliser, self.success, self.share)
        if not as_read and (self.transform == "none" or self.relative):
            check_reachable(method, self.success)
        settled = replace(
            self,
            measure=measure,
            item=ready.item,
            reduction=ready.provenance.reduction,
            normaliser=method,
            floor=self.floor or (0.01 if method == "human" else 1.0),
            beating=None,
            learnt=Learnt(
                scales=_scales_of(ready, measure),
                protocols=_protocols(ready),
                success_as_read=as_read,
            ),
        )
        learnt = settled.learnt or Learnt()
        if isinstance(method, str) and not self.lexicographic:
            table = settled.absolute(ready) if settled.relative else ready
            learnt = replace(learnt, scale=NORMALISERS[method].learn(task_scores(table, measure)))
        settled = replace(settled, learnt=learnt)
        if self.beating is not None:
            judged = better_than(settled.comparable(ready), self.beating, measure)
            learnt = replace(learnt, beaten=judged.marks)
        elif self.success is None and self.share is None:
            learnt = replace(learnt, counts=settled.comparable(ready).is_binary(measure))
        return replace(settled, beating=self.beating, learnt=learnt)

    # ---------------------------------------------------------------- from raw results on

    def ready(self, results: Results) -> Results:
        """Return results with the recipe's measure first, its items, its reduction and its scales.

        >>> Recipe(measure="win").ready(Results.from_numpy([[1.0]], measure="win")).measures
        ('win',)
        """
        measure = self.measure or check_results(results).measures[0]
        if measure not in (*results.measures, *results.attributes):
            raise InputError(
                f"The recipe is for the measure {shorten(measure)}, and the results have "
                f"{listed(results.measures)}. Name the column with `measure=...`, or rename it."
            )
        others = [name for name in results.measures if name != measure]
        if results.measures[0] != measure:
            results = results.with_measures(measure, *others)
        if self.item is not None and results.item != self.item:
            results = results.with_items(*self.item)
        rule = self.reduction if results.provenance.reduction is None else None
        if results.provenance.training or (rule is not None and rule != "all"):
            results = reduced(results, rule)
        if self.learnt is None:
            return with_isolated_notes(results, measure)
        scaled = set(results.scales)
        scales = Scales(entry for entry in self.learnt.scales if entry not in scaled)
        return results.with_scales(scales) if len(scales) else results

    def absolute(self, results: Results) -> Results:
        """Return results as far as no agent is compared with another: normalised and transformed.

        >>> Recipe(transform="log").absolute(Results.from_numpy([[100.0, 0.0]])).measure()
        array([2., 0.])
        """
        if self.learnt is None:
            return self.learn(results).absolute(results)
        results = self.ready(results)
        if self.normaliser is not None and not self.relative:
            scores = task_scores(results, self.measure)
            results = on_scale(results, self.normaliser, scores, self.learnt.scale)
        if self.transform == "none":
            return results
        values = np.log10(np.maximum(results.measure(self.measure), self.floor or 1.0))
        step = f"{self.measure} as log₁₀, at least {self.floor:g}"
        return results.with_measure(results.measure_name(self.measure), values, step)

    def comparable(self, results: Results) -> Results:
        """Return raw results with the measure made comparable, trial by trial.

        >>> Recipe(normaliser="min-max").comparable(Results.from_numpy([[10.0], [30.0]])).measure()
        array([0., 1.])
        """
        if self.learnt is None:
            return self.learn(results).comparable(results)
        results = self.absolute(results)
        if not self.relative or self.lexicographic or self.normaliser is None:
            return results
        scores = task_scores(results, self.measure)
        return on_scale(results, self.normaliser, scores, self.learnt.scale)

    def values(self, results: Results) -> Floats:
        """Return the comparable mean of each cell, higher is better; shape [agents, tasks], NaN if unseen.

        >>> Recipe().values(Results.from_numpy([[[1.0, 3.0]]]))
        array([[2.]])
        """
        if self.lexicographic:
            return lexicographic_order(self.ready(results), self.lexicographic)
        comparable = self.comparable(results)
        sign = comparable.scales.aligned(comparable.task_names, comparable.measures[0]).sign
        return cell_means(comparable) * sign

    def responses(self, results: Results) -> ResponseMatrix:
        """Return how agents of raw results responded: successes of trials, or comparable means.

        >>> new = Results.from_numpy([[7.0, 3.0]], tasks=["t", "u"])
        >>> Recipe(success=5.0).responses(new).to_numpy()
        array([[1., 0.]])
        """
        if self.learnt is None:
            return self.learn(results).responses(results)
        as_read = self.learnt.success_as_read or isinstance(self.success, str)
        scores = self.ready(results) if as_read else self.comparable(results)
        if self.learnt.beaten is not None:
            assert self.beating is not None, "somebody was beaten"
            won = better_than(scores, self.beating, self.measure, self.learnt.beaten)
            return count_successes(won, self.share)
        matrix = responses(scores, self.success, share=self.share, measure=self.measure)
        if matrix.is_counts and not self.learnt.counts:  # scores that happen to be 0 and 1 only
            return matrix.as_values()
        if self.learnt.counts and not matrix.is_counts:
            raise InputError(
                f"The recipe is for successes, and the measure {shorten(self.measure)} of the new results "
                f"is not made of zeros and ones. Give wins, or the scores the success was counted from."
            )
        return matrix

    def protocol_notes(self, results: Results) -> tuple[str, ...]:
        """Say whether results were made under another protocol than those the recipe learnt from.

        >>> Recipe().protocol_notes(Results.from_numpy([[1.0]]))
        ()
        """
        protocols = () if self.learnt is None else self.learnt.protocols
        other = sorted(set(_protocols(results)) - set(protocols))
        if not protocols or not other:
            return ()
        return (
            f"The new results were made under {listed(other)}, those before under {listed(protocols)}: "
            f"they may not compare.",
        )


def _scales_of(results: Results, measure: str) -> Scales:
    """The scales of the measure and of these tasks, under any of their names."""
    tasks = set(results.task_names)
    games = {atari_game(task) for task in tasks} - {None}
    return Scales(
        entry
        for entry in results.scales
        if entry.measure == measure and (entry.task in tasks or atari_game(entry.task) in games)
    )


def _protocols(results: Results) -> tuple[str, ...]:
    if PROTOCOL not in results.attributes:
        return ()
    return tuple(sorted({str(value) for value in results.column(PROTOCOL) if value is not None}))


def value_unit(recipe: Recipe) -> str:
    """Say what the comparable values of a recipe are measured in.

    >>> value_unit(Recipe("win")), value_unit(Recipe("score", normaliser="log"))
    ('win as it was read', "score normalised by 'log' (signed log₁₀ of 1 + |score|)")
    """
    measure = recipe.measure or "score"
    if recipe.lexicographic:
        return f"{', then '.join(recipe.lexicographic)} on each task: {NORMALISERS['rank'].unit}"
    if recipe.normaliser is None:
        unit = f"{measure} as it was read"
    elif callable(recipe.normaliser):
        unit = f"{measure} as {getattr(recipe.normaliser, '__name__', 'function')} gives it"
    else:
        normaliser = NORMALISERS.get(recipe.normaliser)
        unit = f"{measure} normalised by {recipe.normaliser!r}"
        unit += "" if normaliser is None else f" ({normaliser.unit})"
    return (
        unit if recipe.transform == "none" else f"{unit}; log₁₀ of at least {recipe.floor or 1:g}"
    )


def response_unit(recipe: Recipe) -> str:
    """Say what responses by a recipe are measured in: shares of successes, or comparable values.

    >>> response_unit(Recipe("score", success=5.0))
    'share of successes: score as it was read, at least 5'
    """
    measure = recipe.measure or "score"
    share = "" if recipe.share is None else f", in at least {recipe.share:g} of the trials"
    if recipe.beating is not None:
        return f"share of successes: {value_unit(recipe)}, above that of {recipe.beating}{share}"
    if isinstance(recipe.success, str):
        return f"share of successes: {measure}, at least that of the {recipe.success}{share}"
    if recipe.success is not None:
        return f"share of successes: {value_unit(recipe)}, at least {recipe.success:g}{share}"
    if recipe.learnt is not None and recipe.learnt.counts:
        return f"share of successes: {measure} of 1{share}"
    return value_unit(recipe)
