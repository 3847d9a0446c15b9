"""The record of a choice on held-out agents: how far off it was, and how often it would cry wolf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from examiner.selection.proof.comparison import Comparison
from examiner.validation import Bounds, Floats

DROPS = (0.01, 0.02, 0.05)
"""Regressions that users ask about: one, two and five points of a hundred."""
BEST = 3
"""Alarms are counted once more among one agent in so many, those with the highest scores."""
Share = Annotated[float, Bounds(0.0, 1.0, "a share between 0 and 1")]


@dataclass(frozen=True, slots=True)
class Alarm:
    """How often a drop of this size is cried that is not there (`false`), and `missed` when it is.

    It is cried where the predicted drop is at least half as large. `error` is the standard error of both,
    over agents.
    """

    drop: Annotated[float, Bounds(0.0, 1e300, "a number of 0 or more")]
    false: Share
    missed: Share
    error: Annotated[float, Bounds(0.0, 1e300, "a number of 0 or more")]


@dataclass(frozen=True, slots=True)
class Record:
    """What happened to agents that had no part in choosing, when they were predicted from the few tasks.

    `error` is the mean absolute error with its 95 % interval, `random_error` that of random sets of as many
    tasks, and `coverage` the share of agents inside their intervals. `alarms` are over all pairs of agents,
    `alarms_of_best` over those of the best third: to expect of newer ones, better than most.
    """

    agents: int
    folds: str
    error: float
    error_low: float
    error_high: float
    random_error: float
    coverage: float
    alarms: tuple[Alarm, ...]
    alarms_of_best: tuple[Alarm, ...] = ()


def record_of(proof: Comparison, method: str, size: int) -> Record:
    """Return the record of one method at one size.

    Drops are of one, two and five points where the aggregate lies between 0 and 1, else of that many
    hundredths of the way from the worst to the best agent.

    >>> from examiner.results import Results
    >>> from examiner.selection.proof.comparison import Holdout, compare
    >>> scores = np.random.default_rng(0).normal(size=(20, 1)) + np.zeros(8)
    >>> proof = compare(Results.from_numpy(scores), [2], ["spread"], rng=0, holdout=Holdout(draws=5))
    >>> record_of(proof, "spread", 2).alarms[-1].false
    0.0
    """
    row, random = proof.row(method, size), proof.row("random", size)
    said = proof.predicted[proof.methods.index(method), proof.sizes.index(size)]
    known = np.isfinite(said) & np.isfinite(proof.truth)
    truth = proof.truth[known]
    shares = truth.min(initial=0.0) >= 0 and truth.max(initial=0.0) <= 1
    unit = 1.0 if shares else float(np.ptp(truth)) if len(truth) else 1.0
    off = said[known] - truth
    best = np.argsort(truth, kind="stable")[-max(len(truth) // BEST, 2) :]
    return Record(
        agents=int(known.sum()),
        folds=proof.folds,
        error=row.mae.value,
        error_low=row.mae.low,
        error_high=row.mae.high,
        random_error=random.mae.value,
        coverage=row.coverage,
        alarms=tuple(alarm_at(off, unit * drop) for drop in DROPS),
        alarms_of_best=tuple(alarm_at(off[best], unit * drop) for drop in DROPS),
    )


def alarm_at(off: Floats, drop: float) -> Alarm:
    r"""Count alarms over all pairs of held-out agents, from how far off each was predicted, [agents].

    Of an earlier agent i and a later one j, the predicted change is the true one and
    :math:`\delta_{ij} = e_j - e_i`. Without any change a drop of d is cried if
    :math:`\delta_{ij} \le -d/2`; a drop of d is missed if :math:`\delta_{ij} > d/2`. Both are means over
    pairs (U-statistics), with twice the deviation of the agents' own means over √n as their error
    (Hoeffding, 1948). Two versions of one agent share more of their errors than two agents do: for them
    both rates are lower.

    >>> alarm_at(np.array([0.0, 0.0, 0.03]), 0.02)
    Alarm(drop=0.02, false=0.333..., missed=0.333..., error=...)
    """
    agents = len(off)
    if agents < 2:
        return Alarm(drop, float("nan"), float("nan"), float("nan"))
    apart = off[None, :] - off[:, None]
    np.fill_diagonal(apart, 0.0)
    cried, missed = apart <= -drop / 2, apart > drop / 2
    each = (cried.sum(axis=0) + cried.sum(axis=1)) / (2 * (agents - 1))
    error = 2 * float(each.std(ddof=1)) / np.sqrt(agents)
    pairs = agents * (agents - 1)
    return Alarm(drop, float(cried.sum() / pairs), float(missed.sum() / pairs), float(error))
