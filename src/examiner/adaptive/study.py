"""Studies: how many tasks each rule needs for an accuracy, and how accurate a number of tasks is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from examiner.adaptive.bank import TaskBank
from examiner.adaptive.rules import Rule
from examiner.adaptive.simulate import Progress, SimulatedExaminations, simulate
from examiner.adaptive.step import Choosing
from examiner.adaptive.stopping import Ending, Stop
from examiner.irt.fitted import IRTFit
from examiner.irt.items import Floats, ItemParameters
from examiner.wording import InputError


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


def study(
    source: TaskBank | ItemParameters | IRTFit,
    *,
    rng: np.random.Generator,
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
    >>> made = study(items, rng=np.random.default_rng(0), stop=Stop(error=0.5), agents=50)
    >>> [row.rule for row in made.needs], made.needs[0].against_random < 1
    (['information', 'random'], True)
    """
    bank = TaskBank.of(source)
    ends = stop or Stop(error=max(0.3, 1.25 * bank.least_error))
    theta = _abilities(bank, agents, rng)
    plans = [rule if isinstance(rule, Choosing) else Choosing(rule) for rule in rules]
    if not plans:
        raise InputError("No rules are given to study. Name at least one.")
    if all(plan.rule != "random" for plan in plans):
        plans.append(Choosing("random"))
    kept = sorted({size for size in sizes if 1 <= size <= len(bank)} | {len(bank)})
    needs, accuracy = [], []
    for plan in plans:
        run = simulate(
            bank, theta, rng=rng, choosing=plan, stop=ends, truth=truth, progress=progress
        )
        needs.append((plan.rule_name, run))
        longest = max((size for size in kept if size <= _ENOUGH), default=kept[0])
        whole = simulate(
            bank,
            theta,
            rng=rng,
            choosing=plan,
            stop=Stop(most=longest),
            truth=truth,
            progress=progress,
        )
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
        float((away <= 1.959963984540054 * error).mean()),
    )
