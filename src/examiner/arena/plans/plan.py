"""A plan: agents × games × modes × difficulties × seeds under one protocol, and the jobs it means."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from examiner.arena.environments.games import (
    TRAINING_GAMES,
    game_variant,
    game_variants,
    playable_game,
)
from examiner.arena.play.episodes import check_job
from examiner.arena.play.job import Job
from examiner.arena.protocol import PROTOCOLS, Protocol
from examiner.wording import InputError, shorten
from examiner.workers import Limits

SILENT_SECONDS = 3600.0
"""An agent of which nothing is heard for an hour hangs, unless a plan says otherwise."""
_LIMITS = Limits(silent_seconds=SILENT_SECONDS)


@dataclass(frozen=True, slots=True)
class PlannedAgent:
    """An agent of a plan; budgets of None are the plan's."""

    name: str
    entry: str
    settings: dict[str, object] = field(default_factory=dict)
    observation: str = "raw"
    episodes: int | None = None
    frames: int | None = None


@dataclass(frozen=True, slots=True)
class PlannedGame:
    """A game of a plan; no modes or difficulties are the protocol's, or the game's default."""

    name: str
    modes: tuple[int, ...] | None = None
    difficulties: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be played. `source` is its text, `folder` where its agents are looked for first.

    >>> plan = Plan((PlannedAgent("random", "random"),), (PlannedGame("pong"),), seeds=(0, 1), episodes=2)
    >>> [job.seed for job in plan.jobs()]
    [0, 1]
    """

    agents: tuple[PlannedAgent, ...]
    games: tuple[PlannedGame, ...]
    seeds: tuple[int, ...] = (0,)
    protocol: Protocol = PROTOCOLS["machado-2018"]
    environment: str = "ale"
    episodes: int | None = None
    frames: int | None = None
    tuning_games: tuple[str, ...] = TRAINING_GAMES
    limits: Limits = _LIMITS
    name: str = "plan"
    source: str = ""
    folder: Path | None = None

    def jobs(self) -> tuple[Job, ...]:
        """Return every job, games, modes and difficulties checked.

        All agents and games come with the first seed, then with the second: whenever a run ends
        early, they have been played about as often.

        >>> Plan((PlannedAgent("a", "random"),), (PlannedGame("pong", modes=(9,)),)).jobs()
        Traceback (most recent call last):
        ...
        examiner.wording.InputError: The game 'pong' has no mode 9. It has 0, 1.
        """
        variants = [variant for game in self.games for variant in self._variants(game)]
        return tuple(
            Job(
                agent.name,
                agent.entry,
                agent.settings,
                agent.observation,
                self.environment,
                *variant,
                seed,
                self.protocol,
                agent.episodes or self.episodes,
                agent.frames or self.frames,
            )
            for seed, variant, agent in product(self.seeds, variants, self.agents)
        )

    def split(self, game: str) -> str:
        """Say whether settings may be tuned on a game: "train", else "test".

        >>> plan = Plan((PlannedAgent("a", "random"),), (PlannedGame("pong"),))
        >>> plan.split("freeway"), plan.split("pong")
        ('train', 'test')
        """
        return "train" if game in self.tuning_games else "test"

    def _variants(self, game: PlannedGame) -> list[tuple[str, int | None, int | None]]:
        if self.environment != "ale":
            if game.modes or game.difficulties:
                raise no_variants(game.name, self.environment)
            for observation in dict.fromkeys(agent.observation for agent in self.agents):
                check_job(
                    Job(
                        *("random", "random"),
                        observation=observation,
                        environment=self.environment,
                        game=game.name,
                        protocol=self.protocol,
                    )
                )
            return [(game.name, None, None)]
        name = playable_game(game.name)
        modes = game.modes or (self.protocol.mode,)
        difficulties = game.difficulties or (self.protocol.difficulty,)
        return [
            (name, *game_variant(name, mode, difficulty))
            for mode, difficulty in product(modes, difficulties)
        ]


def no_variants(game: str, environment: str) -> InputError:
    """Build the error for modes or difficulties where only Atari games have some."""
    return InputError(
        f"The game {shorten(game)} of the environment {shorten(environment)} has no modes or "
        f"difficulties. Leave them out."
    )


def all_modes(game: str) -> tuple[int, ...]:
    """Return the modes of an Atari game.

    >>> all_modes("pong")
    (0, 1)
    """
    return game_variants(playable_game(game)).modes


def all_difficulties(game: str) -> tuple[int, ...]:
    """Return the difficulties of an Atari game.

    >>> all_difficulties("freeway")
    (0, 1)
    """
    return game_variants(playable_game(game)).difficulties
