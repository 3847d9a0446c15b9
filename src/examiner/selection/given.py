"""Trial: what tasks picked by hand say of every agent while it is left out; a page does the same sum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from examiner.messages import InputError, listed, shorten
from examiner.results import Results
from examiner.scores import shared_ranks
from examiner.scores.training.verdicts import kendall_tau
from examiner.selection.benchmark import Benchmark, benchmark
from examiner.selection.evidence import SelectionEvidence, fold_of
from examiner.selection.methods import DEFAULT, METHODS
from examiner.selection.ridge import Design, ridge_fits
from examiner.validation import Floats, Randomness, generator


class Trial(NamedTuple):
    """What the tasks predict: arrays of shape [agents], and how far off that is over all of them.

    `predicted` was said of each agent by the others alone. `error` is the mean absolute difference to
    `truth`, `r2` the share of the variance told, `kendall` how alike the orders are, and `cost` what the
    tasks cost, in tasks where no cost is known.
    """

    tasks: tuple[str, ...]
    agents: tuple[str, ...]
    truth: Floats
    predicted: Floats
    error: float
    r2: float
    kendall: float
    cost: float
    target: str

    @property
    def ranks(self) -> Floats:
        """Ranks by prediction, 1 is the best; shape [agents]."""
        return shared_ranks(self.predicted)


def trial(source: Results | Benchmark, tasks: Sequence[str]) -> Trial:
    r"""Predict each agent's aggregate from the tasks named, by a line learnt from all other agents.

    The tasks are taken as given: where they were chosen on the same agents, the error is too small, and
    `compare` tells the honest one. The line is a ridge regression whose penalty has the least leave-one-out
    error, so that one fit serves all agents:

    .. math:: \hat y_{-i} = y_i - \frac{y_i - \hat y_i}{1 - h_{ii}}, \qquad
              R^2 = 1 - \frac{\sum_i (y_i - \hat y_{-i})^2}{\sum_i (y_i - \bar y_{-i})^2}

    References: Golub, Heath & Wahba (1979), eq. 1.1, for the closed form.

    >>> scores = np.random.default_rng(0).normal(size=(9, 6)) + np.arange(9)[:, None]
    >>> made = trial(Results.from_numpy(scores), ["task 1", "task 3"])
    >>> made.cost, bool(made.kendall > 0.5)
    (2.0, True)
    """
    whole = source if isinstance(source, Benchmark) else benchmark(source)
    return trial_of(evidence_of(whole), tasks, whole.target)


def evidence_of(whole: Benchmark) -> SelectionEvidence:
    """Return all that a trial needs of a benchmark, of the agents whose aggregate is known.

    >>> evidence_of(benchmark(Results.from_numpy(np.eye(6, 5)))).values.shape
    (6, 5)
    """
    return fold_of(whole, np.flatnonzero(whole.judged), ()).evidence


def sets_of(
    whole: Benchmark, sizes: Sequence[int], *, rng: Randomness
) -> dict[int, tuple[str, ...]]:
    """Return the tasks that `choose` takes by the usual method for each size; what all share is done once.

    >>> scores = np.random.default_rng(0).normal(size=(9, 6)) + np.arange(9)[:, None]
    >>> [len(tasks) for tasks in sets_of(benchmark(Results.from_numpy(scores)), [1, 3], rng=0).values()]
    [1, 3]
    """
    method = METHODS[DEFAULT]
    evidence = fold_of(whole, whole.everyone, method.needs).evidence
    return {size: method.select(evidence, size, generator(rng)).tasks for size in sizes}


def trial_of(known: SelectionEvidence, tasks: Sequence[str], target: str = "mean") -> Trial:
    """Try tasks on evidence that was gathered before.

    >>> known = evidence_of(benchmark(Results.from_numpy(np.eye(6, 5))))
    >>> trial_of(known, ["task 2"]).tasks
    ('task 2',)
    """
    names = tuple(dict.fromkeys(tasks))
    unknown = [name for name in names if name not in known.tasks]
    if unknown or not names:
        said = f"No task is called {shorten(unknown[0])}" if unknown else "No task is named"
        raise InputError(f"{said}. There are {listed(known.tasks)}.")
    assert known.target is not None
    columns = np.array([known.tasks.index(name) for name in names], dtype=np.intp)
    design = Design.of(known.values)
    left_out = ridge_fits(design.values, known.target, columns[None]).left_out[0]
    truth = known.target
    alone = (truth - truth.mean()) * len(truth) / (len(truth) - 1)
    spread = float((alone**2).sum())
    return Trial(
        names,
        known.agents,
        truth,
        truth - left_out,
        float(np.abs(left_out).mean()),
        1 - float((left_out**2).sum()) / spread if spread > 0 else float("nan"),
        kendall_tau(truth - left_out, truth),
        float(known.terms.cost[columns].sum()) if known.terms.priced else float(len(names)),
        target,
    )
