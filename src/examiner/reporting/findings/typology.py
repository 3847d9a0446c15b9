"""Typology: kinds of task, what the benchmark covers and lacks, and whether agents agree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from examiner.messages import InputError, counted
from examiner.reporting.figures import chart
from examiner.reporting.finding import Figure, Finding, Notes, ShownTable, shown_table
from examiner.reporting.prose import enumerated, named
from examiner.reporting.study import Study
from examiner.typology import Coverage, Kinds, Validation, validate
from examiner.typology import kinds as task_kinds

CELL = 19  # pixels


def finding(study: Study) -> Finding:
    """Show the kinds of task of a classification."""
    assert study.classification is not None, "the table says that it is needed"
    reducing, validating = np.random.default_rng(study.seed).spawn(2)
    kinds = replace(task_kinds(study.classification, rng=reducing), seed=study.seed)
    try:
        validation = validate(kinds, study.scores, study.measure, rng=validating)
    except InputError as problem:
        shown = render_kinds(kinds)
        return replace(shown, blocks=(*shown.blocks, Notes([str(problem)], "Not validated")))
    return render_kinds(kinds, replace(validation, seed=study.seed))


def render_kinds(kinds: Kinds, validation: Validation | None = None) -> Finding:
    """Show the groups, what they cover, and, where results were given, whether agents agree.

    >>> from examiner.results import Classification
    >>> games = Classification(("pong", "go"), ("haste",), (("absent",), ("absent",)))
    >>> render_kinds(task_kinds(games)).data["groups"][0]["kept"]
    'go'
    """
    covered, agree = kinds.coverage, "Do agents perform similarly within groups?"
    columns = ["dimension", "evenness", "kept_evenness", "commonest", "largest_share", "used"]
    return Finding(
        lead=f"{kinds.headline} {covered.headline}",
        blocks=(
            (
                f"Tasks of one kind have the same value of every feature ({named(kinds.typology.title)}). "
                f"One of each, drawn with seed {kinds.seed}: {enumerated(kinds.kept, limit=60)}."
            ),
            _figure(covered) if len(covered.labels) <= 80 else None,
            shown_table(
                kinds.tables["dimensions"],
                columns,
                "Coverage (evenness: 1 is every value equally often)",
            ),
            _missing(covered),
            shown_table(kinds.groups, caption="Groups of tasks of one kind"),
            *(() if validation is None else _tests(validation)),
            Notes([validation.headline, *validation.notes], agree) if validation else None,
        ),
        beside={"validation": None if validation is None else validation.to_dict()},
        about=named(kinds.typology.title),
        answer=kinds,
    )


def _missing(covered: Coverage) -> Notes:
    """What no task has: values, and pairs of values."""
    values = [f"{dimension} {value}" for dimension, value in covered.missing_values]
    pairs = [
        " with ".join(f"{dimension} {value}" for dimension, value in pair)
        for pair in covered.missing_pairs
    ]
    items = [
        f"{start} {enumerated(names, 40)}."
        for start, names in (
            ("No task has", values),
            ("No task combines", pairs),
            ("Not classified:", covered.unclassified),
        )
        if names
    ]
    return Notes(
        items or ["Some task has every value, and every pair of values."], "What is missing"
    )


def _tests(validation: Validation) -> tuple[ShownTable, ShownTable]:
    columns = ["tasks", "pairs", "mean_p", "variance_p", "difference", "effect"]
    agents = counted(len(validation.agents), "agent")
    caption = f"Tests between tasks, over {agents}; {validation.scores}"
    totals = shown_table(validation.totals, columns, caption)
    return totals, shown_table(validation.groups, columns, "Groups")


def _figure(covered: Coverage) -> Figure:
    """Values × values: colour counts tasks with both, a cross is a pair that no task has.

    Cells of two values of one dimension, which no task can both have, are blank.
    """
    dimensions, values = (tuple(part) for part in zip(*covered.labels, strict=True))
    size = len(values)
    of = np.array(dimensions)
    same = (of[:, None] == of) & ~np.eye(size, dtype=bool)
    present = np.diagonal(covered.joint) > 0
    absent = np.argwhere((covered.joint == 0) & ~same & present[:, None] & present)
    joint = np.where(same, np.nan, covered.joint.astype(np.float64))
    names = [
        f"{dimension.rpartition('.')[2].replace('_', ' ')}: {value}"
        for dimension, value in covered.labels
    ]
    cells = chart.cells(np.log1p(joint), "sequential", "%{y}<br>%{x}<br>tasks: %{customdata}")
    cells |= {"customdata": chart.compact(joint), "xgap": 1, "ygap": 1, "showscale": False}
    rows, columns = absent.T.tolist()
    crosses = chart.dots(columns, rows, "no task has both", "#ffffff", size=8, symbol="x-thin")
    crosses["marker"]["line"] = {"width": 2, "color": "#ffffff"}
    x, y = chart.square_axes(names, 40, tickfont={"size": 11})
    return Figure(
        key="typology-coverage",
        data={
            "dimensions": dimensions,
            "values": values,
            "joint": joint,
            "missing": tuple(map(tuple, absent.tolist())),
        },
        drawing=chart.figure([cells, crosses], 220 + CELL * size, x, y, legend=False, top=10),
        caption=(
            f"No task has {len(covered.missing_values):,} of {size:,} values, and "
            f"{len(covered.missing_pairs):,} of {covered.pairs:,} pairs of values."
        ),
        description="Grid of values: colour is the number of tasks that have both.",
        legend="Brighter is more tasks; a cross is a pair of values that no task has.",
        narrowest=240 + CELL * size,
    )
