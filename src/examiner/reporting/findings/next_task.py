"""The next agent: how few tasks would place it, given one after another."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from examiner.adaptive import Examination, Stop, TaskBank, examine, simulate
from examiner.answers import Answer, scalar
from examiner.messages import InputError, counted
from examiner.reporting.figures import chart
from examiner.reporting.finding import Figure, Finding, Notes
from examiner.reporting.prose import labels, named, three_digits
from examiner.reporting.study import Study
from examiner.results import divided_sentence
from examiner.validation import Floats

AGENTS = 200
MOST_STEPS = 60
NEAR = 1.25
"""An ability is as good as known when its error is within a quarter of that after every task."""
MOST_LABELS = 34


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NextExamination(Answer):
    """How many tasks place an agent nearly as well as all tasks, or the best `compared_with` of them, do.

    `needed` tasks are given one after another, `at_random` in random order; None where more than were
    tried are needed.
    """

    kind: ClassVar[str] = "next-examination"

    needed: int | None = field(
        metadata=scalar("Tasks given one after another until the error is near the least")
    )
    at_random: int | None = field(
        metadata=scalar("Tasks asked in random order until the error is near the least")
    )
    least_error: float = field(
        metadata=scalar("Error of ability after all tasks that were compared")
    )
    near: float = field(metadata=scalar("Error of ability that counts as near the least"))
    tasks: int = field(metadata=scalar("Tasks of the fit"))
    compared_with: int = field(metadata=scalar("Tasks after which the error is the least"))

    @property
    def headline(self) -> str:
        """How many tasks place a new agent."""
        after = f"the best {self.compared_with:,} tasks"
        if self.compared_with == self.tasks:
            after = "all tasks"
        if self.needed is None:
            return f"No small part of the {self.tasks:,} tasks places a new agent as well as {after} do."
        random = "more than were tried" if self.at_random is None else f"{self.at_random:,}"
        return (
            f"A new agent like these is placed by {counted(self.needed, 'task')} given one after another "
            f"nearly as well as by {after} (an error of ability of {three_digits(self.near)} instead of "
            f"{three_digits(self.least_error)}); in random order it takes {random}. Simulated, if the fit "
            f"holds."
        )


def finding(study: Study) -> Finding:
    """Say how many tasks an adaptive examination needs, and show one agent's."""
    fit, matrix = study.fitted.fit, study.fitted.matrix
    if fit.groups:
        raise InputError(divided_sentence(fit.groups))
    if fit.items.response == "normal":
        raise InputError(
            "Examinations ask for successes or scores from 0 to 1, and these scores have no ends: say what "
            "a success is (`--success 1.0`)."
        )
    trials = int(np.median(matrix.trials)) if matrix.is_counts else 1
    bank = TaskBank.of(fit, trials=max(trials, 1))
    answer = _simulated(bank, study.seed)
    abilities = fit.abilities
    middle = abilities.agents[int(np.argsort(abilities.ability)[len(abilities.agents) // 2])]
    shown = examine(
        bank,
        matrix,
        stop=Stop(most=answer.needed or MOST_STEPS),
        agent=middle,
        rng=np.random.default_rng(study.seed),
    )
    method = (
        f"Simulated: {AGENTS} agents of this population on the fitted tasks, each asked the task with most "
        f"information about it. The errors count those of the fit: its {len(bank.landmarks):,} agents "
        f"leave an error of {three_digits(bank.least_error)} that no number of tasks removes. `examiner "
        f"examine` does it with a new agent."
    )
    chance = " So a place among them is chance, after any number of tasks."
    return Finding(
        lead=f"{study.not_shown}{chance}" if study.not_shown else "",
        blocks=(_figure(shown) if shown.steps else None, method, Notes(bank.notes)),
        answer=answer,
    )


def _simulated(bank: TaskBank, seed: int) -> NextExamination:
    """Tasks until the mean error comes near the least, asked in turn and at random."""
    most = min(len(bank), MOST_STEPS)
    errors = {}
    for rule in ("information", "random"):
        rng = np.random.default_rng(seed)
        theta = rng.choice(bank.nodes, size=AGENTS, p=np.exp(bank.log_prior))
        run = simulate(bank, theta, choosing=rule, stop=Stop(most=most), rng=rng)
        errors[rule] = np.sqrt((run.trace_error**2).mean(axis=0))
    least = float(errors["random" if len(bank) <= MOST_STEPS else "information"][-1])
    needed, at_random = (_first(trace, NEAR * least) for trace in errors.values())
    return NextExamination(needed, at_random, least, NEAR * least, len(bank), most)


def _first(errors: Floats, wanted: float) -> int | None:
    near = np.flatnonzero(errors <= wanted)
    return int(near[0]) + 1 if near.size else None


def _figure(examination: Examination) -> Figure:
    """The ability after each task, its 95 % interval as a band."""
    steps = examination.steps
    tasks, along = tuple(step.task for step in steps), np.arange(1.0, len(steps) + 1)
    share = np.array([step.value / step.trials for step in steps])
    expected, ability, low, high = (
        np.array([getattr(step, name) for step in steps])
        for name in ("expected", "ability", "ability_low", "ability_high")
    )
    names = labels(tasks, 20)
    details = [
        f"{name}: {value:.2f}, expected {wanted:.2f}"
        for name, value, wanted in zip(names, share, expected, strict=True)
    ]
    hover = "%{text}<br>ability %{y:.2f}"
    line = chart.line(along, ability, "ability", chart.MIDDLE, hover, mode="lines+markers")
    # Filled where the agent did better than was expected of it, hollow where worse.
    filled = [chart.MIDDLE if up else "#ffffff" for up in share >= expected]
    marker = {"size": 9, "color": filled, "line": {"width": 2, "color": chart.MIDDLE}}
    band = chart.band(along, low, high, "95 % interval", chart.MIDDLE)
    ticks = along if len(along) <= MOST_LABELS else along[:: len(along) // MOST_LABELS + 1]
    x = chart.axis(
        tickangle=-45 if len(ticks) <= 16 else -90,
        tickmode="array",
        tickvals=ticks.tolist(),
        ticktext=[names[int(tick) - 1] for tick in ticks],
    )
    traces = [band, line | {"marker": marker, "text": details}]
    return Figure(
        key="adaptive-trace",
        data={
            "tasks": tasks,
            "share": share,
            "expected": expected,
            "ability": ability,
            "ability_low": low,
            "ability_high": high,
        },
        drawing=chart.figure(traces, 300, x, chart.axis("ability"), top=60),
        caption=(
            f"How the ability of {named(examination.agent)}, an agent from the middle, closes in, had it "
            f"been asked task by task."
        ),
        description="A line of abilities after each task, with a band that narrows.",
        legend=(
            "The band is the 95 % interval; filled dots are answers better than expected. The agent was "
            "part of the fit, so that it shows the way, not the accuracy."
        ),
        narrowest=max(420, 80 + 11 * min(len(tasks), MOST_LABELS)),
    )
