"""Agents × tasks: every cell, to be hovered and sorted, and what the pattern says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from examiner.messages import counted
from examiner.reporting.figures import chart
from examiner.reporting.figures.chart import Floats
from examiner.reporting.figures.stretch import Stretch, stretch_for
from examiner.reporting.finding import Figure, Finding, Grid, Piece, Sides, SortableAxis, Text
from examiner.reporting.prose import Name, Parts, Prose, Sentence, enumerated, three_digits
from examiner.reporting.study import Study
from examiner.scores import shared_ranks

MOST_AGENTS, MOST_TASKS = 200, 400
MOST_PIXELS = 800
"""That the rows of many agents take together."""
ROBUST_PERCENTILES = (5.0, 95.0)
LABEL_LIMIT = 24
MOST_NAMED_TASKS, OVERVIEW = 80, 480
"""Tasks that get room for a name each; more are an overview, at least so many pixels wide."""
FEW_AGENTS = 30
HOVER = (
    "%{y}<br>%{x}<br>comparable: %{customdata[1]:.3~g}<br>raw: %{customdata[0]:.4~g}"
    "<br>rank in task: %{customdata[2]}"
)


def task_ranks(comparable: Floats) -> Floats:
    """Rank the agents on each task; shape [agents, tasks].

    >>> task_ranks(np.array([[1.0, np.nan], [3.0, 2.0]]))
    array([[ 2., nan],
           [ 1.,  1.]])
    """
    return np.column_stack([shared_ranks(column) for column in comparable.T])


class TaskSummary(NamedTuple):
    """Each task over the agents observed on it; arrays of shape [tasks], NaN where none was."""

    mean: Floats
    spread: Floats
    low: Floats
    high: Floats


def finding(study: Study) -> Finding:
    """Show every agent on every task.

    >>> from examiner.results import Results
    >>> from examiner.reporting.prose import said
    >>> results = Results.from_numpy([[0.9, 1.0], [0.0, 0.2]], tasks=["pong", "venture"])
    >>> said(finding(Study.of(results)).lead)
    'Scores spread most on pong (from 0 to 0.9) and least on venture (from 0.2 to 1).'
    """
    tasks = _summary(study.comparable)
    if np.isnan(tasks.mean).all():
        lead: Prose = ("No cell holds a comparable score, so there is nothing to draw.",)
        return Finding(lead=lead)
    blocks: list[Piece] = [_figure(study, tasks)]
    left_out = int(np.isnan(tasks.mean).sum())
    if left_out:
        blocks.append(Text(f"{counted(left_out, 'task')} without any comparable score: hatched."))
    return Finding(lead=_lead(study, tasks), blocks=tuple(blocks))


def _summary(comparable: Floats) -> TaskSummary:
    seen = np.isfinite(comparable)
    count = seen.sum(axis=0)
    some = np.where(count > 0, count, np.nan)
    held = np.where(seen, comparable, 0.0)
    mean = held.sum(axis=0) / some
    spread = np.sqrt((np.where(seen, comparable - mean, 0.0) ** 2).sum(axis=0) / some)
    ends = np.fmin.reduce(comparable, axis=0), np.fmax.reduce(comparable, axis=0)
    return TaskSummary(mean, spread, *ends)


def _lead(study: Study, tasks: TaskSummary) -> Prose:
    observed = int(np.isfinite(tasks.mean).sum())
    several = len(study.results.agents) > 1 and observed > 1
    if study.normaliser == "human":
        return _human_lead(study, tasks)
    if several and study.relative:
        return (Sentence(study.not_shown),) if study.not_shown else _winners(study)
    names = study.results.tasks
    if several and study.binary:
        return _solved(study, tasks)
    if several and not study.not_shown:
        most, least = int(np.nanargmax(tasks.spread)), int(np.nanargmin(tasks.spread))
        if most != least:
            return (
                *("Scores spread most on ", Name(names[most]), f" ({_range(tasks, most)})"),
                *(" and least on ", Name(names[least]), f" ({_range(tasks, least)})."),
            )
    high, low = int(np.nanargmax(tasks.mean)), int(np.nanargmin(tasks.mean))
    if observed == 1:
        return ("One task, ", Name(names[high]), f": {_range(tasks, high)}.")
    why = (" ", Sentence(study.not_shown)) if study.not_shown else ()
    if high == low:
        mean = three_digits(float(tasks.mean[high]))
        return (f"The mean is {mean} on all {counted(observed, 'task')}.", *why)
    if several:
        start = ("Scores are highest on ", Name(names[high]), ", lowest on ", Name(names[low]), ".")
        return (*start, *why)
    return ("Best on ", Name(names[high]), ", worst on ", Name(names[low]), ".")


def _solved(study: Study, tasks: TaskSummary) -> Prose:
    """How many tasks everyone or no one solves: of zeros and ones every other range is the same."""
    observed = int(np.isfinite(tasks.mean).sum())
    everyone, no_one = int((tasks.low == 1).sum()), int((tasks.high == 0).sum())
    start = f"Of {counted(observed, 'task')} every agent solves {everyone:,} and none {no_one:,}"
    if everyone + no_one == observed:
        return f"{start}."
    middle = int(np.nanargmin(np.abs(tasks.mean - 0.5)))
    best = f" divides them most evenly ({100 * tasks.mean[middle]:.0f} % solve it)."
    return (f"{start}; ", Name(study.results.tasks[middle]), best)


def _human_lead(study: Study, tasks: TaskSummary) -> Prose:
    everywhere = np.isfinite(study.comparable).all(axis=0)
    if not everywhere.any():
        everywhere = np.isfinite(tasks.mean)
    observed = counted(int(everywhere.sum()), "task")
    reached = int((tasks.low[everywhere] >= 1.0).sum())
    names = np.array(study.results.tasks, dtype=object)
    missed = list(names[everywhere & (tasks.high < 1.0)])
    listed: Parts = (" (", *enumerated(missed, 5), ").") if missed else (".",)
    if len(study.results.agents) == 1:
        told = (
            f" reaches human level on {reached:,} of {observed}, and misses it on {len(missed):,}"
        )
        return (Name(study.results.agents[0]), told, *listed)
    complete = bool(np.isfinite(study.comparable).all())
    which = observed if complete else f"the {observed} that all were observed on"
    start = (
        f"Every agent reaches human level on {reached:,} of {which}, none does on {len(missed):,}"
    )
    if not reached:
        start = f"On no task does every agent reach human level; on {len(missed):,} of {which} none does"
    return (start, *listed)


def _winners(study: Study) -> Prose:
    """Who is best on most tasks: where scores only compare agents, spread says nothing of a task."""
    wins = (task_ranks(study.comparable) == 1).sum(axis=1)
    first = [study.results.agents[agent] for agent in np.flatnonzero(wins == wins.max())]
    observed = int(np.isfinite(study.comparable).any(axis=0).sum())
    verb = " is best, or ties for it," if len(first) == 1 else " are best, or tie for it,"
    return (
        *enumerated(first, 3),
        f"{verb} on {int(wins.max()):,} of {counted(observed, 'task')}, the most of any agent; "
        f"{int((wins > 0).sum()):,} of {counted(len(wins), 'agent')} are best on some task.",
    )


def _range(tasks: TaskSummary, task: int) -> str:
    low, high = three_digits(float(tasks.low[task])), three_digits(float(tasks.high[task]))
    return f"all {low}" if low == high else f"from {low} to {high}"


class HeatmapData(NamedTuple):
    """What the heat map draws; arrays of shape [agents, tasks], NaN where nothing was observed."""

    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    raw: Floats
    comparable: Floats
    rank: Floats  # 1 is the best agent of the task; ties share the better rank
    colour: Floats  # -1 … 1 around a centre, 0 … 1 without one
    low: float  # values beyond low and high have the colours of the ends
    high: float
    centre: float | None


def data(
    agents: Sequence[str],
    tasks: Sequence[str],
    raw: Floats,
    comparable: Floats,
    rank: Floats,
    centre: float | None = None,
) -> HeatmapData:
    """Prepare a heat map; colours turn at the centre, if there is one and values lie around it.

    Where almost all lie on one side, turning there would leave half of the colours unused.

    >>> scores = np.array([[0.0, 1.0], [3.0, np.nan]])
    >>> data(["a", "b"], ["t", "u"], scores, scores, scores, centre=1.0).colour.round(2)
    array([[-1.,  0.],
           [ 1., nan]])
    """
    seen = comparable[np.isfinite(comparable)]
    ends = np.percentile(seen, ROBUST_PERCENTILES) if len(seen) else np.array([0.0, 1.0])
    low, high = float(ends[0]), float(ends[1])
    if centre is not None and not low <= centre <= high:
        centre = None
    colour = colour_positions(comparable, low, high, centre, _axis(comparable, centre))
    named = tuple(agents), tuple(tasks)
    return HeatmapData(*named, raw, comparable, rank, colour, low, high, centre)


def colour_positions(
    values: Floats, low: float, high: float, centre: float | None, axis: Stretch
) -> Floats:
    """Place values on the colour scale, those beyond its ends at the ends.

    Around a centre each side has its own length: random play is as far below 1.0 as a colour can
    be, and so is the best score above it.

    >>> colour_positions(np.array([0.0, 1.0, 9.0]), 0.5, 3.0, 1.0, Stretch(1.0))
    array([-1.,  0.,  1.])
    """
    if centre is None:
        if not high > low:
            return np.where(np.isnan(values), np.nan, 0.5)
        return (np.clip(values, low, high) - low) / (high - low)
    start, end, middle = axis.positions(np.array([low, high, centre])).tolist()
    below, above = middle - start, end - middle
    longest = max(below, above)
    if longest <= 0:
        return np.where(np.isnan(values), np.nan, 0.0)
    # A side that only a few values lie on has no length of its own and borrows the other's.
    below, above = (side if side > 0 else longest for side in (below, above))
    distance = axis.positions(values) - middle
    scaled: Floats = np.where(distance < 0, distance / below, distance / above)
    return np.clip(scaled, -1.0, 1.0)


def draw(data: HeatmapData) -> chart.Drawing:
    """Draw the heat map: agents from top to bottom and tasks from left to right, in the order given.

    >>> scores = np.array([[0.0, 1.0]])
    >>> figure = draw(data(["a"], ["<t>", "2020-01-01"], scores, scores, scores))
    >>> figure["layout"]["xaxis"]["ticktext"]
    ['&lt;t&gt;', '2020-01-01']
    """
    wide = 20 if len(data.agents) <= FEW_AGENTS else min(12, MOST_PIXELS / len(data.agents))
    kind, lowest = ("sequential", 0) if data.centre is None else ("diverging", -1)
    told = chart.compact(np.dstack([data.raw, data.comparable, data.rank]))
    bar = {"zmin": lowest, "zmax": 1, "colorbar": _colour_bar(data)}
    trace = chart.cells(data.colour, kind, HOVER, customdata=told, **bar)  # type: ignore[arg-type]
    x = chart.names_axis(data.tasks, LABEL_LIMIT, tickfont={"size": 10}, tickangle=-90)
    size = {"size": 12 if wide > 15 else 9}
    y = chart.names_axis(data.agents, LABEL_LIMIT, tickfont=size, autorange="reversed")
    return chart.figure([trace], round(180 + wide * len(data.agents)), x, y, top=56)


def _colour_bar(data: HeatmapData) -> chart.Part:
    axis = _axis(data.comparable, data.centre)
    marks = np.array(axis.ticks(data.low, data.high, room=0.1) or [data.low])
    positions = colour_positions(marks, data.low, data.high, data.centre, axis)
    above = {"orientation": "h", "x": 0.0, "xanchor": "left", "y": 1.0, "yanchor": "bottom"}
    ticks = {"tickmode": "array", "tickvals": chart.compact(positions)}
    texts = [f"{mark:g}" for mark in marks]
    return above | {"lenmode": "pixels", "len": 300, "thickness": 10, "ticktext": texts} | ticks


def _axis(values: Floats, centre: float | None) -> Stretch:
    return Stretch() if centre is None else stretch_for(values, centre)


def _figure(study: Study, tasks: TaskSummary) -> Figure:
    rows = study.order[:MOST_AGENTS]
    by_mean = np.argsort(-tasks.mean, kind="stable")  # NaN comes last
    columns = by_mean
    if len(by_mean) > MOST_TASKS:
        widest = np.argsort(-tasks.spread, kind="stable")[:MOST_TASKS]
        columns = by_mean[np.isin(by_mean, widest)]
    chosen = np.ix_(rows, columns)
    drawn = data(
        [study.results.agents[agent] for agent in rows],
        [study.results.tasks[task] for task in columns],
        study.raw[chosen],
        study.comparable[chosen],
        task_ranks(study.comparable[:, columns])[rows],
        study.centre,
    )
    return Figure(
        key="heatmap",
        drawn=drawn,
        drawing=draw(drawn),
        caption=_caption(study, tasks),
        description="Heat map: agents are rows, tasks are columns, colour is the comparable score.",
        legend=_legend(study, drawn),
        narrowest=190 + 11 * len(columns) if len(columns) <= MOST_NAMED_TASKS else OVERVIEW,
        grid=_grid(study, drawn, tasks.spread[columns]),
        sides=Sides("agents", "tasks"),
    )


def _grid(study: Study, drawn: HeatmapData, spread: Floats) -> Grid:
    # Rows and columns stand in the order of rank and of mean already.
    agents, tasks = list(range(len(drawn.agents))), list(range(len(drawn.tasks)))
    rows = {"rank": agents, "name": _alphabetical(drawn.agents)}
    columns = {
        "mean, easiest first": tasks,
        "mean, hardest first": tasks[::-1],
        "spread, widest first": np.argsort(-spread, kind="stable").tolist(),
        "name": _alphabetical(drawn.tasks),
    }
    comparable = study.measure if study.normaliser is None else f"{study.normaliser} score"
    return Grid(
        SortableAxis("agents", drawn.agents, rows),
        SortableAxis("tasks", drawn.tasks, columns),
        (f"raw {study.measure}", comparable, "rank in task"),
    )


def _caption(study: Study, tasks: TaskSummary) -> Prose:
    names, values = study.results.tasks, tasks.mean
    whom: Parts = ("On average the highest scores are",)
    if (study.relative and not study.not_shown) or len(study.results.agents) == 1:
        # The mean of a task says nothing where scores only compare agents: tell of the best agent.
        agent = int(study.order[0])
        values, whom = study.comparable[agent], (Name(study.results.agents[agent]), " is highest")
    low, high = int(np.nanargmin(values)), int(np.nanargmax(values))
    if low == high:
        return ("Every agent on ", Name(names[low]), ".")
    most, least = (f" ({three_digits(float(values[task]))})" for task in (high, low))
    return (*whom, " on ", Name(names[high]), f"{most}, lowest on ", Name(names[low]), f"{least}.")


def _legend(study: Study, drawn: HeatmapData) -> Prose:
    ends = f"{three_digits(drawn.low)} and {three_digits(drawn.high)}"
    parts = [f"Colours end at {ends}, the 5th and 95th percentile of the cells drawn."]
    if study.landmark is not None:
        level = f"{study.landmark.value:g} ({study.landmark.meaning})"
        turns = f"White is {level}, blue is better, orange is worse."
        beyond = f"Brighter is better; {level} lies beyond the colours."
        parts.insert(0, turns if drawn.centre is not None else beyond)
    if np.isnan(drawn.comparable).any():
        parts.append("Hatched cells were not observed, or have no comparable score.")
    agents, tasks = len(study.results.agents), len(study.results.tasks)
    if agents > len(drawn.agents):
        parts.append(f"Shown are the first {len(drawn.agents)} of {agents:,} agents by rank.")
    if tasks > len(drawn.tasks):
        parts.append(
            f"Shown are the {len(drawn.tasks)} of {tasks:,} tasks on which agents differ most."
        )
    return " ".join(parts)


def _alphabetical(names: Sequence[str]) -> list[int]:
    """Positions in the order of the names, letter case aside and numbers by size."""
    return sorted(range(len(names)), key=lambda index: (_natural(names[index]), names[index]))


def _natural(name: str) -> list[tuple[int, int, str]]:
    parts = re.split(r"([0-9]{1,18})", name.casefold()[:200])
    return [
        (0, int(part), "") if part.isascii() and part.isdigit() else (1, 0, part)
        for part in parts
        if part
    ]
