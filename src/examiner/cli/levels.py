"""Levels between task and total, as options: by which columns, which average, weights, chance levels."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from examiner.checking import read_outside
from examiner.cli.options import option, parsed, words_of
from examiner.results import Results
from examiner.scores import Total, chance_scales, total
from examiner.wording import InputError, listed, shorten

_MOST_BYTES = 64 * 2**20
"""A number for each of a million tasks; anything larger is no such table."""


@dataclass(frozen=True, slots=True)
class LevelOptions:
    """How tasks make a total."""

    by: str | None = option(
        None,
        "Columns that group tasks, outermost first: subtask, or benchmark,subtask.",
        metavar="COLUMNS",
    )
    average: Literal["micro", "macro"] | None = option(
        None, "Whether groups count alike (macro, the default with --by) or tasks (micro)."
    )
    weights: str | None = option(
        None,
        "What tasks or groups count: a table of names and weights, or a column of tasks.",
        metavar="FILE|COLUMN",
    )
    chance: str | None = option(
        None,
        "What guessing gets: a table of tasks or groups and their chance, or a column of tasks; scores "
        "become (x - chance) / (1 - chance).",
        metavar="FILE|COLUMN",
    )


class Levelled(NamedTuple):
    """Results with their chance levels, the normaliser these ask for, and how tasks make a total."""

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
    known = None if weights is None else _numbers(weights, "weight", by or (), results)
    return Levelled(results, normalise, total(results, by, options.average, known))


def _numbers(source: str, what: str, by: Sequence[str], results: Results) -> dict[str, float]:
    """Numbers of tasks or groups: from a column of the table of tasks, or from a file."""
    if source in results.task_attributes.columns and not Path(source).exists():
        values = results.task_attributes.aligned(results.task_names, source)
        return {
            task: _number(str(value), what, task)
            for task, value in zip(results.tasks, values, strict=True)
            if value is not None
        }
    try:
        content = read_outside(Path(source), _MOST_BYTES, f"table of {what}s")
    except OSError as problem:
        raise InputError(
            f"Cannot read the table of {what}s {shorten(source, 200)}: {problem.strerror}. Check the path, "
            f"or name a column of the table of tasks."
        ) from None
    text = content.decode("utf-8-sig", "replace")
    lines = text.splitlines()
    separator = "\t" if lines and "\t" in lines[0] else ","
    rows = [row for row in csv.reader(lines, delimiter=separator) if any(row)]
    header = [column.strip().lower() for column in rows[0]] if rows else []
    number = next((name for name in (what, f"{what}s") if name in header), None)
    names = [name for name in (*map(str.lower, by), "group", "task") if name in header]
    if number is None or not names:
        wanted = " or ".join(dict.fromkeys((*by, "task")))
        raise InputError(
            f"{shorten(source, 200)} is no table of names and numbers: its columns are {listed(header)}. "
            f"Give a column {wanted} and a column {what!r}."
        )
    levels = [name for name in names if name in map(str.lower, by)] or names[:1]
    found: dict[str, float] = {}
    for row in rows[1:]:
        cells = dict(zip(header, map(str.strip, row), strict=False))
        name = "/".join(cells.get(level, "") for level in levels)
        if name in found:
            raise InputError(f"{shorten(name)} stands twice in {shorten(source, 200)}. Keep one.")
        found[name] = _number(cells.get(number, ""), what, name)
    return found


def _number(text: str, what: str, name: str) -> float:
    return parsed(float, text, f"The {what} of {shorten(name)} is {shorten(text)}. Give a number.")
