"""Profiles of games, measured by simple play: rewards, episodes, screens, and what simple agents score."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from examiner.answers import Answer, Table, error, name, number, scalar, text
from examiner.arena.job import Job, environment_of
from examiner.arena.protocol import PROTOCOLS, Protocol, usual_protocol
from examiner.arena.simple_play import (
    STEPS_COMPARED,
    Determinism,
    Estimate,
    branching,
    determinism_of,
    lookahead,
    open_loop,
    quiet_environment,
    walk,
)
from examiner.messages import InputError, counted
from examiner.validation import Floats

FEWEST_FRAMES = 1_000
"""With fewer there is hardly a reward or an end of an episode to be seen."""
_STAGES = 5
_UNKNOWN = Estimate(math.nan, math.nan)

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
        "reward_low": ("Smallest observed reward of a decision", "score"),
        "reward_high": ("Largest observed reward of a decision", "score"),
        "lookahead_score": ("Mean score of one-step lookahead", "score"),
        "lookahead_random": ("Mean score of random play from the same states", "score"),
        "lookahead_share": (
            "Share of one-step lookahead in its own and random play's score; 0.5 if equal",
            "",
        ),
        "open_loop_score": ("Mean score of the best constant action", "score"),
        "open_loop_random": ("Mean score of random play in as many decisions", "score"),
        "open_loop_share": (
            "Share of the best constant action in its own and random play's score; 0.5 if equal",
            "",
        ),
    }
)
"""What a profile estimates: meaning and unit."""

ProfileRow: TypeAlias = dict[str, str]
"""Column → text: `task`, features of the agent-centric schema, other numbers as `measured.…`, `notes`."""


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

    `measures` has all estimates: `profile["reward_density"].value`. The delay of rewards is infinite if
    there was none. `actions` is None where actions are continuous. `frames` is the budget, `protocol` the
    key of the protocol.
    """

    kind = "game-profile"

    measures: Measures
    task: str = field(metadata=scalar("Game"))
    actions: int | None = field(metadata=scalar("Number of actions; none if continuous"))
    observation_shape: tuple[int, ...] = field(metadata=scalar("Shape of observations"))
    determinism: Determinism = field(
        metadata=scalar(
            f"Whether the same actions lead to the same states, over {STEPS_COMPARED} decisions"
        )
    )
    episodes: int = field(metadata=scalar("Episodes of random play"))
    lookahead_decisions: int | None = field(metadata=scalar("Decisions of one-step lookahead"))
    open_loop_decisions: int | None = field(metadata=scalar("Decisions of a constant action"))
    open_loop_action: str = field(metadata=scalar("The best constant action"))
    cpu_seconds: float = field(metadata=scalar("Processor time", "s"))
    frames: int
    seed: int
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
            f"{self['episode_frames'].value:,.0f} frames on average."
        )

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """The seed, the budget of frames and the key of the protocol."""
        return {"seed": self.seed, "frames": self.frames, "protocol": self.protocol}

    @property
    def row(self) -> ProfileRow:
        """The profile as a row of a table: numbers as text, empty where nothing is known.

        The dimensions of the agent-centric schema come first, under its names. The delay of rewards and the
        share of lookahead are not among them: within the usual budget another seed would change too many
        classes.

        >>> game = profile("CartPole-v1", environment="gymnasium", frames=1_000)
        >>> game.row["action_space.size"], game.row["measured.reward_low"], game.row["measured.frames"]
        ('2', '1', '1000')
        """
        continuous = self.actions is None
        branching = _text(self["branching"].value, "unknown")
        features = {
            "action_space.size": "continuous" if continuous else str(self.actions),
            "action_space.branching": "continuous" if continuous else branching,
            "observation.dimensions": str(math.prod(self.observation_shape)),
            "observation.change": _text(self["screen_change"].value),
            "dynamics.determinism": self.determinism,
            "episode.length": _text(self["episode_frames"].value),
            "reward.density": _text(self["reward_density"].value),
            "play.open_loop": _text(
                self["open_loop_share"].value, "unknown" if continuous else "no reward"
            ),
        }
        measured: dict[str, object] = {}
        for row in self.measures:
            measured |= {row.measure: row.value, f"{row.measure}_se": row.value_error}
        for part in ("lookahead_decisions", "open_loop_decisions", "open_loop_action", "episodes"):
            measured[part] = getattr(self, part)
        measured |= {**self.settings, "cpu_seconds": round(self.cpu_seconds, 1)}
        reasons = [f"determinism: compared over {STEPS_COMPARED} decisions"]
        reasons += [f"{row.measure}: {row.reason}" for row in self.measures if row.reason]
        cells = {f"measured.{part}": _text(value) for part, value in measured.items()}
        return {"task": self.task, **features, **cells, "notes": "; ".join(reasons)}


def _text(value: object, unknown: str = "") -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return unknown
    return f"{value:.6g}" if isinstance(value, float) else str(value)


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

    >>> game = profile("pong", frames=1_000)
    >>> game.headline[:69]
    'pong has 18 discrete actions and is deterministic apart from the prot'
    >>> game.actions, game.observation_shape, game["reward_low"].value
    (18, (210, 160), -1.0)
    """
    if frames < FEWEST_FRAMES:
        raise InputError(
            f"Cannot measure a game in {frames} frames. Give at least {FEWEST_FRAMES:,}."
        )
    began = time.process_time()
    if isinstance(game, Job):
        job = replace(game, agent="random", entry="random", settings={})
    else:
        protocol = protocol or PROTOCOLS[usual_protocol(environment)]
        job = Job("random", "random", {}, "raw", environment, game, seed=seed, protocol=protocol)

    def at(stage: int) -> None:
        if progress is not None:
            progress(f"measuring {job.game}", stage, _STAGES)

    played = environment_of(job)
    quiet = quiet_environment(job)
    # States of the walk whose actions are compared; foresight plays on from every second of them. Walk,
    # lookahead and open-loop play have shares of the frames; the rest is for determinism and branching.
    moments = int(np.clip(frames // 2_000, 4, 20))
    walked = walk(played, job, round(0.25 * frames), moments)
    at(1)
    determinism = determinism_of(quiet, job)
    at(2)
    estimates = walked.estimates()
    greedy = held = None
    discrete, copied = bool(played.action_names), len(walked.moments) > 1
    if discrete and copied:
        estimates["branching"] = branching(quiet, job, walked.moments)
    at(3)
    if discrete and copied:
        greedy = lookahead(played, job, walked, walked.moments[::2], round(0.4 * frames))
        estimates |= {f"lookahead_{part}": getattr(greedy, part) for part in _PARTS}
    at(4)
    if discrete:
        held = open_loop(played, job, walked, round(0.3 * frames))
        estimates |= {f"open_loop_{part}": getattr(held, part) for part in _PARTS}
    at(_STAGES)
    obstacle = "the environment cannot be copied" if discrete else "actions are continuous"
    reasons = dict.fromkeys(MEASURES.keys() - estimates.keys(), obstacle)
    for measure, estimate in estimates.items():
        if math.isnan(estimate.error):
            reasons[measure] = _reason(measure, estimate, sum(map(len, walked.rewards)))
    if not estimates["reward_density"].value:
        decisions = sum(map(len, walked.rewards))
        reasons["reward_density"] = (
            f"none in {decisions:,} decisions: below {3 / decisions:.2g} with 95 % confidence"
        )
    rows = [estimates.get(measure, _UNKNOWN) for measure in MEASURES]
    return Profile(
        Measures(
            measure=list(MEASURES),
            value=[row.value for row in rows],
            value_error=[row.error for row in rows],
            unit=[unit for _, unit in MEASURES.values()],
            meaning=[meaning for meaning, _ in MEASURES.values()],
            reason=[reasons.get(measure, "") for measure in MEASURES],
        ),
        task=job.game,
        actions=len(played.action_names) or None,
        observation_shape=played.observation_shape,
        determinism=determinism,
        episodes=len(walked.rewards),
        lookahead_decisions=None if greedy is None else greedy.decisions,
        open_loop_decisions=None if held is None else held.decisions,
        open_loop_action="" if held is None else held.action,
        cpu_seconds=time.process_time() - began,
        frames=frames,
        seed=job.seed,
        protocol=job.protocol.hash,
    )


_PARTS = ("score", "random", "share")


def _reason(measure: str, estimate: Estimate, decisions: int) -> str:
    """Why an estimate has no standard error, or no value."""
    if measure in ("reward_low", "reward_high"):
        return "the most extreme observed reward; others may lie beyond it"
    if measure == "reward_delay":
        return f"none in {decisions:,} decisions"
    if measure == "reward_gap":
        return "fewer than three rewards in an episode"
    if measure in ("episode_frames", "mean_score"):
        return "one episode only"
    if math.isnan(estimate.value):
        return "neither it nor random play got a reward"
    return "too little play for a standard error"
