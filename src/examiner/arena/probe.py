"""What sticky actions cost an agent, and whether its score is a sequence of actions learnt by heart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from examiner.arena.agent import make_agent
from examiner.arena.agents import AGENTS
from examiner.arena.export import results_of
from examiner.arena.intervals import Estimate, difference_of_runs, mean_of_runs
from examiner.arena.job import Job
from examiner.arena.plan import Plan
from examiner.arena.play import check_job
from examiner.arena.protocol import PROTOCOLS, Protocol
from examiner.arena.replay import Recorded, play_recorded, replay_job
from examiner.arena.runner import FailedJob, run_plan
from examiner.arena.standing import Watcher
from examiner.results.checks import InputError, shorten

Mapper = Callable[..., list[Any]]
"""Like `map_processes`: takes a function and jobs, returns the answers in their order."""

RANDOM_EPISODES = 10
"""Episodes of the random agent for each seed: one tells little, and they cost nothing."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """Scores without and with sticky actions: means over runs, with intervals."""

    deterministic: Estimate
    sticky: Estimate
    loss: Estimate


@dataclass(frozen=True, slots=True)
class ReplayTest:
    """Recorded actions played again: how often the score came back exactly, and the mean with ς."""

    replays: int
    reproduced: int
    recorded: Estimate
    deterministic: Estimate
    sticky: Estimate


@dataclass(frozen=True, slots=True)
class Probe:
    """How much an agent on a game owes to determinism.

    `kept` is the share of the advantage over random play that is left with sticky actions; NaN where
    there was no advantage.
    """

    agent: str
    game: str
    sticky_probability: float
    seeds: int
    contrast: Contrast
    random: Contrast
    kept: float
    replay: ReplayTest


@dataclass(frozen=True, slots=True)
class ProbedPlan:
    """Scores without and with sticky actions of every agent and game of a plan."""

    contrasts: dict[tuple[str, str], Contrast]
    failed: tuple[FailedJob, ...]


def probe_agent(
    job: Job,
    *,
    seeds: int = 5,
    sticky_probability: float = 0.25,
    replays: int = 2,
    map: Mapper | None = None,
) -> Probe:
    """Play a job without and with sticky actions on several seeds, and replay what was recorded.

    Runs without sticky actions are recorded; the actions of each run's last episode are played again
    `replays` times without looking, without and with sticky actions, with other random numbers. `map`
    is like `workers.map_processes`.

    >>> job = Job("random", "random", environment="gymnasium", game="CartPole-v1", episodes=1)
    >>> found = probe_agent(job, seeds=2)
    >>> found.contrast.sticky.runs, found.replay.replays
    (2, 4)
    """
    if seeds < 1 or replays < 1:
        raise InputError(f"Cannot probe with {seeds} seeds and {replays} replays. Give at least 1.")
    job = _with_length(job)
    check_job(job)
    plain, noisy = (_stuck(job, chance) for chance in (0.0, sticky_probability))
    use: Mapper = map or _in_turn
    randoms = [
        replace(one, agent="random", entry="random", settings={}, observation="raw")
        for one in (plain, noisy)
    ]
    randoms = [replace(one, episodes=RANDOM_EPISODES, frames=None) for one in randoms]
    kinds = [
        [replace(one, seed=job.seed + seed) for seed in range(seeds)]
        for one in (plain, noisy, *randoms)
    ]
    runs: list[Recorded] = use(play_recorded, [one for kind in kinds for one in kind])
    by_kind = [runs[start : start + seeds] for start in range(0, len(runs), seeds)]
    scores = [[run.performance for run in kind] for kind in by_kind]
    contrast, random = _contrast(*scores[:2]), _contrast(*scores[2:])
    advantage = contrast.deterministic.mean - random.deterministic.mean
    left = contrast.sticky.mean - random.sticky.mean
    return Probe(
        agent=job.agent,
        game=job.game,
        sticky_probability=sticky_probability,
        seeds=seeds,
        contrast=contrast,
        random=random,
        kept=left / advantage if advantage > 0 else float("nan"),
        replay=_replay_test(by_kind[0], plain, sticky_probability, replays, use),
    )


def probe_plan(
    plan: Plan,
    folder: str | Path,
    *,
    sticky_probability: float = 0.25,
    workers: int = 1,
    watcher: Watcher | None = None,
) -> ProbedPlan:
    """Play a plan twice, without and with sticky actions, into two ledgers of a folder that resume.

    The table is that of papers/001, Table 1: for each agent and game the mean over seeds of the mean
    score of the last episodes.

    >>> import tempfile
    >>> from examiner.arena.plan_file import plan_from_toml
    >>> text = 'environment = "gymnasium"\\ngames = ["CartPole-v1"]\\nseeds = 2\\nepisodes = 1\\n'
    >>> plan = plan_from_toml(text + '[[agents]]\\nentry = "random"')
    >>> found = probe_plan(plan, tempfile.mkdtemp())
    >>> found.contrasts["random", "CartPole-v1"].sticky.runs
    2
    """
    failed: list[FailedJob] = []
    runs = []
    for name, chance in (("deterministic", 0.0), ("sticky", sticky_probability)):
        played = replace(plan, protocol=_protocol(plan.protocol, chance))
        ledger = Path(folder) / name / "ledger.sqlite"
        outcome = run_plan(played, ledger, workers=workers, watcher=watcher)
        failed += outcome.failed
        runs.append(_performances(ledger, plan.protocol.window_episodes))
    pairs = list(dict.fromkeys((job.agent, job.game) for job in plan.jobs()))
    return ProbedPlan(
        {pair: _contrast(*(kind.get(pair, []) for kind in runs)) for pair in pairs}, tuple(failed)
    )


def _with_length(job: Job) -> Job:
    """A job of one episode where none is said; a learner must be told how long it may learn."""
    if job.episodes or job.frames:
        return job
    agent = make_agent(job.entry, job.settings, AGENTS)
    if callable(getattr(agent, "learn", None)):
        raise InputError(
            f"The agent {shorten(job.agent)} learns. Say for how many frames it may, for example "
            f"200,000."
        )
    return replace(job, episodes=1)


def _stuck(job: Job, sticky_probability: float) -> Job:
    return replace(job, protocol=_protocol(job.protocol, sticky_probability))


def _protocol(protocol: Protocol, sticky_probability: float) -> Protocol:
    """The protocol with another ς, under the name of a preset if it is one."""
    changed = replace(protocol, sticky_probability=sticky_probability)
    preset = next((one for one in PROTOCOLS.values() if one == changed), None)
    return preset or replace(changed, name=f"{protocol.name.removesuffix(', changed')}, changed")


def _contrast(deterministic: Sequence[float], sticky: Sequence[float]) -> Contrast:
    return Contrast(
        mean_of_runs(deterministic),
        mean_of_runs(sticky),
        difference_of_runs(deterministic, sticky),
    )


def _replay_test(
    recorded: Sequence[Recorded], job: Job, sticky_probability: float, replays: int, use: Mapper
) -> ReplayTest:
    """Each recording's replays are averaged first: recordings are the runs."""
    # No seed twice: equal recordings with equal seeds would be one replay counted as several.
    jobs = [
        replay_job(one, job, seed=job.seed + place * replays + number, sticky_probability=chance)
        for chance in (0.0, sticky_probability)
        for place, one in enumerate(recorded)
        for number in range(replays)
    ]
    scores = np.array([one.last_score for one in use(play_recorded, jobs)])
    plain, noisy = scores.reshape(2, len(recorded), replays)
    wanted = np.array([one.last_score for one in recorded])
    return ReplayTest(
        replays=plain.size,
        reproduced=int((plain == wanted[:, None]).sum()),
        recorded=mean_of_runs(wanted.tolist()),
        deterministic=mean_of_runs(plain.mean(axis=1).tolist()),
        sticky=mean_of_runs(noisy.mean(axis=1).tolist()),
    )


def _performances(ledger: Path, window: int) -> dict[tuple[str, str], list[float]]:
    """For each agent and game, every run's mean over its last episodes."""
    try:
        results = results_of(ledger)
    except InputError as problem:
        if "holds no" in str(problem):
            return {}
        raise
    columns = results.to_dict()
    scores: dict[tuple[str, str, int], list[float]] = {}
    for agent, game, run, score in zip(
        columns["agent"], columns["task"], columns["run"], columns["score"], strict=True
    ):
        scores.setdefault((agent, game, run), []).append(score)
    found: dict[tuple[str, str], list[float]] = {}
    for (agent, game, _), values in scores.items():
        found.setdefault((agent, game), []).append(float(np.mean(values[-window:])))
    return found


def _in_turn(function: Callable[[Job], Any], jobs: Iterable[Job]) -> list[Any]:
    return [function(job) for job in jobs]
