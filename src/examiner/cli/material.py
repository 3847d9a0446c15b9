"""What tasks are selected from, as options: target, recipe, constraints and held-out agents."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import compress
from pathlib import Path
from typing import Any, ClassVar, Literal

from examiner import selection
from examiner.cli.options import (
    NORMALISE,
    SUCCESS,
    TYPOLOGY,
    LevelOptions,
    normaliser_names,
    option,
)
from examiner.cli.output import ProgressCallback
from examiner.cli.source import classification_from, levelled
from examiner.cli.values import success_of, words_of
from examiner.importers import read_tasks
from examiner.messages import InputError, shorten
from examiner.results import Results, labels_like
from examiner.scores import Recipe
from examiner.workers import map_where_it_pays

FOLDS = (
    "Folds for validation: loo (leave one agent out) or K [default: loo; 10 over 100 agents or 5,000 "
    "results, 5 over 50,000]."
)


def is_count(text: str) -> bool:
    """Tell whether a text is a whole number of tasks or agents; one of more digits is a slip.

    >>> is_count("12"), is_count("1e3"), is_count("1234567")
    (True, False, False)
    """
    return text.isdecimal() and len(text) <= 6


def folds_named(text: str) -> Literal["loo"] | int:
    """Read 'loo' or a number of folds.

    >>> folds_named("loo"), folds_named("5")
    ('loo', 5)
    """
    if text == "loo":
        return "loo"
    if not is_count(text) or int(text) < 2:
        raise InputError(f"The folds are {shorten(text)}. Give 'loo', or a number of 2 or more.")
    return int(text)


def _measures(text: str) -> tuple[str, ...]:
    words = tuple(words_of(text))
    if not all(word.removeprefix("-") for word in words):
        raise InputError(
            f"The measures are {shorten(text)}. Name them with commas: win,score,-ticks."
        )
    return words


@dataclass(frozen=True)
class SelectionOptions:
    """What is predicted from which scores, and the constraints on a selection."""

    section: ClassVar[str] = "Target and constraints"
    examined: Literal["same", "newer"] = option(
        "same",
        "Agents that will be examined: more like these, or newer and better ones.",
        "--for",
    )
    target: Literal["mean", "median", "iqm", "macro-mean", "mean-rank", "rank-points"] = option(
        "mean", "Aggregate of the full benchmark to predict."
    )
    normalise: str = option("auto", normaliser_names, *NORMALISE, metavar="NAME")
    transform: Literal["none", "log"] = option("none", "log₁₀ of comparable scores, or none.")
    floor: float | None = option(
        None, "Smallest value before the log [default: 0.01 with human scores, else 1]."
    )
    # Any: a number or a word
    success: Any = option(
        None,
        f"{SUCCESS} For the curves of tasks [default: the median].",
        metavar="SCORE",
        parse=success_of,
    )
    lexicographic: tuple[str, ...] | None = option(
        None,
        "Order agents by several measures: win,score,-ticks (a minus: lower is better).",
        metavar="MEASURES",
        parse=_measures,
    )
    coverage: float = option(0.9, "Share of the tasks on which an agent must be observed.")
    deviations: float | None = option(
        None, "Variation within agents, as a share of the spread between agents."
    )
    cost: str | None = option(
        None,
        "Cost of a task: a column, also tokens_in*PRICE+tokens_out*PRICE, or a table of tasks.",
        metavar="COLUMN|FILE",
    )
    cost_of: str | None = option(
        None, "Agent whose costs are used [default: the mean of all].", metavar="AGENT"
    )
    must: tuple[str, ...] = option(
        (), "A task that must be selected; may be repeated.", metavar="TASK"
    )
    must_not: tuple[str, ...] = option(
        (), "A task that must not be selected; may be repeated.", metavar="TASK"
    )
    at_most: int | None = option(None, "Maximum number of tasks of one group.", metavar="N")
    levels: Literal["free", "together", "apart"] = option(
        "free", "Whether levels of one game are selected together, apart or freely."
    )
    typology: str | None = option(None, TYPOLOGY, metavar="NAME|FILE")
    families: str | None = option(
        None, "Column of agents that are never split between folds.", metavar="COLUMN"
    )
    choose_on: list[str] | None = option(
        None,
        "Select on these agents only (names or patterns, comma-separated).",
        metavar="AGENTS",
        parse=words_of,
    )
    workers: int | None = option(
        None, "Number of processes [default: one per core, for long work].", metavar="N", min=1
    )


def material_of(
    results: Results, options: SelectionOptions, levels: LevelOptions, budget: float | None = None
) -> selection.Benchmark:
    """Gather what choosing and judging need from results that were read.

    >>> material_of(Results.from_numpy([[0.0, 1.0]] * 5), SelectionOptions(), LevelOptions()).target
    'mean'
    """
    results, normalise, total = levelled(results, levels, options.normalise)
    cost = options.cost
    if cost is not None and Path(cost).is_file():
        table = read_tasks(cost, results.measures[0])
        results = results.with_attributes(table.attributes, step=f"costs from {cost}")
        cost = "cost"
    measures = [word.removeprefix("-") for word in options.lexicographic or ()]
    if not set(measures) <= set(results.measures):
        results = results.with_measures(*dict.fromkeys([*measures, *results.measures]))
    recipe = Recipe(
        normaliser=normalise,
        transform=options.transform,
        floor=options.floor,
        lexicographic=options.lexicographic or (),
        success=options.success,
        total=total,
    )
    demands = selection.Constraints(
        options.must,
        options.must_not,
        options.at_most,
        options.levels,
        budget,
        cost,
        classification_from(options.typology),
        options.cost_of,
    )
    return selection.benchmark(
        results,
        recipe,
        target=options.target,
        constraints=demands,
        families=options.families,
        coverage=options.coverage,
        deviations=options.deviations,
        examined=options.examined,
    )


def holdout_of(
    folds: Literal["loo"] | int | None,
    options: SelectionOptions,
    material: selection.Benchmark,
    draws: int = 100,
    reps: int = 400,
) -> selection.Holdout:
    """Return how agents are held out; `--choose-on` names those to choose on, or gives patterns.

    >>> options = SelectionOptions(choose_on=["agent [24]", "agent 1"])
    >>> material = material_of(Results.from_numpy([[0.0, 1.0]] * 5), options, LevelOptions())
    >>> holdout_of(None, options, material).choose_on
    ('agent 1', 'agent 2', 'agent 4')
    """
    named = None
    if options.choose_on is not None:
        named = tuple(compress(material.agents, labels_like(options.choose_on, material.agents)))
    return selection.Holdout(folds, named, draws=draws, reps=reps)


def judging(options: SelectionOptions, progress: ProgressCallback) -> Any:  # Any: as `map`
    """Return what judges folds: here, or on local processes where that pays; answers are the same."""
    return partial(
        map_where_it_pays, processes=options.workers, progress=progress, stage="judging folds"
    )
