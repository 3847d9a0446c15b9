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
from examiner.reporting.finding import Figure, Finding, Notes, Piece, ShownTable, Text, shown_table
from examiner.reporting.prose import Name, Sentence, enumerated
from examiner.reporting.study import Study
from examiner.typology import Coverage, Kinds, Validation, validate
from examiner.typology import kinds as task_kinds

MOST_VALUES_DRAWN = 80
MOST_PAIRS_NAMED = 12
CELL = 19


def finding(study: Study) -> Finding:
    """Show the kinds of task of a classification."""
    assert study.classification is not None, "the table says that it is needed"
    reducing, validating = np.random.default_rng(study.seed).spawn(2)
    kinds = replace(task_kinds(study.classification, rng=reducing), seed=study.seed)
    validation, problem = None, ""
    try:
        validation = validate(kinds, study.scores, study.measure, rng=validating)
        validation = replace(validation, seed=study.seed)
    except InputError as error:
        problem = str(error)
    kept = (
        "Tasks of one kind have the same value of every feature (",
        Name(kinds.typology.title),
        f"). One of each, drawn with seed {study.seed}: ",
        *enumerated(kinds.kept, limit=60),
        ".",
    )
    blocks: list[Piece] = [Text(kept)]
    if len(kinds.coverage.labels) <= MOST_VALUES_DRAWN:
        blocks.append(_figure(kinds.coverage))
    dimensions = shown_table(kinds.tables["dimensions"], caption="Values of each dimension")
    groups = shown_table(kinds.groups, caption="Groups of tasks of one kind")
    blocks += [dimensions, _missing(kinds.coverage), groups]
    if validation is None:
        blocks.append(Notes("Not validated", ((problem,),)))
    else:
        sentences = tuple((Sentence(note),) for note in (validation.headline, *validation.notes))
        blocks.append(Notes("Do agents perform similarly within groups?", sentences))
        blocks += [replace(table, folded=True) for table in _tests(validation)]
    shown = render_kinds(kinds, validation)
    return replace(shown, blocks=tuple(blocks), about=())


def render_kinds(kinds: Kinds, validation: Validation | None = None) -> Finding:
    """Show the groups, what they cover, and, where results were given, whether agents agree.

    >>> from examiner.results import Classification
    >>> games = Classification(("pong", "go"), ("haste",), (("absent",), ("absent",)))
    >>> render_kinds(task_kinds(games)).data["groups"][0]["kept"]
    'go'
    """
    covered = kinds.coverage
    several = kinds.groups.take(np.flatnonzero(kinds.groups.size > 1))
    pairs = f"{len(covered.missing_pairs):,} of {covered.pairs:,} possible"
    columns = ["size", "tasks", "features"]
    blocks: list[Piece] = []
    if len(several):
        blocks.append(shown_table(several, columns, "Groups of two tasks or more"))
    blocks += [
        Text((f"Tasks kept (seed {kinds.seed}): ", Sentence(", ".join(kinds.kept)))),
        shown_table(
            kinds.tables["dimensions"],
            ["dimension", "evenness", "kept_evenness", "commonest", "largest_share", "used"],
            "Coverage (evenness: 1 is every value equally often)",
        ),
        Text(("Values that no task has: ", Sentence(", ".join(_absent(covered)) or "none"))),
        Text(f"Pairs of values that no task has: {pairs}"),
    ]
    absent = _absent_pairs(covered)
    blocks += (
        [Notes("Pair without a task", tuple((Sentence(pair),) for pair in absent))]
        if absent
        else []
    )
    if covered.unclassified:
        blocks.append(Text(f"Dimensions not classified: {', '.join(covered.unclassified)}"))
    if validation is not None:
        blocks += _tests(validation)
        blocks += [Text((Sentence(note),)) for note in (validation.headline, *validation.notes)]
    beside = {"validation": None if validation is None else validation.to_dict()}
    return Finding(
        lead=kinds.headline,
        blocks=tuple(blocks),
        beside=beside,
        about=(Name(kinds.typology.title),),
        answer=kinds,
    )


class CoverageData(NamedTuple):
    """The data of the grid; `joint` has shape [values, values], its diagonal counts single values.

    NaN where two values are of one dimension, so that no task can have both. `missing` are rows and
    columns of values of two dimensions each of which some task has, but none has both.
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
    present = np.diagonal(joint) > 0
    absent = (joint == 0) & ~same & present[:, None] & present
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
    counts = chart.compact(data.joint)
    cells = chart.cells(
        np.log1p(data.joint), "sequential", hover, customdata=counts, xgap=1, ygap=1
    )
    rows, columns = [row for row, _ in data.missing], [column for _, column in data.missing]
    crosses = chart.dots(columns, rows, "no task has both", "#ffffff", size=8, symbol="x-thin")
    crosses["marker"]["line"] = {"width": 2, "color": "#ffffff"}
    x, y = chart.square_axes(names, 40, tickfont={"size": 11})
    traces = [cells | {"showscale": False}, crosses]
    return chart.figure(traces, 220 + CELL * len(names), x, y, legend=False, top=10)


def _figure(covered: Coverage) -> Figure:
    drawn = data(covered.labels, covered.joint)
    return Figure(
        key="typology-coverage",
        drawn=drawn,
        drawing=draw(drawn),
        caption=(
            f"No task has {len(covered.missing_values):,} of {len(covered.labels):,} values, and "
            f"{len(covered.missing_pairs):,} of {covered.pairs:,} pairs of values."
        ),
        description="Grid of values: colour is the number of tasks that have both.",
        legend="Brighter is more tasks; a cross is a pair of values that no task has.",
        narrowest=240 + CELL * len(covered.labels),
    )


def _absent(covered: Coverage) -> list[str]:
    return [f"{dimension} {value}" for dimension, value in covered.missing_values]


def _absent_pairs(covered: Coverage) -> list[str]:
    return [
        " with ".join(f"{dimension} {value}" for dimension, value in pair)
        for pair in covered.missing_pairs
    ]


def _missing(covered: Coverage) -> Notes:
    items = [
        (start, *enumerated(names, limit), ".")
        for start, names, limit in (
            ("No task has ", _absent(covered), 40),
            ("No task combines ", _absent_pairs(covered), MOST_PAIRS_NAMED),
            ("Not classified: ", covered.unclassified, 40),
        )
        if names
    ]
    none = ("Some task has every value, and every pair of values.",)
    return Notes("What is missing", tuple(items) or (none,))


def _tests(validation: Validation) -> list[ShownTable]:
    columns = ["tasks", "pairs", "mean_p", "variance_p", "difference", "effect"]
    agents = counted(len(validation.agents), "agent")
    caption = f"Tests between tasks, over {agents}; {validation.scores}"
    totals = shown_table(validation.totals, columns, caption)
    groups = [shown_table(validation.groups, columns, "Groups")] if len(validation.groups) else []
    return [totals, *groups]
