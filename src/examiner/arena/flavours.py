"""Flavours: how an agent trained in one mode and difficulty of a game performs in others."""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, bound, count, name, number
from examiner.arena.agents import AGENTS
from examiner.arena.contract import make_agent
from examiner.arena.job import Flavour, Job
from examiner.arena.plan import Plan
from examiner.arena.plans import plan_of_frames
from examiner.arena.play.episodes import Playing
from examiner.arena.play.means import (
    RunsMean,
    difference_of_runs,
    interval_columns,
    mean_of_runs,
    means_of_runs,
    share_kept,
)
from examiner.arena.play.runner import FailedJob, FailedJobs, Watcher, failed_jobs, run
from examiner.arena.play.runs import Mapper, in_turn
from examiner.ledger import Ledger
from examiner.messages import InputError, counted, listed, shorten
from examiner.results import Results, write_text
from examiner.validation import Floats

RANDOM_PLAY = "random play"
"""The agent that was not trained. Trained agents have their flavour in their name."""

GapKey: TypeAlias = tuple[str | None, str, Flavour, Flavour]
"""Agent, game, the flavour it was trained in and the flavour it is evaluated in; no agent: random play."""


class FlavourGaps(Table):
    """One row per agent, game, flavour trained in and flavour evaluated in, without further training.

    `gap` and `native` are NaN where the agent was not trained in the flavour of evaluation, `kept` where
    the native agent is not significantly better than random play. A bound is NaN with fewer than two
    runs, and where all runs are equal.
    """

    agent: tuple[str, ...] = name("Agent")
    game: tuple[str, ...] = name("Game")
    trained_in: tuple[str, ...] = name("Mode and difficulty in which the agent was trained")
    evaluated_in: tuple[str, ...] = name("Mode and difficulty in which the agent is evaluated")
    gap: Floats = number("Native score minus score", unit="score")
    gap_low: Floats = bound("gap", "low")
    gap_high: Floats = bound("gap", "high")
    score: Floats = number("Mean score over runs", unit="score")
    native: Floats = number(
        "Mean score of the same agent trained in the flavour of evaluation", unit="score"
    )
    random: Floats = number("Mean score of random play in the flavour of evaluation", unit="score")
    kept: Floats = number("Share of the native advantage over random play that is left")
    score_low: Floats = bound("score", "low")
    score_high: Floats = bound("score", "high")
    native_low: Floats = bound("native", "low")
    native_high: Floats = bound("native", "high")
    random_low: Floats = bound("random", "low")
    random_high: Floats = bound("random", "high")
    runs: NDArray[np.int64] = count("Runs of the agent")
    native_runs: NDArray[np.int64] = count("Runs of the native agent")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Flavours(Answer):
    """What agents lose in flavours of a game in which they were not trained: `flavours`, `gaps`.

    `judged` has every evaluated episode, as `gaps` takes them; it is None where no job was done.
    `failures` are the failed jobs, `failed` is their table. `episodes` is the number per run and flavour.
    """

    kind = "flavours"

    gaps: FlavourGaps
    failures: tuple[FailedJob, ...] = ()
    episodes: int | None = None
    judged: Results | None = None

    @property
    def failed(self) -> FailedJobs:
        """The failed jobs as a table."""
        return failed_jobs(self.failures)

    @property
    def headline(self) -> str:
        """In how many flavours an agent is significantly worse than one that was trained there."""
        known = int(np.isfinite(self.gaps.gap).sum())
        if not known:
            return "No agent was trained in a flavour in which others were evaluated."
        lower = int((self.gaps.gap_low > 0).sum())
        return (
            f"In {lower:,} of {counted(known, 'pair')} of flavours an agent is significantly worse than "
            f"the same agent trained in the flavour of evaluation (95 % intervals over runs)."
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """The gaps, and the jobs that failed."""
        return {"gaps": self.gaps, "failed": self.failed}

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """The number of episodes per run and flavour."""
        return {"episodes": self.episodes, "resampled": "runs"}


def flavours(
    what: Plan | str | Path,
    folder: str | Path,
    *,
    episodes: int = 10,
    workers: int = 1,
    map: Mapper | None = None,
    watcher: Watcher | None = None,
) -> Flavours:
    """Play a plan, then evaluate every agent in all flavours of its game, without further training.

    The plan's games say in which modes and difficulties agents are trained. They are evaluated in those
    and in the plan's `evaluated`, `episodes` per run. The ledger in the folder resumes, and evaluated
    episodes are stored next to it. The question is that of papers/001, section 5. `map` is like
    `workers.map_processes`.

    >>> import tempfile
    >>> from examiner.arena.plans import plan_from_toml
    >>> text = 'games = ["freeway"]\\nepisodes = 1\\nevaluated = { difficulties = [0, 1] }\\n'
    >>> text += 'protocol = { max_episode_frames = 50 }\\n[[agents]]\\nentry = "no-op"'
    >>> answer = flavours(plan_from_toml(text), tempfile.mkdtemp(), episodes=1)
    >>> answer.gaps.trained_in, answer.gaps.evaluated_in
    (('0/0',), ('0/1',))
    """
    plan = what if isinstance(what, Plan) else plan_of_frames(what)
    if episodes < 1:
        raise InputError(f"Cannot judge agents in {episodes} episodes. Give at least 1.")
    jobs, judged = plan.jobs(), _judged(plan)
    _refuse_forgetful(jobs)
    outcome = run(plan, folder, workers=workers, watcher=watcher)
    excluded = {failure.job for failure in outcome.failures}
    completed = [job for job in jobs if job not in excluded]
    states = _training_states(outcome.ledger, plan, completed)
    random_jobs = dict.fromkeys(_random_play(job) for job in completed)
    folder = outcome.ledger.parent / "judged"
    try:
        folder.mkdir(exist_ok=True)
    except OSError as problem:
        raise InputError(
            f"Cannot keep what is judged in {shorten(folder, 200)}: {problem.strerror}. Move it away."
        ) from None
    folders = str(plan.folder or ""), str(folder)
    evaluations = [
        EvaluationJob(job, states.get(job.key, TrainingState()), flavour, episodes, *folders)
        for job in (*completed, *random_jobs)
        for flavour in judged[job.game]
    ]
    if not evaluations:
        return Flavours(_table({}), outcome.failures, episodes)
    results = _results(evaluations, (map or in_turn)(judge, evaluations))
    return replace(gaps(results), failures=outcome.failures, episodes=episodes)


def _random_play(job: Job) -> Job:
    return replace(
        job, agent=RANDOM_PLAY, entry="random", settings={}, observation="raw", episodes=1, frames=None,
        mode=None, difficulty=None,
    )  # fmt: skip


def _judged(plan: Plan) -> dict[str, tuple[Flavour, ...]]:
    """The flavours each game is evaluated in; a plan without two of any game is refused."""
    judged = {
        job.game: tuple(Flavour(*variant) for variant in plan.evaluated_variants(job.game))
        for job in plan.jobs()
    }
    single = [game for game, variants in judged.items() if len(variants) < 2]
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


def _training_states(path: Path, plan: Plan, jobs: Sequence[Job]) -> Mapping[str, TrainingState]:
    """The state of each agent's training at the end of its job, by the key of the job."""
    with Ledger(path, plan=plan.source) as ledger:
        accounts = ledger.enter([plan.record(job) for job in jobs])
        return {
            account.record.key: TrainingState(
                account.episodes - account.evaluated,
                account.frames,
                ledger.checkpoint_data(account),
            )
            for account in accounts
        }


def _results(evaluations: Sequence[EvaluationJob], scores: Sequence[Sequence[float]]) -> Results:
    """Every evaluated episode: agents by the flavour they were trained in, games by that of evaluation."""
    rows = []
    for evaluation, episode_scores in zip(evaluations, scores, strict=True):
        job = evaluation.job
        trained = Flavour(job.mode, job.difficulty)
        learner = None if job.agent == RANDOM_PLAY and trained == _UNTRAINED else job.agent
        agent = RANDOM_PLAY if learner is None else f"{job.agent} ({trained.short})"
        rows += [
            (agent, job.game, *evaluation.judged, job.seed, trial, score, learner, *trained)
            for trial, score in enumerate(episode_scores)
        ]
    return Results.from_dict(dict(zip(_COLUMNS, map(list, zip(*rows, strict=True)), strict=True)))


_UNTRAINED = Flavour(None, None)
_LEARNER = ("learner", "learnt_mode", "learnt_difficulty")
_COLUMNS = ("agent", "task", "mode", "difficulty", "run", "trial", "score", *_LEARNER)


def gaps(judged: Results) -> Flavours:
    """Compare agents that were evaluated in several flavours of a game with those trained there.

    Besides mode and difficulty, in which agents were evaluated, results have the columns `learner`,
    `learnt_mode` and `learnt_difficulty`: agents of one learner differ in the flavour they were trained
    in. Random play has no learner.

    >>> table = {"agent": ["a (0/0)", "a (1/0)"], "task": ["t", "t"], "mode": [1, 1],
    ...          "difficulty": [0, 0], "score": [2.0, 5.0], "learner": ["a", "a"],
    ...          "learnt_mode": [0, 1], "learnt_difficulty": [0, 0]}
    >>> gaps(Results.from_dict(table))["a", "t", "0/0", "1/0"].gap
    3.0
    """
    columns = judged.to_dict()
    missing = [name for name in (*_LEARNER, "mode", "difficulty") if name not in columns]
    if missing:
        raise InputError(
            f"The results have no column {listed(missing)}. Give what `examiner arena flavours` judged."
        )
    origins = _origins(columns)
    scores: dict[GapKey, list[float]] = {}
    for (agent, game, *flavour), runs in means_of_runs(judged).items():
        learner, *trained = origins[agent]
        key = learner, game, Flavour(*trained), Flavour(*flavour)
        if key in scores:
            raise InputError(
                f"Two agents are the learner {shorten(str(learner))} that learnt in {key[2]}, "
                f"{shorten(agent)} among them. Keep one of them."
            )
        scores[key] = list(runs.values())
    return Flavours(_table(scores), judged=judged)


def _origins(columns: Mapping[str, Sequence[Any]]) -> dict[str, tuple[Any, ...]]:  # Any: cells
    """The learner, mode and difficulty of each agent, which has one of them."""
    origins: dict[str, tuple[Any, ...]] = {}
    rows = zip(*(columns[name] for name in _LEARNER), strict=True)
    for agent, origin in zip(columns["agent"], rows, strict=True):
        if origins.setdefault(agent, origin) != origin:
            raise InputError(
                f"The agent {shorten(agent)} has several learners, modes or difficulties that it learnt "
                f"in. Give each its own name."
            )
    return origins


def _table(scores: Mapping[GapKey, list[float]]) -> FlavourGaps:
    keys = [key for key in scores if key[0] is not None and key[2] != key[3]]
    gaps = [_gap(scores, key) for key in keys]
    columns: dict[str, Any] = {}
    for field in ("score", "native", "gap", "random"):
        columns |= interval_columns(field, [getattr(gap, field) for gap in gaps])
    return FlavourGaps(
        agent=[key[0] for key in keys],
        game=[key[1] for key in keys],
        trained_in=[key[2].short for key in keys],
        evaluated_in=[key[3].short for key in keys],
        **columns,
        kept=[gap.kept for gap in gaps],
        runs=[gap.score.runs for gap in gaps],
        native_runs=[gap.native.runs for gap in gaps],
        caption="Evaluated without further training, with 95 % intervals over runs",
    )


class Gap(NamedTuple):
    """The estimates of a row of the table of gaps."""

    score: RunsMean
    native: RunsMean
    gap: RunsMean
    random: RunsMean
    kept: float


def _gap(scores: Mapping[GapKey, list[float]], key: GapKey) -> Gap:
    agent, game, _, evaluated = key
    score = scores[key]
    native = scores.get((agent, game, evaluated, evaluated), [])
    random = scores.get((None, game, _UNTRAINED, evaluated), [])
    advantage = difference_of_runs(native, random)
    left = mean_of_runs(score).mean - mean_of_runs(random).mean
    return Gap(
        mean_of_runs(score),
        mean_of_runs(native),
        difference_of_runs(native, score),
        mean_of_runs(random),
        share_kept(advantage, left),
    )


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
