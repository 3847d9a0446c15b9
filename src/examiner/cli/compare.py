"""`examiner compare`: ways of choosing tasks, judged on agents that had no part in choosing."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any

import typer

from examiner.cli.judging import expected_seconds, folds_named, judging
from examiner.cli.options import JsonFlag, SeedOption, SourceOptions
from examiner.cli.output import print_json, print_line, print_notes, print_table, printable
from examiner.cli.progress import progress_bar
from examiner.cli.selecting import (
    SelectionOptions,
    agents_named,
    material_from,
    numbers_in,
)

SIZES = (1, 3, 5, 10)
HINT = "`--folds 10`, fewer `--sizes` or fewer `--methods` take less."


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
    from examiner.selection import Holdout
    from examiner.selection import compare as compare_selections

    with progress_bar("reading") as progress:
        material = material_from(options, choice, None, progress)
        wanted = _sizes(sizes, int(material.terms.offered.sum()), len(material.terms.must))
        names = None if methods is None else [word.strip() for word in methods.split(",")]
        how = folds_named(folds)
        seconds = expected_seconds(material, max(wanted), how, names)
        found = compare_selections(
            material,
            wanted,
            names,
            rng=seed,
            holdout=Holdout(
                how.folds,
                agents_named(choice.choose_on, material.agents),
                draws=draws,
                reps=reps,
            ),
            tolerance=tolerance,
            **judging(choice.workers, seconds, HINT, progress),
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


def _print(content: dict[str, Any]) -> None:  # Any: JSON values
    print_line(
        f"{content['agents']} agents on {content['tasks']} tasks, {content['target']}, {content['folds']}; "
        f"seed {content['seed']}, input {content['input']}"
    )
    _print_table(
        content["rows"],
        "Predicting held-out agents",
        {
            "R²": lambda row: _short(row["r2"]),
            "95 %": _interval,
            "remainder": lambda row: _short(row["r2_remainder"]),
            "error": lambda row: _short(row["relative_error"]),
            "covered": lambda row: _short(row["coverage"]),
            "optimistic": lambda row: _short(row["optimistic_r2"]),
        },
    )
    print_line(
        "95 %: interval of R²; remainder: R² of the mean of the tasks not chosen;\n"
        "error: mean absolute, as a share of the aggregate; covered: share of agents\n"
        "inside their 90 % intervals; optimistic: R² on the same agents that chose"
    )
    _print_table(
        content["rows"],
        "Ordering held-out agents",
        {
            "Kendall": lambda row: _short(row["kendall"]),
            "top 1": lambda row: _short(row["top1"]),
            "top 3": lambda row: _short(row["top3"]),
            "bits": lambda row: _short(row["bits"]),
            "difference": _detectable,
        },
    )
    print_line(
        "top 1, top 3: how often the best agents were found; bits: told about which\n"
        "agent is playing; difference: smallest one ordered right 9 times of 10\n"
        "(none: not even the largest seen)"
    )
    print_line("\n" + printable(content["answer"], 2_000))


def _print_table(
    rows: list[dict[str, Any]],  # Any: JSON values
    title: str,
    figures: dict[str, Callable[[dict[str, Any]], object]],  # Any: JSON values
) -> None:
    cells = [
        [row["method"], row["size"], *(figure(row) for figure in figures.values())] for row in rows
    ]
    header = ["method", "size", *figures]
    print_table(f"\n{title}", header, cells, right=range(1, len(header)))


def _short(value: float) -> object:
    """Three digits: ten columns must stand beside each other on 80 characters."""
    return value if math.isnan(value) else f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"


def _interval(row: dict[str, Any]) -> object:  # Any: JSON values
    if math.isnan(row["r2_low"]):
        return None
    return f"{row['r2_low']:.2f}–{row['r2_high']:.2f}"


def _detectable(row: dict[str, Any]) -> object:  # Any: JSON values
    if row["minimum_detectable_difference_beyond_largest_seen"]:
        return "none"
    return _short(row["minimum_detectable_difference"])
