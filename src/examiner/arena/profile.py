"""Profiles of games, measured by simple play: rewards, episodes, screens, and what simple agents score."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from examiner.answers import Answer, Scalar, Table, error, name, number, text
from examiner.arena.contract import Environment
from examiner.arena.job import Job, environment_of
from examiner.arena.profiling.other_play import (
    Achievement,
    EstimateWithError,
    Walk,
    branching,
    first_reward,
    lookahead,
    mean,
    open_loop,
    quiet_environment,
    rate,
    reward_gap,
    walk,
)
from examiner.arena.protocol import PROTOCOLS, Protocol, usual_protocol
from examiner.messages import InputError, counted
from examiner.results import Classification
from examiner.validation import Floats

Determinism = Literal["deterministic", "noise added", "stochastic"]
FEWEST_FRAMES = 1_000
"""With fewer there is hardly a reward or an end of an episode to be seen."""
_STEPS_COMPARED = 300  # noise that shows later than that is rare, and many games are over before
_FRAMES_A_MOMENT = 2_000
_MOMENTS = (4, 20)
"""States of the walk whose actions are compared, one for so many frames of the budget, at least and at
most so many; foresight plays on from every second of them."""
_WALK_SHARE, _LOOKAHEAD_SHARE, _OPEN_LOOP_SHARE = 0.25, 0.4, 0.3
"""Of the budget of frames; the rest is for determinism and branching."""
_STAGES = 5

MEASURES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "episode_frames": ("Mean length of an episode of random play", "frames"),
        "truncated": ("Share of episodes that ended at the cap", ""),
        "reward_density": ("Share of decisions with a reward other than zero", ""),
        "reward_delay": ("Decisions until the first reward", "decisions"),
        "reward_gap": ("Decisions from one reward to the next", "decisions"),
        "mean_score": ("Mean score of an episode of random play", "score"),
        "screen_change": ("Share of the observation that changes between decisions", ""),
        "branching": ("Different next states that actions lead to", "states"),
    }
)
"""Estimates of a profile with a standard error: their meaning and unit."""


class Measures(Table):
    """The estimates of a profile with their standard errors; `reason` says why one is missing."""

    measure: tuple[str, ...] = name("Measure")
    value: Floats = number("Estimate")
    value_error: Floats = error("value")
    unit: tuple[str, ...] = text("Unit")
    meaning: tuple[str, ...] = text("Meaning")
    reason: tuple[str, ...] = text("Why the value or its standard error is missing or limited")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Profile(Answer):
    """A game as measured by random play, one-step lookahead and constant actions.

    `actions` is None where actions are continuous. `episode_frames` is the mean length of an episode;
    `truncated` the share of episodes that the cap ended. `reward_density` is the share of decisions
    with a reward other than zero, `reward_delay` the decisions until the first one (infinite if there
    was none), `reward_gap` those from one to the next, `reward_low` and `reward_high` the smallest and
    largest reward of one decision. `branching` is how many different next states actions lead to,
    `screen_change` the share of the observation that changes from one decision to the next. `lookahead`
    and `open_loop` are the scores of one-step lookahead and of the best constant action.

    `measures` is the table of all estimates. `errors` are standard errors by field, `reasons` say why a
    field has none. `frames` is the budget, `cpu_seconds` the processor time, `protocol` the key of the
    protocol.
    """

    kind = "game-profile"

    task: str
    actions: int | None
    observation_shape: tuple[int, ...]
    determinism: Determinism
    episode_frames: float
    truncated: float
    reward_density: float
    reward_delay: float
    reward_gap: float
    reward_low: float
    reward_high: float
    mean_score: float
    screen_change: float
    branching: float
    lookahead: Achievement | None
    open_loop: Achievement | None
    errors: Mapping[str, float]
    reasons: Mapping[str, str]
    episodes: int
    frames: int
    seed: int
    cpu_seconds: float
    protocol: str

    @property
    def headline(self) -> str:
        """The actions, the determinism and the length of episodes in one sentence."""
        actions = (
            "continuous actions"
            if self.actions is None
            else counted(self.actions, "discrete action")
        )
        determinism = {
            "deterministic": "is deterministic",
            "noise added": "is deterministic apart from the protocol's noise",
            "stochastic": "is stochastic",
        }[self.determinism]
        return (
            f"{self.task} has {actions} and {determinism}; an episode of random play takes "
            f"{self.episode_frames:,.0f} frames on average."
        )

    @property
    def measures(self) -> Measures:
        """All estimates with their standard errors."""
        rows: list[tuple[str, float, float, str, str]] = [
            (field, getattr(self, field), self.errors[field], unit, meaning)
            for field, (meaning, unit) in MEASURES.items()
        ]
        for field, extreme in (("reward_low", "Smallest"), ("reward_high", "Largest")):
            meaning = f"{extreme} observed reward of a decision"
            rows.append((field, getattr(self, field), math.nan, "score", meaning))
        for field, player in (
            ("lookahead", "one-step lookahead"),
            ("open_loop", "the best constant action"),
        ):
            played: Achievement | None = getattr(self, field)
            share = EstimateWithError(math.nan, math.nan) if played is None else played.share
            meaning = f"Share of {player} in its own and random play's score; 0.5 if equal"
            rows.append((field, share.value, share.error, "", meaning))
        fields, values, errors, units, meanings = zip(*rows, strict=True)
        return Measures(
            measure=fields,
            value=values,
            value_error=errors,
            unit=units,
            meaning=meanings,
            reason=[self.reasons.get(field, "") for field in fields],
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """The estimates."""
        return {"measures": self.measures}

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """The game, its actions and observations, its determinism, and what measuring took."""
        return {
            "task": Scalar(self.task, "Game"),
            "actions": Scalar(self.actions, "Number of actions; none if continuous"),
            "observation_shape": Scalar(list(self.observation_shape), "Shape of observations"),
            "determinism": Scalar(
                self.determinism, "Whether the same actions lead to the same states"
            ),
            "episodes": Scalar(self.episodes, "Episodes of random play"),
            "cpu_seconds": Scalar(self.cpu_seconds, "Processor time", "s"),
        }

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """The seed, the budget of frames and the key of the protocol."""
        return {"seed": self.seed, "frames": self.frames, "protocol": self.protocol}

    @property
    def features(self) -> dict[str, str]:
        """The measured dimensions of the agent-centric schema, under its names.

        The delay of rewards and the share of lookahead are not among them: within the usual budget
        another seed would change too many classes.

        >>> game = profile("CartPole-v1", environment="gymnasium", frames=1_000)
        >>> game.features["action_space.size"]
        '2'
        """
        continuous = self.actions is None
        return {
            "action_space.size": "continuous" if continuous else str(self.actions),
            "action_space.branching": "continuous" if continuous else _number_text(self.branching),
            "observation.dimensions": str(math.prod(self.observation_shape)),
            "observation.change": f"{self.screen_change:.6g}",
            "dynamics.determinism": self.determinism,
            "episode.length": f"{self.episode_frames:.6g}",
            "reward.density": f"{self.reward_density:.6g}",
            "play.open_loop": (
                "unknown"
                if self.open_loop is None
                else _number_text(self.open_loop.share.value, "no reward")
            ),
        }


def _number_text(value: float, otherwise: str = "unknown") -> str:
    return f"{value:.6g}" if math.isfinite(value) else otherwise


def profile(
    game: str | Job,
    *,
    environment: str = "ale",
    protocol: Protocol | None = None,
    seed: int = 0,
    frames: int = 30_000,
    progress: Callable[[str, int, int], None] | None = None,
) -> Profile:
    """Measure a game by random play, one-step lookahead and constant actions, within about `frames`.

    A quarter of the frames is random play, and as many more as it takes to finish its last episode; two
    fifths go to one-step lookahead, simulated frames counted, three tenths to constant actions, the
    remaining frames to branching and to determinism: the same actions are played twice, without the
    protocol's noise and with other random numbers. A `Job` instead of the game's name also sets mode,
    difficulty, observation, protocol and seed. The typology is that of papers/000, section VII.

    >>> profile = profile("pong", frames=1_000)
    >>> profile.headline[:69]
    'pong has 18 discrete actions and is deterministic apart from the prot'
    >>> profile.actions, profile.observation_shape, profile.determinism, profile.reward_low
    (18, (210, 160), 'noise added', -1.0)
    """
    if frames < FEWEST_FRAMES:
        raise InputError(
            f"Cannot measure a game in {frames} frames. Give at least {FEWEST_FRAMES:,}."
        )
    began = time.process_time()
    job = _job(game, environment, protocol, seed)

    def at(stage: int) -> None:
        if progress is not None:
            progress(f"measuring {job.game}", stage, _STAGES)

    played = environment_of(job)
    quiet = quiet_environment(job)
    moments = int(np.clip(frames // _FRAMES_A_MOMENT, *_MOMENTS))
    walked = walk(played, job, round(_WALK_SHARE * frames), moments)
    at(1)
    determinism = _determinism(quiet, job)
    at(2)
    discrete, copied = bool(played.action_names), len(walked.moments) > 1
    estimates = _of_walk(walked)
    if discrete and copied:
        estimates["branching"] = branching(quiet, job, walked.moments)
    at(3)
    greedy = held = None
    if discrete and copied:
        greedy = lookahead(
            played, job, walked, walked.moments[::2], round(_LOOKAHEAD_SHARE * frames)
        )
    at(4)
    if discrete:
        held = open_loop(played, job, walked, round(_OPEN_LOOP_SHARE * frames))
    at(_STAGES)
    values = {name: estimate.value for name, estimate in estimates.items()}
    steps = np.concatenate(walked.rewards)
    return Profile(
        task=job.game,
        actions=len(played.action_names) or None,
        observation_shape=played.observation_shape,
        determinism=determinism,
        episode_frames=values["episode_frames"],
        truncated=values["truncated"],
        reward_density=values["reward_density"],
        reward_delay=values["reward_delay"],
        reward_gap=values["reward_gap"],
        reward_low=float(steps.min()),
        reward_high=float(steps.max()),
        mean_score=values["mean_score"],
        screen_change=values["screen_change"],
        branching=values["branching"],
        lookahead=greedy,
        open_loop=held,
        errors={name: part.error for name, part in estimates.items()},
        reasons=_reasons(walked, estimates, discrete=discrete, copied=copied)
        | _reasons_of_play(lookahead=greedy, open_loop=held),
        episodes=len(walked.rewards),
        frames=frames,
        seed=job.seed,
        cpu_seconds=time.process_time() - began,
        protocol=job.protocol.hash,
    )


def profiled_kinds(profiles: Sequence[Profile]) -> Classification:
    """Return profiles as a classification that the agent-centric schema understands.

    >>> game = profile("CartPole-v1", environment="gymnasium", frames=1_000)
    >>> profiled_kinds([game]).feature("observation.dimensions")
    ('4',)
    """
    if not profiles:
        raise InputError("There are no profiles. Measure at least one game with profile.")
    features = [profile.features for profile in profiles]
    return Classification(
        tasks=tuple(profile.task for profile in profiles),
        features=tuple(features[0]),
        values=tuple(tuple(kinds.values()) for kinds in features),
        source="measured by simple play",
    )


def _job(game: str | Job, environment: str, protocol: Protocol | None, seed: int) -> Job:
    if isinstance(game, Job):
        return replace(game, agent="random", entry="random", settings={})
    protocol = protocol or PROTOCOLS[usual_protocol(environment)]
    return Job(
        *("random", "random"), environment=environment, game=game, seed=seed, protocol=protocol
    )


def _of_walk(walked: Walk) -> dict[str, EstimateWithError]:
    """What the random walk alone says, by field of the profile."""
    cut = walked.truncated / len(walked.rewards)
    return {
        "episode_frames": mean(walked.frames),
        "truncated": EstimateWithError(cut, math.sqrt(cut * (1 - cut) / len(walked.rewards))),
        "reward_density": rate([(rewards != 0).astype(float) for rewards in walked.rewards]),
        "reward_delay": first_reward(walked.rewards),
        "reward_gap": reward_gap(walked.rewards),
        "mean_score": mean([rewards.sum() for rewards in walked.rewards]),
        "screen_change": rate(walked.changes),
        "branching": EstimateWithError(math.nan, math.nan),
    }


def _reasons(
    walked: Walk, estimates: Mapping[str, EstimateWithError], *, discrete: bool, copied: bool
) -> dict[str, str]:
    """Why fields have no standard error, or no value."""
    extreme = "the most extreme observed reward; others may lie beyond it"
    reasons = {"determinism": f"compared over {_STEPS_COMPARED} decisions"}
    reasons |= {"reward_low": extreme, "reward_high": extreme}
    if len(walked.rewards) == 1:
        reasons |= dict.fromkeys(("episode_frames", "mean_score"), "one episode only")
    if not estimates["reward_density"].value:
        decisions = sum(map(len, walked.rewards))
        reasons["reward_density"] = (
            f"none in {decisions:,} decisions: below {3 / decisions:.2g} with 95 % confidence"
        )
        reasons["reward_delay"] = f"none in {decisions:,} decisions"
    if math.isnan(estimates["reward_gap"].error):
        reasons["reward_gap"] = "fewer than three rewards in an episode"
    obstacle = "actions are continuous" if not discrete else "the environment cannot be copied"
    if not (discrete and copied):
        reasons |= dict.fromkeys(("branching", "lookahead"), obstacle)
    if not discrete:
        reasons["open_loop"] = obstacle
    return reasons


def _reasons_of_play(**achievements: Achievement | None) -> dict[str, str]:
    """Why shares of scores have no value, or no standard error."""
    reasons = {}
    for field, achievement in achievements.items():
        if achievement is not None and math.isnan(achievement.share.value):
            reasons[field] = "neither it nor random play got a reward"
        elif achievement is not None and math.isnan(achievement.share.error):
            reasons[field] = "too few plays with a reward for a standard error"
    return reasons


def _determinism(quiet: Environment, job: Job) -> Determinism:
    noisy = job.protocol != job.protocol.without_noise
    first, second = (_trace(quiet, job, episode) for episode in (0, 1))
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
