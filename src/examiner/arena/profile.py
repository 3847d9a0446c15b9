"""What a game is to an agent, measured: actions, observations, determinism, episodes, rewards."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from examiner.arena.contract import Environment
from examiner.arena.job import Job, environment_of
from examiner.arena.protocol import PROTOCOLS, Protocol, usual_protocol
from examiner.results.attributes import Classification
from examiner.wording import InputError

Determinism = Literal["deterministic", "noise added", "stochastic"]
_STEPS_COMPARED = 300  # noise that shows later than that is rare, and many games are over before


@dataclass(frozen=True, slots=True, repr=False)
class Profile:
    """A game as the random agent met it.

    `actions` is None where actions are continuous; `episode_frames` is the median length;
    `reward_density` is the share of decisions with a reward other than zero, `reward_low` and
    `reward_high` the smallest and largest reward of one decision; `truncated` is the share of
    episodes that the cap ended.
    """

    task: str
    actions: int | None
    observation_shape: tuple[int, ...]
    determinism: Determinism
    episode_frames: float
    reward_density: float
    reward_low: float
    reward_high: float
    mean_score: float
    truncated: float
    episodes: int
    protocol: str

    def __repr__(self) -> str:
        actions = "continuous" if self.actions is None else f"{self.actions}"
        return (
            f"Profile({self.task}: {actions} actions, {self.determinism}, {self.episode_frames:,.0f} "
            f"frames an episode)"
        )

    @property
    def features(self) -> dict[str, str]:
        """The measured dimensions of the agent-centric schema, under its names.

        >>> profile("CartPole-v1", environment="gymnasium", episodes=2).features["action_space.size"]
        '2'
        """
        return {
            "action_space.size": "continuous" if self.actions is None else str(self.actions),
            "observation.dimensions": str(math.prod(self.observation_shape)),
            "dynamics.determinism": self.determinism,
            "episode.length": f"{self.episode_frames:g}",
            "reward.density": f"{self.reward_density:.6g}",
        }


def profile(
    game: str | Job,
    *,
    environment: str = "ale",
    protocol: Protocol | None = None,
    seed: int = 0,
    episodes: int = 10,
    progress: Callable[[str, int, int], None] | None = None,
) -> Profile:
    """Play a game with the random agent and measure what it is like.

    A `Job` in place of the game's name says all of how it is played and seen: mode, difficulty,
    observation, protocol. Determinism is measured too: the same actions are played twice, without the
    protocol's noise and with other random numbers. The typology is that of papers/000, section VII.

    >>> profile = profile("pong", episodes=1)
    >>> profile
    Profile(pong: 18 actions, noise added, ... frames an episode)
    >>> profile.actions, profile.observation_shape, profile.determinism, profile.reward_low
    (18, (210, 160), 'noise added', -1.0)
    """
    if episodes < 1:
        raise InputError(f"Cannot measure a game in {episodes} episodes. Give at least 1.")
    task = game.game if isinstance(game, Job) else game
    if isinstance(game, Job):
        job = replace(game, agent="random", entry="random", settings={})
    else:
        protocol = protocol or PROTOCOLS[usual_protocol(environment)]
        job = Job(
            *("random", "random"), environment=environment, game=game, seed=seed, protocol=protocol
        )
    played = environment_of(job)
    played.watch(False)
    rewards, lengths, cut = [], [], 0
    for episode in range(episodes):
        rewards.append(_rewards(played, job, episode))
        lengths.append(played.frames)
        cut += played.truncated
        if progress is not None:
            progress(f"playing {task}", episode + 1, episodes)
    steps = np.concatenate(rewards)
    return Profile(
        task=task,
        actions=len(played.action_names) or None,
        observation_shape=played.observation_shape,
        determinism=_determinism(job),
        episode_frames=float(np.median(lengths)),
        reward_density=float(np.mean(steps != 0)),
        reward_low=float(steps.min()),
        reward_high=float(steps.max()),
        mean_score=float(np.mean([episode.sum() for episode in rewards])),
        truncated=cut / episodes,
        episodes=episodes,
        protocol=job.protocol.hash,
    )


def profiled_kinds(profiles: Sequence[Profile]) -> Classification:
    """Return profiles as a classification that the agent-centric schema understands.

    >>> kinds = profiled_kinds([profile("CartPole-v1", environment="gymnasium", episodes=2)])
    >>> kinds.feature("observation.dimensions")
    ('4',)
    """
    if not profiles:
        raise InputError("There are no profiles. Measure at least one game with profile.")
    features = [profile.features for profile in profiles]
    return Classification(
        tasks=tuple(profile.task for profile in profiles),
        features=tuple(features[0]),
        values=tuple(tuple(kinds.values()) for kinds in features),
        source="measured under the random agent",
    )


def _rewards(environment: Environment, job: Job, episode: int) -> NDArray[np.float64]:
    environment.reset(job.generator(episode, "environment"))
    rng, rewards = job.generator(episode, "agent"), []
    while not environment.over:
        rewards.append(environment.step(environment.random_action(rng)))
    return np.array(rewards)


def _determinism(job: Job) -> Determinism:
    quiet = replace(
        job.protocol, sticky_probability=0.0, max_start_no_ops=0, max_frame_skip=None, starts=()
    )
    noisy = quiet != job.protocol
    seen = "ram" if job.environment == "ale" else job.observation
    environment = environment_of(replace(job, protocol=quiet, observation=seen))
    first, second = (_trace(environment, job, episode) for episode in (0, 1))
    if first != second:
        return "stochastic"
    return "noise added" if noisy else "deterministic"


def _trace(environment: Environment, job: Job, episode: int) -> list[tuple[bytes, float]]:
    """What the same actions lead to under the random numbers of one episode."""
    environment.reset(job.generator(episode, "environment"))
    rng, trace = job.generator(0, "agent"), [(environment.observe().tobytes(), 0.0)]
    for _ in range(_STEPS_COMPARED):
        if environment.over:
            break
        reward = environment.step(environment.random_action(rng))
        trace.append((environment.observe().tobytes(), reward))
    return trace
