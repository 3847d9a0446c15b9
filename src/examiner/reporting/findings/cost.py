"""What scores cost: who is on the Pareto front, how certainly, and who is dominated by whom."""

from __future__ import annotations

import numpy as np

from examiner.messages import counted
from examiner.reporting.figures import chart
from examiner.reporting.finding import Figure, Finding, Notes, shown_table
from examiner.reporting.prose import labels, named, plain, three_digits
from examiner.reporting.study import Study
from examiner.scores import ParetoFront, pareto
from examiner.validation import Floats


def finding(study: Study) -> Finding:
    """Say who is worth the cost, where the results say what attempts cost.

    >>> from examiner.results import Results
    >>> table = {"agent": ["a", "a", "b", "b"], "task": ["t", "u"] * 2, "score": [1, 0, 1, 0]}
    >>> results = Results.from_dict(table | {"cost": [1.0, 2.0, 3.0, 4.0]})
    >>> [row["agent"] for row in finding(Study.of(results)).data["agents"] if row["on_front"]]
    ['a']
    """
    assert study.cost is not None, "the section needs costs"
    front = pareto(
        study.scores,
        study.cost,
        rng=study.seed,
        measure=study.measure,
        normalise=None,
        total=study.total,
    )
    return render_cost(front, seed=study.seed, not_shown=study.not_shown, title=study.axis_title)


def render_cost(
    front: ParetoFront, *, seed: int = 0, not_shown: str = "", title: str = ""
) -> Finding:
    """Show a front: a sentence, the figure, and every agent with its score and cost.

    `not_shown` says why agents may be alike, where a whole report has found that; `title` is what the
    axis of scores is called.

    >>> from examiner.results import Results
    >>> rows = {"agent": ["a", "b"] * 9, "task": [f"t{n // 2}" for n in range(18)]}
    >>> results = Results.from_dict(rows | {"score": [1, 0] * 9, "cost": [1.0, 2.0] * 9})
    >>> render_cost(pareto(results, "cost", rng=0)).lead[:60]
    '1 of 2 agents is on the Pareto front of score and cost in at'
    """
    columns = ["agent", "score", "score_low", "score_high", "cost", "cost_low", "cost_high"]
    return Finding(
        lead=f"Which agents are worth their cost is not known. {not_shown}" if not_shown else "",
        blocks=(
            _figure(front, title or front.measure),
            shown_table(front.agents, [*columns, "front_share", "dominated_by"]),
            Notes(front.notes),
        ),
        about=(
            f"{counted(len(front.agents), 'agent')}, {front.measure} against {front.cost_name} of an "
            f"attempt; {front.level:.0%} intervals over {front.unit}, {front.reps:,} resamples, seed {seed}"
        ),
        answer=front,
    )


def _figure(front: ParetoFront, title: str) -> Figure:
    """The front as steps, and an agent as a point with its intervals."""
    table, names = front.agents, labels(front.agents.agent, 40)
    score, cost = table.score, table.cost
    log_axis = bool((cost > 0).all()) and float(cost.max() / cost.min()) > 10
    steps = np.flatnonzero(table.on_front)[np.argsort(cost[table.on_front], kind="stable")]
    line = chart.line(cost[steps], score[steps], "front", chart.MIDDLE, width=1.5)
    line["line"]["shape"] = "hv"
    traces = [line]
    # An end at zero, or near it, would pull a logarithmic axis out of all proportion.
    least = np.maximum(table.cost_low, float(cost.min()) / 2 if log_axis else 0.0)
    hover = f"%{{customdata}}: {plain(title)} %{{y:.3~g}}, {plain(front.cost_name)} %{{x:.3~g}}"
    for name, chosen, colour, symbol in (
        ("on the front", table.on_front, chart.MIDDLE, "circle"),
        ("dominated", ~table.on_front, chart.GREY, "circle-open"),
    ):
        rows = np.flatnonzero(chosen)
        if not len(rows):
            continue
        shown = [names[row] for row in rows]
        points = chart.dots(cost[rows], score[rows], name, colour, hover, symbol=symbol)
        points |= {
            "error_x": _bars(cost[rows], least[rows], table.cost_high[rows], colour),
            "error_y": _bars(score[rows], table.score_low[rows], table.score_high[rows], colour),
            "customdata": shown,
        }
        if len(names) <= 25 or name == "on the front":  # more names would cover each other
            along = np.log(cost[rows]) if log_axis else cost[rows]
            points |= chart.named_above(shown, along, score[rows])
        traces.append(points | chart.linked("agents", [table.agent[row] for row in rows]))
    kind = {"type": "log"} if log_axis else {"rangemode": "tozero"}
    x = chart.axis(f"{front.cost_name}, mean of an attempt", **kind)
    low, high = (three_digits(float(end)) for end in (cost.min(), cost.max()))
    return Figure(
        key="pareto",
        data={
            "agents": table.agent,
            "score": np.column_stack([score, table.score_low, table.score_high]),
            "cost": np.column_stack([cost, table.cost_low, table.cost_high]),
            "on_front": table.on_front,
            "share": table.front_share,
            "log_axis": log_axis,
        },
        drawing=chart.figure(traces, 400, x, chart.axis(title)),
        caption=(
            f"An attempt costs from {low} to {high} ({named(front.cost_name)}); above and to the left of "
            f"the line there is no agent."
        ),
        description="One point an agent: cost to the right, score upwards, and the front as steps.",
        legend=(
            f"Lines through points are {front.level:.0%} intervals over items. An agent on the line scores "
            f"more than all that cost less.{' The axis of costs is logarithmic.' if log_axis else ''}"
        ),
        narrowest=420,
    )


def _bars(value: Floats, low: Floats, high: Floats, colour: str) -> chart.Part:
    below = {"symmetric": False, "arrayminus": chart.compact(value - low)}
    return chart.error_bars(high - value, colour + chart.LIGHT, **below)
