"""`examiner adds`: what a new task adds to a set of others."""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from pathlib import Path

from examiner import selection
from examiner.cli.levels import LevelOptions
from examiner.cli.options import REPS, Seeded, SourceOptions, option, words_of
from examiner.cli.output import progress_bar, show
from examiner.cli.select import SelectionOptions, material_from
from examiner.messages import InputError
from examiner.reporting.findings import addition as findings
from examiner.scores.unit import value_unit
from examiner.storage import open_selection


@dataclass(frozen=True, slots=True)
class AddsOptions:
    """Which task is new, and what it may add to."""

    task: str = option(MISSING, "The task that is new.", metavar="TASK")
    present: str | None = option(
        None, "Tasks it may add to, with commas [default: all others].", "--set", metavar="TASKS"
    )
    chosen: Path | None = option(
        None, "Or a few tasks stored by `examiner select -o`.", "--with", metavar="FILE"
    )
    reps: int = option(100, REPS, min=1)


def adds(options: SourceOptions, choice: SelectionOptions, how: AddsOptions, told: Seeded) -> None:
    """Say what a new task adds to a set: bits and error removed beyond it, and what it repeats."""
    if how.present is not None and how.chosen is not None:
        raise InputError("Both `--set` and `--with` are given. Name the set in one way.")
    names = words_of(how.present) if how.chosen is None else list(open_selection(how.chosen).tasks)
    with progress_bar("reading") as progress:
        material = material_from(options, choice, LevelOptions(), None, progress)
        found = selection.adds(material, how.task, names, rng=told.seed, reps=how.reps)
    beside = {"score_unit": value_unit(material.recipe), "seed": told.seed}
    show(findings.tell(found), "examiner.adds/1", told, found.notes, **beside)
