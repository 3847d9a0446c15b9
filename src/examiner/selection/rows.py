"""Figures of a comparison: errors, orders and detectable differences, with intervals over agents."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.selection.constraints import codes_of
from examiner.selection.judging import Contest, Judged
from examiner.selection.material import Benchmark
from examiner.selection.ordering import detectable, held_out_pairs, kendall, top_hits

Array = NDArray[np.float64]
ENDS = (2.5, 97.5)
TOP = 3
DETECTABLE_REPS = 100
DRAWS_ORDERED = 50


@dataclass(frozen=True, slots=True)
class Row:
    """One method at one size. Ends `_low` and `_high` are 95 % intervals over agents.

    `r2`, `mae` and `relative_error` (the mean absolute error over the mean absolute aggregate) are of the
    predicted aggregate, `r2_remainder` of the mean of the tasks not chosen. `kendall`, `top1` and `top3`
    are over agents held out together, `bits` what the set tells about which of them is playing, and
    `bits_share` that beside all tasks'. `minimum_detectable_difference` is infinite where even the
    largest difference seen was not ordered right nine times of ten. `coverage` is the share of held-out
    agents inside their prediction interval. `optimistic_r2` is chosen and judged on the same agents.
    """

    method: str
    size: int
    cost: float
    r2: float
    r2_low: float
    r2_high: float
    r2_remainder: float
    r2_remainder_low: float
    r2_remainder_high: float
    relative_error: float
    relative_error_low: float
    relative_error_high: float
    mae: float
    mae_low: float
    mae_high: float
    kendall: float
    kendall_low: float
    kendall_high: float
    top1: float
    top3: float
    bits: float
    bits_share: float
    minimum_detectable_difference: float
    minimum_detectable_difference_low: float
    minimum_detectable_difference_high: float
    coverage: float
    optimistic_r2: float
    took: tuple[tuple[str, int], ...] = ()
    """For best-of: the methods it took, and in how many folds."""

    def to_dict(self) -> dict[str, Any]:  # Any: JSON values
        """Return the row as JSON values, with a flag where no difference seen was detectable."""
        stored = {part.name: getattr(self, part.name) for part in fields(self)}
        beyond = self.minimum_detectable_difference == float("inf")
        return stored | {
            "took": dict(self.took),
            "minimum_detectable_difference_beyond_largest_seen": beyond,
        }


class _Errors(NamedTuple):
    """Sums over agents for R², error and relative error, of held-out predictions [..., agents]."""

    truth: Array
    value: Array

    def figures(self, weight: Array) -> tuple[Array, Array, Array]:
        """R², mean absolute and relative error under weights [resamples, agents]; [..., resamples]."""
        known = np.isfinite(self.truth) & np.isfinite(self.value)
        truth = np.where(known, self.truth, 0.0)
        off = np.where(known, self.value - self.truth, 0.0)
        total = known.astype(np.float64) @ weight.T
        total = np.where(total > 0, total, np.nan)
        mean = truth @ weight.T / total
        spread = truth**2 @ weight.T - total * mean**2
        with np.errstate(divide="ignore", invalid="ignore"):
            r2 = 1 - (off**2 @ weight.T) / np.where(spread > 1e-12 * total, spread, np.nan)
            mae = np.abs(off) @ weight.T / total
            relative = mae * total / (np.abs(truth) @ weight.T)
        return r2, mae, relative


def rows_of(
    material: Benchmark,
    names: tuple[str, ...],
    contest: Contest,
    judged: list[Judged],
    ordered: list[Judged],
    optimistic: Array,
    rng: np.random.Generator,
    reps: int,
) -> tuple[Row, ...]:
    """Turn the answers of folds into rows: every method, then random, then the full set."""
    agents = len(material.agents)
    weight = np.vstack([np.ones(agents), _resampled(material.families, reps, rng)])
    figures = [
        *_error_figures(judged, agents, weight, "predicted", "truth"),
        *_error_figures(judged, agents, weight, "rest", "rest_truth")[:1],
    ]
    orders = _order_figures(ordered, weight)
    bits, full_bits = _mean_bits(ordered)
    coverage = _coverage(judged)
    costs = _costs(material, judged)
    rows = []
    for size_place, size in enumerate(contest.sizes):
        for place, name in enumerate(names):
            at = (place, size_place)
            rows.append(
                Row(
                    *(name, size, costs[at]),
                    *_ends(figures[0][at]),
                    *_ends(figures[3][at]),
                    *_ends(figures[2][at]),
                    *_ends(figures[1][at]),
                    *_ends(orders.kendall[at]),
                    *(float(orders.top1[at]), float(orders.top3[at])),
                    *(float(bits[at]), float(bits[at] / full_bits) if full_bits > 0 else np.nan),
                    *_ends(orders.detectable[at]),
                    *(float(coverage[at]), float(optimistic[at])),
                    _took(names, contest, judged, size_place) if name == "best_of" else (),
                )
            )
        if contest.draws and contest.draws[0]:
            rows.append(
                _random_row(material, contest, judged, ordered, optimistic, weight, size_place)
            )
    return (*rows, _full_row(material, judged, ordered, full_bits))


def _resampled(families: tuple[str, ...], reps: int, rng: np.random.Generator) -> Array:
    """How often each agent counts in each resample of families, shape [reps, agents]."""
    code = codes_of(families)
    count = int(code.max()) + 1
    drawn = rng.multinomial(count, np.full(count, 1.0 / count), size=reps)
    return drawn[:, code].astype(np.float64)


def _error_figures(
    judged: list[Judged], agents: int, weight: Array, value: str, truth: str
) -> tuple[Array, Array, Array]:
    said = np.full((*getattr(judged[0], value).shape[:2], agents), np.nan)
    true = np.full(said.shape, np.nan)
    for one in judged:
        said[:, :, one.test] = getattr(one, value)
        true[:, :, one.test] = getattr(one, truth)
    return _Errors(true, said).figures(weight)


class _Orders(NamedTuple):
    kendall: Array  # [methods, sizes, 1 + reps]
    detectable: Array
    top1: Array
    top3: Array


def _order_figures(ordered: list[Judged], weight: Array) -> _Orders:
    several = [one for one in ordered if len(one.test) > 1]
    shape = ordered[0].predicted.shape[:2]
    if not several:
        nothing = np.full((*shape, 1), np.nan)
        return _Orders(nothing, nothing, nothing[..., 0], nothing[..., 0])
    truths, predictions = [one.truth for one in several], [one.predicted for one in several]
    pairs = held_out_pairs([one.test for one in several], truths, predictions)
    reps = weight[: 1 + DETECTABLE_REPS]
    product = reps[:, pairs.first] * reps[:, pairs.second]
    least = np.empty((*shape, len(reps)))
    for place in np.ndindex(*shape):
        for rep in range(len(reps)):
            least[(*place, rep)] = detectable(pairs.difference, pairs.right[place], product[rep])
    return _Orders(
        kendall(pairs, weight),
        least,
        top_hits(truths, predictions, 1),
        top_hits(truths, predictions, TOP),
    )


def _random_row(
    material: Benchmark,
    contest: Contest,
    judged: list[Judged],
    ordered: list[Judged],
    optimistic: Array,
    weight: Array,
    size_place: int,
) -> Row:
    """Means over random sets; intervals are where 95 % of the sets lie, since sets are what varies."""
    agents, once = len(material.agents), weight[:1]
    whole = _error_figures(judged, agents, once, "random", "truth")
    rest = _error_figures(judged, agents, once, "random_rest", "random_rest_truth")[0]
    several = [one for one in ordered if len(one.test) > 1]
    order = least = top1 = top3 = np.array([np.nan])
    if several:
        truths = [one.truth for one in several]
        said = [one.random[:DRAWS_ORDERED, size_place] for one in several]
        pairs = held_out_pairs([one.test for one in several], truths, said)
        order = kendall(pairs)
        least = np.array([detectable(pairs.difference, pairs.right.mean(axis=0))])
        top1, top3 = top_hits(truths, said, 1), top_hits(truths, said, TOP)
    cost = material.terms.cost if material.terms.priced else np.ones(len(material.tasks))
    return Row(
        *("random", contest.sizes[size_place]),
        float(np.mean([cost[list(one)].sum() for one in contest.draws[size_place]])),
        *_spread(whole[0][:, size_place, 0]),
        *_spread(rest[:, size_place, 0]),
        *_spread(whole[2][:, size_place, 0]),
        *_spread(whole[1][:, size_place, 0]),
        *_spread(order),
        *(float(np.mean(top1)), float(np.mean(top3)), float("nan"), float("nan")),
        *(float(least[0]), float("nan"), float("nan")),
        *(float("nan"), float(optimistic[-1, size_place])),
    )


def _full_row(material: Benchmark, judged: list[Judged], ordered: list[Judged], bits: float) -> Row:
    """The full set, which predicts itself: what the others are measured against."""
    cost = float(material.terms.cost.sum()) if material.terms.priced else float(len(material.tasks))
    some = any(len(one.test) > 1 for one in ordered)
    order = 1.0 if some else float("nan")
    nothing = float("nan")
    return Row(
        *("full", len(material.tasks), cost, 1.0, 1.0, 1.0, nothing, nothing, nothing),
        *(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, order, order, order, order, order),
        *(bits, 1.0 if bits > 0 else nothing, 0.0, 0.0, 0.0, nothing, 1.0),
    )


def _mean_bits(ordered: list[Judged]) -> tuple[Array, float]:
    several = [one for one in ordered if len(one.test) > 1]
    if not several:
        return np.full(ordered[0].bits.shape, np.nan), float("nan")
    bits: Array = np.mean([one.bits for one in several], axis=0)
    return bits, float(np.mean([one.full_bits for one in several]))


def _coverage(judged: list[Judged]) -> Array:
    inside = [(one.low <= one.truth) & (one.truth <= one.high) for one in judged]
    coverage: Array = np.concatenate(inside, axis=2).mean(axis=2)
    return coverage


def _costs(material: Benchmark, judged: list[Judged]) -> Array:
    cost = material.terms.cost if material.terms.priced else np.ones(len(material.tasks))
    each = [[[cost[list(one)].sum() for one in row] for row in fold.sets] for fold in judged]
    mean: Array = np.mean(each, axis=0)
    return mean


def _took(
    names: tuple[str, ...], contest: Contest, judged: list[Judged], size_place: int
) -> tuple[tuple[str, int], ...]:
    counted = Counter(names[one.winner[size_place]] for one in judged)
    return tuple(counted.most_common())


def _ends(values: Array) -> tuple[float, float, float]:
    """The figure itself, and the ends over resamples."""
    known = values[1:][~np.isnan(values[1:])]
    if not len(known):
        return float(values[0]), float("nan"), float("nan")
    low, high = np.percentile(known, ENDS, method="inverted_cdf")
    return float(values[0]), float(low), float(high)


def _spread(values: Array) -> tuple[float, float, float]:
    known = values[~np.isnan(values)]
    if not len(known):
        return float("nan"), float("nan"), float("nan")
    low, high = np.percentile(known, ENDS)
    return float(known.mean()), float(low), float(high)
