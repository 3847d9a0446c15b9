"""Where scores vary, and the error to expect of other designs: more runs, or more tasks?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Scalar, Table, count, name, number, text
from examiner.messages import InputError, counted
from examiner.results import Results, reads_results
from examiner.scores.runs import RunScores, run_scores, same_sign
from examiner.validation import Floats, read_only

COMPONENTS = MappingProxyType(
    {"agent": "agent", "task": "task", "interaction": "agent × task", "run": "run"}
)
"""Field of `VarianceComponents` → what it is called in tables and sentences."""
MEANINGS = MappingProxyType(
    {
        "agent": "agents differ on average",
        "task": "tasks differ in level for all agents",
        "interaction": "agents have their own easy and hard tasks",
        "run": "runs of one agent on one task differ",
    }
)
RUNS = (1, 2, 3, 5, 10, 20)
"""Numbers of runs whose errors are predicted where none are named."""


class VarianceParts(Table):
    """The variance of scores of single runs, split by where it comes from."""

    component: tuple[str, ...] = name("Component")
    variance: Floats = number("Estimated variance")
    share: Floats = number("Share of the variance of single runs' scores")
    meaning: tuple[str, ...] = text("What the component means")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class VarianceComponents(Answer):
    """Variances of the effects that make up a run's score, and the design they came from.

    `run` is NaN where no cell has two runs: it is then part of `interaction`. With one agent or one
    task `interaction` is NaN, and part of the other's effect. `truncated` names the
    components whose estimate was negative and is shown as 0. `runs` is the harmonic mean. Where cells are
    missing, `thinned` is how many times fewer tasks an agent has than there are (harmonic mean), and
    `unshared` how much of that comes of tasks that two agents do not share; 1 and 0 where none are.
    """

    kind = "variance"

    agent: float
    task: float
    interaction: float
    run: float
    agents: int
    tasks: int
    runs: float
    truncated: tuple[str, ...]
    notes: tuple[str, ...]
    thinned: float = 1.0
    unshared: float = 0.0

    @property
    def headline(self) -> str:
        """Which component is the largest."""
        shares = {part: share for part, share in self.shares().items() if not np.isnan(share)}
        if not shares:
            return "The scores do not vary."
        largest = max(shares, key=shares.__getitem__)
        share = f"{100 * shares[largest]:.0f} %"
        return f"The largest component of the variance is {COMPONENTS[largest]}, with {share}."

    @property
    def parts(self) -> VarianceParts:
        """One row per component."""
        shares = self.shares()
        return VarianceParts(
            component=list(COMPONENTS.values()),
            variance=[getattr(self, part) for part in COMPONENTS],
            share=[shares.get(part, np.nan) for part in COMPONENTS],
            meaning=[MEANINGS[part] for part in COMPONENTS],
            caption="Components of the variance of single runs' scores",
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """The components."""
        return {"variance": self.parts}

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """The design that the components come from."""
        return {
            "agents": Scalar(self.agents, "Agents with a score"),
            "tasks": Scalar(self.tasks, "Tasks with a score"),
            "runs": Scalar(self.runs, "Harmonic mean of the runs of a cell"),
            "truncated": Scalar(self.truncated, "Components with a negative estimate, shown as 0"),
        }

    def shares(self) -> dict[str, float]:
        """Return each component's share of the total; what is unknown is left out.

        >>> VarianceComponents(1.0, 2.0, 1.0, float("nan"), 3, 3, 1.0, (), ()).shares()["task"]
        0.5
        """
        parts = {name: getattr(self, name) for name in ("agent", "task", "interaction", "run")}
        finite = {name: value for name, value in parts.items() if not np.isnan(value)}
        total = sum(finite.values())
        return {name: value / total if total else np.nan for name, value in finite.items()}


@reads_results
def variance(results: Results, measure: str | None = None) -> VarianceComponents:
    r"""Split the variance of run scores into agent, task, agent × task and run.

    .. math:: x_{ati} = \mu + \alpha_a + \beta_t + (\alpha\beta)_{at} + \epsilon_{ati}

    Runs give their variance within cells. Half the mean squared differences of cell means, taken
    over pairs of cells with the same agent, the same task, or neither, have expectations

    .. math:: U_a = \sigma_\beta^2 + \sigma_{\alpha\beta}^2 + \nu, \quad
              U_t = \sigma_\alpha^2 + \sigma_{\alpha\beta}^2 + \nu, \quad
              U = \sigma_\alpha^2 + \sigma_\beta^2 + \sigma_{\alpha\beta}^2 + \nu

    with ν the mean of σ²/n over cells. Solved, they equal the analysis of variance where every cell
    was observed, and stay unbiased where cells are missing and runs uneven.

    References: Searle, Casella & McCulloch (1992); Gao & Owen (2017), for crossed effects with gaps.

    >>> rng = np.random.default_rng(0)
    >>> scores = 2 * rng.normal(size=(1, 60, 1)) + rng.normal(size=(60, 60, 3))
    >>> found = variance(Results.from_numpy(scores))
    >>> bool(3 < found.task < 5), bool(0.9 < found.run < 1.1)
    (True, True)
    """
    same_sign(results, measure)
    scores = run_scores(results, measure)
    cells = _CellSums.of(scores)
    if not cells.inverse_runs:
        raise InputError("No agent has any score, so that there is no variance to split.")
    within = _within(scores)
    noise = 0.0 if np.isnan(within) else within * cells.inverse_runs
    agent, task, interaction = cells.between(noise)
    raw = {"agent": agent, "task": task, "interaction": interaction, "run": within}
    truncated = tuple(name for name, value in raw.items() if value < 0)
    return VarianceComponents(
        **{name: value if np.isnan(value) else max(0.0, value) for name, value in raw.items()},
        agents=int((cells.agent[0] > 0).sum()),
        tasks=int((cells.task[0] > 0).sum()),
        runs=1 / cells.inverse_runs,
        truncated=truncated,
        notes=(*scores.notes, *_notes(raw, truncated)),
        **_gaps(scores),
    )


def _gaps(scores: RunScores) -> dict[str, float]:
    r"""Tell what missing cells add to the error of a difference, as means over pairs of agents a, b.

    :math:`T / m_a`, and of it what is left without :math:`T\, o_{ab} / (m_a m_b)`, with m the tasks of an
    agent and o those that both have.
    """
    met = [strata.tasks for strata in scores.strata if len(strata.tasks)]
    observed, weight = np.zeros(len(scores.tasks), dtype=np.bool_), np.zeros(len(scores.tasks))
    for tasks in met:
        observed[tasks] = True
        weight[tasks] += 1 / len(tasks)
    inverse = sum(1 / len(tasks) for tasks in met)
    thinned = observed.sum() * inverse / len(met)
    if len(met) < 2 or thinned <= 1:
        return {"thinned": float(thinned), "unshared": 0.0}
    shared = observed.sum() * (float(weight @ weight) - inverse) / (len(met) * (len(met) - 1))
    return {"thinned": float(thinned), "unshared": float(max(0.0, thinned - shared))}


class _CellSums(NamedTuple):
    """Of the cells of each agent and of each task: how many, their sum, and the sum of their squares.

    Values are about the mean of all: squares of large scores would lose the differences. Sums are taken
    an agent at a time: a large table may not fit twice. `inverse_runs` is the mean of 1 / runs.
    """

    agent: Floats  # [3, agents]
    task: Floats  # [3, tasks]
    inverse_runs: float

    @classmethod
    def of(cls, scores: RunScores) -> _CellSums:
        count = sum(len(strata.tasks) for strata in scores.strata)
        agent, task = np.zeros((3, len(scores.agents))), np.zeros((3, len(scores.tasks)))
        if not count:
            return cls(agent, task, 0.0)
        centre = sum(float(strata.means.sum()) for strata in scores.strata) / count
        inverse = sum(float((1 / strata.runs).sum()) for strata in scores.strata) / count
        for row, strata in enumerate(scores.strata):
            values = strata.means - centre
            agent[:, row] = len(values), values.sum(), (values**2).sum()
            task[0, strata.tasks] += 1.0
            task[1, strata.tasks] += values
            task[2, strata.tasks] += values**2
        return cls(agent, task, inverse)

    def between(self, noise: float) -> tuple[float, float, float]:
        """Variance between agents, tasks, and of their interaction; NaN where it cannot be told."""
        same_agent, same_task = _half_squares(self.agent), _half_squares(self.task)
        every = _half_squares(self.agent.sum(axis=1, keepdims=True))
        neither = every - same_agent - same_task
        agent_u, task_u, u = (
            sums / pairs if pairs > 0.5 else np.nan
            for sums, pairs in (same_agent, same_task, neither)
        )
        if np.isnan(u):  # one agent, or one task: whatever differs is counted as its effect
            return float(task_u - noise), float(agent_u - noise), np.nan
        return float(u - agent_u), float(u - task_u), float(agent_u + task_u - u - noise)


def _half_squares(sums: Floats) -> Floats:
    """Half the squared differences over all pairs within rows (or columns), and how many pairs."""
    count, total, squares = sums
    apart = count * squares - total**2
    return np.array([apart.sum() / 2, (count * (count - 1)).sum() / 2])


def _within(scores: RunScores) -> float:
    squares, spare = 0.0, 0
    for strata in scores.strata:
        if strata.scores.shape[1] < 2:
            continue
        squares += float((strata.deviations**2).sum())
        spare += int((strata.runs - 1).sum())
    return squares / spare if spare else float("nan")


def _notes(raw: dict[str, float], truncated: tuple[str, ...]) -> list[str]:
    notes = []
    if np.isnan(raw["run"]):
        notes.append(
            "No cell has two runs: the variance of runs cannot be separated from agent × task, and is "
            "counted there."
        )
    if truncated:
        names = " and ".join(
            "agent × task" if name == "interaction" else name for name in truncated
        )
        notes.append(
            f"The estimated variance of {names} was negative, as chance makes small ones; 0 is shown."
        )
    return notes


class Designs(Table):
    """Errors to expect of designs with other numbers of tasks and runs."""

    tasks: NDArray[np.int64] = count("Tasks")
    runs: NDArray[np.int64] = count("Runs per task")
    difference_error: Floats = number(
        "Standard error of the difference of two agents on other tasks", unit="score"
    )
    difference_error_fixed: Floats = number(
        "Standard error of the difference of two agents on the same tasks", unit="score"
    )
    reliability: Floats = number("Share of the variance of agents' means that is due to agents")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DecisionStudy(Answer):
    """Errors to expect of designs; arrays of shape [tasks, runs].

    `difference` is the standard error of the difference of two agents on resampled tasks;
    `difference_fixed` the same on the same tasks; `reliability` the share of the variance of agents'
    means that is due to agents. `now` is `difference` of the design that was used.
    """

    kind = "decision"

    components: VarianceComponents
    tasks: NDArray[np.int64]
    runs: NDArray[np.int64]
    difference: Floats
    difference_fixed: Floats
    reliability: Floats
    now: float

    @property
    def headline(self) -> str:
        """Whether more runs or more tasks would make comparisons more precise."""
        return _advice(self.components, self.now)

    @property
    def twice_tasks(self) -> float:
        """The expected error of a difference with twice the tasks."""
        parts = self.components
        return float(expected_error(parts, 2 * np.array(parts.tasks), np.array(parts.runs)))

    @property
    def twice_runs(self) -> float:
        """The expected error of a difference with twice the runs."""
        parts = self.components
        return float(expected_error(parts, np.array(parts.tasks), 2 * np.array(parts.runs)))

    @property
    def runs_known(self) -> bool:
        """Whether the variance of runs can be estimated."""
        return bool(np.isfinite(self.components.run))

    @property
    def designs(self) -> Designs:
        """One row per number of tasks and of runs."""
        tasks, runs = np.meshgrid(self.tasks, self.runs, indexing="ij")
        return Designs(
            tasks=tasks.ravel(),
            runs=runs.ravel(),
            difference_error=self.difference.ravel(),
            difference_error_fixed=self.difference_fixed.ravel(),
            reliability=self.reliability.ravel(),
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """The designs, and the components of the variance."""
        return {"designs": self.designs, "variance": self.components.parts}

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """The error now, and with twice the tasks or twice the runs."""
        expected = "Expected standard error of a difference"
        return {
            "now": Scalar(self.now, expected),
            "twice_tasks": Scalar(self.twice_tasks, f"{expected} with twice the tasks"),
            "twice_runs": Scalar(self.twice_runs, f"{expected} with twice the runs"),
            "runs_known": Scalar(self.runs_known, "Whether the variance of runs can be estimated"),
        }

    @property
    def all_notes(self) -> tuple[str, ...]:
        """What a reader should know about the components of the variance."""
        return self.components.notes


@reads_results
def decision(
    results: Results,
    tasks: Sequence[int] | None = None,
    runs: Sequence[int] = RUNS,
    measure: str | None = None,
) -> DecisionStudy:
    r"""Predict the error of a comparison with other numbers of tasks and runs.

    .. math:: \mathrm{SE}^2 = 2 \Big(\frac{\sigma_{\alpha\beta}^2}{T} + \frac{\sigma^2}{T n}\Big),
              \qquad
              \rho^2 = \frac{\sigma_\alpha^2}{\sigma_\alpha^2 + \mathrm{SE}^2 / 2}

    On the same tasks, only the second term is left. Where cells are missing, T is what agents have, and the
    variance of tasks counts for those that two agents do not share (`expected_error`).

    References: Brennan (2001), chapter 2, where designs with other numbers of conditions are called
    decision studies; Cronbach et al. (1972).

    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(4, 20, 1)) + 3 * rng.normal(size=(4, 20, 5))
    >>> decision(Results.from_numpy(scores)).headline[:54]
    'Runs make up 67 % of the error variance of a compariso'
    """
    components = variance(results, measure)
    many = _tasks(components.tasks) if tasks is None else tuple(tasks)
    for what, counts in (("tasks", many), ("runs", runs)):
        if not len(counts) or min(counts) < 1:
            raise InputError(
                f"The numbers of {what} must be at least 1, and some are not. Give others."
            )
    t, n = np.array(sorted(set(many))), np.array(sorted(set(runs)))
    errors = expected_error(components, t[:, None], n[None, :])
    fixed = expected_error(components, t[:, None], n[None, :], fixed_tasks=True)
    with np.errstate(invalid="ignore"):
        reliability = components.agent / (components.agent + errors**2 / 2)
    read_only(t, n, errors, fixed, reliability)
    now = float(expected_error(components, np.array(components.tasks), np.array(components.runs)))
    return DecisionStudy(components, t, n, errors, fixed, reliability, now)


def expected_error(
    components: VarianceComponents,
    tasks: NDArray[np.generic],
    runs: NDArray[np.generic],
    *,
    fixed_tasks: bool = False,
) -> Floats:
    """Standard error of the difference of two agents' means over so many tasks and runs each.

    With as large a share of missing cells as now: of two agents that have different tasks, the tasks make
    a difference too.

    >>> found = VarianceComponents(1.0, 1.0, 4.0, 4.0, 5, 5, 5.0, (), ())
    >>> float(expected_error(found, np.array(4), np.array(1)))
    2.0
    """
    run = np.nan_to_num(components.run)
    interaction = 0.0 if fixed_tasks else components.interaction
    error_squares = components.thinned * (interaction + run / np.asarray(runs, dtype=np.float64))
    squared = 2 * (error_squares + components.unshared * components.task) / tasks
    if fixed_tasks and np.isnan(components.run):
        squared = squared * np.nan
    return np.sqrt(np.asarray(squared, dtype=np.float64))


def _tasks(now: int) -> tuple[int, ...]:
    shares = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)
    return tuple(sorted({max(1, round(share * now)) for share in shares}))


def _advice(found: VarianceComponents, now: float) -> str:
    if np.isnan(found.interaction):
        return (
            "With one agent or one task nothing can be said about how agents differ across tasks, so "
            "that runs and tasks cannot be weighed against each other."
        )
    if np.isnan(found.run):
        return (
            f"With one run per cell, the error of a comparison cannot be split into runs and tasks. Add a "
            f"second run of some cells to separate them. Twice the tasks would reduce the standard error "
            f"of a difference from {now:.3g} to {now / np.sqrt(2):.3g}."
        )
    if now == 0:
        return "Neither runs nor tasks make any difference between agents uncertain here."
    size = np.array(found.tasks)
    runs = float(expected_error(found, size, np.array(2 * found.runs)))
    tasks = float(expected_error(found, 2 * size, np.array(found.runs)))
    most = float(expected_error(found, size, np.array(np.inf)))
    share = 1.0 - (most / now) ** 2
    strengths = "agents' own strengths across tasks"
    if found.unshared * found.task > 0:
        strengths += ", and tasks that two of them do not share,"
    advice = (
        "more runs help nearly as much as more tasks"
        if share > 0.75
        else "more tasks help more"
        if share < 0.5
        else "both help"
    )
    return (
        f"Runs make up {share:.0%} of the error variance of a comparison, ".replace("%", " %")
        + f"{strengths} the rest: {advice}. Twice the runs would take the "
        f"standard error of a difference from {now:.3g} to {runs:.3g}, twice the tasks to {tasks:.3g}; "
        f"runs without end, on {counted(found.tasks, 'task')}, to {most:.3g}."
    )
