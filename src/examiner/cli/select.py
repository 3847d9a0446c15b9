"""`examiner select`: which few tasks to run, and how well they predict the score on all of them."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any, ClassVar, Literal

import numpy as np

from examiner import selection
from examiner.cli.levels import LevelOptions, levelled
from examiner.cli.options import (
    NORMALISE,
    OUTPUT,
    SUCCESS,
    TYPOLOGY,
    Seeded,
    SourceOptions,
    normaliser_names,
    option,
    success_of,
    words_of,
)
from examiner.cli.output import ProgressCallback, progress_bar, show
from examiner.cli.source import classification_from, results_from
from examiner.importers import read_tasks
from examiner.messages import InputError, listed, shorten
from examiner.reporting import print_line, render_selection, render_task_trial
from examiner.results import Results
from examiner.scores import Recipe, value_unit
from examiner.storage import save
from examiner.workers import map_processes

SIZE = 5
FOLDS = (
    "Folds for validation: loo (leave one agent out) or K [default: loo; 10 over 100 agents or 5,000 "
    "results, 5 over 50,000]."
)
WORTH_PROCESSES_SECONDS = 10.0
"""Work from here on is given to several processes, which take a second or two to start."""
MOST_DIGITS = 6
"""Of a number of tasks; longer ones are a slip, and a range of them would fill the memory."""


@dataclass(frozen=True, slots=True)
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
    folds: str | None = option(None, FOLDS, metavar="loo|K")
    exactly: str | None = option(
        None,
        "Select nothing: show how well exactly these tasks (comma-separated; a name with a comma in "
        "quotation marks: '\"a, b\",c') predict held-out agents.",
        metavar="TASKS",
    )
    judge: bool = option(
        False, "Select nothing: compare selection methods on held-out agents.", "--judge"
    )
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


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """Which selection methods are compared, at which sizes."""

    section: ClassVar[str] = "With --judge"
    sizes: str | None = option(
        None, "Sizes to compare: 1,3,5 or 1-10 [default: 1,2,3,5,10].", metavar="NUMBERS"
    )
    methods: str | None = option(
        None, "Methods to compare, comma-separated [default: all].", metavar="NAMES"
    )
    draws: int = option(100, "Number of random selections of each size.", min=1)
    tolerance: float = option(0.05, "Relative error that is small enough.")


@dataclass(frozen=True, slots=True)
class AddsOptions:
    """Which tasks a new task is compared with."""

    section: ClassVar[str] = "With --adds"
    present: str | None = option(
        None,
        "Tasks it may add to, comma-separated, a name with a comma in quotation marks [default: all "
        "others].",
        "--set",
        metavar="TASKS",
    )
    chosen: Path | None = option(
        None, "Or tasks stored by `examiner select -o`.", "--with", metavar="FILE"
    )


@dataclass(frozen=True, slots=True)
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
    success: str | None = option(
        None, f"{SUCCESS} For the curves of tasks [default: the median].", metavar="SCORE"
    )
    lexicographic: str | None = option(
        None,
        "Order agents by several measures: win,score,-ticks (a minus: lower is better).",
        metavar="MEASURES",
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
    must: list[str] | None = option(
        None, "A task that must be selected; may be repeated.", metavar="TASK"
    )
    must_not: list[str] | None = option(
        None, "A task that must not be selected; may be repeated.", metavar="TASK"
    )
    at_most: int | None = option(None, "Maximum number of tasks of one group.", metavar="N")
    levels: Literal["free", "together", "apart"] = option(
        "free", "Whether levels of one game are selected together, apart or freely."
    )
    typology: str | None = option(None, TYPOLOGY, metavar="NAME|FILE")
    families: str | None = option(
        None, "Column of agents that are never split between folds.", metavar="COLUMN"
    )
    choose_on: str | None = option(
        None, "Select on these agents only (names or patterns, comma-separated).", metavar="AGENTS"
    )
    workers: int | None = option(
        None, "Number of processes [default: one per core, for long work].", metavar="N", min=1
    )


def select(
    options: SourceOptions,
    how: SelectOptions,
    judged_how: JudgeOptions,
    added: AddsOptions,
    choice: SelectionOptions,
    levels: LevelOptions,
    printing: Seeded,
) -> None:
    """Select a few tasks that predict the score on all of them, validated on held-out agents."""
    if how.judge:
        from examiner.cli.judge import judge

        judge(options, how, judged_how, choice, levels, printing)
        return
    if how.adds is not None:
        from examiner.cli.adds import adds

        adds(options, how, added, choice, printing)
        return
    if how.size is not None and how.budget is not None:
        raise InputError("Both a size and a budget are given. Give one of the two.")
    with progress_bar("reading") as progress:
        material = material_from(options, choice, levels, how.budget, progress)
        holdout = _holdout(material, how.folds, choice.choose_on)
        if how.exactly is not None:
            tasks = tuple(dict.fromkeys(words_of(how.exactly) or []))
            judged = selection.judge_tasks(material, tasks, rng=printing.seed, holdout=holdout)
            show(render_task_trial(judged), printing, score_unit=value_unit(material.recipe))
            return
        size = None if how.budget is not None else SIZE if how.size is None else how.size
        choosing = material if holdout.choose_on is None else material.on_agents(holdout.choose_on)
        if how.proof:
            chosen = selection.select_and_judge(
                material,
                size,
                how.method,
                rng=printing.seed,
                holdout=holdout,
                **judging(choice.workers, progress),
            )
        else:
            chosen = selection.select(choosing, size, how.method, rng=printing.seed)
    stored = None if how.output is None else str(save(chosen, how.output))
    unit = value_unit(material.recipe)
    show(render_selection(chosen), printing, score_unit=unit, stored=stored)
    if stored and printing.for_people:
        print_line(f"Stored: {stored}")


def _holdout(
    material: selection.Benchmark, folds: str | None, choose_on: str | None
) -> selection.Holdout:
    """The protocol, as far as options change it."""
    named = agents_named(choose_on, material.agents)
    return selection.Holdout(folds_named(folds), named)


def material_from(
    source: SourceOptions,
    options: SelectionOptions,
    levels: LevelOptions,
    budget: float | None,
    progress: ProgressCallback | None,
) -> selection.Benchmark:
    """Read results and gather what choosing and judging need.

    >>> source, options = SourceOptions("atari-dqn-family"), SelectionOptions()
    >>> material_from(source, options, LevelOptions(), None, None).target
    'mean'
    """
    return material_of(results_from(source, progress), options, levels, budget)


def material_of(
    results: Results, options: SelectionOptions, levels: LevelOptions, budget: float | None = None
) -> selection.Benchmark:
    """Gather what choosing and judging need from results that were read.

    >>> material_of(Results.from_numpy(np.eye(5)), SelectionOptions(), LevelOptions()).target
    'mean'
    """
    prepared = levelled(results, levels, options.normalise)
    named = "cost" if options.cost is None and options.cost_of is not None else options.cost
    results, cost = _costs(prepared.results, named, budget)
    words = words_of(options.lexicographic) or []
    measures = [word.removeprefix("-") for word in words]
    if not all(measures):
        raise InputError(
            f"The measures are {shorten(options.lexicographic)}. Name them with commas: win,score,-ticks."
        )
    if not set(measures) <= set(results.measures):
        results = results.with_measures(*dict.fromkeys([*measures, *results.measures]))
    recipe = Recipe(
        normaliser=prepared.normalise,
        transform=options.transform,
        floor=options.floor,
        lexicographic=tuple(words),
        success=success_of(options.success),
        total=prepared.total,
    )
    demands = selection.Constraints(
        tuple(options.must or ()),
        tuple(options.must_not or ()),
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


def agents_named(text: str | None, agents: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the agents that names or patterns, with commas between them, stand for.

    >>> agents_named("dqn*,random", ("dqn", "dqn-2", "random", "ppo"))
    ('dqn', 'dqn-2', 'random')
    """
    patterns = words_of(text)
    if patterns is None:
        return None
    chosen = []
    for pattern in patterns:
        like = [agent for agent in agents if agent == pattern or fnmatchcase(agent, pattern)]
        if not like:
            raise InputError(f"No agent is like {shorten(pattern)}. There are {listed(agents)}.")
        chosen += like
    return tuple(dict.fromkeys(chosen))


def folds_named(text: str | None) -> Literal["loo"] | int | None:
    """Read 'loo' or a number of folds from an option; None where it is not given.

    >>> folds_named("loo"), folds_named("5"), folds_named(None)
    ('loo', 5, None)
    """
    if text is None or text == "loo":
        return "loo" if text else None
    if not text.isdecimal() or len(text) > MOST_DIGITS or int(text) < 2:
        raise InputError(f"The folds are {shorten(text)}. Give 'loo', or a number of 2 or more.")
    return int(text)


def judging(
    workers: int | None, progress: ProgressCallback
) -> dict[str, Any]:  # Any: options of `judge`
    """Say how folds are judged: here, or on local processes where that pays; answers are the same."""
    if workers == 1:
        return {"map": builtins.map, "progress": progress}
    spread = partial(map_processes, processes=workers, progress=progress, stage="judging folds")
    return {"map": spread if workers else partial(_where_it_pays, spread, progress)}


def _where_it_pays(
    spread: Callable[..., Any],  # Any: as `map`
    progress: ProgressCallback,
    function: Callable[[Any], Any],
    jobs: Iterable[Any],
) -> Iterator[Any]:
    """Do the first job here, and the others on processes if they would take long one after the other."""
    first, *others = jobs
    start = process_time()
    yield function(first)
    if (process_time() - start) * len(others) >= WORTH_PROCESSES_SECONDS:
        yield from spread(function, others)
        return
    for number, job in enumerate(others, 2):
        progress("judging folds", number, len(others) + 1)
        yield function(job)


def _costs(
    results: Results, cost: str | None, budget: float | None
) -> tuple[Results, str | np.ndarray[Any, np.dtype[np.float64]] | None]:
    if cost is None:
        has_costs = "cost" in (*results.task_attributes.columns, *results.attributes)
        return results, "cost" if budget is not None and has_costs else None
    if Path(cost).is_file():
        table = read_tasks(cost, results.measures[0])
        return results.with_attributes(table.attributes, step=f"costs from {cost}"), "cost"
    return results, cost
