"""Agents that users might bring: bare ones, learners, planners, and wrong ones."""

from __future__ import annotations

import io

import numpy as np


class Bare:
    """Nothing but act."""

    def act(self, observation):
        return int(observation.sum()) % 3


ready_made = Bare()


class Noting:
    """Notes everything it is told."""

    def __init__(self):
        self.told, self.episodes = [], []

    def begin(self, task, rng):
        self.episodes.append(task)

    def act(self, observation):
        return 1

    def learn(self, reward, observation, terminated, truncated):
        self.told.append((self.episodes[-1].episode, reward, terminated, truncated))


class Learner:
    """Remembers how often each action was rewarded, over all episodes, and explores."""

    def __init__(self, explore=0.3):
        self._explore, self._worth = explore, None

    def begin(self, task, rng):
        self._rng, self._learning = rng, task.learning
        if self._worth is None:
            self._worth = np.zeros(len(task.actions))

    def act(self, observation):
        explores = self._learning and self._rng.random() < self._explore
        count = len(self._worth)
        self._chosen = int(self._rng.integers(count)) if explores else int(self._worth.argmax())
        return self._chosen

    def learn(self, reward, observation, terminated, truncated):
        self._worth[self._chosen] += reward + observation.mean() / 1e4

    def save(self):
        with io.BytesIO() as file:
            np.savez(file, worth=self._worth)
            return file.getvalue()

    def load(self, stored):
        with np.load(io.BytesIO(stored), allow_pickle=False) as arrays:
            self._worth = arrays["worth"]


class Greedy:
    """Plans one step ahead."""

    plans = True

    def begin(self, task, rng):
        self._task = task
        self.simulated = []

    def act(self, observation):
        model = self._task.model
        root, best = model.root(), (-np.inf, 0)
        for action in range(len(self._task.actions)):
            model.restore(root)
            best = max(best, (model.advance(action), -action))
        self.simulated.append(model.frames)
        return -best[1]


class Wild:
    """Chooses an action that is not there."""

    blind = True

    def act(self, observation):
        return 99


class Says:
    """Chooses whatever it is told to, with an action or an error."""

    def __init__(self, what):
        self._what = what

    def act(self, observation):
        match self._what:
            case "StopIteration":
                return next(iter(()))
            case "numpy":
                return np.int64(1)
            case "array":
                return np.array(1)
            case "many":
                return np.array([1])
            case "nothing":
                return None
            case _:
                return self._what


class Forgetful:
    """Saves itself, but cannot load that again."""

    def act(self, observation):
        return 0

    def save(self):
        return b""


class SavesANumber(Forgetful):
    """Saves itself as something else than bytes."""

    def save(self):
        return 5

    def load(self, data):
        return


def not_an_agent():
    return object()


a_number = 7
