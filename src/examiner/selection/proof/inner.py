"""Folds inside a fold: what is said of its agents while they have no part, for best-of and intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.selection.benchmark import Benchmark, codes_in_order
from examiner.selection.evidence import Fold, fold_of
from examiner.selection.intervals import Extreme, Reach, at_the_ends, calibrated, reach_of
from examiner.selection.methods import DEFAULT
from examiner.selection.prediction import HeldOut
from examiner.selection.proof.chance import Beside, beside_random, pooled
from examiner.selection.proof.holdout import LEAST_TRAINING, k_fold
from examiner.selection.proof.sets import (
    Contest,
    Guess,
    predict_fold,
)
from examiner.validation import Floats

STANDARD_ERRORS = 1.5
CLEARLY = 0.75
"""When best-of leaves the default method: docs/decisions/0049 says on which tables that was settled."""


class Said(NamedTuple):
    """What some agents say of others: truth and predictions of these, and the truth of those."""

    truth: Floats  # [agents held out]
    guess: Guess  # [methods, sizes, agents held out]
    random: Guess  # [draws, sizes, agents held out]
    others: Floats  # [agents learnt from]


class InnerFolds(NamedTuple):
    """The truth of a fold's agents, how far off each method was, and what was said of those at the ends.

    Truths are NaN where an agent is not judged.
    """

    truth: Floats  # [agents]
    off: Floats  # [methods, sizes, agents]: truth less prediction, while an agent had no part
    beside: Beside
    ends: tuple[tuple[int, Said], ...]  # the sign of the end, and what was said there

    def held_out(self, at: tuple[int, ...], level: float) -> HeldOut:
        """Return what intervals of one method at one size rest on."""
        said = self.truth - self.off[at]
        calibration = calibrated(self.truth, said, level)
        reach = {
            sign: reach_of(calibration, Extreme(sign, end.truth, end.guess.value[at], end.others))
            for sign, end in self.ends
        }
        return HeldOut(said, Reach(reach.get(-1, 0.0), reach.get(1, 0.0)))


def inner_folds(
    whole: Benchmark,
    contest: Contest,
    fold: Fold,
    rng: np.random.Generator,
    *,
    ends: bool = True,
    parts: bool = True,
) -> InnerFolds:
    """Choose and predict again without some of the fold's agents: parts of them, then the best, the worst.

    How far covariances are shrunk was settled on the whole fold: nine blends cannot be fitted to it. Of a
    very large fold some agents are taken, and what is said of the others is NaN. `parts` and `ends` say
    which of the two are asked for.
    """
    target = fold.evidence.target
    assert target is not None
    truth = np.where(whole.judged[fold.rows], target, np.nan)
    some = np.flatnonzero(np.isin(fold.rows, whole.in_folds(fold.rows)))
    order = np.argsort(np.argsort(fold.evidence.order.agents)[some])
    families = codes_in_order([whole.families[row] for row in fold.rows[some]], order)
    off = np.full((len(contest.methods), len(contest.sizes), len(truth)), np.nan)
    beside = []
    folds = k_fold(families, min(contest.inner, int(families.max()) + 1), rng) if parts else ()
    for split in folds:
        said = _said(whole, contest, fold, some[split.train], some[split.test], rng)
        off[:, :, some[split.test]] = said.truth - said.guess.value
        beside.append(beside_random(said.truth, said.guess, said.random))
    found = []
    for sign, out in at_the_ends(truth[some], families) if ends else ():
        train, test = some[~out], some[out]
        if len(train) >= LEAST_TRAINING and len(test):
            found.append((sign, _said(whole, contest, fold, train, test, rng)))
    return InnerFolds(truth, off, pooled(beside), tuple(found))


def _said(
    whole: Benchmark,
    contest: Contest,
    fold: Fold,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    rng: np.random.Generator,
) -> Said:
    part = fold_of(
        whole,
        fold.rows[train],
        contest.needs,
        lenient=True,
        shrinkage=fold.evidence.shrinkage,
        task_rank=fold.evidence.task_rank,
    )
    assert part.evidence.target is not None
    others = part.evidence.target[whole.judged[part.rows]]
    found = predict_fold(whole, contest, part, fold.rows[test], rng, rest=bool(contest.draws))
    return Said(found.truth, found.guess, found.random, others)


def best_of(residuals: Floats, names: Sequence[str]) -> tuple[int, ...]:
    """Return the method taken at each size, from residuals [methods, sizes, agents]; NaN is left out.

    The default method stays unless another's mean absolute error is lower by more than one and a half
    standard errors over agents, or is less than three quarters of it: among methods nearly alike the
    least is luck, and one odd agent makes standard errors large. Without the default the least wins.

    >>> off = np.array([[[1.0, 1.1, 0.9, 1.0]], [[0.9, 1.2, 0.8, 1.0]]])
    >>> best_of(off, ["covariance", "spread"]), best_of(off, ["anchors", "spread"])
    ((0,), (1,))
    """
    off = np.abs(residuals[:, :, np.isfinite(residuals).all(axis=(0, 1))])
    held = names.index(DEFAULT) if DEFAULT in names else None
    if off.shape[2] < 2:  # nothing says which is better
        return tuple([held or 0] * int(off.shape[1]))
    error = off.mean(axis=2)
    winner = error.argmin(axis=0)
    if held is not None:
        for size, best in enumerate(winner):
            better = off[held, size] - off[best, size]
            doubt = STANDARD_ERRORS * better.std(ddof=1) / np.sqrt(len(better))
            if better.mean() <= doubt and error[best, size] >= CLEARLY * error[held, size]:
                winner[size] = held
    return tuple(winner.tolist())
