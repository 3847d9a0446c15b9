"""Why each chosen task is in the set: what it adds, how it follows the aggregate, what it stands for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examiner.selection.benchmark import Benchmark
from examiner.selection.evidence import correlations_of, fold_of
from examiner.selection.selection import Selection

ALIKE = 3


class SelectedTask(NamedTuple):
    """One chosen task: its gain, its weight, and how it stands to the aggregate and to other tasks.

    `weight` is what one deviation of the task moves the predicted aggregate, in deviations of the
    aggregate. `correlation` is that with the aggregate. `alike` are the tasks left out that it is most
    like, with their correlation. `mean` is the agents' mean on it, in comparable units. `cost` is None
    where tasks have no cost.
    """

    task: str
    gain: float
    weight: float
    correlation: float
    mean: float
    group: str | None
    alike: tuple[tuple[str, float], ...]
    demanded: bool
    cost: float | None = None


def reasons(whole: Benchmark, selection: Selection) -> tuple[SelectedTask, ...]:
    """Say why each task is in the set.

    >>> from examiner.results import Results
    >>> from examiner.selection import benchmark, select
    >>> scores = np.random.default_rng(0).normal(size=(8, 6)) + np.arange(8)[:, None]
    >>> whole = benchmark(Results.from_numpy(scores))
    >>> [len(reason.alike) for reason in reasons(whole, select(whole, 2, "regression", rng=0))]
    [3, 3]
    """
    predictor, columns = selection.predictor, selection.chosen.columns
    evidence = fold_of(whole, whole.everyone, (), curves=False).evidence
    values, target = evidence.values, evidence.target
    assert target is not None
    follow = correlations_of(values, columns)
    others = np.setdiff1d(np.arange(values.shape[1]), columns)
    spread = max(float(target.std()), 1e-300)
    told = []
    for number, column in enumerate(columns):
        results = values[:, column]
        near = others[np.argsort(-follow[number, others], kind="stable")[:ALIKE]]
        follows = (
            np.corrcoef(results, target)[0, 1] if results.std() > 0 and spread > 1e-300 else np.nan
        )
        told.append(
            SelectedTask(
                evidence.tasks[column],
                float(selection.gain[number]),
                float(predictor.beta[number] * results.std() / predictor.unit / spread),
                float(follows),
                float(results.mean()),
                None if evidence.groups is None else evidence.groups[column],
                tuple((evidence.tasks[one], float(follow[number, one])) for one in near.tolist()),
                column in whole.terms.must,
                float(whole.terms.cost[column]) if whole.terms.priced else None,
            )
        )
    return tuple(told)
