"""Which agents differ in their mean: tests of pairs with Holm, and the critical-difference diagram."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from examiner.reporting.figures import chart
from examiner.reporting.figures.chart import Floats
from examiner.reporting.figures.stretch import Stretch
from examiner.reporting.finding import Figure, Finding, NothingToTellError, Text, noted
from examiner.reporting.prose import Name, Sentence, labels, three_digits
from examiner.reporting.study import Study
from examiner.reporting.table import Cell, Record, ShownColumn, ShownTable
from examiner.scores import (
    Significance,
    cell_means,
    clusters_of,
    difference_of,
    discordance,
    newcombe,
    run_scores,
    shared_rows,
    wilcoxon_holm,
)
from examiner.scores import significance as agent_differences

MOST_ROWS = 30
LABEL_ROOM = 1.3
"""The room for names on either side, in spans of the means."""


def finding(study: Study) -> Finding:
    """Test which agents differ in their mean, and say what differences these data could show at all.

    >>> from examiner.results import Results
    >>> from examiner.reporting.prose import said
    >>> scores = np.linspace(0.1, 0.9, 24).reshape(8, 3).T
    >>> said(finding(Study.of(Results.from_numpy(scores))).lead)
    "3 of 3 pairs of agents differ significantly (Student's t-test over 8 tasks, at 5 % after Holm)."
    """
    shown = study.resampled
    if len(shown.agents) < 2:
        raise NothingToTellError("There are no two agents with comparable scores to test.")
    made = agent_differences(
        shown.shown_results, measure=study.measure, total=study.total, unit=shown.unit
    )
    table = _table(study, made)
    blocks = (Text(_method(made)), _figure(study, made), table, *noted(made.notes))
    beside = _against_the_first(study, made)
    lead = (Sentence(study.none_better or made.headline),)
    return Finding(lead=lead, blocks=blocks, beside=beside, answer=made)


def _method(made: Significance) -> str:
    over = (
        "The test speaks of other runs of the same agents on these tasks"
        if made.unit == "runs"
        else "The test speaks of other tasks like these"
    )
    friedman = (
        "" if np.isnan(made.p_value) else f" Friedman's test of ranks has p = {made.p_value:.2g}."
    )
    return (
        f"Means of agents are compared in pairs, by {made.test}, with Holm's correction for all "
        f"pairs. {over}.{_gaps(made)}{_short(made)}{friedman}"
    )


def _against_the_first(study: Study, made: Significance) -> Record:
    """From whom the first agent by mean does not differ, and who beats it on most tasks all the same."""
    shown = study.resampled
    first, *others = (made.agent_names.index(agent) for agent in shown.agents)
    differ = made.p[first] < made.alpha
    rows = [study.scores.agents.index(agent) for agent in made.agent_names]
    means = cell_means(study.scores, study.measure)[rows]
    ranked = wilcoxon_holm(means)[first] < made.alpha
    return {
        "first": shown.agents[0],
        "alike": [made.agent_names[row] for row in others if not differ[row]],
        "ahead_on_most": [
            made.agent_names[row]
            for row in others
            if ranked[row] and made.mean_rank[row] < made.mean_rank[first]
        ],
        "others": len(others),
        "tasks": len(made.tasks),
        "unit": made.unit,
        "test": made.test,
        "too_few_tasks": made.too_few_tasks,
    }


def _short(made: Significance) -> str:
    return f" {made.too_few_tasks}" if made.too_few_tasks else ""


def _gaps(made: Significance) -> str:
    """How many tasks stand behind the test of a pair, where that is not all of them."""
    pairs = made.common[np.triu_indices(len(made.agent_names), 1)]
    few, most = int(pairs.min()), int(pairs.max())
    if few == len(made.tasks):
        return ""
    many = f"{few:,}" if few == most else f"between {few:,} and {most:,}"
    return (
        f" Some results are missing: each pair is tested on the tasks that both have, {many} of "
        f"{len(made.tasks):,}."
    )


class CriticalData(NamedTuple):
    """Agents from the best mean to the worst; `bars` are the first and last row of a group.

    `p` has shape [agents, agents], in the order of the test.
    """

    agents: tuple[str, ...]
    mean: Floats
    bars: tuple[tuple[int, int], ...]
    p: Floats | None = None
    posthoc: str = ""


def data(agents: Sequence[str], mean: Floats, cliques: Sequence[Sequence[int]]) -> CriticalData:
    """Sort agents by mean; a clique becomes a bar from its best to its worst.

    >>> data(["b", "a", "c"], np.array([2.0, 2.8, 1.2]), [(0, 2)]).bars
    ((1, 2),)
    """
    order = np.argsort(-mean, kind="stable")
    rows = np.argsort(order, kind="stable")
    ends = [[int(rows[agent]) for agent in clique] for clique in cliques]
    named = tuple(agents[agent] for agent in order.tolist())
    bars = tuple((min(group), max(group)) for group in ends)
    return CriticalData(named, mean[order], bars)


def draw(data: CriticalData, title: str = "score") -> chart.Drawing:
    """Draw the best half of the agents on the left and the others on the right, as Demšar (2006) does.

    >>> figure = draw(data(["b", "a", "c"], np.array([2.0, 2.8, 1.2]), [(0, 2)]))
    >>> [note["text"] for note in figure["layout"]["annotations"]]
    ['a (2.8)', 'b (2)', 'c (1.2)']
    """
    count = len(data.agents)
    half = (count + 1) // 2
    first = 1.0 + 0.4 * len(data.bars)
    depth = first + half
    names = labels(data.agents, 28)
    low, high = float(data.mean.min()), float(data.mean.max())
    span = (high - low) or max(abs(high), 1.0)
    edges = high + 0.04 * span, low - 0.04 * span
    shapes, notes = [], []
    for agent, (name, mean) in enumerate(zip(names, data.mean.tolist(), strict=True)):
        left = agent < half
        level = -(first + (agent if left else count - 1 - agent))
        edge = edges[0] if left else edges[1]
        shapes += [_stroke(mean, 0, mean, level), _stroke(mean, level, edge, level)]
        anchor = {"x": edge, "y": level, "xanchor": "right" if left else "left"}
        notes.append({"text": f"{name} ({three_digits(mean)})", "showarrow": False} | anchor)
    for number, (best, worst) in enumerate(data.bars):
        ends = float(data.mean[best]) + 0.01 * span, float(data.mean[worst]) - 0.01 * span
        height = -0.5 - 0.4 * number
        shapes.append(_stroke(ends[0], height, ends[1], height, width=5, colour=chart.BAR))
    marks = Stretch().ticks(low, high) or (low,)
    x = chart.axis(
        f"mean {title}",
        side="top",
        range=[high + LABEL_ROOM * span, low - LABEL_ROOM * span],
        tickmode="array",
        tickvals=list(marks),
        ticktext=[f"{mark:g}" for mark in marks],
        showgrid=False,
    )
    y = chart.axis(range=[-depth, 0], visible=False)
    means = data.mean.tolist()
    points = chart.dots(
        means, [0] * count, "", chart.DOTS, "%{text}: %{x:.3~g}", size=8, text=names
    )
    traces = [points | {"cliponaxis": False}]
    height = 80 + 21 * int(np.ceil(depth))
    return chart.figure(traces, height, x, y, legend=False, shapes=shapes, annotations=notes)


def _stroke(
    x0: float, y0: float, x1: float, y1: float, width: float = 1, colour: str = chart.GREY
) -> chart.Part:
    ends = {"x0": x0, "y0": y0, "x1": x1, "y1": y1}
    return {"type": "line", "line": {"width": width, "color": colour}} | ends


def _figure(study: Study, made: Significance) -> Figure:
    drawn = data(made.agent_names, made.mean, made.cliques)
    return Figure(
        key="critical-difference",
        drawn=drawn._replace(p=made.p, posthoc=made.posthoc),
        drawing=draw(drawn, study.axis_title),
        caption="Means of agents; a bar joins agents among whom no pair differs significantly.",
        description="A line of means with a label for each agent and bars over groups.",
        legend=f"Left is better. By {made.test}, at 5 % after Holm.",
        # the names on either side, eight letters of a mean, and a third of it all between them
        narrowest=max(680, 7 * 3 * (min(28, max(map(len, made.agent_names))) + 8)),
    )


def _table(study: Study, made: Significance) -> ShownTable:
    """The best agent against the others: what differs, and what could have been seen."""
    shown = study.resampled
    columns = (
        ShownColumn("agent", "name"),
        ShownColumn("mean", "number"),
        ShownColumn("behind the first by", "number", "mean difference over common tasks"),
        ShownColumn("low", "number", "of its 95 % interval"),
        ShownColumn("high", "number", "of its 95 % interval"),
        ShownColumn("error", "number", f"standard error over {made.unit}"),
        ShownColumn("detectable", "number", "a true difference found four times in five"),
        ShownColumn("p", "number", "after Holm, against the first"),
        ShownColumn("tasks", "count", "that both have"),
    )
    row_of = {agent: row for row, agent in enumerate(made.agent_names)}
    first = row_of[shown.agents[0]]
    scores = run_scores(shown.results, study.measure, study.total)
    games = clusters_of(shown.results.task_names)
    rows: list[tuple[Cell, ...]] = []
    for agent in shown.agents[:MOST_ROWS]:
        row = row_of[agent]
        start = (Name(agent), float(made.mean[row]))
        p, common = float(made.p[first, row]), int(made.common[first, row])
        if row == first or not common:  # without a common task: a line of dashes
            rows.append((*start, *([None] * 6), None if row == first else common))
            continue
        gap = difference_of(scores.of(shown.agents[0]), scores.of(agent), games, unit=made.unit)
        seen = gap.detectable_fixed if made.unit == "runs" else gap.detectable
        ends = (gap.low, gap.high)
        if made.exact:
            few, many = (scores.of(name) for name in (shown.agents[0], agent))
            here, there = shared_rows(few, many)
            ends = newcombe(discordance(few.means[here], many.means[there]))
        rows.append((*start, gap.value, *ends, gap.error, seen, p, common))
    caption = "The first agent by mean against each other, with the least difference these data could show."
    return ShownTable(columns, tuple(rows), caption)
