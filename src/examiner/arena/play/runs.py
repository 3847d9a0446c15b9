"""Whole runs: what they come to, alone and several together; their actions recorded and played again."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from examiner.arena.contract import Environment
from examiner.arena.job import Job, environment_of
from examiner.arena.play.episodes import Playing
from examiner.arena.play.means import RunsMean, mean_of_runs
from examiner.arena.protocol import Protocol
from examiner.ledger import Phase, ledger_results
from examiner.messages import InputError, shorten
from examiner.results import Results
from examiner.workers import reason_of

Mapper = Callable[..., list[Any]]
"""Like `map_processes`: takes a function and jobs, returns the answers in their order."""


def in_turn(function: Callable[[Any], Any], jobs: Iterable[Any]) -> list[Any]:  # Any: a mapper's
    """Do one job after the other, here: the mapper where none is given.

    >>> in_turn(str, [1, 2])
    ['1', '2']
    """
    return [function(job) for job in jobs]


@dataclass(frozen=True, slots=True)
class Recorded:
    """A run: its performance, and the last episode that counts for it, action by action.

    `last_start_frames` are those the protocol did nothing in before that episode's first action.
    """

    performance: float
    last_score: float
    last_actions: tuple[int, ...]
    last_start_frames: int = 0


@dataclass(frozen=True, slots=True)
class ReplayTest:
    """Recorded actions played again: how often the score came back exactly, and the mean with ς."""

    replays: int
    reproduced: int
    recorded: RunsMean
    deterministic: RunsMean
    sticky: RunsMean


def reported_phase(protocol: Protocol) -> Phase:
    """Return the phase whose scores the protocol reports: evaluation where there is any.

    >>> from examiner.arena.protocol import protocol as named_protocol
    >>> reported_phase(named_protocol("mnih-2015")), reported_phase(named_protocol("machado-2018"))
    ('evaluation', 'training')
    """
    return "evaluation" if protocol.evaluation_episodes else "training"


def reported_performance(scores: Sequence[float], protocol: Protocol) -> float:
    r"""Return the mean of a run's last scores of the reported phase.

    .. math:: \bar{x} = \frac{1}{w} \sum_{i = n - w + 1}^{n} x_i

    where w is the number of evaluation episodes at a report point, or of the protocol's window
    where there is no evaluation; fewer where the run has fewer.

    >>> reported_performance([9.0, 1.0, 2.0], Protocol(window_episodes=2))
    1.5
    """
    return float(np.mean(scores[-(protocol.evaluation_episodes or protocol.window_episodes) :]))


def job_performances(ledger: Path, jobs: Sequence[Job]) -> dict[Job, float]:
    """Return the reported performance of each job of a ledger; jobs without episodes are left out.

    >>> job_performances(Path("missing.sqlite"), [])
    {}
    """
    if not jobs:
        return {}
    columns = ledger_results(ledger, reported_phase(jobs[0].protocol)).to_dict()
    scores: dict[str, list[float]] = {}
    for key, score in zip(columns["job"], columns["score"], strict=True):
        scores.setdefault(key, []).append(score)
    return {
        job: reported_performance(scores[job.key], job.protocol)
        for job in jobs
        if job.key in scores
    }


def play_recorded(job: Job) -> Recorded:
    """Play a job to its end, and keep the actions of its last episode of the reported phase.

    >>> from examiner.arena.protocol import protocol as named_protocol
    >>> quick = named_protocol("gymnasium", max_episode_frames=5)
    >>> job = Job("r", "random", environment="gymnasium", game="CartPole-v1", protocol=quick, episodes=1)
    >>> len(play_recorded(job).last_actions)
    5
    """
    if job.protocol.starts:
        raise InputError(
            "A replay cannot repeat where a recorded start ended. Probe the agent with starts = []."
        )
    recorder: Any = _Recorder(environment_of(job))  # Any: the rest of it is the environment's
    playing = Playing(job, recorder)
    scores: list[float] = []
    actions: tuple[int, ...] = ()
    start_frames = 0
    for episode in playing:
        if episode.phase == reported_phase(job.protocol):
            scores.append(episode.score)
            actions, start_frames = tuple(recorder.actions), recorder.start_frames
    performance = reported_performance(scores, job.protocol)
    return Recorded(performance, scores[-1], actions, start_frames)


def replay_job(recorded: Recorded, job: Job, *, seed: int, sticky_probability: float) -> Job:
    """Return the job that plays the recorded actions, whatever is seen, once; see `play_replay`.

    A game that lasts longer than it did is played on with the actions from their beginning.

    >>> job = Job("uct", "uct", game="pong", episodes=1)
    >>> replay_job(Recorded(1.0, 1.0, (0, 2)), job, seed=3, sticky_probability=0.0).settings
    {'actions': [0, 2]}
    """
    protocol = replace(
        job.protocol,
        sticky_probability=sticky_probability,
        max_start_no_ops=recorded.last_start_frames,
        evaluation_episodes=0,
        name="",
        source="",
    )
    return replace(
        job,
        agent="replay",
        entry="periodic",
        # An episode that ended before its first action leaves nothing to repeat.
        settings={"actions": list(recorded.last_actions) or [0]},
        seed=seed,
        protocol=protocol,
        episodes=1,
        frames=None,
    )


def play_replay(job: Job) -> float:
    """Return the score of a replay that starts after all of its protocol's frames of doing nothing.

    >>> job = Job("uct", "uct", game="pong", episodes=1, protocol=Protocol(max_episode_frames=50))
    >>> play_replay(replay_job(Recorded(0.0, 0.0, (0,), 7), job, seed=3, sticky_probability=0.0))
    0.0
    """
    start: Any = _LongestStart(environment_of(job), job.protocol.max_start_no_ops)  # as above
    return next(Playing(job, start)).score


def replay_test(
    recorded: Sequence[Recorded], job: Job, sticky_probability: float, replays: int, use: Mapper
) -> ReplayTest:
    """Replay recordings several times without and with sticky actions, and hold the scores against them.

    Each recording's replays are averaged first: recordings are the runs.

    >>> job = Job("r", "random", environment="gymnasium", game="CartPole-v1", episodes=1)
    >>> in_turn = lambda play, jobs: [play(one) for one in jobs]
    >>> replay_test([play_recorded(job)], job, 0.25, replays=2, use=in_turn).replays
    2
    """
    # No seed twice: equal recordings with equal seeds would be one replay counted as several.
    jobs = [
        replay_job(run, job, seed=job.seed + index * replays + number, sticky_probability=chance)
        for chance in (0.0, sticky_probability)
        for index, run in enumerate(recorded)
        for number in range(replays)
    ]
    scores = np.array(use(play_replay, jobs))
    plain, noisy = scores.reshape(2, len(recorded), replays)
    wanted = np.array([run.last_score for run in recorded])
    return ReplayTest(
        replays=plain.size,
        reproduced=int((plain == wanted[:, None]).sum()),
        recorded=mean_of_runs(wanted.tolist()),
        deterministic=mean_of_runs(plain.mean(axis=1).tolist()),
        sticky=mean_of_runs(noisy.mean(axis=1).tolist()),
    )


def results_of(job: Job, measure: str = "score") -> Results:
    """Play a job here: its episodes of evaluation, or those of training where there are none.

    What the agent prints goes to standard error.

    >>> job = Job("r", "random", environment="gymnasium", game="CartPole-v1", episodes=2)
    >>> len(results_of(job))
    2
    """
    try:
        with redirect_stdout(sys.stderr):
            episodes = list(Playing.begin(job))
    except (InputError, KeyboardInterrupt):
        raise
    except BaseException as problem:  # an agent may call sys.exit: no answer of ours
        raise InputError(
            f"The agent {shorten(job.agent)} failed on {shorten(job.game)}: {reason_of(problem)}. "
            f"Correct the agent."
        ) from problem
    evaluated = [episode.score for episode in episodes if episode.phase == "evaluation"]
    scores = evaluated or [episode.score for episode in episodes]
    table: dict[str, list[Any]] = {  # Any: names, numbers
        "agent": [job.agent] * len(scores),
        "task": [job.game] * len(scores),
        "run": [job.seed] * len(scores),
        "trial": list(range(len(scores))),
        measure: scores,
    }
    return Results.from_dict(table)


class _Around:
    """An environment with something else at its start."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def __getattr__(self, name: str) -> Any:
        return getattr(self._environment, name)


class _Recorder(_Around):
    """Notes how an episode started, and the actions once the arena has found them valid."""

    def reset(self, rng: np.random.Generator) -> None:
        self._environment.reset(rng)
        self.start_frames, self.actions = self._environment.frames, list[int]()

    def step(self, action: int) -> float:
        self.actions.append(action)
        return self._environment.step(action)


class _LongestStart(_Around):
    """Draws an episode's start until it is as long as starts can be."""

    def __init__(self, environment: Environment, frames: int) -> None:
        super().__init__(environment)
        self._frames = frames

    def reset(self, rng: np.random.Generator) -> None:
        self._environment.reset(rng)
        while self._environment.frames < self._frames:
            self._environment.reset(rng)
