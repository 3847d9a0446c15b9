"""Several attempts at each task: pass@k, pass^k, how often results flip, and what noise alone does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, bound, count, name, number
from examiner.messages import InputError, counted, shorten
from examiner.results import Results, reads_results
from examiner.scores.estimate import check_level, score_ends, wilson
from examiner.scores.nest import Nest, grouped_error
from examiner.scores.runs import Strata, run_scores
from examiner.scores.standing import best_first
from examiner.scores.total import Total
from examiner.validation import Floats, read_only


class AttemptedAgents(Table):
    """How far single evaluations of each agent vary, best first."""

    agent: tuple[str, ...] = name("Agent")
    success: Floats = number("Share of attempts that succeed, mean over tasks")
    flip_rate: Floats = number(
        "Probability that two attempts of the agent at one task have different results",
        title="flip rate",
    )
    noise_floor: Floats = number(
        "Difference that two evaluations of one attempt per task exceed in 5 % of cases by chance",
        title="noise floor",
    )
    tasks: NDArray[np.int64] = count("Tasks with attempts")
    attempts: NDArray[np.int64] = count("Attempts per task, at least")


class PassedTasks(Table):
    """The probability that one of k attempts succeeds (pass@k), and that all k do (pass^k)."""

    agent: tuple[str, ...] = name("Agent")
    k: NDArray[np.int64] = count("Number of attempts")
    pass_at_k: Floats = number(
        "Probability that at least one of k attempts succeeds", title="pass@k"
    )
    pass_at_k_low: Floats = bound("pass_at_k", "low")
    pass_at_k_high: Floats = bound("pass_at_k", "high")
    pass_hat_k: Floats = number("Probability that all of k attempts succeed", title="pass^k")
    pass_hat_k_low: Floats = bound("pass_hat_k", "low")
    pass_hat_k_high: Floats = bound("pass_hat_k", "high")


@dataclass(frozen=True, eq=False, repr=False)
class Attempts(Answer):
    """What several attempts at each task say: `attempts`."""

    kind = "attempts"

    agents: AttemptedAgents
    passed: PassedTasks
    level: float
    group: str | None
    notes: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """How success falls with the number of attempts that must all succeed, and what noise does."""
        best = self.agents[0]
        rows = [row for row in self.passed if row.agent == best.agent]
        falls = f"pass^{rows[-1].k} is {rows[-1].pass_hat_k:.3g} where pass^1 is {rows[0].pass_hat_k:.3g}"
        if best.noise_floor == 0:
            return (
                f"{best.agent}: {falls}. No two attempts at one task had different results, which does "
                f"not show how much single evaluations differ."
            )
        return (
            f"{best.agent}: {falls}. Two single evaluations must differ by {100 * best.noise_floor:.1f} "
            f"points to be distinguishable."
        )

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """The level of intervals, and the groups in which tasks are drawn."""
        return {"level": self.level, "group": self.group}


@reads_results
def attempts(
    results: Results,
    measure: str | None = None,
    *,
    k: int | None = None,
    level: float = 0.95,
    total: Total | None = None,
    group: str | None = None,
) -> Attempts:
    r"""Estimate pass@k and pass^k for every k up to the number of attempts, with intervals over tasks.

    .. math:: \text{pass@}k = \sum_t s_t \Big[1 - \binom{n_t - c_t}{k} \Big/ \binom{n_t}{k}\Big], \quad
              \text{pass\^{}}k = \sum_t s_t \binom{c_t}{k} \Big/ \binom{n_t}{k}

    of c successes in n attempts at task t, both unbiased for any n of at least k. Every run and trial is
    an attempt. Intervals are of Wilson's kind, with the error over tasks, or over groups of them, that both
    the choice of tasks and the attempts cause (`grouped_error`). The flip rate of a task is unbiased too,
    2c(n − c) / n(n − 1), and the noise floor :math:`1.96 \sqrt{\sum_t s_t^2 f_t}` is of its flip rates f:
    two evaluations of the same agent on the same tasks, one attempt each, differ by more in 5 % of cases.

    References: Chen et al. (2021), equation 1, for pass@k; Yao et al. (2024), section 5, for pass^k.

    >>> won = [[[1.0, 1.0], [1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]]
    >>> attempts(Results.from_numpy(won)).passed.pass_hat_k
    array([0.5 , 0.25])
    """
    check_level(level)
    measure = results.measure_name(measure)
    if not results.is_binary(measure):
        raise InputError(
            f"Attempts are counted as successes or failures, and the measure {shorten(measure)} is not "
            f"made of zeros and ones. Say what a success is: `mark_success(results, success=...)`."
        )
    scores = run_scores(results, measure, total, group)
    trials, won = _counted(results, measure)
    most = _most_attempts(results, trials, k)
    estimates = [
        _of_agent(strata, trials[row], won[row], most, level)
        for row, strata in enumerate(scores.strata)
    ]
    order = best_first(results.agents, np.array([agent.ends[0, 0, 0] for agent in estimates]))
    estimates = [estimates[row] for row in order]
    ends = np.concatenate([agent.ends for agent in estimates], axis=2)
    read_only(ends)
    numbers = range(1, most + 1)
    least, greatest = int(trials[trials > 0].min()), int(trials.max())
    uneven = [f"Attempts differ, from {least:,} to {greatest:,} per task: k goes up to {most:,}."]
    return Attempts(
        AttemptedAgents(
            agent=[results.agents[row] for row in order],
            success=[agent.ends[0, 0, 0] for agent in estimates],
            flip_rate=[agent.flip_rate for agent in estimates],
            noise_floor=[agent.noise_floor for agent in estimates],
            tasks=[int((trials[row] > 0).sum()) for row in order],
            attempts=[int(trials[row][trials[row] > 0].min(initial=greatest)) for row in order],
            caption="Single evaluations",
        ),
        PassedTasks(
            agent=[results.agents[row] for row in order for _ in numbers],
            k=[number for _ in order for number in numbers],
            **{
                f"{kind}{end}": ends[place, column]
                for place, kind in enumerate(("pass_hat_k", "pass_at_k"))
                for column, end in enumerate(("", "_low", "_high"))
            },
            level=level,
            caption="k attempts: one succeeds (pass@k), all succeed (pass^k)",
        ),
        level,
        None if scores.groups is None else scores.groups.column,
        (*scores.group_notes, *(uneven if least < greatest else ())),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _AgentAttempts:
    """An agent's pass^k and pass@k with their ends, [2, 3, k], its flip rate and its noise floor."""

    ends: Floats
    flip_rate: float
    noise_floor: float


def _of_agent(
    strata: Strata, trials: NDArray[np.int64], won: NDArray[np.int64], most: int, level: float
) -> _AgentAttempts:
    from scipy.special import ndtri  # slow to import

    ends = np.full((2, 3, most), np.nan)
    if not len(strata.tasks):
        return _AgentAttempts(ends, np.nan, np.nan)
    n, c = trials[strata.tasks].astype(np.float64), won[strata.tasks].astype(np.float64)
    nest = strata.nest
    all_won, all_lost = np.ones(len(n)), np.ones(len(n))
    for k in range(most):
        all_won = all_won * np.maximum(c - k, 0) / (n - k)
        all_lost = all_lost * np.maximum(n - c - k, 0) / (n - k)
        for place, values in enumerate((all_won, 1 - all_lost)):
            value = float(nest.average(values[:, None])[0])
            ends[place, :, k] = value, *share_interval(value, values, nest, level)
    flips = 2 * c * (n - c) / np.maximum(n * (n - 1), 1)
    floor = float(ndtri(0.975)) * np.sqrt(float((nest.shares**2 * flips).sum()))
    return _AgentAttempts(ends, float(nest.average(flips[:, None])[0]), floor)


def share_interval(value: float, values: Floats, nest: Nest, level: float) -> tuple[float, float]:
    """Return Wilson's interval of a mean of shares of tasks, with their error over tasks or groups.

    >>> round(float(share_interval(0.5, np.array([0.0, 1.0] * 20), Nest.flat(40), 0.95)[0]), 2)
    0.35
    """
    from scipy.special import stdtrit  # slow to import

    error, degrees, _ = grouped_error(values, nest)
    if np.isnan(error):
        return np.nan, np.nan
    if error <= 1e-9:  # all tasks alike: worth as many trials as there are independent tasks
        return wilson(value * nest.worth, nest.worth, level)
    tail = float(stdtrit(degrees, 0.5 + level / 2))
    return score_ends(value, value * (1 - value) / error**2, tail)


def _counted(results: Results, measure: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Attempts and successes of each cell, [agents, tasks]."""
    values, shape = results.measure(measure), (len(results.agents), len(results.tasks))
    observed = np.isfinite(values)
    cell = results.agent_codes[observed].astype(np.int64) * shape[1] + results.task_codes[observed]
    size = shape[0] * shape[1]
    trials = np.bincount(cell, minlength=size)
    won = np.bincount(cell[values[observed] == 1], minlength=size)
    return trials.reshape(shape), won.reshape(shape)


def _most_attempts(results: Results, trials: NDArray[np.int64], k: int | None) -> int:
    """The number of attempts that every task has, or k of them; refused where there are not so many."""
    observed = np.where(trials > 0, trials, trials.max(initial=0) + 1)
    agent, task = np.unravel_index(int(observed.argmin()), trials.shape)
    fewest = int(trials[agent, task])
    who, what = shorten(results.agents[agent]), shorten(results.tasks[task])
    where = f"{who} has {counted(fewest, 'attempt')} at {what}"
    if int(trials.max(initial=0)) < 2:
        raise InputError(
            "Every task has one attempt, which says nothing about a second one. Evaluate each task several "
            "times; attempts are runs (or trials) of one agent at one task."
        )
    if fewest < 2 and k is None:
        raise InputError(
            f"Attempts differ, and {where}: there is no k above 1. Exclude tasks with one attempt "
            f'(`results.dropping("task:NAME")`), or evaluate them again.'
        )
    if k is not None and not 1 <= k <= fewest:
        raise InputError(
            f"pass^{k} needs {k} attempts at every task, and {where}. Give 1 to {fewest}."
        )
    return fewest if k is None else k
