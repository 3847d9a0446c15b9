"""Scores without and with sticky actions, of every agent and variant of a game, by runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from examiner.arena.job import Job
from examiner.arena.play.means import (
    RunsMean,
    difference_of_runs,
    mean_of_runs,
    means_of_runs,
    ratio_of_runs,
)
from examiner.arena.play.runner import FailedJob
from examiner.messages import InputError, counted
from examiner.results import Results
from examiner.results.display import html_table


@dataclass(frozen=True, slots=True)
class Contrast:
    """Scores without and with sticky actions: means over runs, with intervals.

    `loss` is their difference, `left` the share of the score that is left with sticky actions.
    """

    deterministic: RunsMean
    sticky: RunsMean
    loss: RunsMean
    left: RunsMean


class ProbedVariant(NamedTuple):
    """An agent on one variant of a game; only Atari games have modes and difficulties."""

    agent: str
    game: str
    mode: int | None = None
    difficulty: int | None = None

    @classmethod
    def of_job(cls, job: Job) -> ProbedVariant:
        """Return what a job is a run of.

        >>> ProbedVariant.of_job(Job("mine", "random", environment="gymnasium", game="CartPole-v1"))
        ProbedVariant(agent='mine', game='CartPole-v1', mode=None, difficulty=None)
        """
        return cls(job.agent, job.game, job.mode, job.difficulty)


@dataclass(frozen=True, slots=True, repr=False)
class ProbedPlan:
    """Scores without and with sticky actions of every agent and variant of a plan; jobs done only."""

    contrasts: dict[ProbedVariant, Contrast]
    failed: tuple[FailedJob, ...]

    def __repr__(self) -> str:
        contrasts = counted(len(self.contrasts), "contrast")
        return f"ProbedPlan({contrasts}, {counted(len(self.failed), 'failed job')})"

    def _repr_html_(self) -> str:
        header = (*ProbedVariant._fields, "without", "with sticky actions", "loss")
        rows = [
            (*variant, found.deterministic.mean, found.sticky.mean, found.loss.mean)
            for variant, found in self.contrasts.items()
        ]
        return html_table(repr(self), header, rows)


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


def contrasts(deterministic: Results, sticky: Results, *, window: int = 100) -> ProbedPlan:
    """Compare what was played without and with sticky actions: the mean of each run's last episodes.

    Agents, games, modes and difficulties are those of both; `window` is the protocol's (Machado et al.
    2018, section 3.4).

    >>> from examiner.datasets import load
    >>> found = contrasts(load("atari-arena-deterministic"), load("atari-arena"))
    >>> brute = found.contrasts[ProbedVariant("brute", "asterix", 0, 0)]
    >>> brute.deterministic.runs, brute.sticky.runs, brute.left.mean < 0.8
    (1, 5, True)
    """
    if not isinstance(window, int) or window < 1:
        raise InputError(f"The window is {window!r}. Give a number of episodes, at least 1.")
    kinds = [means_of_runs(results, window) for results in (deterministic, sticky)]
    if not kinds[0].keys() & kinds[1].keys():
        raise InputError(
            "No agent played the same variant of a game without and with sticky actions. Give results of "
            "the same agents and games, with mode and difficulty in both or in neither."
        )
    return ProbedPlan(
        {
            ProbedVariant(*variant): contrast_of(*(list(kind[variant].values()) for kind in kinds))
            for variant in kinds[0]
            if variant in kinds[1]
        },
        (),
    )
