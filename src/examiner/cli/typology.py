"""`examiner typology`: kinds of task, one of each, what is missing, and whether agents agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import typer

from examiner.cli.options import JsonFlag, SeedOption, SourceOptions
from examiner.cli.output import print_json, print_line, print_notes, print_table, printable
from examiner.cli.progress import ProgressCallback, progress_bar
from examiner.cli.source import classification_from, results_from
from examiner.results import Results
from examiner.typology import Coverage, Kinds, Validation
from examiner.typology import kinds as task_kinds
from examiner.typology import validate as validate_groups
from examiner.wording import counted

_ROWS_SHOWN = 40
_LONGEST_LINE = 4_000


@dataclass(frozen=True, slots=True)
class ResultsOptions(SourceOptions):
    """The results that kinds are held against, with the options of any results."""

    source: Annotated[
        str,
        typer.Option(
            "--results",
            metavar="SOURCE",
            help="Results to validate the groups with: a file, folder, pattern or bundled data set.",
            show_default=False,
        ),
    ] = ""


def typology(
    classification: Annotated[
        str,
        typer.Argument(
            metavar="CLASSIFICATION",
            help="A table with a column 'task' or 'game' and one a feature, or a bundled one.",
        ),
    ],
    options: ResultsOptions,
    typology_schema: Annotated[
        str,
        typer.Option(
            "--schema", help="elverdam-aarseth, agent-centric, none; told from the features."
        ),
    ] = "auto",
    features: Annotated[
        str | None, typer.Option("--features", help="Features to group by, comma-separated.")
    ] = None,
    normalise: Annotated[
        str, typer.Option("--normalise", help="auto, none, or a normaliser's name.")
    ] = "auto",
    seed: SeedOption = 0,
    json: JsonFlag = False,
) -> None:
    """Group tasks by kind, keep one of each, say what is missing, and test whether agents agree."""
    reducing, validating = np.random.default_rng(seed).spawn(2)
    with progress_bar("reading") as progress:
        kinds = task_kinds(
            classification_from(classification),
            None if typology_schema == "none" else typology_schema,
            None if features is None else [name.strip() for name in features.split(",")],
            rng=reducing,
        )
        results = _results(options, normalise, progress) if options.source else None
        made = None
        if results is not None:
            made = validate_groups(kinds.groups, results, progress=progress, rng=validating)
    notes = (*kinds.notes, *(() if results is None else results.notes))
    if json:
        content = kinds.to_dict() | {"validation": None if made is None else made.to_dict()}
        content |= {"source": classification, "seed": seed, "warnings": list(notes)}
        print_json("examiner.typology/1", content)
        return
    _print(kinds, seed)
    if made is not None:
        _print_validation(made)
    print_notes(notes)


def _results(options: ResultsOptions, normalise: str, progress: ProgressCallback) -> Results:
    """The results, comparable across tasks: against the random player where every task has one."""
    from examiner.scores import normalise as normalised
    from examiner.scores import suggested_normaliser

    results = results_from(options, progress)
    if normalise != "auto":
        return results if normalise == "none" else normalised(results, normalise)
    random = results.scales.aligned(results.task_names, results.measures[0], needs=["random"])
    method = suggested_normaliser(results)
    if not np.isnan(random.random).any():
        method = "random-only"  # equation 1 of papers/000
    return results if method is None else normalised(results, method)


def _print(kinds: Kinds, seed: int) -> None:
    tasks = counted(len(kinds.classification.tasks), "task")
    print_line(
        f"{tasks} in {counted(len(kinds.groups), 'group')} ({kinds.schema.title}); one of each leaves "
        f"out {kinds.saved:.0%}."
    )
    several = [group for group in kinds.groups if len(group.tasks) > 1]
    rows = [
        [
            len(group.tasks),
            _text(", ".join(group.tasks)),
            _text(", ".join(dict(group.features).values())),
        ]
        for group in sorted(several, key=lambda group: -len(group.tasks))[:_ROWS_SHOWN]
    ]
    if rows:
        print_table("\nGroups of two tasks or more", ["tasks", "", "features"], rows, right=[0])
    print_line(_text(f"Reduced set (seed {seed}): {', '.join(kinds.reduced)}"))
    _print_coverage(kinds)


def _print_coverage(kinds: Kinds) -> None:
    rows = [
        [use.dimension, _counts(use.values, use.counts), use.evenness, fewer.evenness]
        for use, fewer in zip(kinds.coverage.uses, kinds.reduced_coverage.uses, strict=True)
    ]
    header = ["dimension", "tasks with each value", "evenness", "of the reduced"]
    print_table("\nCoverage (evenness: 1 is every value equally often)", header, rows, right=[2, 3])
    held = kinds.coverage
    print_line(_text(f"Values that no task has: {_named(held)}"))
    print_line(
        f"Pairs of values that no task has: {len(held.missing_pairs):,} of {held.pairs:,} possible"
    )
    for pair in held.missing_pairs[:_ROWS_SHOWN]:
        print_line(_text("  " + " with ".join(f"{name} {value}" for name, value in pair.features)))
    if held.unclassified:
        print_line(f"Dimensions not classified: {', '.join(held.unclassified)}")


def _counts(values: tuple[str, ...], counts: tuple[int, ...]) -> str:
    return ", ".join(f"{value} {count}" for value, count in zip(values, counts, strict=True))


def _named(held: Coverage) -> str:
    missing = [f"{name} {value}" for one in held.missing_values for name, value in one.features]
    return ", ".join(missing) or "none"


def _print_validation(made: Validation) -> None:
    header = ["tasks", "pairs", "mean p", "variance of p", "difference", "effect (sd)"]
    summed = [
        *((", ".join(one.tasks), one.tests) for one in made.groups),
        ("all within groups", made.within),
        ("all between groups", made.between),
    ]
    rows = [
        [name, tests.pairs, tests.mean_p, tests.variance_p, tests.difference, tests.effect]
        for name, tests in summed
    ]
    print_table(
        f"\nTests between tasks, over {counted(len(made.agents), 'agent')}; {made.scores}",
        header,
        rows,
        right=range(1, 6),
    )
    print_line("")
    for sentence in made.says:
        print_line(_text(sentence))


def _text(text: str) -> str:
    return printable(text, _LONGEST_LINE)
