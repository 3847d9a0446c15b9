"""An agent that has learnt, judged in a flavour of its game without learning further."""

from __future__ import annotations

import hashlib
import json
import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from examiner.arena.job import Job
from examiner.arena.play.episodes import Playing
from examiner.results import write_text


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


class TrainingState(NamedTuple):
    """What an agent has behind it: training episodes, their frames, and what it saved."""

    episodes: int = 1
    frames: int = 0
    saved: bytes | None = None


class EvaluationJob(NamedTuple):
    """What a process is told: a job that is done, what its agent has behind it, and where to judge it.

    `folder` is that of the plan, from which agents may be imported; scores are kept in `kept`.
    """

    job: Job
    learnt: TrainingState
    judged: Flavour
    episodes: int
    folder: str
    kept: str

    @property
    def file(self) -> Path:
        """Where its scores are kept: a name for each job, flavour and number of episodes."""
        asked = (self.job.key, self.learnt.frames, *self.judged, self.episodes)
        return (
            Path(self.kept) / f"{hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:32]}.json"
        )


def judge(asked: EvaluationJob) -> list[float]:
    """Return an agent's scores in a flavour; those of a run that was cut off are not played again."""
    known = _kept(asked.file, asked.episodes)
    if known is not None:
        return known
    if asked.folder and asked.folder not in sys.path:
        sys.path.insert(0, asked.folder)
    job = replace(
        asked.job,
        mode=asked.judged.mode,
        difficulty=asked.judged.difficulty,
        protocol=replace(
            asked.job.protocol, evaluation_episodes=asked.episodes, report_shares=(1.0,)
        ),
    )
    # All training lies behind it: what is left are the episodes of the evaluation.
    episodes, frames, saved = asked.learnt
    playing = Playing.resume(job, episodes_done=episodes, frames_done=frames, checkpoint=saved)
    scores = [float(episode.score) for episode in playing]
    write_text(asked.file, json.dumps(scores))
    return scores


def _kept(path: Path, episodes: int) -> list[float] | None:
    """Scores of that many episodes; nothing where there is no such file, or it holds something else."""
    try:
        scores = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    whole = isinstance(scores, list) and len(scores) == episodes
    return scores if whole and all(map(_is_score, scores)) else None


def _is_score(value: object) -> bool:
    return isinstance(value, float) and math.isfinite(value)
