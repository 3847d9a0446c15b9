"""Similarity: which tasks rank agents similarly, how far one factor goes, and who could be made to win."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from examiner.answers import Column
from examiner.information import PAPER_THRESHOLD, SimilarityAnalysis
from examiner.information import similarity as analyse_similarity
from examiner.messages import InputError, counted
from examiner.reporting.figures import chart
from examiner.reporting.finding import Figure, Finding, Notes, ShownTable, shown_table
from examiner.reporting.prose import enumerated
from examiner.reporting.study import Study


def finding(study: Study) -> Finding:
    """Show which tasks are similar and how much the choice of tasks decides who wins."""
    agents, tasks = len(study.results.agents), len(study.results.tasks)
    if agents < 5 or tasks < 3:
        raise InputError(
            f"{counted(agents, 'agent')} on {counted(tasks, 'task')} are too few to compare tasks: use at "
            f"least 5 agents and 3 tasks."
        )
    used, note = study.for_pairs
    note = f"{note} `examiner cluster` uses all results." if note else ""
    analysis = analyse_similarity(used.results, [study.measure], rng=study.seed)
    shown = render_similarity(analysis, not_shown=study.not_shown)
    notes = Notes([part for part in (note, *analysis.notes) if part])
    return replace(
        shown,
        lead=f"{shown.lead} {note}".rstrip(),
        blocks=(*shown.blocks, notes),
        applies=bool(analysis.main.significant or analysis.favourable.winners or analysis.opposed),
    )


def render_similarity(analysis: SimilarityAnalysis, *, not_shown: str = "") -> Finding:
    """Show the clusters, how far one factor goes, and which agents a choice of tasks makes win.

    `not_shown` says why agents may be identical, where a whole report concluded that: then no task is
    named as ranking agents against the others.

    >>> from examiner.results import Results
    >>> results = Results.from_numpy([[1.0, 2.0], [2.0, 3.0], [3.0, 5.0]], tasks="tu")
    >>> render_similarity(analyse_similarity(results)).data["clusters"]
    []
    """
    main, favourable = analysis.main, analysis.favourable
    winners = favourable.agents.take(np.flatnonzero(favourable.agents.significant)[:50])
    columns = ["agent", "lead", "p_value", "tasks"]
    verb = "is" if analysis.unclustered == 1 else "are"
    alone = f"{counted(analysis.unclustered, 'task')} {verb} in no significant cluster"
    if main.significant:
        alone += f"; the number of clusters with the best silhouette is {main.suggested}"
    winners_of = f"{favourable.headline[:-1]} ({favourable.test})."
    return Finding(
        lead=f"{analysis.headline} {winners_of}",
        blocks=(
            *((_figure(analysis), _tree(analysis)) if main.significant else ()),
            _clusters(analysis),
            f"{alone}.",
            shown_table(analysis.factor.statistics, caption="General factor"),
            analysis.factor.headline,
            shown_table(winners, columns, "Agents that a choice of tasks makes win"),
            _disagreeing(analysis, not_shown),
        ),
        about=f"{counted(len(favourable.agents), 'agent')}, {main.measure}; seed {analysis.seed}",
        answer=analysis,
    )


def _clusters(analysis: SimilarityAnalysis) -> ShownTable:
    clusters = analysis.clusters
    several = ["measure"] if len(analysis.clusters_by) > 1 else []
    names = [", ".join(row.tasks[:8]) + (", …" if row.tasks[8:] else "") for row in clusters]
    first = Column("first_tasks", "name", "The first tasks of the cluster", title="tasks")
    columns = ["cluster", *several, "size", "first_tasks"]
    return shown_table(clusters.with_column(first, names), columns, "Clusters")


def _disagreeing(analysis: SimilarityAnalysis, not_shown: str) -> str:
    opposed = () if not_shown else analysis.opposed
    sentence = "No task ranks the agents significantly against the others."
    if opposed:
        verb = "ranks" if len(opposed) == 1 else "rank"
        sentence = f"{enumerated(opposed, 8)} {verb} agents significantly against the other tasks."
    if analysis.deceptive:
        names = enumerated(analysis.deceptive, 8)
        sentence += f" Agents that win more score significantly less on {names}."
    return sentence


def _figure(analysis: SimilarityAnalysis) -> Figure:
    """Tasks × tasks: blue is a positive correlation, orange a negative one; lines separate clusters."""
    main = analysis.main
    columns, correlation = main.correlations(main.order)
    order = list(columns[:100])
    # Lines are drawn around significant clusters only.
    significant = np.array(main.is_significant)[main.label]
    label = np.where(significant, main.label, -1)[order]
    borders = tuple((np.flatnonzero(np.diff(label)) + 1).tolist())
    names, size = tuple(main.task_names[column] for column in order), len(order)
    correlation = correlation[:size, :size]
    trace = chart.cells(correlation, "diverging", "%{y}<br>%{x}<br>r = %{z:.2f}")
    trace |= {"zmin": -1, "zmax": 1, "colorbar": {"title": {"text": "r"}, "thickness": 10}}
    x, y = chart.square_axes(names, 24, tickfont={"size": 9 if size <= 60 else 8})
    shapes = [
        {"type": "line", "line": {"width": 1, "color": "#000000"}}
        | {"x0": -0.5, "x1": size - 0.5, "y0": -0.5, "y1": size - 0.5}
        | {f"{side}{end}": border - 0.5 for end in (0, 1)}
        for border in borders
        for side in "yx"
    ]
    height = 130 + (10 if size <= 60 else 9) * size
    verb = "is" if analysis.unclustered == 1 else "are"
    cut = f" Shown are the first {size} of {len(main.order):,} tasks."
    return Figure(
        key="task-clusters",
        data={"tasks": names, "correlation": correlation, "borders": borders},
        drawing=chart.figure([trace], height, x, y, legend=False, top=10, shapes=shapes),
        caption=(
            f"{counted(len(main.significant), 'significant cluster')}; "
            f"{counted(analysis.unclustered, 'task')} {verb} in none."
        ),
        description="Heat map of the correlation of each two tasks, with lines between clusters.",
        legend=(
            "Blue is a positive correlation, orange a negative one; lines separate clusters joined up to "
            f"1 − r = 0.8.{cut if len(main.order) > size else ''}"
        ),
        narrowest=220 + 9 * size,
        rows="tasks",
        columns="tasks",
    )


def _tree(analysis: SimilarityAnalysis) -> Figure | None:
    """The dendrogram: similar tasks join low, and the dotted line is where clusters part."""
    main = analysis.main
    varied = len(main.branches) + 1
    if not 2 < varied <= 100:
        return None
    tasks = tuple(main.task_names[row] for row in main.order[:varied])
    gaps = np.full((varied - 1, 1, 2), np.nan)  # between joins, so that one line draws all of them
    along, height = np.concatenate([main.branches, gaps], axis=1).reshape(-1, 2).T
    ends = np.array([-0.5, varied - 0.5])
    joins = chart.scatter(along, height, "joined", None, mode="lines", line={"color": chart.MIDDLE})
    cut = chart.line(ends, np.full(2, PAPER_THRESHOLD), "cut", chart.GREY, width=1, dash="dot")
    letters = {"size": 10 if varied <= 60 else 8}
    x = chart.names_axis(tasks, 24, tickfont=letters, tickangle=-90, range=ends.tolist())
    y = chart.axis("1 − r", rangemode="tozero")
    return Figure(
        key="task-tree",
        data={"tasks": tasks, "branches": main.branches, "cut": PAPER_THRESHOLD},
        drawing=chart.figure([joins, cut], 420, x, y, legend=False, top=10),
        caption=f"{counted(varied, 'task')} joined, the most similar first.",
        description="Dendrogram of tasks: two tasks or groups join at their distance, 1 − r.",
        legend="Tasks that join below the dotted line, at 1 − r = 0.8, are one cluster.",
        narrowest=220 + 9 * varied,
    )
