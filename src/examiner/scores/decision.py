"""More runs or more tasks? The error to expect of other designs, from the variance components."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from examiner.checking import read_only
from examiner.results import Results
from examiner.scores.variance import VarianceComponents
from examiner.scores.variance import variance as variance_components
from examiner.wording import InputError, counted

RUNS = (1, 2, 3, 5, 10, 20)


@dataclass(frozen=True, slots=True, eq=False)
class DecisionStudy:
    """Errors to expect of designs; arrays of shape [tasks, runs].

    `difference` is the standard error of the difference of two agents on tasks drawn anew;
    `difference_fixed` the same on the same tasks; `reliability` the share of the variance of agents'
    means that is due to agents. `now` is `difference` of the design that was used.
    """

    components: VarianceComponents
    tasks: NDArray[np.int64]
    runs: NDArray[np.int64]
    difference: NDArray[np.float64]
    difference_fixed: NDArray[np.float64]
    reliability: NDArray[np.float64]
    now: float
    answer: str


def decision(
    results: Results,
    tasks: Sequence[int] | None = None,
    runs: Sequence[int] = RUNS,
    measure: str | None = None,
) -> DecisionStudy:
    r"""Foresee the error of a comparison with other numbers of tasks and runs.

    .. math:: \mathrm{SE}^2 = 2 \Big(\frac{\sigma_{\alpha\beta}^2}{T} + \frac{\sigma^2}{T n}\Big),
              \qquad
              \rho^2 = \frac{\sigma_\alpha^2}{\sigma_\alpha^2 + \mathrm{SE}^2 / 2}

    On the same tasks, only the second term is left.

    References: Brennan (2001), chapter 2, where designs with other numbers of conditions are called
    decision studies; Cronbach et al. (1972).

    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(4, 20, 1)) + 3 * rng.normal(size=(4, 20, 5))
    >>> decision(Results.from_numpy(scores)).answer[:54]
    'Runs make up 67 % of the error variance of a compariso'
    """
    found = variance_components(results, measure)
    many = _tasks(found.tasks) if tasks is None else tuple(tasks)
    for what, counts in (("tasks", many), ("runs", runs)):
        if not len(counts) or min(counts) < 1:
            raise InputError(
                f"The numbers of {what} must be at least 1, and some are not. Give others."
            )
    t, n = np.array(sorted(set(many))), np.array(sorted(set(runs)))
    errors = expected_error(found, t[:, None], n[None, :])
    fixed = expected_error(found, t[:, None], n[None, :], fixed_tasks=True)
    with np.errstate(invalid="ignore"):
        reliability = found.agent / (found.agent + errors**2 / 2)
    for array in (t, n, errors, fixed, reliability):
        read_only(array)
    now = float(expected_error(found, np.array(found.tasks), np.array(found.runs)))
    return DecisionStudy(found, t, n, errors, fixed, reliability, now, _answer(found, now))


def expected_error(
    components: VarianceComponents,
    tasks: NDArray[np.generic],
    runs: NDArray[np.generic],
    *,
    fixed_tasks: bool = False,
) -> NDArray[np.float64]:
    """Standard error of the difference of two agents' means over so many tasks and runs each.

    >>> found = VarianceComponents(1.0, 1.0, 4.0, 4.0, 5, 5, 5.0, (), ())
    >>> float(expected_error(found, np.array(4), np.array(1)))
    2.0
    """
    run = np.nan_to_num(components.run)
    interaction = 0.0 if fixed_tasks else components.interaction
    variance = 2 * (interaction + run / np.asarray(runs, dtype=np.float64)) / tasks
    if fixed_tasks and np.isnan(components.run):
        variance = variance * np.nan
    return np.sqrt(np.asarray(variance, dtype=np.float64))


def _tasks(now: int) -> tuple[int, ...]:
    shares = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)
    return tuple(sorted({max(1, round(share * now)) for share in shares}))


def _answer(found: VarianceComponents, now: float) -> str:
    if np.isnan(found.interaction):
        return (
            "With one agent or one task nothing can be said about how agents differ across tasks, so "
            "that runs and tasks cannot be weighed against each other."
        )
    if np.isnan(found.run):
        return (
            f"With one run a cell the error of a comparison cannot be split into runs and tasks: a "
            f"second run of some cells would tell. Twice the tasks would take the standard error of a "
            f"difference from {now:.3g} to {now / np.sqrt(2):.3g}."
        )
    if now == 0:
        return "Neither runs nor tasks make any difference between agents uncertain here."
    noise = found.run / found.runs
    share = noise / (found.interaction + noise)
    size = np.array(found.tasks)
    runs = float(expected_error(found, size, np.array(2 * found.runs)))
    tasks = float(expected_error(found, 2 * size, np.array(found.runs)))
    most = float(expected_error(found, size, np.array(np.inf)))
    advice = (
        "more runs help nearly as much as more tasks"
        if share > 0.75
        else "more tasks help more"
        if share < 0.5
        else "both help"
    )
    return (
        f"Runs make up {share:.0%} of the error variance of a comparison, ".replace("%", " %")
        + f"agents' own strengths across tasks the rest: {advice}. Twice the runs would take the "
        f"standard error of a difference from {now:.3g} to {runs:.3g}, twice the tasks to {tasks:.3g}; "
        f"runs without end, on {counted(found.tasks, 'task')}, to {most:.3g}."
    )
