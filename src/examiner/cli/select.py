"""`examiner select`: which few tasks to run, and how well they predict the score on all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from examiner import selection
from examiner.cli.material import (
    FOLDS,
    SelectionOptions,
    folds_named,
    holdout_of,
    is_count,
    judging,
    material_of,
)
from examiner.cli.options import OUTPUT, LevelOptions, Seeded, SourceOptions, option
from examiner.cli.output import ProgressCallback, progress_bar, show
from examiner.cli.source import results_from
from examiner.cli.values import words_of
from examiner.messages import InputError, shorten
from examiner.reporting import (
    finding_of,
    print_line,
    render_judgement,
    render_selection,
    render_task_trial,
)
from examiner.scores import value_unit
from examiner.storage import open_selection, save


def _sizes(text: str) -> list[int]:
    """Read whole numbers with commas, and ranges."""
    sizes: list[int] = []
    for word in words_of(text):
        first, dash, last = word.partition("-")
        ends = (first, last) if dash else (first, first)
        if not all(map(is_count, ends)):
            raise InputError(
                f"The sizes are {shorten(text)}. Give whole numbers, as in 1,3,5 or 1-10."
            )
        several = range(int(ends[0]), int(ends[1]) + 1)
        if not several:
            raise InputError(
                f"The sizes are {shorten(text)}, and {word} is empty. Write the smaller first: 1-10."
            )
        sizes += several
    return sizes


@dataclass(frozen=True)
class SelectOptions:
    """How many tasks are selected, how, and what else can be asked about a selection."""

    size: int | None = option(
        None, "Number of tasks to select [default: 5, or as many as the budget allows]."
    )
    budget: float | None = option(None, "Maximum cost of the selection, instead of a size.")
    method: str | None = option(
        None,
        f"One method, or best_of: {', '.join(selection.METHODS)} [default: {selection.DEFAULT}; strata "
        f"for newer agents].",
        metavar="NAME",
    )
    proof: bool = option(
        True, "Whether to validate the selection on held-out agents.", "--proof/--no-proof"
    )
    folds: Literal["loo"] | int | None = option(None, FOLDS, metavar="loo|K", parse=folds_named)
    exactly: list[str] | None = option(
        None,
        "Select nothing: show how well exactly these tasks (comma-separated; a name with a comma in "
        "quotation marks: '\"a, b\",c') predict held-out agents.",
        metavar="TASKS",
        parse=words_of,
    )
    judge: bool = option(False, "Select nothing: compare selection methods on held-out agents.")
    adds: str | None = option(
        None, "Select nothing: show what this new task adds to the others.", metavar="TASK"
    )
    reps: int | None = option(
        None,
        "Number of resamples, with --judge or --adds [default: 400 or 100].",
        min=1,
    )
    output: Path | None = option(
        None,
        "Store tasks, predictor and recipe as JSON, for `place`.",
        *OUTPUT,
        metavar="FILE",
        writes="answer",
    )


@dataclass(frozen=True)
class JudgeOptions:
    """Which selection methods are compared, at which sizes."""

    section: ClassVar[str] = "With --judge"
    sizes: list[int] | None = option(
        None,
        "Sizes to compare: 1,3,5 or 1-10 [default: 1,2,3,5,10].",
        metavar="NUMBERS",
        parse=_sizes,
    )
    methods: list[str] | None = option(
        None, "Methods to compare, comma-separated [default: all].", metavar="NAMES", parse=words_of
    )
    draws: int = option(100, "Number of random selections of each size.", min=1)
    tolerance: float = option(0.05, "Relative error that is small enough.")


@dataclass(frozen=True)
class AddsOptions:
    """Which tasks a new task is compared with."""

    section: ClassVar[str] = "With --adds"
    present: list[str] | None = option(
        None,
        "Tasks it may add to, comma-separated, a name with a comma in quotation marks [default: all "
        "others].",
        "--set",
        metavar="TASKS",
        parse=words_of,
    )
    chosen: Path | None = option(
        None, "Or tasks stored by `examiner select -o`.", "--with", metavar="FILE"
    )


def select(
    options: SourceOptions,
    how: SelectOptions,
    judged: JudgeOptions,
    added: AddsOptions,
    choice: SelectionOptions,
    levels: LevelOptions,
    printing: Seeded,
) -> None:
    """Select a few tasks that predict the score on all of them, validated on held-out agents."""
    beside: dict[str, Any] = {}  # Any: JSON values
    with progress_bar("reading") as progress:
        material = material_of(results_from(options, progress), choice, levels, how.budget)
        holdout = holdout_of(how.folds, choice, material, judged.draws, how.reps or 400)
        if how.judge:
            finding = render_judgement(
                selection.judge(
                    material,
                    judged.sizes,
                    judged.methods,
                    rng=printing.seed,
                    holdout=holdout,
                    tolerance=judged.tolerance,
                    map=judging(choice, progress),
                )
            )
        elif how.adds is not None:
            finding = finding_of(
                selection.adds(
                    material,
                    how.adds,
                    _present(added),
                    rng=printing.seed,
                    reps=how.reps or 100,
                )
            )
        elif how.exactly is not None:
            finding = render_task_trial(
                selection.judge_tasks(material, how.exactly, rng=printing.seed, holdout=holdout)
            )
        else:
            chosen = _selected(material, holdout, how, choice, printing.seed, progress)
            finding = render_selection(chosen)
            beside["stored"] = None if how.output is None else str(save(chosen, how.output))
    show(finding, printing, score_unit=value_unit(material.recipe), **beside)
    if beside.get("stored") and printing.for_people:
        print_line(f"Stored: {beside['stored']}")


def _selected(
    material: selection.Benchmark,
    holdout: selection.Holdout,
    how: SelectOptions,
    choice: SelectionOptions,
    seed: int,
    progress: ProgressCallback,
) -> selection.Selection:
    size = None if how.budget is not None else 5 if how.size is None else how.size
    if how.proof:
        return selection.select_and_judge(
            material, size, how.method, rng=seed, holdout=holdout, map=judging(choice, progress)
        )
    named = holdout.choose_on
    choosing = material if named is None else material.on_agents(named)
    return selection.select(choosing, size, how.method, rng=seed)


def _present(added: AddsOptions) -> Sequence[str] | None:
    """The tasks that a new task may add to; None for all others."""
    return added.present if added.chosen is None else open_selection(added.chosen).chosen.tasks
