"""Flavours: what an agent that learnt in one mode and difficulty of a game does in others."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from examiner.arena.agents import AGENTS
from examiner.arena.contract import make_agent
from examiner.arena.job import Job, Plan
from examiner.arena.plans import plan_of_frames
from examiner.arena.play.episodes import Playing
from examiner.arena.play.runner import FailedJob, Watcher, run
from examiner.arena.play.runs import (
    Mapper,
    RunsMean,
    difference_of_runs,
    in_turn,
    mean_of_runs,
    share_kept,
)
from examiner.ledger import Ledger
from examiner.results.display import html_table
from examiner.wording import InputError, counted, listed, shorten


class Flavour(NamedTuple):
    """A mode and a difficulty of a game."""

    mode: int | None
    difficulty: int | None

    def __str__(self) -> str:
        return f"mode {self.mode}, difficulty {self.difficulty}"


@dataclass(frozen=True, slots=True)
class Gap:
    """An agent in one flavour of a game that learnt in another, without learning further.

    `native` is the score of the same agent where it learnt in the very flavour it is judged in, `gap`
    how much higher that is; NaN where the plan has no such run. `random` is random play there. `kept` is
    the share of native's advantage over random play that is left; NaN where that is not clear.
    """

    agent: str
    game: str
    learnt: Flavour
    judged: Flavour
    score: RunsMean
    native: RunsMean
    gap: RunsMean
    random: RunsMean
    kept: float


@dataclass(frozen=True, slots=True, repr=False)
class Flavours:
    """The gaps of a plan, one for each agent, game, flavour learnt in and flavour judged in."""

    gaps: tuple[Gap, ...]
    failed: tuple[FailedJob, ...]
    episodes: int

    def __repr__(self) -> str:
        return (
            f"Flavours({counted(len(self.gaps), 'gap')}, {counted(len(self.failed), 'failed job')})"
        )

    def _repr_html_(self) -> str:
        header = ("agent", "game", "learnt in", "judged in", "score", "learnt there", "gap")
        rows = [
            (
                *(one.agent, one.game, str(one.learnt), str(one.judged)),
                *(one.score.mean, one.native.mean, one.gap.mean),
            )
            for one in self.gaps
        ]
        return html_table(repr(self), header, rows)


class _Learnt(NamedTuple):
    """What an agent has behind it: training episodes, their frames, and what it saved."""

    episodes: int = 1
    frames: int = 0
    saved: bytes | None = None


class _Judgement(NamedTuple):
    """What a process is told: a job that is done, what its agent has behind it, and where to judge it."""

    job: Job
    learnt: _Learnt
    judged: Flavour
    episodes: int
    folder: str


def flavours(
    what: Plan | str | Path,
    folder: str | Path,
    *,
    episodes: int = 10,
    workers: int = 1,
    map: Mapper | None = None,
    watcher: Watcher | None = None,
) -> Flavours:
    """Play a plan, then judge every agent in all flavours of its game, without further learning.

    The plan's games say in which modes and difficulties agents learn; those, and what the plan calls
    `evaluated`, are judged in, for so many episodes a run. The ledger in the folder resumes. The
    question is that of papers/001, section 5. `map` is like `workers.map_processes`.

    >>> import tempfile
    >>> from examiner.arena.plans import plan_from_toml
    >>> text = 'games = ["freeway"]\\nepisodes = 1\\nevaluated = { difficulties = [0, 1] }\\n'
    >>> text += 'protocol = { max_episode_frames = 50 }\\n[[agents]]\\nentry = "no-op"'
    >>> found = flavours(plan_from_toml(text), tempfile.mkdtemp(), episodes=1)
    >>> [(gap.learnt, gap.judged) for gap in found.gaps]
    [(Flavour(mode=0, difficulty=0), Flavour(mode=0, difficulty=1))]
    """
    plan = what if isinstance(what, Plan) else plan_of_frames(what)
    if episodes < 1:
        raise InputError(f"Cannot judge agents in {episodes} episodes. Give at least 1.")
    jobs, judged = plan.jobs(), _judged(plan)
    _refuse_forgetful(jobs)
    outcome = run(plan, folder, workers=workers, watcher=watcher)
    failed = {failure.job for failure in outcome.failed}
    done = [job for job in jobs if job not in failed]
    learnt = _learnt(outcome.ledger, plan, done)
    randoms = dict.fromkeys(_random_play(job) for job in done)
    asked = [
        _Judgement(job, learnt.get(job.key, _Learnt()), flavour, episodes, str(plan.folder or ""))
        for job in (*done, *randoms)
        for flavour in judged[job.game]
    ]
    scores: dict[tuple[str, str, Flavour, Flavour], list[float]] = {}
    for one, score in zip(asked, (map or in_turn)(judge, asked), strict=True):
        key = (one.job.agent, one.job.game, _flavour(one.job), one.judged)
        scores.setdefault(key, []).append(score)
    return Flavours(_gaps(scores), outcome.failed, episodes)


_RANDOM = "\0random"  # no agent of a plan can be called so


def _random_play(job: Job) -> Job:
    return replace(
        job, agent=_RANDOM, entry="random", settings={}, observation="raw", episodes=1, frames=None,
        mode=None, difficulty=None,
    )  # fmt: skip


def _flavour(job: Job) -> Flavour:
    return Flavour(job.mode, job.difficulty)


def _judged(plan: Plan) -> dict[str, tuple[Flavour, ...]]:
    """The flavours each game is judged in; a plan without two of any game is refused."""
    judged = {
        job.game: tuple(Flavour(*variant) for variant in plan.evaluated_variants(job.game))
        for job in plan.jobs()
    }
    single = [game for game, found in judged.items() if len(found) < 2]
    if single:
        raise InputError(
            f"The plan has one mode and difficulty of {listed(single)}. Name several to learn in (modes, "
            f'difficulties) or to be judged in: evaluated = {{ modes = "all" }}.'
        )
    return judged


def _refuse_forgetful(jobs: Sequence[Job]) -> None:
    for job in {job.agent: job for job in jobs}.values():
        agent = make_agent(job.entry, job.settings, AGENTS)
        if callable(getattr(agent, "learn", None)) and not callable(getattr(agent, "save", None)):
            raise InputError(
                f"The agent {shorten(job.agent)} learns but cannot save() what it learnt, so it cannot be "
                f"judged elsewhere. Give it save() and load(bytes)."
            )


def _learnt(path: Path, plan: Plan, jobs: Sequence[Job]) -> Mapping[str, _Learnt]:
    """What each agent has behind it at its job's end, by the key of the job."""
    with Ledger(path, plan=plan.source) as ledger:
        accounts = ledger.enter([job.record(plan.split(job.game)) for job in jobs])
        return {
            account.record.key: _Learnt(
                account.episodes - account.evaluated,
                account.frames,
                ledger.checkpoint_data(account),
            )
            for account in accounts
        }


def judge(asked: _Judgement) -> float:
    """Return the mean score of an agent that has learnt, in a flavour, without learning further."""
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
    return float(np.mean([episode.score for episode in playing]))


def _gaps(scores: Mapping[tuple[str, str, Flavour, Flavour], list[float]]) -> tuple[Gap, ...]:
    gaps = []
    for (agent, game, learnt, judged), here in scores.items():
        if agent == _RANDOM or learnt == judged:
            continue
        native = scores.get((agent, game, judged, judged), [])
        random = scores[_RANDOM, game, Flavour(None, None), judged]
        advantage = difference_of_runs(native, random) if native else mean_of_runs([])
        left = mean_of_runs(here).mean - mean_of_runs(random).mean
        gaps.append(
            Gap(
                agent,
                game,
                learnt,
                judged,
                mean_of_runs(here),
                mean_of_runs(native),
                difference_of_runs(native, here),
                mean_of_runs(random),
                share_kept(advantage, left) if native else math.nan,
            )
        )
    return tuple(gaps)
