"""A tiny version of a benchmark: the tasks, what predicts the whole from them, and their record."""

from __future__ import annotations

import builtins

from examiner.results import Results
from examiner.selection.benchmark import Benchmark, benchmark
from examiner.selection.methods import DEFAULT
from examiner.selection.proof.comparison import Map, compare
from examiner.selection.proof.holdout import Holdout, folds_of_proof
from examiner.selection.selection import Selection, choose, settle, with_predictor
from examiner.validation import Randomness, generator
from examiner.workers import Progress

DRAWS = 50
"""Random sets beside which the tiny version is judged."""


def distil(
    source: Results | Benchmark,
    size: int,
    *,
    rng: Randomness,
    level: float = 0.9,
    holdout: Holdout | None = None,
    progress: Progress | None = None,
    map: Map = builtins.map,
) -> Selection:
    """Choose a few tasks, learn to predict the whole from them, and judge that on held-out agents.

    The `record` of what comes back says how far off agents were that had no part in choosing, how many
    lay inside their intervals, and how often a regression would be cried that is not there, or missed.

    >>> import numpy as np
    >>> scores = np.random.default_rng(0).normal(size=(20, 6)) + np.arange(20)[:, None]
    >>> tiny = distil(Results.from_numpy(scores), 2, rng=0, holdout=Holdout(4, repeats=0, draws=5))
    >>> tiny.record.error < tiny.record.random_error * 2, tiny.record.agents
    (True, 20)
    """
    whole = source if isinstance(source, Benchmark) else benchmark(source)
    if holdout is None:
        folds = folds_of_proof(whole)
        holdout = Holdout(folds.folds, repeats=folds.repeats, draws=DRAWS, level=level)
    rng = generator(rng)
    shrinkage = settle(whole)
    tasks = choose(whole, size, rng=rng, shrinkage=shrinkage)
    proof = compare(
        whole,
        [len(tasks)],
        [DEFAULT],
        rng=rng,
        holdout=holdout,
        progress=progress,
        map=map,
        shrinkage=shrinkage,
    )
    return with_predictor(whole, tasks, rng=rng, level=level, proof=proof, shrinkage=shrinkage)
