"""How tasks are averaged to a total, as options: groups, weights and chance levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

from examiner.cli.options import ComparisonOptions, option, parsed, words_of
from examiner.cli.source import comparable
from examiner.importers import read_numbers
from examiner.messages import InputError, shorten
from examiner.results import Results
from examiner.scores import Total, chance_scales, total


@dataclass(frozen=True, slots=True)
class LevelOptions:
    """How tasks are averaged to a total."""

    section: ClassVar[str] = "Averaging tasks"
    by: str | None = option(
        None,
        "Columns that group tasks, outermost first: subtask, or benchmark,subtask.",
        metavar="COLUMNS",
    )
    average: Literal["micro", "macro"] | None = option(
        None, "Equal weights for groups (macro, the default with --by) or for tasks (micro)."
    )
    weights: str | None = option(
        None,
        "Weights of tasks or groups: a table of names and weights, or a column of tasks.",
        metavar="FILE|COLUMN",
    )
    chance: str | None = option(
        None,
        "Score expected by guessing: a table of tasks or groups with their chance, or a column of tasks; "
        "scores become (x - chance) / (1 - chance).",
        metavar="FILE|COLUMN",
    )


class Levelled(NamedTuple):
    """Results with their chance levels, the normaliser these need, and how tasks are averaged."""

    results: Results
    normalise: str | None
    total: Total | None


def levelled(results: Results, options: LevelOptions, normalise: str | None) -> Levelled:
    """Apply `--by`, `--average`, `--weights` and `--chance`, where given.

    >>> levelled(Results.from_numpy([[1.0]]), LevelOptions(), None).total is None
    True
    """
    by = words_of(options.by)
    if options.chance is not None:
        if normalise not in (None, "auto", "chance"):
            raise InputError(
                f"Scores are to be rescaled to chance and normalised by {normalise!r}. Leave one of the "
                f"two out: `--chance` or `--normalise`."
            )
        chance = _numbers(options.chance, "chance", by or (), results)
        results = results.with_scales(chance_scales(results, chance, by), step="chance levels")
        normalise = "chance"
    if by is None and options.average is None and options.weights is None:
        return Levelled(results, normalise, None)
    weights = options.weights
    weight_of = None if weights is None else _numbers(weights, "weight", by or (), results)
    return Levelled(results, normalise, total(results, by, options.average, weight_of))


def levelled_and_compared(
    results: Results, options: LevelOptions, comparison: ComparisonOptions
) -> Levelled:
    """Apply the levels, then what makes scores comparable: these are the results that come back.

    >>> levelled_and_compared(Results.from_numpy([[1.0]]), LevelOptions(), ComparisonOptions()).normalise
    """
    prepared = levelled(results, options, comparison.normalise)
    return prepared._replace(
        results=comparable(prepared.results, replace(comparison, normalise=prepared.normalise))
    )


def _numbers(source: str, what: str, by: Sequence[str], results: Results) -> dict[str, float]:
    """Numbers of tasks or groups: from a column of the table of tasks, or from a file."""
    if source in results.task_attributes.columns and not Path(source).exists():
        values = results.task_attributes.aligned(results.task_names, source)
        return {
            task: _number(str(value), what, task)
            for task, value in zip(results.tasks, values, strict=True)
            if value is not None
        }
    return read_numbers(source, what, by)


def _number(text: str, what: str, name: str) -> float:
    return parsed(float, text, f"The {what} of {shorten(name)} is {shorten(text)}. Give a number.")
