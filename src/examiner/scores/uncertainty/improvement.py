"""Probability of improvement: how often a run of one agent beats a run of another, and how surely."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from examiner.checking import read_only
from examiner.results import Results
from examiner.scores.uncertainty.bootstrap import Map, Progress, quantiles
from examiner.scores.uncertainty.plan import Interval, Plan, no_interval, uncorrected_plan
from examiner.scores.uncertainty.proportions import Bounds, least_after_all_won, wilson
from examiner.scores.uncertainty.resampling import Unit
from examiner.scores.uncertainty.strata import RunScores, run_scores, same_sign
from examiner.scores.uncertainty.wins import Wins, by_task_and_overall, overall, wins
from examiner.wording import InputError, shorten, unknown_name

NO_BCA = "The interval 'bca' is not made for the probability of improvement."


@dataclass(frozen=True, slots=True, eq=False)
class Improvement:
    """How probably agent a beats agent b, overall and on each common task (arrays [tasks]).

    At 0 or 1 the interval is one-sided: its other end is the estimate. NaN: no interval.
    """

    a: str
    b: str
    probability: float
    low: float
    high: float
    tasks: tuple[str, ...]
    task_probability: NDArray[np.float64]
    task_low: NDArray[np.float64]
    task_high: NDArray[np.float64]
    unit: Unit
    interval: Interval
    level: float
    reps: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ImprovementMatrix:
    """Probability that the agent of a row beats the agent of a column; NaN on the diagonal.

    Arrays have shape [agents, agents]; NaN too where a pair was not asked for or shares no task.
    """

    agents: tuple[str, ...]
    probability: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    unit: Unit
    interval: Interval
    level: float
    reps: int
    notes: tuple[str, ...]


def improvement(
    results: Results,
    a: str,
    b: str,
    *,
    rng: np.random.Generator,
    reps: int = 2000,
    unit: Unit = "runs",
    interval: Interval = "rescaled",
    level: float = 0.95,
    measure: str | None = None,
    progress: Progress | None = None,
    map: Map = builtins.map,
) -> Improvement:
    r"""Estimate how probably a run of agent a beats one of agent b on a task drawn at random.

    .. math:: P(a > b) = \frac{1}{T} \sum_t P(x_t > y_t) + \tfrac{1}{2} P(x_t = y_t)

    Runs of both agents are resampled independently within each task. Where the estimate is 0 or 1
    no resample differs, and one-sided bounds are given instead: see `honest_bounds`.

    References: Agarwal et al. (2021), section 4.3; Rao & Wu (1988).

    >>> results = Results.from_numpy([[[2.0, 3.0]] * 3, [[1.0, 2.0]] * 3], agents=["new", "old"])
    >>> found = improvement(results, "new", "old", rng=np.random.default_rng(0))
    >>> found.probability, found.low < 0.875 < found.high
    (0.875, True)
    """
    plan = uncorrected_plan(NO_BCA, reps, unit, interval, level)
    for name in (a, b):
        if name not in results.agents:
            raise unknown_name("agent", name, results.agents)
    same_sign(results, measure)
    scores = run_scores(results, measure)
    pair = wins(scores, results.agents.index(a), results.agents.index(b))
    _check_common(scores, pair)
    reason = no_interval(scores, unit)
    ends = np.full((2, len(pair.probability) + 1), np.nan)
    if reason is None:
        evaluate = partial(by_task_and_overall, pair=pair)
        drawn = quantiles(plan.replicates(scores, evaluate, rng, progress, map), level)
        ends = _task_and_pair_bounds(pair, np.array(drawn), plan)
    tasks = tuple(scores.tasks[task] for task in scores.strata[pair.a].tasks[pair.rows_a])
    for array in (pair.probability, ends):
        read_only(array)
    notes = _notes(scores, [pair], reason, unit)
    whole = (float(pair.probability.mean()), float(ends[0, -1]), float(ends[1, -1]))
    each = (pair.probability, ends[0, :-1], ends[1, :-1])
    return Improvement(a, b, *whole, tasks, *each, unit, interval, level, reps, notes)


def improvement_matrix(
    results: Results,
    *,
    rng: np.random.Generator,
    pairs: Sequence[tuple[str, str]] | None = None,
    reps: int = 2000,
    unit: Unit = "runs",
    interval: Interval = "rescaled",
    level: float = 0.95,
    measure: str | None = None,
    progress: Progress | None = None,
    map: Map = builtins.map,
) -> ImprovementMatrix:
    """Estimate the probability of improvement of all pairs of agents, or of some.

    The same as `improvement`, pair by pair, on the same resamples.

    >>> results = Results.from_numpy([[[2.0, 3.0]] * 3, [[1.0, 2.0]] * 3])
    >>> improvement_matrix(results, rng=np.random.default_rng(0)).probability
    array([[  nan, 0.875],
           [0.125,   nan]])
    """
    plan = uncorrected_plan(NO_BCA, reps, unit, interval, level)
    same_sign(results, measure)
    scores = run_scores(results, measure)
    places = {agent: place for place, agent in enumerate(results.agents)}
    for name in {name for pair in pairs or () for name in pair} - set(places):
        raise unknown_name("agent", name, results.agents)
    asked = combinations(results.agents, 2) if pairs is None else pairs
    compared = [wins(scores, places[a], places[b]) for a, b in asked if a != b]
    compared = [pair for pair in compared if len(pair.probability)]
    reason = no_interval(scores, unit)
    ends = np.full((2, len(compared)), np.nan)
    if reason is None and compared:
        evaluate = partial(overall, pairs=tuple(compared))
        drawn = quantiles(plan.replicates(scores, evaluate, rng, progress, map), level)
        for place, (pair, low, high) in enumerate(zip(compared, *drawn, strict=True)):
            ends[:, place] = _pair_bounds(pair, low, high, plan)
    values = _filled(compared, ends, len(places))
    notes = _notes(scores, compared, reason, unit)
    return ImprovementMatrix(results.agents, *values, unit, interval, level, reps, notes)


def honest_bounds(
    estimate: float, low: float, high: float, trials: int, level: float = 0.95
) -> Bounds:
    """Replace the bounds where resamples do not differ: one-sided at 0 and 1, Wilson's between.

    `trials` is the number of independent meetings behind the estimate: each run of one agent is
    paired with one other run of the other, so that a task gives as many as the smaller number of
    runs. Had all of them been won, α^(1/n) bounds their mean probability from below, and exactly so:
    the geometric mean of unlike probabilities does not exceed their mean. Between 0 and 1, Wilson's
    interval is wide enough, because unlike probabilities vary less than equal ones.

    References: Clopper & Pearson (1934); Hoeffding (1956).

    >>> [round(end, 3) for end in honest_bounds(1.0, 1.0, 1.0, trials=30)]
    [0.905, 1.0]
    """
    if estimate >= 1:
        return Bounds(least_after_all_won(trials, level), 1.0)
    if estimate <= 0:
        return Bounds(0.0, 1 - least_after_all_won(trials, level))
    return Bounds(low, high) if high > low else wilson(estimate * trials, trials, level)


def _check_common(scores: RunScores, pair: Wins) -> None:
    if pair.a == pair.b:
        raise InputError(
            f"The agent {shorten(scores.agents[pair.a])} cannot be compared with itself. Name two."
        )
    if not len(pair.probability):
        raise InputError(
            f"The agents {shorten(scores.agents[pair.a])} and {shorten(scores.agents[pair.b])} share "
            f"no task. Choose agents that were observed on the same tasks."
        )


def _task_and_pair_bounds(
    pair: Wins, drawn: NDArray[np.float64], plan: Plan
) -> NDArray[np.float64]:
    """Bounds of each task and, last, overall; no bounds for a task where only tasks are drawn."""
    ends = np.full(drawn.shape, np.nan)
    if plan.unit == "runs":
        for task, (estimate, trials) in enumerate(zip(pair.probability, pair.fewer, strict=True)):
            low, high = drawn[:, task]
            ends[:, task] = honest_bounds(estimate, low, high, trials, plan.level)
    ends[:, -1] = _pair_bounds(pair, drawn[0, -1], drawn[1, -1], plan)
    return ends


def _pair_bounds(pair: Wins, low: float, high: float, plan: Plan) -> Bounds:
    each = int(pair.fewer.min()) if plan.unit == "runs" else 1
    trials = each * len(pair.fewer)
    return honest_bounds(float(pair.probability.mean()), low, high, trials, plan.level)


def _filled(
    pairs: Sequence[Wins], ends: NDArray[np.float64], agents: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """The matrices of probability, low and high; what is below the diagonal mirrors what is above."""
    probability, low, high = np.full((3, agents, agents), np.nan)
    for place, pair in enumerate(pairs):
        value = float(pair.probability.mean())
        probability[pair.a, pair.b], probability[pair.b, pair.a] = value, 1 - value
        low[pair.a, pair.b], low[pair.b, pair.a] = ends[0, place], 1 - ends[1, place]
        high[pair.a, pair.b], high[pair.b, pair.a] = ends[1, place], 1 - ends[0, place]
    for array in (probability, low, high):
        read_only(array)
    return probability, low, high


def _notes(
    scores: RunScores, pairs: Sequence[Wins], reason: str | None, unit: Unit
) -> tuple[str, ...]:
    notes = list(scores.notes)
    if reason:
        notes.append(reason)
    elif unit == "runs":
        sure = [np.isin(pair.probability, (0.0, 1.0)).mean() for pair in pairs]
        doubtful = sum(0.5 < share < 1 for share in sure)
        if doubtful:
            notes.append(
                f"In {doubtful:,} of {len(pairs):,} pairs every run of one agent beats every run of the "
                f"other on more than half of the tasks: resampling takes those as certain, and the "
                f"interval may be too narrow."
            )
    return tuple(notes)
