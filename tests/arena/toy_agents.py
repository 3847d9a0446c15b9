"""Agents for the tests of runs: stateless, learning, and misbehaving in every way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np


class Stateless:
    """Chooses at random, by the generator it is given and nothing else."""

    def __init__(self, slow: float = 0.0) -> None:
        self.slow = slow

    def begin(self, task: Any, rng: np.random.Generator) -> None:
        self.actions, self.rng = len(task.actions), rng

    def act(self, observation: object) -> int:
        if self.slow:
            time.sleep(self.slow)
        return int(self.rng.integers(self.actions))


class Learner(Stateless):
    """Prefers actions that were rewarded in any earlier episode: what it does depends on all before."""

    def __init__(self, slow: float = 0.0) -> None:
        super().__init__(slow)
        self.values = [0.0, 0.0]
        self.steps = 0

    def act(self, observation: object) -> int:
        self.steps += 1
        if self.slow:
            time.sleep(self.slow)
        if self.rng.random() < 0.5:
            self.last = int(self.rng.integers(self.actions))
        else:
            self.last = int(np.argmax(self.values))
        return self.last

    def learn(self, reward: float, *_: object, **__: object) -> None:
        self.values[self.last] += 0.1 * (self.rng.random() - self.values[self.last]) * reward

    def save(self) -> bytes:
        return json.dumps([self.values, self.steps]).encode()

    def load(self, data: bytes) -> None:
        self.values, self.steps = json.loads(data)


class EagerLearner(Learner):
    """A learner whose checkpoints are due after every episode: it claims to have taken a second."""


class Unsaved(Stateless):
    """Learns, but cannot be saved."""

    def __init__(self) -> None:
        super().__init__()
        self.bias = 0

    def learn(self, reward: float, *_: object, **__: object) -> None:
        self.bias += 1

    def act(self, observation: object) -> int:
        return (super().act(observation) + self.bias) % self.actions


class Forgetful(Learner):
    """A learner that does not save all it depends on: it cannot be resumed exactly."""

    def load(self, data: bytes) -> None:
        self.values = [5.0, -5.0]


class Misbehaving(Stateless):
    """Plays two episodes, then does what it was told to."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how

    def begin(self, task: Any, rng: np.random.Generator) -> None:
        super().begin(task, rng)
        if task.episode < 2:
            return
        if self.how == "crash":
            raise RuntimeError("out of ideas")
        if self.how == "hang":
            time.sleep(3600)
        if self.how == "hoard":
            hoard = []
            while True:
                hoard.append(np.ones(1_000_000))
        if self.how == "die":
            os._exit(7)
        if self.how == "exit":
            sys.exit(0)


class Untidy(Stateless):
    """In its second episode, leaves processes, memory or junk behind, and plays on as if nothing were."""

    def __init__(self, how: str, folder: str) -> None:
        super().__init__()
        self.how, self.folder, self.episode = how, folder, 0

    def begin(self, task: Any, rng: np.random.Generator) -> None:
        super().begin(task, rng)
        self.episode = task.episode

    def act(self, observation: object) -> int:
        if self.episode == 1:
            self.episode = -1
            getattr(self, self.how)()
        return super().act(observation)

    def fork(self) -> None:
        """Parent and child both play on, the child a little later."""
        if not os.fork():
            self.note(os.getpid())
            time.sleep(0.2)

    def sleeper(self) -> None:
        pid = os.fork()
        if not pid:
            os.setsid()
            time.sleep(600)
            os._exit(0)
        self.note(pid)

    def program(self) -> None:
        self.note(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]).pid)

    def leak(self) -> None:
        LEAKED.append(np.ones(1_000_000))

    def junk(self) -> None:
        print("junk" * 5_000)
        os.write(1, bytes(range(256)) * 100)
        os.write(2, bytes(range(256)) * 100)

    def note(self, pid: int) -> None:
        (Path(self.folder) / str(pid)).touch()


LEAKED: list[object] = []
