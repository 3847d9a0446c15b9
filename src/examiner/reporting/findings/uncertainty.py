"""How sure one can be: aggregates with intervals, what `scores` compares, and what would make it surer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.messages import counted
from examiner.reporting.figures import chart
from examiner.reporting.figures.chart import Floats
from examiner.reporting.finding import (
    Figure,
    Finding,
    NothingToTellError,
    Piece,
    ShownTable,
    Sides,
    Text,
    noted,
    shown_table,
)
from examiner.reporting.prose import Name, Prose, Sentence, enumerated, three_digits
from examiner.reporting.study import Resampled, Study
from examiner.scores import (
    AGGREGATES,
    AggregateIntervals,
    DecisionStudy,
    Ranking,
    shared_ranks,
)

GAP = 0.05
FEW_AGENTS = 3


def intervals(study: Study) -> Finding:
    """Give each aggregate an interval, and say whether the leader's is clear of all others.

    >>> from examiner.results import Results
    >>> from examiner.reporting.prose import said
    >>> scores = [[[0.8, 0.9], [0.7, 0.9]], [[0.1, 0.2], [0.3, 0.2]]]
    >>> study = Study.of(Results.from_numpy(scores, agents=["dqn", "random"]))
    >>> said(intervals(study).lead)[:50]
    'dqn leads by mean: 0.825 (95 % interval 0.478 to 1'
    """
    shown = study.resampled
    if not shown.agents:
        raise NothingToTellError(
            "No agent has a comparable score, so there is nothing to be sure of."
        )
    made = study.ranking.aggregates
    blocks = (Text(shown.what_varies), _figure(made, shown), _table(made, shown))
    return Finding(
        lead=_lead(made, study.none_better),
        blocks=(*blocks, *noted(made.notes)),
        answer=made,
    )


def render_ranking(made: Ranking, *, seed: int = 0) -> Finding:
    """Show the ranking of agents, which agent beats which, and what would make it more precise.

    >>> from examiner.results import Results
    >>> from examiner.scores import rank
    >>> results = Results.from_numpy(np.random.default_rng(0).normal(size=(2, 4, 5)))
    >>> render_ranking(rank(results, rng=0, reps=100)).data["agents"][0]["agent"]
    'agent 2'
    """
    used = made.aggregates
    blocks: list[Piece] = [shown_table(made.agents)]
    if made.groups is not None:
        blocks.append(shown_table(made.groups))
    if len(made.pairs):
        tested = () if made.tests is None else ("p_adjusted",)
        ends = ("probability", "probability_low", "probability_high")
        blocks.append(shown_table(made.pairs, ("a", "b", *ends, "difference", *tested)))
        blocks += _many_pairs(made)
    if made.tests is not None:
        blocks.append(Text(f"{made.tests.headline} {made.tests.too_few_tasks}".rstrip()))
    blocks.append(Text(made.decision.headline))
    how = f"unit: {used.unit}, {used.interval}, {used.reps:,} resamples, seed {seed}"
    halves = "" if made.ranks is None else made.ranks.halves
    return Finding(
        lead=(Sentence(made.headline), *((" ", Sentence(halves)) if halves else ())),
        blocks=tuple(blocks),
        about=f"{used.level:.0%} intervals, {how}",
        answer=made,
    )


def _many_pairs(made: Ranking) -> list[Text]:
    """Warn that each pair has an interval of its own: of many, some exclude one half by chance."""
    count = len(made.pairs)
    if count < 2:
        return []
    by_chance = three_digits(count * (1 - made.aggregates.level))
    return [
        Text(
            f"Intervals are of single pairs, not adjusted for {count:,} pairs: where agents are identical, "
            f"about {by_chance} exclude 0.5. Values of p are adjusted."
        )
    ]


def _lead(made: AggregateIntervals, not_shown: str) -> Prose:
    order = np.argsort(-made.value[:, 0], kind="stable")
    best, others = int(order[0]), order[1:]
    value, low, high = (float(part[best, 0]) for part in (made.value, made.low, made.high))
    title = AGGREGATES[made.aggregates[0]].title
    # Agents share tasks: intervals may overlap where the paired comparison below is clear.
    clear = len(others) and bool((made.high[others, 0] < low).all())
    if not_shown and not clear:
        lie = (three_digits(float(end)) for end in (made.value[order[-1], 0], value))
        told = f"No agent is significantly better: their {title}s lie between {' and '.join(lie)}."
        return (f"{told} ", Sentence(not_shown))
    start = f" leads by {title}: {three_digits(value)}"
    if not len(others):
        start = f" has a {title} of {three_digits(value)}"
    if np.isnan(low):
        return (Name(made.agent_names[best]), f"{start}; no interval can be computed.")
    ends = f"{three_digits(low)} to {three_digits(high)}"
    interval = f" (95 % interval {ends}, over other {made.unit})"
    end = ", clear of all other intervals." if clear else "."
    tied = [made.agent_names[row] for row in order if shared_ranks(made.value[:, 0])[row] == 1]
    if len(tied) > 1:
        both = f" lead by {title}: {three_digits(value)} each"
        return (*enumerated(tied, 3), f"{both} (95 % interval of the first {ends}).")
    return (Name(made.agent_names[best]), f"{start}{interval}{end}")


class IntervalData(NamedTuple):
    """What the panels draw; arrays of shape [agents, aggregates], NaN where there is no interval."""

    agents: tuple[str, ...]
    aggregates: tuple[str, ...]
    value: Floats
    low: Floats
    high: Floats
    unit: str = "runs"
    interval: str = "studentised"
    reps: int = 0


def draw_intervals(data: IntervalData) -> chart.Drawing:
    """Draw a panel for each aggregate, side by side, with agents as rows.

    >>> one = np.array([[1.0, 2.0]])
    >>> figure = draw_intervals(IntervalData(("a",), ("mean", "iqm"), one, one - 1, one + 1))
    >>> [trace["xaxis"] for trace in figure["data"]]
    ['x', 'x2']
    """
    panels = len(data.aggregates)
    width = (1 - GAP * (panels - 1)) / panels
    traces, axes = [], {}
    rows = list(range(len(data.agents)))
    for panel, name in enumerate(data.aggregates):
        number = f"{panel + 1}" if panel else ""
        start = panel * (width + GAP)
        domain = [round(start, 4), round(start + width, 4)]
        axes[f"xaxis{number}"] = chart.axis(name, domain=domain, nticks=5)
        value, low, high = (part[:, panel] for part in (data.value, data.low, data.high))
        # No interval has no bar: a length of zero would claim to be one.
        bars = np.isfinite(low) & np.isfinite(high)
        above, below = (np.where(bars, end, np.nan) for end in (high - value, value - low))
        style = {"symmetric": False, "arrayminus": chart.compact(below), "thickness": 2, "width": 4}
        hover = "%{x:.3~g} (%{customdata[0]:.3~g} to %{customdata[1]:.3~g})"
        points = chart.dots(
            value, rows, name, chart.MIDDLE, hover, size=8, xaxis=f"x{number}", yaxis="y"
        )
        drawn = {"error_x": chart.error_bars(above, chart.MIDDLE, **style)}
        traces.append(points | drawn | {"customdata": chart.compact(np.column_stack([low, high]))})
    first, y = axes.pop("xaxis"), chart.rows_axis(data.agents)
    return chart.figure(traces, 80 + 18 * len(rows), first, y, legend=False, top=10, **axes)


def _figure(made: AggregateIntervals, shown: Resampled) -> Figure:
    rows = shown.rows(made.agent_names)
    titles = tuple(AGGREGATES[name].title for name in made.aggregates)
    value, low, high = (part[rows] for part in (made.value, made.low, made.high))
    how = made.unit, made.interval, made.reps
    data = IntervalData(shown.agents, titles, value, low, high, *how)
    return Figure(
        key="intervals",
        drawn=data,
        drawing=draw_intervals(data),
        caption=f"Aggregates with 95 % intervals over other {made.unit}.",
        description="One row an agent, one panel an aggregate: a point with its interval.",
        narrowest=240 + 150 * len(titles),
        sides=Sides(rows="agents"),
    )


def _table(made: AggregateIntervals, shown: Resampled) -> ShownTable:
    return shown_table(made.agents.take(shown.rows(made.agent_names)))


def decision(study: Study) -> Finding:
    """Split the variance, and answer what would make comparisons surer.

    >>> from examiner.results import Results
    >>> from examiner.reporting.prose import said
    >>> rng = np.random.default_rng(0)
    >>> study = Study.of(Results.from_numpy(rng.random((3, 8, 4))))
    >>> said(decision(study).lead)[:13]
    'Runs make up '
    """
    if study.relative and len(study.results.agents) <= FEW_AGENTS:
        few = counted(len(study.results.agents), "agent")
        raise NothingToTellError(
            f"Scores that compare {few} with each other hold no sizes to split the variance of: use a "
            f"scale (`--normalise human`), or add agents."
        )
    made = study.ranking.decision
    if np.isnan(made.components.interaction):
        raise NothingToTellError(made.headline)
    table = shown_table(made.components.parts, ("component", "meaning", "variance", "share"), "")
    return Finding(
        lead=made.headline,
        blocks=(_designs(study, made), table, *noted(made.all_notes)),
        answer=made,
    )


class DecisionData(NamedTuple):
    """What is drawn: `error` has shape [tasks, runs]; `now` is the design used: tasks, runs, error."""

    tasks: NDArray[np.int64]
    runs: NDArray[np.int64]
    error: Floats
    now: tuple[float, float, float]
    reliability: Floats | None = None


def draw_decision(data: DecisionData) -> chart.Drawing:
    """Draw the standard error of a difference; the darker the line, the fewer the runs.

    >>> error = np.array([[2.0], [1.4]])
    >>> figure = draw_decision(DecisionData(np.array([1, 2]), np.array([1]), error, (2, 1, 1.4)))
    >>> [trace["name"] for trace in figure["data"]]
    ['1 run', 'these results']
    """
    steps = np.linspace(1, len(chart.SEQUENTIAL) - 3, max(len(data.runs), 2)).round().astype(int)
    tasks, (now_tasks, now_runs, now_error) = data.tasks.tolist(), data.now
    traces = [
        chart.line(
            tasks,
            data.error[:, column],
            counted(runs, "run"),
            chart.SEQUENTIAL[steps[column]],
            f"%{{x}} tasks, {counted(runs, 'run')}: %{{y:.3~g}}",
        )
        for column, runs in enumerate(data.runs.tolist())
    ]
    hover = f"%{{x}} tasks, {_runs(now_runs)}: %{{y:.3~g}}"
    now = [now_tasks], [now_error], "these results", chart.MEAN, hover
    traces.append(chart.dots(*now, size=11, symbol="diamond"))
    y = chart.axis("standard error of a difference", rangemode="tozero")
    y["title"]["font"] = {"size": 12}
    return chart.figure(traces, 290, chart.axis("tasks"), y)


def _runs(mean: float) -> str:
    """The mean number of runs per cell in words."""
    return "1 run" if mean == 1 else f"{mean:.3g} runs"


def _designs(study: Study, made: DecisionStudy) -> Figure:
    found = made.components
    runs = made.runs if not np.isnan(found.run) else np.array([1])
    now = found.tasks, found.runs, made.now
    error = made.difference[:, : len(runs)]
    data = DecisionData(made.tasks, runs, error, now, made.reliability)
    told = f"With {counted(found.tasks, 'task')} and {_runs(found.runs)} the error is"
    return Figure(
        key="decision",
        drawn=data,
        drawing=draw_decision(data),
        caption=f"{told} {three_digits(made.now)}.",
        description="Falling lines of the expected error over tasks, one for each number of runs.",
        legend="Tasks are taken as drawn from many like them.",
        narrowest=360,
    )
