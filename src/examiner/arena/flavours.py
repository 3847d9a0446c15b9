"""Flavours: how an agent trained in one mode and difficulty of a game performs in others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, bound, count, name, number
from examiner.arena.agents import AGENTS
from examiner.arena.contract import make_agent
from examiner.arena.job import Flavour, Job
from examiner.arena.means import (
    difference_of_runs,
    interval_columns,
    job_scores,
    mean_of_runs,
    means_of_runs,
    share_kept,
)
from examiner.arena.plan import Learnt, Plan
from examiner.arena.plans import plan_of_frames
from examiner.arena.runner import FailedJobs, Watcher, failed_jobs, run
from examiner.ledger import Ledger
from examiner.messages import InputError, counted, listed, shorten
from examiner.results import Results
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
    `failed` are the jobs that failed. `episodes` is the number per run and flavour.
    """

    kind = "flavours"

    gaps: FlavourGaps
    failed: FailedJobs
    episodes: int | None
    judged: Results | None

    @property
    def headline(self) -> str:
        """In how many flavours an agent is significantly worse than one that was trained there."""
        estimated = int(np.isfinite(self.gaps.gap).sum())
        if not estimated:
            return "No agent was trained in a flavour in which others were evaluated."
        lower = int((self.gaps.gap_low > 0).sum())
        return (
            f"In {lower:,} of {counted(estimated, 'pair')} of flavours an agent is significantly worse "
            f"than the same agent trained in the flavour of evaluation (95 % intervals over runs)."
        )

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
    watcher: Watcher | None = None,
) -> Flavours:
    """Play a plan, then evaluate every agent in all flavours of its game, without further training.

    The plan's games say in which modes and difficulties agents are trained. They are evaluated in those
    and in the plan's `evaluated`, `episodes` per run. The question is that of papers/001, section 5. The
    ledger in the folder resumes, as does that of the evaluations.

    >>> import tempfile
    >>> from examiner.arena.plans import plan_from_toml
    >>> text = 'games = ["freeway"]\\nepisodes = 1\\nevaluated = { difficulties = [0, 1] }\\n'
    >>> text += 'protocol = { max_episode_frames = 50 }\\n[[agents]]\\nentry = "no-op"'
    >>> answer = flavours(plan_from_toml(text), tempfile.mkdtemp(), episodes=1)
    >>> answer.gaps.trained_in, answer.gaps.evaluated_in
    (('0/0',), ('0/1',))
    """
    plan = plan_of_frames(what)
    if episodes < 1:
        raise InputError(f"Cannot judge agents in {episodes} episodes. Give at least 1.")
    jobs, judged = plan.jobs(), _judged(plan)
    _refuse_forgetful(jobs)
    outcome = run(plan, folder, workers=workers, watcher=watcher)
    learnt = _learnt(outcome.ledger, plan, [job for job in jobs if job not in outcome.failures])
    learnt |= {_random_play(job): Learnt(1, 0, None) for job in learnt}
    evaluations = {
        _evaluation(job, flavour, episodes): job for job in learnt for flavour in judged[job.game]
    }
    if not evaluations:
        return Flavours(_table({}), outcome.failed, episodes, None)
    evaluated = run(
        replace(
            plan,
            listed=tuple(evaluations),
            learnt={evaluation: learnt[job] for evaluation, job in evaluations.items()},
        ),
        outcome.ledger.parent / ".judged",  # hidden: a folder of training is read without it
        workers=workers,
        watcher=watcher,
    )
    failed = failed_jobs({**outcome.failures, **evaluated.failures})
    rows = []
    for evaluation, scores in job_scores(evaluated.ledger, evaluations).items():
        job = evaluations[evaluation]
        learner = None if evaluation.agent == RANDOM_PLAY else job.agent
        cell = evaluation.agent, job.game, evaluation.mode, evaluation.difficulty, job.seed
        rows += [
            (*cell, trial, score, learner, job.mode, job.difficulty)
            for trial, score in enumerate(scores)
        ]
    if not rows:
        return Flavours(_table({}), failed, episodes, None)
    results = Results.from_dict(
        dict(zip(_COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
    )
    return replace(gaps(results), failed=failed, episodes=episodes)


def _random_play(job: Job) -> Job:
    return replace(
        job, agent=RANDOM_PLAY, entry="random", settings={}, observation="raw", episodes=1, frames=None,
        mode=None, difficulty=None,
    )  # fmt: skip


def _evaluation(job: Job, flavour: Flavour, episodes: int) -> Job:
    """The job of evaluating what was learnt in another, under a name that says in which flavour."""
    trained = Flavour(job.mode, job.difficulty)
    return replace(
        job,
        agent=RANDOM_PLAY if trained == _UNTRAINED else f"{job.agent} ({trained.short})",
        mode=flavour.mode,
        difficulty=flavour.difficulty,
        protocol=replace(job.protocol, evaluation_episodes=episodes, report_shares=(1.0,)),
    )


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


def _learnt(path: Path, plan: Plan, jobs: Sequence[Job]) -> dict[Job, Learnt]:
    """What each agent has behind it at the end of its job."""
    with Ledger(path, plan=plan.source) as ledger:
        return {
            job: Learnt(
                account.episodes - account.evaluated,
                account.frames,
                ledger.checkpoint_data(account),
            )
            for job, account in zip(
                jobs, ledger.enter([plan.record(job) for job in jobs]), strict=True
            )
        }


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
    return Flavours(_table(scores), failed_jobs({}), None, judged)


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
    there = [scores[key] for key in keys]
    native = [scores.get((agent, game, judged, judged), []) for agent, game, _, judged in keys]
    random = [scores.get((None, game, _UNTRAINED, judged), []) for _, game, _, judged in keys]
    return FlavourGaps(
        agent=[key[0] for key in keys],
        game=[key[1] for key in keys],
        trained_in=[key[2].short for key in keys],
        evaluated_in=[key[3].short for key in keys],
        **interval_columns(
            gap=list(map(difference_of_runs, native, there)),
            score=list(map(mean_of_runs, there)),
            native=list(map(mean_of_runs, native)),
            random=list(map(mean_of_runs, random)),
        ),
        kept=[
            share_kept(difference_of_runs(best, chance), difference_of_runs(here, chance).mean)
            for best, here, chance in zip(native, there, random, strict=True)
        ],
        runs=list(map(len, there)),
        native_runs=list(map(len, native)),
        caption="Evaluated without further training, with 95 % intervals over runs",
    )
