"""Selection: how few tasks are enough, by all methods, and why each chosen task is in the set."""

from __future__ import annotations

import numpy as np

from examiner.scores import NORMALISERS, Recipe
from examiner.selection import (
    Benchmark,
    Comparison,
    Constraints,
    Holdout,
    Reason,
    Selection,
    benchmark,
    reasons,
    select,
)
from examiner.selection import compare as compare_selections
from examiner.telling.figures import cost_quality
from examiner.telling.finding import Block, Column, Figure, Finding, Name, Table, Text, enumerated
from examiner.telling.numbers import three_digits
from examiner.telling.resampled import noted, untold
from examiner.telling.study import Study
from examiner.wording import InputError

KEY, TITLE = "selection", "How few tasks are enough"
SIZES = (1, 2, 3, 5, 8)
CHOSEN = 5
LEAST_AGENTS = 8
FOLDS = 5
MOST_WORK = 1.2e6
"""Agents² · tasks · size that a report may spend on it: some ten seconds; `examiner compare` takes more."""


def selection(study: Study) -> Finding:
    """Tell how few tasks are enough, and which.

    >>> from examiner.results import Results
    >>> scores = np.random.default_rng(0).normal(size=(10, 6)) + np.arange(10)[:, None]
    >>> section = selection(Study.of(Results.from_numpy(scores)))
    >>> [block.key for block in section.blocks if isinstance(block, Figure)]
    ['cost-quality']
    """
    agents, tasks = len(study.results.agents), len(study.results.tasks)
    if agents < LEAST_AGENTS or tasks < 3:
        return untold(
            KEY,
            TITLE,
            f"{agents} agents on {tasks} tasks are too few to choose some tasks and to judge the choice "
            f"on other agents: it takes {LEAST_AGENTS} agents and 3 tasks.",
        )
    sizes = [size for size in SIZES if size < tasks]
    if agents**2 * tasks * sizes[-1] > MOST_WORK:
        return untold(
            KEY,
            TITLE,
            f"{agents:,} agents on {tasks:,} tasks are too many for a report: run `examiner compare`.",
        )
    try:
        return _told(study, sizes)
    except InputError as problem:
        return untold(KEY, TITLE, f"No few tasks can be chosen: {problem}")


def _told(study: Study, sizes: list[int]) -> Finding:
    known = study.normaliser if study.normaliser in NORMALISERS else None
    material = benchmark(
        study.results,
        Recipe(measure=study.measure, normaliser=known),
        constraints=Constraints(groups=study.classification),
    )
    rng = np.random.default_rng(study.seed)
    holdout = Holdout(FOLDS, repeats=0, draws=50, reps=200)
    found = compare_selections(material, sizes, rng=rng, holdout=holdout)
    size = min(CHOSEN, sizes[-1])
    chosen = select(material, size, rng=rng)
    why = reasons(material, chosen)
    own = [note for note in found.notes if note not in study.results.notes]
    blocks: tuple[Block, ...] = (
        _curve(material, found),
        Text((found.answer,)),
        _table(chosen, why),
        *noted(own),
    )
    row = found.row("best_of", size)
    lead = (
        f"{size} of {len(material.tasks)} tasks predict the mean of agents that had no part in choosing "
        f"them with R² {three_digits(row.r2.value)}, random sets with "
        f"{three_digits(found.row('random', size).r2.value)}: ",
        *enumerated(chosen.tasks, 8),
        ".",
    )
    return Finding(KEY, TITLE, lead, blocks)


def _curve(material: Benchmark, found: Comparison) -> Figure:
    names = [*found.methods, "random"]
    rows = [[found.row(name, size) for size in found.sizes] for name in names]
    cost = np.array([[row.cost for row in line] for line in rows])
    r2, low, high = np.array([[row.r2 for row in line] for line in rows]).transpose(2, 0, 1)
    data = cost_quality.data(names, found.sizes, cost, r2, low, high, material.terms.priced)
    best = found.row("best_of", found.sizes[-1])
    return Figure(
        key="cost-quality",
        data=data._asdict(),
        drawing=cost_quality.draw(data),
        caption=(
            f"With {best.size} tasks best-of reaches R² {three_digits(best.r2.value)}; chosen and judged "
            f"on the same agents it would seem {three_digits(best.optimistic_r2)}.",
        ),
        description="Lines of R² over the size of the set, one for each method; random sets as a band.",
        legend=(
            f"Every point is about agents that had no part in choosing, fitting or choosing the method "
            f"({found.folds}). Best-of takes in each fold the method that does best inside it. `examiner "
            f"compare` leaves out one agent at a time, and tells more.",
        ),
        narrowest=420,
    )


def _table(chosen: Selection, why: tuple[Reason, ...]) -> Table:
    columns = (
        Column("task", "name"),
        Column(chosen.unit, "number", "What it added to the tasks above it when it was chosen."),
        Column(
            "weight", "number", "Deviations the prediction moves with one deviation of the task."
        ),
        Column("correlation", "number", "With the mean over all tasks, across agents."),
        Column("stands for", "name", "The tasks left out that it is most like."),
    )
    rows = tuple(
        (
            Name(one.task),
            one.gain,
            one.weight,
            one.correlation,
            Name(", ".join(task for task, _ in one.alike)),
        )
        for one in why
    )
    caption = (f"Chosen by {chosen.method}, on all agents, and why each task is in the set.",)
    return Table(columns, rows, caption)
