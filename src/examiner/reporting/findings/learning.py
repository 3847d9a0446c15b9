"""Learning curves over time: an aggregate over tasks with bands, every run task by task, who is quick."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from examiner.answers import Column, Table
from examiner.messages import InputError, counted
from examiner.reporting.figures import chart
from examiner.reporting.figures.panels import Panel, panelled
from examiner.reporting.finding import Block, Figure, Finding, Notes, ShownTable, shown_table
from examiner.reporting.prose import labels, three_digits
from examiner.reporting.study import Study
from examiner.scores import (
    AGGREGATES,
    ONE_FUNCTION,
    EfficiencyCurves,
    TaskLearningCurves,
    efficiency,
    learners_of,
    task_curves,
)
from examiner.validation import Floats

MOST_PANELS = 8
"""Tasks drawn on a page; figures in files may be of all."""


class CurveOptions(NamedTuple):
    """How curves are drawn: over how many episodes, on which axis, which threshold, how many tasks."""

    last: int | None = None
    log_axis: bool = False
    threshold: float | None = None
    panels: int | None = MOST_PANELS


def finding(study: Study) -> Finding:
    """Draw the learning curves of a training log, as it is and made comparable."""
    return render_learning_curves(study, CurveOptions())


def render_learning_curves(study: Study, wanted: CurveOptions) -> Finding:
    """Follow agents over the time of training, together and task by task.

    >>> log = {"agent": ["a"] * 4, "task": ["t"] * 4, "run": [0, 0, 1, 1], "trial": [0, 1, 0, 1],
    ...        "frames": [10, 20, 10, 20], "score": [0.0, 0.5, 0.25, 0.75]}
    >>> from examiner.results import Provenance, Results
    >>> study = Study.of(Results.from_dict(log, provenance=Provenance(training=True)))
    >>> blocks = render_learning_curves(study, CurveOptions()).blocks
    >>> [block.key for block in blocks if isinstance(block, Figure)]
    ['learning-curves', 'learning-curves-tasks']
    """
    assert study.training is not None, "the table says that it is needed"
    blocks: list[Block] = []
    lead, notes = "Every run is drawn over the time of its task.", []
    answer: EfficiencyCurves | None = None
    try:
        answer = _aggregated(study, wanted)
        lead = study.none_better or answer.headline
        if not study.none_better and len(answer.agent_names) < len(study.results.agents):
            lead = f"Of {counted(len(answer.agent_names), 'agent')} that learn, {lead}"
        threshold = _threshold(answer, study, wanted)
        blocks += [_meaning(answer, study, wanted), _aggregate(answer, study, wanted)]
        blocks.append(_reached(answer, threshold))
        notes += [*study.curve_scale.notes, *answer.notes]
        answer = replace(answer, score_unit=study.curve_scale.unit)
    except InputError as problem:
        answer = None
        blocks.append(f"No aggregate over time is drawn: {problem}")
    runs = task_curves(study.training, study.measure, last=wanted.last)
    blocks.append(_tasks(runs, study, wanted))
    earlier = set(study.training.notes)
    added = [note for note in dict.fromkeys((*notes, *runs.notes)) if note not in earlier]
    return Finding(lead=lead, blocks=(*blocks, Notes(added)), answer=answer)


def _aggregated(study: Study, wanted: CurveOptions) -> EfficiencyCurves:
    shown = study.resampled
    log, _ = learners_of(study.curve_scale.log)  # the best of all may be others
    drawn = [agent for agent in shown.agents if agent in log.agents][: chart.MOST_LINES]
    chosen = np.isin(np.array(log.agents), np.array(drawn))
    log = log.where(chosen[log.agent_codes])
    return efficiency(log, rng=study.seed, measure=study.measure, normalise=None, last=wanted.last)


def _meaning(curves: EfficiencyCurves, study: Study, wanted: CurveOptions) -> str:
    window = (
        "its last checkpoint, or the mean of its episodes since the time before"
        if wanted.last is None
        else f"the mean of its last {counted(wanted.last, 'row')} by then"
    )
    return (
        f"At each of {len(curves.frames):,} common times a run counts with {window}. The "
        f"{AGGREGATES[curves.aggregate].title} is over the runs that exist at that time on "
        f"{counted(len(study.results.tasks), 'task')}, of {study.curve_scale.unit}. Bands are 95 % over "
        f"other {curves.how.unit} of these, at each time by itself."
    )


def _threshold(curves: EfficiencyCurves, study: Study, wanted: CurveOptions) -> float:
    """What was asked for; else the landmark where somebody reaches it, else the end of the second best."""
    if wanted.threshold is not None:
        return wanted.threshold
    ended = np.flatnonzero(curves.ends >= 0)
    finals = np.sort(curves.value[ended, curves.ends[ended]])
    landmark = study.centre if study.normaliser in ONE_FUNCTION else None
    if landmark is not None and len(finals) and finals[-1] >= landmark:
        return landmark
    return float(finals[-2:][0]) if len(finals) else np.nan


def _reached(curves: EfficiencyCurves, threshold: float) -> ShownTable:
    """Agents at the end of training, and when each first reached a value: those that were quick first."""
    times, value = curves.reached(threshold), three_digits(threshold)
    first = f"{curves.time_unit} to {value}"
    table: Table = curves.agents
    for name, meaning, title, at in (
        ("reached", "First common time at or above it", first, times.at),
        ("earliest", "Where the upper end of the band is", "earliest", times.earliest),
        ("latest", "Where the lower end of the band is", "latest", times.latest),
    ):
        column = Column(name, "count", meaning, curves.time_unit, title)
        table = table.with_column(column, np.round(at))
    columns = ["agent", "value", "time", "runs", "all_runs", "reached", "earliest", "latest"]
    caption = f"Sample efficiency: who first reaches {value}"
    return shown_table(table.sorted_by("reached"), columns, caption)


def _time_axis(unit: str, log_axis: bool) -> chart.Part:
    kind = {"type": "log"} if log_axis else {"rangemode": "tozero"}
    return chart.axis(unit, **kind)


def _drawn_agents(names: Sequence[str], study: Study) -> list[int]:
    """Rows of the agents that are drawn, best first."""
    ranked = [names.index(agent) for agent in study.resampled.agents if agent in names]
    return [*ranked, *(row for row in range(len(names)) if row not in ranked)][: chart.MOST_LINES]


def _aggregate(curves: EfficiencyCurves, study: Study, wanted: CurveOptions) -> Figure:
    """One line an agent over its band, with the number of runs that exist at each time."""
    rows, unit = _drawn_agents(curves.agent_names, study), curves.time_unit
    agents = tuple(curves.agent_names[row] for row in rows)
    value, low, high = (part[rows] for part in (curves.value, curves.low, curves.high))
    runs = curves.runs[rows]
    hover = f"%{{fullData.name}}: %{{y:.3~g}} at %{{x:.3~s}} {unit}, %{{customdata}} runs"
    lines = chart.banded(agents, curves.frames, value, low, high, hover, of="agents")
    row_of = {label: row for row, label in enumerate(labels(agents, chart.LEGEND_LETTERS))}
    for line in lines:
        if "hovertemplate" in line:
            line["customdata"] = runs[row_of[line["name"]]].tolist()
    title = f"{AGGREGATES[curves.aggregate].title} of {study.curve_axis}"
    total = len(study.resampled.results.agents)
    x, y = _time_axis(unit, wanted.log_axis), chart.axis(title)
    first = f"The best {len(agents)} of {total:,} agents are drawn."
    return Figure(
        key="learning-curves",
        data={
            "agents": agents,
            "times": curves.frames,
            "value": value,
            "low": low,
            "high": high,
            "runs": runs,
            "aggregate": curves.aggregate,
            "unit": unit,
        },
        drawing=chart.figure(lines, 360, x, y),
        caption=f"{title[0].upper()}{title[1:]} over {unit}, with 95 % bands.",
        description="One line an agent over the time of training, with its band.",
        legend=first if total > len(agents) else "",
        narrowest=360,
    )


def _tasks(curves: TaskLearningCurves, study: Study, wanted: CurveOptions) -> Figure:
    """A panel a task: runs in grey, and the mean of each agent in its colour."""
    rows = _drawn_agents(curves.agent_names, study)
    agents = tuple(curves.agent_names[row] for row in rows)
    tasks = curves.task_names[: wanted.panels]
    times = curves.times[: len(tasks)]
    mean, counts = (part[rows, : len(tasks)] for part in (curves.mean, curves.runs))
    drawn = np.flatnonzero(np.isin(curves.agent, rows) & (curves.task < len(tasks)))
    agent_of, task_of, runs = curves.agent[drawn], curves.task[drawn], curves.values[drawn]
    names = labels(agents, 28)
    panels = []
    for task, title in enumerate(tasks):
        lines = runs[task_of == task][:200]  # more are one grey area
        connected = np.array([_connected(times[task], run) for run in lines])
        grey = chart.greyed(times[task], connected.reshape(len(lines), -1), "runs")
        traces = [trace | {"showlegend": task == 0} for trace in grey]
        for agent, label in enumerate(names):
            observed = ~np.isnan(mean[agent, task])
            if observed.any():
                at, values = times[task, observed], mean[agent, task, observed]
                hover = f"{label}: %{{y:.3~g}}, %{{customdata}} runs"
                line = chart.line(at, values, label, chart.QUALITATIVE[agent], hover)
                line["customdata"] = counts[agent, task, observed].tolist()
                group = {"legendgroup": str(agent), "showlegend": task == 0}
                traces.append(line | group | chart.linked("agents", agents[agent]))
        panels.append(Panel(title, [trace | {"connectgaps": False} for trace in traces]))
    total = len(curves.task_names)
    first = f" The first {len(tasks):,} of {total:,} tasks are drawn."
    x, y = _time_axis(curves.unit, wanted.log_axis), chart.axis(f"{study.measure} (raw)")
    return Figure(
        key="learning-curves-tasks",
        data={
            "agents": agents,
            "tasks": tasks,
            "unit": curves.unit,
            "times": times,
            "agent": tuple(rows.index(agent) for agent in agent_of.tolist()),
            "task": tuple(task_of.tolist()),
            "runs": runs,
            "mean": mean,
            "counts": counts,
        },
        drawing=panelled(panels, x, y),
        caption=f"Every run in grey, and the mean of each agent, over {curves.unit}.",
        description="One panel a task: grey lines of runs and coloured lines of agents' means.",
        legend=(
            "The mean is over the runs that exist at a time; scores are raw."
            f"{first if len(tasks) < total else ''}"
        ),
        narrowest=720,
    )


def _connected(times: Floats, values: Floats) -> Floats:
    """The values of a run with straight lines between its own times, where others have more."""
    observed = ~np.isnan(values)
    if not observed.any():
        return values
    inside = (times >= times[observed][0]) & (times <= times[observed][-1])
    return np.where(inside, np.interp(times, times[observed], values[observed]), np.nan)
