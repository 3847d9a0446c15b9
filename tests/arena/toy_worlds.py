"""Small worlds with a forward model whose best play is known."""

from __future__ import annotations

import numpy as np

from examiner.arena import Task


class Toy:
    """A world of which the subclass says what an action does; one action is `frame_skip` frames.

    Subclasses have `start`, `moved(state, action) -> state, reward, over`, and `shown(state)`.
    """

    actions = ("left", "right")
    frame_skip = 5

    def __init__(self, seed=0):
        self.played, self.over, self.lives = self.start, False, 0
        self._state, self._over, self.frames = self.start, False, 0
        self.rng = np.random.default_rng(seed)
        self.advanced, self.restored = 0, 0

    def task(self):
        return Task(
            self.actions,
            self.shown(self.start).shape,
            draw=lambda rng: int(rng.integers(len(self.actions))),
            frame_skip=self.frame_skip,
            model=self,
        )

    def root(self):
        return self.played, False

    def clone(self):
        return self._state, self._over

    def restore(self, state):
        self.restored += 1
        self._state, self._over = state

    def advance(self, action):
        assert not self._over, "a planner plays on after the end"
        self._state, reward, self._over = self.moved(self._state, action)
        self.over = self._over
        self.advanced += 1
        self.frames += self.frame_skip
        return reward

    def observe(self):
        return self.shown(self._state)

    @property
    def over(self):
        return self._over

    @over.setter
    def over(self, value):
        pass

    def shown(self, state):
        return np.array(state)

    def play(self, agent, steps, seed=0):
        """Let an agent play; return its actions and the sum of rewards."""
        agent.begin(self.task(), np.random.default_rng(seed))
        chosen, total = [], 0.0
        for _ in range(steps):
            action = agent.act(self.shown(self.played))
            self.played, reward, over = self.moved(self.played, action)
            chosen.append(action)
            total += reward
            if over:
                break
        return chosen, total


class Corridor(Toy):
    """Cells −3 … 3; a small reward at the left end, a large one at the right end; both end it."""

    start = (0,)

    def moved(self, state, action):
        place = state[0] + (1 if action else -1)
        return (place,), {-3: 1.0, 3: 5.0}.get(place, 0.0), abs(place) == 3


class Grid(Toy):
    """Four by four cells; the only reward is in the corner opposite the start, six moves away."""

    actions = ("up", "down", "left", "right", "wait", "also wait")
    start = (0, 0)

    def moved(self, state, action):
        row, column = state
        steps = ((-1, 0), (1, 0), (0, -1), (0, 1), (0, 0), (0, 0))
        down, right = steps[action]
        state = min(max(row + down, 0), 3), min(max(column + right, 0), 3)
        return state, float(state == (3, 3)), state == (3, 3)


class Bandit(Toy):
    """Four arms that pay 100 with chances 0.2, 0.4, 0.8 and 0.3, and then nothing more."""

    actions = ("a", "b", "c", "d")
    chances = (0.2, 0.4, 0.8, 0.3)
    start = (0,)

    def moved(self, state, action):
        return (1,), 100.0 * (self.rng.random() < self.chances[action]), True


class Trap(Toy):
    """Right pays 1 at once and then −10 whatever is done; left pays nothing and is safe."""

    start = (0, 0)

    def moved(self, state, action):
        depth, fallen = state
        if depth == 0:
            return (1, action), float(action), False
        return (depth + 1, fallen), -10.0 if depth == 1 and fallen else 0.0, False


class Lives(Toy):
    """Right pays 2 and costs a life of three; left pays 1."""

    start = (3,)

    def moved(self, state, action):
        left = state[0] - action
        return (left,), 2.0 if action else 1.0, left == 0

    @property
    def lives(self):
        return self._state[0]

    @lives.setter
    def lives(self, value):
        pass


class Shaft(Toy):
    """Eight steps down is a reward; five other actions each switch one of five lamps."""

    actions = ("down", "a", "b", "c", "d", "e")
    start = (0, 0, 0, 0, 0, 0)

    def moved(self, state, action):
        changed = list(state)
        changed[action] = changed[action] + 1 if action == 0 else 1 - changed[action]
        return tuple(changed), float(changed[0] == 8), changed[0] == 8
