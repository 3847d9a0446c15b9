"""`examiner compare`: ways of choosing tasks, judged on agents that had no part in choosing."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
import typer

from examiner.cli.options import JsonFlag, SeedOption, SourceOptions
from examiner.cli.output import print_json, print_line, print_notes, print_table, printable
from examiner.cli.progress import progress_bar
from examiner.cli.selecting import (
    SelectionOptions,
    agents_named,
    judging,
    material_from,
    numbers_in,
)
from examiner.results import InputError
from examiner.results.checks import shorten

SIZES = (1, 3, 5, 10)


def compare(
    options: SourceOptions,
    choice: SelectionOptions,
    sizes: Annotated[
        str | None,
        typer.Option(
            "--sizes",
            metavar="NUMBERS",
            help="Sizes to compare: 1,3,5 or 1-10 [default: 1,3,5,10].",
        ),
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods", metavar="NAMES", help="Methods, with commas [default: all, and best_of]."
        ),
    ] = None,
    folds: Annotated[
        str,
        typer.Option(
            "--folds", metavar="loo|K", help="Leave one agent (or family) out, or K folds."
        ),
    ] = "loo",
    draws: Annotated[int, typer.Option("--draws", min=1, help="Random sets of each size.")] = 200,
    reps: Annotated[
        int, typer.Option("--reps", min=1, help="Resamples of agents for intervals.")
    ] = 400,
    tolerance: Annotated[
        float,
        typer.Option("--tolerance", help="Relative error that is good enough, for the answer."),
    ] = 0.05,
    seed: SeedOption = 0,
    json: JsonFlag = False,
) -> None:
    """Judge ways of choosing tasks on held-out agents, and tell how many tasks are enough."""
    from examiner.selection import compare_selections

    with progress_bar("reading") as progress:
        material = material_from(options, choice, None, progress)
        wanted = _sizes(sizes, int(material.terms.offered.sum()), len(material.terms.must))
        found = compare_selections(
            material,
            wanted,
            None if methods is None else [word.strip() for word in methods.split(",")],
            rng=np.random.default_rng(seed),
            folds=_folds(folds),
            choose_on=agents_named(choice.choose_on, material.agents),
            draws=draws,
            reps=reps,
            tolerance=tolerance,
            **judging(choice.workers, material, len(material.agents), max(wanted), progress),
        )
    content = found.to_dict() | {
        "tolerance": tolerance,
        "seed": seed,
        "warnings": list(found.notes),
    }
    if json:
        print_json("examiner.compare/1", content)
        return
    _print(content)
    print_notes(content["warnings"])


def _sizes(text: str | None, offered: int, must: int) -> list[int]:
    if text is not None:
        return numbers_in(text, "sizes")
    return [size for size in SIZES if max(1, must) <= size < offered] or [offered]


def _folds(text: str) -> Literal["loo"] | int:
    if text == "loo":
        return "loo"
    if not text.isdecimal() or int(text) < 2:
        raise InputError(f"The folds are {shorten(text)}. Say 'loo', or a number of 2 or more.")
    return int(text)


def _print(content: dict[str, Any]) -> None:  # Any: JSON values
    print_line(
        f"{content['agents']} agents on {content['tasks']} tasks, {content['target']}, {content['folds']}; "
        f"seed {content['seed']}, input {content['input']}"
    )
    names = ["r2", "r2_low", "r2_high", "r2_remainder", "relative_error", "kendall", "top1"]
    names += ["bits", "coverage", "optimistic_r2"]
    header = ["method", "size", *names, "detectable"]
    rows = [
        [row["method"], row["size"], *(row[name] for name in names), _detectable(row)]
        for row in content["rows"]
    ]
    print_table("\nOn held-out agents", header, rows, right=range(1, len(header)))
    print_line(printable(content["answer"], 2_000))


def _detectable(row: dict[str, Any]) -> object:  # Any: JSON values
    if row["minimum_detectable_difference_beyond_largest_seen"]:
        return "more than the largest seen"
    return row["minimum_detectable_difference"]
