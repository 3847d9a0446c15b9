"""Figures that no report draws: clusters with marks, the steps of a typology, progress over years."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from examiner.information import GeneralFactorByGroup
from examiner.irt import Indicators
from examiner.irt import over_time as progress_over_time
from examiner.messages import counted, unknown_name
from examiner.reporting.figures import chart
from examiner.reporting.figures.panels import Panel, panelled
from examiner.reporting.plots.plot import Plot, drawn_alone, plot_of_report
from examiner.reporting.prose import plain
from examiner.results import Results
from examiner.typology import Kinds

RED = "#d7191c"


def marked_clusters(results: Results, tasks: Sequence[str], measure: str | None = None) -> Plot:
    """Draw the correlations of tasks in clusters, with these tasks marked red (papers/004, Fig. 1).

    >>> scores = np.arange(12.0)[:, None] + np.random.default_rng(0).normal(size=(12, 5))
    >>> results = Results.from_numpy(scores, tasks="tuvwx")
    >>> drawn = marked_clusters(results, ["u"])
    >>> [results.tasks[1]] == [drawn.data.tasks[place] for place in drawn.plotly().data[-1].x]
    True
    """
    for task in tasks:
        if task not in results.tasks:
            raise unknown_name("task", task, results.tasks)
    where = "similarity", "task-clusters"
    plot = plot_of_report("marked_clusters", *where, results, None, measure)
    figure = plot.figure
    order = figure.data["tasks"]
    places = [order.index(task) for task in tasks if task in order]
    dots = chart.dots(places, places, "chosen", RED, "%{y}", size=8, symbol="square")
    legend = f"{figure.legend} Red are the chosen tasks."
    if len(places) < len(tasks):
        absent = counted(len(tasks) - len(places), "chosen task")
        legend += f" {absent} on which agents do not differ, not drawn."
    drawing = {**figure.drawing, "data": [*figure.drawing["data"], dots]}
    marked = replace(figure, drawing=drawing, legend=legend)
    return Plot("marked_clusters", replace(plot.finding, blocks=(marked,)), marked)


def typology_steps(kinds: Kinds) -> Plot:
    """Draw the five steps from candidates to a set with one task of each kind (papers/000, Fig. 1).

    >>> from examiner.results import Classification
    >>> from examiner.typology import kinds
    >>> games = Classification(("pong", "go"), ("haste",), (("absent",), ("absent",)))
    >>> typology_steps(kinds(games)).data.outcomes[3:]
    ('1 group', '1 task, 50 % excluded')
    """
    table = kinds.classification
    steps = ("candidates", "typology", "classification", "groups of one kind", "one of each")
    outcomes = (
        counted(len(table.tasks), "task"),
        kinds.typology.name,
        counted(len(table.features), "feature"),
        counted(len(kinds.members), "group"),
        f"{counted(len(kinds.kept), 'task')}, {100 * kinds.saved:.0f} % excluded",
    )
    half, last = 0.32, len(steps) - 1  # half the height of a box; steps are 1 apart
    boxes, notes = [], []
    for row, (step, outcome) in enumerate(zip(steps, outcomes, strict=True)):
        ends = {"x0": 0, "x1": 1, "y0": row - half, "y1": row + half}
        boxes.append({"type": "rect", "line": {"width": 1, "color": chart.GREY}} | ends)
        text = f"{row + 1}. {step}: {plain(outcome)}"
        notes.append({"text": text, "x": 0.5, "y": row, "showarrow": False})
    between = [end for row in range(last) for end in (row + half, row + 1 - half, None)]
    heads = [row + 1 - half - 0.05 for row in range(last)]
    arrows = {"x": [0.5] * len(between), "y": between}
    traces = [
        chart.line([], [], "then", chart.GREY) | arrows,
        chart.dots([0.5] * last, heads, "then", chart.GREY, symbol="triangle-down"),
    ]
    x = chart.axis(range=[-0.05, 1.05], visible=False)
    y = chart.axis(range=[last + 0.5, -0.5], visible=False)
    height = 60 + 70 * len(steps)
    drawing = chart.figure(traces, height, x, y, legend=False, shapes=boxes, annotations=notes)
    caption = f"{counted(len(table.tasks), 'task')}, {counted(len(kinds.kept), 'kind')}."
    return drawn_alone("typology_steps", {"steps": steps, "outcomes": outcomes}, drawing, caption)


def over_time(
    agent_indicators: Indicators,
    years: Mapping[str, float],
    factors: GeneralFactorByGroup | None = None,
) -> Plot:
    """Draw ability, generality and the general factor by year of agents (papers/003, section 5).

    Each has a panel: means with intervals, agents as faint dots, chance dotted. `factors` are those of
    `ex.information.general_factor_by` with the same years; without them there are two panels.

    >>> from examiner.irt import ItemParameters, indicators, known
    >>> from examiner.results import ResponseMatrix
    >>> items = ItemParameters.of(list("tuvw"), np.ones(4), difficulty=[-2.0, -1.0, 1.0, 2.0])
    >>> rows = [[0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0]]
    >>> fit = known(items, ResponseMatrix.from_array(rows, "abcd", "tuvw"))
    >>> over_time(indicators(fit, bins=2), {"a": 2013, "b": 2013, "c": 2015, "d": 2015})
    Plot 'over_time': Ability and generality of 4 agents from 2 years.
    """
    progress = progress_over_time(agent_indicators, years).years
    distinct = np.array(progress.year, dtype=np.float64)
    estimates = {
        name: np.array([progress.values(f"{name}{end}") for end in ("", "_low", "_high")])
        for name in ("ability", "generality")
    }
    chance = np.full(len(distinct), np.nan)
    if factors:
        by_year = [factors.factors.get(year) for year in distinct.tolist()]
        chance = np.array([np.nan if f is None else f.first_factor_by_chance for f in by_year])
        for title, name in (
            ("mean correlation of tasks", "mean_task_correlation"),
            ("share of the first factor", "first_factor_share"),
        ):
            rows = [(np.nan,) * 3 if f is None else tuple(getattr(f, name)) for f in by_year]
            estimates[title] = np.array(rows).T
    titles, values = tuple(estimates), np.array(list(estimates.values()))
    by_chance = np.full((len(titles), len(distinct)), np.nan)
    by_chance[-1] = chance
    points = np.array(
        [
            (row, float(years[agent]), float(value))
            for row, values_of in enumerate((agent_indicators.ability, agent_indicators.generality))
            for agent, value in zip(agent_indicators.agents, values_of, strict=True)
            if agent in years and np.isfinite(value)
        ]
    ).reshape(-1, 3)
    panels = []
    for row, (title, (value, low, high)) in enumerate(estimates.items()):
        agents, traces = points[points[:, 0] == row], []
        if len(agents):
            faint = chart.GREY + chart.LIGHT
            traces.append(chart.dots(agents[:, 1], agents[:, 2], "agents", faint, size=5))
        bars = chart.error_bars(high - value, chart.MIDDLE, arrayminus=chart.compact(value - low))
        mean = chart.dots(distinct, value, "mean, 95 %", chart.MIDDLE, "%{x}: %{y:.3~g}")
        traces.append(mean | {"error_y": bars})
        if np.isfinite(by_chance[row]).any():
            traces.append(chart.line(distinct, by_chance[row], "by chance", chart.GREY, dash="dot"))
        named = [trace | {"showlegend": row == 0 or "chance" in trace["name"]} for trace in traces]
        panels.append(Panel(title, named))
    ticks = {"tickvals": distinct.tolist(), "ticktext": [f"{year:g}" for year in distinct]}
    drawing = panelled(panels, chart.axis(tickmode="array", **ticks), chart.axis())
    words = "Ability, generality and the general factor" if factors else "Ability and generality"
    count = counted(int(progress.agents.sum()), "agent")
    drawn = {
        "titles": titles,
        "years": distinct,
        "value": values[:, 0],
        "low": values[:, 1],
        "high": values[:, 2],
        "chance": by_chance,
        "points": points,
    }
    caption = f"{words} of {count} from {counted(len(progress), 'year')}."
    return drawn_alone("over_time", drawn, drawing, caption)
