"""Studies by simulation: tasks needed for an accuracy, accuracy after so many, tasks given too often."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from examiner.adaptive.answers import Floats
from examiner.adaptive.bank import TaskBank
from examiner.adaptive.rules import Choosing, Rule
from examiner.adaptive.simulate import SimulatedExaminations, simulate
from examiner.adaptive.stopping import Ending, Stop
from examiner.answers import Answer, Table, count, name, number, scalar
from examiner.irt import IRTFit, ItemParameters, Z
from examiner.messages import InputError, counted
from examiner.scores import Progress
from examiner.validation import Randomness, generator


class TasksNeeded(Table):
    """Tasks that each rule needs until examinations end, over simulated agents.

    `reached` is the share of agents for which the goal was reached before the tasks were used up.
    """

    rule: tuple[str, ...] = name("Rule that chooses tasks")
    mean_tasks: Floats = number("Mean number of tasks given", title="tasks")
    median_tasks: Floats = number("Median number of tasks given", title="median")
    most_tasks: NDArray[np.int64] = count("Most tasks given to an agent", title="most")
    mean_cost: Floats = number("Mean cost of the tasks given", title="cost")
    reached: Floats = number("Share of agents whose examination reached its goal")
    rmse: Floats = number("Root mean squared error of ability", unit="logits")
    coverage: Floats = number("Share of true abilities inside their 95 % intervals")
    against_random: Floats = number("Tasks, as a share of those in random order", title="of random")


class AccuracyBySize(Table):
    """Accuracy of each rule after a number of tasks, over simulated agents."""

    rule: tuple[str, ...] = name("Rule that chooses tasks")
    tasks: NDArray[np.int64] = count("Tasks given")
    rmse: Floats = number("Root mean squared error of ability", unit="logits")
    error: Floats = number("Root mean square of the stated standard errors", unit="logits")
    coverage: Floats = number("Share of true abilities inside their 95 % intervals")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ExaminationStudy(Answer):
    """Tasks needed until the stop, and accuracy after each number of tasks, rule by rule."""

    kind: ClassVar[str] = "examine-study"

    needs: TasksNeeded
    accuracy: AccuracyBySize
    agents: int = field(metadata=scalar("Simulated agents"))
    seed: int | None = None

    @property
    def headline(self) -> str:
        """How many tasks each rule needs on average."""
        needed = ", ".join(f"{row.mean_tasks:.1f} by {row.rule}" for row in self.needs)
        return (
            f"Mean number of tasks needed by {counted(self.agents, 'simulated agent')}: {needed}."
        )


class OpenShares(Table):
    """The probability with which each task is open to an agent."""

    task: tuple[str, ...] = name("Task")
    open_share: Floats = number("Probability that the task is open to an agent")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Exposure(Answer):
    """Probabilities with which tasks are open, so that none is given too often."""

    kind: ClassVar[str] = "exposure"

    open_shares: Mapping[str, float]
    most: float = field(metadata=scalar("Share of agents that a task may be given to"))
    seed: int | None = None

    @property
    def headline(self) -> str:
        """How many tasks are not open to every agent."""
        limited = sum(share < 1 for share in self.open_shares.values())
        tasks = counted(len(self.open_shares), "task")
        return f"{limited:,} of {tasks} must be closed to some agents, so that none is given too often."

    @property
    def tables(self) -> Mapping[str, Table]:
        """The probability of each task, the most limited first."""
        table = OpenShares(task=self.open_shares, open_share=list(self.open_shares.values()))
        return {"tasks": table.sorted_by("open_share")}


def study(
    source: TaskBank | ItemParameters | IRTFit,
    *,
    rng: Randomness = 0,
    stop: Stop | None = None,
    rules: Sequence[str | Rule | Choosing] = ("information", "random"),
    sizes: Sequence[int] = (5, 10, 20, 50, 100, 200),
    agents: int | ArrayLike = 500,
    truth: ItemParameters | None = None,
    progress: Progress | None = None,
) -> ExaminationStudy:
    """Examine simulated agents by each rule: tasks needed, and accuracy after each number of tasks.

    `agents` is how many are drawn from the bank's prior, or their abilities. Random order is always
    among the rules: `against_random` is the mean of tasks as a share of what it needs.

    >>> items = ItemParameters.of([f"task {n}" for n in range(60)], 1.5, difficulty=np.linspace(-2, 2, 60))
    >>> made = study(items, rng=0, stop=Stop(error=0.5), agents=50)
    >>> [row.rule for row in made.needs], made.needs[0].against_random < 1
    (['information', 'random'], True)
    """
    bank = TaskBank.of(source)
    seed = rng if isinstance(rng, int) else None
    rng = generator(rng)
    ends = stop or Stop(error=max(0.3, 1.25 * bank.least_error))
    theta = _abilities(bank, agents, rng)
    plans = [Choosing.of(rule) for rule in rules]
    if not plans:
        raise InputError("No rules are given to study. Name at least one.")
    if all(plan.rule != "random" for plan in plans):
        plans.append(Choosing("random"))
    kept = sorted({size for size in sizes if 1 <= size <= len(bank)} | {len(bank)})
    # accuracy is not followed beyond a thousand tasks
    longest = max((size for size in kept if size <= 1000), default=kept[0])
    examined = partial(simulate, bank, theta, rng=rng, truth=truth, progress=progress)
    runs, accuracy = [], []
    for plan in plans:
        runs.append(examined(choosing=plan, stop=ends))
        whole = examined(choosing=plan, stop=Stop(most=longest))
        accuracy += [_accuracy(plan.rule_name, whole, size) for size in kept if size <= longest]
    rules_studied = [plan.rule_name for plan in plans]
    in_random_order = runs[rules_studied.index("random")].count.mean()
    return ExaminationStudy(
        TasksNeeded(
            rule=rules_studied,
            mean_tasks=[run.count.mean() for run in runs],
            median_tasks=[np.median(run.count) for run in runs],
            most_tasks=[run.count.max() for run in runs],
            mean_cost=[run.cost.mean() for run in runs],
            reached=[
                run.share_ending(Ending.PRECISE) + run.share_ending(Ending.DECIDED) for run in runs
            ],
            rmse=[run.rmse for run in runs],
            coverage=[run.coverage for run in runs],
            against_random=[run.count.mean() / in_random_order for run in runs],
        ),
        AccuracyBySize.from_rows(accuracy),
        theta.size,
        seed,
    )


def _abilities(bank: TaskBank, agents: int | ArrayLike, rng: np.random.Generator) -> Floats:
    if not isinstance(agents, int):
        return np.atleast_1d(np.asarray(agents, dtype=np.float64))
    if agents < 2:
        raise InputError(f"{agents} simulated agents are asked for. Ask for at least 2.")
    return np.asarray(rng.choice(bank.nodes, size=agents, p=np.exp(bank.log_prior)))


def _accuracy(rule: str, run: SimulatedExaminations, size: int) -> dict[str, str | float]:
    ability, error = run.trace[:, size - 1], run.trace_error[:, size - 1]
    away = np.abs(ability - run.truth)
    return {
        "rule": rule,
        "tasks": size,
        "rmse": float(np.sqrt((away**2).mean())),
        "error": float(np.sqrt((error**2).mean())),
        "coverage": float((away <= Z * error).mean()),
    }


def exposure(
    source: TaskBank | ItemParameters | IRTFit,
    most: float,
    *,
    rng: Randomness = 0,
    choosing: str | Rule | Choosing = "information",
    stop: Stop | None = None,
    agents: int = 500,
    rounds: int = 12,
    progress: Progress | None = None,
) -> Exposure:
    """Find the probabilities with which tasks are open to agents, for `Choosing(open_shares=…)`.

    Agents of the prior are examined in rounds; a task that was given to more than the share `most`
    of them is opened less often by the same factor, one given to fewer more often again (after Sympson
    and Hetter, 1985).

    >>> items = ItemParameters.of([f"task {n}" for n in range(30)], 1.0, difficulty=np.linspace(-2, 2, 30))
    >>> found = exposure(items, 0.5, stop=Stop(most=5), agents=200)
    >>> min(found.open_shares.values()) < 1
    True
    """
    bank = TaskBank.of(source)
    seed = rng if isinstance(rng, int) else None
    rng = generator(rng)
    if not 0 < most <= 1:
        raise InputError(
            f"Tasks may be given to a share of {most} of agents. Give a share up to 1."
        )
    plan = Choosing.of(choosing)
    shares = np.ones(len(bank))
    theta = bank.prior_mean + (bank.nodes[-1] - bank.prior_mean) / 6.0 * rng.standard_normal(agents)
    for past in range(rounds):
        opened = dict(zip(bank.tasks, shares.tolist(), strict=True))
        run = simulate(bank, theta, rng=rng, choosing=replace(plan, open_shares=opened), stop=stop)
        exposure = np.maximum(run.exposure, 1e-9)
        wanted = np.clip(shares * most / exposure, 0.01, 1.0)
        shares = np.where(run.exposure > 0, wanted, 1.0)
        if progress is not None:
            progress("finding exposure", past + 1, rounds)
    return Exposure(dict(zip(bank.tasks, shares.tolist(), strict=True)), most, seed)
