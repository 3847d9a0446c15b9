"""Flavours: what an agent that learnt in one mode and difficulty of a game does in others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from examiner.arena.agents import AGENTS
from examiner.arena.contract import make_agent
from examiner.arena.job import Job, Plan
from examiner.arena.plans import plan_of_frames
from examiner.arena.play.judging import EvaluationJob, Flavour, TrainingState, judge
from examiner.arena.play.means import (
    RunsMean,
    difference_of_runs,
    mean_of_runs,
    means_of_runs,
    share_kept,
)
from examiner.arena.play.runner import FailedJob, Watcher, run
from examiner.arena.play.runs import Mapper, in_turn
from examiner.ledger import Ledger
from examiner.messages import InputError, counted, listed, shorten
from examiner.results import Results
from examiner.results.display import html_table

RANDOM_PLAY = "random play"
"""The agent that learnt nowhere. Those that did have their flavour in their name."""


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
    """The gaps of a plan, one for each agent, game, flavour learnt in and flavour judged in.

    `judged` has every episode they are made of, as `gaps` takes them; none where no job was done.
    """

    gaps: tuple[Gap, ...]
    failed: tuple[FailedJob, ...]
    episodes: int
    judged: Results | None = None

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
    `evaluated`, are judged in, for so many episodes a run. The ledger in the folder resumes, and what
    was judged is kept beside it. The question is that of papers/001, section 5. `map` is like
    `workers.map_processes`.

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
    kept = outcome.ledger.parent / "judged"
    try:
        kept.mkdir(exist_ok=True)
    except OSError as problem:
        raise InputError(
            f"Cannot keep what is judged in {shorten(kept, 200)}: {problem.strerror}. Move it away."
        ) from None
    where = str(plan.folder or ""), str(kept)
    asked = [
        EvaluationJob(job, learnt.get(job.key, TrainingState()), flavour, episodes, *where)
        for job in (*done, *randoms)
        for flavour in judged[job.game]
    ]
    told = _results(asked, (map or in_turn)(judge, asked)) if asked else None
    return Flavours(gaps(told) if told else (), outcome.failed, episodes, told)


def _random_play(job: Job) -> Job:
    return replace(
        job, agent=RANDOM_PLAY, entry="random", settings={}, observation="raw", episodes=1, frames=None,
        mode=None, difficulty=None,
    )  # fmt: skip


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


def _learnt(path: Path, plan: Plan, jobs: Sequence[Job]) -> Mapping[str, TrainingState]:
    """What each agent has behind it at its job's end, by the key of the job."""
    with Ledger(path, plan=plan.source) as ledger:
        accounts = ledger.enter([job.record(plan.split(job.game)) for job in jobs])
        return {
            account.record.key: TrainingState(
                account.episodes - account.evaluated,
                account.frames,
                ledger.checkpoint_data(account),
            )
            for account in accounts
        }


def _results(asked: Sequence[EvaluationJob], scores: Sequence[Sequence[float]]) -> Results:
    """Every judged episode: agents by where they learnt, games by where they were judged."""
    rows = []
    for one, played in zip(asked, scores, strict=True):
        job, learnt = one.job, Flavour(one.job.mode, one.job.difficulty)
        learner = None if job.agent == RANDOM_PLAY and learnt == _NOWHERE else job.agent
        agent = RANDOM_PLAY if learner is None else f"{job.agent} ({learnt.short})"
        rows += [
            (agent, job.game, *one.judged, job.seed, trial, score, learner, *learnt)
            for trial, score in enumerate(played)
        ]
    return Results.from_dict(dict(zip(_COLUMNS, map(list, zip(*rows, strict=True)), strict=True)))


_NOWHERE = Flavour(None, None)
_LEARNER = ("learner", "learnt_mode", "learnt_difficulty")
_COLUMNS = ("agent", "task", "mode", "difficulty", "run", "trial", "score", *_LEARNER)


def gaps(judged: Results) -> tuple[Gap, ...]:
    """Return the gaps of agents that were judged in several flavours of a game.

    Beside mode and difficulty, in which they were judged, results have the columns `learner`,
    `learnt_mode` and `learnt_difficulty`: agents of one learner differ in where they learnt. Random
    play has no learner.

    >>> table = {"agent": ["a (0/0)", "a (1/0)"], "task": ["t", "t"], "mode": [1, 1],
    ...          "difficulty": [0, 0], "score": [2.0, 5.0], "learner": ["a", "a"],
    ...          "learnt_mode": [0, 1], "learnt_difficulty": [0, 0]}
    >>> [(gap.learnt.mode, gap.judged.mode, gap.gap.mean) for gap in gaps(Results.from_dict(table))]
    [(0, 1, 3.0)]
    """
    columns = judged.to_dict()
    missing = [name for name in (*_LEARNER, "mode", "difficulty") if name not in columns]
    if missing:
        raise InputError(
            f"The results have no column {listed(missing)}. Give what `examiner arena flavours` judged."
        )
    origins = _origins(columns)
    scores: dict[tuple[str | None, str, Flavour, Flavour], list[float]] = {}
    for (agent, game, *flavour), runs in means_of_runs(judged).items():
        learner, *learnt = origins[agent]
        key = learner, game, Flavour(*learnt), Flavour(*flavour)
        if key in scores:
            raise InputError(
                f"Two agents are the learner {shorten(str(learner))} that learnt in {key[2]}, "
                f"{shorten(agent)} among them. Keep one of them."
            )
        scores[key] = list(runs.values())
    return tuple(
        _gap(scores, key, here)
        for key, here in scores.items()
        if key[0] is not None and key[2] != key[3]
    )


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


def _gap(
    scores: Mapping[tuple[str | None, str, Flavour, Flavour], list[float]],
    key: tuple[str | None, str, Flavour, Flavour],
    here: list[float],
) -> Gap:
    agent, game, learnt, judged = key
    native = scores.get((agent, game, judged, judged), [])
    random = scores.get((None, game, _NOWHERE, judged), [])
    advantage = difference_of_runs(native, random)
    left = mean_of_runs(here).mean - mean_of_runs(random).mean
    return Gap(
        agent or RANDOM_PLAY,
        game,
        learnt,
        judged,
        mean_of_runs(here),
        mean_of_runs(native),
        difference_of_runs(native, here),
        mean_of_runs(random),
        share_kept(advantage, left),
    )
