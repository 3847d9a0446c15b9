"""What actions lead to, and what one step of foresight or none at all get beside random play."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from examiner.arena.agents.one_step_lookahead import OneStepLookahead
from examiner.arena.contract import Environment, Seen, Task
from examiner.arena.job import Job, environment_of
from examiner.validation import Floats

FINALISTS = 4
"""Constant actions that are played a second time, for twice as long."""
LAST_PLAYS = 3
"""Episodes of the best of them, with new noise: the choice does not flatter what is measured."""


class Achievement(NamedTuple):
    r"""What a way of playing got in so many decisions, and what random play did in as many.

    .. math:: s = \tfrac12 + \tfrac12 \frac{x - r}{|x| + |r|}

    `share` is s for mean scores x and r: 0.5 where both got the same, 1 where only this one got
    anything, NaN where neither did. `plays` were played; `action` is the one that was held throughout.
    """

    score: EstimateWithError
    random: EstimateWithError
    share: EstimateWithError
    decisions: int
    plays: int
    action: str = ""


def share_of_two(score: float, random: float) -> float:
    """Return the share that one of two scores has of both.

    >>> share_of_two(3.0, 1.0), share_of_two(-1.0, -3.0), share_of_two(0.0, 0.0)
    (0.75, 0.75, nan)
    """
    total = abs(score) + abs(random)
    return float(0.5 + 0.5 * (score - random) / total) if total else math.nan


def quiet_environment(job: Job) -> Environment:
    """Return where a job is played without the protocol's noise; on a console its memory is seen."""
    seen = "ram" if job.environment == "ale" else job.observation
    return environment_of(replace(job, protocol=job.protocol.without_noise, observation=seen))


def branching(quiet: Environment, job: Job, moments: Sequence[Moment]) -> EstimateWithError:
    """Return how many different next states actions lead to, in an environment without noise.

    States are compared by what is seen there. Environments with noise of their own get the same random
    numbers for every action.
    """
    counts = []
    for number, moment in enumerate(moments):
        nexts = set()
        for action in range(len(quiet.action_names)):
            rng = job.generator(number, "model")
            quiet.world.restore(moment.state, rng)
            quiet.world.act(action, rng)
            nexts.add((quiet.observe().tobytes(), quiet.over))
        counts.append(float(len(nexts)))
    return mean(counts)


def lookahead(
    environment: Environment, job: Job, walked: Walk, moments: Sequence[Moment], frames: int
) -> Achievement:
    """Let one step of foresight play on from moments of the walk, and hold it against the walk itself.

    Actions last 20 frames of an Atari game, in simulations as in play, as in the data set atari-arena.
    """
    job = replace(job, agent="lookahead", entry="one-step-lookahead")
    environment.watch(False)
    actions, skip = len(environment.action_names), job.protocol.frame_skip
    hold = max(1, 20 // skip) if job.environment == "ale" else 1
    held = max(1, round(frames / (len(moments) * (actions + 1) * skip * hold)))
    agent = OneStepLookahead(budget=actions * skip * hold, hold=hold)
    scores = np.array(
        [
            _played_on(environment, agent, job, number, moment, held * hold)
            for number, moment in enumerate(moments)
        ]
    )
    randoms = np.array([walked.after(moment, held * hold) for moment in moments])
    without = [
        share_of_two(np.delete(scores, row).mean(), np.delete(randoms, row).mean())
        for row in range(len(moments))
    ]
    share = EstimateWithError(
        share_of_two(scores.mean(), randoms.mean()), jackknife(np.array(without))
    )
    return Achievement(mean(scores), mean(randoms), share, held * hold, len(moments))


def _played_on(
    environment: Environment,
    agent: OneStepLookahead,
    job: Job,
    number: int,
    moment: Moment,
    decisions: int,
) -> float:
    rng = job.generator(number, "environment")
    environment.reset(rng)
    environment.world.restore(moment.state, rng)
    task = Task(
        actions=environment.action_names,
        observation_shape=environment.observation_shape,
        draw=environment.random_action,
        frame_skip=job.protocol.frame_skip,
        learning=False,
        model=environment.model(job.generator(number, "model")),
    )
    agent.begin(task, job.generator(number, "agent"))
    nothing_seen = np.empty(0)  # a planner is blind
    return _score(environment, lambda: agent.act(nothing_seen), decisions)


def _score(environment: Environment, choose: Callable[[], Any], decisions: int) -> float:
    score = 0.0
    for _ in range(decisions):
        if environment.over:
            break
        score += environment.step(choose())
    return score


def open_loop(environment: Environment, job: Job, walked: Walk, frames: int) -> Achievement:
    """Find the best action to hold from an episode's beginning, and say what it gets.

    Every action is played once for half of the decisions, the best four for all of them, the best of
    these three times more: only those three count.
    """
    job = replace(job, agent="open loop", entry="constant")
    environment.watch(False)
    actions = len(environment.action_names)
    kept = min(FINALISTS, actions)
    decisions = max(
        1, round(frames / (job.protocol.frame_skip * (actions / 2 + kept + LAST_PLAYS)))
    )
    order = job.generator(0, "agent").permutation(actions).tolist()  # ties are broken at random
    plays = iter(range(actions + kept + LAST_PLAYS))

    def held(action: int, length: int) -> float:
        environment.reset(job.generator(next(plays), "environment"))
        return _score(environment, lambda: action, length)

    first = {action: held(action, max(1, decisions // 2)) for action in order}
    finalists = sorted(order, key=lambda action: -first[action])[:kept]
    second = {action: held(action, decisions) for action in finalists}
    best = max(finalists, key=lambda action: (second[action], first[action]))
    scores = np.array([held(best, decisions) for _ in range(LAST_PLAYS)])
    randoms = walked.beginnings(decisions)
    return Achievement(
        mean(scores),
        mean(randoms),
        EstimateWithError(
            share_of_two(scores.mean(), randoms.mean()), _share_error(scores, randoms)
        ),
        decisions,
        LAST_PLAYS,
        environment.action_names[best],
    )


def _share_error(scores: Floats, randoms: Floats) -> float:
    """The standard error of the share of two independent samples: theirs together, each left out once."""
    if min(len(scores), len(randoms)) < 2:
        return math.nan
    ours = [
        share_of_two(np.delete(scores, row).mean(), randoms.mean()) for row in range(len(scores))
    ]
    theirs = [
        share_of_two(scores.mean(), np.delete(randoms, row).mean()) for row in range(len(randoms))
    ]
    return math.hypot(jackknife(np.array(ours)), jackknife(np.array(theirs)))


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
