"""One agent against others, pair by pair: difference, improvement, a test over tasks, and each task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from examiner.checking import Floats, Randomness, generator, read_only
from examiner.results import Results
from examiner.scores.cells import judged_runs
from examiner.scores.differences import Difference, clusters_of, difference_of
from examiner.scores.estimate import wilson
from examiner.scores.signed_ranks import signed_rank_p
from examiner.scores.significance import holm
from examiner.scores.total import Total
from examiner.scores.uncertainty.improvement import Improvement, improvement
from examiner.scores.uncertainty.strata import RunScores, common_rows, run_scores, same_sign
from examiner.wording import InputError, shorten

FEW_TASKS = 6
"""With fewer tasks no signed-rank test can fall below 5 %: 2 / 2⁵ is 6 %."""


class Discordance(NamedTuple):
    """Items of zeros and ones that both, only a, only b, or neither solved."""

    both: int
    only_a: int
    only_b: int
    neither: int


class PairedComparison(NamedTuple):
    """Agent a against agent b over their common tasks; `adjusted` is p after Holm over all pairs asked for.

    `low` and `high` are of the difference. `mean_a` and `mean_b` have shape [tasks]. For items of zeros and
    ones with one run each, `items` counts them, the test is McNemar's and the interval Newcombe's; else
    `items` is None, the test Wilcoxon's signed ranks, and the interval that of `difference`.
    """

    difference: Difference
    improvement: Improvement
    low: float
    high: float
    test: str
    p: float
    adjusted: float
    tasks: tuple[str, ...]
    mean_a: Floats
    mean_b: Floats
    items: Discordance | None
    notes: tuple[str, ...]


def compare_pairs(
    results: Results,
    agent: str,
    others: Sequence[str],
    *,
    rng: Randomness,
    level: float = 0.95,
    measure: str | None = None,
    reps: int = 2000,
    total: Total | None = None,
) -> tuple[PairedComparison, ...]:
    """Compare an agent with each of some others, several tests corrected by Holm.

    Where `total` has levels or weights, the test is of the totals: t over tasks within groups.

    References: Holm (1979); McNemar (1947); Newcombe (1998), method 10; Wilcoxon (1945).

    >>> results = Results.from_numpy([[1.0] * 8 + [0.0], [0.0] * 8 + [1.0]], agents=["new", "old"])
    >>> found = compare_pairs(results, "new", ["old"], rng=0)[0]
    >>> found.test, round(found.p, 4), found.items
    ("McNemar's exact test", 0.0391, Discordance(both=0, only_a=8, only_b=1, neither=0))
    """
    if not others:
        raise InputError(f"Nobody is named to compare {shorten(agent)} with. Name another agent.")
    if agent in others or len(set(others)) < len(others):
        raise InputError("An agent is named twice. Name different agents.")
    results = judged_runs(results)
    same_sign(results, measure)
    scores = run_scores(results, measure, total)
    binary = results.is_binary(measure)
    pairs = [
        _compared(results, scores, (agent, other), binary, level, measure, (rng, reps))
        for other in others
    ]
    adjusted = holm(np.array([pair.p for pair in pairs]))
    return tuple(pair._replace(adjusted=float(p)) for pair, p in zip(pairs, adjusted, strict=True))


def _compared(
    results: Results,
    scores: RunScores,
    pair: tuple[str, str],
    binary: bool,
    level: float,
    measure: str | None,
    drawing: tuple[Randomness, int],
) -> PairedComparison:
    first, second = scores.of(pair[0]), scores.of(pair[1])
    gap = difference_of(first, second, clusters_of(results.task_names), level)
    rng, reps = drawing
    total = scores.total
    options = {"reps": reps, "level": level, "measure": measure, "total": total}
    better = improvement(results, *pair, rng=generator(rng), **options)  # type: ignore[arg-type]
    rows_a, rows_b = common_rows(first, second)
    x, y = first.means[rows_a], second.means[rows_b]
    single = (first.runs[rows_a] == 1).all() and (second.runs[rows_b] == 1).all()
    low, high, items = gap.low, gap.high, None
    if total is not None and not total.plain:
        test, p = "t of the totals", _t_of_total(gap)
    elif binary and single:
        items = _discordance(x, y)
        low, high = newcombe(items, level)
        test, p = "McNemar's exact test", mcnemar_p(items.only_a, items.only_b)
    else:
        test, p = "Wilcoxon's signed ranks", float(signed_rank_p((x - y)[None])[0])
    read_only(x, y)
    return PairedComparison(
        *(gap, better, low, high, test, p, p),
        tasks=tuple(results.tasks[task] for task in first.tasks[rows_a].tolist()),
        mean_a=x,
        mean_b=y,
        items=items,
        notes=_notes(gap, items, better),
    )


def _t_of_total(gap: Difference) -> float:
    """Two-sided p-value of a difference by Student's t; NaN where there is no error to go by."""
    from scipy.special import stdtr  # slow to import

    if gap.degrees < 1 or not gap.clustered > 0:
        return float("nan") if gap.degrees < 1 else float(gap.value == 0)
    return float(2 * stdtr(gap.degrees, -abs(gap.value) / gap.clustered))


def _discordance(x: Floats, y: Floats) -> Discordance:
    a, b = x == 1, y == 1
    counts = (a & b).sum(), (a & ~b).sum(), (~a & b).sum(), (~a & ~b).sum()
    return Discordance(*map(int, counts))


def mcnemar_p(only_a: int, only_b: int) -> float:
    r"""McNemar's exact test: whether items that one agent alone solves fall to both alike.

    .. math:: p = \min\Big(1,\ 2 \sum_{i=0}^{\min(b, c)} \binom{b + c}{i} 2^{-(b+c)}\Big)

    References: McNemar (1947); the exact form is a sign test.

    >>> round(mcnemar_p(12, 2), 4), mcnemar_p(0, 0)
    (0.0129, 1.0)
    """
    from scipy.special import bdtr  # slow to import

    total = only_a + only_b
    if not total:
        return 1.0
    return float(min(1.0, 2 * bdtr(min(only_a, only_b), total, 0.5)))


def newcombe(items: Discordance, level: float = 0.95) -> tuple[float, float]:
    r"""Interval of the difference of two shares of the same items, from Wilson's for each.

    .. math:: \hat d - \sqrt{d_1^2 - 2 \hat\phi d_1 e_2 + e_2^2}, \quad
              \hat d + \sqrt{e_1^2 - 2 \hat\phi e_1 d_2 + d_2^2}

    with :math:`d = p - l` and :math:`e = u - p` of Wilson's intervals (l, u), and φ the correlation of the
    two, corrected for continuity.

    References: Newcombe (1998), "Improved confidence intervals for the difference between binomial
    proportions based on paired data", method 10.

    >>> [round(end, 4) for end in newcombe(Discordance(36, 12, 2, 0))]
    [0.0569, 0.3404]
    """
    both, only_a, only_b, neither = items
    n = sum(items)
    solved_a, solved_b = both + only_a, both + only_b
    d1, e1, d2, e2 = (
        abs(solved / n - end) for solved in (solved_a, solved_b) for end in wilson(solved, n, level)
    )
    margins = solved_a * (n - solved_a) * solved_b * (n - solved_b)
    cross = float(both * neither - only_a * only_b)
    if cross > 0:
        cross = max(cross - n / 2, 0)
    phi = cross / np.sqrt(margins) if margins else 0.0
    value = (only_a - only_b) / n
    low = value - np.sqrt(d1**2 - 2 * phi * d1 * e2 + e2**2)
    high = value + np.sqrt(e1**2 - 2 * phi * e1 * d2 + d2**2)
    return float(low), float(high)


def _notes(gap: Difference, items: Discordance | None, better: Improvement) -> tuple[str, ...]:
    notes = list(better.notes)
    if items is None and gap.tasks < FEW_TASKS:
        notes.append(
            f"{gap.a!r} and {gap.b!r} share {gap.tasks} tasks: with fewer than {FEW_TASKS}, no signed-rank "
            f"test can show a difference at 5 %."
        )
    return tuple(notes)
