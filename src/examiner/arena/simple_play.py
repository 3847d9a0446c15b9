"""What actions lead to, and what one step of foresight or none at all get beside random play."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from examiner.arena.agents.state_trees import OneStepLookahead
from examiner.arena.contract import Environment, Seen, Task
from examiner.arena.job import Job, environment_of
from examiner.validation import Floats

LAST_PLAYS = 3
"""Episodes of the best of them, with new noise: the choice does not flatter what is measured."""


Determinism = Literal["deterministic", "noise added", "stochastic"]
STEPS_COMPARED = 300
"""Noise that shows later than that is rare, and many games are over before."""


class Estimate(NamedTuple):
    """A number and its standard error, NaN where there is too little to tell."""

    value: float
    error: float


class Achievement(NamedTuple):
    r"""The score of a way of playing in so many decisions, and that of random play in as many.

    .. math:: s = \tfrac12 + \tfrac12 \frac{x - r}{|x| + |r|}

    `share` is s for mean scores x and r: 0.5 where both got the same, 1 where only this one got
    anything, NaN where neither did. `action` is the one that was held throughout.
    """

    score: Estimate
    random: Estimate
    share: Estimate
    decisions: int
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
    observation = "ram" if job.environment == "ale" else job.observation
    return environment_of(
        replace(job, protocol=job.protocol.without_noise, observation=observation)
    )


def determinism_of(quiet: Environment, job: Job) -> Determinism:
    """Say whether the same actions lead to the same states, in an environment without noise."""
    noisy = job.protocol != job.protocol.without_noise
    first, second = (_trace(quiet, job, episode) for episode in (0, 1))
    if first != second:
        return "stochastic"
    return "noise added" if noisy else "deterministic"


def _trace(environment: Environment, job: Job, episode: int) -> list[tuple[bytes, float]]:
    """What the same actions lead to under the random numbers of one episode."""
    environment.reset(job.generator(episode, "environment"))
    rng, trace = job.generator(0, "agent"), [(environment.observe().tobytes(), 0.0)]
    for _ in range(STEPS_COMPARED):
        if environment.over:
            break
        reward = environment.step(environment.random_action(rng))
        trace.append((environment.observe().tobytes(), reward))
    return trace


def branching(quiet: Environment, job: Job, moments: Sequence[Moment]) -> Estimate:
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
    repeats = max(1, round(frames / (len(moments) * (actions + 1) * skip * hold)))
    agent = OneStepLookahead(budget=actions * skip * hold, hold=hold)
    scores = np.array(
        [
            _played_on(environment, agent, job, number, moment, repeats * hold)
            for number, moment in enumerate(moments)
        ]
    )
    randoms = np.array([walked.after(moment, repeats * hold) for moment in moments])
    without = [
        share_of_two(np.delete(scores, row).mean(), np.delete(randoms, row).mean())
        for row in range(len(moments))
    ]
    share = Estimate(share_of_two(scores.mean(), randoms.mean()), jackknife(np.array(without)))
    return Achievement(mean(scores), mean(randoms), share, repeats * hold)


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
    kept = min(4, actions)  # constant actions that are played a second time, for twice as long
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
        Estimate(share_of_two(scores.mean(), randoms.mean()), _share_error(scores, randoms)),
        decisions,
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

    def estimates(self) -> dict[str, Estimate]:
        """Return what random play alone says, by measure of a profile."""
        episodes = len(self.rewards)
        cut = self.truncated / episodes
        steps = np.concatenate(self.rewards)
        return {
            "episode_frames": mean(self.frames),
            "truncated": Estimate(cut, math.sqrt(cut * (1 - cut) / episodes)),
            "reward_density": rate([(rewards != 0).astype(float) for rewards in self.rewards]),
            "reward_delay": first_reward(self.rewards),
            "reward_gap": reward_gap(self.rewards),
            "reward_low": Estimate(float(steps.min()), math.nan),
            "reward_high": Estimate(float(steps.max()), math.nan),
            "mean_score": mean([rewards.sum() for rewards in self.rewards]),
            "screen_change": rate(self.changes),
        }

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
        observation = environment.observe()
        while not environment.over:
            if decisions % every == every // 2 and len(met) < moments:
                met += [Moment(state, episode, len(gained)) for state in _cloned(environment)]
            gained.append(environment.step(environment.random_action(rng)))
            before, observation = observation, environment.observe()
            changed.append(_changed(before, observation))
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


def rate(episodes: Sequence[Floats]) -> Estimate:
    """Return the mean over all decisions; its error is a jackknife over blocks of `BLOCK` decisions.

    >>> rate([np.tile([0.0, 1.0], 100)])
    Estimate(value=0.5, error=0.0)
    """
    blocks = [
        block
        for episode in episodes
        for block in np.array_split(episode, math.ceil(len(episode) / BLOCK))
    ]
    sums, counts = (np.array([f(block) for block in blocks], dtype=float) for f in (np.sum, len))
    value = float(sums.sum() / counts.sum())
    if len(blocks) < 2:
        return Estimate(value, math.nan)
    return Estimate(value, jackknife((sums.sum() - sums) / (counts.sum() - counts)))


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


def mean(values: Sequence[float] | Floats) -> Estimate:
    """Return the mean of independent values.

    >>> mean([1.0, 3.0])
    Estimate(value=2.0, error=1.0)
    """
    numbers = np.asarray(values, dtype=float)
    if not len(numbers):
        return Estimate(math.nan, math.nan)
    error = numbers.std(ddof=1) / math.sqrt(len(numbers)) if len(numbers) > 1 else math.nan
    return Estimate(float(numbers.mean()), float(error))


def first_reward(episodes: Sequence[Floats]) -> Estimate:
    r"""Return the decisions until the first reward, infinite where none came.

    .. math:: \hat\tau = \sum_e t_e / k, \quad \mathrm{SE} = \hat\tau / \sqrt{k}

    t is how long each episode waited, k how many of them got a reward: the maximum-likelihood mean of
    exponential waiting times, some of which end before what is waited for.

    >>> first_reward([np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, 0.0])])
    Estimate(value=6.0, error=6.0)
    """
    rewarded = [np.flatnonzero(rewards) for rewards in episodes]
    waited = sum(
        int(hits[0]) + 1 if len(hits) else len(rewards)
        for hits, rewards in zip(rewarded, episodes, strict=True)
    )
    events = sum(len(hits) > 0 for hits in rewarded)
    if not events:
        return Estimate(math.inf, math.nan)
    return Estimate(waited / events, waited / events / math.sqrt(events))


def reward_gap(episodes: Sequence[Floats]) -> Estimate:
    """Return the mean decisions from one reward to the next of the same episode.

    >>> reward_gap([np.array([1.0, 0.0, 1.0, 1.0])])
    Estimate(value=1.5, error=0.5)
    """
    gaps = [np.diff(np.flatnonzero(rewards)) for rewards in episodes]
    return mean(np.concatenate(gaps).astype(float))
