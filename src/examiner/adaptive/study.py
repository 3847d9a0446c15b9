"""Studies by simulation: tasks needed for an accuracy, accuracy after so many, tasks given too often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from examiner.adaptive.answers import Floats
from examiner.adaptive.bank import TaskBank
from examiner.adaptive.rules import Choosing, Rule
from examiner.adaptive.simulate import SimulatedExaminations, simulate
from examiner.adaptive.stopping import Ending, Stop
from examiner.irt import IRTFit, ItemParameters
from examiner.irt.estimates import Z
from examiner.messages import InputError, counted
from examiner.results.display import html_table
from examiner.scores.uncertainty.bootstrap import Progress
from examiner.validation import Randomness, generator


class AccuracyRow(NamedTuple):
    """How accurate a rule is after so many tasks, over simulated agents."""

    rule: str
    tasks: int
    rmse: float
    error: float
    coverage: float


class NeedRow(NamedTuple):
    """How many tasks a rule needs until its rule of stopping holds, over simulated agents.

    `reached` is the share of agents that it held for before the tasks were used up.
    """

    rule: str
    mean_tasks: float
    median_tasks: float
    most_tasks: int
    mean_cost: float
    reached: float
    rmse: float
    coverage: float
    against_random: float


class ExaminationStudy(NamedTuple):
    """Tasks needed until the stop, and accuracy after each number of tasks, rule by rule."""

    needs: tuple[NeedRow, ...]
    accuracy: tuple[AccuracyRow, ...]
    agents: int

    def __repr__(self) -> str:
        needed = ", ".join(f"{row.mean_tasks:.1f} by {row.rule}" for row in self.needs)
        return (
            f"ExaminationStudy: {counted(self.agents, 'simulated agent')}; tasks needed: {needed}"
        )

    def _repr_html_(self) -> str:
        header = [name.replace("_", " ") for name in NeedRow._fields]
        return html_table(repr(self), header, self.needs)


def study(
    source: TaskBank | ItemParameters | IRTFit,
    *,
    rng: Randomness,
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
    rng = generator(rng)
    ends = stop or Stop(error=max(0.3, 1.25 * bank.least_error))
    theta = _abilities(bank, agents, rng)
    plans = [Choosing.of(rule) for rule in rules]
    if not plans:
        raise InputError("No rules are given to study. Name at least one.")
    if all(plan.rule != "random" for plan in plans):
        plans.append(Choosing("random"))
    kept = sorted({size for size in sizes if 1 <= size <= len(bank)} | {len(bank)})
    longest = max((size for size in kept if size <= _ENOUGH), default=kept[0])
    examined = partial(simulate, bank, theta, rng=rng, truth=truth, progress=progress)
    needs, accuracy = [], []
    for plan in plans:
        needs.append((plan.rule_name, examined(choosing=plan, stop=ends)))
        whole = examined(choosing=plan, stop=Stop(most=longest))
        accuracy += [_accuracy(plan.rule_name, whole, size) for size in kept if size <= longest]
    alone = next(run for name, run in needs if name == "random").count.mean()
    return ExaminationStudy(
        tuple(_need(name, run, float(alone)) for name, run in needs), tuple(accuracy), theta.size
    )


_ENOUGH = 1000
"""Accuracy is not followed beyond so many tasks."""


def _abilities(bank: TaskBank, agents: int | ArrayLike, rng: np.random.Generator) -> Floats:
    if not isinstance(agents, int):
        return np.atleast_1d(np.asarray(agents, dtype=np.float64))
    if agents < 2:
        raise InputError(f"{agents} simulated agents are asked for. Ask for at least 2.")
    return np.asarray(rng.choice(bank.nodes, size=agents, p=np.exp(bank.log_prior)))


def _need(name: str, run: SimulatedExaminations, alone: float) -> NeedRow:
    done = sum(run.share_ending(end) for end in (Ending.PRECISE, Ending.DECIDED))
    return NeedRow(
        name,
        float(run.count.mean()),
        float(np.median(run.count)),
        int(run.count.max()),
        float(run.cost.mean()),
        done,
        run.rmse,
        run.coverage,
        float(run.count.mean() / alone),
    )


def _accuracy(name: str, run: SimulatedExaminations, size: int) -> AccuracyRow:
    ability, error = run.trace[:, size - 1], run.trace_error[:, size - 1]
    away = np.abs(ability - run.truth)
    return AccuracyRow(
        name,
        size,
        float(np.sqrt((away**2).mean())),
        float(np.sqrt((error**2).mean())),
        float((away <= Z * error).mean()),
    )


def exposure(
    source: TaskBank | ItemParameters | IRTFit,
    most: float,
    *,
    rng: Randomness,
    choosing: str | Rule | Choosing = "information",
    stop: Stop | None = None,
    agents: int = 500,
    rounds: int = 12,
    progress: Progress | None = None,
) -> dict[str, float]:
    """Find the chance with which each task shall be open to an agent: `Choosing(open_shares=…)`.

    Agents of the prior are examined in rounds; a task that was given to more than the share `most`
    of them is opened less often by the same factor, one given to fewer more often again (after Sympson
    and Hetter, 1985).

    >>> items = ItemParameters.of([f"task {n}" for n in range(30)], 1.0, difficulty=np.linspace(-2, 2, 30))
    >>> shares = exposure(items, 0.5, stop=Stop(most=5), rng=0, agents=200)
    >>> min(shares.values()) < 1
    True
    """
    bank = TaskBank.of(source)
    rng = generator(rng)
    if not 0 < most <= 1:
        raise InputError(
            f"Tasks may be given to a share of {most} of agents. Give a share up to 1."
        )
    plan = Choosing.of(choosing)
    shares = np.ones(len(bank))
    theta = bank.prior_mean + (bank.nodes[-1] - bank.prior_mean) / 6.0 * rng.standard_normal(agents)
    for number in range(rounds):
        opened = dict(zip(bank.tasks, shares.tolist(), strict=True))
        run = simulate(bank, theta, rng=rng, choosing=replace(plan, open_shares=opened), stop=stop)
        seen = np.maximum(run.exposure, 1e-9)
        wanted = np.clip(shares * most / seen, 0.01, 1.0)
        shares = np.where(run.exposure > 0, wanted, 1.0)
        if progress is not None:
            progress("finding exposure", number + 1, rounds)
    return dict(zip(bank.tasks, shares.tolist(), strict=True))
