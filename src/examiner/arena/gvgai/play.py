"""One play of a GVGAI game: the job of a run, which is one episode."""

from __future__ import annotations

import json
from dataclasses import dataclass

from examiner.arena.gvgai.rules import GvgaiRules
from examiner.arena.job import digest
from examiner.ledger import JobRecord

_SEEDS = 2**31


@dataclass(frozen=True, slots=True)
class GvgaiPlay:
    """An agent on one level of a game, with one seed, under rules; `entry` is the agent's class.

    >>> play = GvgaiPlay("mcts", "tracks.singlePlayer.advanced.sampleMCTS.Agent", "aliens", level=2)
    >>> play.record().mode, play.episodes
    (2, 1)
    """

    agent: str
    entry: str
    game: str
    level: int = 0
    seed: int = 0
    rules: GvgaiRules = GvgaiRules()  # noqa: RUF009  frozen

    @property
    def episodes(self) -> int:
        """A play is one episode."""
        return 1

    @property
    def last_frame(self) -> None:
        """No training, so no last frame of it."""

    @property
    def mode(self) -> int:
        """The variant of the game, by the name that ledgers have for it: the level."""
        return self.level

    @property
    def difficulty(self) -> None:
        """Games of GVGAI have levels only."""

    @property
    def key(self) -> str:
        """Thirty-two hexadecimal digits that differ as soon as anything about the play does.

        >>> GvgaiPlay("a", "x.Agent", "aliens").key == GvgaiPlay("a", "x.Agent", "zelda").key
        False
        """
        names = ("agent", "entry", "game", "level", "seed")
        return digest(
            {name: getattr(self, name) for name in names} | {"rules": self.rules.to_dict()}
        )

    @property
    def play_seed(self) -> int:
        """The seed of the play's random numbers: alike for all agents, other for each game and level.

        >>> GvgaiPlay("a", "x", "aliens").play_seed == GvgaiPlay("b", "y", "aliens").play_seed
        True
        """
        content = {"game": self.game, "level": self.level, "seed": self.seed}
        return int(digest(content), 16) % _SEEDS

    def record(self, split: str = "test") -> JobRecord:
        """Return the play as a ledger keeps it.

        >>> GvgaiPlay("a", "x", "aliens").record().environment
        'gvgai'
        """
        return JobRecord(
            key=self.key,
            agent=self.agent,
            game=self.game,
            entry=self.entry,
            environment="gvgai",
            mode=self.level,
            seed=self.seed,
            split=split,
            protocol=self.rules.hash,
            protocol_settings=json.dumps(self.rules.to_dict(), sort_keys=True),
            episodes=1,
        )
