"""Tasks of a fit: on one scale with the agents, where some are missing, and their curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

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
from examiner.reporting.ability_scale import Fitted
from examiner.reporting.figures import chart
from examiner.reporting.finding import Figure, Finding, Notes
from examiner.reporting.prose import enumerated, labels, named, three_digits
from examiner.reporting.study import Study
from examiner.results import ResponseMatrix, divided_sentence
from examiner.validation import Floats


def wright_map(study: Study) -> Finding:
    """Draw abilities next to difficulties, and say which agents no task is made for."""
    fitted = study.fitted
    blocks = (_map_figure(fitted.fit), _method(fitted), Notes(fitted.fit.notes))
    return Finding(lead=_map_lead(fitted.fit), blocks=blocks)


def _map_lead(fit: IRTFit) -> str:
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


def _method(fitted: Fitted) -> str:
    fit = fitted.fit
    agreeing = f"{fit.starts.agreeing} of {counted(len(fit.starts.objectives), 'start')} agree"
    meaning = "An agent has even chances on a task that stands as high as it does."
    if fit.items.landmark is not None:
        meaning = (
            f"An agent is expected to score {fit.items.landmark[0]:g}, the landmark, on a task that stands "
            f"as high as it does; curves are the chance of reaching it."
        )
    return (
        f"{fit.model} of {fitted.what}, {fit.estimator}, log-likelihood "
        f"{three_digits(fit.log_likelihood)}; {fit.quadrature.kind}; {agreeing}. {fit.outcome.value} "
        f"{meaning}"
    )


def _map_figure(fit: IRTFit) -> Figure:
    """Agents on the left, tasks on the right; crosses are tasks with negative discrimination."""
    # Of very many, every so many are drawn.
    agents, tasks = (
        np.arange(0, count, max(1, -(-count // 400)))
        for count in (len(fit.abilities.agents), len(fit.items))
    )
    ability, error = fit.abilities.ability[agents], fit.abilities.error[agents]
    difficulty = fit.items.difficulty[tasks]
    falling = fit.items.slope < 0 if fit.errors is None else slope_verdicts(fit).falling
    negative = falling[tasks]
    # Few tasks are further out than the agents and ±4.5, and none is estimated precisely there.
    finite = ability[np.isfinite(ability)]
    end = max(4.5, float(np.abs(finite).max(initial=0.0)) + 0.5) + 0.5
    shown = np.clip(difficulty, -end, end)
    agent_place, task_place = -_stacked(ability), _stacked(shown)
    agent_names = [fit.abilities.agents[row] for row in agents]
    task_names = [fit.items.tasks[row] for row in tasks]

    pairs = chart.compact(np.column_stack([ability, error]), 4)
    details = [[name, *pair] for name, pair in zip(labels(agent_names, 60), pairs, strict=True)]
    hover = "%{customdata[0]}: %{customdata[1]} ± %{customdata[2]}"
    dots = chart.dots(agent_place, ability, "agents", chart.DOTS, hover, customdata=details)
    bars = chart.error_bars(np.nan_to_num(error), chart.DOTS + chart.LIGHT)
    traces = [dots | {"error_y": bars} | chart.linked("agents", agent_names)]
    values, names = chart.compact(difficulty, 4), labels(task_names, 60)
    for name, chosen, symbol in (
        ("tasks", ~negative, "square"),
        ("tasks, negative discrimination", negative, "x"),
    ):
        rows = np.flatnonzero(chosen & np.isfinite(shown))
        if len(rows):
            hover = "%{customdata[0]}: %{customdata[1]}"
            points = chart.dots(
                task_place[rows], shown[rows], name, chart.MEAN, hover, symbol=symbol
            )
            points["customdata"] = [[names[row], values[row]] for row in rows]
            traces.append(points | chart.linked("tasks", [task_names[row] for row in rows]))
    left = float(max(np.nanmax(np.abs(agent_place), initial=3.0), 3.0))
    right = float(max(np.nanmax(task_place, initial=3.0), 3.0))
    x = chart.axis(
        range=[-left - 1, right + 1],
        tickmode="array",
        tickvals=[-left / 2, right / 2],
        ticktext=["agents", "tasks"],
        showgrid=False,
    )
    x["zeroline"] = True
    y = chart.axis("ability and difficulty", range=[-end - 0.3, end + 0.3])
    legend = "Lines are one standard error of an ability."
    if beyond := int((np.abs(difficulty) > end).sum()):
        legend += f" {counted(beyond, 'task')} beyond the edge are drawn on it."
    if len(agents) < len(fit.abilities.agents) or len(tasks) < len(fit.items):
        legend += f" An even sample is drawn: {len(agents):,} agents, {len(tasks):,} tasks."
    return Figure(
        key="wright-map",
        data={
            "agents": tuple(agent_names),
            "ability": ability,
            "error": error,
            "tasks": tuple(task_names),
            "difficulty": difficulty,
            "shown": shown,
            "negative": negative,
            "agent_place": agent_place,
            "task_place": task_place,
            "end": end,
        },
        drawing=chart.figure(traces, 340, x, y),
        caption="Agents on the left, the highest estimate on top; tasks on the right, the hardest on top.",
        description="Two columns of dots on one scale: abilities of agents, difficulties of tasks.",
        legend=legend,
        narrowest=420,
    )


def _stacked(heights: Floats) -> Floats:
    """1, 2, 3 … for dots that share a row, in the order of their height."""
    places = np.full(len(heights), np.nan)
    taken: dict[int, int] = {}
    for index in np.argsort(heights, kind="stable"):
        if np.isfinite(heights[index]):
            row = round(float(heights[index]) / 0.2)  # nearer dots stand side by side in one row
            taken[row] = taken.get(row, 0) + 1
            places[index] = taken[row]
    return places


def task_curves(study: Study) -> Finding:
    """Draw the curves that papers/002, Fig. 2, draws."""
    fit = study.fitted.fit
    difficulty, slope, verdicts = fit.items.difficulty, fit.items.slope, slope_verdicts(fit)
    rising = np.flatnonzero((slope > 0) & np.isfinite(difficulty))
    by_difficulty = rising[np.argsort(difficulty[rising], kind="stable")].tolist()
    hard = by_difficulty[::-1][:3]
    easy = [task for task in by_difficulty[:3] if task not in hard]
    steeper, falling = np.flatnonzero(verdicts.steeper), np.flatnonzero(verdicts.falling)
    steep = steeper[np.argsort(-slope[steeper], kind="stable")].tolist()
    negative = falling[np.argsort(slope[falling], kind="stable")].tolist()
    curves = curves_of(fit)
    blocks = [
        curves_figure(curves, f"task-curves-{key}", tasks[: chart.MOST_LINES], f"{words}: ")
        for key, tasks, words in (
            ("difficulty", [*hard, *easy], "The most and the least difficult"),
            ("discrimination", steep[:6], "More discriminating than tasks are on average"),
            ("negative", negative, "Negative discrimination: weaker agents do better"),
        )
        if tasks
    ]
    return Finding(lead=_curves_lead(fit), blocks=blocks)


def _curves_lead(fit: IRTFit) -> str:
    items, verdicts = fit.items, slope_verdicts(fit)
    if fit.evidence is not None and not fit.evidence.abilities_differ:
        return f"No task has significantly positive discrimination. {fit.evidence.sentences()[0]}"
    rising = np.flatnonzero((items.slope > 0) & np.isfinite(items.difficulty))
    if not len(rising):
        return "No task has positive discrimination."
    hardest = named(items.tasks[rising[items.difficulty[rising].argmax()]])
    steeper = [items.tasks[task] for task in np.flatnonzero(verdicts.steeper)]
    negative = [items.tasks[task] for task in np.flatnonzero(verdicts.falling)]
    more, less = "no task discriminates", "none has significantly"
    if steeper:
        verb = "discriminates" if len(steeper) == 1 else "discriminate"
        more = f"{enumerated(steeper, 6)} {verb}"
    if negative:
        less = f"{enumerated(negative, 6)} {'has' if len(negative) == 1 else 'have'}"
    return (
        f"{hardest} has the highest difficulty; {more} significantly more than tasks do on average; "
        f"{less} negative discrimination."
    )


class TaskCurves(NamedTuple):
    """Curves of all tasks of a fit, and what was observed of them; None without responses."""

    expected: ExpectedCurves
    observed: EmpiricalCurves | None


def curves_of(fit: IRTFit) -> TaskCurves:
    """Return the curves of a fit's tasks."""
    if fit.matrix is None:
        return TaskCurves(expected_curves(fit), None)
    observed = empirical_curves(fitted_responses(fit), fit.abilities.ability)
    return TaskCurves(expected_curves(fit), observed)


def fitted_responses(fit: IRTFit) -> ResponseMatrix:
    """Return the responses in the order of the fit; of scores, whether the landmark was reached."""
    assert fit.matrix is not None, "a fit without responses is drawn without agents"
    rows = [fit.matrix.agents.index(agent) for agent in fit.abilities.agents]
    columns = [fit.matrix.tasks.index(task) for task in fit.items.tasks]
    matrix = fit.matrix.take(rows, columns)
    if fit.items.landmark is None:
        return matrix
    reached = landmark_reached(fit.items, matrix.to_numpy())
    return ResponseMatrix.from_array(reached, matrix.agents, matrix.tasks)


def curves_figure(curves: TaskCurves, key: str, tasks: Sequence[int], words: str) -> Figure:
    """Draw curves of some tasks with bands over all others in grey; dots are groups of agents.

    >>> from examiner.irt import ItemParameters, known
    >>> from examiner.reporting.prose import plain_text
    >>> curves = curves_of(known(ItemParameters.of(["t", "u"], [2.0, 1.0], [3.0, 0.0])))
    >>> drawn = curves_figure(curves, "task-curves", [1], "Only ")
    >>> drawn.data["others"].shape, plain_text(drawn.caption)
    ((1, 81), 'Only u.')
    """
    expected, chosen = curves.expected, list(tasks)
    others = np.setdiff1d(np.arange(len(expected.names)), chosen)
    others = others[:: max(1, -(-len(others) // 40))]  # of very many, every so many
    names = tuple(expected.names[task] for task in chosen)
    success, low, high = (part[chosen] for part in (expected.success, expected.low, expected.high))
    groups, means = np.zeros(0), np.zeros((len(chosen), 0))
    if curves.observed is not None:
        groups, means = curves.observed.at, curves.observed.mean[chosen]
    hover = "%{fullData.name}: %{y:.2f} at %{x:.2f}"
    traces = chart.greyed(expected.at, expected.success[others], "other tasks")
    traces += chart.banded(names, expected.at, success, low, high, hover, of="tasks")
    hover = "agents near %{x:.2f}: %{y:.2f}"
    coloured = zip(labels(names, chart.LEGEND_LETTERS), chart.QUALITATIVE, strict=False)
    for task, (label, colour) in enumerate(coloured):
        points = chart.dots(groups, means[task], label, colour, hover, size=6)
        points["marker"]["symbol"] = "circle-open"
        group = {"showlegend": False, "legendgroup": str(task)}
        traces.append(points | group | chart.linked("tasks", names[task]))
    y = chart.axis("expected result", range=[-0.02, 1.02])
    return Figure(
        key=key,
        data={
            "tasks": names,
            "ability": expected.at,
            "success": success,
            "low": low,
            "high": high,
            "group_ability": groups,
            "group_mean": means,
            "others": expected.success[others],
        },
        drawing=chart.figure(traces, 300, chart.axis("ability"), y),
        caption=f"{words}{enumerated(names)}.",
        description=f"Curves of {counted(len(names), 'task')}: expected result over ability.",
        legend=(
            "Bands are 95 % intervals of the curve at each ability; circles are groups of agents of "
            "like ability. Other tasks are grey."
        ),
        narrowest=420,
    )
