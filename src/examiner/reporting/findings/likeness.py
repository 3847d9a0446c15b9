"""Likeness: which tasks say the same, how far one factor goes, and who could be crowned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from examiner.information import LikenessAnalysis, TaskClusters
from examiner.information import likeness as analyse_likeness
from examiner.information.clusters import PAPER_THRESHOLD
from examiner.messages import counted
from examiner.reporting.figures import chart
from examiner.reporting.figures.chart import Floats
from examiner.reporting.figures.task_tree import MANY, TaskTreeData, draw_tree
from examiner.reporting.finding import (
    Facts,
    Figure,
    Finding,
    NothingToTellError,
    Sides,
    Text,
    noted,
)
from examiner.reporting.prose import Parts, Prose, enumerated, three_digits
from examiner.reporting.study import Study
from examiner.reporting.table import Column, Piece, Record, Table, records

FEWEST_AGENTS, FEWEST_TASKS = 5, 3
MOST_DRAWN = 100
MOST_CROWNS = 50
MOST_NAMED = 8
FACTORS = ("mean_task_correlation", "mean_agent_correlation", "first_factor_share")


def finding(study: Study) -> Finding:
    """Tell which tasks are alike and how much the choice of tasks decides who wins."""
    agents, tasks = len(study.results.agents), len(study.results.tasks)
    if agents < FEWEST_AGENTS or tasks < FEWEST_TASKS:
        few = f"{counted(agents, 'agent')} on {counted(tasks, 'task')}"
        needed = f"{FEWEST_AGENTS} agents and {FEWEST_TASKS} tasks"
        raise NothingToTellError(f"{few} are too few to tell which tasks are alike: have {needed}.")
    small, note = study.for_pairs
    note = f"{note} `examiner cluster` uses all results." if note else ""
    rng = np.random.default_rng(study.seed)
    found = analyse_likeness(small.results, [study.measure], rng=rng)
    told = tell(found, seed=study.seed)
    blocks: list[Piece] = [_factor(found)]
    if found.main.shown:
        blocks += [_figure(found), *_tree(found)]
    against = _disagreeing(found)
    if study.not_shown:
        against = ("No task is shown to rank the agents against the rest.",)
    notes = (note, *found.notes) if note else found.notes
    crowns = [_crowns(found)] if found.crowning.crownable else []
    blocks += [Text(against), *crowns, *told.folded_tables, *noted(notes)]
    lead = (told.lead, " ", note) if isinstance(told.lead, str) else (*told.lead, " ", note)
    return replace(told, lead=lead if note else told.lead, blocks=tuple(blocks))


def tell(found: LikenessAnalysis, *, seed: int = 0) -> Finding:
    """Tell the clusters, how far one factor goes, and whom a choice of tasks could crown.

    >>> from examiner.results import Results
    >>> results = Results.from_numpy([[1.0, 2.0], [2.0, 3.0], [3.0, 5.0]], tasks="tu")
    >>> told = tell(analyse_likeness(results, rng=np.random.default_rng(0))).data
    >>> told["clusters"], told["crownable_agents"]
    ([], 0)
    """
    main, crowning = found.main, found.crowning
    several = main.shown
    clusters = [
        {
            "": row + 1,
            "tasks": len(names),
            "names": ", ".join(names[:MOST_NAMED]) + (", …" if names[MOST_NAMED:] else ""),
        }
        for row, names in enumerate(several)
    ]
    factor = [
        {"": name.replace("_", " ")} | getattr(found.factor, name)._asdict() for name in FACTORS
    ]
    columns = [Column("", "text"), *(Column(end, "number") for end in ("value", "low", "high"))]
    crowned = f"{crowning.crownable:,} of {_searched(found)}"
    against = () if found.deceptive is None else found.deceptive.deceptive
    listing = [Column("", "count"), Column("tasks", "count"), Column("names", "name")]
    table = [Table.of(clusters, listing, f"Clusters by {main.measure}")] if several else []
    blocks = (
        *table,
        Text(_clustered(main)),
        Table.of(factor, columns, "One factor?"),
        Text(
            f"{crowned} can be made to win by a choice of tasks beyond chance "
            f"({crowning.test.method}); seed {seed}."
        ),
        Text(("Opposed tasks: ", *(enumerated(_opposed(found), MOST_NAMED) or ("none",)))),
        Text(("Deceptive tasks: ", *(enumerated(against, MOST_NAMED) or ("none",)))),
    )
    return Finding(lead=_lead(found), blocks=blocks, data=_data(found))


def _lead(found: LikenessAnalysis) -> Prose:
    main, crowning = found.main, found.crowning
    test = main.test
    assert test is not None
    size = counted(crowning.size, "task")
    start = f"No clusters of tasks beyond chance were found ({test.words})"
    if main.shown:
        largest = f"the largest of {counted(max(map(len, main.shown)), 'task')} ({test.words})"
        start = f"{counted(len(main.shown), 'cluster')} of tasks beyond chance, {largest}"
    many = f"{crowning.crownable:,}" if crowning.crownable else "none"
    crowned = f"{many} of {_searched(found)} can be made to win by a choice of {size} beyond chance"
    share, chance = found.factor.first_factor_share.value, found.factor.first_factor_by_chance
    if np.isnan(share):  # tasks on which all agents are alike have no factor
        return f"{start}; {crowned}."
    return (
        f"{start}; {crowned}. One factor explains {share:.0%} of how agents differ "
        f"({chance:.0%} by chance)."
    )


def _clustered(main: TaskClusters) -> str:
    """How many tasks are in no cluster beyond chance, and how many clusters the silhouette suggests."""
    alone = len(main.tasks) - sum(map(len, main.shown))
    told = f"{counted(alone, 'task')} in no cluster beyond chance"
    return f"{told}; the silhouette suggests {main.suggested}." if main.shown else f"{told}."


def _opposed(found: LikenessAnalysis) -> tuple[str, ...]:
    """Tasks that rank agents against the rest, where tasks correlate beyond chance at all."""
    test = found.main.test
    return found.opposed.opposed if test is not None and test.shown else ()


def _searched(found: LikenessAnalysis) -> str:
    """For how many agents winning tasks were sought, in words."""
    crowning, everyone = found.crowning, counted(len(found.crowning.agents), "agent")
    if crowning.searched == len(crowning.agents):
        return everyone
    return f"the first {crowning.searched:,} agents by mean (of {len(crowning.agents):,})"


def _factor(found: LikenessAnalysis) -> Facts:
    titles = (
        "Mean correlation between tasks",
        "Mean correlation between agents",
        "Share of the first factor",
    )
    facts = []
    for title, name in zip(titles, FACTORS, strict=True):
        value, low, high = getattr(found.factor, name)
        ends = "" if np.isnan(low) else f" ({three_digits(low)} to {three_digits(high)})"
        facts.append((title, (three_digits(value) + ends,)))
    return Facts(tuple(facts))


class TaskClustersData(NamedTuple):
    """What is drawn; `correlation` has shape [tasks, tasks] in the order drawn, NaN where unknown.

    `borders` are the rows before which a new cluster begins.
    """

    tasks: tuple[str, ...]
    correlation: Floats
    borders: tuple[int, ...]


def data(
    tasks: Sequence[str], correlation: Floats, order: Sequence[int], borders: Sequence[int]
) -> TaskClustersData:
    """Put tasks into their order.

    >>> data(["t", "u"], np.array([[1.0, 0.5], [0.5, 1.0]]), [1, 0], [1]).tasks
    ('u', 't')
    """
    rows = list(order)
    named = tuple(tasks[row] for row in rows)
    return TaskClustersData(named, correlation[np.ix_(rows, rows)], tuple(borders))


def draw(data: TaskClustersData) -> chart.Drawing:
    """Draw the heat map: blue goes together, orange goes against, and lines part the clusters.

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


def _figure(found: LikenessAnalysis) -> Figure:
    main = found.main
    known, correlation = main.correlations(main.order)
    order = known[:MOST_DRAWN]
    beyond = np.array(main.beyond)[main.label]  # lines around clusters beyond chance alone
    label = np.where(beyond, main.label, -1)[list(order)]
    borders = (np.flatnonzero(np.diff(label)) + 1).tolist()
    names = [main.tasks[column] for column in order]
    drawn = data(names, correlation, range(len(order)), borders)
    alone = len(main.tasks) - sum(map(len, main.shown))
    cut = len(main.order) > len(order)
    shown = f" Shown are the first {len(order)} of {len(main.order):,} tasks." if cut else ""
    return Figure(
        key="task-clusters",
        drawn=drawn,
        drawing=draw(drawn),
        caption=f"{counted(len(main.shown), 'cluster')} beyond chance, {counted(alone, 'task')} in none.",
        description="Heat map of the correlation of each two tasks, with lines between clusters.",
        legend=f"Blue goes together, orange against; lines part clusters joined up to 1 − r = 0.8.{shown}",
        sides=Sides("tasks", "tasks"),
        narrowest=220 + 9 * len(order),
    )


def _tree(found: LikenessAnalysis) -> list[Piece]:
    main = found.main
    varied = len(main.branches) + 1
    if not 2 < varied <= MOST_DRAWN:
        return []
    drawn = TaskTreeData(
        tuple(main.tasks[row] for row in main.order[:varied]), main.branches, PAPER_THRESHOLD
    )
    return [
        Figure(
            key="task-tree",
            drawn=drawn,
            drawing=draw_tree(drawn),
            caption=f"{counted(varied, 'task')} joined, the most alike first.",
            description="Dendrogram of tasks: two tasks or groups join at their distance, 1 − r.",
            legend="Tasks that join below the dotted line, at 1 − r = 0.8, are one cluster.",
            narrowest=220 + 9 * varied,
        )
    ]


def _disagreeing(found: LikenessAnalysis) -> Prose:
    opposed = _opposed(found)
    parts: Parts = ("No task clearly ranks the agents against the rest.",)
    if opposed:
        parts = ("Against the rest, agents are ranked by ", *enumerated(opposed, MOST_NAMED), ".")
    if found.deceptive is not None and found.deceptive.deceptive:
        named = enumerated(found.deceptive.deceptive, MOST_NAMED)
        parts = (*parts, " Deceptive, agents that win more score less, on ", *named, ".")
    return parts


def _crowns(found: LikenessAnalysis) -> Table:
    columns = (
        Column("agent", "name"),
        Column("lead", "number", "mean share on its best tasks, less that of the best other agent"),
        Column("p", "number", "against every other agent, adjusted for their number", "p_value"),
        Column("tasks", "name", "under which it leads by most"),
    )
    order = np.argsort(-found.crowning.lead, kind="stable")
    rows = _crown_rows(found)
    crowns = [rows[agent] for agent in order.tolist() if rows[agent]["beyond_chance"]]
    return Table.of(crowns[:MOST_CROWNS], columns, "Agents that a choice of tasks makes win.")


def _crown_rows(found: LikenessAnalysis) -> list[dict[str, object]]:
    crowning = found.crowning
    unjudged = [None] * len(crowning.agents)
    return records(
        agent=crowning.agents,
        tasks=crowning.tasks,
        lead=crowning.lead,
        wins=crowning.wins,
        by_factors=crowning.by_factors,
        held_out=unjudged if crowning.held_out is None else crowning.held_out,
        p_value=crowning.test.p_values,
        beyond_chance=crowning.test.beyond,
    )


def _data(found: LikenessAnalysis) -> Record:
    main, factor, crowning = found.main, found.factor, found.crowning
    estimates = {name: getattr(factor, name) for name in FACTORS}
    return {
        "clusters": [list(names) for names in main.shown],
        "order": [main.tasks[row] for row in main.order],
        **{name: estimate.value for name, estimate in estimates.items()},
        "crownable_agents": crowning.crownable,
        "searched_agents": crowning.searched,
        "intervals": {name: [each.low, each.high] for name, each in estimates.items()},
        "first_factor_share_by_chance": factor.first_factor_by_chance,
        "suggested_clusters": main.suggested if main.shown else None,
        "silhouette": main.silhouette,
        "by_measure": {
            name: [list(names) for names in each.shown] for name, each in found.clusters.items()
        },
        "cluster_test": None if main.test is None else main.test._asdict(),
        "opposed": list(_opposed(found)),
        "deceptive": [] if found.deceptive is None else list(found.deceptive.deceptive),
        "crown_test": crowning.test.method,
        "crowns": _crown_rows(found),
        "agents": len(crowning.agents),
        "measure": main.measure,
    }
