"""Selection methods judged on held-out agents: how few tasks are enough, and why each is in the set."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from examiner import selection
from examiner.reporting.board import board_of
from examiner.reporting.figures import chart
from examiner.reporting.figures.chart import Floats
from examiner.reporting.finding import Figure, Finding, ShownTable, Text, noted, shown_table
from examiner.reporting.prose import Prose, Sentence, enumerated, plain, three_digits
from examiner.reporting.study import Study
from examiner.reporting.validation_tables import validation_tables

LOWEST = -0.2
"""Below this R² the axis ends: the set is worse than predicting the mean."""


def finding(study: Study) -> Finding:
    """Show how few tasks are enough, and which.

    >>> from examiner.results import Results
    >>> scores = np.random.default_rng(0).normal(size=(10, 6)) + np.arange(10)[:, None]
    >>> section = finding(Study.of(Results.from_numpy(scores)))
    >>> [block.key for block in section.blocks if isinstance(block, Figure)]
    ['cost-quality']
    """
    material, chosen, judgement, note = study.selected
    own = [each for each in judgement.notes if each not in study.results.notes]
    tables = (replace(table, folded=True) for table in validation_tables(judgement))
    notes = noted([*([note] if note else []), *own])
    blocks = (
        board_of(material, judgement, len(chosen)),
        _figure(judgement, priced=material.terms.priced),
        Text(f"{judgement.headline} {judgement.limits}".strip()),
        _selected(chosen),
        *tables,
        *notes,
    )
    best, random = chosen.figures, chosen.random_figures
    assert best is not None and random is not None
    lead: Prose = (
        f"{len(chosen)} of {len(material.tasks)} tasks predict the {chosen.target} of held-out agents with "
        f"R² {three_digits(best.r2)}, random selections with {three_digits(random.r2)}: ",
        *enumerated(chosen.tasks.task, 8),
        ".",
    )
    if study.not_shown:
        lead = (
            Sentence(study.not_shown),
            f" So there is nothing for a few tasks to predict: {len(chosen)} of {len(material.tasks)} "
            f"reach R² {three_digits(best.r2)} on held-out agents, random selections "
            f"{three_digits(random.r2)}.",
        )
    return Finding(lead=lead, blocks=blocks, answer=chosen)


def _selected(chosen: selection.Selection) -> ShownTable:
    columns = ["task", "gain", "weight", "correlation", "similar"]
    caption = f"Tasks selected by {chosen.method} on all agents; gain: {chosen.unit}."
    return shown_table(chosen.tasks, columns, caption)


def render_judgement(judgement: selection.MethodJudgement) -> Finding:
    """Show how every method does at every size, and how many tasks are enough.

    >>> from examiner.results import Results
    >>> results = Results.from_numpy(np.random.default_rng(0).normal(size=(8, 6)))
    >>> quick = selection.Holdout(draws=5)
    >>> judgement = selection.judge(results, [2], ["spread"], rng=0, holdout=quick)
    >>> [row["method"] for row in render_judgement(judgement).data["methods"]]
    ['spread', 'random', 'full']
    """
    shape = f"{len(judgement.agents)} agents on {len(judgement.tasks)} tasks, {judgement.target}"
    about = f"{shape}, {judgement.folds}; seed {judgement.seed}, input {judgement.fingerprint}"
    limits = (Text(judgement.limits),) if judgement.limits else ()
    return Finding(
        lead=(Sentence(judgement.headline),),
        blocks=(*limits, *validation_tables(judgement)),
        about=about,
        answer=judgement,
    )


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


def _figure(judgement: selection.MethodJudgement, *, priced: bool) -> Figure:
    names = (*judgement.names, "random")
    rows = [[judgement.row(name, size) for size in judgement.sizes] for name in names]
    cost = np.array([[row.cost for row in line] for line in rows])
    r2, low, high = (
        np.array([[row[end] for row in line] for line in rows])
        for end in ("r2", "r2_low", "r2_high")
    )
    data = CostQualityData(names, judgement.sizes, cost, r2, low, high, priced)
    best = judgement.row(judgement.names[0], judgement.sizes[-1])
    return Figure(
        key="cost-quality",
        drawn=data,
        drawing=draw(data),
        caption=(
            f"With {best.size} tasks {best.method} reaches R² "
            f"{three_digits(best.r2)}; selected and judged on the same agents it would seem to reach "
            f"{three_digits(best.optimistic_r2)}."
        ),
        description="Lines of R² over the size of the set, one for each method; random sets as a band.",
        legend=(
            f"Every point is about held-out agents, used neither for selecting nor for fitting "
            f"({judgement.folds}): tasks are selected again in each fold. `examiner select` computes the "
            f"same, and `examiner select --judge` compares other methods in the same way."
        ),
        narrowest=420,
    )
