"""Why each chosen task is in the set: what it adds, how it follows the aggregate, what it stands for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examiner.selection.material import Benchmark, fold_of
from examiner.selection.prediction import Predictor
from examiner.selection.representatives import likeness
from examiner.selection.selection import Selection

ALIKE = 3


class Reason(NamedTuple):
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


def reasons(material: Benchmark, selection: Selection, predictor: Predictor) -> tuple[Reason, ...]:
    """Say why each task is in the set.

    >>> import examiner as ex
    >>> scores = np.random.default_rng(0).normal(size=(8, 6)) + np.arange(8)[:, None]
    >>> material = ex.selection.benchmark(ex.Results.from_numpy(scores), normalise=None)
    >>> rng = np.random.default_rng(0)
    >>> chosen = ex.selection.select(material, 2, "regression", rng=rng)
    >>> told = reasons(material, chosen, ex.selection.chosen_set(material, chosen, rng=rng).predictor)
    >>> [len(one.alike) for one in told]
    [3, 3]
    """
    evidence = fold_of(material, np.arange(len(material.agents)), ()).evidence
    values, target = evidence.values, evidence.target
    assert target is not None
    distance = likeness(values)
    others = np.setdiff1d(np.arange(values.shape[1]), selection.places)
    spread = max(float(target.std()), 1e-300)
    told = []
    for number, place in enumerate(selection.places):
        column = values[:, place]
        near = others[np.argsort(distance[place, others], kind="stable")[:ALIKE]]
        follows = (
            np.corrcoef(column, target)[0, 1] if column.std() > 0 and spread > 1e-300 else np.nan
        )
        told.append(
            Reason(
                evidence.tasks[place],
                float(selection.gain[number]),
                float(predictor.beta[number] * column.std() / predictor.unit / spread),
                float(follows),
                float(column.mean()),
                None if evidence.groups is None else evidence.groups[place],
                tuple(
                    (evidence.tasks[one], float(1 - distance[place, one])) for one in near.tolist()
                ),
                place in material.terms.must,
                float(material.terms.cost[place]) if material.terms.priced else None,
            )
        )
    return tuple(told)
