"""Jobs, each one agent on one variant of a game with one seed, and plans: all the jobs of a study."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from examiner.arena.agents import AGENTS
from examiner.arena.contract import Environment, make_agent
from examiner.arena.environments import ENVIRONMENTS
from examiner.arena.environments.games import (
    TRAINING_GAMES,
    game_variant,
    game_variants,
    playable_game,
)
from examiner.arena.environments.screens import OBSERVATIONS
from examiner.arena.plan_fields import SILENT_SECONDS, Count, Text, Whole, refuse_too_many
from examiner.arena.protocol import PROTOCOLS, Protocol
from examiner.ledger import JobRecord
from examiner.messages import InputError, counted, shorten
from examiner.results import atari_game
from examiner.validation import Bounds, Wanted, check_known
from examiner.workers import Limits

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


def _same_game(one: str, other: str) -> bool:
    return (atari_game(one) or one) == (atari_game(other) or other)


_LIMITS = Limits(silent_seconds=SILENT_SECONDS)

Variants = Annotated[
    Annotated[tuple[Whole, ...], Bounds(1)] | Literal["all"],
    Wanted('a list of whole numbers, or "all"'),
]
Settings = Annotated[
    Mapping[str, Any],  # Any: values of TOML, which the agent's factory takes or refuses
    Wanted("a table, for example { epsilon = 0.05 }"),
]


@dataclass(frozen=True, slots=True)
class PlannedAgent:
    """An agent of a plan, by default called like its entry; observation and budgets of None are the plan's.

    >>> PlannedAgent("random").name
    'random'
    """

    entry: Text
    name: Text = ""
    settings: Settings = field(default_factory=dict)
    observation: Text | None = None
    episodes: Count | None = None
    frames: Count | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or self.entry)


@dataclass(frozen=True, slots=True)
class PlannedGame:
    """A game of a plan; no modes or difficulties are the protocol's, or the game's default."""

    name: Text
    modes: Variants | None = None
    difficulties: Variants | None = None


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The modes and difficulties in which `flavours` evaluates; None are those that are learnt on."""

    modes: Variants | None = None
    difficulties: Variants | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Plan:
    """What is to be played. `source` is its text, `folder` where its agents are looked for first.

    `evaluated` says in which other modes and difficulties agents are judged once they have learnt.

    >>> plan = Plan((PlannedAgent("random"),), (PlannedGame("pong"),), seeds=(0, 1), episodes=2)
    >>> plan
    Plan('plan': 1 agent × 1 game × 2 seeds under machado-2018)
    >>> [job.seed for job in plan.jobs()]
    [0, 1]
    """

    agents: tuple[PlannedAgent, ...]
    games: tuple[PlannedGame, ...]
    seeds: tuple[int, ...] = (0,)
    protocol: Protocol = PROTOCOLS["machado-2018"]
    environment: str = "ale"
    observation: str = "raw"
    episodes: int | None = None
    frames: int | None = None
    tuning_games: tuple[str, ...] = TRAINING_GAMES
    limits: Limits = _LIMITS
    name: str = "plan"
    source: str = ""
    folder: Path | None = None
    evaluated: Evaluated = field(default_factory=Evaluated)

    def __repr__(self) -> str:
        return (
            f"Plan({shorten(self.name)}: {counted(len(self.agents), 'agent')} × "
            f"{counted(len(self.games), 'game')} × {counted(len(self.seeds), 'seed')} under "
            f"{self.protocol.name or 'a protocol of its own'})"
        )

    def jobs(self) -> tuple[Job, ...]:
        """Return every job, games, modes and difficulties checked.

        All agents and games come with the first seed, then with the second: whenever a run ends
        early, they have been played about as often.

        >>> Plan((PlannedAgent("random"),), (PlannedGame("pong", modes=(9,)),)).jobs()
        Traceback (most recent call last):
        ...
        examiner.messages.InputError: The game 'pong' has no mode 9. It has 0, 1.
        """
        variants = [variant for game in self.games for variant in self._variants(game)]
        count = len(self.seeds) * len(variants) * len(self.agents)
        refuse_too_many(count)
        return tuple(
            self._job(agent, *variant, seed)
            for seed, variant, agent in product(self.seeds, variants, self.agents)
        )

    def evaluated_variants(self, game: str) -> tuple[tuple[int | None, int | None], ...]:
        """Return the modes and difficulties of a game that agents are judged in, those learnt on first.

        >>> wanted = Evaluated(difficulties=(0, 1))
        >>> plan = Plan((PlannedAgent("random"),), (PlannedGame("pong"),), evaluated=wanted)
        >>> plan.evaluated_variants("pong")
        ((0, 0), (0, 1))
        """
        (planned,) = (each for each in self.games if _same_game(each.name, game))
        judged = PlannedGame(
            planned.name,
            self.evaluated.modes or planned.modes,
            self.evaluated.difficulties or planned.difficulties,
        )
        found = (*self._variants(planned), *self._variants(judged))
        return tuple(dict.fromkeys(variant[1:] for variant in found))

    def split(self, game: str) -> str:
        """Say whether settings may be tuned on a game: "train", else "test".

        >>> plan = Plan((PlannedAgent("random"),), (PlannedGame("pong"),))
        >>> plan.split("freeway"), plan.split("pong")
        ('train', 'test')
        """
        return "train" if game in self.tuning_games else "test"

    def _job(
        self,
        agent: PlannedAgent,
        game: str,
        mode: int | None = None,
        difficulty: int | None = None,
        seed: int = 0,
    ) -> Job:
        return Job(
            agent.name,
            agent.entry,
            agent.settings,
            agent.observation or self.observation,
            self.environment,
            game,
            mode,
            difficulty,
            seed,
            self.protocol,
            agent.episodes or self.episodes,
            agent.frames or self.frames,
        )

    def _variants(self, game: PlannedGame) -> list[tuple[str, int | None, int | None]]:
        if self.environment != "ale":
            if game.modes or game.difficulties:
                raise InputError(
                    f"The game {shorten(game.name)} of the environment {shorten(self.environment)} has "
                    f"no modes or difficulties. Leave them out."
                )
            # One's own environment is looked at where it is played: to look is to run its code.
            observations = set() if ":" in game.name else {a.observation for a in self.agents}
            for observation in observations:
                check_job(self._job(PlannedAgent("random", observation=observation), game.name))
            return [(game.name, None, None)]
        name = playable_game(game.name)
        modes, difficulties = game.modes, game.difficulties
        if modes == "all":
            modes = game_variants(name).modes
        if difficulties == "all":
            difficulties = game_variants(name).difficulties
        wanted = product(
            modes or (self.protocol.mode,), difficulties or (self.protocol.difficulty,)
        )
        return [(name, *game_variant(name, *variant)) for variant in dict.fromkeys(wanted)]
