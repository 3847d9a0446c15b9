"""Scores without and with sticky actions, of every agent and flavour of a game, by runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, bound, count, name, number
from examiner.arena.play.judging import Flavour
from examiner.arena.play.means import (
    RunsMean,
    Variant,
    difference_of_runs,
    interval_columns,
    mean_of_runs,
    means_of_runs,
    ratio_of_runs,
)
from examiner.arena.play.runner import FailedJob, FailedJobs, failed_jobs
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


class Contrast(NamedTuple):
    """Means over runs without and with sticky actions, their difference and their ratio."""

    deterministic: RunsMean
    sticky: RunsMean
    loss: RunsMean
    left: RunsMean


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ProbedPlan(Answer):
    """Scores without and with sticky actions of every agent and flavour: `probe`, `contrasts`.

    `failures` are the jobs that failed, which count as no runs; `failed` is their table.
    """

    kind = "probed-plan"

    contrasts: StickyContrasts
    failures: tuple[FailedJob, ...] = ()
    sticky_probability: float | None = None
    window: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def failed(self) -> FailedJobs:
        """The failed jobs as a table."""
        return failed_jobs(self.failures)

    @property
    def headline(self) -> str:
        """In how many cells sticky actions cost a significant part of the score."""
        known = int(np.isfinite(self.contrasts.loss_low).sum())
        if not known:
            return "There are too few runs for an interval of the score lost with sticky actions."
        lower = int((self.contrasts.loss_low > 0).sum())
        return (
            f"Sticky actions significantly lower the score in {lower:,} of "
            f"{counted(known, 'combination')} of agent and game (95 % intervals over runs)."
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """The contrasts, and the jobs that failed."""
        return {"contrasts": self.contrasts, "failed": self.failed}

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """The probability of sticky actions, and how many last episodes of a run were averaged."""
        return {
            "sticky_probability": self.sticky_probability,
            "window": self.window,
            "resampled": "runs",
        }


def contrast_of(deterministic: Sequence[float], sticky: Sequence[float]) -> Contrast:
    """Return the contrast of two sets of runs.

    >>> contrast_of([4.0, 4.0], [1.0, 1.0]).left.mean
    0.25
    """
    return Contrast(
        mean_of_runs(deterministic),
        mean_of_runs(sticky),
        difference_of_runs(deterministic, sticky),
        ratio_of_runs(sticky, deterministic),
    )


def contrast_table(contrasts: Mapping[Variant, Contrast]) -> StickyContrasts:
    """Return contrasts by agent, game, mode and difficulty as a table.

    >>> table = contrast_table({("brute", "pong", 0, 0): contrast_of([4.0, 4.0], [1.0, 2.0])})
    >>> table["brute", "pong"].flavour, table["brute", "pong"].loss
    ('0/0', 2.5)
    """
    flavours = [Flavour(*variant[2:]).short for variant in contrasts]
    estimates: dict[str, Any] = {}
    for field in Contrast._fields:
        estimates |= interval_columns(field, [getattr(each, field) for each in contrasts.values()])
    return StickyContrasts(
        agent=[variant[0] for variant in contrasts],
        game=[variant[1] for variant in contrasts],
        flavour=flavours if any(flavours) else None,
        **estimates,
        deterministic_runs=[contrast.deterministic.runs for contrast in contrasts.values()],
        sticky_runs=[contrast.sticky.runs for contrast in contrasts.values()],
        caption="Scores without and with sticky actions, with 95 % intervals over runs",
    )


def equal_runs_note(contrasts: Sequence[Contrast]) -> tuple[str, ...]:
    """Return a note where estimates have no interval because all their runs are equal.

    >>> equal_runs_note([contrast_of([4.0, 4.0], [1.0, 2.0])])
    ('1 mean of several runs has no interval, because all its runs are equal.',)
    """
    equal = sum(part.is_equal for each in contrasts for part in (each.deterministic, each.sticky))
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
        variant: contrast_of(list(runs.values()), list(with_sticky[variant].values()))
        for variant, runs in without.items()
        if variant in with_sticky
    }
    if not shared:
        raise InputError(
            "No agent played the same variant of a game without and with sticky actions. Give results of "
            "the same agents and games, with mode and difficulty in both or in neither."
        )
    notes = equal_runs_note(list(shared.values()))
    return ProbedPlan(contrast_table(shared), window=window, notes=notes)
