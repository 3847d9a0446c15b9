"""Tasks of a fit: on one scale with the agents, where some are missing, and their curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt import (
    EmpiricalCurves,
    ExpectedCurves,
    IRTFit,
    empirical_curves,
    landmark_reached,
    slope_verdicts,
)
from examiner.irt import curves as expected_curves
from examiner.messages import counted
from examiner.reporting.figures import chart
from examiner.reporting.figures.chart import Floats
from examiner.reporting.finding import Figure, Finding, Text, noted
from examiner.reporting.prose import Name, Parts, Prose, enumerated, labels, three_digits
from examiner.reporting.study import Study
from examiner.results import ResponseMatrix, divided_sentence

MOST_DRAWN = 400
LABEL_LIMIT = 60
STEP = 0.2
"""Dots nearer than this share a row and stand side by side."""
REACH = 4.5
"""Difficulties further out are drawn at the edge: few tasks lie there, and none exactly."""
EACH = 3
MOST_GREY = 40


def wright_map(study: Study) -> Finding:
    """Draw abilities beside difficulties, and say which agents no task is made for."""
    made = study.fitted
    blocks = (_map_figure(made.fit), Text(_how(made.fit, made.what)), *noted(made.fit.notes))
    return Finding(lead=_map_lead(made.fit), blocks=blocks)


def _map_lead(fit: IRTFit) -> Prose:
    if fit.groups:
        return f"{divided_sentence(fit.groups)} Each group has a scale of its own."
    if fit.evidence is not None and not fit.evidence.abilities_differ:
        return fit.evidence.sentences()[0]
    ability = fit.abilities.ability
    rising = fit.items.slope > 0
    difficulty = fit.items.difficulty[rising]
    tasks = counted(int(rising.sum()), "task")
    hard = int((difficulty > ability.max()).sum())
    easy = int((difficulty < ability.min()).sum())
    are = "is" if hard == 1 else "are"
    low, high = three_digits(float(ability.min())), three_digits(float(ability.max()))
    return (
        f"Abilities run from {low} to {high}; of {tasks} with a positive slope, {hard:,} {are} harder than "
        f"the highest ability, and {easy:,} easier than the lowest."
    )


def _how(fit: IRTFit, what: str) -> Prose:
    agreeing = f"{fit.starts.agreeing} of {counted(len(fit.starts.objectives), 'start')} agree"
    meaning = "An agent has even chances on a task that stands as high as it does."
    if fit.items.landmark is not None:
        meaning = (
            f"An agent is expected to score {fit.items.landmark[0]:g}, the landmark, on a task that stands "
            f"as high as it does; curves are the chance of reaching it."
        )
    return (
        f"{fit.model} of {what}, {fit.estimator}, log-likelihood {three_digits(fit.log_likelihood)}; "
        f"{fit.quadrature.kind}; {agreeing}. {fit.outcome.value} {meaning}"
    )


class WrightMapData(NamedTuple):
    """What the map draws from -`end` to `end`; `shown` are difficulties, those beyond it at the edge."""

    agents: tuple[str, ...]
    ability: Floats
    error: Floats
    tasks: tuple[str, ...]
    difficulty: Floats
    shown: Floats
    negative: NDArray[np.bool_]
    agent_place: Floats
    task_place: Floats
    end: float


def map_data(
    agents: Sequence[str],
    ability: Floats,
    error: Floats,
    tasks: Sequence[str],
    difficulty: Floats,
    negative: NDArray[np.bool_],
) -> WrightMapData:
    """Prepare the map; dots of like height stand side by side.

    >>> one, two = np.array([0.0]), np.array([0.5, 90.0])
    >>> drawn = map_data(["a"], one, one, ["t", "u"], two, np.array([False, False]))
    >>> drawn.shown, drawn.task_place
    (array([0.5, 5. ]), array([1., 1.]))
    """
    known = ability[np.isfinite(ability)]
    end = max(REACH, float(np.abs(known).max(initial=0.0)) + 0.5) + 0.5
    shown = np.clip(difficulty, -end, end)
    places = -_stacked(ability), _stacked(shown)
    named = tuple(agents), ability, error, tuple(tasks)
    return WrightMapData(*named, difficulty, shown, negative, *places, end)


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


def draw_map(data: WrightMapData) -> chart.Drawing:
    """Draw agents on the left, tasks on the right; crosses are tasks with negative discrimination.

    >>> one = np.array([0.0])
    >>> figure = draw_map(map_data(["a"], one, one, ["t"], one, np.array([False])))
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
    bars = chart.error_bars(np.nan_to_num(data.error), chart.DOTS + chart.LIGHT)
    traces = [agents | {"error_y": bars} | chart.linked("agents", data.agents)]
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
            named = chart.linked("tasks", [data.tasks[row] for row in rows])
            traces.append(points | {"customdata": told} | named)
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
    y = chart.axis("ability and difficulty", range=[-data.end - 0.3, data.end + 0.3])
    return chart.figure(traces, 340, x, y)


def _map_figure(fit: IRTFit) -> Figure:
    agents, tasks = _some(len(fit.abilities.agents)), _some(len(fit.items))
    drawn = map_data(
        [fit.abilities.agents[agent] for agent in agents],
        fit.abilities.ability[agents],
        fit.abilities.error[agents],
        [fit.items.tasks[task] for task in tasks],
        fit.items.difficulty[tasks],
        slope_verdicts(fit).falling[tasks]
        if fit.errors is not None
        else fit.items.slope[tasks] < 0,
    )
    beyond = int((np.abs(drawn.difficulty) > drawn.end).sum())
    edge = f" {counted(beyond, 'task')} beyond the edge are drawn on it." if beyond else ""
    all_drawn = len(agents) == len(fit.abilities.agents) and len(tasks) == len(fit.items)
    many = f" An even sample is drawn: {len(agents):,} agents, {len(tasks):,} tasks."
    return Figure(
        key="wright-map",
        drawn=drawn,
        drawing=draw_map(drawn),
        caption="Agents on the left, the highest estimate on top; tasks on the right, the hardest on top.",
        description="Two columns of dots on one scale: abilities of agents, difficulties of tasks.",
        legend=f"Lines are one standard error of an ability.{edge}{'' if all_drawn else many}",
        narrowest=420,
    )


def _some(count: int) -> NDArray[np.intp]:
    return np.arange(0, count, max(1, -(-count // MOST_DRAWN)))


def task_curves(study: Study) -> Finding:
    """Draw the curves that papers/002, Fig. 2, draws."""
    made = study.fitted
    fit = made.fit
    expected = expected_curves(fit)
    rows = [made.matrix.agents.index(agent) for agent in fit.abilities.agents]
    columns = [made.matrix.tasks.index(task) for task in fit.items.tasks]
    shown = made.matrix.take(rows, columns)
    if fit.items.landmark is not None:
        shown = ResponseMatrix.from_array(
            landmark_reached(fit.items, shown.to_numpy()), shown.agents, shown.tasks
        )
    observed = empirical_curves(shown, fit.abilities.ability)
    figures = tuple(
        _curves_figure(key, tasks, words, expected, observed)
        for key, tasks, words in _groups(fit)
        if tasks
    )
    return Finding(lead=_curves_lead(fit), blocks=figures)


def _groups(fit: IRTFit) -> tuple[tuple[str, list[int], str], ...]:
    difficulty, slope, seen = fit.items.difficulty, fit.items.slope, slope_verdicts(fit)
    rising = np.flatnonzero((slope > 0) & np.isfinite(difficulty))
    by_difficulty = rising[np.argsort(difficulty[rising], kind="stable")]
    hard, easy = by_difficulty[::-1][:EACH].tolist(), by_difficulty[:EACH].tolist()
    easy = [task for task in easy if task not in hard]
    steeper = np.flatnonzero(seen.steeper)
    steep = steeper[np.argsort(-slope[steeper], kind="stable")][: 2 * EACH].tolist()
    falling = np.flatnonzero(seen.falling)
    negative = falling[np.argsort(slope[falling], kind="stable")].tolist()[: chart.MOST_LINES]
    return (
        ("task-curves-difficulty", [*hard, *easy], "The most and the least difficult"),
        ("task-curves-discrimination", steep, "More discriminating than tasks are on average"),
        ("task-curves-negative", negative, "Negative discrimination: weaker agents do better"),
    )


def _curves_lead(fit: IRTFit) -> Prose:
    if fit.evidence is not None and not fit.evidence.abilities_differ:
        return f"No task has significantly positive discrimination. {fit.evidence.sentences()[0]}"
    items, seen = fit.items, slope_verdicts(fit)
    rising = np.flatnonzero((items.slope > 0) & np.isfinite(items.difficulty))
    if not len(rising):
        return "No task has positive discrimination."
    hardest = Name(items.tasks[rising[items.difficulty[rising].argmax()]])
    start = (hardest, " has the highest difficulty; ")
    steeper = [items.tasks[task] for task in np.flatnonzero(seen.steeper)]
    negative = [items.tasks[task] for task in np.flatnonzero(seen.falling)]
    more: Parts = ("no task discriminates significantly more than others",)
    if steeper:
        verb = "discriminates" if len(steeper) == 1 else "discriminate"
        more = (*enumerated(steeper, 6), f" {verb} significantly more than tasks do on average")
    if not negative:
        return (*start, *more, "; none has significantly negative discrimination.")
    verb = "has" if len(negative) == 1 else "have"
    return (*start, *more, "; ", *enumerated(negative, 6), f" {verb} negative discrimination.")


class TaskCurvesData(NamedTuple):
    """Curves [tasks, abilities] of the tasks in colour, what was observed of them, and the others."""

    tasks: tuple[str, ...]
    ability: Floats
    success: Floats
    low: Floats
    high: Floats
    group_ability: Floats
    group_mean: Floats
    others: Floats


def draw_curves(data: TaskCurvesData) -> chart.Drawing:
    """Draw lines with bands; dots are groups of agents of like ability.

    >>> line = np.array([[0.2, 0.8]])
    >>> at = np.array([-1.0, 1.0])
    >>> figure = draw_curves(TaskCurvesData(("<t>",), at, line, line - 0.1, line + 0.1, at, line, line))
    >>> [trace["name"] for trace in figure["data"]]
    ['other tasks', '&lt;t&gt;', '&lt;t&gt;', '&lt;t&gt;']
    """
    hover = "%{fullData.name}: %{y:.2f} at %{x:.2f}"
    traces = chart.greyed(data.ability, data.others, "other tasks")
    traces += chart.banded(
        data.tasks, data.ability, data.success, data.low, data.high, hover, of="tasks"
    )
    hover = "agents near %{x:.2f}: %{y:.2f}"
    names = zip(labels(data.tasks, chart.LEGEND_LETTERS), chart.QUALITATIVE, strict=False)
    for task, (name, colour) in enumerate(names):
        points = chart.dots(data.group_ability, data.group_mean[task], name, colour, hover, size=6)
        points["marker"]["symbol"] = "circle-open"
        group = {"showlegend": False, "legendgroup": str(task)}
        traces.append(points | group | chart.linked("tasks", data.tasks[task]))
    return chart.figure(
        traces, 300, chart.axis("ability"), chart.axis("expected result", range=[-0.02, 1.02])
    )


def _curves_figure(
    key: str, tasks: Sequence[int], words: str, expected: ExpectedCurves, observed: EmpiricalCurves
) -> Figure:
    chosen = np.asarray(tasks)
    others = np.setdiff1d(np.arange(len(expected.names)), chosen)
    # Of very many others, every so many are drawn.
    others = others[:: max(1, -(-len(others) // MOST_GREY))]
    names = tuple(expected.names[task] for task in tasks)
    data = TaskCurvesData(
        names,
        expected.at,
        expected.success[chosen],
        expected.low[chosen],
        expected.high[chosen],
        observed.at,
        observed.mean[chosen],
        expected.success[others],
    )
    return Figure(
        key=key,
        drawn=data,
        drawing=draw_curves(data),
        caption=(f"{words}: ", *enumerated(names), "."),
        description=f"Curves of {counted(len(names), 'task')}: expected result over ability.",
        legend=(
            "Bands are 95 % intervals of the curve at each ability; circles are groups of agents of "
            "like ability. Other tasks are grey."
        ),
        narrowest=420,
    )
