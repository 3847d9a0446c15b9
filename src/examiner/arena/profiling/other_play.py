"""What actions lead to, and what one step of foresight or none at all get beside random play."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from examiner.arena.agents.one_step_lookahead import OneStepLookahead
from examiner.arena.contract import Environment, Task
from examiner.arena.job import Job, environment_of
from examiner.arena.profiling.walk import EstimateWithError, Moment, Walk, jackknife, mean
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
