"""One play of a GVGAI game: the job of a run, which is one episode."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Annotated, ClassVar, Literal

from examiner.arena.job import digest
from examiner.ledger import JobRecord
from examiner.messages import InputError
from examiner.validation import Bounds, settle

MOST_TICKS = 2000
"""The framework ends every play then: the number is compiled into it."""
_Positive = Annotated[int, Bounds(1, words="a whole number of at least 1")]
_Seconds = Annotated[float, Bounds(0.1, 1e6, "a number of seconds, at least 0.1")]
_Milliseconds = Annotated[float, Bounds(1.0, 1e6, "a number of milliseconds, at least 1")]


@dataclass(frozen=True, slots=True)
class GvgaiRules:
    """The budget of an action is in calls of the forward model, or in milliseconds of CPU time.

    Calls are the same on every machine; milliseconds are those of the papers (40), and buy less on a busy
    one. A play that takes longer than `cpu_seconds` is ended, with the score of then. By the rule of
    the framework an action that took longer than its budget is not taken, and one a quarter longer
    disqualifies. Small budgets of calls would disqualify agents that try whole generations at once:
    they may be "forgiven".

    >>> GvgaiRules(model_calls=50).name
    '50 model calls an action'
    >>> GvgaiRules(milliseconds=40.0).name
    '40 ms an action'
    """

    model_calls: _Positive | None = None
    milliseconds: _Milliseconds | None = None
    max_ticks: Annotated[int, Bounds(1, MOST_TICKS, f"a whole number from 1 to {MOST_TICKS}")] = (
        MOST_TICKS
    )
    cpu_seconds: _Seconds = 60.0
    overspending: Literal["framework", "forgiven"] = "framework"

    def __post_init__(self) -> None:
        settle(self, "gvgai")
        if self.model_calls is not None and self.milliseconds is not None:
            raise InputError(
                f"gvgai: an action has {self.model_calls} model calls and {self.milliseconds:g} "
                f"milliseconds. Keep one of the two."
            )
        if self.model_calls is None and self.milliseconds is None:
            object.__setattr__(self, "model_calls", 50)
        if self.overspending == "forgiven" and self.milliseconds is not None:
            raise InputError(
                "gvgai: milliseconds are the framework's own rule, and what overspends them is not "
                "forgiven. Give a budget of model calls, or leave `overspending` out."
            )

    @property
    def name(self) -> str:
        """The budget in words."""
        if self.milliseconds is not None:
            return f"{self.milliseconds:g} ms an action"
        return f"{self.model_calls:,} model calls an action"

    @property
    def budget(self) -> float:
        """The budget as a number, of calls or milliseconds."""
        return float(self.model_calls or self.milliseconds or 0.0)

    @property
    def hash(self) -> str:
        """Sixteen hexadecimal digits that differ as soon as one setting does.

        >>> GvgaiRules().hash == GvgaiRules(model_calls=50).hash != GvgaiRules(model_calls=51).hash
        True
        """
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()[:16]

    def to_dict(self) -> dict[str, object]:
        """Return the settings by name, ready for JSON.

        >>> GvgaiRules().to_dict()["max_ticks"]
        2000
        """
        settings = {"framework": "gvgai"} | asdict(self)
        if self.overspending == "framework":  # as it is without this setting
            del settings["overspending"]
        return settings


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
    rules: GvgaiRules = GvgaiRules()

    # What a play has in common with jobs of frames.
    episodes: ClassVar[int] = 1
    last_frame: ClassVar[None] = None
    difficulty: ClassVar[None] = None

    @property
    def mode(self) -> int:
        """The level, by the name that ledgers have for variants of games."""
        return self.level

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
        return int(digest(content), 16) % 2**31  # an int of Java

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
