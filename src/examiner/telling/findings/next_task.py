"""The next agent: how few tasks would place it, asked one after another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from examiner.adaptive import Examination, Stop, TaskBank, examine, simulate
from examiner.telling.figures import adaptive_trace as picture
from examiner.telling.finding import Block, Figure, Finding, Name, Prose, Text
from examiner.telling.fitting import Fitted, fitted
from examiner.telling.numbers import three_digits
from examiner.telling.resampled import noted, untold
from examiner.telling.study import Study
from examiner.wording import counted

KEY, TITLE = "next_task", "The next agent, task by task"
AGENTS = 200
MOST_STEPS = 60
MOST_TASKS = 2_000
NEAR = 1.25
"""An ability is as good as known when its error is within a quarter of that after every task."""


def next_task(study: Study) -> Finding:
    """Say how many tasks an adaptive examination needs, and show one agent's.

    >>> from examiner.results import Results
    >>> next_task(Study.of(Results.from_numpy([[0.5, 1.0]]))).applies
    False
    """
    made = fitted(study)
    if isinstance(made, str):
        return untold(KEY, TITLE, made)
    if len(made.fit.items) > MOST_TASKS:
        return untold(
            KEY,
            TITLE,
            f"{len(made.fit.items):,} tasks are too many for a report: run `examiner examine`.",
        )
    trials = int(np.median(made.matrix.trials)) if made.matrix.is_counts else 1
    bank = TaskBank.of(made.fit, trials=max(trials, 1))
    needed, alone, least = _needed(bank, study.seed)
    blocks: list[Block] = [Text(_how(bank, least))]
    agent = int(np.argsort(made.fit.abilities.ability)[len(made.fit.abilities.agents) // 2])
    shown = _examined(bank, made, agent, study.seed, needed or MOST_STEPS)
    if shown.steps:
        blocks.insert(0, _figure(shown))
    return Finding(
        KEY, TITLE, _lead(bank, needed, alone, least), (*blocks, *noted(bank.calibration.notes))
    )


def _needed(bank: TaskBank, seed: int) -> tuple[int | None, int | None, float]:
    """Tasks until the mean error comes near the least, asked in turn and at random; and the least."""
    everything = (
        _mean_errors(bank, "random", seed, len(bank))[-1] if len(bank) <= MOST_STEPS else None
    )
    chosen = _mean_errors(bank, "information", seed, min(len(bank), MOST_STEPS))
    random = _mean_errors(bank, "random", seed, min(len(bank), MOST_STEPS))
    least = float(chosen[-1] if everything is None else everything)
    return _first(chosen, NEAR * least), _first(random, NEAR * least), least


def _mean_errors(bank: TaskBank, rule: str, seed: int, most: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    theta = rng.choice(bank.nodes, size=AGENTS, p=np.exp(bank.log_prior))
    run = simulate(bank, theta, choosing=rule, stop=Stop(most=most), rng=rng)
    return np.asarray(np.sqrt((run.trace_error**2).mean(axis=0)))


def _first(errors: NDArray[np.float64], wanted: float) -> int | None:
    near = np.flatnonzero(errors <= wanted)
    return int(near[0]) + 1 if near.size else None


def _lead(bank: TaskBank, needed: int | None, alone: int | None, least: float) -> Prose:
    after = "all tasks" if len(bank) <= MOST_STEPS else f"the best {MOST_STEPS} tasks"
    if needed is None:
        return (
            f"No small part of the {len(bank):,} tasks places a new agent as well as {after} do.",
        )
    beside = "more than were tried" if alone is None else f"{alone:,}"
    return (
        f"A new agent like these is placed by {counted(needed, 'task')} asked one after another nearly as "
        f"well as by {after} (an error of {three_digits(NEAR * least)} instead of {three_digits(least)}); "
        f"in random order it takes {beside}.",
    )


def _how(bank: TaskBank, least: float) -> Prose:
    return (
        f"Simulated: {AGENTS} agents of this population on the fitted tasks, each asked the task with most "
        f"information about it. The errors count those of the fit: its "
        f"{bank.calibration.agents:,} agents leave an error of {three_digits(bank.least_error)} that no "
        f"number of tasks removes. `examiner examine` does it with a new agent.",
    )


def _examined(bank: TaskBank, made: Fitted, agent: int, seed: int, most: int) -> Examination:
    name = made.fit.abilities.agents[agent]
    matrix = made.matrix
    row = matrix.agents.index(name)
    place = {task: column for column, task in enumerate(matrix.tasks)}

    def answer(task: str) -> Any:  # Any: counts or a score
        column = place[task]
        if not matrix.observed[row, column]:
            return None
        if matrix.is_counts:
            return int(matrix.successes[row, column]), int(matrix.trials[row, column])
        return float(matrix.to_numpy()[row, column])

    last = None
    for last in examine(  # noqa: B007  # the last one is kept
        bank, answer, stop=Stop(most=most), agent=name, rng=np.random.default_rng(seed)
    ):
        pass
    assert last is not None, "an examination yields at least its end"
    return last


def _figure(shown: Examination) -> Figure:
    data = picture.data(shown)
    return Figure(
        key="adaptive-trace",
        data=data._asdict(),
        drawing=picture.draw(data),
        caption=(
            "How the ability of ",
            Name(shown.agent),
            ", an agent from the middle, closes in, had it been asked task by task.",
        ),
        description="A line of abilities after each task, with a band that narrows.",
        legend=(
            "The band is the 95 % interval; filled dots are answers better than expected. The agent was "
            "part of the fit, so that it shows the way, not the accuracy.",
        ),
        narrowest=420,
    )
