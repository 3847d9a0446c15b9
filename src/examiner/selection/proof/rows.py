"""Figures of judged methods: errors, orders and detectable differences, with intervals over agents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Table, bound, count, flag, name, number, words
from examiner.scores import Estimate
from examiner.selection.benchmark import Benchmark
from examiner.selection.proof.contest import JudgedFold
from examiner.selection.proof.ordering import Pairs, detectable, held_out_pairs, kendall, top_hits
from examiner.selection.proof.sets import Contest
from examiner.selection.resampling import estimate_of, resampled_agents
from examiner.validation import Floats

ENDS = (2.5, 97.5)
TOP = 3
DRAWS_ORDERED = 50
_NAN = float("nan")
_UNKNOWN = Estimate(_NAN)


class JudgedMethods(Table):
    """One row per selection method and size, then random selections, then the full set.

    NaN is what does not apply. `minimum_detectable_difference` is infinite where even the largest
    observed difference was not ordered correctly nine times in ten.
    """

    method: tuple[str, ...] = name("Selection method; random: mean of random selections")
    size: NDArray[np.int64] = count("Number of selected tasks")
    cost: Floats = number("Cost of the selected tasks; their number where no cost is given")
    r2: Floats = number("R² of the predicted aggregate of held-out agents", title="R²")
    r2_low: Floats = bound("r2", "low")
    r2_high: Floats = bound("r2", "high")
    mae: Floats = number("Mean absolute error of the predicted aggregate", unit="score")
    mae_low: Floats = bound("mae", "low")
    mae_high: Floats = bound("mae", "high")
    relative_error: Floats = number(
        "Mean absolute error divided by the mean absolute aggregate", title="relative"
    )
    relative_error_low: Floats = bound("relative_error", "low")
    relative_error_high: Floats = bound("relative_error", "high")
    r2_remainder: Floats = number(
        "R² of the predicted mean of the tasks that were not selected", title="remainder"
    )
    r2_remainder_low: Floats = bound("r2_remainder", "low")
    r2_remainder_high: Floats = bound("r2_remainder", "high")
    coverage: Floats = number("Share of held-out agents inside their 90 % intervals")
    optimistic_r2: Floats = number(
        "R² on the agents that the tasks were selected on", title="optimistic"
    )
    kendall: Floats = number("Kendall's tau between predicted and true order", title="Kendall")
    kendall_low: Floats = bound("kendall", "low")
    kendall_high: Floats = bound("kendall", "high")
    top1: Floats = number("How often the best agent is predicted to be best", title="top 1")
    top3: Floats = number("Share of the best three agents predicted to be so", title="top 3")
    bits: Floats = number("Information about which held-out agent is playing", unit="bits")
    bits_share: Floats = number("The same as a share of the information of all tasks")
    minimum_detectable_difference: Floats = number(
        "Smallest difference between agents that is ordered correctly nine times in ten",
        unit="score",
        title="detectable",
    )
    minimum_detectable_difference_low: Floats = bound("minimum_detectable_difference", "low")
    minimum_detectable_difference_high: Floats = bound("minimum_detectable_difference", "high")
    none_detectable: NDArray[np.bool_] = flag(
        "Not even the largest observed difference is ordered correctly nine times in ten"
    )
    tasks: tuple[tuple[str, ...], ...] = words("Tasks that are selected on all agents")
    taken: tuple[tuple[str, ...], ...] = words(
        "Methods that best_of took, with the number of folds"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodFigures:
    """One row of `JudgedMethods`; estimates have 95 % intervals over agents."""

    method: str
    size: int
    cost: float
    r2: Estimate
    r2_remainder: Estimate = _UNKNOWN
    relative_error: Estimate
    mae: Estimate
    kendall: Estimate
    top1: float
    top3: float
    bits: float = _NAN
    bits_share: float = _NAN
    minimum_detectable_difference: Estimate
    coverage: float = _NAN
    optimistic_r2: float
    taken: tuple[str, ...] = ()


def table_of(
    rows: Sequence[MethodFigures],
    sets: Mapping[tuple[str, int], tuple[str, ...]],
    score_unit: str,
) -> JudgedMethods:
    """Return the figures of methods as a table; `sets` are the tasks by method and size."""
    columns: dict[str, Any] = {}  # Any: as the column declares
    for part in fields(MethodFigures):
        values = [getattr(row, part.name) for row in rows]
        if isinstance(values[0], Estimate):
            for end, suffix in zip(zip(*values, strict=True), ("", "_low", "_high"), strict=True):
                columns[f"{part.name}{suffix}"] = end
        else:
            columns[part.name] = values
    columns["tasks"] = [sets.get((row.method, row.size), ()) for row in rows]
    columns["none_detectable"] = np.isinf(columns["minimum_detectable_difference"])
    columns["score_unit"] = score_unit
    return JudgedMethods(**columns)


def rows_of(
    whole: Benchmark,
    contest: Contest,
    judged: list[JudgedFold],
    ordered: list[JudgedFold],
    optimistic: Floats,
    *,
    reps: int,
    rng: np.random.Generator,
) -> tuple[MethodFigures, ...]:
    """Turn the answers of folds into rows: every method, then random, then the full set."""
    agents = len(whole.agents)
    weight = resampled_agents(whole.family_codes, rng, reps)
    errors = _errors(judged, agents, weight, lambda fold: (fold.truth, fold.guess.value))
    rest = _errors(judged, agents, weight, lambda fold: (fold.guess.rest_truth, fold.guess.rest))
    orders = _order_figures(ordered, weight)
    bits, full_bits = _mean_bits(ordered)
    coverage = _coverage(judged)
    costs = _costs(whole, judged)
    random = _random_rows(whole, contest, judged, ordered, optimistic[-1])
    rows = []
    for size_index, size in enumerate(contest.sizes):
        for index, method in enumerate(contest.names):
            at = (index, size_index)
            rows.append(
                MethodFigures(
                    method=method,
                    size=size,
                    cost=float(costs[at]),
                    r2=estimate_of(errors.r2[at]),
                    r2_remainder=estimate_of(rest.r2[at]),
                    relative_error=estimate_of(errors.relative[at]),
                    mae=estimate_of(errors.mae[at]),
                    kendall=estimate_of(orders.kendall[at]),
                    top1=float(orders.top1[at]),
                    top3=float(orders.top3[at]),
                    bits=float(bits[at]),
                    bits_share=float(bits[at] / full_bits) if full_bits > 0 else _NAN,
                    minimum_detectable_difference=estimate_of(orders.detectable[at]),
                    coverage=float(coverage[at]),
                    optimistic_r2=float(optimistic[at]),
                    taken=_taken(contest, judged, size_index) if method == "best_of" else (),
                )
            )
        rows += random[size_index : size_index + 1]
    return (*rows, _full_row(whole, ordered, full_bits))


class _Errors(NamedTuple):
    """R², mean absolute and relative error under weights; shape [..., resamples]."""

    r2: Floats
    mae: Floats
    relative: Floats


def _errors(
    judged: list[JudgedFold],
    agents: int,
    weight: Floats,
    parts: Callable[[JudgedFold], tuple[Floats, Floats]],
) -> _Errors:
    """Errors of what was said of agents while they were held out, weighted by [resamples, agents].

    `parts` gives the truth and what was said of it, of one fold.
    """
    said = np.full((*parts(judged[0])[1].shape[:2], agents), np.nan)
    true = np.full(said.shape, np.nan)
    for fold in judged:
        true[:, :, fold.test], said[:, :, fold.test] = parts(fold)
    known = np.isfinite(true) & np.isfinite(said)
    truth = np.where(known, true, 0.0)
    off = np.where(known, said - true, 0.0)
    total = known.astype(np.float64) @ weight.T
    total = np.where(total > 0, total, np.nan)
    mean = truth @ weight.T / total
    spread = truth**2 @ weight.T - total * mean**2
    with np.errstate(divide="ignore", invalid="ignore"):
        r2 = 1 - (off**2 @ weight.T) / np.where(spread > 1e-12 * total, spread, np.nan)
        mae = np.abs(off) @ weight.T / total
        relative = mae * total / (np.abs(truth) @ weight.T)
    return _Errors(r2, mae, relative)


class _Orders(NamedTuple):
    kendall: Floats  # [methods, sizes, 1 + reps]
    detectable: Floats
    top1: Floats
    top3: Floats


def _order_figures(ordered: list[JudgedFold], weight: Floats) -> _Orders:
    several = _several(ordered)
    shape = ordered[0].guess.value.shape[:2]
    if not several:
        nothing = np.full((*shape, 1), np.nan)
        return _Orders(nothing, nothing, nothing[..., 0], nothing[..., 0])
    truths = [fold.truth for fold in several]
    predictions = [fold.guess.value for fold in several]
    pairs = held_out_pairs([fold.test for fold in several], truths, predictions)
    return _Orders(
        kendall(pairs, weight),
        detectable(pairs, weight),
        top_hits(truths, predictions, 1),
        top_hits(truths, predictions, TOP),
    )


def _random_rows(
    whole: Benchmark,
    contest: Contest,
    judged: list[JudgedFold],
    ordered: list[JudgedFold],
    optimistic: Floats,
) -> list[MethodFigures]:
    """Means over random sets of each size; intervals are where 95 % of the sets lie, which vary."""
    if not (contest.draws and contest.draws[0]):
        return []
    agents = len(whole.agents)
    once = np.ones((1, agents))
    errors = _errors(judged, agents, once, lambda fold: (fold.truth, fold.random.value))
    rest = _errors(judged, agents, once, lambda fold: (fold.random.rest_truth, fold.random.rest))
    cost = whole.terms.prices
    several = _several(ordered)
    truths = [fold.truth for fold in several]
    rows = []
    for index, size in enumerate(contest.sizes):
        order = top1 = top3 = np.array([np.nan])
        least = _NAN
        if several:
            said = [fold.random.value[:DRAWS_ORDERED, index] for fold in several]
            pairs = held_out_pairs([fold.test for fold in several], truths, said)
            order, least = kendall(pairs), float(detectable(_as_one(pairs)))
            top1, top3 = top_hits(truths, said, 1), top_hits(truths, said, TOP)
        rows.append(
            MethodFigures(
                method="random",
                size=size,
                cost=float(np.mean([cost[list(drawn)].sum() for drawn in contest.draws[index]])),
                r2=_spread(errors.r2[:, index, 0]),
                r2_remainder=_spread(rest.r2[:, index, 0]),
                relative_error=_spread(errors.relative[:, index, 0]),
                mae=_spread(errors.mae[:, index, 0]),
                kendall=_spread(order),
                top1=float(np.mean(top1)),
                top3=float(np.mean(top3)),
                minimum_detectable_difference=Estimate(least),
                optimistic_r2=float(optimistic[index]),
            )
        )
    return rows


def _full_row(whole: Benchmark, ordered: list[JudgedFold], bits: float) -> MethodFigures:
    """The full set, which predicts itself: what the others are measured against."""
    order = 1.0 if _several(ordered) else _NAN
    right, wrong = Estimate(1.0, 1.0, 1.0), Estimate(0.0, 0.0, 0.0)
    return MethodFigures(
        method="full",
        size=len(whole.tasks),
        cost=float(whole.terms.prices.sum()),
        r2=right,
        relative_error=wrong,
        mae=wrong,
        kendall=Estimate(order, order, order),
        top1=order,
        top3=order,
        bits=bits,
        bits_share=1.0 if bits > 0 else _NAN,
        minimum_detectable_difference=wrong,
        optimistic_r2=1.0,
    )


def _several(folds: Sequence[JudgedFold]) -> list[JudgedFold]:
    """The folds that held out more than one agent: only those say anything about orders."""
    return [fold for fold in folds if len(fold.test) > 1]


def _mean_bits(ordered: list[JudgedFold]) -> tuple[Floats, float]:
    several = _several(ordered)
    if not several:
        return np.full(ordered[0].bits.shape, np.nan), _NAN
    bits: Floats = np.mean([fold.bits for fold in several], axis=0)
    return bits, float(np.mean([fold.full_bits for fold in several]))


def _coverage(judged: list[JudgedFold]) -> Floats:
    inside = [(fold.guess.low <= fold.truth) & (fold.truth <= fold.guess.high) for fold in judged]
    return np.asarray(np.concatenate(inside, axis=2).mean(axis=2))


def _costs(whole: Benchmark, judged: list[JudgedFold]) -> Floats:
    cost = whole.terms.prices
    each = [[[cost[list(few)].sum() for few in row] for row in fold.sets] for fold in judged]
    return np.asarray(np.mean(each, axis=0))


def _taken(contest: Contest, judged: list[JudgedFold], size_index: int) -> tuple[str, ...]:
    folds = Counter(contest.names[fold.winner[size_index]] for fold in judged)
    return tuple(f"{name} ({count})" for name, count in folds.most_common())


def _as_one(pairs: Pairs) -> Pairs:
    """Pairs as predicted by every draw, one draw after the other."""
    draws = len(pairs.said)
    first, second = np.tile(pairs.first, draws), np.tile(pairs.second, draws)
    apart = np.tile(pairs.difference, draws)
    return Pairs(first, second, apart, pairs.right.ravel(), pairs.said.ravel())


def _spread(values: Floats) -> Estimate:
    known = values[~np.isnan(values)]
    if not len(known):
        return _UNKNOWN
    low, high = np.percentile(known, ENDS)
    return Estimate(float(known.mean()), float(low), float(high))
