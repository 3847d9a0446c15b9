"""What scores cost: who is on the Pareto front, how surely, and who is dominated by whom."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.messages import counted
from examiner.reporting.figures import chart
from examiner.reporting.figures.chart import Floats
from examiner.reporting.finding import Figure, Finding, ShownTable, noted, shown_table
from examiner.reporting.prose import Name, Prose, enumerated, labels, plain, three_digits
from examiner.reporting.study import Study
from examiner.scores import ParetoFront, pareto

SURE = 0.95
"""Share of resamples from which an agent is said to be on the front; up to one minus it, dominated."""
DECADES = 10.0
"""Costs that span more than this ratio are drawn on a logarithmic axis."""
LABEL_SIZE = (0.3, 0.07)
"""The share of the chart's width and height that a name takes."""
MOST_NAMED = 25
"""Points of figures that bear names; of more agents only those on the front do."""


def finding(study: Study) -> Finding:
    """Tell who is worth the cost, where the results say what attempts cost.

    >>> from examiner.results import Results
    >>> table = {"agent": ["a", "a", "b", "b"], "task": ["t", "u"] * 2, "score": [1, 0, 1, 0]}
    >>> results = Results.from_dict(table | {"cost": [1.0, 2.0, 3.0, 4.0]})
    >>> [row["agent"] for row in finding(Study.of(results)).data["agents"] if row["on_front"]]
    ['a']
    """
    cost = study.cost
    assert cost is not None, "the section needs costs"
    found = pareto(study.scores, cost, rng=study.seed, measure=study.measure, total=study.total)
    return render_cost(found, seed=study.seed, not_shown=study.not_shown, title=study.axis_title)


def render_cost(
    found: ParetoFront, *, seed: int = 0, not_shown: str = "", title: str | None = None
) -> Finding:
    """Tell a front: a sentence, the figure, and every agent with its score, cost and standing.

    `not_shown` says why agents may be alike, where a whole report has found that; `title` is what the
    axis of scores is called.

    >>> from examiner.results import Results
    >>> from examiner.reporting.prose import said
    >>> rows = {"agent": ["a", "b"] * 9, "task": [f"t{n // 2}" for n in range(18)]}
    >>> results = Results.from_dict(rows | {"score": [1, 0] * 9, "cost": [1.0, 2.0] * 9})
    >>> said(render_cost(pareto(results, "cost", rng=0)).lead)
    '1 of 2 agents is on the front of score and cost in at least 95 % of resamples: a; 1 is dominated.'
    """
    about = (
        f"{counted(len(found.agent_names), 'agent')}, {found.measure} against {found.cost_name} of an "
        f"attempt; "
        f"{found.level:.0%} intervals over {found.unit}, {found.reps:,} resamples, seed {seed}"
    )
    blocks = (
        _figure(found, found.measure if title is None else title),
        _table(found),
        *noted(found.notes),
    )
    lead = _lead(found, not_shown)
    return Finding(lead=lead, blocks=blocks, about=about, answer=found)


def _lead(found: ParetoFront, not_shown: str) -> Prose:
    if not_shown:
        return f"Which agents are worth their cost is not known. {not_shown}"
    total = counted(len(found.agent_names), "agent")
    if np.isnan(found.share).all():
        return (f"On the front of score and cost, of {total}: ", *enumerated(found.front, 6), ".")
    share = dict(zip(found.agent_names, found.share.tolist(), strict=True))
    sure = [agent for agent in found.front if share[agent] >= SURE]
    beaten = int((found.share <= 1 - SURE).sum())
    rest = len(found.agent_names) - len(sure) - beaten
    ends = f"; {beaten:,} {'is' if beaten == 1 else 'are'} dominated" if beaten else ""
    ends += f"; of {rest:,} it is not sure" if rest else ""
    if not sure:
        return (
            f"Of no agent it is sure (in at least {100 * SURE:.0f} % of resamples) that it is on the front "
            f"of score and cost; on it as observed: ",
            *enumerated(found.front, 6),
            f"{ends}.",
        )
    verb = "is" if len(sure) == 1 else "are"
    start = f"{len(sure):,} of {total} {verb} on the front of score and cost in at least "
    return (f"{start}{100 * SURE:.0f} % of resamples: ", *enumerated(sure, 6), f"{ends}.")


def _table(found: ParetoFront) -> ShownTable:
    shown = (
        *("agent", "score", "score_low", "score_high", "cost", "cost_low", "cost_high"),
        *("front_share", "dominated_by"),
    )
    return shown_table(found.agents, shown)


class ParetoData(NamedTuple):
    """What is drawn: scores and costs [agents, 3], each with both ends, and who is on the front."""

    agents: tuple[str, ...]
    score: Floats
    cost: Floats
    on_front: NDArray[np.bool_]
    share: Floats
    log_axis: bool


def draw(data: ParetoData, score_title: str, cost_title: str) -> chart.Drawing:
    """Draw the front as steps, an agent as a point with its intervals.

    >>> ends, on = np.ones((2, 3)), np.array([True, False])
    >>> data = ParetoData(("a", "b"), ends, ends, on, np.ones(2), log_axis=False)
    >>> [trace["name"] for trace in draw(data, "score", "cost")["data"]]
    ['front', 'on the front', 'dominated']
    """
    (score, worst, best), (cost, least, most) = data.score.T, data.cost.T
    steps = np.flatnonzero(data.on_front)[np.argsort(cost[data.on_front], kind="stable")]
    front = chart.line(cost[steps], score[steps], "front", chart.MIDDLE, width=1.5)
    front["line"]["shape"] = "hv"
    traces = [front]
    names = labels(data.agents, 40)
    # An end at zero, or near it, would pull a logarithmic axis out of all proportion.
    least = np.maximum(least, float(cost.min()) / 2 if data.log_axis else 0.0)
    for name, chosen, colour, symbol in (
        ("on the front", data.on_front, chart.MIDDLE, "circle"),
        ("dominated", ~data.on_front, chart.GREY, "circle-open"),
    ):
        rows = np.flatnonzero(chosen)
        if not len(rows):
            continue
        hover = (
            f"%{{customdata}}: {plain(score_title)} %{{y:.3~g}}, {plain(cost_title)} %{{x:.3~g}}"
        )
        points = chart.dots(cost[rows], score[rows], name, colour, hover, symbol=symbol)
        bars = {
            "error_x": _bars(cost[rows], least[rows], most[rows], colour),
            "error_y": _bars(score[rows], worst[rows], best[rows], colour),
        }
        if len(names) <= MOST_NAMED or name == "on the front":
            along = np.log(cost[rows]) if data.log_axis else cost[rows]
            clear = chart.with_room(along, score[rows], *LABEL_SIZE)
            shown = [names[row] if free else "" for row, free in zip(rows, clear, strict=True)]
            points |= {"mode": "markers+text", "textposition": "top center", "text": shown}
        named = chart.linked("agents", [data.agents[row] for row in rows])
        told = {"customdata": [names[row] for row in rows], "textfont": {"size": 10}}
        traces.append(points | bars | told | named)
    kind = {"type": "log"} if data.log_axis else {"rangemode": "tozero"}
    x = chart.axis(f"{cost_title}, mean of an attempt", **kind)
    return chart.figure(traces, 400, x, chart.axis(score_title))


def _bars(value: Floats, low: Floats, high: Floats, colour: str) -> chart.Part:
    below = {"symmetric": False, "arrayminus": chart.compact(value - low)}
    return chart.error_bars(high - value, colour + chart.LIGHT, **below)


def _figure(found: ParetoFront, title: str) -> Figure:
    positive = bool((found.cost > 0).all())
    data = ParetoData(
        found.agent_names,
        np.column_stack([found.score, found.score_low, found.score_high]),
        np.column_stack([found.cost, found.cost_low, found.cost_high]),
        found.on_front,
        found.share,
        log_axis=positive and float(found.cost.max() / found.cost.min()) > DECADES,
    )
    low, high = (three_digits(float(end)) for end in (found.cost.min(), found.cost.max()))
    scaled = " The axis of costs is logarithmic." if data.log_axis else ""
    return Figure(
        key="pareto",
        drawn=data,
        drawing=draw(data, title, found.cost_name),
        caption=(
            "An attempt costs from ",
            f"{low} to {high} (",
            Name(found.cost_name),
            "); above and to the left of the line there is no agent.",
        ),
        description="One point an agent: cost to the right, score upwards, and the front as steps.",
        legend=(
            f"Lines through points are {found.level:.0%} intervals over items. An agent on the line scores "
            f"more than all that cost less.{scaled}"
        ),
        narrowest=420,
    )
