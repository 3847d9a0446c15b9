"""Which agents differ in their mean: tests of pairs with Holm, and the critical-difference diagram."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from examiner.reporting.figures import chart
from examiner.reporting.figures.chart import Floats
from examiner.reporting.figures.stretch import Stretch
from examiner.reporting.finding import (
    Figure,
    Finding,
    NothingToTellError,
    Text,
    noted,
    shown_table,
)
from examiner.reporting.prose import Sentence, labels, three_digits
from examiner.reporting.ranked import compared_means
from examiner.reporting.study import Study
from examiner.scores import Significance

_COLUMNS = (
    *("b", "difference", "difference_low", "difference_high", "difference_error"),
    *("detectable", "p_adjusted", "tasks"),
)
MOST_DRAWN = 40
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
    made = study.tests
    if isinstance(made, str):
        raise NothingToTellError(made)
    pairs = compared_means(study, made)
    first = np.flatnonzero([agent == study.resampled.agents[0] for agent in pairs.a])
    caption = (
        "The first agent by mean less each other, with the least difference these data could show."
    )
    table = shown_table(pairs.take(first), _COLUMNS, caption)
    blocks = (Text(_method(made)), _figure(study, made), table, *noted(made.notes))
    lead = (Sentence(study.none_better or made.headline),)
    return Finding(lead=lead, blocks=blocks, answer=made)


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
    if len(drawn.agents) > MOST_DRAWN:  # as many as fit below each other
        bars = tuple(
            (best, min(worst, MOST_DRAWN - 1))
            for best, worst in drawn.bars
            if best < MOST_DRAWN - 1
        )
        drawn = CriticalData(drawn.agents[:MOST_DRAWN], drawn.mean[:MOST_DRAWN], bars)
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
