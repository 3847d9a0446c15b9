"""The options `select` and `compare` share, and what both make of them: material, agents and numbers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from examiner.cli.options import SourceOptions
from examiner.cli.progress import ProgressCallback
from examiner.cli.source import classification_from, results_from
from examiner.wording import InputError, listed, shorten

if TYPE_CHECKING:
    from examiner.results import Results
    from examiner.selection import Benchmark

_MOST_DIGITS = 6
"""Of a number of tasks; longer ones are a slip, and a range of them would fill the memory."""


class TransformKind(StrEnum):
    """What is done to comparable scores."""

    none = "none"
    log = "log"


class TargetKind(StrEnum):
    """Which aggregate of the full benchmark is predicted."""

    mean = "mean"
    median = "median"
    iqm = "iqm"
    rank_points = "rank-points"


class LevelsKind(StrEnum):
    """How levels of one game come."""

    free = "free"
    together = "together"
    apart = "apart"


@dataclass(frozen=True, slots=True)
class SelectionOptions:
    """What is predicted, from what, and which demands a set must meet."""

    target: Annotated[
        TargetKind, typer.Option("--target", help="Aggregate of the full benchmark to predict.")
    ] = TargetKind.mean
    normalise: Annotated[
        str | None,
        typer.Option(
            "--normalise",
            "--normalize",
            metavar="NAME",
            help="human, random-only, z-score, min-max, rank, log, or none [default: what suits].",
        ),
    ] = None
    transform: Annotated[
        TransformKind, typer.Option("--transform", help="log₁₀ of comparable scores, or none.")
    ] = TransformKind.none
    floor: Annotated[
        float | None,
        typer.Option(
            "--floor", help="Least value before the log [default: 0.01 with human scores, else 1]."
        ),
    ] = None
    success: Annotated[
        float | None,
        typer.Option(
            "--success", help="What counts as success for curves of tasks [default: the median]."
        ),
    ] = None
    lexicographic: Annotated[
        str | None,
        typer.Option(
            "--lexicographic",
            metavar="MEASURES",
            help="Order agents by several measures: win,score,-ticks (a minus: less is better).",
        ),
    ] = None
    coverage: Annotated[
        float,
        typer.Option("--coverage", help="Share of the tasks an agent must be observed on."),
    ] = 0.9
    deviations: Annotated[
        float | None,
        typer.Option(
            "--deviations", help="How much agents vary, as a share of the spread between agents."
        ),
    ] = None
    cost: Annotated[
        str | None,
        typer.Option(
            "--cost",
            metavar="COLUMN|FILE",
            help="What a task costs: a column, or a table of tasks.",
        ),
    ] = None
    must: Annotated[
        list[str] | None,
        typer.Option("--must", metavar="TASK", help="A task that must be there; may be repeated."),
    ] = None
    must_not: Annotated[
        list[str] | None,
        typer.Option("--must-not", metavar="TASK", help="A task that must not; may be repeated."),
    ] = None
    at_most: Annotated[
        int | None, typer.Option("--at-most", metavar="N", help="Most tasks of one group.")
    ] = None
    levels: Annotated[
        LevelsKind, typer.Option("--levels", help="Levels of one game: together, apart or free.")
    ] = LevelsKind.free
    typology: Annotated[
        str | None,
        typer.Option(
            "--typology", metavar="NAME|FILE", help="Classification whose groups tasks belong to."
        ),
    ] = None
    groups: Annotated[
        str | None,
        typer.Option(
            "--groups",
            metavar="COLUMN",
            help="Column of agents that are never split: family, paper.",
        ),
    ] = None
    choose_on: Annotated[
        str | None,
        typer.Option(
            "--choose-on",
            metavar="AGENTS",
            help="Choose on these agents (names or patterns, with commas).",
        ),
    ] = None
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers", metavar="N", min=1, help="Processes [default: one a core, if worth it]."
        ),
    ] = None


def material_from(
    source: SourceOptions,
    options: SelectionOptions,
    budget: float | None,
    progress: ProgressCallback | None,
) -> Benchmark:
    """Read results and gather what choosing and judging need.

    >>> material_from(SourceOptions("atari-dqn-family"), SelectionOptions(), None, None).target
    'mean'
    """
    from examiner.scores import Recipe
    from examiner.selection import Constraints, benchmark

    results = results_from(source, progress)
    results, cost = _costs(results, options.cost, budget)
    words = []
    if options.lexicographic is not None:
        words = [word.strip() for word in options.lexicographic.split(",")]
        if not all(word.removeprefix("-") for word in words):
            raise InputError(
                f"The measures are {shorten(options.lexicographic)}. Name them with commas: "
                f"win,score,-ticks."
            )
    lacking = [word.removeprefix("-") for word in words]
    if words and not set(lacking) <= set(results.measures):
        results = results.with_measures(*dict.fromkeys([*lacking, *results.measures]))
    recipe = Recipe(
        normaliser="auto" if options.normalise is None else options.normalise,
        transform=options.transform.value,
        floor=options.floor,
        lexicographic=tuple(words),
        success=options.success,
    )
    demands = Constraints(
        tuple(options.must or ()),
        tuple(options.must_not or ()),
        options.at_most,
        options.levels.value,
        budget,
        cost,
        None if options.typology is None else classification_from(options.typology),
    )
    return benchmark(
        results,
        recipe,
        target=options.target.value,
        constraints=demands,
        families=options.groups,
        coverage=options.coverage,
        deviations=options.deviations,
    )


def agents_named(text: str | None, agents: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the agents that names or patterns, with commas between them, stand for.

    >>> agents_named("dqn*,random", ("dqn", "dqn-2", "random", "ppo"))
    ('dqn', 'dqn-2', 'random')
    """
    if text is None:
        return None
    found = []
    for pattern in (word.strip() for word in text.split(",")):
        like = [agent for agent in agents if agent == pattern or fnmatchcase(agent, pattern)]
        if not like:
            raise InputError(f"No agent is like {shorten(pattern)}. There are {listed(agents)}.")
        found += like
    return tuple(dict.fromkeys(found))


def numbers_in(text: str, what: str) -> list[int]:
    """Read whole numbers with commas, and ranges, from an option.

    >>> numbers_in("1,3-5", "sizes")
    [1, 3, 4, 5]
    """
    found: list[int] = []
    for word in (part.strip() for part in text.split(",")):
        first, dash, last = word.partition("-")
        ends = (first, last) if dash else (first, first)
        if not all(end.isdecimal() and len(end) <= _MOST_DIGITS for end in ends):
            raise InputError(
                f"The {what} are {shorten(text)}. Give whole numbers, as in 1,3,5 or 1-10."
            )
        numbers = range(int(ends[0]), int(ends[1]) + 1)
        if not numbers:
            raise InputError(
                f"The {what} are {shorten(text)}, and {word} is empty. Write the smaller first: 1-10."
            )
        found += numbers
    return found


def _costs(
    results: Results, cost: str | None, budget: float | None
) -> tuple[Results, str | np.ndarray[Any, np.dtype[np.float64]] | None]:
    if cost is None:
        known = "cost" in (*results.task_attributes.columns, *results.attributes)
        return results, "cost" if budget is not None and known else None
    if Path(cost).is_file():
        from examiner.importers import read_tasks

        table = read_tasks(cost, results.measures[0])
        return results.with_attributes(table.attributes, step=f"costs from {cost}"), "cost"
    return results, cost
