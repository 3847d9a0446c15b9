"""Scores without and with sticky actions: of results, or of a plan that is played both ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, bound, count, name, number
from examiner.arena.job import Flavour
from examiner.arena.means import (
    Variant,
    difference_of_runs,
    interval_columns,
    job_performances,
    mean_of_runs,
    means_of_runs,
    ratio_of_runs,
)
from examiner.arena.plan import Plan
from examiner.arena.plans import plan_of_frames
from examiner.arena.runner import AnyJob, FailedJobs, Watcher, failed_jobs, run
from examiner.messages import InputError, counted
from examiner.results import Results
from examiner.validation import Floats


class StickyContrasts(Table):
    """Scores without and with sticky actions, one row per agent and flavour of a game.

    Intervals are Student's for means, Welch's for the loss and Fieller's for the share that is left. A
    bound is NaN with fewer than two runs, and where all runs are equal.
    """

    agent: tuple[str, ...] = name("Agent")
    game: tuple[str, ...] = name("Game")
    flavour: tuple[str, ...] | None = name("Mode and difficulty of the game", default=None)
    left: Floats = number("Share of the score that is left with sticky actions")
    left_low: Floats = bound("left", "low")
    left_high: Floats = bound("left", "high")
    deterministic: Floats = number(
        "Mean score over runs without sticky actions", unit="score", title="ς = 0"
    )
    sticky: Floats = number("Mean score over runs with sticky actions", unit="score")
    loss: Floats = number("Score lost with sticky actions", unit="score")
    loss_low: Floats = bound("loss", "low")
    loss_high: Floats = bound("loss", "high")
    deterministic_low: Floats = bound("deterministic", "low")
    deterministic_high: Floats = bound("deterministic", "high")
    sticky_low: Floats = bound("sticky", "low")
    sticky_high: Floats = bound("sticky", "high")
    deterministic_runs: NDArray[np.int64] = count("Runs without sticky actions", title="runs")
    sticky_runs: NDArray[np.int64] = count("Runs with sticky actions")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ProbedPlan(Answer):
    """Scores without and with sticky actions of every agent and flavour: `probe_plan`, `contrasts`.

    `failed` are the jobs that failed, which count as no runs.
    """

    kind = "probed-plan"

    contrasts: StickyContrasts
    failed: FailedJobs
    sticky_probability: float | None
    window: int | None
    notes: tuple[str, ...]

    @property
    def headline(self) -> str:
        """In how many cells sticky actions cost a significant part of the score."""
        estimated = int(np.isfinite(self.contrasts.loss_low).sum())
        if not estimated:
            return "There are too few runs for an interval of the score lost with sticky actions."
        lower = int((self.contrasts.loss_low > 0).sum())
        return (
            f"Sticky actions significantly lower the score in {lower:,} of "
            f"{counted(estimated, 'combination')} of agent and game (95 % intervals over runs)."
        )

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """The probability of sticky actions, and how many last episodes of a run were averaged."""
        return {
            "sticky_probability": self.sticky_probability,
            "window": self.window,
            "resampled": "runs",
        }


def contrast_table(runs: Mapping[Variant, Sequence[Sequence[float]]]) -> StickyContrasts:
    """Compare runs without with runs with sticky actions, by agent, game, mode and difficulty.

    >>> table = contrast_table({("brute", "pong", 0, 0): ([4.0, 4.0], [1.0, 2.0])})
    >>> table["brute", "pong"].flavour, table["brute", "pong"].loss
    ('0/0', 2.5)
    """
    flavours = [Flavour(*variant[2:]).short for variant in runs]
    return StickyContrasts(
        agent=[variant[0] for variant in runs],
        game=[variant[1] for variant in runs],
        flavour=flavours if any(flavours) else None,
        **interval_columns(
            deterministic=[mean_of_runs(without) for without, _ in runs.values()],
            sticky=[mean_of_runs(sticky) for _, sticky in runs.values()],
            loss=[difference_of_runs(without, sticky) for without, sticky in runs.values()],
            left=[ratio_of_runs(sticky, without) for without, sticky in runs.values()],
        ),
        deterministic_runs=[len(without) for without, _ in runs.values()],
        sticky_runs=[len(sticky) for _, sticky in runs.values()],
        caption="Scores without and with sticky actions, with 95 % intervals over runs",
    )


def equal_runs_note(table: StickyContrasts) -> tuple[str, ...]:
    """Return a note where means have no interval because all their runs are equal.

    >>> equal_runs_note(contrast_table({("brute", "pong", 0, 0): ([4.0, 4.0], [1.0, 2.0])}))
    ('1 mean of several runs has no interval, because all its runs are equal.',)
    """
    lows = np.concatenate([table.deterministic_low, table.sticky_low])
    runs = np.concatenate([table.deterministic_runs, table.sticky_runs])
    equal = int((np.isnan(lows) & (runs > 1)).sum())
    if not equal:
        return ()
    has, its = ("has", "its") if equal == 1 else ("have", "their")
    mean = "mean" if equal == 1 else "means"
    return (
        f"{equal:,} {mean} of several runs {has} no interval, because all {its} runs are equal.",
    )


def contrasts(deterministic: Results, sticky: Results, *, window: int = 100) -> ProbedPlan:
    """Compare scores without and with sticky actions: the mean of each run's last episodes.

    Agents, games, modes and difficulties are those of both results; `window` is the number of last
    episodes, as in the protocol (Machado et al. 2018, section 3.4).

    >>> from examiner.datasets import load
    >>> answer = contrasts(load("atari-arena-deterministic"), load("atari-arena"))
    >>> brute = answer["brute", "asterix"]
    >>> brute.deterministic_runs, brute.sticky_runs, brute.left < 0.8
    (1, 5, True)
    """
    if not isinstance(window, int) or window < 1:
        raise InputError(f"The window is {window!r}. Give a number of episodes, at least 1.")
    without, with_sticky = (means_of_runs(results, window) for results in (deterministic, sticky))
    shared = {
        variant: (list(runs.values()), list(with_sticky[variant].values()))
        for variant, runs in without.items()
        if variant in with_sticky
    }
    if not shared:
        raise InputError(
            "No agent played the same variant of a game without and with sticky actions. Give results of "
            "the same agents and games, with mode and difficulty in both or in neither."
        )
    table = contrast_table(shared)
    return ProbedPlan(table, failed_jobs({}), None, window, equal_runs_note(table))


def probe_plan(
    what: Plan | str | Path,
    folder: str | Path,
    *,
    sticky_probability: float = 0.25,
    workers: int = 1,
    watcher: Watcher | None = None,
) -> ProbedPlan:
    """Play a plan without and with sticky actions, into two ledgers of the folder, and compare the scores.

    The table is that of papers/001, Table 1: for each agent and game the mean over seeds of the mean score
    of the last episodes. Each mode and difficulty has its own row. Failed jobs are excluded with all their
    scores. The ledgers resume; `workers` is the number of processes.

    >>> import tempfile
    >>> from examiner.arena.plans import plan_from_toml
    >>> text = 'environment = "gymnasium"\\ngames = ["CartPole-v1"]\\nseeds = 2\\nepisodes = 1\\n'
    >>> answer = probe_plan(plan_from_toml(text + '[[agents]]\\nentry = "random"'), tempfile.mkdtemp())
    >>> answer.contrasts["random", "CartPole-v1"].sticky_runs, len(answer.failed)
    (2, 0)
    """
    plan = plan_of_frames(what)
    runs: dict[Variant, tuple[list[float], list[float]]] = {
        (job.agent, job.game, job.mode, job.difficulty): ([], []) for job in plan.jobs()
    }
    failures: dict[AnyJob, str] = {}
    for place, chance in enumerate((0.0, sticky_probability)):
        played = replace(plan, protocol=plan.protocol.changed(sticky_probability=chance))
        subfolder = Path(folder) / ("sticky" if place else "deterministic")
        outcome = run(played, subfolder, workers=workers, watcher=watcher)
        failures |= outcome.failures
        completed = [job for job in played.jobs() if job not in outcome.failures]
        for job, score in job_performances(outcome.ledger, completed).items():
            runs[job.agent, job.game, job.mode, job.difficulty][place].append(score)
    table = contrast_table(runs)
    notes = equal_runs_note(table)
    return ProbedPlan(table, failed_jobs(failures), sticky_probability, None, notes)
