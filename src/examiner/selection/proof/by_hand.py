"""What each fold learns before any task is chosen: by it, a page judges tasks picked by hand."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.selection.benchmark import Benchmark
from examiner.selection.curves import ScoreCurves
from examiner.selection.evidence import fold_of
from examiner.selection.proof.holdout import Holdout
from examiner.selection.proof.judgement import splits_and_streams
from examiner.validation import Floats, Randomness, seed_of


class FoldByHand(NamedTuple):
    """Rows that learn and rows that are predicted, and what the fold makes of their values.

    `values` [agents, tasks] are comparable, with gaps; None where they are those of the benchmark.
    `target` [agents] is what is learnt and judged, NaN for rows outside the fold.
    """

    train: NDArray[np.intp]
    test: NDArray[np.intp]
    values: Floats | None
    target: Floats
    curves: ScoreCurves | None


def folds_by_hand(
    whole: Benchmark, *, rng: Randomness = 0, holdout: Holdout | None = None
) -> tuple[FoldByHand, ...]:
    """Return the folds in which `judge_tasks` predicts.

    >>> from examiner.results import Results
    >>> from examiner.selection.benchmark import benchmark
    >>> folds = folds_by_hand(benchmark(Results.from_numpy(np.eye(6, 5))))
    >>> len(folds), sorted(int(fold.test[0]) for fold in folds), folds[0].values
    (6, [0, 1, 2, 3, 4, 5], None)
    """
    splits, _ = splits_and_streams(whole, holdout or Holdout(), seed_of(rng))
    found = []
    for split in splits.main:
        fold = fold_of(whole, whole.in_folds(split.train), ())
        values = whole.comparable(whole.everyone, fold.scale)
        assert fold.evidence.target is not None
        target = np.full(len(whole.agents), np.nan)
        target[fold.rows] = fold.evidence.target
        target[split.test] = whole.truth(split.test, values[split.test])
        own = None if fold.scale is None else values
        found.append(FoldByHand(fold.rows, split.test, own, target, fold.curves))
    return tuple(found)
