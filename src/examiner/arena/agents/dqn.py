"""DQN: a deep network that learns the values of actions from a memory of what was played."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Any

import numpy as np

from examiner.arena.contract import Task
from examiner.arena.learning.arrays import packed, unpacked
from examiner.arena.learning.deep_network import DeepNetwork, NetworkSettings
from examiner.messages import InputError
from examiner.validation import check_numbers

_PACKAGES = ("torch", "stable_baselines3")


@dataclass(eq=False)
class DQN(NetworkSettings):
    r"""Mnih et al. (2015), by the algorithm of stable-baselines3, played by the arena.

    Every `train_every` decisions a batch of :math:`(s, a, r, s')` is drawn from the memory, and the
    network moves towards

    .. math:: r + \gamma \max_{a'} Q(s', a'; \theta^-)

    with the error's slope limited to 1; :math:`\theta^-` is the network of up to `target_every`
    decisions ago. Until `random_decisions` all actions are random; then, over `explore_decisions`,
    fewer and fewer, down to `explore`. Rewards are clipped to -1 and 1 for learning only. An
    episode that is cut off is no end. Defaults are the paper's; `optimiser` "adam" has been found to
    learn faster at a small `learning_rate` such as 0.0001.

    Sees "dqn84x4", or a vector. The memory takes 7 kB a decision, 7 GB when it is full. With
    `device` "cpu" and the same number of `threads`, equal jobs give equal networks; a graphics
    processor ("cuda") rounds as it likes.
    """

    train_every: int = 4
    random_decisions: int = 50_000
    explore_decisions: int = 1_000_000
    explore: float = 0.1
    evaluation_explore: float = 0.05
    clip_rewards: bool = True

    def __post_init__(self) -> None:
        if any(importlib.util.find_spec(name) is None for name in _PACKAGES):
            raise InputError(
                "The agent 'dqn' needs stable-baselines3 and torch: pip install 'examiner[dqn]'."
            )
        if self.optimiser not in ("rmsprop", "adam"):
            raise InputError(
                f"The agent 'dqn' got optimiser = {self.optimiser!r}. Give 'rmsprop' or 'adam'."
            )
        shares = dict.fromkeys(("discount", "explore", "evaluation_explore"), 1.0)
        check_numbers(self, least={"random_decisions": 0}, most=shares)
        self._decisions = 0
        # A network comes only with an extra; what was saved waits for the shapes that `begin` tells.
        self._network: Any = None
        self._saved: bytes | None = None

    def begin(self, task: Task, rng: np.random.Generator) -> None:
        """Begin an episode; the first of all makes the network."""
        if self._network is None:
            seed = int(rng.integers(2**31)) if self._saved is None else 0
            self._network = DeepNetwork(task.observation_shape, len(task.actions), self, seed=seed)
            if self._saved is not None:
                self._decisions = self._network.load(self._saved)
                self._saved = None
        self._learning, self._rng, self._fresh = task.learning, rng, True

    def act(self, observation: Any) -> int:
        """Return the action of the highest value, or any."""
        if self._fresh and self._learning:
            self._network.see(observation)
            self._fresh = False
        if self._rng.random() < self._explore_now():
            self._chosen = int(self._rng.integers(self._network.actions))
        else:
            self._chosen = self._network.best_action(observation)
        return self._chosen

    def learn(self, reward: float, observation: Any, terminated: bool, truncated: bool) -> None:
        """Keep what followed, and now and then learn from the memory."""
        if self.clip_rewards:
            reward = min(1.0, max(-1.0, reward))
        self._network.follow(self._chosen, reward, observation, terminated)
        self._fresh = terminated or truncated
        self._decisions += 1
        due = self._decisions % self.train_every == 0
        self._network.step(train=due and self._decisions > self.random_decisions, rng=self._rng)

    def save(self) -> bytes:
        """Return the networks, the optimiser and the memory."""
        if self._network is None:
            return self._saved if self._saved is not None else packed({}, {"agent": "dqn"})
        saved: bytes = self._network.save(self._decisions)
        return saved

    def load(self, data: bytes) -> None:
        """Go on with what was saved."""
        arrays, words = unpacked(data, agent="dqn")
        self._decisions = words.get("decisions", 0)
        self._network, self._saved = None, data if arrays else None

    def _explore_now(self) -> float:
        if not self._learning:
            return self.evaluation_explore
        since = max(0, self._decisions - self.random_decisions)
        share = min(1.0, since / self.explore_decisions)
        return 1.0 + share * (self.explore - 1.0)
