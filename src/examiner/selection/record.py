"""The record of a selection on held-out agents: its errors, and how often it raises false alarms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from examiner.answers import Table, error, number, text
from examiner.selection.proof.judgement import MethodJudgement
from examiner.validation import Bounds, Floats

DROPS = (0.01, 0.02, 0.05)
"""Regressions that users ask about: one, two and five points of a hundred."""
Share = Annotated[float, Bounds(0.0, 1.0, "a share between 0 and 1")]


@dataclass(frozen=True, slots=True)
class Alarm:
    """How often a drop of this size is reported without being there (`false`), and how often it is missed.

    A drop is reported where the predicted one is at least half as large. `error` is the standard error of
    both rates, over agents.
    """

    drop: Annotated[float, Bounds(0.0, 1e300, "a number of 0 or more")]
    false: Share
    missed: Share
    error: Annotated[float, Bounds(0.0, 1e300, "a number of 0 or more")]


class Alarms(Table):
    """How often regressions are reported that did not happen, or missed, over pairs of held-out agents."""

    drop: Floats = number("Size of the regression", unit="score")
    among: tuple[str, ...] = text("Agents whose pairs are counted")
    false_alarms: Floats = number("Share of pairs for which it is reported, but did not happen")
    missed: Floats = number("Share of pairs for which it happened, but is not reported")
    missed_error: Floats = error("missed", "Standard error of both shares, over agents")


@dataclass(frozen=True, slots=True)
class Record:
    """How held-out agents were predicted from the selected tasks.

    `error` is the mean absolute error with its 95 % interval, `random_error` that of random selections of
    the same size, and `coverage` the share of agents inside their intervals. `alarms` are over all pairs of
    agents, `alarms_of_best` over those of the best third, which newer agents resemble most.
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

    def table(self, score_unit: str = "") -> Alarms:
        """Return the alarms, of all held-out agents and of the best third.

        >>> alarms = (Alarm(0.05, 0.2, 0.2, 0.01),)
        >>> record = Record(20, "10 folds", 0.02, 0.01, 0.03, 0.04, 0.9, alarms, alarms)
        >>> record.table().among
        ('all', 'best third')
        """
        among = ["all"] * len(self.alarms) + ["best third"] * len(self.alarms_of_best)
        both = (*self.alarms, *self.alarms_of_best)
        columns: dict[str, Any] = {  # Any: as the column declares
            "drop": [alarm.drop for alarm in both],
            "among": among,
            "false_alarms": [alarm.false for alarm in both],
            "missed": [alarm.missed for alarm in both],
            "missed_error": [alarm.error for alarm in both],
            "score_unit": score_unit,
        }
        return Alarms(**columns)


def record_of(judgement: MethodJudgement, method: str, size: int) -> Record:
    """Return the record of one method at one size.

    Drops are of one, two and five points where the aggregate lies between 0 and 1, else of that many
    hundredths of the way from the worst to the best agent.

    >>> from examiner.results import Results
    >>> from examiner.selection.proof.judgement import Holdout, judge
    >>> scores = np.random.default_rng(0).normal(size=(20, 1)) + np.zeros(8)
    >>> judged = judge(Results.from_numpy(scores), [2], ["spread"], rng=0, holdout=Holdout(draws=5))
    >>> record_of(judged, "spread", 2).alarms[-1].false
    0.0
    """
    row, random = judgement.row(method, size), judgement.row("random", size)
    predicted = judgement.predicted[judgement.names.index(method), judgement.sizes.index(size)]
    judged = np.isfinite(predicted) & np.isfinite(judgement.truth)
    truth = judgement.truth[judged]
    shares = truth.min(initial=0.0) >= 0 and truth.max(initial=0.0) <= 1
    unit = 1.0 if shares else float(np.ptp(truth)) if len(truth) else 1.0
    off = predicted[judged] - truth
    # Alarms are counted again among the third of agents with the highest scores
    best = np.argsort(truth, kind="stable")[-max(len(truth) // 3, 2) :]
    return Record(
        agents=len(truth),
        folds=judgement.folds,
        error=row.mae,
        error_low=row.mae_low,
        error_high=row.mae_high,
        random_error=random.mae,
        coverage=row.coverage,
        alarms=tuple(alarm_at(off, unit * drop) for drop in DROPS),
        alarms_of_best=tuple(alarm_at(off[best], unit * drop) for drop in DROPS),
    )


def alarm_at(off: Floats, drop: float) -> Alarm:
    r"""Count alarms over all pairs of held-out agents, from how far off each was predicted, [agents].

    Of an earlier agent i and a later one j, the predicted change is the true one and
    :math:`\delta_{ij} = e_j - e_i`. Without any change a drop of d is reported if
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
    reported, missed = apart <= -drop / 2, apart > drop / 2
    rates = (reported.sum(axis=0) + reported.sum(axis=1)) / (2 * (agents - 1))
    rate_error = 2 * float(rates.std(ddof=1)) / np.sqrt(agents)
    pairs = agents * (agents - 1)
    return Alarm(
        drop, float(reported.sum() / pairs), float(missed.sum() / pairs), float(rate_error)
    )
