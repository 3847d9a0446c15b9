"""Learning curves: training logs summed up in several ways, and how that changes the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from examiner.answers import Column, Table
from examiner.messages import counted
from examiner.reporting.figures import chart
from examiner.reporting.figures.chart import Floats
from examiner.reporting.finding import Figure, Finding, Piece, ShownTable, Text, noted, shown_table
from examiner.reporting.prose import (
    ABSENT,
    Name,
    Prose,
    Sentence,
    enumerated,
    labels,
    parts_of,
    said,
    three_digits,
)
from examiner.reporting.study import Study
from examiner.scores import LEVEL, LearningCurves, ReportTable, Verdicts, friedman, report_table
from examiner.scores import curves as learning_curves

MOST_DRAWN = 24
MOST_NAMED = 3
MOST_PAIRS = 5
FEWEST_TESTED = 3
"""Agents and tasks from which Friedman's test says something."""


def finding(study: Study) -> Finding:
    """Sum up training logs in the ways of papers/001, section 3."""
    assert study.training is not None, "the table says that it is needed"
    made = learning_curves(study.training, study.measure)
    told, verdicts = render_summaries(made, not_shown=study.none_better), made.verdicts()
    summaries, *others = told.folded_tables
    blocks: list[Piece] = [Text(_meaning(made, study)), replace(summaries, folded=False)]
    if len(made.agent_names) > 1:
        blocks += [Text(_disagreement(verdicts)), _figure(made, verdicts)]
    notes = noted(made.notes, "What the summaries could not use or tell")
    if 1 < len(made.agent_names) < len(study.results.agents):
        learners = f"Of {counted(len(made.agent_names), 'agent')} that learn: "
        told = replace(told, lead=(learners, *parts_of(told.lead)))
    return replace(told, blocks=(*blocks, *others, *notes))


def render_summaries(made: LearningCurves, *, not_shown: str = "") -> Finding:
    """Tell what each summary makes of the agents, and which summaries agree least.

    `not_shown` says why agents may be alike, where a whole report has found that: then none is named.

    >>> from examiner.results import Results
    >>> made = learning_curves(Results.from_numpy([[1.0], [2.0]]), last=1)
    >>> [row["rank"] for row in render_summaries(made).data["agents"] if row["summary"] == "best"]
    [2.0, 1.0]
    """
    verdicts = made.verdicts()
    shape = f"{counted(len(made.run), 'run')} of {counted(len(made.agent_names), 'agent')}"
    about = (
        f"{shape} on {counted(len(made.task_names), 'task')}; {made.measure}, time in {made.unit}"
    )
    points = report_points_table(made, verdicts)
    blocks = (_summaries(made, verdicts), *_least_agreement(made, verdicts), points)
    lead = _lead(verdicts, not_shown or _chance(verdicts))
    assert points.numbers is not None
    beside = {"report_points": points.numbers.records()}
    return Finding(lead=lead, blocks=blocks, beside=beside, about=about, answer=made)


def draw_summaries(made: LearningCurves) -> Finding:
    """Return the figure of summaries alone.

    >>> from examiner.results import Results
    >>> len(draw_summaries(learning_curves(Results.from_numpy([[1.0], [2.0]]), last=1)).blocks)
    1
    """
    return Finding(blocks=(_figure(made, made.verdicts()),) if len(made.agent_names) > 1 else ())


def report_points_table(made: LearningCurves, verdicts: Verdicts) -> ShownTable:
    """Show the table of papers/001: every task and agent at each report point, mean (deviation, runs).

    >>> from examiner.results import Results
    >>> made = learning_curves(Results.from_numpy([[1.0]]), last=1)
    >>> report_points_table(made, made.verdicts()).rows
    [('task 1', 'agent 1', '1 (–, 1)')]
    """
    table = report_table(made)
    points = [f"{point:,.15g}" for point in table.points]
    columns = [Column("task", "name", "Task"), Column("agent", "name", "Agent")]
    columns += [Column(point, "text", f"At {point} {made.unit}", title=point) for point in points]
    rows = [
        (table.task_names[task], table.agent_names[agent], *_points(table, agent, task))
        for task in range(len(table.task_names))
        for agent in _order(verdicts)
        if table.runs[agent, task].any()
    ]
    what = made.summaries[0].meaning.partition(" by ")[0] if len(made.points) else "score"
    caption = f"By {made.unit}: {what}, averaged over runs (standard deviation, runs)"
    shown = Table.of(columns, _by_column(columns, rows))
    return replace(shown_table(shown, caption=caption), numbers=table.report_points)


def _by_column(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> dict[str, list[str]]:
    return {column.name: [row[at] for row in rows] for at, column in enumerate(columns)}


def _points(table: ReportTable, agent: int, task: int) -> list[str]:
    cells = zip(
        table.mean[agent, task].tolist(),
        table.deviation[agent, task].tolist(),
        table.runs[agent, task].tolist(),
        strict=True,
    )
    return [
        f"{_plain(mean)} ({_plain(spread)}, {runs})" if runs else ABSENT
        for mean, spread, runs in cells
    ]


def _plain(value: float) -> str:
    """A score as tables of papers write it: no powers of ten."""
    if np.isnan(value):
        return ABSENT
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _chance(verdicts: Verdicts) -> str:
    """Say that agents are not shown to differ over tasks, by all summaries of performance together."""
    _, agents, tasks = verdicts.cells.shape
    if agents < FEWEST_TESTED or tasks < FEWEST_TESTED:
        return ""
    p = friedman(verdicts.together)[1]
    return "" if p <= LEVEL else f"Agents are not shown to differ (Friedman, p = {p:.2g})."


def _lead(verdicts: Verdicts, not_shown: str) -> Prose:
    if len(verdicts.agents) == 1:
        return "There is one agent: its curves are summed up, but not compared."
    if not_shown:
        return ("No agent is shown to be ahead by its learning curves. ", Sentence(not_shown))
    leaders: dict[tuple[str, ...], list[str]] = {}
    for name, ranks in zip(verdicts.summaries, verdicts.rank, strict=True):
        first = tuple(
            agent for agent, rank in zip(verdicts.agents, ranks, strict=True) if rank == 1
        )
        if first and name != "relative drop":  # steadiness is no performance
            leaders.setdefault(first, []).append(name)
    if len(leaders) == 1:
        (names,) = leaders
        word = "lead" if len(names) > 1 else "leads"
        return (*enumerated(names, MOST_NAMED), f" {word} by every summary of the learning curves.")
    always = set.intersection(*map(set, leaders))
    if len(always) == 1:
        return (
            Name(always.pop()),
            " leads by every summary of the learning curves, not always alone.",
        )
    parts: list[str | Name] = ["Who leads depends on the summary: "]
    for index, (names, by) in enumerate(leaders.items()):
        told = f" by {said(enumerated(by))}"
        parts += ["; " if index else "", *enumerated(names, MOST_NAMED), told]
    return (*parts, ".")


def _meaning(made: LearningCurves, study: Study) -> Prose:
    share = (
        f" turned into the share of the other agents that an agent beats, averaged over "
        f"{counted(len(made.task_names), 'task')}."
    )
    return (
        f"{counted(len(made.run), 'run')} were logged while the agents learnt. Everywhere else in this "
        f"report they are reduced by ",
        Name(study.results.provenance.reduction or "all"),
        f". Performance during training is the mean of the last {made.last:,} episodes; the best is "
        f"biased upward, and re-evaluated on other episodes of the same checkpoint. Numbers are ",
        Name(made.measure),
        " averaged over runs." if len(made.task_names) == 1 else share,
    )


def _values(verdicts: Verdicts) -> Floats:
    """What is shown of the agents, of shape [summaries, agents]: of several tasks, the standing."""
    return verdicts.cells[:, :, 0] if len(verdicts.tasks) == 1 else verdicts.standing


def _summaries(made: LearningCurves, verdicts: Verdicts) -> ShownTable:
    one_task = len(made.task_names) == 1
    what = "mean over runs" if one_task else "share of the other agents beaten, mean over tasks"
    columns = [Column("summary of curves", "name", "Summary", title="summary")]
    columns += [Column(agent, "text", agent, title=agent) for agent in made.agent_names]
    rows = [
        (name, *(_ranked(value, rank) for value, rank in zip(values, ranks, strict=True)))
        for name, values, ranks in zip(
            verdicts.summaries, _values(verdicts), verdicts.rank, strict=True
        )
    ]
    table = Table.of(columns, _by_column(columns, rows))
    caption = f"Summaries: {what}, and (rank)"
    return replace(shown_table(table, caption=caption), numbers=made.agents)


def _ranked(value: float, rank: float) -> str:
    if np.isnan(value):
        return ABSENT
    return f"{value:.4g}" + ("" if np.isnan(rank) else f" ({rank:.0f})")


def _least_agreement(made: LearningCurves, verdicts: Verdicts) -> tuple[Piece, ...]:
    pairs = made.agreement.take(made.agreement.tau < 1).sorted_by("tau")
    if len(pairs):
        caption = "Where they disagree most (Kendall's tau)"
        return (shown_table(pairs.take(range(min(MOST_PAIRS, len(pairs)))), caption=caption),)
    if len(verdicts.agents) > 1:
        return (Text("All summaries put the agents in the same order."),)
    return ()


def _order(verdicts: Verdicts) -> list[int]:
    """Agents by their performance at the last report point that tells any of them."""
    during = [
        row
        for name, row in zip(verdicts.summaries, verdicts.rank, strict=True)
        if name.startswith(("training at", "evaluation at")) and not np.isnan(row).all()
    ]
    ranks = during[-1] if during else np.zeros(len(verdicts.agents))
    return [int(agent) for agent in np.argsort(ranks, kind="stable")]


def _disagreement(verdicts: Verdicts) -> Prose:
    taus = np.where(np.triu(np.ones_like(verdicts.agreement), k=1) > 0, verdicts.agreement, np.nan)
    if np.isnan(taus).all():
        return "The summaries cannot be compared: they order too few agents."
    a, b = np.unravel_index(np.nanargmin(taus), taus.shape)
    return (
        f"Of all pairs of summaries, {verdicts.summaries[a]} and {verdicts.summaries[b]} agree least "
        f"about the order of the agents: Kendall's τ is {three_digits(float(taus[a, b]))} (1 is the same "
        f"order, −1 the reverse)."
    )


class BumpData(NamedTuple):
    """What the lines draw; `ranks` and `standing` have shape [summaries, agents], NaN where unknown."""

    agents: tuple[str, ...]
    summaries: tuple[str, ...]
    ranks: Floats
    standing: Floats


def data(
    agents: Sequence[str], summaries: Sequence[str], ranks: Floats, standing: Floats
) -> BumpData:
    """Prepare the lines; summaries that say nothing of any agent are left out.

    >>> drawn = data(["a", "b"], ["end", "none"], np.array([[1.0, 2], [np.nan, np.nan]]), np.zeros((2, 2)))
    >>> drawn.summaries
    ('end',)
    """
    told = np.flatnonzero((~np.isnan(ranks)).any(axis=1))
    named = tuple(summaries[row] for row in told.tolist())
    return BumpData(tuple(agents), named, ranks[told], standing[told])


def draw(data: BumpData) -> chart.Drawing:
    """Draw one line an agent, the best rank on top.

    >>> figure = draw(data(["a"], ["end", "best"], np.array([[1.0], [1.0]]), np.ones((2, 1))))
    >>> [trace["name"] for trace in figure["data"]]
    ['a']
    """
    along = list(range(len(data.summaries)))
    hover = "%{customdata[0]}: rank %{y}, beats %{customdata[1]:.0%}"
    traces = []
    for agent, label in enumerate(labels(data.agents, 28)):
        colour = chart.QUALITATIVE[agent % len(chart.QUALITATIVE)]
        dash = ("solid", "dash", "dot")[agent // len(chart.QUALITATIVE) % 3]
        drawn = chart.line(along, data.ranks[:, agent], label, colour, hover, width=3, dash=dash)
        told = [[label, value] for value in chart.compact(data.standing[:, agent])]
        marked = {"mode": "lines+markers", "marker": {"size": 9, "color": colour}}
        named = chart.linked("agents", data.agents[agent])
        traces.append(drawn | marked | named | {"customdata": told, "connectgaps": False})
    seen = data.ranks[~np.isnan(data.ranks)]
    lowest = int(seen.max()) if len(seen) else 1
    ranks = {"dtick": max(1, lowest // 10), "tick0": 1, "range": [lowest + 0.5, 0.5]}
    x = chart.names_axis(data.summaries, 60, range=[-0.3, len(along) - 0.7], showgrid=True)
    return chart.figure(traces, 190 + 30 * lowest, x, chart.axis("rank", **ranks), top=20)


def _figure(made: LearningCurves, verdicts: Verdicts) -> Figure:
    agents = _order(verdicts)[:MOST_DRAWN]
    drawn = data(
        [verdicts.agents[agent] for agent in agents],
        [summary.short for summary in made.summaries],
        verdicts.rank[:, agents],
        verdicts.standing[:, agents],
    )
    moved = int((np.fmax.reduce(drawn.ranks) > np.fmin.reduce(drawn.ranks)).sum())
    total = len(verdicts.agents)
    rest = (f"The first {MOST_DRAWN} of {total:,} agents are drawn.",) if total > MOST_DRAWN else ()
    return Figure(
        key="curves-ranks",
        drawn=drawn,
        drawing=draw(drawn),
        caption=f"{moved:,} of {counted(len(agents), 'agent')} change places with the summary.",
        description="One line an agent: its rank under each summary of its learning curves.",
        legend=rest,
        narrowest=460,
    )
