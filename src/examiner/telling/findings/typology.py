"""Typology: kinds of task, what the benchmark covers and lacks, and whether agents agree."""

from __future__ import annotations

import numpy as np

from examiner.telling.figures import coverage as picture
from examiner.telling.finding import (
    Block,
    Column,
    Figure,
    Finding,
    Name,
    Notes,
    Prose,
    Table,
    Text,
    enumerated,
)
from examiner.telling.study import Study
from examiner.typology import Coverage, Kinds, Validation, validate
from examiner.typology import kinds as task_kinds
from examiner.wording import InputError, counted

TITLE = "Kinds of task"
MOST_VALUES_DRAWN = 80
MOST_PAIRS_NAMED = 12


def typology(study: Study) -> Finding:
    """Tell the kinds of task of a classification; without one, say so.

    >>> from examiner.results import Results
    >>> typology(Study.of(Results.from_numpy([[0.5, 1.0], [0.0, 0.5]]))).applies
    False
    """
    if study.classification is None:
        none = "No classification of the tasks was given, so there are no kinds to tell."
        return Finding("typology", TITLE, (none,), applies=False)
    reducing, validating = np.random.default_rng(study.seed).spawn(2)
    kinds = task_kinds(study.classification, rng=reducing)
    blocks: list[Block] = [_reduced(kinds, study.seed)]
    if len(kinds.coverage.labels) <= MOST_VALUES_DRAWN:
        blocks.append(_figure(kinds.coverage))
    blocks += [_uses(kinds), _lacking(kinds.coverage)]
    try:
        made = validate(kinds.groups, study.scores, study.measure, rng=validating)
    except InputError as problem:
        blocks += [_groups(kinds, None), Notes("Not validated", ((str(problem),),))]
    else:
        says = tuple((sentence,) for sentence in made.says)
        blocks += [_groups(kinds, made), Notes("Do agents do alike within groups?", says)]
    return Finding("typology", TITLE, _lead(kinds), tuple(blocks))


def _lead(kinds: Kinds) -> Prose:
    tasks, groups = len(kinds.classification.tasks), len(kinds.groups)
    if groups == tasks:
        return (f"No two of the {counted(tasks, 'task')} are of one kind.",)
    return (
        f"{counted(tasks, 'task')} are of {counted(groups, 'kind')}: one of each leaves out "
        f"{kinds.saved:.0%} of the tasks.",
    )


def _reduced(kinds: Kinds, seed: int) -> Text:
    source = kinds.schema.title
    return Text(
        (
            "Kinds are tasks with the same value of every feature (",
            Name(source),
            f"). One of each, drawn with seed {seed}: ",
            *enumerated(kinds.reduced, limit=60),
            ".",
        )
    )


def _figure(held: Coverage) -> Figure:
    data = picture.data(held.labels, held.joint)
    return Figure(
        key="typology-coverage",
        data=data._asdict(),
        drawing=picture.draw(data),
        caption=(
            f"{len(held.missing_values):,} of {len(held.labels):,} values, and "
            f"{len(held.missing_pairs):,} of {held.pairs:,} pairs of values, are those of no task.",
        ),
        description="Grid of values: colour is the number of tasks that have both.",
        legend=("Brighter is more tasks; a cross is a pair of values that no task has.",),
        narrowest=240 + picture.CELL * len(held.labels),
    )


def _uses(kinds: Kinds) -> Table:
    columns = (
        Column("dimension", "name"),
        Column("commonest value", "name"),
        Column("its share", "number", "of all tasks"),
        Column("values", "count", "that the schema has"),
        Column("used", "count", "values that some task has"),
        Column("evenness", "number", "1 is every value equally often, 0 is one value only"),
        Column("of the reduced", "number", "evenness of the set with one task of each kind"),
    )
    rows = tuple(
        (
            Name(use.dimension),
            Name(use.commonest),
            use.largest_share,
            len(use.values),
            sum(count > 0 for count in use.counts),
            use.evenness,
            fewer.evenness,
        )
        for use, fewer in zip(kinds.coverage.uses, kinds.reduced_coverage.uses, strict=True)
    )
    return Table(columns, rows, ("How evenly tasks spread over the values of each dimension.",))


def _lacking(held: Coverage) -> Notes:
    items: list[Prose] = []
    absent = [f"{name} {value}" for one in held.missing_values for name, value in one.features]
    if absent:
        items.append(("No task has ", *enumerated(absent, limit=40), "."))
    pairs = [
        " with ".join(f"{name} {value}" for name, value in pair.features)
        for pair in held.missing_pairs
    ]
    if pairs:
        items.append(("No task combines ", *enumerated(pairs, MOST_PAIRS_NAMED), "."))
    if held.unclassified:
        items.append(("Nothing is said of ", *enumerated(held.unclassified, limit=40), "."))
    if not items:
        items.append(("Every value, and every pair of values, is that of some task.",))
    return Notes("What is missing", tuple(items))


def _groups(kinds: Kinds, made: Validation | None) -> Table:
    tests = {} if made is None else {one.tasks[0]: one.tests for one in made.groups}
    columns = (
        Column("tasks", "name"),
        Column("count", "count"),
        Column("features", "name"),
        Column("mean p", "number", "of the tests between its tasks; small means that they differ"),
        Column("effect", "number", "median difference of two tasks, in standard deviations"),
    )
    rows = []
    for group in sorted(kinds.groups, key=lambda group: -len(group.tasks)):
        found = next((tests[task] for task in group.tasks if task in tests), None)
        rows.append(
            (
                Name(", ".join(group.tasks)),
                len(group.tasks),
                Name(", ".join(value for _, value in group.features)),
                None if found is None else found.mean_p,
                None if found is None else found.effect,
            )
        )
    return Table(columns, tuple(rows), ("Groups of tasks of one kind.",))
