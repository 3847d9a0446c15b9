"""Figures of judged methods: errors, orders and detectable differences, with intervals over agents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Table, bound, count, flag, name, number, words
from examiner.scores import Estimate, value_unit
from examiner.selection.benchmark import Benchmark
from examiner.selection.methods import BEST_OF
from examiner.selection.proof.chance import mean_of_draws
from examiner.selection.proof.folds import JudgedFold
from examiner.selection.proof.ordering import Pairs, detectable, held_out_pairs, kendall, top_hits
from examiner.selection.proof.sets import Contest
from examiner.selection.resampling import estimate_of, resampled_agents
from examiner.validation import Floats

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


def table_of(
    whole: Benchmark,
    contest: Contest,
    judged: list[JudgedFold],
    ordered: list[JudgedFold],
    optimistic: Floats,
    sets: Sequence[Sequence[tuple[str, ...]]],
    *,
    reps: int,
    rng: np.random.Generator,
) -> JudgedMethods:
    """Return the figures of every method, then of random selections, at each size; last, of the full set.

    Intervals are over agents (95 %), those of random selections over selections. `ordered` are the folds
    in which orders are judged, and `sets` [methods][sizes] the tasks selected on all agents.
    """
    weight = resampled_agents(whole.family_codes, rng, reps)
    random = bool(contest.draws and contest.draws[0])
    bits, full_bits = _mean_bits(ordered)
    parts = [_of_methods(whole, judged, ordered, weight) | {"bits": bits}]
    parts[0] |= {"optimistic_r2": optimistic[:-1], "bits_share": bits / (full_bits or _NAN)}
    if random:
        parts.append(_of_random(whole, contest, judged, ordered, optimistic[-1]))
    full = _of_full(whole, ordered, full_bits)
    columns: dict[str, Any] = {}  # Any: as the column declares
    for column in full:
        rows = [
            np.broadcast_to(part.get(column, _NAN), (len(names), len(contest.sizes)))
            for part, names in zip(parts, (contest.names, ("random",)), strict=False)
        ]
        columns[column] = np.append(np.concatenate(rows).T.ravel(), full[column])
    names = (*contest.names, *(("random",) if random else ()))
    columns["method"] = (*names * len(contest.sizes), "full")
    columns["size"] = (*np.repeat(contest.sizes, len(names)).tolist(), len(whole.tasks))
    pairs = list(zip(columns["method"], columns["size"], strict=True))
    selected = {
        (name, size): tasks
        for name, row in zip(contest.names, sets, strict=False)
        for size, tasks in zip(contest.sizes, row, strict=True)
    }
    columns["tasks"] = [selected.get(pair, ()) for pair in pairs]
    columns["taken"] = [
        _taken(contest, judged, contest.sizes.index(size)) if name == BEST_OF else ()
        for name, size in pairs
    ]
    columns["none_detectable"] = np.isinf(columns["minimum_detectable_difference"])
    return JudgedMethods(**columns, score_unit=value_unit(whole.recipe))


def _with_ends(name: str, ends: Callable[[Floats], Estimate], values: Floats) -> dict[str, Floats]:
    """An estimate and its interval, from values whose last axis is resamples."""
    estimates = np.apply_along_axis(lambda row: np.array(ends(row)), -1, values)
    columns = (name, f"{name}_low", f"{name}_high")
    return dict(zip(columns, np.moveaxis(estimates, -1, 0), strict=True))


def _estimates(
    ends: Callable[[Floats], Estimate], errors: _Errors, remainder: _Errors, order: Floats
) -> dict[str, Floats]:
    return (
        _with_ends("r2", ends, errors.r2)
        | _with_ends("r2_remainder", ends, remainder.r2)
        | _with_ends("relative_error", ends, errors.relative)
        | _with_ends("mae", ends, errors.mae)
        | _with_ends("kendall", ends, order)
    )


def _of_methods(
    whole: Benchmark, judged: list[JudgedFold], ordered: list[JudgedFold], weight: Floats
) -> dict[str, Floats]:
    """Figures of methods, [methods, sizes] each."""
    errors = _errors(judged, weight, lambda fold: (fold.truth, fold.guess.value))
    remainder = _errors(
        judged, weight, lambda fold: (fold.guess.remainder_truth, fold.guess.remainder)
    )
    orders = _order_figures(ordered, weight)
    return {
        **_estimates(estimate_of, errors, remainder, orders.kendall),
        **_with_ends("minimum_detectable_difference", estimate_of, orders.detectable),
        "cost": _costs(whole, judged),
        "top1": orders.top1,
        "top3": orders.top3,
        "coverage": _coverage(judged),
    }


class _Errors(NamedTuple):
    """R², mean absolute and relative error under weights; shape [..., resamples]."""

    r2: Floats
    mae: Floats
    relative: Floats


def _errors(
    judged: list[JudgedFold],
    weight: Floats,
    parts: Callable[[JudgedFold], tuple[Floats, Floats]],
) -> _Errors:
    """Errors of the predictions of agents while they were held out, weighted by [resamples, agents].

    `parts` gives the truth and the predictions of one fold.
    """
    predicted = np.full((*parts(judged[0])[1].shape[:2], weight.shape[1]), np.nan)
    true = np.full(predicted.shape, np.nan)
    for fold in judged:
        true[:, :, fold.test], predicted[:, :, fold.test] = parts(fold)
    both = np.isfinite(true) & np.isfinite(predicted)
    truth = np.where(both, true, 0.0)
    off = np.where(both, predicted - true, 0.0)
    total = both.astype(np.float64) @ weight.T
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


def _of_random(
    whole: Benchmark,
    contest: Contest,
    judged: list[JudgedFold],
    ordered: list[JudgedFold],
    optimistic: Floats,
) -> dict[str, Floats]:
    """Means over random sets of each size, [sizes], and the intervals that contain 95 % of the sets."""
    once = np.ones((1, len(whole.agents)))
    errors = _errors(judged, once, lambda fold: (fold.truth, fold.random.value))
    remainder = _errors(
        judged, once, lambda fold: (fold.random.remainder_truth, fold.random.remainder)
    )
    sizes, several = len(contest.sizes), _several(ordered)
    truths = [fold.truth for fold in several]
    order, least, top1, top3 = np.full((4, DRAWS_ORDERED, sizes), _NAN)
    for at, row in enumerate(contest.draws if several else ()):
        drawn = slice(min(len(row), DRAWS_ORDERED))
        predicted = [fold.random.value[drawn, at] for fold in several]
        pairs = held_out_pairs([fold.test for fold in several], truths, predicted)
        order[drawn, at], least[0, at] = kendall(pairs), float(detectable(_as_one(pairs)))
        top1[drawn, at], top3[drawn, at] = (top_hits(truths, predicted, top) for top in (1, TOP))
    prices = whole.terms.prices
    costs = [np.mean([prices[list(few)].sum() for few in row]) for row in contest.draws]
    by_draw, rest_by_draw = (
        _Errors(*(part[:, :, 0].T for part in kind)) for kind in (errors, remainder)
    )
    return {
        **_estimates(_spread, by_draw, rest_by_draw, order.T),
        "minimum_detectable_difference": least[0],
        "cost": np.array(costs),
        "top1": mean_of_draws(top1),
        "top3": mean_of_draws(top3),
        "optimistic_r2": optimistic,
    }


def _of_full(whole: Benchmark, ordered: list[JudgedFold], bits: float) -> dict[str, float]:
    """Figures of the full set, which predicts itself: what the others are compared with."""
    order = 1.0 if _several(ordered) else _NAN
    right = {"r2": 1.0, "relative_error": 0.0, "mae": 0.0, "minimum_detectable_difference": 0.0}
    estimates = right | {"kendall": order, "r2_remainder": _NAN}
    return {
        **{
            f"{name}{end}": value
            for name, value in estimates.items()
            for end in ("", "_low", "_high")
        },
        "cost": float(whole.terms.prices.sum()),
        "top1": order,
        "top3": order,
        "bits": bits,
        "bits_share": 1.0 if bits > 0 else _NAN,
        "coverage": _NAN,
        "optimistic_r2": 1.0,
    }


def _several(folds: Sequence[JudgedFold]) -> list[JudgedFold]:
    """The folds that held out more than one agent: only those show anything about orders."""
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
    costs = [[[cost[list(few)].sum() for few in row] for row in fold.sets] for fold in judged]
    return np.asarray(np.mean(costs, axis=0))


def _taken(contest: Contest, judged: list[JudgedFold], size_index: int) -> tuple[str, ...]:
    folds = Counter(contest.names[fold.winner[size_index]] for fold in judged)
    return tuple(f"{name} ({count})" for name, count in folds.most_common())


def _as_one(pairs: Pairs) -> Pairs:
    """Pairs as predicted by every draw, one draw after the other."""
    draws = len(pairs.predicted)
    first, second = np.tile(pairs.first, draws), np.tile(pairs.second, draws)
    apart = np.tile(pairs.difference, draws)
    return Pairs(first, second, apart, pairs.right.ravel(), pairs.predicted.ravel())


def _spread(values: Floats) -> Estimate:
    finite = values[~np.isnan(values)]
    if not len(finite):
        return _UNKNOWN
    low, high = np.percentile(finite, (2.5, 97.5))
    return Estimate(float(finite.mean()), float(low), float(high))
