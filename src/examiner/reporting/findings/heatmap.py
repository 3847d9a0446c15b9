"""Agents × tasks: every cell, to be hovered and sorted, and what the pattern says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from examiner.messages import counted
from examiner.reporting.figures import chart
from examiner.reporting.figures.stretch import Stretch, stretch_for
from examiner.reporting.finding import Figure, Finding, Grid, SortableAxis
from examiner.reporting.prose import enumerated, named, three_digits
from examiner.reporting.study import Study
from examiner.scores import shared_ranks
from examiner.validation import Floats

HOVER = (
    "%{y}<br>%{x}<br>comparable: %{customdata[1]:.3~g}<br>raw: %{customdata[0]:.4~g}"
    "<br>rank in task: %{customdata[2]}"
)


class TaskSummary(NamedTuple):
    """Each task over the agents observed on it; arrays of shape [tasks], NaN where none was."""

    mean: Floats
    spread: Floats
    low: Floats
    high: Floats


def finding(study: Study) -> Finding:
    """Show every agent on every task.

    >>> from examiner.results import Results
    >>> results = Results.from_numpy([[0.9, 1.0], [0.0, 0.2]], tasks=["pong", "venture"])
    >>> from examiner.reporting.prose import plain_text
    >>> plain_text(finding(Study.of(results)).lead)
    'Scores spread most on pong (from 0 to 0.9) and least on venture (from 0.2 to 1).'
    """
    tasks = _summary(study.comparable)
    if np.isnan(tasks.mean).all():
        return Finding(lead="No cell holds a comparable score, so there is nothing to draw.")
    left_out = int(np.isnan(tasks.mean).sum())
    hatched = f"{counted(left_out, 'task')} without any comparable score: hatched."
    blocks = (_figure(study, tasks), hatched if left_out else "")
    return Finding(lead=_lead(study, tasks), blocks=blocks)


def _summary(comparable: Floats) -> TaskSummary:
    observed = np.isfinite(comparable)
    count = observed.sum(axis=0)
    divisor = np.where(count > 0, count, np.nan)
    values = np.where(observed, comparable, 0.0)
    mean = values.sum(axis=0) / divisor
    spread = np.sqrt((np.where(observed, comparable - mean, 0.0) ** 2).sum(axis=0) / divisor)
    ends = np.fmin.reduce(comparable, axis=0), np.fmax.reduce(comparable, axis=0)
    return TaskSummary(mean, spread, *ends)


def _lead(study: Study, tasks: TaskSummary) -> str:
    several = len(study.results.agents) > 1 and np.isfinite(tasks.mean).sum() > 1
    if study.normaliser == "human" or (several and study.binary):
        return _reached(study, tasks)
    if several and not study.not_shown:
        if study.relative:
            return _winners(study)
        most, least = int(np.nanargmax(tasks.spread)), int(np.nanargmin(tasks.spread))
        if most != least:
            return (
                f"Scores spread most on {_range(study, tasks, most)} and least on "
                f"{_range(study, tasks, least)}."
            )
    return f"{_extremes(study, tasks)} {study.not_shown}".rstrip()


def _reached(study: Study, tasks: TaskSummary) -> str:
    """On how many tasks every agent, and none, reaches human level, or succeeds."""
    human, complete = study.normaliser == "human", np.isfinite(study.comparable)
    everywhere = complete.all(axis=0)
    if not human or not everywhere.any():
        everywhere = np.isfinite(tasks.mean)
    which = counted(int(everywhere.sum()), "task")
    if human and not complete.all():
        which = f"the {which} that all were observed on"
    reached = int((tasks.low[everywhere] >= 1.0).sum())
    names = np.array(study.results.tasks, dtype=object)
    missed = list(names[everywhere & (tasks.high < 1.0)])
    does, none = ("reaches human level on", "does on") if human else ("solves", "solves")
    listed = f" ({enumerated(missed, 5)})" if missed else ""
    if len(study.results.agents) == 1:
        agent = named(study.results.agents[0])
        return f"{agent} {does} {reached:,} of {which}, all but {len(missed):,}{listed}."
    return f"Every agent {does} {reached:,} of {which}, none {none} {len(missed):,}{listed}."


def _winners(study: Study) -> str:
    """Who is best on most tasks: where scores only compare agents, spread says nothing of a task."""
    wins = (task_ranks(study.comparable) == 1).sum(axis=1)
    first = [study.results.agents[agent] for agent in np.flatnonzero(wins == wins.max())]
    observed = int(np.isfinite(study.comparable).any(axis=0).sum())
    verb = "is best, or ties for it," if len(first) == 1 else "are best, or tie for it,"
    return (
        f"{enumerated(first, 3)} {verb} on {int(wins.max()):,} of {counted(observed, 'task')}, the most of "
        f"any agent; {int((wins > 0).sum()):,} of {counted(len(wins), 'agent')} are best on some task."
    )


def _range(study: Study, tasks: TaskSummary, task: int) -> str:
    low, high = three_digits(float(tasks.low[task])), three_digits(float(tasks.high[task]))
    ends = f"all {low}" if low == high else f"from {low} to {high}"
    return f"{named(study.results.tasks[task])} ({ends})"


def _extremes(study: Study, tasks: TaskSummary) -> str:
    """The easiest and the most difficult task."""
    values, whom = tasks.mean, "On average the highest scores are"
    if (study.relative and not study.not_shown) or len(study.results.agents) == 1:
        # The mean of a task says nothing where scores only compare agents: tell of the best agent.
        agent = int(study.order[0])
        values = study.comparable[agent]
        whom = f"{named(study.results.agents[agent])} is highest"
    low, high = int(np.nanargmin(values)), int(np.nanargmax(values))
    if values[low] == values[high]:
        return f"The mean is {three_digits(float(values[low]))} on every task."
    most, least = (
        f"{named(study.results.tasks[task])} ({three_digits(float(values[task]))})"
        for task in (high, low)
    )
    return f"{whom} on {most}, lowest on {least}."


def task_ranks(comparable: Floats) -> Floats:
    """Rank the agents on each task; shape [agents, tasks].

    >>> task_ranks(np.array([[1.0, np.nan], [3.0, 2.0]]))
    array([[ 2., nan],
           [ 1.,  1.]])
    """
    return np.column_stack([shared_ranks(column) for column in comparable.T])


def _figure(study: Study, tasks: TaskSummary) -> Figure:
    """Agents from top to bottom by rank, tasks from left to right by mean.

    Colours turn at the landmark of the scores, if there is one and values lie around it: where almost all
    lie on one side, half of the colours would be left unused.
    """
    rows = study.order[:200]
    by_mean, widest = (np.argsort(-part, kind="stable") for part in (tasks.mean, tasks.spread))
    columns = by_mean[np.isin(by_mean, widest[:400])]
    chosen = np.ix_(rows, columns)
    agents = tuple(study.results.agents[agent] for agent in rows)
    names = tuple(study.results.tasks[task] for task in columns)
    raw, comparable = study.raw[chosen], study.comparable[chosen]
    rank = task_ranks(study.comparable[:, columns])[rows]  # ties share the better rank
    observed = comparable[np.isfinite(comparable)]
    low, high = np.percentile(observed, (5.0, 95.0)).tolist() if len(observed) else (0.0, 1.0)
    centre = study.centre if study.centre is not None and low <= study.centre <= high else None
    axis = Stretch() if centre is None else stretch_for(comparable, centre)
    colour = colour_positions(comparable, low, high, centre, axis)
    marks = np.array(axis.ticks(low, high, room=0.1) or [low])
    bar = {
        **{"orientation": "h", "x": 0.0, "xanchor": "left", "y": 1.0, "yanchor": "bottom"},
        **{"lenmode": "pixels", "len": 300, "thickness": 10, "tickmode": "array"},
        "ticktext": [f"{mark:g}" for mark in marks],
        "tickvals": chart.compact(colour_positions(marks, low, high, centre, axis)),
    }
    lowest = 0 if centre is None else -1
    trace = chart.cells(colour, "diverging" if lowest else "sequential", HOVER)
    trace |= {"customdata": chart.compact(np.dstack([raw, comparable, rank]))}
    trace |= {"zmin": lowest, "zmax": 1, "colorbar": bar}
    tall = 20 if len(agents) <= 30 else min(12, 800 / len(agents))
    x = chart.names_axis(names, 24, tickfont={"size": 10}, tickangle=-90)
    letters = {"size": 12 if tall > 15 else 9}
    y = chart.names_axis(agents, 24, tickfont=letters, autorange="reversed")
    # Rows and columns stand in the order of rank and of mean already.
    rows_by = {"rank": list(range(len(agents))), "name": _alphabetical(agents)}
    columns_by = {
        "mean, easiest first": list(range(len(names))),
        "mean, hardest first": list(range(len(names)))[::-1],
        "spread, widest first": np.argsort(-tasks.spread[columns], kind="stable").tolist(),
        "name": _alphabetical(names),
    }
    score = study.measure if study.normaliser is None else f"{study.normaliser} score"
    return Figure(
        key="heatmap",
        data={
            "agents": agents,
            "tasks": names,
            "raw": raw,
            "comparable": comparable,
            "rank": rank,
            "colour": colour,
            "low": low,
            "high": high,
            "centre": centre,
        },
        drawing=chart.figure([trace], round(180 + tall * len(agents)), x, y, top=56),
        caption=_extremes(study, tasks),
        description="Heat map: agents are rows, tasks are columns, colour is the comparable score.",
        legend=_legend(study, comparable, (low, high), turns=centre is not None),
        narrowest=190 + 11 * len(columns) if len(columns) <= 80 else 480,
        grid=Grid(
            SortableAxis("agents", agents, rows_by),
            SortableAxis("tasks", names, columns_by),
            (f"raw {study.measure}", score, "rank in task"),
        ),
        rows="agents",
        columns="tasks",
    )


def _legend(study: Study, drawn: Floats, ends: tuple[float, float], *, turns: bool) -> str:
    parts = []
    if study.landmark is not None:
        level = f"{study.landmark.value:g} ({study.landmark.meaning})"
        beyond = f"Brighter is better; {level} lies beyond the colours."
        parts.append(f"White is {level}, blue is better, orange is worse." if turns else beyond)
    low, high = map(three_digits, ends)
    parts.append(
        f"Colours end at {low} and {high}, the 5th and 95th percentile of the cells drawn."
    )
    if np.isnan(drawn).any():
        parts.append("Hatched cells were not observed, or have no comparable score.")
    agents, tasks = len(study.results.agents), len(study.results.tasks)
    if agents > len(drawn):
        parts.append(f"Shown are the first {len(drawn)} of {agents:,} agents by rank.")
    if tasks > drawn.shape[1]:
        parts.append(
            f"Shown are the {drawn.shape[1]} of {tasks:,} tasks on which agents differ most."
        )
    return " ".join(parts)


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
