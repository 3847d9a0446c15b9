"""`examiner compare`: ways of choosing tasks, judged on agents that had no part in choosing."""

from __future__ import annotations

from dataclasses import dataclass

from examiner.cli.levels import LevelOptions
from examiner.cli.options import REPS, Seeded, SourceOptions, option, words_of
from examiner.cli.output import progress_bar, show
from examiner.cli.select import (
    FOLDS,
    MOST_DIGITS,
    SelectionOptions,
    agents_named,
    folds_named,
    judging,
    material_from,
)
from examiner.messages import InputError, shorten
from examiner.reporting.findings import comparison
from examiner.scores.unit import value_unit
from examiner.selection import METHODS, SIZES, Holdout
from examiner.selection import compare as compare_selections


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """What is compared, and how it is judged."""

    sizes: str | None = option(
        None, "Sizes to compare: 1,3,5 or 1-10 [default: 1,2,3,5,10].", metavar="NUMBERS"
    )
    methods: str | None = option(
        None, f"With commas: {', '.join(METHODS)}, best_of [default: all of them].", metavar="NAMES"
    )
    folds: str | None = option(None, FOLDS, metavar="loo|K")
    draws: int = option(100, "Random sets of each size.", min=1)
    reps: int = option(400, REPS, min=1)
    tolerance: float = option(0.05, "Relative error that is good enough, for the answer.")


def compare(
    options: SourceOptions,
    choice: SelectionOptions,
    levels: LevelOptions,
    how: CompareOptions,
    told: Seeded,
) -> None:
    """Judge ways of choosing tasks on held-out agents, and tell how many tasks are enough."""
    with progress_bar("reading") as progress:
        material = material_from(options, choice, levels, None, progress)
        sizes = _sizes(how.sizes, int(material.terms.offered.sum()), len(material.terms.must))
        holdout = Holdout(
            folds_named(how.folds),
            agents_named(choice.choose_on, material.agents),
            draws=how.draws,
            reps=how.reps,
        )
        found = compare_selections(
            material,
            sizes,
            words_of(how.methods),
            rng=told.seed,
            holdout=holdout,
            tolerance=how.tolerance,
            **judging(choice.workers, progress),
        )
    finding = comparison.tell(found, seed=told.seed)
    beside = {
        "score_unit": value_unit(material.recipe),
        "tolerance": how.tolerance,
        "seed": told.seed,
    }
    show(finding, "examiner.compare/1", told, found.notes, **beside)


def _sizes(text: str | None, offered: int, must: int) -> list[int]:
    if text is not None:
        return _numbers(text)
    return [size for size in SIZES if max(1, must) <= size < offered] or [offered]


def _numbers(text: str) -> list[int]:
    """Sizes as whole numbers with commas, and ranges.

    >>> _numbers("1,3-5")
    [1, 3, 4, 5]
    """
    found: list[int] = []
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
        found += numbers
    return found
