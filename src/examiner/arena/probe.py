"""What sticky actions cost an agent, and whether its score is a sequence of actions learnt by heart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import overload

from examiner.arena.agents import AGENTS
from examiner.arena.contract import make_agent
from examiner.arena.contrast import Contrast, ProbedPlan, ProbedVariant, contrast_of
from examiner.arena.job import Job, Plan, check_job, environment_of
from examiner.arena.plans import plan_of_frames
from examiner.arena.play.means import RunsMean, difference_of_runs, share_kept
from examiner.arena.play.runner import FailedJob, Watcher, run
from examiner.arena.play.runs import (
    Mapper,
    Recorded,
    ReplayTest,
    in_turn,
    play_recorded,
    replay_test,
    reported_performance,
    reported_phase,
)
from examiner.arena.protocol import PROTOCOLS, Protocol
from examiner.ledger import ledger_results
from examiner.messages import InputError, counted, shorten

RANDOM_EPISODES = 10
"""Episodes of the random agent for each seed: one tells little, and they cost nothing."""


@dataclass(frozen=True, slots=True, repr=False)
class Probe:
    """How much an agent on a game owes to determinism.

    `advantage` is that over random play without sticky actions. `kept` is the share of it that is left
    with them; NaN where the advantage is not clear: where its interval does not lie above 0.
    """

    agent: str
    game: str
    sticky_probability: float
    seeds: int
    contrast: Contrast
    random: Contrast
    advantage: RunsMean
    kept: float
    replay: ReplayTest

    def __repr__(self) -> str:
        means = self.contrast.deterministic.mean, self.contrast.sticky.mean
        return (
            f"Probe({self.agent} on {self.game}: {means[0]:.4g} without and {means[1]:.4g} with sticky "
            f"actions, {counted(self.seeds, 'run')} each)"
        )


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
    """Play without and with sticky actions, and say what they cost: one job in depth, or a whole plan.

    A job is played on several `seeds`. Runs without sticky actions are recorded; the actions of each run's
    last episode are played again `replays` times without looking, without and with sticky actions, with
    other random numbers but as many frames of doing nothing at the start. A learner's performance is what
    the protocol reports, its last evaluation if there is one; agents that do not learn are not evaluated
    apart. `map` is like `workers.map_processes`.

    A plan (or its file, or its name) is played on `workers` processes into two ledgers of the `folder`,
    which resume. The table is that of papers/001, Table 1: for each agent and game the mean over seeds of
    the mean score of the last episodes. Each mode and difficulty is a row of its own. Jobs that failed are
    no runs: the scores before they did are left out.

    >>> job = Job("random", "random", environment="gymnasium", game="CartPole-v1", episodes=1)
    >>> found = probe(job, seeds=2)
    >>> found.contrast.sticky.runs, found.replay.replays
    (2, 4)
    >>> import tempfile
    >>> from examiner.arena.plans import plan_from_toml
    >>> text = 'environment = "gymnasium"\\ngames = ["CartPole-v1"]\\nseeds = 2\\nepisodes = 1\\n'
    >>> found = probe(plan_from_toml(text + '[[agents]]\\nentry = "random"'), tempfile.mkdtemp())
    >>> found
    ProbedPlan(1 contrast, 0 failed jobs)
    >>> found.contrasts["random", "CartPole-v1", None, None].sticky.runs
    2
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
    return Probe(
        agent=job.agent,
        game=job.game,
        sticky_probability=sticky_probability,
        seeds=seeds,
        contrast=contrast,
        random=random,
        advantage=advantage,
        kept=share_kept(advantage, contrast.sticky.mean - random.sticky.mean),
        replay=replay_test(by_kind[0], plain, sticky_probability, replays, use),
    )


def _probe_plan(
    plan: Plan, folder: Path, sticky_probability: float, workers: int, watcher: Watcher | None
) -> ProbedPlan:
    failed: list[FailedJob] = []
    kinds = []
    for name, chance in (("deterministic", 0.0), ("sticky", sticky_probability)):
        played = replace(plan, protocol=_changed(plan.protocol, sticky_probability=chance))
        outcome = run(played, folder / name, workers=workers, watcher=watcher)
        failed += outcome.failed
        without = {failure.job for failure in outcome.failed}
        done = [job for job in played.jobs() if job not in without]
        kinds.append(_performances(outcome.ledger, done))
    variants = dict.fromkeys(ProbedVariant.of_job(job) for job in plan.jobs())
    return ProbedPlan(
        {variant: contrast_of(*(kind.get(variant, []) for kind in kinds)) for variant in variants},
        tuple(failed),
    )


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
    """The job of the random agent that an agent's job is held against."""
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
    preset = next((known for known in PROTOCOLS.values() if known == changed), None)
    return preset or replace(changed, name=f"{protocol.name.removesuffix(', changed')}, changed")


def _performances(ledger: Path, jobs: Sequence[Job]) -> dict[ProbedVariant, list[float]]:
    """For each agent and variant, the performance of every run; `jobs` are those that are done."""
    if not jobs:
        return {}
    columns = ledger_results(ledger, reported_phase(jobs[0].protocol)).to_dict()
    scores: dict[str, list[float]] = {}
    for key, score in zip(columns["job"], columns["score"], strict=True):
        scores.setdefault(key, []).append(score)
    found: dict[ProbedVariant, list[float]] = {}
    for job in jobs:
        performance = reported_performance(scores[job.key], job.protocol)
        found.setdefault(ProbedVariant.of_job(job), []).append(performance)
    return found
