"""How precise scores are: aggregates with intervals, and what would make comparisons more precise."""

from __future__ import annotations

import numpy as np

from examiner.messages import InputError, counted
from examiner.reporting.figures import chart
from examiner.reporting.finding import Figure, Finding, Notes, shown_table
from examiner.reporting.prose import three_digits
from examiner.reporting.study import Resampled, Study
from examiner.scores import AGGREGATES, AggregateIntervals, DecisionStudy


def intervals(study: Study) -> Finding:
    """Give each aggregate an interval.

    >>> from examiner.results import Results
    >>> scores = [[[0.8, 0.9], [0.7, 0.9]], [[0.1, 0.2], [0.3, 0.2]]]
    >>> study = Study.of(Results.from_numpy(scores, agents=["dqn", "random"]))
    >>> intervals(study).lead[:53]
    'dqn has the best mean: 0.825 (95 % interval 0.478 to '
    """
    shown = study.resampled
    if not shown.agents:
        raise InputError("No agent has a comparable score, so there is nothing to be sure of.")
    aggregates = study.ranking.aggregates
    table = shown_table(aggregates.agents.take(shown.rows(aggregates.agent_names)))
    blocks = (shown.what_varies, _intervals(aggregates, shown), table, Notes(aggregates.notes))
    lead = study.none_better or aggregates.headline
    return Finding(lead=lead, blocks=blocks, answer=aggregates)


def _intervals(aggregates: AggregateIntervals, shown: Resampled) -> Figure:
    """A panel for each aggregate, side by side, with agents as rows."""
    order = shown.rows(aggregates.agent_names)
    titles = tuple(AGGREGATES[name].title for name in aggregates.aggregates)
    value, low, high = (part[order] for part in (aggregates.value, aggregates.low, aggregates.high))
    gap, rows = 0.05, list(range(len(shown.agents)))
    width = (1 - gap * (len(titles) - 1)) / len(titles)
    # No interval has no bar: a length of zero would claim to be one.
    bars = np.isfinite(low) & np.isfinite(high)
    above, below = (np.where(bars, end, np.nan) for end in (high - value, value - low))
    traces, axes = [], {}
    for panel, name in enumerate(titles):
        number = f"{panel + 1}" if panel else ""
        start = panel * (width + gap)
        domain = [round(start, 4), round(start + width, 4)]
        axes[f"xaxis{number}"] = chart.axis(name, domain=domain, nticks=5)
        lengths = {"arrayminus": chart.compact(below[:, panel]), "symmetric": False}
        hover = "%{x:.3~g} (%{customdata[0]:.3~g} to %{customdata[1]:.3~g})"
        points = chart.dots(value[:, panel], rows, name, chart.MIDDLE, hover, size=8)
        traces.append(
            points
            | {"xaxis": f"x{number}", "yaxis": "y"}
            | {"customdata": chart.compact(np.column_stack([low[:, panel], high[:, panel]]))}
            | {
                "error_x": chart.error_bars(
                    above[:, panel], chart.MIDDLE, thickness=2, width=4, **lengths
                )
            }
        )
    first, y = axes.pop("xaxis"), chart.rows_axis(shown.agents)
    return Figure(
        key="intervals",
        data={
            "agents": shown.agents,
            "aggregates": titles,
            "value": value,
            "low": low,
            "high": high,
            "unit": aggregates.unit,
            "interval": aggregates.interval,
            "reps": aggregates.reps,
        },
        drawing=chart.figure(traces, 80 + 18 * len(rows), first, y, legend=False, top=10, **axes),
        caption=f"Aggregates with 95 % intervals over other {aggregates.unit}.",
        description="One row an agent, one panel an aggregate: a point with its interval.",
        narrowest=240 + 150 * len(titles),
        rows="agents",
    )


def decision(study: Study) -> Finding:
    """Split the variance, and say what would make comparisons more precise.

    >>> from examiner.results import Results
    >>> rng = np.random.default_rng(0)
    >>> study = Study.of(Results.from_numpy(rng.random((3, 8, 4))))
    >>> decision(study).lead[:50]
    'More runs would make comparisons as much more prec'
    """
    if study.relative and len(study.results.agents) <= 3:
        few = counted(len(study.results.agents), "agent")
        raise InputError(
            f"Scores that compare {few} with each other hold no sizes to split the variance of: use a "
            f"scale (`--normalise human`), or add agents."
        )
    design = study.ranking.decision
    if np.isnan(design.components.interaction):
        raise InputError(design.headline)
    table = shown_table(design.components.parts, ("component", "meaning", "variance", "share"), "")
    return Finding(blocks=(_designs(design), table, Notes(design.all_notes)), answer=design)


def _designs(design: DecisionStudy) -> Figure:
    """The standard error of a difference over tasks; the darker the line, the fewer the runs."""
    components = design.components
    runs = design.runs if not np.isnan(components.run) else np.array([1])
    error = design.difference[:, : len(runs)]
    steps = np.linspace(1, len(chart.SEQUENTIAL) - 3, max(len(runs), 2)).round().astype(int)
    tasks = design.tasks.tolist()
    traces = []
    for column, count in enumerate(runs.tolist()):
        name, colour = counted(count, "run"), chart.SEQUENTIAL[steps[column]]
        hover = f"%{{x}} tasks, {name}: %{{y:.3~g}}"
        traces.append(chart.line(tasks, error[:, column], name, colour, hover))
    mean_runs = "1 run" if components.runs == 1 else f"{components.runs:.3g} runs"
    hover = f"%{{x}} tasks, {mean_runs}: %{{y:.3~g}}"
    now = [components.tasks], [design.now], "these results", chart.MEAN, hover
    traces.append(chart.dots(*now, size=11, symbol="diamond"))
    y = chart.axis("standard error of a difference", rangemode="tozero")
    y["title"]["font"] = {"size": 12}
    return Figure(
        key="decision",
        data={
            "tasks": design.tasks,
            "runs": runs,
            "error": error,
            "now": (components.tasks, components.runs, design.now),
            "reliability": design.reliability,
        },
        drawing=chart.figure(traces, 290, chart.axis("tasks"), y),
        caption=(
            f"With {counted(components.tasks, 'task')} and {mean_runs} the error is "
            f"{three_digits(design.now)}."
        ),
        description="Falling lines of the expected error over tasks, one for each number of runs.",
        legend="Tasks are taken as drawn from many like them.",
        narrowest=360,
    )
