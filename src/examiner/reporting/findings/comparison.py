"""Ways of choosing tasks, judged on held-out agents: how few are enough, and why each is in the set."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from examiner import selection
from examiner.reporting.figures import chart
from examiner.reporting.figures.chart import Floats
from examiner.reporting.finding import Figure, Finding, Text, noted
from examiner.reporting.prose import Name, enumerated, plain, three_digits
from examiner.reporting.study import Study
from examiner.reporting.table import Column, Record, Table

LOWEST = -0.2
"""Below this R² nothing more is to be seen: the set is worse than guessing the mean."""
SET = (Column("method", "text"), Column("size", "count"))
PREDICTING = (
    Column("R²", "number", "of the predicted aggregate", "r2"),
    Column("95 %", "text", "interval of R²", "interval"),
    Column("remainder", "number", "R² of the mean of the tasks not chosen", "r2_remainder"),
    Column("error", "number", "mean absolute, as a share of the aggregate", "relative_error"),
    Column("covered", "number", "share of agents inside their 90 % intervals", "coverage"),
    Column("optimistic", "number", "R² on the same agents that chose", "optimistic_r2"),
)
BEYOND = "smallest one ordered right 9 times of 10 (none: not even the largest seen)"
ORDERING = (
    Column("Kendall", "number", "agreement of orders, from -1 to 1", "kendall"),
    Column("top 1", "number", "how often the best agents were found", "top1"),
    Column("top 3", "number", "how often the best agents were found", "top3"),
    Column("bits", "number", "told about which agent is playing"),
    Column("difference", "text", BEYOND),
)


def finding(study: Study) -> Finding:
    """Tell how few tasks are enough, and which.

    >>> from examiner.results import Results
    >>> scores = np.random.default_rng(0).normal(size=(10, 6)) + np.arange(10)[:, None]
    >>> told = finding(Study.of(Results.from_numpy(scores)))
    >>> [block.key for block in told.blocks if isinstance(block, Figure)]
    ['cost-quality']
    """
    material, chosen, found, note = study.selected
    size, method = study.selected.size, chosen.method
    why = selection.reasons(material, chosen)
    own = [each for each in found.notes if each not in study.results.notes]
    told = tell(found, seed=study.seed)
    shown = (_figure(found, priced=material.terms.priced), Text(found.answer))
    notes = noted([*([note] if note else []), *own])
    blocks = (*shown, _chosen(chosen, why), *told.folded_tables, *notes)
    best, random = (three_digits(found.row(name, size).r2.value) for name in (method, "random"))
    lead = (
        f"{size} of {len(material.tasks)} tasks predict the {found.target} of held-out agents with R² "
        f"{best}, random sets with {random}: ",
        *enumerated(chosen.tasks, 8),
        ".",
    )
    if study.not_shown:
        lead = (
            Name(study.not_shown),
            f" So there is nothing for a few tasks to predict: {size} of {len(material.tasks)} reach R² "
            f"{best} on held-out agents, random sets {random}.",
        )
    data = told.data | {"leading": method, "size": size, "chosen": list(chosen.tasks)}
    return replace(told, lead=lead, blocks=blocks, data=data)


def _chosen(chosen: selection.Selection, why: Sequence[selection.SelectedTask]) -> Table:
    columns = (
        Column("task", "name"),
        Column(
            chosen.unit, "number", "What it added to the tasks above it when it was chosen.", "gain"
        ),
        Column(
            "weight", "number", "Deviations the prediction moves with one deviation of the task."
        ),
        Column("correlation", "number", "With the mean over all tasks, across agents."),
        Column("stands for", "name", "The tasks left out that it is most like."),
    )
    rows = [each._asdict() | {"stands for": [task for task, _ in each.alike]} for each in why]
    caption = f"Chosen by {chosen.method}, on all agents, and why each task is in the set."
    return Table.of(rows, columns, caption)


def tell(found: selection.Comparison, *, seed: int = 0) -> Finding:
    """Tell how every method does at every size, and how many tasks are enough.

    >>> from examiner.results import Results
    >>> results = Results.from_numpy(np.random.default_rng(0).normal(size=(8, 6)))
    >>> found = selection.compare(results, [2], ["spread"], rng=0, holdout=selection.Holdout(draws=5))
    >>> [row["method"] for row in tell(found).data["rows"]]
    ['spread', 'random', 'full']
    """
    data = found.to_dict()
    rows = [_shown(row) for row in data["rows"]]
    blocks = (
        Table.of(rows, (*SET, *PREDICTING), "Predicting held-out agents"),
        Table.of(rows, (*SET, *ORDERING), "Ordering held-out agents"),
    )
    shape = f"{data['agents']} agents on {data['tasks']} tasks, {found.target}, {found.folds}"
    about = f"{shape}; seed {seed}, input {found.fingerprint}"
    return Finding(lead=(Name(found.answer),), blocks=blocks, data=data, about=about)


def _shown(row: Record) -> dict[str, object]:
    """The figures of a row with three digits: ten columns must stand beside each other."""
    short = {
        name: float(f"{value:.3g}") if isinstance(value, float) else value
        for name, value in row.items()
    }
    known = not math.isnan(row["r2_low"])
    beyond = row["minimum_detectable_difference_beyond_largest_seen"]
    return short | {
        "interval": f"{row['r2_low']:.2f}–{row['r2_high']:.2f}" if known else None,
        "difference": "none" if beyond else f"{row['minimum_detectable_difference']:.3g}",
    }


class CostQualityData(NamedTuple):
    """R² of held-out agents for each method and size; arrays of shape [methods, sizes].

    `cost` is what the sets cost (in tasks where no cost is known); `low` and `high` bound `r2`. The
    random sets stand last, with the ends of where nineteen of twenty of them lie.
    """

    methods: tuple[str, ...]
    sizes: tuple[int, ...]
    cost: Floats
    r2: Floats
    low: Floats
    high: Floats
    priced: bool = False


def draw(data: CostQualityData) -> chart.Drawing:
    """Draw a line for each method, best-of thick, and random sets as a band.

    >>> one = np.ones((2, 2))
    >>> figure = draw(CostQualityData(("best_of", "random"), (1, 3), one, one, one, one))
    >>> [trace["name"] for trace in figure["data"]]
    ['19 of 20 random sets', 'best_of', 'random']
    """
    traces = []
    if "random" in data.methods:
        row = data.methods.index("random")
        ends = data.cost[row], data.low[row], data.high[row]
        traces.append(chart.band(*ends, "19 of 20 random sets", chart.BAR))
    colours = iter(chart.QUALITATIVE * 3)
    for row, name in enumerate(data.methods):
        style = {"best_of": (chart.MEAN, 4, "solid"), "random": (chart.BAR, 2, "dash")}.get(name)
        colour, width, dash = style or (next(colours), 1.5, "solid")
        label = plain(name)
        hover = "%{customdata[0]} tasks: R² %{y:.3f} (%{customdata[1]} to %{customdata[2]})"
        told = [
            [size, *ends]
            for size, ends in zip(
                data.sizes,
                chart.compact(np.column_stack([data.low[row], data.high[row]])),
                strict=True,
            )
        ]
        drawn = chart.line(
            data.cost[row], data.r2[row], label, colour, f"{label}, {hover}", width=width, dash=dash
        )
        traces.append(drawn | {"mode": "lines+markers", "customdata": told})
    lowest = max(LOWEST, float(np.nanmin(data.r2)) - 0.05)
    x = chart.axis("cost of the set" if data.priced else "tasks in the set", rangemode="tozero")
    y = chart.axis("R² of held-out agents", range=[lowest, 1.02])
    return chart.figure(traces, 350, x, y, top=90)


def _figure(found: selection.Comparison, *, priced: bool) -> Figure:
    names = (*found.methods, "random")
    rows = [[found.row(name, size) for size in found.sizes] for name in names]
    cost = np.array([[row.cost for row in line] for line in rows])
    r2, low, high = np.array([[row.r2 for row in line] for line in rows]).transpose(2, 0, 1)
    data = CostQualityData(names, tuple(found.sizes), cost, r2, low, high, priced)
    best = found.row(found.methods[0], found.sizes[-1])
    return Figure(
        key="cost-quality",
        drawn=data,
        drawing=draw(data),
        caption=(
            f"With {best.size} tasks {best.method} reaches R² "
            f"{three_digits(best.r2.value)}; chosen and judged on the same agents it would seem "
            f"{three_digits(best.optimistic_r2)}."
        ),
        description="Lines of R² over the size of the set, one for each method; random sets as a band.",
        legend=(
            f"Every point is about held-out agents, which had no part in choosing or fitting "
            f"({found.folds}): tasks are chosen again in each fold. `examiner select` computes the same, "
            f"and `examiner select --judge` compares other methods in the same way."
        ),
        narrowest=420,
    )
