"""A random walk through a game: rewards and changes of every decision, and states to return to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from examiner.arena.contract import Environment, Seen
from examiner.arena.job import Job
from examiner.validation import Floats

BLOCK = 100
"""Decisions that stand together in a standard error: rewards come in bursts, but seldom in longer ones."""


class EstimateWithError(NamedTuple):
    """A number and its standard error, NaN where there is too little to tell."""

    value: float
    error: float


class Moment(NamedTuple):
    """A state on the way, and after how many decisions of which episode it was met."""

    state: Any  # whatever the world makes it
    episode: int
    decision: int


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """Whole episodes of random play: one array an episode, one number a decision.

    `changes` is the share of the numbers an agent sees, pixels of a screen, that a decision changed.
    """

    rewards: tuple[Floats, ...]
    changes: tuple[Floats, ...]
    frames: tuple[int, ...]
    truncated: int
    moments: tuple[Moment, ...]

    def beginnings(self, decisions: int) -> Floats:
        """Return the score of each episode after so many decisions."""
        return np.array([rewards[:decisions].sum() for rewards in self.rewards])

    def after(self, moment: Moment, decisions: int) -> float:
        """Return the reward of the decisions that followed a moment, as far as the episode went."""
        start = moment.decision
        return float(self.rewards[moment.episode][start : start + decisions].sum())


def walk(environment: Environment, job: Job, frames: int, moments: int) -> Walk:
    """Play at random until so many frames are spent, and finish the episode that was begun.

    To drop the unfinished one would favour short episodes. The world is cloned at about so many evenly
    spaced moments; none where it cannot be.
    """
    every = max(1, frames // (job.protocol.frame_skip * moments))
    rewards: list[Floats] = []
    changes: list[Floats] = []
    lengths: list[int] = []
    met: list[Moment] = []
    cut = decisions = 0
    while sum(lengths) < frames:
        episode = len(rewards)
        environment.reset(job.generator(episode, "environment"))
        rng = job.generator(episode, "agent")
        gained: list[float] = []
        changed: list[float] = []
        seen = environment.observe()
        while not environment.over:
            if decisions % every == every // 2 and len(met) < moments:
                met += [Moment(state, episode, len(gained)) for state in _cloned(environment)]
            gained.append(environment.step(environment.random_action(rng)))
            before, seen = seen, environment.observe()
            changed.append(_changed(before, seen))
            decisions += 1
        rewards.append(np.array(gained))
        changes.append(np.array(changed))
        lengths.append(environment.frames)
        cut += environment.truncated
    return Walk(tuple(rewards), tuple(changes), tuple(lengths), cut, tuple(met))


def _cloned(environment: Environment) -> list[Any]:
    """The state of the world, or nothing where it cannot be copied."""
    try:
        return [environment.world.clone()]
    except Exception:  # any environment of anyone may refuse, in its own way
        return []


def _changed(before: Seen, after: Seen) -> float:
    return float(np.mean(before != after))


def rate(episodes: Sequence[Floats]) -> EstimateWithError:
    """Return the mean over all decisions; its error is a jackknife over blocks of `BLOCK` decisions.

    >>> rate([np.tile([0.0, 1.0], 100)])
    EstimateWithError(value=0.5, error=0.0)
    """
    blocks = [
        block for each in episodes for block in np.array_split(each, math.ceil(len(each) / BLOCK))
    ]
    sums, counts = (np.array([f(block) for block in blocks], dtype=float) for f in (np.sum, len))
    value = float(sums.sum() / counts.sum())
    if len(blocks) < 2:
        return EstimateWithError(value, math.nan)
    return EstimateWithError(value, jackknife((sums.sum() - sums) / (counts.sum() - counts)))


def jackknife(without_one: Floats) -> float:
    r"""Return the standard error of an estimate from its values with one observation left out.

    .. math:: \sqrt{\frac{n-1}{n} \sum_i (\hat\theta_{(i)} - \hat\theta_{(\cdot)})^2}

    References: Efron & Tibshirani (1993), "An introduction to the bootstrap", eq. 11.5.

    >>> values = np.array([1.0, 2.0, 6.0])
    >>> jackknife((values.sum() - values) / 2) == values.std(ddof=1) / np.sqrt(3)
    np.True_
    """
    count = len(without_one)
    return float(np.sqrt((count - 1) * without_one.var())) if count > 1 else math.nan


def mean(values: Sequence[float] | Floats) -> EstimateWithError:
    """Return the mean of independent values.

    >>> mean([1.0, 3.0])
    EstimateWithError(value=2.0, error=1.0)
    """
    numbers = np.asarray(values, dtype=float)
    if not len(numbers):
        return EstimateWithError(math.nan, math.nan)
    error = numbers.std(ddof=1) / math.sqrt(len(numbers)) if len(numbers) > 1 else math.nan
    return EstimateWithError(float(numbers.mean()), float(error))


def first_reward(episodes: Sequence[Floats]) -> EstimateWithError:
    r"""Return the decisions until the first reward, infinite where none came.

    .. math:: \hat\tau = \sum_e t_e / k, \quad \mathrm{SE} = \hat\tau / \sqrt{k}

    t is how long each episode waited, k how many of them got a reward: the maximum-likelihood mean of
    exponential waiting times, some of which end before what is waited for.

    >>> first_reward([np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, 0.0])])
    EstimateWithError(value=6.0, error=6.0)
    """
    found = [np.flatnonzero(rewards) for rewards in episodes]
    waited = sum(
        int(hits[0]) + 1 if len(hits) else len(rewards)
        for hits, rewards in zip(found, episodes, strict=True)
    )
    events = sum(len(hits) > 0 for hits in found)
    if not events:
        return EstimateWithError(math.inf, math.nan)
    return EstimateWithError(waited / events, waited / events / math.sqrt(events))


def reward_gap(episodes: Sequence[Floats]) -> EstimateWithError:
    """Return the mean decisions from one reward to the next of the same episode.

    >>> reward_gap([np.array([1.0, 0.0, 1.0, 1.0])])
    EstimateWithError(value=1.5, error=0.5)
    """
    gaps = [np.diff(np.flatnonzero(rewards)) for rewards in episodes]
    return mean(np.concatenate(gaps).astype(float))
