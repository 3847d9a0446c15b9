"""What sticky actions cost an agent on a game, and whether its score is a memorised sequence of actions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from examiner.answers import Answer, Table, bound, name, number, scalar
from examiner.arena.agents import AGENTS
from examiner.arena.contract import Environment, make_agent
from examiner.arena.contrasts import StickyContrasts, contrast_table, equal_runs_note
from examiner.arena.episodes import Playing
from examiner.arena.job import Job, check_job, environment_of
from examiner.arena.means import (
    difference_of_runs,
    interval_columns,
    mean_of_runs,
    reported_performance,
    share_kept,
)
from examiner.messages import InputError, shorten
from examiner.validation import Floats

Mapper = Callable[..., list[Any]]
"""Like `map_processes`: takes a function and jobs, returns the answers in their order."""


def in_turn(function: Callable[[Any], Any], jobs: Iterable[Any]) -> list[Any]:  # Any: a mapper's
    """Do one job after the other, here: the mapper where none is given.

    >>> in_turn(str, [1, 2])
    ['1', '2']
    """
    return [function(job) for job in jobs]


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

    scores: StickyContrasts
    replayed: ReplayedScores
    agent: str = field(metadata=scalar("Agent"))
    game: str = field(metadata=scalar("Game"))
    advantage: float = field(
        metadata=scalar("Score above random play without sticky actions", "score")
    )
    advantage_low: float = field(metadata=scalar("95 % interval of the advantage", "score"))
    advantage_high: float = field(metadata=scalar("95 % interval of the advantage", "score"))
    kept: float = field(metadata=scalar("Share of the advantage that is left with sticky actions"))
    replays: int = field(metadata=scalar("Replays of recorded actions without sticky actions"))
    reproduced: int = field(metadata=scalar("Replays with exactly the recorded score"))
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
            f"{self.game} with sticky actions (ς = {self.played['sticky_probability']:g})."
        )

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """The probability of sticky actions, the protocol, and the length and number of runs."""
        return {**self.played, "resampled": "runs"}


def probe(
    job: Job,
    *,
    sticky_probability: float = 0.25,
    seeds: int = 5,
    replays: int = 2,
    map: Mapper = in_turn,
) -> Probe:
    """Play a job without and with sticky actions and compare the scores; `probe_plan` does so for a plan.

    The job is played on several `seeds`. Runs without sticky actions are recorded; the actions of each
    run's last episode are replayed `replays` times without observations, without and with sticky actions,
    with other random numbers but the same number of no-op frames at the start. A learner's performance is
    what the protocol reports, its last evaluation if there is one; agents that do not learn are not
    evaluated separately. `map` is like `workers.map_processes`.

    >>> job = Job("random", "random", environment="gymnasium", game="CartPole-v1", episodes=1)
    >>> answer = probe(job, seeds=2)
    >>> answer["random play"].sticky_runs, answer.replays
    (2, 4)
    """
    if seeds < 1 or replays < 1:
        raise InputError(f"Cannot probe with {seeds} seeds and {replays} replays. Give at least 1.")
    job = _ready(job)
    check_job(job)
    if not environment_of(job).action_names:
        raise InputError(
            f"Cannot probe an agent on {shorten(job.game)}: it has no list of actions from which those "
            f"played could be recorded and replayed. Choose a game with discrete actions."
        )
    plain, sticky = (
        replace(job, protocol=job.protocol.changed(sticky_probability=chance))
        for chance in (0.0, sticky_probability)
    )
    kinds = (plain, sticky, _random_play(plain), _random_play(sticky))
    runs = map(
        play_recorded,
        [replace(kind, seed=job.seed + run) for kind in kinds for run in range(seeds)],
    )
    # No seed twice: equal recordings with equal seeds would be one replay counted as several.
    repeated = map(
        play_replay,
        [
            replay_job(run, kind, seed=job.seed + number * replays + replay)
            for kind in (plain, sticky)
            for number, run in enumerate(runs[:seeds])
            for replay in range(replays)
        ],
    )
    scores = np.reshape([run.performance for run in runs], (4, seeds)).tolist()
    recorded = np.array([run.last_score for run in runs[:seeds]])
    # Each recording's replays are averaged first: recordings are the runs.
    replayed = np.reshape(repeated, (2, seeds, replays))
    plays = {
        "recorded episodes": recorded,
        "replays without sticky actions": replayed[0].mean(axis=1),
        "replays with sticky actions": replayed[1].mean(axis=1),
    }
    advantage = difference_of_runs(scores[0], scores[2])
    flavour = job.mode, job.difficulty
    table = contrast_table(
        {
            (job.agent, job.game, *flavour): scores[:2],
            (RANDOM_PLAY, job.game, *flavour): scores[2:],
        }
    )
    return Probe(
        scores=table,
        replayed=ReplayedScores(
            play=list(plays),
            **interval_columns(score=[mean_of_runs(play) for play in plays.values()]),
        ),
        agent=job.agent,
        game=job.game,
        advantage=advantage.mean,
        advantage_low=advantage.low,
        advantage_high=advantage.high,
        kept=share_kept(advantage, table.sticky[0] - table.sticky[1]),
        replays=seeds * replays,
        reproduced=int((replayed[0] == recorded[:, None]).sum()),
        played={
            "sticky_probability": sticky_probability,
            "seed": job.seed,
            "seeds": seeds,
            "frames": job.frames,
            "episodes": job.episodes,
            "random_episodes": RANDOM_EPISODES,
            "protocol": job.protocol.name,
        },
        notes=equal_runs_note(table),
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
    return replace(job, protocol=job.protocol.changed(evaluation_episodes=0))


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


class Recorded(NamedTuple):
    """A run: its performance, and the last episode that counts for it, action by action.

    `last_start_frames` are those the protocol did nothing in before that episode's first action.
    """

    performance: float
    last_score: float
    last_actions: tuple[int, ...]
    last_start_frames: int = 0


def play_recorded(job: Job) -> Recorded:
    """Play a job to its end, and keep the actions of its last episode of the reported phase.

    >>> from examiner.arena.protocol import PROTOCOLS
    >>> quick = PROTOCOLS["gymnasium"].changed(max_episode_frames=5)
    >>> job = Job("r", "random", environment="gymnasium", game="CartPole-v1", protocol=quick, episodes=1)
    >>> len(play_recorded(job).last_actions)
    5
    """
    if job.protocol.starts:
        raise InputError(
            "A replay cannot repeat where a recorded start ended. Probe the agent with starts = []."
        )
    recording: Any = _Recording(environment_of(job))  # Any: stands for an environment
    scores: list[float] = []
    actions: tuple[int, ...] = ()
    start_frames = 0
    for episode in Playing(job, recording):
        if episode.phase == job.protocol.reported_phase:
            scores.append(episode.score)
            actions, start_frames = tuple(recording.actions), recording.start_frames
    performance = reported_performance(scores, job.protocol)
    return Recorded(performance, scores[-1], actions, start_frames)


def replay_job(recorded: Recorded, job: Job, *, seed: int) -> Job:
    """Return the job that plays the recorded actions, whatever is seen, once; see `play_replay`.

    A game that lasts longer than it did is played on with the actions from their beginning.

    >>> job = Job("uct", "uct", game="pong", episodes=1)
    >>> replay_job(Recorded(1.0, 1.0, (0, 2)), job, seed=3).settings
    {'actions': [0, 2]}
    """
    start = recorded.last_start_frames
    protocol = replace(job.protocol, max_start_no_ops=start, evaluation_episodes=0)
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

    >>> from examiner.arena.protocol import PROTOCOLS
    >>> protocol = PROTOCOLS["deterministic"].changed(max_episode_frames=50)
    >>> job = Job("uct", "uct", game="pong", episodes=1, protocol=protocol)
    >>> play_replay(replay_job(Recorded(0.0, 0.0, (0,), 7), job, seed=3))
    0.0
    """
    recording: Any = _Recording(environment_of(job), job.protocol.max_start_no_ops)  # as above
    return next(Playing(job, recording)).score


class _Recording:
    """An environment that notes its actions and how an episode starts: after at least so many frames."""

    def __init__(self, environment: Environment, least_start_frames: int = 0) -> None:
        self._environment, self._least = environment, least_start_frames

    def __getattr__(self, name: str) -> Any:  # Any: what is not noted is the environment's
        return getattr(self._environment, name)

    def reset(self, rng: np.random.Generator) -> None:
        self._environment.reset(rng)
        while self._environment.frames < self._least:
            self._environment.reset(rng)
        self.start_frames, self.actions = self._environment.frames, list[int]()

    def step(self, action: int) -> float:
        """Take an action that the arena has checked."""
        self.actions.append(action)
        return self._environment.step(action)
