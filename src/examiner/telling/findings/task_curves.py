"""Task curves: the most and least difficult tasks, the most discriminating, and the negative ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from examiner.irt import EmpiricalTaskCurves, ItemParameters, TaskCurves, empirical_curves
from examiner.irt import curves as expected_curves
from examiner.telling.figures import chart
from examiner.telling.figures.chart import Floats
from examiner.telling.figures.labels import labels
from examiner.telling.finding import Figure, Finding
from examiner.telling.prose import Name, Prose, enumerated
from examiner.telling.study import Study
from examiner.wording import counted

EACH = 3
MOST_GREY = 150


def finding(study: Study) -> Finding:
    """Draw the curves that papers/002, Fig. 2, draws."""
    made = study.fitted
    fit = made.fit
    expected = expected_curves(fit)
    rows = [made.matrix.agents.index(agent) for agent in fit.abilities.agents]
    columns = [made.matrix.tasks.index(task) for task in fit.items.tasks]
    observed = empirical_curves(made.matrix.take(rows, columns), fit.abilities.ability)
    figures = tuple(
        _figure(key, tasks, words, expected, observed)
        for key, tasks, words in _groups(fit.items)
        if tasks
    )
    return Finding(lead=_lead(fit.items), blocks=figures)


def _groups(items: ItemParameters) -> tuple[tuple[str, list[int], str], ...]:
    difficulty, slope = items.difficulty, items.slope
    rising = np.flatnonzero((slope > 0) & np.isfinite(difficulty))
    by_difficulty = rising[np.argsort(difficulty[rising], kind="stable")]
    hard, easy = by_difficulty[::-1][:EACH].tolist(), by_difficulty[:EACH].tolist()
    easy = [task for task in easy if task not in hard]
    steep = rising[np.argsort(-slope[rising], kind="stable")][: 2 * EACH].tolist()
    falling = np.flatnonzero(slope < 0)
    negative = falling[np.argsort(slope[falling], kind="stable")].tolist()[: chart.MOST_LINES]
    return (
        ("task-curves-difficulty", [*hard, *easy], "The most and the least difficult"),
        ("task-curves-discrimination", steep, "The most discriminating"),
        ("task-curves-negative", negative, "Negative discrimination: the able do worse"),
    )


def _lead(items: ItemParameters) -> Prose:
    rising = np.flatnonzero((items.slope > 0) & np.isfinite(items.difficulty))
    negative = [items.tasks[task] for task in np.flatnonzero(items.slope < 0)]
    if not len(rising):
        return "No task rewards the able."
    hardest = Name(items.tasks[rising[items.difficulty[rising].argmax()]])
    steepest = Name(items.tasks[rising[items.slope[rising].argmax()]])
    start = (hardest, " is the most difficult task, ", steepest, " the most discriminating; ")
    if not negative:
        return (*start, "no task has negative discrimination.")
    verb = "has" if len(negative) == 1 else "have"
    return (*start, *enumerated(negative, 6), f" {verb} negative discrimination.")


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


def draw(data: TaskCurvesData) -> chart.Drawing:
    """Draw lines with bands; dots are groups of agents of like ability.

    >>> line = np.array([[0.2, 0.8]])
    >>> at = np.array([-1.0, 1.0])
    >>> figure = draw(TaskCurvesData(("<t>",), at, line, line - 0.1, line + 0.1, at, line, line))
    >>> [trace["name"] for trace in figure["data"]]
    ['other tasks', '&lt;t&gt;', '&lt;t&gt;', '&lt;t&gt;']
    """
    hover = "%{fullData.name}: %{y:.2f} at %{x:.2f}"
    traces = chart.greyed(data.ability, data.others, "other tasks")
    traces += chart.banded(data.tasks, data.ability, data.success, data.low, data.high, hover)
    hover = "agents near %{x:.2f}: %{y:.2f}"
    names = zip(labels(data.tasks, 32), chart.QUALITATIVE, strict=False)
    for task, (name, colour) in enumerate(names):
        points = chart.dots(data.group_ability, data.group_mean[task], name, colour, hover, size=6)
        points["marker"]["symbol"] = "circle-open"
        traces.append(points | {"showlegend": False, "legendgroup": str(task)})
    return chart.figure(
        traces, 400, chart.axis("ability"), chart.axis("expected result", range=[-0.02, 1.02])
    )


def _figure(
    key: str, tasks: Sequence[int], words: str, expected: TaskCurves, observed: EmpiricalTaskCurves
) -> Figure:
    chosen = np.asarray(tasks)
    others = np.setdiff1d(np.arange(len(expected.tasks)), chosen)
    # Of very many others, every so many are drawn.
    others = others[:: max(1, -(-len(others) // MOST_GREY))]
    names = tuple(expected.tasks[task] for task in tasks)
    data = TaskCurvesData(
        names,
        expected.ability,
        expected.success[chosen],
        expected.low[chosen],
        expected.high[chosen],
        observed.ability,
        observed.mean[chosen],
        expected.success[others],
    )
    return Figure(
        key=key,
        drawn=data,
        drawing=draw(data),
        caption=(f"{words}: ", *enumerated(names), "."),
        description=f"Curves of {counted(len(names), 'task')}: expected result over ability.",
        legend=(
            "Bands are 95 % intervals of the curve at each ability; circles are groups of agents of "
            "like ability. Other tasks are grey."
        ),
        narrowest=420,
    )
