"""A job: one agent on one variant of a game with one seed under one protocol."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from examiner.arena.protocol import Protocol
from examiner.ledger import JobRecord
from examiner.results.atari import atari_game
from examiner.wording import InputError, shorten

Observation = Literal["raw", "dqn84x4", "ram"]
OBSERVATIONS: tuple[Observation, ...] = ("raw", "dqn84x4", "ram")

Stream = Literal["environment", "agent", "model"]
_STREAMS: tuple[Stream, ...] = ("environment", "agent", "model")
_MOST = 2**63 - 1  # the largest number a ledger can keep
_USUAL = Protocol()


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be played, completely: two equal jobs give equal episodes, anywhere, at any time.

    `agent` is the name shown in results; `entry` names one of `AGENTS` or a `module:factory`, which
    is called with `settings`. The job is done after `episodes` training episodes or `frames`
    training frames, whichever comes first; without both, after the protocol's training frames.
    `mode` and `difficulty` of None are the protocol's, or else the game's own default.

    >>> job = Job("random", "random", game="pong", seed=1, episodes=2)
    >>> job.key == Job("random", "random", game="pong", seed=1, episodes=2).key
    True
    """

    agent: str
    entry: str
    settings: Mapping[str, object] = field(default_factory=dict)
    observation: str = "raw"
    environment: str = "ale"
    game: str = ""
    mode: int | None = None
    difficulty: int | None = None
    seed: int = 0
    protocol: Protocol = _USUAL
    episodes: int | None = None
    frames: int | None = None

    def __post_init__(self) -> None:
        if self.environment == "ale":  # one game under any of its names is one job
            object.__setattr__(self, "game", atari_game(self.game) or self.game)
        try:
            json.dumps(dict(self.settings), allow_nan=False)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"The settings of agent {shorten(self.agent)} cannot be stored: {error}. Give numbers, "
                f"text, true or false, and lists of these."
            ) from None
        if not isinstance(self.seed, int) or not -_MOST <= self.seed <= _MOST:
            raise InputError(
                f"The job's seed is {shorten(self.seed)}. Give a whole number up to {_MOST}."
            )
        for name in ("episodes", "frames"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or not 1 <= value <= _MOST):
                raise InputError(
                    f"The job's {name} are {value!r}. Give a whole number of at least 1 and up to "
                    f"{_MOST}, or none."
                )

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def key(self) -> str:
        """Thirty-two hexadecimal digits that differ as soon as anything about the job does.

        >>> Job("a", "random", game="pong").key == Job("b", "random", game="pong").key
        False
        """
        return _digest(
            self._what_is_played()
            | {
                "agent": self.agent,
                "protocol": self.protocol.to_dict(),
                "episodes": self.episodes,
                "frames": self.frames,
            }
        )

    @property
    def last_frame(self) -> int | None:
        """Training frames after which no further training episode begins; None where episodes are counted.

        >>> Job("random", "random", game="pong").last_frame
        200000000
        """
        if self.frames is None and self.episodes is None:
            return self.protocol.training_frames
        return self.frames

    def generator(self, episode: int, stream: Stream) -> np.random.Generator:
        """Return the random numbers of one episode, the same whenever and wherever it is played.

        They depend on what is played and with which seed, not on how long: a longer job begins
        with the episodes of a shorter one.

        >>> job = Job("random", "random", game="pong")
        >>> len({int(job.generator(3, "agent").integers(10**9)) for _ in range(5)})
        1
        """
        identity = int(_digest(self._what_is_played()), 16)
        return np.random.default_rng([identity, episode, _STREAMS.index(stream)])

    def record(self, split: str = "test") -> JobRecord:
        """Return the job as a ledger keeps it; `split` says whether its game is for tuning: "train".

        >>> Job("random", "random", game="pong").record().settings
        '{}'
        """
        return JobRecord(
            key=self.key,
            **self._what_is_played()
            | {
                "agent": self.agent,
                "settings": json.dumps(dict(self.settings), sort_keys=True),
                "split": split,
                "protocol": self.protocol.hash,
                "protocol_settings": json.dumps(self.protocol.to_dict(), sort_keys=True),
                "episodes": self.episodes,
                "frames": self.frames,
            },
        )

    def _what_is_played(self) -> dict[str, Any]:  # Any: values of the fields
        return {
            "entry": self.entry,
            "settings": dict(self.settings),
            "observation": self.observation,
            "environment": self.environment,
            "game": self.game,
            "mode": self.mode,
            "difficulty": self.difficulty,
            "seed": self.seed,
        }


def _digest(content: Mapping[str, object]) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]
