"""`examiner select --adds`: what a new task adds to a set of others."""

from __future__ import annotations

from examiner import selection
from examiner.cli.levels import LevelOptions
from examiner.cli.options import Seeded, SourceOptions, words_of
from examiner.cli.output import progress_bar, show
from examiner.cli.select import AddsOptions, SelectionOptions, SelectOptions, material_from
from examiner.messages import InputError
from examiner.reporting import finding_of
from examiner.scores import value_unit
from examiner.storage import open_selection

REPS = 100


def adds(
    options: SourceOptions,
    how: SelectOptions,
    added: AddsOptions,
    choice: SelectionOptions,
    printing: Seeded,
) -> None:
    """Report what a new task adds to a set: bits, error removed, and which tasks it repeats."""
    if added.present is not None and added.chosen is not None:
        raise InputError("Both `--set` and `--with` are given. Name the set in one way.")
    names = (
        words_of(added.present)
        if added.chosen is None
        else list(open_selection(added.chosen).chosen.tasks)
    )
    with progress_bar("reading") as progress:
        material = material_from(options, choice, LevelOptions(), None, progress)
        task, reps = how.adds or "", how.reps or REPS
        addition = selection.adds(material, task, names, rng=printing.seed, reps=reps)
    show(finding_of(addition), printing, score_unit=value_unit(material.recipe))
