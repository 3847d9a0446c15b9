"""Agents × tasks: every cell, to be hovered and sorted, and what the pattern says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.telling.figures import heatmap as picture
from examiner.telling.finding import (
    Block,
    Figure,
    Finding,
    Grid,
    Name,
    Prose,
    SortableAxis,
    Text,
    enumerated,
)
from examiner.telling.numbers import three_digits
from examiner.telling.ranks import task_ranks
from examiner.telling.study import Study
from examiner.wording import counted

MOST_AGENTS = 200
MOST_TASKS = 400
"""Normalisers that only compare agents with each other: every task is then as wide as any other."""


class TaskSummary(NamedTuple):
    """Each task over the agents observed on it; arrays of shape [tasks], NaN where none was."""

    mean: NDArray[np.float64]
    spread: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def heatmap(study: Study) -> Finding:
    """Show every agent on every task.

    >>> from examiner.results import Results
    >>> from examiner.telling.finding import said
    >>> results = Results.from_numpy([[0.5, 1.0], [0.0, 0.9]], tasks=["pong", "venture"])
    >>> said(heatmap(Study.of(results)).lead)
    'Agents differ most on pong (from 0 to 0.5) and least on venture (from 0.9 to 1).'
    """
    tasks = _summary(study.comparable)
    if np.isnan(tasks.mean).all():
        lead: Prose = ("No cell holds a comparable score, so there is nothing to draw.",)
        return Finding("heatmap", "Agents × tasks", lead)
    blocks: list[Block] = [_figure(study, tasks)]
    left_out = int(np.isnan(tasks.mean).sum())
    if left_out:
        blocks.append(
            Text((f"{counted(left_out, 'task')} without any comparable score: hatched.",))
        )
    return Finding("heatmap", "Agents × tasks", _lead(study, tasks), tuple(blocks))


def _summary(comparable: NDArray[np.float64]) -> TaskSummary:
    seen = np.isfinite(comparable)
    count = seen.sum(axis=0)
    some = np.where(count > 0, count, np.nan)
    held = np.where(seen, comparable, 0.0)
    mean = held.sum(axis=0) / some
    spread = np.sqrt((np.where(seen, comparable - mean, 0.0) ** 2).sum(axis=0) / some)
    return TaskSummary(
        mean, spread, np.fmin.reduce(comparable, axis=0), np.fmax.reduce(comparable, axis=0)
    )


def _lead(study: Study, tasks: TaskSummary) -> Prose:
    several = len(study.results.agents) > 1 and int(np.isfinite(tasks.mean).sum()) > 1
    if study.normaliser == "human":
        return _human_lead(study, tasks)
    if several and study.relative:
        return _winners(study)
    names = study.results.tasks
    if several and study.binary:
        return _solved(study, tasks)
    if several:
        most, least = int(np.nanargmax(tasks.spread)), int(np.nanargmin(tasks.spread))
        return (
            *("Agents differ most on ", Name(names[most]), " (", *_range(tasks, most)),
            *(") and least on ", Name(names[least]), " (", *_range(tasks, least), ")."),
        )
    high, low = int(np.nanargmax(tasks.mean)), int(np.nanargmin(tasks.mean))
    if high == low:
        return ("One task, ", Name(names[high]), ": ", *_range(tasks, high), ".")
    return ("Best on ", Name(names[high]), ", worst on ", Name(names[low]), ".")


def _solved(study: Study, tasks: TaskSummary) -> Prose:
    """How many tasks everyone or no one solves: of zeros and ones every other range is the same."""
    observed = np.isfinite(tasks.mean)
    everyone, no_one = int((tasks.low == 1).sum()), int((tasks.high == 0).sum())
    middle = int(np.nanargmin(np.abs(tasks.mean - 0.5)))
    share = f"{tasks.mean[middle]:.0%}".replace("%", " %")
    start = f"Of {counted(int(observed.sum()), 'task')} every agent solves {everyone:,} and none {no_one:,}"
    if everyone + no_one == int(observed.sum()):
        return (f"{start}.",)
    return (
        f"{start}; ",
        Name(study.results.tasks[middle]),
        f" divides them best ({share} solve it).",
    )


def _human_lead(study: Study, tasks: TaskSummary) -> Prose:
    everywhere = np.isfinite(study.comparable).all(axis=0)
    if not everywhere.any():
        everywhere = np.isfinite(tasks.mean)
    observed = counted(int(everywhere.sum()), "task")
    reached = int((tasks.low[everywhere] >= 1.0).sum())
    names = np.array(study.results.tasks, dtype=object)
    missed = list(names[everywhere & (tasks.high < 1.0)])
    listed: Prose = (" (", *enumerated(missed, 5), ")") if missed else ()
    if len(study.results.agents) == 1:
        agent = Name(study.results.agents[0])
        said = (
            f" reaches human level on {reached:,} of {observed}, and misses it on {len(missed):,}"
        )
        return (agent, said, *listed, ".")
    complete = bool(np.isfinite(study.comparable).all())
    which = observed if complete else f"the {observed} that all were observed on"
    said = (
        f"Every agent reaches human level on {reached:,} of {which}, none does on {len(missed):,}"
    )
    return (said, *listed, ".")


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


def _range(tasks: TaskSummary, task: int) -> Prose:
    low, high = three_digits(float(tasks.low[task])), three_digits(float(tasks.high[task]))
    return (f"all {low}" if low == high else f"from {low} to {high}",)


def _figure(study: Study, tasks: TaskSummary) -> Figure:
    rows = study.order[:MOST_AGENTS]
    by_mean = np.argsort(-tasks.mean, kind="stable")  # NaN comes last
    columns = by_mean
    if len(by_mean) > MOST_TASKS:
        widest = np.argsort(-np.nan_to_num(tasks.spread, nan=-1.0), kind="stable")[:MOST_TASKS]
        columns = by_mean[np.isin(by_mean, widest)]
    chosen = np.ix_(rows, columns)
    centre = study.landmark.value if study.landmark else None
    data = picture.data(
        [study.results.agents[agent] for agent in rows],
        [study.results.tasks[task] for task in columns],
        study.raw[chosen],
        study.comparable[chosen],
        task_ranks(study.comparable[:, columns])[rows],
        centre,
    )
    return Figure(
        key="heatmap",
        data=data._asdict(),
        drawing=picture.draw(data),
        caption=_caption(study, tasks),
        description="Heat map: agents are rows, tasks are columns, colour is the comparable score.",
        legend=_legend(study, data),
        narrowest=190 + 11 * len(columns),
        grid=_grid(study, data, tasks.spread[columns]),
    )


def _grid(study: Study, data: picture.HeatmapData, spread: NDArray[np.float64]) -> Grid:
    # Rows and columns stand in the order of rank and of mean already.
    as_drawn = list(range(len(data.agents)))
    rows = {"rank": as_drawn, "name": _alphabetical(data.agents)}
    columns: dict[str, Sequence[int]] = {
        "mean, easiest first": list(range(len(data.tasks))),
        "mean, hardest first": list(range(len(data.tasks)))[::-1],
        "spread, widest first": np.argsort(-spread, kind="stable").tolist(),
        "name": _alphabetical(data.tasks),
    }
    comparable = study.measure if study.normaliser is None else f"{study.normaliser} score"
    return Grid(
        SortableAxis("agents", data.agents, rows),
        SortableAxis("tasks", data.tasks, columns),
        (f"raw {study.measure}", comparable, "rank in task"),
    )


def _caption(study: Study, tasks: TaskSummary) -> Prose:
    names, values = study.results.tasks, tasks.mean
    whom: Prose = ("On average the highest scores are",)
    if study.relative or len(study.results.agents) == 1:
        # The mean of a task says nothing where scores only compare agents: tell of the best agent.
        agent = int(study.order[0])
        values, whom = study.comparable[agent], (Name(study.results.agents[agent]), " is highest")
    low, high = int(np.nanargmin(values)), int(np.nanargmax(values))
    if low == high:
        return ("Every agent on ", Name(names[low]), ".")
    ends = [f" ({three_digits(float(values[place]))})" for place in (high, low)]
    return (
        *whom,
        " on ",
        Name(names[high]),
        ends[0],
        ", lowest on ",
        Name(names[low]),
        ends[1],
        ".",
    )


def _legend(study: Study, data: picture.HeatmapData) -> Prose:
    ends = f"{three_digits(data.low)} and {three_digits(data.high)}"
    parts = [f"Colours end at {ends}, the 5th and 95th percentile of the cells drawn."]
    if study.landmark is not None:
        level = f"{study.landmark.value:g} ({study.landmark.meaning})"
        turns = f"White is {level}, blue is better, orange is worse."
        beyond = f"Brighter is better; {level} lies beyond the colours."
        parts.insert(0, turns if data.centre is not None else beyond)
    if np.isnan(data.comparable).any():
        parts.append("Hatched cells were not observed, or have no comparable score.")
    agents, tasks = len(study.results.agents), len(study.results.tasks)
    if agents > len(data.agents):
        parts.append(f"Shown are the first {len(data.agents)} of {agents:,} agents by rank.")
    if tasks > len(data.tasks):
        parts.append(
            f"Shown are the {len(data.tasks)} of {tasks:,} tasks on which agents differ most."
        )
    return (" ".join(parts),)


def _alphabetical(names: Sequence[str]) -> list[int]:
    """Positions in the order of the names, letter case aside and numbers by size."""
    return sorted(range(len(names)), key=lambda place: (_natural(names[place]), names[place]))


def _natural(name: str) -> list[tuple[int, int, str]]:
    parts = re.split(r"([0-9]{1,18})", name.casefold()[:200])
    return [
        (0, int(part), "") if part.isascii() and part.isdigit() else (1, 0, part)
        for part in parts
        if part
    ]
