"""A plan: agents × games × modes × difficulties × seeds under one protocol, and the jobs it means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

from examiner.arena.environments.games import (
    TRAINING_GAMES,
    game_variant,
    game_variants,
    playable_game,
)
from examiner.arena.play.episodes import check_job
from examiner.arena.play.job import Job
from examiner.arena.protocol import PROTOCOLS, Protocol
from examiner.checking import Bounds, Wanted
from examiner.wording import InputError, counted, shorten
from examiner.workers import Limits

SILENT_SECONDS = 3600.0
"""An agent of which nothing is heard for an hour hangs, unless a plan says otherwise."""
_LIMITS = Limits(silent_seconds=SILENT_SECONDS)

Text = Annotated[str, Bounds(1, words="text")]
Count = Annotated[int, Bounds(1, words="a whole number of at least 1")]
Whole = Annotated[int, Bounds(0, words="a whole number of at least 0")]
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


@dataclass(frozen=True, slots=True, repr=False)
class Plan:
    """What is to be played. `source` is its text, `folder` where its agents are looked for first.

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
        examiner.wording.InputError: The game 'pong' has no mode 9. It has 0, 1.
        """
        variants = [variant for game in self.games for variant in self._variants(game)]
        return tuple(
            self._job(agent, *variant, seed)
            for seed, variant, agent in product(self.seeds, variants, self.agents)
        )

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
            for observation in {agent.observation for agent in self.agents}:
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
