"""Actions recorded and played again without looking: what a game gives to a good memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from examiner.arena.job import Job
from examiner.arena.play import Playing


@dataclass(frozen=True, slots=True)
class Recorded:
    """A run: the mean score of its last episodes, and the last of them action by action."""

    performance: float
    last_score: float
    last_actions: tuple[int, ...]


def play_recorded(job: Job) -> Recorded:
    """Play a job to its end. Performance is the mean over the protocol's window of last episodes.

    >>> from examiner.arena.protocol import named_protocol
    >>> quick = named_protocol("gymnasium", max_episode_frames=5)
    >>> job = Job("r", "random", environment="gymnasium", game="CartPole-v1", protocol=quick, episodes=1)
    >>> len(play_recorded(job).last_actions)
    5
    """
    playing = Playing.begin(job)
    recorder = playing._agent = _Recorder(playing._agent)
    scores: list[float] = []
    last: tuple[int, ...] = ()
    for episode in playing:
        if episode.phase == "training":
            scores.append(episode.score)
            last = tuple(recorder.actions)
        recorder.actions.clear()
    window = scores[-job.protocol.window_episodes :]
    return Recorded(sum(window) / len(window), scores[-1], last)


def replay_job(recorded: Recorded, job: Job, *, seed: int, sticky_probability: float) -> Job:
    """Return the job that plays the recorded actions, whatever is seen, once.

    A game that lasts longer than it did is played on with the actions from their beginning.

    >>> job = Job("uct", "uct", game="pong", episodes=1)
    >>> replay_job(Recorded(1.0, 1.0, (0, 2)), job, seed=3, sticky_probability=0.0).settings
    {'actions': [0, 2]}
    """
    return replace(
        job,
        agent="replay",
        entry="periodic",
        settings={"actions": list(recorded.last_actions)},
        seed=seed,
        protocol=replace(job.protocol, sticky_probability=sticky_probability, name="", source=""),
        episodes=1,
        frames=None,
    )


class _Recorder:
    """An agent whose actions are noted."""

    def __init__(self, agent: Any) -> None:  # an agent is any object with `act`
        self._agent, self.actions = agent, list[int]()

    def act(self, observation: object) -> Any:
        action = self._agent.act(observation)
        self.actions.append(int(action))
        return action

    def __getattr__(self, name: str) -> Any:
        return getattr(self._agent, name)
