"""What sticky actions cost an agent, and whether its score is an open-loop sequence of actions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, overload

from examiner.answers import Answer, Scalar, Table, bound, name, number
from examiner.arena.agents import AGENTS
from examiner.arena.contract import make_agent
from examiner.arena.job import Job, check_job, environment_of
from examiner.arena.plan import Plan
from examiner.arena.plans import plan_of_frames
from examiner.arena.play.means import (
    ProbedPlan,
    RunsMean,
    StickyContrasts,
    Variant,
    contrast_of,
    contrast_table,
    difference_of_runs,
    equal_runs_note,
    interval_columns,
    share_kept,
)
from examiner.arena.play.runner import FailedJob, Watcher, run
from examiner.arena.play.runs import (
    Mapper,
    Recorded,
    ReplayTest,
    in_turn,
    job_performances,
    play_recorded,
    replay_test,
)
from examiner.arena.protocol import PROTOCOLS, Protocol
from examiner.messages import InputError, shorten
from examiner.validation import Floats

RANDOM_EPISODES = 10
"""Episodes of the random agent for each seed: one is too noisy, and they cost little."""
RANDOM_PLAY = "random play"
"""The row of the random agent."""


class ReplayedScores(Table):
    """Scores of the last episode of each run, and of its recorded actions played again."""

    play: tuple[str, ...] = name("What was played")
    score: Floats = number("Mean score over runs", unit="score")
    score_low: Floats = bound("score", "low")
    score_high: Floats = bound("score", "high")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Probe(Answer):
    """What an agent loses on a game when sticky actions make it stochastic.

    `scores` has a row for the agent and one for random play. `advantage` is that over random play without
    sticky actions. `kept` is the share of it that is left with them; NaN where the agent is not
    significantly better than random play. `reproduced` of `replays` gave exactly the recorded score
    without sticky actions; `replayed` has the mean scores. `settings` say how it was played.
    """

    kind = "probe"

    agent: str
    game: str
    sticky_probability: float
    scores: StickyContrasts
    advantage: RunsMean
    kept: float
    replays: int
    reproduced: int
    replayed: ReplayedScores
    played: Mapping[str, Any]  # Any: JSON values
    notes: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """Which share of the advantage over random play is left, if there is an advantage."""
        if math.isnan(self.kept):
            return (
                f"{self.agent} is not significantly better than random play on {self.game} without "
                f"sticky actions, so the share that it keeps with them is not known."
            )
        return (
            f"{self.agent} keeps {100 * self.kept:.0f} % of its advantage over random play on "
            f"{self.game} with sticky actions (ς = {self.sticky_probability:g})."
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """The scores without and with sticky actions, and those of replays."""
        return {"scores": self.scores, "replayed": self.replayed}

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """The advantage over random play, the share of it that is left, and counts of replays."""
        advantage = {
            part: values[0]
            for part, values in interval_columns("advantage", [self.advantage]).items()
        }
        return {
            "agent": Scalar(self.agent, "Agent"),
            "game": Scalar(self.game, "Game"),
            "advantage": Scalar(
                advantage["advantage"], "Score above random play without sticky actions", "score"
            ),
            "advantage_low": Scalar(
                advantage["advantage_low"], "95 % interval of the advantage", "score"
            ),
            "advantage_high": Scalar(
                advantage["advantage_high"], "95 % interval of the advantage", "score"
            ),
            "kept": Scalar(self.kept, "Share of the advantage that is left with sticky actions"),
            "replays": Scalar(self.replays, "Replays of recorded actions without sticky actions"),
            "reproduced": Scalar(self.reproduced, "Replays with exactly the recorded score"),
        }

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """The probability of sticky actions, the protocol, and the length and number of runs."""
        return {"sticky_probability": self.sticky_probability, **self.played, "resampled": "runs"}


@overload
def probe(
    what: Job,
    *,
    sticky_probability: float = ...,
    seeds: int = ...,
    replays: int = ...,
    map: Mapper | None = ...,
) -> Probe: ...


@overload
def probe(
    what: Plan | str | Path,
    folder: str | Path,
    *,
    sticky_probability: float = ...,
    workers: int = ...,
    watcher: Watcher | None = ...,
) -> ProbedPlan: ...


def probe(
    what: Job | Plan | str | Path,
    folder: str | Path | None = None,
    *,
    sticky_probability: float = 0.25,
    seeds: int = 5,
    replays: int = 2,
    map: Mapper | None = None,
    workers: int = 1,
    watcher: Watcher | None = None,
) -> Probe | ProbedPlan:
    """Play without and with sticky actions, and compare the scores: one job in depth, or a whole plan.

    A job is played on several `seeds`. Runs without sticky actions are recorded; the actions of each run's
    last episode are replayed `replays` times without observations, without and with sticky actions, with
    other random numbers but the same number of no-op frames at the start. A learner's performance is what
    the protocol reports, its last evaluation if there is one; agents that do not learn are not evaluated
    separately. `map` is like `workers.map_processes`.

    A plan (or its file, or its name) is played on `workers` processes into two ledgers of the `folder`,
    which resume. The table is that of papers/001, Table 1: for each agent and game the mean over seeds of
    the mean score of the last episodes. Each mode and difficulty has its own row. Failed jobs are
    excluded with all their scores.

    >>> job = Job("random", "random", environment="gymnasium", game="CartPole-v1", episodes=1)
    >>> answer = probe(job, seeds=2)
    >>> answer["random play"].sticky_runs, answer.replays
    (2, 4)
    >>> import tempfile
    >>> from examiner.arena.plans import plan_from_toml
    >>> text = 'environment = "gymnasium"\\ngames = ["CartPole-v1"]\\nseeds = 2\\nepisodes = 1\\n'
    >>> answer = probe(plan_from_toml(text + '[[agents]]\\nentry = "random"'), tempfile.mkdtemp())
    >>> answer.contrasts["random", "CartPole-v1"].sticky_runs, len(answer.failed)
    (2, 0)
    """
    if isinstance(what, Job):
        return _probe_job(what, sticky_probability, seeds, replays, map or in_turn)
    if folder is None:
        raise InputError(
            "A plan is probed into two ledgers. Say in which folder: probe(plan, folder)."
        )
    planned = what if isinstance(what, Plan) else plan_of_frames(what)
    return _probe_plan(planned, Path(folder), sticky_probability, workers, watcher)


def _probe_job(job: Job, sticky_probability: float, seeds: int, replays: int, use: Mapper) -> Probe:
    if seeds < 1 or replays < 1:
        raise InputError(f"Cannot probe with {seeds} seeds and {replays} replays. Give at least 1.")
    job = _ready(job)
    check_job(job)
    _refuse_without_list_of_actions(job)
    plain, noisy = (
        replace(job, protocol=_changed(job.protocol, sticky_probability=chance))
        for chance in (0.0, sticky_probability)
    )
    kinds = [
        [replace(kind, seed=job.seed + seed) for seed in range(seeds)]
        for kind in (plain, noisy, _random_play(plain), _random_play(noisy))
    ]
    runs: list[Recorded] = use(play_recorded, [run for kind in kinds for run in kind])
    by_kind = [runs[start : start + seeds] for start in range(0, len(runs), seeds)]
    scores = [[run.performance for run in kind] for kind in by_kind]
    contrast, random = contrast_of(*scores[:2]), contrast_of(*scores[2:])
    advantage = difference_of_runs(scores[0], scores[2])
    replay = replay_test(by_kind[0], plain, sticky_probability, replays, use)
    flavour = job.mode, job.difficulty
    return Probe(
        agent=job.agent,
        game=job.game,
        sticky_probability=sticky_probability,
        scores=contrast_table(
            {(job.agent, job.game, *flavour): contrast, (RANDOM_PLAY, job.game, *flavour): random}
        ),
        advantage=advantage,
        kept=share_kept(advantage, contrast.sticky.mean - random.sticky.mean),
        replays=replay.replays,
        reproduced=replay.reproduced,
        replayed=_replayed(replay),
        played={
            "seed": job.seed,
            "seeds": seeds,
            "frames": job.frames,
            "episodes": job.episodes,
            "random_episodes": RANDOM_EPISODES,
            "protocol": job.protocol.name,
        },
        notes=equal_runs_note([contrast, random]),
    )


def _replayed(replay: ReplayTest) -> ReplayedScores:
    plays = {
        "recorded episodes": replay.recorded,
        "replays without sticky actions": replay.deterministic,
        "replays with sticky actions": replay.sticky,
    }
    return ReplayedScores(play=list(plays), **interval_columns("score", list(plays.values())))


def _probe_plan(
    plan: Plan, folder: Path, sticky_probability: float, workers: int, watcher: Watcher | None
) -> ProbedPlan:
    failures: list[FailedJob] = []
    kinds = []
    for subfolder, chance in (("deterministic", 0.0), ("sticky", sticky_probability)):
        played = replace(plan, protocol=_changed(plan.protocol, sticky_probability=chance))
        outcome = run(played, folder / subfolder, workers=workers, watcher=watcher)
        failures += outcome.failures
        excluded = {failure.job for failure in outcome.failures}
        completed = [job for job in played.jobs() if job not in excluded]
        kinds.append(_performances(outcome.ledger, completed))
    contrasts = {
        variant: contrast_of(*(kind.get(variant, []) for kind in kinds))
        for variant in dict.fromkeys(map(_variant, plan.jobs()))
    }
    return ProbedPlan(
        contrast_table(contrasts),
        tuple(failures),
        sticky_probability,
        notes=equal_runs_note(list(contrasts.values())),
    )


def _variant(job: Job) -> Variant:
    return job.agent, job.game, job.mode, job.difficulty


def _ready(job: Job) -> Job:
    """Complete a job: a learner must be told how long it may learn, others play one episode or more.

    Only what learns is evaluated apart from training: for others both are the same play.
    """
    has_length = bool(job.episodes or job.frames)
    agent = make_agent(job.entry, job.settings, AGENTS)
    if not callable(getattr(agent, "learn", None)):
        return _unevaluated(job if has_length else replace(job, episodes=1))
    if not has_length:
        raise InputError(
            f"The agent {shorten(job.agent)} learns. Say for how many frames it may, for example "
            f"200,000."
        )
    return job


def _unevaluated(job: Job) -> Job:
    return replace(job, protocol=_changed(job.protocol, evaluation_episodes=0))


def _random_play(job: Job) -> Job:
    """The job of the random agent that an agent's job is compared with."""
    return replace(
        _unevaluated(job),
        agent="random",
        entry="random",
        settings={},
        observation="raw",
        episodes=RANDOM_EPISODES,
        frames=None,
    )


def _refuse_without_list_of_actions(job: Job) -> None:
    if not environment_of(job).action_names:
        raise InputError(
            f"Cannot probe an agent on {shorten(job.game)}: it has no list of actions from which those "
            f"played could be recorded and replayed. Choose a game with discrete actions."
        )


def _changed(protocol: Protocol, **changes: float) -> Protocol:
    """The protocol with changes, under the name of a preset if it is one."""
    changed = replace(protocol, **changes)  # type: ignore[arg-type]
    preset = next((preset for preset in PROTOCOLS.values() if preset == changed), None)
    return preset or replace(changed, name=f"{protocol.name.removesuffix(', changed')}, changed")


def _performances(ledger: Path, jobs: Sequence[Job]) -> dict[Variant, list[float]]:
    """For each agent and variant, the performance of every run of the completed jobs."""
    performances: dict[Variant, list[float]] = {}
    for job, performance in job_performances(ledger, jobs).items():
        performances.setdefault(_variant(job), []).append(performance)
    return performances
