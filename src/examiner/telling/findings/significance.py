"""Which agents differ over tasks: Friedman, Wilcoxon with Holm, and the critical-difference diagram."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from examiner.results import Results
from examiner.scores import Significance
from examiner.scores import significance as agent_differences
from examiner.scores.differences import clusters_of, difference_of
from examiner.scores.uncertainty.strata import run_scores
from examiner.telling.figures import chart
from examiner.telling.figures.chart import Floats
from examiner.telling.figures.stretch import Stretch
from examiner.telling.finding import Figure, Finding, NothingToTellError, Text, noted
from examiner.telling.prose import Name, Prose, labels
from examiner.telling.study import Study
from examiner.telling.table import Cell, Column, Record, Table
from examiner.wording import counted

MOST_ROWS = 30
LABEL_ROOM = 1.3
"""The room for names on either side, in spans of the mean ranks."""


def finding(study: Study) -> Finding:
    """Test agents over tasks, and say what differences these data could show at all.

    >>> from examiner.results import Results
    >>> from examiner.telling.prose import said
    >>> scores = np.linspace(0.1, 0.9, 24).reshape(8, 3).T
    >>> said(finding(Study.of(Results.from_numpy(scores))).lead)
    'Agents differ over tasks (Friedman, p = 0.00034): 3 of 3 pairs do, at 5 % after Holm.'
    """
    shown = study.resampled
    if len(shown.agents) < 2:
        raise NothingToTellError("There are no two agents with comparable scores to test.")
    made = agent_differences(shown.results, measure=study.measure)
    text = (
        f"Agents are ranked on each of {counted(len(made.tasks), 'task')}. Friedman's test asks whether "
        "any differ, Wilcoxon's signed ranks with Holm's correction which pairs do. Tests over tasks "
        f"speak of other tasks like these, and need no repeated runs.{_gaps(made)}"
    )
    table = _table(shown.results, study.measure, made, shown.agents)
    blocks = (Text(text), _figure(made), table, *noted(made.notes))
    data = _against_the_first(made, shown.agents)
    return Finding(lead=_lead(made, study.not_shown), blocks=blocks, data=data)


def _against_the_first(made: Significance, agents: tuple[str, ...]) -> Record:
    """Whom the first agent by mean cannot be told from, and who beats it on most tasks all the same."""
    first, *others = (made.agents.index(agent) for agent in agents)
    differ = made.p[first] < made.alpha
    return {
        "first": agents[0],
        "alike": [made.agents[row] for row in others if not differ[row]],
        "ahead_on_most": [
            made.agents[row]
            for row in others
            if differ[row] and made.mean_rank[row] < made.mean_rank[first]
        ],
        "others": len(others),
        "tasks": len(made.tasks),
    }


def _lead(made: Significance, not_shown: str) -> Prose:
    if not_shown:
        tested = "" if np.isnan(made.p_value) else f" Friedman's test has p = {made.p_value:.2g}."
        return (Name(not_shown), tested)
    pairs = len(made.agents) * (len(made.agents) - 1) // 2
    found = int((made.p < made.alpha).sum()) // 2
    if len(made.agents) == 2:
        word = "differ" if found else "do not differ significantly"
        p = f" over tasks (Wilcoxon, p = {made.p[0, 1]:.2g})."
        return (Name(made.agents[0]), " and ", Name(made.agents[1]), f" {word}{p}")
    friedman = f"(Friedman, p = {made.p_value:.2g})"
    if made.p_value >= made.alpha:
        return f"No difference between agents is significant over these tasks {friedman}."
    differing = f"{found:,} of {counted(pairs, 'pair')} do, at 5 % after Holm."
    return f"Agents differ over tasks {friedman}: {differing}"


def _gaps(made: Significance) -> str:
    """How many tasks stand behind the test of a pair, where that is not all of them."""
    pairs = made.common[np.triu_indices(len(made.agents), 1)]
    few, most = int(pairs.min()), int(pairs.max())
    if few == len(made.tasks):
        return ""
    many = f"{few:,}" if few == most else f"between {few:,} and {most:,}"
    return (
        f" Some results are missing: agents seen on a task are ranked among themselves, and each pair is "
        f"tested on the tasks that both have, {many} of {len(made.tasks):,}."
    )


class CriticalData(NamedTuple):
    """Agents from the best mean rank to the worst; `bars` are the first and last row of a group.

    `p` has shape [agents, agents], in the order of the test.
    """

    agents: tuple[str, ...]
    mean_rank: Floats
    bars: tuple[tuple[int, int], ...]
    critical: float  # Nemenyi's critical difference; NaN for other tests
    p: Floats | None = None
    posthoc: str = ""


def data(
    agents: Sequence[str],
    mean_rank: Floats,
    cliques: Sequence[Sequence[int]],
    critical: float = float("nan"),
) -> CriticalData:
    """Sort agents by mean rank; a clique becomes a bar from its best to its worst.

    >>> data(["b", "a", "c"], np.array([2.0, 1.2, 2.8]), [(0, 2)]).bars
    ((1, 2),)
    """
    order = np.argsort(mean_rank, kind="stable")
    rows = np.argsort(order, kind="stable")
    ends = [[int(rows[agent]) for agent in clique] for clique in cliques]
    named = tuple(agents[agent] for agent in order.tolist())
    bars = tuple((min(group), max(group)) for group in ends)
    return CriticalData(named, mean_rank[order], bars, critical)


def draw(data: CriticalData) -> chart.Drawing:
    """Draw the best half of the agents on the left and the others on the right, as Demšar (2006) does.

    >>> figure = draw(data(["b", "a", "c"], np.array([2.0, 1.2, 2.8]), [(0, 2)]))
    >>> [note["text"] for note in figure["layout"]["annotations"]]
    ['a (1.20)', 'b (2.00)', 'c (2.80)']
    """
    count = len(data.agents)
    half = (count + 1) // 2
    first = 1.0 + 0.4 * len(data.bars)
    depth = first + half
    names = labels(data.agents, 28)
    low, high = float(data.mean_rank.min()), float(data.mean_rank.max())
    span = max(high - low, 0.1)
    edges = low - 0.04 * span, high + 0.04 * span
    shapes, notes = [], []
    for agent, (name, rank) in enumerate(zip(names, data.mean_rank.tolist(), strict=True)):
        left = agent < half
        level = -(first + (agent if left else count - 1 - agent))
        edge = edges[0] if left else edges[1]
        shapes += [_stroke(rank, 0, rank, level), _stroke(rank, level, edge, level)]
        anchor = {"x": edge, "y": level, "xanchor": "right" if left else "left"}
        notes.append({"text": f"{name} ({rank:.2f})", "showarrow": False} | anchor)
    for number, (best, worst) in enumerate(data.bars):
        ends = float(data.mean_rank[best]) - 0.03, float(data.mean_rank[worst]) + 0.03
        height = -0.5 - 0.4 * number
        shapes.append(_stroke(ends[0], height, ends[1], height, width=5, colour=chart.BAR))
    marks = Stretch().ticks(low, high) or (low,)
    x = chart.axis(
        "mean rank over tasks",
        side="top",
        range=[low - LABEL_ROOM * span, high + LABEL_ROOM * span],
        tickmode="array",
        tickvals=list(marks),
        ticktext=[f"{mark:g}" for mark in marks],
        showgrid=False,
    )
    y = chart.axis(range=[-depth, 0], visible=False)
    ranks = data.mean_rank.tolist()
    points = chart.dots(
        ranks, [0] * count, "", chart.DOTS, "%{text}: %{x:.3~g}", size=8, text=names
    )
    traces = [points | {"cliponaxis": False}]
    height = 80 + 21 * int(np.ceil(depth))
    return chart.figure(traces, height, x, y, legend=False, shapes=shapes, annotations=notes)


def _stroke(
    x0: float, y0: float, x1: float, y1: float, width: float = 1, colour: str = chart.GREY
) -> chart.Part:
    ends = {"x0": x0, "y0": y0, "x1": x1, "y1": y1}
    return {"type": "line", "line": {"width": width, "color": colour}} | ends


def _figure(made: Significance) -> Figure:
    drawn = data(made.agents, made.mean_rank, made.cliques, made.critical)
    return Figure(
        key="critical-difference",
        drawn=drawn._replace(p=made.p, posthoc=made.posthoc),
        drawing=draw(drawn),
        caption="Mean ranks over tasks; a bar joins agents among whom no pair differs.",
        description="A line of mean ranks with a label for each agent and bars over groups.",
        legend="Left is better. Wilcoxon with Holm, at 5 %.",
        # the names on either side, eight letters of a mean rank, and a third of it all between them
        narrowest=max(680, 7 * 3 * (min(28, max(map(len, made.agents))) + 8)),
    )


def _table(results: Results, measure: str, made: Significance, agents: tuple[str, ...]) -> Table:
    """The best agent against the others: what differs, and what could have been seen."""
    columns = (
        Column("agent", "name"),
        Column("mean rank", "number"),
        Column("behind the first by", "number", "mean difference over common tasks"),
        Column("error", "number", "standard error, paired over tasks, clustered by game"),
        Column("detectable", "number", "a true difference found four times in five"),
        Column("p", "number", "Wilcoxon, after Holm, against the first"),
        Column("tasks", "count", "that both have"),
    )
    row_of = {agent: row for row, agent in enumerate(made.agents)}
    first = row_of[agents[0]]
    scores, games = run_scores(results, measure), clusters_of(results.task_names)
    rows: list[tuple[Cell, ...]] = []
    for agent in agents[:MOST_ROWS]:
        row = row_of[agent]
        start = (Name(agent), float(made.mean_rank[row]))
        if row == first:
            rows.append((*start, *([None] * 5)))
            continue
        p, common = float(made.p[first, row]), int(made.common[first, row])
        if not common:  # nothing tells them apart: a line of dashes, and no end of the section
            rows.append((*start, *([None] * 4), common))
            continue
        gap = difference_of(scores.of(agents[0]), scores.of(agent), games)
        rows.append((*start, gap.value, gap.clustered, gap.detectable, p, common))
    caption = "The first agent by mean against each other, with the least difference these data could show."
    return Table(columns, tuple(rows), caption)
