"""A selection and its validation: the one function that reports, commands and `distil` call."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from examiner.messages import InputError, listed, shorten
from examiner.results import Results
from examiner.selection.benchmark import Benchmark, benchmark_of
from examiner.selection.evidence import SelectionEvidence
from examiner.selection.greedy import TaskSet, selection_of
from examiner.selection.methods import DEFAULT, Select, method_named, usual_method
from examiner.selection.proof.answer import GIVEN
from examiner.selection.proof.beyond import judge_beyond
from examiner.selection.proof.holdout import Holdout
from examiner.selection.proof.judgement import Map, MethodJudgement, judge
from examiner.selection.selection import Selection, choose, settle, with_predictor
from examiner.validation import Randomness, generator, seed_of
from examiner.workers import Progress


def select_and_judge(
    source: Results | Benchmark | Any,  # Any: all that `ex.read` takes
    size: int | None = None,
    method: str | Select | None = None,
    *,
    sizes: Sequence[int] = (),
    rng: Randomness = 0,
    holdout: Holdout | None = None,
    progress: Progress | None = None,
    map: Map = builtins.map,
) -> Selection:
    """Select a few tasks, learn to predict the whole from them, and judge the selection on held-out agents.

    Every report, command and plot that shows how well a selection predicts calls this, or `judge` below
    it: the same question has the same answer. `sizes` are further sizes to judge.

    >>> scores = np.random.default_rng(0).normal(size=(12, 6)) + np.arange(12)[:, None]
    >>> selection = select_and_judge(Results.from_numpy(scores), 2, holdout=Holdout(draws=5))
    >>> selection.figures.r2 > 0.5
    True
    """
    whole = benchmark_of(source)
    holdout = holdout or Holdout()
    choosing = whole if holdout.choose_on is None else whole.on_agents(holdout.choose_on)
    method, seed = method or usual_method(whole), seed_of(rng)
    shrinkage = settle(choosing) if method == DEFAULT else None
    tasks = choose(choosing, size, method, rng=seed, shrinkage=shrinkage)
    judgement = judge(
        whole,
        [*sizes, len(tasks)],
        [method],
        rng=seed,
        holdout=holdout,
        progress=progress,
        map=map,
        shrinkage=shrinkage if choosing is whole else None,
    )
    selected = with_predictor(
        choosing, tasks, rng=seed, level=holdout.level, judgement=judgement, shrinkage=shrinkage
    )
    entered = method_named(selected.method)[1]
    beyond, notes = judge_beyond(choosing, entered, len(tasks), holdout.level, generator(seed))
    chosen = replace(selected.chosen, notes=(*selected.chosen.notes, *notes))
    return replace(selected, chosen=chosen, beyond=beyond)


def distil(
    source: Results | Benchmark | Any,  # Any: all that `ex.read` takes
    size: int,
    *,
    rng: Randomness = 0,
    holdout: Holdout | None = None,
    progress: Progress | None = None,
    map: Map = builtins.map,
) -> Selection:
    """Return a tiny version of a benchmark: selected tasks, a predictor of the whole, and their record.

    It must have fewer tasks than the benchmark. The `record` has the mean absolute error for held-out
    agents, the share inside their intervals, and how often a regression would be reported that did not
    happen, or missed.

    >>> scores = np.random.default_rng(0).normal(size=(20, 6)) + np.arange(20)[:, None]
    >>> tiny = distil(Results.from_numpy(scores), 2, holdout=Holdout(4, draws=5))
    >>> tiny.record.error < tiny.record.random_error * 2, tiny.record.agents
    (True, 20)
    """
    whole = benchmark_of(source)
    if size >= len(whole.tasks):
        raise InputError(
            f"A tiny version must have fewer tasks than the benchmark, which has {len(whole.tasks):,}: "
            f"{size:,} are too many. Give a smaller `size=...`."
        )
    return select_and_judge(whole, size, rng=rng, holdout=holdout, progress=progress, map=map)


def judge_tasks(
    source: Results | Benchmark | Any,  # Any: all that `ex.read` takes
    tasks: Sequence[str],
    *,
    rng: Randomness = 0,
    holdout: Holdout | None = None,
) -> MethodJudgement:
    """Judge tasks named by hand, in the same folds and with the same predictor as selected ones.

    The tasks are the same in every fold: where they were selected on the same agents, errors are too small.

    >>> scores = np.random.default_rng(0).normal(size=(9, 6)) + np.arange(9)[:, None]
    >>> judgement = judge_tasks(Results.from_numpy(scores), ["task 1", "task 3"])
    >>> judgement.row("given", 2).kendall > 0.5
    True
    """
    whole = benchmark_of(source)
    names = tuple(dict.fromkeys(tasks))
    unknown = [name for name in names if name not in whole.tasks]
    if unknown or not names:
        problem = f"No task is called {shorten(unknown[0])}" if unknown else "No task is named"
        raise InputError(f"{problem}. There are {listed(whole.tasks)}.")
    columns = [whole.tasks.index(name) for name in names]

    def given(evidence: SelectionEvidence, size: int, rng: np.random.Generator) -> TaskSet:
        gain = np.full(len(columns), np.nan)
        return selection_of(evidence, columns, gain, method=GIVEN, unit="as given")

    return judge(whole, [len(names)], [given], rng=rng, holdout=holdout)
