"""`examiner select --judge`: selection methods compared on held-out agents."""

from __future__ import annotations

from examiner.cli.levels import LevelOptions
from examiner.cli.options import Seeded, SourceOptions, words_of
from examiner.cli.output import progress_bar, show
from examiner.cli.select import (
    MOST_DIGITS,
    JudgeOptions,
    SelectionOptions,
    SelectOptions,
    agents_named,
    folds_named,
    judging,
    material_from,
)
from examiner.messages import InputError, shorten
from examiner.reporting import render_judgement
from examiner.scores import value_unit
from examiner.selection import SIZES, Holdout
from examiner.selection import judge as judge_methods

REPS = 400


def judge(
    options: SourceOptions,
    how: SelectOptions,
    compared: JudgeOptions,
    choice: SelectionOptions,
    levels: LevelOptions,
    printing: Seeded,
) -> None:
    """Compare selection methods on held-out agents, and report how many tasks are enough."""
    with progress_bar("reading") as progress:
        material = material_from(options, choice, levels, None, progress)
        sizes = _sizes(compared.sizes, int(material.terms.offered.sum()), len(material.terms.must))
        holdout = Holdout(
            folds_named(how.folds),
            agents_named(choice.choose_on, material.agents),
            draws=compared.draws,
            reps=how.reps or REPS,
        )
        judgement = judge_methods(
            material,
            sizes,
            words_of(compared.methods),
            rng=printing.seed,
            holdout=holdout,
            tolerance=compared.tolerance,
            **judging(choice.workers, progress),
        )
    show(render_judgement(judgement), printing, score_unit=value_unit(material.recipe))


def _sizes(text: str | None, offered: int, must: int) -> list[int]:
    if text is not None:
        return _numbers(text)
    return [size for size in SIZES if max(1, must) <= size < offered] or [offered]


def _numbers(text: str) -> list[int]:
    """Sizes as whole numbers with commas, and ranges.

    >>> _numbers("1,3-5")
    [1, 3, 4, 5]
    """
    sizes: list[int] = []
    for word in words_of(text) or ():
        first, dash, last = word.partition("-")
        ends = (first, last) if dash else (first, first)
        if not all(end.isdecimal() and len(end) <= MOST_DIGITS for end in ends):
            raise InputError(
                f"The sizes are {shorten(text)}. Give whole numbers, as in 1,3,5 or 1-10."
            )
        numbers = range(int(ends[0]), int(ends[1]) + 1)
        if not numbers:
            raise InputError(
                f"The sizes are {shorten(text)}, and {word} is empty. Write the smaller first: 1-10."
            )
        sizes += numbers
    return sizes
