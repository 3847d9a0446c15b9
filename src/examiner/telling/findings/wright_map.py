"""Wright map: agents and tasks on one scale, and where tasks are missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt import IRTFit
from examiner.telling.figures import chart
from examiner.telling.figures.chart import Floats
from examiner.telling.figures.labels import labels
from examiner.telling.finding import Figure, Finding, Text, noted
from examiner.telling.prose import Prose, three_digits
from examiner.telling.study import Study
from examiner.wording import counted

MOST_DRAWN = 400
LABEL_LIMIT = 60
STEP = 0.2
"""Dots nearer than this share a row and stand side by side."""
REACH = 4.5
"""Difficulties further out are drawn at the edge: few tasks lie there, and none exactly."""


def finding(study: Study) -> Finding:
    """Draw abilities beside difficulties, and say which agents no task is made for."""
    made = study.fitted
    blocks = (_figure(made.fit), Text(_how(made.fit, made.what)), *noted(made.fit.warnings))
    return Finding(lead=_lead(made.fit), blocks=blocks)


def _lead(fit: IRTFit) -> Prose:
    ability = fit.abilities.ability
    rising = fit.items.slope > 0
    difficulty = fit.items.difficulty[rising]
    tasks = counted(int(rising.sum()), "task")
    hard = int((difficulty > ability.max()).sum())
    easy = int((difficulty < ability.min()).sum())
    low, high = three_digits(float(ability.min())), three_digits(float(ability.max()))
    return (
        f"Abilities run from {low} to {high}; of {tasks} that reward the able, {hard:,} are harder than "
        f"the ablest agent is able, and {easy:,} easier than the least able."
    )


def _how(fit: IRTFit, what: str) -> Prose:
    agreeing = f"{fit.starts.agreeing} of {counted(len(fit.starts.objectives), 'start')} agree"
    return (
        f"{fit.model} of {what}, {fit.estimator}, log-likelihood {three_digits(fit.log_likelihood)}; "
        f"{fit.quadrature.kind}; {agreeing}. {fit.outcome.value} An agent has even chances on a task that "
        f"stands as high as it does."
    )


class WrightMapData(NamedTuple):
    """What the map draws; `shown` are difficulties drawn at the edge where they lie beyond it."""

    agents: tuple[str, ...]
    ability: Floats
    error: Floats
    tasks: tuple[str, ...]
    difficulty: Floats
    shown: Floats
    negative: NDArray[np.bool_]
    agent_place: Floats
    task_place: Floats
    low: float
    high: float


def data(
    agents: Sequence[str],
    ability: Floats,
    error: Floats,
    tasks: Sequence[str],
    difficulty: Floats,
    negative: NDArray[np.bool_],
) -> WrightMapData:
    """Prepare the map; dots of like height stand side by side.

    >>> one, two = np.array([0.0]), np.array([0.5, 90.0])
    >>> drawn = data(["a"], one, one, ["t", "u"], two, np.array([False, False]))
    >>> drawn.shown, drawn.task_place
    (array([0.5, 5. ]), array([1., 1.]))
    """
    known = ability[np.isfinite(ability)]
    end = max(REACH, float(np.abs(known).max(initial=0.0)) + 0.5) + 0.5
    shown = np.clip(difficulty, -end, end)
    places = -_stacked(ability), _stacked(shown)
    named = tuple(agents), ability, error, tuple(tasks)
    return WrightMapData(*named, difficulty, shown, negative, *places, -end, end)


def _stacked(heights: Floats) -> Floats:
    """1, 2, 3 … for dots that share a row, in the order of their height."""
    places = np.full(len(heights), np.nan)
    taken: dict[int, int] = {}
    for index in np.argsort(heights, kind="stable"):
        if np.isfinite(heights[index]):
            row = round(float(heights[index]) / STEP)
            taken[row] = taken.get(row, 0) + 1
            places[index] = taken[row]
    return places


def draw(data: WrightMapData) -> chart.Drawing:
    """Draw agents on the left, tasks on the right; crosses are tasks on which the able do worse.

    >>> one = np.array([0.0])
    >>> figure = draw(data(["a"], one, one, ["t"], one, np.array([False])))
    >>> [trace["name"] for trace in figure["data"]]
    ['agents', 'tasks']
    """
    names = labels(data.agents, LABEL_LIMIT)
    values = chart.compact(np.column_stack([data.ability, data.error]), 4)
    told = [[name, *pair] for name, pair in zip(names, values, strict=True)]
    hover = "%{customdata[0]}: %{customdata[1]} ± %{customdata[2]}"
    agents = chart.dots(
        data.agent_place, data.ability, "agents", chart.DOTS, hover, customdata=told
    )
    bars = {
        "type": "data",
        "array": chart.compact(np.nan_to_num(data.error)),
        "thickness": 1,
        "width": 0,
    }
    traces = [agents | {"error_y": bars | {"color": chart.DOTS + chart.LIGHT}}]
    names = labels(data.tasks, LABEL_LIMIT)
    for name, chosen, symbol in (
        ("tasks", ~data.negative, "square"),
        ("tasks, negative discrimination", data.negative, "x"),
    ):
        rows = np.flatnonzero(chosen & np.isfinite(data.shown))
        if len(rows):
            values = chart.compact(data.difficulty[rows], 4)
            told = [[names[row], value] for row, value in zip(rows, values, strict=True)]
            hover = "%{customdata[0]}: %{customdata[1]}"
            points = chart.dots(
                data.task_place[rows], data.shown[rows], name, chart.MEAN, hover, symbol=symbol
            )
            traces.append(points | {"customdata": told})
    left = float(max(np.nanmax(np.abs(data.agent_place), initial=3.0), 3.0))
    right = float(max(np.nanmax(data.task_place, initial=3.0), 3.0))
    x = chart.axis(
        range=[-left - 1, right + 1],
        tickmode="array",
        tickvals=[-left / 2, right / 2],
        ticktext=["agents", "tasks"],
        showgrid=False,
        zeroline=True,
    )
    y = chart.axis("ability and difficulty", range=[data.low - 0.3, data.high + 0.3])
    return chart.figure(traces, 560, x, y)


def _figure(fit: IRTFit) -> Figure:
    agents, tasks = _some(len(fit.abilities.agents)), _some(len(fit.items))
    drawn = data(
        [fit.abilities.agents[agent] for agent in agents],
        fit.abilities.ability[agents],
        fit.abilities.error[agents],
        [fit.items.tasks[task] for task in tasks],
        fit.items.difficulty[tasks],
        fit.items.slope[tasks] < 0,
    )
    beyond = int((np.abs(drawn.difficulty) > np.abs(drawn.high)).sum())
    edge = f" {counted(beyond, 'task')} beyond the edge stand at it." if beyond else ""
    all_drawn = len(agents) == len(fit.abilities.agents) and len(tasks) == len(fit.items)
    many = f" Of many, every so many are drawn: {len(agents):,} agents, {len(tasks):,} tasks."
    return Figure(
        key="wright-map",
        drawn=drawn,
        drawing=draw(drawn),
        caption="Agents on the left, the ablest on top; tasks on the right, the hardest on top.",
        description="Two columns of dots on one scale: abilities of agents, difficulties of tasks.",
        legend=f"Lines are one standard error of an ability.{edge}{'' if all_drawn else many}",
        narrowest=420,
    )


def _some(count: int) -> NDArray[np.intp]:
    return np.arange(0, count, max(1, -(-count // MOST_DRAWN)))
