"""What a ledger keeps: jobs, their episodes and checkpoints, and what became of each job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

Phase = Literal["training", "evaluation"]


@dataclass(frozen=True, slots=True)
class PlayEnd:
    """How a play in somebody else's framework ended: won (1), not won (0) or not observed (None).

    `status` is "finished" for a game that came to its end; `model_calls` are those of the whole play.

    >>> PlayEnd("crashed", None, 120, "java.lang.NullPointerException").win is None
    True
    """

    status: str
    win: int | None
    model_calls: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Episode:
    """One whole game: from its start to game over or to the protocol's cap.

    `number` counts from 0 over both phases. `frames` are the training frames of the run at the
    episode's end: evaluation adds none. `length` is this episode's, in frames; `lives` are those
    left at its end. Where a framework plays by itself, a job is one episode, and `play` says how it ended.
    """

    number: int
    frames: int
    length: int
    score: float
    lives: int
    truncated: bool
    cpu_seconds: float
    phase: Phase = "training"
    play: PlayEnd | None = None


class JobRecord(NamedTuple):
    """A job as a row of the table: its key, and all that decides what is played.

    Settings of the agent and of the protocol are JSON; `protocol` is a hash. `split` says whether the
    game is for tuning ("train") or for testing ("test"). The `mode` of a GVGAI game is its level. `variant`
    names a variant that differs in something else, such as its protocol.
    """

    key: str
    agent: str
    game: str
    entry: str = ""
    settings: str = "{}"
    observation: str = "raw"
    environment: str = "ale"
    mode: int | None = None
    difficulty: int | None = None
    seed: int = 0
    split: str = "test"
    protocol: str = ""
    protocol_settings: str = "{}"
    episodes: int | None = None
    frames: int | None = None
    variant: str | None = None

    @property
    def identity(self) -> tuple[object, ...]:
        """What distinguishes jobs in results."""
        return self.agent, self.game, self.mode, self.difficulty, self.variant, self.seed


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """After how many episodes and frames a learner saved itself, and the hash of what it saved.

    >>> Checkpoint(episodes=10, frames=12_000, evaluated=0).sha256
    ''
    """

    episodes: int
    frames: int
    evaluated: int
    sha256: str = ""


@dataclass(slots=True)
class Account:
    """What the ledger holds of one job."""

    record: JobRecord
    number: int
    stateless: bool | None = None
    state: str = "waiting"
    reason: str | None = None
    episodes: int = 0
    frames: int = 0
    evaluated: int = 0
    cpu_seconds: float = 0.0
    checkpoint: Checkpoint | None = None
