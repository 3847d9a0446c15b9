"""The next agent: how few tasks would place it, given one after another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from examiner.adaptive import Examination, Stop, TaskBank, examine, simulate
from examiner.reporting.figures import chart
from examiner.reporting.figures.chart import Floats
from examiner.reporting.finding import Figure, Finding, NothingToTellError, Text, noted
from examiner.reporting.next_examination import NextExamination
from examiner.reporting.prose import Name, Prose, Sentence, labels, three_digits
from examiner.reporting.study import Study
from examiner.results import ResponseMatrix, divided_sentence

AGENTS = 200
MOST_STEPS = 60
MOST_TASKS = 2_000
NEAR = 1.25
"""An ability is as good as known when its error is within a quarter of that after every task."""
MOST_LABELS, MOST_SLANTED = 34, 16


def finding(study: Study) -> Finding:
    """Say how many tasks an adaptive examination needs, and show one agent's."""
    made = study.fitted
    if len(made.fit.items) > MOST_TASKS:
        many = f"{len(made.fit.items):,} tasks are too many for a report: run `examiner examine`."
        raise NothingToTellError(many)
    if made.fit.groups:
        raise NothingToTellError(divided_sentence(made.fit.groups))
    if made.fit.items.response == "normal":
        raise NothingToTellError(
            "Examinations ask for successes or scores from 0 to 1, and these scores have no ends: say what "
            "a success is (`--success 1.0`)."
        )
    trials = int(np.median(made.matrix.trials)) if made.matrix.is_counts else 1
    bank = TaskBank.of(made.fit, trials=max(trials, 1))
    needed, alone, least = _needed(bank, study.seed)
    abilities = made.fit.abilities
    middle = abilities.agents[int(np.argsort(abilities.ability)[len(abilities.agents) // 2])]
    shown = _examined(bank, made.matrix, middle, study.seed, needed or MOST_STEPS)
    figure = (_figure(shown),) if shown.steps else ()
    blocks = (*figure, Text(_how(bank)), *noted(bank.notes))
    compared = min(len(bank), MOST_STEPS)
    answer = NextExamination(needed, alone, least, NEAR * least, len(bank), compared)
    lead: Prose = answer.headline
    if study.not_shown:
        lead = (
            Sentence(study.not_shown),
            " So a place among them is chance, after any number of tasks.",
        )
    return Finding(lead=lead, blocks=blocks, answer=answer)


def _needed(bank: TaskBank, seed: int) -> tuple[int | None, int | None, float]:
    """Tasks until the mean error comes near the least, asked in turn and at random; and the least."""
    most = min(len(bank), MOST_STEPS)
    chosen, random = (_mean_errors(bank, rule, seed, most) for rule in ("information", "random"))
    least = float(random[-1] if len(bank) <= MOST_STEPS else chosen[-1])
    return _first(chosen, NEAR * least), _first(random, NEAR * least), least


def _mean_errors(bank: TaskBank, rule: str, seed: int, most: int) -> Floats:
    rng = np.random.default_rng(seed)
    theta = rng.choice(bank.nodes, size=AGENTS, p=np.exp(bank.log_prior))
    run = simulate(bank, theta, choosing=rule, stop=Stop(most=most), rng=rng)
    return np.asarray(np.sqrt((run.trace_error**2).mean(axis=0)))


def _first(errors: Floats, wanted: float) -> int | None:
    near = np.flatnonzero(errors <= wanted)
    return int(near[0]) + 1 if near.size else None


def _how(bank: TaskBank) -> Prose:
    return (
        f"Simulated: {AGENTS} agents of this population on the fitted tasks, each asked the task with most "
        f"information about it. The errors count those of the fit: its "
        f"{len(bank.landmarks):,} agents leave an error of {three_digits(bank.least_error)} that no "
        f"number of tasks removes. `examiner examine` does it with a new agent."
    )


def _examined(
    bank: TaskBank, matrix: ResponseMatrix, agent: str, seed: int, most: int
) -> Examination:
    rng = np.random.default_rng(seed)
    return examine(bank, matrix, stop=Stop(most=most), agent=agent, rng=rng)


class AdaptiveTraceData(NamedTuple):
    """What the trace draws; arrays of shape [tasks given]. `landmarks` are abilities to compare with."""

    tasks: tuple[str, ...]
    share: Floats
    expected: Floats
    ability: Floats
    ability_low: Floats
    ability_high: Floats
    landmarks: Mapping[str, float]


def data(
    examination: Examination, landmarks: Mapping[str, float] | None = None
) -> AdaptiveTraceData:
    """Prepare the trace of an examination; `share` is the share of successes, or the score, of each task.

    >>> from examiner.irt import ItemParameters
    >>> items = ItemParameters.of(["pong", "qbert"], slope=[2, 1], difficulty=[0, 1])
    >>> last = examine(items, {"pong": 1, "qbert": 0}.get, rng=np.random.default_rng(0))
    >>> data(last).share
    array([1., 0.])
    """
    steps = examination.steps
    share = np.array([step.value / step.trials for step in steps])
    expected, ability, low, high = (
        np.array([getattr(step, name) for step in steps])
        for name in ("expected", "ability", "low", "high")
    )
    tasks = tuple(step.task for step in steps)
    return AdaptiveTraceData(tasks, share, expected, ability, low, high, dict(landmarks or {}))


def draw(data: AdaptiveTraceData) -> chart.Drawing:
    """Draw the ability after each task, its 95 % interval as a band, and the landmarks as lines.

    >>> nothing = np.zeros(1)
    >>> figure = draw(AdaptiveTraceData(("pong",), nothing, nothing, nothing, nothing - 1, nothing + 1, {}))
    >>> [trace["name"] for trace in figure["data"]]
    ['95 % interval', 'ability']
    """
    along = np.arange(1.0, len(data.tasks) + 1)
    names = labels(data.tasks, 20)
    told = [
        f"{name}: {share:.2f}, expected {expected:.2f}"
        for name, share, expected in zip(names, data.share, data.expected, strict=True)
    ]
    hover = "%{text}<br>ability %{y:.2f}"
    line = chart.line(along, data.ability, "ability", chart.MIDDLE, hover, mode="lines+markers")
    # Filled where the agent did better than was expected of it, hollow where worse.
    filled = [chart.MIDDLE if up else "#ffffff" for up in data.share >= data.expected]
    marker = {"size": 9, "color": filled, "line": {"width": 2, "color": chart.MIDDLE}}
    traces = [
        chart.band(along, data.ability_low, data.ability_high, "95 % interval", chart.MIDDLE),
        line | {"marker": marker, "text": told},
    ]
    ticks = along if len(along) <= MOST_LABELS else along[:: len(along) // MOST_LABELS + 1]
    texts = [names[int(tick) - 1] for tick in ticks]
    shown = {"tickmode": "array", "tickvals": ticks.tolist(), "ticktext": texts}
    levels = [chart.across(y=ability, colour=chart.BAR) for ability in data.landmarks.values()]
    above = {"xref": "paper", "x": 1, "xanchor": "right", "yanchor": "bottom", "showarrow": False}
    notes = [
        above | {"y": ability, "text": labels([name], 20)[0], "font": {"color": chart.MEAN}}
        for name, ability in data.landmarks.items()
    ]
    x = chart.axis(tickangle=-45 if len(ticks) <= MOST_SLANTED else -90, **shown)
    marks: chart.Part = {"shapes": levels, "annotations": notes}
    return chart.figure(traces, 300, x, chart.axis("ability"), top=60, **marks)


def _figure(shown: Examination) -> Figure:
    drawn = data(shown)
    return Figure(
        key="adaptive-trace",
        drawn=drawn,
        drawing=draw(drawn),
        caption=(
            "How the ability of ",
            Name(shown.agent),
            ", an agent from the middle, closes in, had it been asked task by task.",
        ),
        description="A line of abilities after each task, with a band that narrows.",
        legend=(
            "The band is the 95 % interval; filled dots are answers better than expected. The agent was "
            "part of the fit, so that it shows the way, not the accuracy."
        ),
        narrowest=max(420, 80 + 11 * min(len(drawn.tasks), MOST_LABELS)),
    )
