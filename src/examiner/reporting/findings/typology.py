"""Typology: kinds of task, what the benchmark covers and lacks, and whether agents agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.messages import InputError, counted
from examiner.reporting.figures import chart
from examiner.reporting.figures.chart import Floats
from examiner.reporting.finding import Figure, Finding, Notes, Text
from examiner.reporting.prose import Name, Prose, enumerated
from examiner.reporting.study import Study
from examiner.reporting.table import Column, Piece, Record, Table
from examiner.typology import Coverage, Kinds, TaskGroup, Validation, validate
from examiner.typology import kinds as task_kinds

MOST_VALUES_DRAWN = 80
MOST_PAIRS_NAMED = 12
CELL = 19


def finding(study: Study) -> Finding:
    """Tell the kinds of task of a classification."""
    assert study.classification is not None, "the table says that it is needed"
    reducing, validating = np.random.default_rng(study.seed).spawn(2)
    kinds = task_kinds(study.classification, rng=reducing)
    made, why = None, ""
    try:
        made = validate(kinds.groups, study.scores, study.measure, rng=validating)
    except InputError as problem:
        why = str(problem)
    blocks: list[Piece] = [_reduced(kinds, study.seed)]
    if len(kinds.coverage.labels) <= MOST_VALUES_DRAWN:
        blocks.append(_figure(kinds.coverage))
    blocks += [_uses(kinds), _lacking(kinds.coverage), _groups(kinds, made)]
    if made is None:
        blocks.append(Notes("Not validated", ((why,),)))
    else:
        says = tuple((sentence,) for sentence in made.says)
        tests = replace(_tests(made), folded=True)
        blocks += [Notes("Do agents do alike within groups?", says), tests]
    return replace(tell(kinds, made, seed=study.seed), blocks=tuple(blocks), about=())


def tell(kinds: Kinds, made: Validation | None = None, *, seed: int = 0) -> Finding:
    """Tell the groups, what they cover, and, where results were given, whether agents agree.

    >>> from examiner.results import Classification
    >>> known = Classification(("pong", "go"), ("haste",), (("absent",), ("absent",)))
    >>> tell(task_kinds(known, rng=np.random.default_rng(0))).data["reduced"]
    ['go']
    """
    several = [group for group in _largest_first(kinds) if len(group.tasks) > 1]
    rows = [
        {
            "tasks": len(group.tasks),
            "": group.tasks,
            "features": list(dict(group.features).values()),
        }
        for group in several
    ]
    columns = (Column("tasks", "count"), Column("", "name"), Column("features", "name"))
    groups = Table.of(rows, columns, "Groups of two tasks or more")
    chosen = (f"Reduced set (seed {seed}): ", Name(", ".join(kinds.reduced)))
    blocks = [*([groups] if rows else []), Text(chosen), *_coverage(kinds)]
    if made is not None:
        blocks += [_tests(made), *(Text((Name(sentence),)) for sentence in made.says)]
    tasks, count = len(kinds.classification.tasks), len(kinds.groups)
    shape = f"{counted(tasks, 'task')} in {counted(count, 'group')}"
    about = f"{shape} ({kinds.schema.title}); one of each leaves out {kinds.saved:.0%}."
    data = kinds.to_dict() | {"validation": None if made is None else made.to_dict()}
    return Finding(lead=_lead(kinds), blocks=tuple(blocks), data=data, about=about)


def _lead(kinds: Kinds) -> Prose:
    tasks, groups = len(kinds.classification.tasks), len(kinds.groups)
    if groups == tasks:
        return f"No two of the {counted(tasks, 'task')} are of one kind."
    return (
        f"{counted(tasks, 'task')} are of {counted(groups, 'kind')}: one of each leaves out "
        f"{kinds.saved:.0%} of the tasks."
    )


def _reduced(kinds: Kinds, seed: int) -> Text:
    return Text(
        (
            "Kinds are tasks with the same value of every feature (",
            Name(kinds.schema.title),
            f"). One of each, drawn with seed {seed}: ",
            *enumerated(kinds.reduced, limit=60),
            ".",
        )
    )


class CoverageData(NamedTuple):
    """What the grid draws; `joint` has shape [values, values], its diagonal counts single values.

    NaN where two values are of one dimension, so that no task can have both. `missing` are rows and
    columns of values of two dimensions that some task has each and none has both.
    """

    dimensions: tuple[str, ...]
    values: tuple[str, ...]
    joint: Floats
    missing: tuple[tuple[int, int], ...]


def data(labels: Sequence[tuple[str, str]], joint: NDArray[np.int64]) -> CoverageData:
    """Prepare the grid from pairs of dimension and value, and counts of tasks with both.

    >>> grid = data([("haste", "yes"), ("haste", "no"), ("end", "set")], np.diag([1, 2, 0]))
    >>> grid.joint
    array([[ 1., nan,  0.],
           [nan,  2.,  0.],
           [ 0.,  0.,  0.]])
    """
    dimensions = np.array([dimension for dimension, _ in labels])
    same = (dimensions[:, None] == dimensions) & ~np.eye(len(labels), dtype=bool)
    had = np.diagonal(joint) > 0
    absent = (joint == 0) & ~same & had[:, None] & had
    named = tuple(dimension for dimension, _ in labels), tuple(value for _, value in labels)
    missing = tuple((int(row), int(column)) for row, column in np.argwhere(absent))
    return CoverageData(*named, np.where(same, np.nan, joint.astype(np.float64)), missing)


def draw(data: CoverageData) -> chart.Drawing:
    """Draw the grid: colour counts tasks, a cross is a pair of values that no task has.

    >>> figure = draw(data([("haste", "yes"), ("end", "set")], np.diag([1, 2])))
    >>> [trace["type"] for trace in figure["data"]], figure["data"][1]["x"]
    (['heatmap', 'scatter'], [1, 0])
    """
    names = [
        f"{dimension.rpartition('.')[2].replace('_', ' ')}: {value}"
        for dimension, value in zip(data.dimensions, data.values, strict=True)
    ]
    hover = "%{y}<br>%{x}<br>tasks: %{customdata}"
    told = chart.compact(data.joint)
    cells = chart.cells(np.log1p(data.joint), "sequential", hover, customdata=told, xgap=1, ygap=1)
    rows, columns = [row for row, _ in data.missing], [column for _, column in data.missing]
    crosses = chart.dots(columns, rows, "no task has both", "#ffffff", size=8, symbol="x-thin")
    crosses["marker"]["line"] = {"width": 2, "color": "#ffffff"}
    x, y = chart.square_axes(names, 40, tickfont={"size": 11})
    traces = [cells | {"showscale": False}, crosses]
    return chart.figure(traces, 220 + CELL * len(names), x, y, legend=False, top=10)


def _figure(held: Coverage) -> Figure:
    drawn = data(held.labels, held.joint)
    return Figure(
        key="typology-coverage",
        drawn=drawn,
        drawing=draw(drawn),
        caption=(
            f"{len(held.missing_values):,} of {len(held.labels):,} values, and "
            f"{len(held.missing_pairs):,} of {held.pairs:,} pairs of values, are those of no task."
        ),
        description="Grid of values: colour is the number of tasks that have both.",
        legend="Brighter is more tasks; a cross is a pair of values that no task has.",
        narrowest=240 + CELL * len(held.labels),
    )


def _use_rows(kinds: Kinds) -> list[dict[str, object]]:
    return [
        use._asdict()
        | {
            "count": len(use.values),
            "used": sum(count > 0 for count in use.counts),
            "of each": [f"{v} {n}" for v, n in zip(use.values, use.counts, strict=True)],
            "reduced": fewer.evenness,
        }
        for use, fewer in zip(kinds.coverage.uses, kinds.reduced_coverage.uses, strict=True)
    ]


def _uses(kinds: Kinds) -> Table:
    evenness = "1 is every value equally often, 0 is one value only"
    columns = (
        Column("dimension", "name"),
        Column("commonest value", "name", key="commonest"),
        Column("its share", "number", "of all tasks", "largest_share"),
        Column("values", "count", "that the schema has", "count"),
        Column("used", "count", "values that some task has"),
        Column("evenness", "number", evenness),
        Column(
            "of the reduced", "number", "evenness of the set with one task of each kind", "reduced"
        ),
    )
    caption = "How evenly tasks spread over the values of each dimension."
    return Table.of(_use_rows(kinds), columns, caption)


def _coverage(kinds: Kinds) -> list[Piece]:
    columns = (
        Column("dimension", "name"),
        Column("tasks with each value", "name", key="of each"),
        Column("evenness", "number"),
        Column("of the reduced", "number", key="reduced"),
    )
    held = kinds.coverage
    caption = "Coverage (evenness: 1 is every value equally often)"
    pairs = f"{len(held.missing_pairs):,} of {held.pairs:,} possible"
    blocks: list[Piece] = [
        Table.of(_use_rows(kinds), columns, caption),
        Text(("Values that no task has: ", Name(", ".join(_absent(held)) or "none"))),
        Text(f"Pairs of values that no task has: {pairs}"),
    ]
    absent = _absent_pairs(held)
    blocks += [Notes("Pair without a task", tuple(absent))] if absent else []
    if held.unclassified:
        blocks.append(Text(f"Dimensions not classified: {', '.join(held.unclassified)}"))
    return blocks


def _absent(held: Coverage) -> list[str]:
    return [f"{name} {value}" for each in held.missing_values for name, value in each.features]


def _absent_pairs(held: Coverage) -> list[str]:
    return [
        " with ".join(f"{name} {value}" for name, value in pair.features)
        for pair in held.missing_pairs
    ]


def _lacking(held: Coverage) -> Notes:
    items = [
        (start, *enumerated(names, limit), ".")
        for start, names, limit in (
            ("No task has ", _absent(held), 40),
            ("No task combines ", _absent_pairs(held), MOST_PAIRS_NAMED),
            ("Nothing is said of ", held.unclassified, 40),
        )
        if names
    ]
    none = ("Every value, and every pair of values, is that of some task.",)
    return Notes("What is missing", tuple(items) or (none,))


def _largest_first(kinds: Kinds) -> list[TaskGroup]:
    return sorted(kinds.groups, key=lambda group: -len(group.tasks))


def _groups(kinds: Kinds, made: Validation | None) -> Table:
    tests = {} if made is None else {each.tasks[0]: each.tests for each in made.groups}
    columns = (
        Column("tasks", "name"),
        Column("count", "count"),
        Column("features", "name"),
        Column("mean p", "number", "of the tests between its tasks; small means that they differ"),
        Column("effect", "number", "median difference of two tasks, in standard deviations"),
    )
    rows = []
    for group in _largest_first(kinds):
        found = next((tests[task] for task in group.tasks if task in tests), None)
        features = [value for _, value in group.features]
        row = {"tasks": group.tasks, "count": len(group.tasks), "features": features}
        mean_p, effect = (None, None) if found is None else (found.mean_p, found.effect)
        rows.append(row | {"mean p": mean_p, "effect": effect})
    return Table.of(rows, columns, "Groups of tasks of one kind.")


def _tests(made: Validation) -> Table:
    columns = (
        Column("tasks", "name"),
        Column("pairs", "count"),
        Column("mean p", "number", key="mean_p"),
        Column("variance of p", "number", key="variance_p"),
        Column("difference", "number"),
        Column("effect (sd)", "number", key="effect"),
    )
    totals = {"all within groups": made.within, "all between groups": made.between}
    rows: list[Record] = [{"tasks": each.tasks} | each.tests._asdict() for each in made.groups]
    rows += [{"tasks": name} | tests._asdict() for name, tests in totals.items()]
    agents = counted(len(made.agents), "agent")
    return Table.of(rows, columns, f"Tests between tasks, over {agents}; {made.scores}")
