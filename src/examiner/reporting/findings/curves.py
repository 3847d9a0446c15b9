"""Learning curves summed up in several ways, and how that changes who is ahead."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from examiner.answers import Column, Table
from examiner.messages import counted
from examiner.reporting.figures import chart
from examiner.reporting.finding import Figure, Finding, Notes, ShownTable, shown_table
from examiner.reporting.prose import ABSENT, labels, named
from examiner.reporting.study import Study
from examiner.scores import LEVEL, LearningCurves, Verdicts, friedman, report_table
from examiner.scores import curves as learning_curves


def finding(study: Study) -> Finding:
    """Sum up training logs in the ways of papers/001, section 3."""
    assert study.training is not None, "the table says that it is needed"
    curves = learning_curves(study.training, study.measure)
    shown = render_summaries(curves, not_shown=study.none_better)
    learners = counted(len(curves.agent_names), "agent")
    if 1 < len(curves.agent_names) < len(study.results.agents):
        shown = replace(shown, lead=f"{learners} learn. {shown.lead}")
    share = (
        f" turned into the share of the other agents that an agent beats, averaged over "
        f"{counted(len(curves.task_names), 'task')}."
    )
    meaning = (
        f"{counted(len(curves.run), 'run')} were logged while the agents learnt. Everywhere else in this "
        f"report they are reduced by {named(study.results.provenance.reduction or 'all')}. Performance "
        f"during training is the mean of the last {curves.last:,} episodes; the best is biased upward, and "
        f"re-evaluated on other episodes of the same checkpoint. Numbers are {named(curves.measure)}"
        f"{' averaged over runs.' if len(curves.task_names) == 1 else share}"
    )
    notes = Notes(curves.notes, "What the summaries could not use or tell")
    return replace(shown, blocks=(meaning, *shown.blocks, notes))


def render_summaries(curves: LearningCurves, *, not_shown: str = "") -> Finding:
    """Show what each summary makes of the agents, and which summaries agree least.

    `not_shown` says why agents may be alike, where a whole report has found that: then none is named.

    >>> from examiner.results import Results
    >>> curves = learning_curves(Results.from_numpy([[1.0], [2.0]]), last=1)
    >>> [row["rank"] for row in render_summaries(curves).data["agents"] if row["summary"] == "best"]
    [2.0, 1.0]
    """
    verdicts = curves.verdicts()
    several = len(verdicts.agents) > 1
    points = report_points_table(curves, verdicts)
    pairs = curves.agreement.take(curves.agreement.tau < 1).sorted_by("tau")
    caption = "Where they disagree most (Kendall's tau)"
    agree = shown_table(pairs.take(range(len(pairs))[:5]), caption=caption)
    same = "All summaries put the agents in the same order."
    shape = f"{counted(len(curves.run), 'run')} of {counted(len(curves.agent_names), 'agent')}"
    why = (not_shown or _chance(verdicts)) if several else ""
    assert points.numbers is not None
    return Finding(
        lead=f"No agent is shown to be ahead by its learning curves. {why}" if why else "",
        blocks=(
            _summaries(curves, verdicts),
            _figure(curves, verdicts) if several else None,
            agree if len(pairs) or not several else same,
            points,
        ),
        beside={"report_points": points.numbers.records()},
        about=(
            f"{shape} on {counted(len(curves.task_names), 'task')}; {curves.measure}, time in "
            f"{curves.unit}"
        ),
        answer=curves,
    )


def _chance(verdicts: Verdicts) -> str:
    """Say that agents are not shown to differ over tasks, by all summaries of performance together."""
    _, agents, tasks = verdicts.cells.shape
    if agents < 3 or tasks < 3:  # with fewer, Friedman's test cannot be significant
        return ""
    p = friedman(verdicts.together)[1]
    return "" if p <= LEVEL else f"Agents are not shown to differ (Friedman, p = {p:.2g})."


def _summaries(curves: LearningCurves, verdicts: Verdicts) -> ShownTable:
    one_task = len(curves.task_names) == 1
    values = verdicts.cells[:, :, 0] if one_task else verdicts.standing
    what = "mean over runs" if one_task else "share of the other agents beaten, mean over tasks"
    columns = [Column("summary of curves", "name", "Summary", title="summary")]
    columns += [Column(agent, "text", agent, title=agent) for agent in curves.agent_names]
    cells = {
        agent: list(map(_ranked, values[:, row], verdicts.rank[:, row]))
        for row, agent in enumerate(verdicts.agents)
    }
    table = Table.of(columns, {"summary of curves": verdicts.summaries} | cells)
    caption = f"Summaries: {what}, and (rank)"
    return replace(shown_table(table, caption=caption), numbers=curves.agents)


def _ranked(value: float, rank: float) -> str:
    if np.isnan(value):
        return ABSENT
    return f"{value:.4g}" + ("" if np.isnan(rank) else f" ({rank:.0f})")


def report_points_table(curves: LearningCurves, verdicts: Verdicts) -> ShownTable:
    """Show the table of papers/001: every task and agent at each report point, mean (deviation, runs).

    >>> from examiner.results import Results
    >>> curves = learning_curves(Results.from_numpy([[1.0]]), last=1)
    >>> report_points_table(curves, curves.verdicts()).rows
    [('task 1', 'agent 1', '1 (–, 1)')]
    """
    table = report_table(curves)
    rows = [
        (task, agent)
        for task in range(len(table.task_names))
        for agent in _order(verdicts)
        if table.runs[agent, task].any()
    ]
    columns = [Column("task", "name", "Task"), Column("agent", "name", "Agent")]
    cells = {
        "task": [table.task_names[task] for task, _ in rows],
        "agent": [table.agent_names[agent] for _, agent in rows],
    }
    for at, point in enumerate(f"{point:,.15g}" for point in table.points):
        columns.append(Column(point, "text", f"At {point} {curves.unit}", title=point))
        cells[point] = [
            f"{_plain(mean)} ({_plain(deviation)}, {runs})" if runs else ABSENT
            for task, agent in rows
            for mean, deviation, runs in [
                tuple(part[agent, task, at] for part in (table.mean, table.deviation, table.runs))
            ]
        ]
    what = curves.summaries[0].meaning.partition(" by ")[0] if len(curves.points) else "score"
    caption = f"By {curves.unit}: {what}, averaged over runs (standard deviation, runs)"
    return replace(
        shown_table(Table.of(columns, cells), caption=caption), numbers=table.report_points
    )


def _plain(value: float) -> str:
    """A score as tables of papers write it: no powers of ten."""
    if np.isnan(value):
        return ABSENT
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _order(verdicts: Verdicts) -> list[int]:
    """Agents by their performance at the last report point that tells any of them."""
    during = [
        row
        for name, row in zip(verdicts.summaries, verdicts.rank, strict=True)
        if name.startswith(("training at", "evaluation at")) and not np.isnan(row).all()
    ]
    ranks = during[-1] if during else np.zeros(len(verdicts.agents))
    return [int(agent) for agent in np.argsort(ranks, kind="stable")]


def _figure(curves: LearningCurves, verdicts: Verdicts) -> Figure:
    """One line an agent over the summaries, the best rank on top."""
    rows = _order(verdicts)[:24]
    agents = tuple(verdicts.agents[row] for row in rows)
    ordering = np.any(~np.isnan(verdicts.rank[:, rows]), axis=1)  # others say nothing of any agent
    summaries = tuple(
        summary.short
        for summary, shown in zip(curves.summaries, ordering.tolist(), strict=True)
        if shown
    )
    ranks, standing = (part[ordering][:, rows] for part in (verdicts.rank, verdicts.standing))
    hover = "%{customdata[0]}: rank %{y}, beats %{customdata[1]:.0%}"
    traces = []
    for row, label in enumerate(labels(agents, 28)):
        colour = chart.QUALITATIVE[row % len(chart.QUALITATIVE)]
        dash = ("solid", "dash", "dot")[row // len(chart.QUALITATIVE) % 3]
        along = list(range(len(summaries)))
        line = chart.line(along, ranks[:, row], label, colour, hover, width=3, dash=dash)
        details = [[label, value] for value in chart.compact(standing[:, row])]
        marked = {"mode": "lines+markers", "marker": {"size": 9, "color": colour}}
        traces.append(
            line
            | marked
            | {"customdata": details, "connectgaps": False}
            | chart.linked("agents", agents[row])
        )
    lowest = int(np.nanmax(ranks)) if ordering.any() else 1
    y = chart.axis("rank", dtick=max(1, lowest // 10), tick0=1, range=[lowest + 0.5, 0.5])
    x = chart.names_axis(summaries, 60, range=[-0.3, len(summaries) - 0.7], showgrid=True)
    moved = int((np.fmax.reduce(ranks) > np.fmin.reduce(ranks)).sum())
    total = len(verdicts.agents)
    first = f"The first {len(agents)} of {total:,} agents are drawn."
    return Figure(
        key="curves-ranks",
        data={"agents": agents, "summaries": summaries, "ranks": ranks, "standing": standing},
        drawing=chart.figure(traces, 190 + 30 * lowest, x, y, top=20),
        caption=f"{moved:,} of {counted(len(agents), 'agent')} change places with the summary.",
        description="One line an agent: its rank under each summary of its learning curves.",
        legend=first if total > len(agents) else "",
        narrowest=460,
    )
