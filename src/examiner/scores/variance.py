"""Where scores vary, and the error to expect of other designs: more runs, or more tasks?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, count, name, number, scalar, text
from examiner.messages import InputError, counted
from examiner.results import Results, reads_results
from examiner.scores.comparable import OwnFunction
from examiner.scores.normalise import comparable_runs
from examiner.scores.runs import RunScores, run_scores, same_sign
from examiner.validation import Floats, read_only

COMPONENTS = MappingProxyType(
    {
        "agent": ("agent", "agents differ on average"),
        "task": ("task", "tasks differ in level for all agents"),
        "interaction": ("agent × task", "agents have their own easy and hard tasks"),
        "run": ("run", "runs of one agent on one task differ"),
    }
)
"""Field of `VarianceComponents` → what it is called in tables and sentences, and what it means."""


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
    agents: int = field(metadata=scalar("Agents with a score"))
    tasks: int = field(metadata=scalar("Tasks with a score"))
    runs: float = field(metadata=scalar("Harmonic mean of the runs of a cell"))
    truncated: tuple[str, ...] = field(
        metadata=scalar("Components with a negative estimate, shown as 0")
    )
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
        return f"The largest component of the variance is {COMPONENTS[largest][0]}, with {share}."

    @property
    def parts(self) -> VarianceParts:
        """One row per component."""
        shares = self.shares()
        return VarianceParts(
            component=[called for called, _ in COMPONENTS.values()],
            variance=[getattr(self, part) for part in COMPONENTS],
            share=[shares.get(part, np.nan) for part in COMPONENTS],
            meaning=[meaning for _, meaning in COMPONENTS.values()],
            caption="Components of the variance of single runs' scores",
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """The components."""
        return {"variance": self.parts}

    def shares(self) -> dict[str, float]:
        """Return each component's share of the total; what is unknown is left out.

        >>> VarianceComponents(1.0, 2.0, 1.0, float("nan"), 3, 3, 1.0, (), ()).shares()["task"]
        0.5
        """
        parts = {part: getattr(self, part) for part in COMPONENTS}
        finite = {part: value for part, value in parts.items() if not np.isnan(value)}
        total = sum(finite.values())
        return {part: value / total if total else np.nan for part, value in finite.items()}

    def expected_error(
        self,
        tasks: float | NDArray[np.integer],
        runs: float | NDArray[np.integer],
        *,
        fixed_tasks: bool = False,
    ) -> Floats:
        """Standard error of the difference of two agents' means over so many tasks and runs each.

        With as large a share of missing cells as now: of two agents that have different tasks, the tasks
        make a difference too.

        >>> found = VarianceComponents(1.0, 1.0, 4.0, 4.0, 5, 5, 5.0, (), ())
        >>> float(found.expected_error(4, 1))
        2.0
        """
        run = self.run if fixed_tasks else np.nan_to_num(self.run)
        interaction = 0.0 if fixed_tasks else self.interaction
        error_squares = self.thinned * (interaction + run / np.asarray(runs, dtype=np.float64))
        squared = 2 * (error_squares + self.unshared * self.task) / np.asarray(tasks)
        return np.sqrt(np.asarray(squared, dtype=np.float64))


@reads_results
def variance(
    results: Results,
    measure: str | None = None,
    *,
    normalise: str | OwnFunction | None = "auto",
) -> VarianceComponents:
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
    >>> found = variance(Results.from_numpy(scores), normalise=None)
    >>> bool(3 < found.task < 5), bool(0.9 < found.run < 1.1)
    (True, True)
    """
    results = comparable_runs(results, normalise, measure)
    same_sign(results, measure)
    scores = run_scores(results, measure)
    observed = [strata for strata in scores.strata if len(strata.tasks)]
    if not observed:
        raise InputError("No agent has any score, so that there is no variance to split.")
    inverse_runs = float(np.mean(np.concatenate([1 / strata.runs for strata in observed])))
    squares = sum(float((strata.deviations**2).sum()) for strata in observed)
    spare = sum(int((strata.runs - 1).sum()) for strata in observed)
    within = squares / spare if spare else float("nan")
    of_agents, of_tasks = _cell_sums(scores)
    noise = 0.0 if np.isnan(within) else within * inverse_runs
    agent, task, interaction = _between(of_agents, of_tasks, noise)
    raw = {"agent": agent, "task": task, "interaction": interaction, "run": within}
    truncated = tuple(part for part, value in raw.items() if value < 0)
    notes = [*scores.notes]
    if np.isnan(within):
        notes.append(
            "No cell has two runs: the variance of runs cannot be separated from agent × task, and is "
            "counted there."
        )
    if truncated:
        names = " and ".join(COMPONENTS[part][0] for part in truncated)
        notes.append(
            f"The estimated variance of {names} was negative, as chance makes small ones; 0 is shown."
        )
    return VarianceComponents(
        **{part: value if np.isnan(value) else max(0.0, value) for part, value in raw.items()},
        agents=len(observed),
        tasks=int((of_tasks[0] > 0).sum()),
        runs=1 / inverse_runs,
        truncated=truncated,
        notes=tuple(notes),
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


def _cell_sums(scores: RunScores) -> tuple[Floats, Floats]:
    """Of the cells of each agent and of each task: their number, sum and squares; [3, agents], [3, tasks].

    Values are about the mean of all: squares of large scores would lose the differences. Sums are taken
    an agent at a time: a large table may not fit twice.
    """
    cells = sum(len(strata.tasks) for strata in scores.strata)
    centre = sum(float(strata.means.sum()) for strata in scores.strata) / cells
    agent, task = np.zeros((3, len(scores.agents))), np.zeros((3, len(scores.tasks)))
    for row, strata in enumerate(scores.strata):
        values = strata.means - centre
        parts = np.array([np.ones(len(values)), values, values**2])
        agent[:, row] = parts.sum(axis=1)
        task[:, strata.tasks] += parts
    return agent, task


def _between(agent: Floats, task: Floats, noise: float) -> tuple[float, float, float]:
    """Variance between agents, tasks, and of their interaction; NaN where it cannot be told."""
    same_agent, same_task = _half_squares(agent), _half_squares(task)
    neither = _half_squares(agent.sum(axis=1, keepdims=True)) - same_agent - same_task
    agent_u, task_u, u = (
        sums / pairs if pairs > 0.5 else np.nan for sums, pairs in (same_agent, same_task, neither)
    )
    if np.isnan(u):  # one agent, or one task: whatever differs is counted as its effect
        return float(task_u - noise), float(agent_u - noise), np.nan
    return float(u - agent_u), float(u - task_u), float(agent_u + task_u - u - noise)


def _half_squares(sums: Floats) -> Floats:
    """Half the squared differences over all pairs within rows (or columns), and how many pairs."""
    count, total, squares = sums
    apart = count * squares - total**2
    return np.array([apart.sum() / 2, (count * (count - 1)).sum() / 2])


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


EXPECTED = "Expected standard error of a difference"


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
    now: float = field(metadata=scalar(EXPECTED))
    twice_tasks: float = field(metadata=scalar(f"{EXPECTED} with twice the tasks"))
    twice_runs: float = field(metadata=scalar(f"{EXPECTED} with twice the runs"))
    runs_known: bool = field(metadata=scalar("Whether the variance of runs can be estimated"))

    @property
    def headline(self) -> str:
        """Whether more runs or more tasks would make comparisons more precise."""
        parts, now = self.components, self.now
        if np.isnan(parts.interaction):
            return (
                "With one agent or one task nothing can be said about how agents differ across tasks, so "
                "that runs and tasks cannot be weighed against each other."
            )
        if np.isnan(parts.run):
            return (
                f"More tasks would make comparisons more precise; the effect of more runs is unknown. "
                f"With one run per cell, the error cannot be split into runs and tasks: add a second run "
                f"of some cells. Twice the tasks would reduce the standard error of a difference from "
                f"{now:.3g} to {now / np.sqrt(2):.3g}."
            )
        if now == 0:
            return "Neither runs nor tasks make any difference between agents uncertain here."
        most = float(parts.expected_error(parts.tasks, np.inf))
        share = 1.0 - (most / now) ** 2
        strengths = "agents' own strengths across tasks"
        if parts.unshared * parts.task > 0:
            strengths += ", and tasks that two of them do not share,"
        claim = "More tasks would make comparisons more precise than more runs would"
        if self.twice_runs > 0.95 * now:  # hardly lower
            claim = "More tasks would make comparisons more precise; more runs would not"
        elif (
            self.twice_runs < 1.05 * self.twice_tasks
        ):  # more tasks bring more runs: these never do better
            claim = "More runs would make comparisons as much more precise as more tasks would"
        return (
            f"{claim}. Runs make up {100 * share:.0f} % of the error variance of a comparison, {strengths} "
            f"the rest. Twice the runs would take the standard error of a difference from {now:.3g} to "
            f"{self.twice_runs:.3g}, twice the tasks to {self.twice_tasks:.3g}; runs without end, on "
            f"{counted(parts.tasks, 'task')}, to {most:.3g}."
        )

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
    def all_notes(self) -> tuple[str, ...]:
        """What a reader should know about the components of the variance."""
        return self.components.notes


@reads_results
def decision(
    results: Results,
    tasks: Sequence[int] | None = None,
    runs: Sequence[int] = (1, 2, 3, 5, 10, 20),
    measure: str | None = None,
    *,
    normalise: str | OwnFunction | None = "auto",
) -> DecisionStudy:
    r"""Predict the error of a comparison with other numbers of tasks and runs.

    .. math:: \mathrm{SE}^2 = 2 \Big(\frac{\sigma_{\alpha\beta}^2}{T} + \frac{\sigma^2}{T n}\Big),
              \qquad
              \rho^2 = \frac{\sigma_\alpha^2}{\sigma_\alpha^2 + \mathrm{SE}^2 / 2}

    On the same tasks, only the second term is left. Where cells are missing, T is what agents have, and the
    variance of tasks counts for those that two agents do not share (`VarianceComponents.expected_error`).

    References: Brennan (2001), chapter 2, where designs with other numbers of conditions are called
    decision studies; Cronbach et al. (1972).

    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(4, 20, 1)) + 3 * rng.normal(size=(4, 20, 5))
    >>> decision(Results.from_numpy(scores), normalise=None).headline[:68]
    'More tasks would make comparisons more precise than more runs would.'
    """
    components = variance(results, measure, normalise=normalise)
    if tasks is None:
        shares = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)
        tasks = [max(1, round(share * components.tasks)) for share in shares]
    for what, counts in (("tasks", tasks), ("runs", runs)):
        if not len(counts) or min(counts) < 1:
            raise InputError(
                f"The numbers of {what} must be at least 1, and some are not. Give others."
            )
    t, n = np.array(sorted(set(tasks))), np.array(sorted(set(runs)))
    errors = components.expected_error(t[:, None], n)
    fixed = components.expected_error(t[:, None], n, fixed_tasks=True)
    with np.errstate(invalid="ignore"):
        reliability = components.agent / (components.agent + errors**2 / 2)
    read_only(t, n, errors, fixed, reliability)
    now, twice_tasks, twice_runs = (
        float(components.expected_error(more * components.tasks, times * components.runs))
        for more, times in ((1, 1), (2, 1), (1, 2))
    )
    known = bool(np.isfinite(components.run))
    return DecisionStudy(
        *(components, t, n, errors, fixed, reliability, now, twice_tasks, twice_runs, known)
    )
