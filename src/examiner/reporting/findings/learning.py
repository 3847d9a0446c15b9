"""Learning curves over time: an aggregate over tasks with bands, every run task by task, who is quick."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Column, Table
from examiner.messages import InputError, counted
from examiner.reporting.figures import chart
from examiner.reporting.figures.chart import Floats
from examiner.reporting.figures.panels import Panel, panelled
from examiner.reporting.finding import Figure, Finding, Piece, ShownTable, Text, noted, shown_table
from examiner.reporting.prose import Name, Prose, Sentence, labels, parts_of, three_digits
from examiner.reporting.study import ONE_FUNCTION, Study
from examiner.scores import (
    AGGREGATES,
    EfficiencyCurves,
    TaskLearningCurves,
    efficiency,
    learners_of,
    task_curves,
)

Counts = NDArray[np.int64]
MOST_PANELS = 8
"""Tasks drawn on a page; figures in files may be of all."""
MOST_RUNS = 200
"""Grey lines in a panel."""
"""Resamples for a band of 25 points: enough for a picture."""


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
    blocks: list[Piece] = []
    lead: Prose = "Every run is drawn over the time of its task."
    notes: list[str] = []
    answer: EfficiencyCurves | None = None
    try:
        made = _aggregated(study, wanted)
        lead = (Sentence(study.none_better),) if study.none_better else _lead(made)
        if not study.none_better and len(made.agent_names) < len(study.results.agents):
            learners = f"Of {counted(len(made.agent_names), 'agent')} that learn, "
            lead = (learners, *parts_of(lead))
        blocks += [Text(_meaning(made, study, wanted)), _aggregate(made, study, wanted)]
        blocks.append(_reached(made, _threshold(made, study, wanted)))
        notes += (*study.curve_scale.notes, *made.notes)
        made = replace(made, score_unit=study.curve_scale.unit)
        answer = made
    except InputError as problem:
        blocks.append(Text(("No aggregate over time is drawn: ", Sentence(str(problem)))))
    runs = task_curves(study.training, study.measure, last=wanted.last)
    blocks.append(_tasks(runs, study, wanted))
    said_already = set(study.training.notes)
    told = [note for note in dict.fromkeys((*notes, *runs.notes)) if note not in said_already]
    return Finding(lead=lead, blocks=(*blocks, *noted(told)), answer=answer)


def _aggregated(study: Study, wanted: CurveOptions) -> EfficiencyCurves:
    shown = study.resampled
    log, _ = learners_of(study.curve_scale.log)  # the best of all may be others
    drawn = [agent for agent in shown.agents if agent in log.agents][: chart.MOST_LINES]
    chosen = np.isin(np.array(log.agents), np.array(drawn))
    log = log.where(chosen[log.agent_codes])
    return efficiency(log, rng=study.seed, measure=study.measure, last=wanted.last)


def _finals(made: EfficiencyCurves) -> Floats:
    """The last value of each agent; NaN where it has none."""
    return np.where(made.ends < 0, np.nan, made.value[np.arange(len(made.agent_names)), made.ends])


def _lead(made: EfficiencyCurves) -> Prose:
    finals = _finals(made)
    if np.isnan(finals).all():
        return "No time of training is covered by the runs of any agent."
    best = int(np.nanargmax(finals))
    title = AGGREGATES[made.aggregate].title
    end = float(made.frames[made.ends[best]])
    told = f" ends highest by {title}: {three_digits(float(finals[best]))} at {end:,.0f} {made.time_unit}."
    return (Name(made.agent_names[best]), told)


def _meaning(made: EfficiencyCurves, study: Study, wanted: CurveOptions) -> Prose:
    window = (
        "its last checkpoint, or the mean of its episodes since the time before"
        if wanted.last is None
        else f"the mean of its last {counted(wanted.last, 'row')} by then"
    )
    return (
        f"At each of {len(made.frames):,} common times a run counts with {window}. The "
        f"{AGGREGATES[made.aggregate].title} is over the runs that exist at that time on "
        f"{counted(len(study.results.tasks), 'task')}, of ",
        Sentence(study.curve_scale.unit),
        f". Bands are 95 % over other {made.how.unit} of these, at each time by itself.",
    )


def _threshold(made: EfficiencyCurves, study: Study, wanted: CurveOptions) -> float:
    """What was asked for; else the landmark where somebody reaches it, else the end of the second best."""
    if wanted.threshold is not None:
        return wanted.threshold
    finals = np.sort(_finals(made)[~np.isnan(_finals(made))])
    landmark = study.centre if study.normaliser in ONE_FUNCTION else None
    if landmark is not None and len(finals) and finals[-1] >= landmark:
        return landmark
    return float(finals[-2] if len(finals) > 1 else finals[-1]) if len(finals) else np.nan


def _reached(made: EfficiencyCurves, threshold: float) -> ShownTable:
    """Agents at the end of training, and when each first reached a value: those that were quick first."""
    found, value = made.reached(threshold), three_digits(threshold)
    times = (
        ("reached", "First common time at or above it", f"{made.time_unit} to {value}", found.at),
        ("earliest", "Where the upper end of the band is", "earliest", found.earliest),
        ("latest", "Where the lower end of the band is", "latest", found.latest),
    )
    table: Table = made.agents
    for name, meaning, title, at in times:
        column = Column(name, "count", meaning, made.time_unit, title)
        table = table.with_column(column, np.round(at))
    columns = ["agent", "value", "time", "runs", "all_runs", "reached", "earliest", "latest"]
    caption = f"Sample efficiency: who first reaches {value}"
    return shown_table(table.sorted_by("reached"), columns, caption)


class LearningData(NamedTuple):
    """What the lines draw; arrays of shape [agents, times], NaN where a line or its band ends.

    `runs` counts the runs that exist at each time.
    """

    agents: tuple[str, ...]
    times: Floats
    value: Floats
    low: Floats
    high: Floats
    runs: Counts
    aggregate: str
    unit: str


def draw_aggregate(data: LearningData, title: str, *, log_axis: bool = False) -> chart.Drawing:
    """Draw one line an agent over its band.

    >>> edge = np.array([[0.0, 1.0]])
    >>> runs = np.ones((1, 2), dtype=int)
    >>> drawn = LearningData(("a",), np.array([1.0, 2.0]), edge, edge, edge, runs, "iqm", "frames")
    >>> draw_aggregate(drawn, "score")["layout"]["xaxis"]["title"]["text"]
    'frames'
    """
    hover = f"%{{fullData.name}}: %{{y:.3~g}} at %{{x:.3~s}} {data.unit}, %{{customdata}} runs"
    lines = chart.banded(
        data.agents, data.times, data.value, data.low, data.high, hover, of="agents"
    )
    row_of = {label: row for row, label in enumerate(labels(data.agents, chart.LEGEND_LETTERS))}
    for line in lines:
        if "hovertemplate" in line:
            line["customdata"] = data.runs[row_of[line["name"]]].tolist()
    return chart.figure(lines, 360, _time_axis(data.unit, log_axis), chart.axis(title))


def _time_axis(unit: str, log_axis: bool, **more: object) -> chart.Part:
    kind = {"type": "log"} if log_axis else {"rangemode": "tozero"}
    return chart.axis(unit, **kind, **more)


def _aggregate(made: EfficiencyCurves, study: Study, wanted: CurveOptions) -> Figure:
    order = [
        made.agent_names.index(agent)
        for agent in study.resampled.agents
        if agent in made.agent_names
    ]
    value, low, high = (part[order] for part in (made.value, made.low, made.high))
    agents = tuple(made.agent_names[row] for row in order)
    lines = agents, made.frames, value, low, high
    data = LearningData(*lines, made.runs[order], made.aggregate, made.time_unit)
    title = f"{AGGREGATES[made.aggregate].title} of {study.curve_axis}"
    rest = len(study.resampled.results.agents) - len(agents)
    return Figure(
        key="learning-curves",
        drawn=data,
        drawing=draw_aggregate(data, title, log_axis=wanted.log_axis),
        caption=f"{title[0].upper()}{title[1:]} over {made.time_unit}, with 95 % bands.",
        description="One line an agent over the time of training, with its band.",
        legend=f"The best {len(agents)} of {len(agents) + rest:,} agents are drawn."
        if rest > 0
        else "",
        narrowest=360,
    )


class TaskLearningData(NamedTuple):
    """What the panels draw; `agent` and `task` are positions of each run.

    `times` has shape [tasks, points], `runs` [runs, points], `mean` and `counts`, the number of runs that
    exist, [agents, tasks, points].
    """

    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    unit: str
    times: Floats
    agent: tuple[int, ...]
    task: tuple[int, ...]
    runs: Floats
    mean: Floats
    counts: Counts


def draw_tasks(data: TaskLearningData, title: str, *, log_axis: bool = False) -> chart.Drawing:
    """Draw a panel a task: runs in grey, and the mean of each agent in its colour.

    >>> edge = np.array([[0.0, 1.0]])
    >>> one = np.ones((1, 1, 2), dtype=int)
    >>> data = TaskLearningData(("a",), ("t",), "frames", edge, (0,), (0,), edge, edge[None], one)
    >>> [trace["name"] for trace in draw_tasks(data, "score")["data"]]
    ['runs', 'a']
    """
    panels = []
    for task, name in enumerate(data.tasks):
        rows = np.flatnonzero(np.array(data.task) == task)[:MOST_RUNS]
        lines = np.array([_connected(data.times[task], run) for run in data.runs[rows]])
        grey = chart.greyed(data.times[task], lines.reshape(len(rows), -1), "runs")
        traces = [trace | {"showlegend": task == 0} for trace in grey]
        for agent, label in enumerate(labels(data.agents, 28)[: chart.MOST_LINES]):
            known = ~np.isnan(data.mean[agent, task])
            if known.any():
                colour = chart.QUALITATIVE[agent]
                hover = f"{label}: %{{y:.3~g}}, %{{customdata}} runs"
                times, mean = data.times[task, known], data.mean[agent, task, known]
                line = chart.line(times, mean, label, colour, hover)
                line["customdata"] = data.counts[agent, task, known].tolist()
                group = {"legendgroup": str(agent), "showlegend": task == 0}
                traces.append(line | group | chart.linked("agents", data.agents[agent]))
        panels.append(Panel(name, [trace | {"connectgaps": False} for trace in traces]))
    return panelled(panels, _time_axis(data.unit, log_axis), chart.axis(title))


def _connected(times: Floats, values: Floats) -> Floats:
    """The values of a run with straight lines between its own times, where others have more."""
    known = ~np.isnan(values)
    if not known.any():
        return values
    inside = (times >= times[known][0]) & (times <= times[known][-1])
    return np.where(inside, np.interp(times, times[known], values[known]), np.nan)


def _tasks(made: TaskLearningCurves, study: Study, wanted: CurveOptions) -> Figure:
    agents = _drawn_agents(made, study)
    drawn = tasks_drawn(made, agents, range(len(made.task_names))[: wanted.panels])
    total, shown = len(made.task_names), len(drawn.tasks)
    rest = f" The first {shown:,} of {total:,} tasks are drawn." if shown < total else ""
    return Figure(
        key="learning-curves-tasks",
        drawn=drawn,
        drawing=draw_tasks(drawn, f"{study.measure} (raw)", log_axis=wanted.log_axis),
        caption=f"Every run in grey, and the mean of each agent, over {made.unit}.",
        description="One panel a task: grey lines of runs and coloured lines of agents' means.",
        legend=f"The mean is over the runs that exist at a time; scores are raw.{rest}",
        narrowest=720,
    )


def _drawn_agents(made: TaskLearningCurves, study: Study) -> list[int]:
    ranked = [
        made.agent_names.index(agent)
        for agent in study.resampled.agents
        if agent in made.agent_names
    ]
    others = [row for row in range(len(made.agent_names)) if row not in ranked]
    return (ranked + others)[: chart.MOST_LINES]


def tasks_drawn(
    made: TaskLearningCurves, agents: Sequence[int], tasks: Sequence[int]
) -> TaskLearningData:
    """Choose the agents and tasks that are drawn.

    >>> log = {"agent": ["a"] * 2, "task": ["t"] * 2, "run": [0, 0], "frames": [10, 20], "score": [0, 2]}
    >>> from examiner.results import Results
    >>> made = task_curves(Results.from_dict(log | {"trial": [0, 1]}), points=2)
    >>> tasks_drawn(made, [0], [0]).runs
    array([[0., 2.]])
    """
    kept = np.flatnonzero(np.isin(made.agent, agents) & np.isin(made.task, list(tasks)))
    agent_of = {agent: row for row, agent in enumerate(agents)}
    task_of = {task: row for row, task in enumerate(tasks)}
    return TaskLearningData(
        agents=tuple(made.agent_names[agent] for agent in agents),
        tasks=tuple(made.task_names[task] for task in tasks),
        unit=made.unit,
        times=made.times[list(tasks)],
        agent=tuple(agent_of[agent] for agent in made.agent[kept].tolist()),
        task=tuple(task_of[task] for task in made.task[kept].tolist()),
        runs=made.values[kept],
        mean=made.mean[np.ix_(list(agents), list(tasks))],
        counts=made.runs[np.ix_(list(agents), list(tasks))],
    )
