"""Indicators of agents: ability, regularity, generality and the slope of the agent's curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, error, flag, name, number, words
from examiner.irt.fitted import IRTFit
from examiner.irt.indicators.bins import DifficultyBins
from examiner.irt.indicators.bins import bins as difficulty_bins
from examiner.irt.indicators.comparison import (
    IndicatorCorrelations,
    indicator_correlations,
    leading,
)
from examiner.irt.indicators.curves import EmpiricalCurves, empirical_agent_curves
from examiner.irt.items import Floats, ItemParameters, positions
from examiner.irt.outcomes import landmark_reached
from examiner.messages import InputError, counted, listed, shorten
from examiner.results import ResponseMatrix, Results, reads_results
from examiner.scores import normalise, ratio, responses
from examiner.validation import Randomness, seed_of

NO_RESPONSES = (
    "Responses were fitted where they are stored: there are no tests of whether agents or tasks differ or "
    "tasks are flat, and no regularity, generality and curves of agents, which need responses in memory."
)


class AgentIndicators(Table):
    """Indicators of agents, the highest ability first."""

    agent: tuple[str, ...] = name("Agent")
    mean: Floats = number("Mean result over all tasks, excluded tasks included")
    ability: Floats = number("Posterior mean of ability", unit="logits")
    ability_error: Floats = error("ability", "Total standard error of ability")
    regularity: Floats = number("1 / variance of the agent's results (papers/002, eq. 2)")
    generality: Floats = number(
        "1 / sum of variances within bins of difficulty (papers/002, eq. 3): high where an agent "
        "succeeds up to its ability and fails beyond"
    )
    slope: Floats = number("Steepness of the agent's curve where it falls through one half")
    flags: tuple[tuple[str, ...], ...] = words("Caveats about the indicators")
    tied_first: NDArray[np.bool_] = flag(
        "Whether the ability is the highest, or not significantly different from the highest"
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Indicators(Answer):
    """Indicators of agents: arrays of shape [agents] in the order of the fit, and tables.

    Unknown values are NaN, with a reason in `flags`. `mean` is the mean result over all tasks, including
    excluded ones, `regularity` papers/002's 1/σ² (eq. 2), `generality` 1/Σ σ²_h (eq. 3), `slope` the
    steepness of the empirical curve where it falls through one half.
    """

    kind: ClassVar[str] = "indicators"

    agents: tuple[str, ...]
    mean: Floats
    ability: Floats
    ability_error: Floats
    regularity: Floats
    generality: Floats
    slope: Floats
    flags: tuple[tuple[str, ...], ...]
    bins: DifficultyBins | None
    curves: EmpiricalCurves | None
    correlations: IndicatorCorrelations
    notes: tuple[str, ...] = ()
    leading: tuple[str, ...] = ()
    """The agent with the highest ability, then those not significantly below it: see `leading`."""
    seed: int | None = None

    @property
    def headline(self) -> str:
        """The agent with the highest ability, and whether it is significantly the highest."""
        agents = counted(len(self.agents), "agent")
        if not np.isfinite(self.ability).any():
            return f"The abilities of {agents} are not known."
        if not self.leading:
            return f"No agent of {len(self.agents):,} is significantly more able than another."
        first, *near = self.leading
        best = self.agents.index(first)
        size = f"{self.ability[best]:.2f} ± {self.ability_error[best]:.2f}"
        start = f"{shorten(first)} has the highest ability of {agents}, {size}"
        if not near:
            return f"{start}."
        return f"{start}, not significantly different from {counted(len(near), 'other')}."

    @property
    def tables(self) -> Mapping[str, Table]:
        """Indicators of agents, the highest ability first; how they correlate; bins of difficulty."""
        agents = AgentIndicators(
            agent=self.agents,
            mean=self.mean,
            ability=self.ability,
            ability_error=self.ability_error,
            regularity=self.regularity,
            generality=self.generality,
            slope=self.slope,
            flags=self.flags,
            tied_first=np.isin(np.array(self.agents, dtype=object), list(self.leading)),
        ).sorted_by("ability", descending=True)
        bins = {} if self.bins is None else {"bins": self.bins.table}
        return {"agents": agents, "correlations": self.correlations, **bins}


class Generality(NamedTuple):
    """Generality of agents, and a sentence for those where it is infinite or incomplete."""

    value: Floats
    flags: tuple[str | None, ...]


def indicators(
    fit: IRTFit,
    scores: ResponseMatrix | None = None,
    *,
    bins: Sequence[float] | int | None = None,
    fewest: int | None = None,
    generality_of: Literal["responses", "scores"] = "responses",
    reps: int | None = None,
    rng: Randomness = 0,
) -> Indicators:
    r"""Return ability, regularity, generality and slope of the agents of a fit.

    .. math:: \text{regularity}_j = \frac{1}{\sigma_j^2}, \quad
              \sigma_j^2 = \frac1n \sum_i (R_{ji} - \bar R_j)^2, \qquad
              \gamma_j = \frac{1}{\sum_h (\sigma_j^{[h]})^2}

    `scores` are comparable results of the same agents, on any tasks, for regularity. With zeros and ones
    it is a function of the mean, 1 / (p (1 − p)): give continuous scores if possible (papers/002 has Φ(z)
    over all 49 games). Without them the responses of the fit are used. Generality, the curves and their
    slopes are of the fit's responses, or of the `scores` on the fit's tasks, over bins of difficulty
    (`difficulty_bins`).

    Generality is infinite, and flagged, if there is no variance in any bin, as of an agent that fails
    everything. A bin with fewer than 2 observed results of an agent gets the mean variance of the others,
    and is flagged. `reps` and `rng` are those of `indicator_correlations`.

    References: papers/002, eq. 2 and 3.

    >>> from examiner.irt.items import ItemParameters
    >>> from examiner.irt.ability import known as known_fit
    >>> items = ItemParameters.of(list("abcd"), np.ones(4), difficulty=[-2.0, -1.0, 1.0, 2.0])
    >>> matrix = ResponseMatrix.from_array([[1, 1, 0, 0], [1, 0, 1, 0]], ["neat", "mixed"], "abcd")
    >>> two = indicators(known_fit(items, matrix), bins=2)
    >>> two.generality, two.regularity
    (array([inf,  2.]), array([4., 4.]))
    """
    matrix = fit.matrix
    if matrix is None:
        raise InputError(
            "This fit was read from a file and has no responses, so that its agents have no "
            "indicators. Fit again, or place agents with `place(results, fit)`."
        )
    names = fit.abilities.agents
    results = _of_agents(matrix, names, "the fit's responses")
    regular = results if scores is None else _of_agents(scores, names, "scores")
    source = scores if generality_of == "scores" else matrix
    if source is None:
        raise InputError("Generality of scores needs scores. Give them, or leave the argument out.")
    general = regular if generality_of == "scores" else results
    if source.tasks != fit.items.tasks:
        columns = positions(source.tasks, fit.items.tasks)
        lacking = [fit.items.tasks[number] for number in np.flatnonzero(columns < 0)]
        if lacking:
            raise InputError(
                f"{counted(len(lacking), 'task')} of the fit have no scores: {listed(lacking)}. "
                f"Give scores of every task, or take generality of the responses."
            )
        general = general[:, columns]
    if generality_of == "responses":
        general = landmark_reached(fit.items, general)
    used_bins, notes = _bins(fit.items, bins, fewest)
    if fit.items.landmark is not None:
        notes += (
            f"Generality, slopes and curves of agents are of reaching the landmark, a score of "
            f"{fit.items.landmark[0]:g}: scores without ends have none of their own.",
        )
    seed = seed_of(rng)
    unknown = np.full(len(names), np.nan)
    curves, estimated, slope = None, Generality(unknown, (None,) * len(names)), unknown
    if used_bins is not None:
        curves = empirical_agent_curves(names, general, used_bins)
        estimated, slope = generality(curves), curves.slope
    numbers = {
        "ability": fit.abilities.ability,
        "regularity": regularities(regular),
        "generality": estimated.value,
        "slope": slope,
    }
    return Indicators(
        agents=names,
        mean=_means(results) if fit.means is None else fit.means,
        ability_error=fit.abilities.error,
        flags=_flags(numbers["regularity"], regular, estimated, slope),
        bins=used_bins,
        curves=curves,
        correlations=indicator_correlations(numbers, reps=reps, rng=seed).correlations,
        notes=notes,
        leading=leading(fit.abilities, fit.evidence),
        seed=seed,
        **numbers,
    )


def indicators_without_responses(fit: IRTFit) -> Indicators:
    """Return the means and abilities of a fit's agents, and NaN for what needs responses.

    >>> from examiner.irt import known
    >>> indicators_without_responses(known(ItemParameters.of(["t"], [1.0], [0.0]))).notes[0]
    'Responses were fitted where they are stored: ...'
    """
    unknown = np.full(len(fit.abilities.agents), np.nan)
    return Indicators(
        agents=fit.abilities.agents,
        mean=unknown if fit.means is None else fit.means,
        ability=fit.abilities.ability,
        ability_error=fit.abilities.error,
        regularity=unknown,
        generality=unknown,
        slope=unknown,
        flags=((),) * len(unknown),
        bins=None,
        curves=None,
        correlations=IndicatorCorrelations.from_rows(()),
        notes=(NO_RESPONSES,),
        leading=leading(fit.abilities, fit.evidence) if len(unknown) else (),
    )


@reads_results
def standard_scores(results: Results, measure: str | None = None) -> ResponseMatrix | None:
    """Return Φ(z) of results, papers/002's scores for regularity; None where they are zeros and ones.

    >>> standard_scores(Results.from_numpy([[1.0], [2.0], [3.0]])).to_numpy().round(4).ravel()
    array([0.1587, 0.5   , 0.8413])
    >>> standard_scores(Results.from_numpy([[1.0], [0.0], [1.0]])) is None
    True
    """
    if results.is_binary(measure) or len(results.agents) < 2:
        return None
    return responses(normalise(results, "z-score", measure), measure=measure)


def regularities(results: Floats) -> Floats:
    """Return 1/σ² over the observed results [agents, tasks] of each agent (papers/002, eq. 2).

    Infinite where all are equal, NaN where fewer than two were observed.

    >>> regularities(np.array([[0.0, 1.0], [1.0, 1.0], [1.0, np.nan], [0.0, 1e-17]]))
    array([ 4., inf, nan, inf])
    """
    observed = ~np.isnan(results)
    count = observed.sum(axis=1)
    centred = np.where(observed, results - _means(results)[:, None], 0.0)
    # rounding errors of equal results are no variance
    span = np.fmax.reduce(results, axis=1) - np.fmin.reduce(results, axis=1)
    equal = span <= 1e-13 * np.abs(results[observed]).max(initial=0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        regularity = count / (centred**2).sum(axis=1)
    return np.where(count < 2, np.nan, np.where(equal, np.inf, regularity))


def generality(curves: EmpiricalCurves) -> Generality:
    """Return 1/Σ σ²_h over bins of difficulty (papers/002, eq. 3), flagged where it is infinite.

    >>> from examiner.irt.items import ItemParameters
    >>> items = ItemParameters.of(list("abcd"), np.ones(4), difficulty=[-2.0, -1.0, 1.0, 2.0])
    >>> results = np.array([[0.0, 0.0, 0.0, 0.0]])
    >>> generality(empirical_agent_curves(("a",), results, difficulty_bins(items, 2))).flags
    ('generality is infinite: it failed at everything',)
    """
    usable = curves.observed >= 2
    # the variance in a bin of one task is 0, and counts
    usable |= (curves.observed == 1) & (curves.observed.max(axis=0) == 1)
    bins = curves.mean.shape[1]
    used = usable.sum(axis=1)
    variance = np.where(usable & (curves.variance > 1e-15), curves.variance, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        total = variance.sum(axis=1) * bins / used
        value = np.where(used > 0, 1.0 / total, np.nan)
    flags = (
        _generality_flag(curves, usable, agent, float(value[agent]))
        for agent in range(len(curves.names))
    )
    return Generality(value, tuple(flags))


def _generality_flag(
    curves: EmpiricalCurves, usable: NDArray[np.bool_], agent: int, value: float
) -> str | None:
    bins, used = usable.shape[1], int(usable[agent].sum())
    if used == 0:
        return "generality is not known: fewer than 2 results in every bin of difficulty"
    parts: list[str] = []
    if np.isinf(value):
        means = curves.mean[agent, usable[agent]]
        if (means == 0).all():
            reason = "it failed at everything"
        elif (means == 1).all():
            reason = "it succeeded at everything"
        else:
            reason = "results are alike within every bin of difficulty"
        parts.append(f"generality is infinite: {reason}")
    if used < bins:
        parts.append(f"generality is from {used} of {bins} bins of difficulty")
    return "; ".join(parts) or None


def _flags(
    regularity: Floats, results: Floats, estimated: Generality, slope: Floats
) -> tuple[tuple[str, ...], ...]:
    flags: list[tuple[str, ...]] = []
    for agent, raised in enumerate(estimated.flags):
        sentences = [] if raised is None else [raised]
        if np.isinf(regularity[agent]):
            sentences.append("regularity is infinite: all its results are equal")
        elif np.isnan(regularity[agent]):
            count = int((~np.isnan(results[agent])).sum())
            sentences.append(f"regularity is not known: {counted(count, 'result')}")
        if np.isnan(slope[agent]):
            sentences.append(
                "its curve does not fall through one half, so that it has no slope there"
            )
        flags.append(tuple(sentences))
    return tuple(flags)


def _bins(
    items: ItemParameters, edges: Sequence[float] | int | None, fewest: int | None
) -> tuple[DifficultyBins | None, tuple[str, ...]]:
    """The bins, and notes about them; requested bins must be possible."""
    try:
        used_bins = difficulty_bins(items, edges, fewest=fewest)
    except InputError as problem:
        if edges is not None:
            raise
        return None, (f"Generality is not known: {problem}",)
    notes = []
    if len(used_bins) == 1:
        notes.append(
            f"All {counted(int(used_bins.counts[0]), 'task')} are in one bin of difficulty: generality is "
            f"then regularity over them."
        )
    if used_bins.excluded:
        has = "is" if len(used_bins.excluded) == 1 else "are"
        notes.append(
            f"{counted(len(used_bins.excluded), 'task')} with negative discrimination, or without a "
            f"difficulty inside the bins, {has} excluded from generality: {listed(used_bins.excluded)}."
        )
    return used_bins, tuple(notes)


def _means(results: Floats) -> Floats:
    return ratio(np.nansum(results, axis=1), (~np.isnan(results)).sum(axis=1))


def _of_agents(matrix: ResponseMatrix, agents: tuple[str, ...], what: str) -> Floats:
    """Results of these agents, in their order."""
    rows = positions(matrix.agents, agents)
    missing = [agents[number] for number in np.flatnonzero(rows < 0)]
    if missing:
        raise InputError(
            f"{counted(len(missing), 'agent')} of the fit are not in {what}: {listed(missing)}. "
            f"Give results of the same agents."
        )
    return matrix.to_numpy()[rows]
