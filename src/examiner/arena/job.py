"""Jobs: each is one agent on one variant of a game with one seed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from examiner.arena.agents import AGENTS
from examiner.arena.contract import Environment, make_agent
from examiner.arena.environments import ENVIRONMENTS
from examiner.arena.environments.games import (
    game_variant,
)
from examiner.arena.environments.screens import OBSERVATIONS
from examiner.arena.protocol import Protocol
from examiner.ledger import JobRecord
from examiner.messages import InputError, shorten
from examiner.results import atari_game
from examiner.validation import check_known

Stream = Literal["environment", "agent", "model", "process"]
_STREAMS: tuple[Stream, ...] = ("environment", "agent", "model", "process")
_PLAYED = ("entry", "settings", "observation", "environment", "game", "mode", "difficulty", "seed")
"""What decides, under a protocol, what happens in an episode."""
_TOLD = (*_PLAYED, "agent", "episodes", "frames")
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
        return digest(self._content(_TOLD) | {"protocol": self.protocol.telling})

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
        identity = int(digest(self._content(_PLAYED)), 16)
        return np.random.default_rng([identity, episode, _STREAMS.index(stream)])

    def record(self, split: str = "test") -> JobRecord:
        """Return the job as a ledger keeps it; `split` says whether its game is for tuning: "train".

        >>> Job("random", "random", game="pong").record().settings
        '{}'
        """
        return JobRecord(
            **self._content(_TOLD)
            | {
                "key": self.key,
                "settings": json.dumps(dict(self.settings), sort_keys=True),
                "split": split,
                "protocol": self.protocol.hash,
                "protocol_settings": json.dumps(self.protocol.to_dict(), sort_keys=True),
            }
        )

    def _content(self, names: Sequence[str]) -> dict[str, Any]:  # Any: values of the fields
        return {name: getattr(self, name) for name in names} | {"settings": dict(self.settings)}


def digest(content: Mapping[str, object]) -> str:
    """Return thirty-two hexadecimal digits that differ as soon as the content does.

    >>> digest({"game": "pong"}) == digest({"game": "freeway"})
    False
    """
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def check_job(job: Job) -> None:
    """Refuse a job that cannot be played, without playing: agent, environment, game, mode, difficulty.

    >>> check_job(Job("random", "random", game="pong"))
    >>> check_job(Job("random", "random", game="pong", difficulty=7))
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: The game 'pong' has no difficulty 7. It has 0, 1, 2, 3.
    """
    make_agent(job.entry, job.settings, AGENTS)
    if job.environment == "ale":
        check_known("observation", job.observation, OBSERVATIONS)
        mode = job.protocol.mode if job.mode is None else job.mode
        difficulty = job.protocol.difficulty if job.difficulty is None else job.difficulty
        game_variant(job.game, mode, difficulty)
    else:
        environment_of(job)


def environment_of(job: Job) -> Environment:
    """Return the environment that a job is played in.

    >>> environment_of(Job("random", "random", game="pong")).action_names[:2]
    ('NOOP', 'FIRE')
    """
    check_known("environment", job.environment, ENVIRONMENTS)
    return ENVIRONMENTS[job.environment](
        job.game,
        protocol=job.protocol,
        mode=job.mode,
        difficulty=job.difficulty,
        observation=job.observation,
    )


class Flavour(NamedTuple):
    """A mode and a difficulty of a game."""

    mode: int | None
    difficulty: int | None

    def __str__(self) -> str:
        return f"mode {self.mode}, difficulty {self.difficulty}"

    @property
    def short(self) -> str:
        """Mode and difficulty as "0/1", for narrow tables and names; empty if the game has neither."""
        return "/".join(str(part) for part in self if part is not None)
