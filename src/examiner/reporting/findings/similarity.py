"""Similarity: which tasks rank agents similarly, how far one factor goes, and who could be made to win."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from examiner.answers import Column
from examiner.information import PAPER_THRESHOLD, SimilarityAnalysis
from examiner.information import similarity as analyse_similarity
from examiner.messages import counted
from examiner.reporting.figures import chart
from examiner.reporting.figures.chart import Floats
from examiner.reporting.figures.task_tree import MANY, TaskTreeData, draw_tree
from examiner.reporting.finding import (
    Figure,
    Finding,
    NothingToTellError,
    Piece,
    Sides,
    Text,
    noted,
    shown_table,
)
from examiner.reporting.prose import Parts, Prose, Sentence, enumerated
from examiner.reporting.study import Study

FEWEST_AGENTS, FEWEST_TASKS = 5, 3
MOST_DRAWN = 100
MOST_WINNERS = 50
MOST_NAMED = 8


def finding(study: Study) -> Finding:
    """Show which tasks are similar and how much the choice of tasks decides who wins."""
    agents, tasks = len(study.results.agents), len(study.results.tasks)
    if agents < FEWEST_AGENTS or tasks < FEWEST_TASKS:
        few = f"{counted(agents, 'agent')} on {counted(tasks, 'task')}"
        needed = f"{FEWEST_AGENTS} agents and {FEWEST_TASKS} tasks"
        raise NothingToTellError(f"{few} are too few to compare tasks: use at least {needed}.")
    used, note = study.for_pairs
    note = f"{note} `examiner cluster` uses all results." if note else ""
    analysis = analyse_similarity(used.results, [study.measure], rng=study.seed)
    shown = render_similarity(analysis, not_shown=study.not_shown)
    figures = [_figure(analysis), *_tree(analysis)] if analysis.main.significant else []
    texts = [block for block in shown.blocks if isinstance(block, Text)]
    notes = (note, *analysis.notes) if note else analysis.notes
    blocks = (*figures, *texts, *shown.folded_tables, *noted(notes))
    lead = (Sentence(analysis.headline), *((" ", note) if note else ()))
    significant = bool(analysis.main.significant or analysis.favourable.winners or analysis.opposed)
    return replace(shown, lead=lead, blocks=blocks, applies=significant)


def render_similarity(analysis: SimilarityAnalysis, *, not_shown: str = "") -> Finding:
    """Show the clusters, how far one factor goes, and which agents a choice of tasks makes win.

    `not_shown` says why agents may be identical, where a whole report concluded that: then no task is
    named as ranking agents against the others.

    >>> from examiner.results import Results
    >>> results = Results.from_numpy([[1.0, 2.0], [2.0, 3.0], [3.0, 5.0]], tasks="tu")
    >>> render_similarity(analyse_similarity(results)).data["clusters"]
    []
    """
    clusters = analysis.clusters
    several = ["measure"] if len(analysis.clusters_by) > 1 else []
    favourable = analysis.agents.take(np.flatnonzero(analysis.agents.significant)[:MOST_WINNERS])
    blocks: list[Piece] = []
    if len(clusters):
        first = Column("first_tasks", "name", "The first tasks of the cluster", title="tasks")
        table = clusters.with_column(first, [_first(each.tasks) for each in clusters])
        blocks.append(shown_table(table, ["cluster", *several, "size", "first_tasks"], "Clusters"))
    blocks += [
        Text(_unclustered(analysis)),
        shown_table(analysis.statistics, caption="General factor"),
        Text(analysis.factor.headline),
        Text(f"{analysis.favourable.headline[:-1]} ({analysis.favourable.test})."),
    ]
    if len(favourable):
        columns = ["agent", "lead", "p_value", "tasks"]
        blocks.append(shown_table(favourable, columns, "Agents that a choice of tasks makes win"))
    blocks.append(Text(_disagreeing(analysis, not_shown)))
    return Finding(
        lead=(Sentence(analysis.headline),),
        blocks=tuple(blocks),
        about=f"{counted(len(analysis.agents), 'agent')}, {analysis.main.measure}; seed {analysis.seed}",
        answer=analysis,
    )


def _first(names: Sequence[str]) -> str:
    return ", ".join(names[:MOST_NAMED]) + (", …" if len(names) > MOST_NAMED else "")


def _unclustered(analysis: SimilarityAnalysis) -> str:
    """Return how many tasks are in no significant cluster, and how many clusters are suggested."""
    main = analysis.main
    verb = "is" if analysis.unclustered == 1 else "are"
    alone = f"{counted(analysis.unclustered, 'task')} {verb} in no significant cluster"
    if not main.significant:
        return f"{alone}."
    return f"{alone}; the number of clusters with the best silhouette is {main.suggested}."


def _disagreeing(analysis: SimilarityAnalysis, not_shown: str) -> Prose:
    opposed = () if not_shown else analysis.opposed
    parts: Parts = ("No task ranks the agents significantly against the others.",)
    if opposed:
        verb = "ranks" if len(opposed) == 1 else "rank"
        named = enumerated(opposed, MOST_NAMED)
        parts = (*named, f" {verb} agents significantly against the other tasks.")
    if analysis.deceptive:
        named = enumerated(analysis.deceptive, MOST_NAMED)
        parts = (*parts, " Agents that win more score significantly less on ", *named, ".")
    return parts


class TaskClustersData(NamedTuple):
    """The data of the heat map; `correlation` has shape [tasks, tasks] in the order drawn.

    `borders` are the rows before which a new cluster begins.
    """

    tasks: tuple[str, ...]
    correlation: Floats
    borders: tuple[int, ...]


def data(
    tasks: Sequence[str], correlation: Floats, order: Sequence[int], borders: Sequence[int]
) -> TaskClustersData:
    """Return the data with tasks in their order.

    >>> data(["t", "u"], np.array([[1.0, 0.5], [0.5, 1.0]]), [1, 0], [1]).tasks
    ('u', 't')
    """
    rows = list(order)
    named = tuple(tasks[row] for row in rows)
    return TaskClustersData(named, correlation[np.ix_(rows, rows)], tuple(borders))


def draw(data: TaskClustersData) -> chart.Drawing:
    """Draw the heat map: blue is a positive correlation, orange a negative one; lines separate clusters.

    >>> drawn = draw(data(["t", "u"], np.array([[1.0, 0.5], [0.5, 1.0]]), [1, 0], [1]))
    >>> len(drawn["layout"]["shapes"])
    2
    """
    size = len(data.tasks)
    hover = "%{y}<br>%{x}<br>r = %{z:.2f}"
    bar = {"zmin": -1, "zmax": 1, "colorbar": {"title": {"text": "r"}, "thickness": 10}}
    trace = chart.cells(data.correlation, "diverging", hover, **bar)
    letters, height = (9, 10) if size <= MANY else (8, 9)
    x, y = chart.square_axes(data.tasks, 24, tickfont={"size": letters})
    ends = {"x0": -0.5, "x1": size - 0.5, "y0": -0.5, "y1": size - 0.5}
    shapes = [
        {"type": "line", "line": {"width": 1, "color": "#000000"}}
        | ends
        | {f"{side}{end}": border - 0.5 for end in (0, 1)}
        for border in data.borders
        for side in "yx"
    ]
    return chart.figure([trace], 130 + height * size, x, y, legend=False, top=10, shapes=shapes)


def _figure(analysis: SimilarityAnalysis) -> Figure:
    main = analysis.main
    columns, correlation = main.correlations(main.order)
    order = columns[:MOST_DRAWN]
    significant = np.array(main.is_significant)[
        main.label
    ]  # lines around significant clusters only
    label = np.where(significant, main.label, -1)[list(order)]
    borders = (np.flatnonzero(np.diff(label)) + 1).tolist()
    names = [main.task_names[column] for column in order]
    drawn = data(names, correlation, range(len(order)), borders)
    cut = len(main.order) > len(order)
    verb = "is" if analysis.unclustered == 1 else "are"
    alone = f"{counted(analysis.unclustered, 'task')} {verb} in none"
    first = f" Shown are the first {len(order)} of {len(main.order):,} tasks." if cut else ""
    return Figure(
        key="task-clusters",
        drawn=drawn,
        drawing=draw(drawn),
        caption=f"{counted(len(main.significant), 'significant cluster')}; {alone}.",
        description="Heat map of the correlation of each two tasks, with lines between clusters.",
        legend=(
            "Blue is a positive correlation, orange a negative one; lines separate clusters joined up to "
            f"1 − r = 0.8.{first}"
        ),
        sides=Sides("tasks", "tasks"),
        narrowest=220 + 9 * len(order),
    )


def _tree(analysis: SimilarityAnalysis) -> list[Piece]:
    main = analysis.main
    varied = len(main.branches) + 1
    if not 2 < varied <= MOST_DRAWN:
        return []
    drawn = TaskTreeData(
        tuple(main.task_names[row] for row in main.order[:varied]), main.branches, PAPER_THRESHOLD
    )
    return [
        Figure(
            key="task-tree",
            drawn=drawn,
            drawing=draw_tree(drawn),
            caption=f"{counted(varied, 'task')} joined, the most similar first.",
            description="Dendrogram of tasks: two tasks or groups join at their distance, 1 − r.",
            legend="Tasks that join below the dotted line, at 1 − r = 0.8, are one cluster.",
            narrowest=220 + 9 * varied,
        )
    ]
