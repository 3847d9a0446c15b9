"""Planners that store the states their actions lead to: one step ahead, breadth first, by novelty."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from examiner.arena.contract import Seen, best
from examiner.arena.planner import Lookahead, Planner
from examiner.validation import check_known

Atoms = NDArray[np.integer]

_BYTE = 256
_NEVER = np.iinfo(np.int32).max


class Tree:
    """What each simulated action led to. Node 0 is the state of the game; children follow parents.

    >>> tree = Tree()
    >>> left, right = tree.add(0, 0, 0.0), tree.add(0, 1, 1.0)
    >>> _ = tree.add(left, 1, 4.0)
    >>> tree.action_values(actions=3, discount=0.5)
    [2.0, 1.0, 0.0]
    """

    def __init__(self) -> None:
        self._parents, self._actions, self._rewards = [-1], [-1], [0.0]

    def __len__(self) -> int:
        return len(self._parents)

    def add(self, parent: int, action: int, reward: float) -> int:
        """Add what an action led to; return its node."""
        self._parents.append(parent)
        self._actions.append(action)
        self._rewards.append(reward)
        return len(self._parents) - 1

    def origin(self, node: int) -> tuple[int, int]:
        """Return the parent of a node, and the action that led from there."""
        return self._parents[node], self._actions[node]

    def action_values(self, *, actions: int, discount: float) -> list[float]:
        r"""Return the best discounted return that follows each action.

        .. math:: Q(n) = r(n) + \gamma \max_{c \in \text{children}(n)} Q(c)

        and :math:`r(n)` alone for leaves; 0, like all that is unknown, for actions that were not tried.
        """
        untried = -np.inf
        best_after = [untried] * len(self)
        values = [untried] * actions
        for node in range(len(self) - 1, 0, -1):
            after, parent = best_after[node], self._parents[node]
            value = self._rewards[node] + (discount * after if after > untried else 0.0)
            best_after[parent] = max(best_after[parent], value)
            if parent == 0:
                values[self._actions[node]] = max(values[self._actions[node]], value)
        return [0.0 if value == untried else value for value in values]


def grow_breadth_first(
    ahead: Lookahead, worth: Callable[[], bool], rng: np.random.Generator
) -> Tree:
    """Try all actions in the root, then in each state it led to that is `worth` it, in that order.

    Ends when the budget is spent or nothing is left. States are stored only if the budget reaches
    them: storing costs as much as simulating half an action.
    """
    tree, waiting = Tree(), deque([(0, ahead.root)])
    while waiting:
        node, state = waiting.popleft()
        for tried, action in enumerate(rng.permutation(ahead.actions).tolist(), start=1):
            if not ahead.affords():
                return tree
            ahead.go_to(state)
            child = tree.add(node, action, ahead.take(action))
            before = ahead.actions * (len(waiting) + 1) - tried  # actions tried before its own
            if not ahead.over and ahead.affords(before + 1) and worth():
                waiting.append((child, ahead.state()))
    return tree


class Novelty:
    """At which depth of a search each atom was first true; a state is novel if it improves on one.

    An atom is, of a memory: a byte has a value (Lipovetzky, Ramírez and Geffner 2015, section 3); of a
    screen: a colour is in a tile of 7 × 4 pixels; of anything else: a variable lies in a cell of this
    width (0, and whole numbers: has this value). Depths are those of Bandres, Bonet and Geffner
    (2018), section 4; where all are 0, novel is what was never seen.

    >>> novelty = Novelty()
    >>> [novelty.new(novelty.atoms(np.array(one))) for one in ([0, 0], [1, 0], [0, 1], [1, 1])]
    [True, True, True, False]
    """

    def __init__(self, cell: float = 0.1) -> None:
        self._cell = cell
        self._depths = np.zeros(0, dtype=np.int32)
        self._first_atoms: Atoms = np.zeros(0, dtype=np.intp)
        self._numbering: dict[tuple[int, float], int] = {}

    def atoms(self, seen: Seen) -> Atoms:
        """Return the numbers of the atoms that are true."""
        if seen.dtype == np.uint8:
            return self._byte_atoms(seen[-1] if _is_stack(seen) else seen)
        values = np.ravel(seen)
        if self._cell and values.dtype.kind == "f":
            values = np.floor(values.astype(np.float64) / self._cell)
        numbering = self._numbering
        numbers = [
            numbering.setdefault(atom, len(numbering)) for atom in enumerate(values.tolist())
        ]
        if len(numbering) > len(self._depths):
            more = np.full(len(numbering), _NEVER, dtype=np.int32)
            self._depths = np.concatenate([self._depths, more])
        return np.array(numbers, dtype=np.intp)

    def new(self, atoms: Atoms, depth: int = 0) -> bool:
        """Say whether an atom is true at a lesser depth than ever before, and remember all."""
        before = self._depths[atoms]
        if not (before > depth).any():
            return False
        self._depths[atoms] = np.minimum(before, depth)
        return True

    def holds(self, atoms: Atoms, depth: int) -> bool:
        """Say whether a state met before is still the shallowest to show one of its atoms."""
        return bool((self._depths[atoms] >= depth).any())

    def _byte_atoms(self, seen: Seen) -> Atoms:
        if self._first_atoms.shape != seen.shape:
            self._first_atoms = _first_atoms(seen.shape)
            atoms = int(self._first_atoms.max()) + _BYTE
            self._depths = np.full(atoms, _NEVER, dtype=np.int32)
        return self._first_atoms + seen.astype(np.intp)


def _is_stack(seen: Seen) -> bool:
    """Whether these are screens one after the other; a picture has its few colours last."""
    return seen.ndim == 3 and seen.shape[-1] > 4  # more than the channels of a colour


def _first_atoms(shape: tuple[int, ...]) -> Atoms:
    if len(shape) != 2:
        return np.arange(int(np.prod(shape)), dtype=np.intp).reshape(shape) * _BYTE
    rows, columns = (
        np.arange(extent) // tile
        # Tiles of the BASIC features of Bellemare et al. (2013).
        for extent, tile in zip(shape, (7, 4), strict=True)
    )
    return (rows[:, None] * (int(columns[-1]) + 1) + columns) * _BYTE


def grow_by_rollouts(
    ahead: Lookahead, novelty: Novelty, seen: Seen, depth: int, rng: np.random.Generator
) -> Tree:
    """Play at random from the root until nothing is new, again and again, each time another way.

    A state is novel if one of its atoms is true at a lesser depth than ever before in the search. One
    that is not, or that ended the game, or whose actions all lead to such states, is solved and not
    entered again. Bandres, Bonet and Geffner (2018), Planning with Pixels in (Almost) Real Time, AAAI,
    algorithm 1. Rollouts end at a `depth`, since a clock in the memory is new at every step.
    """
    growth = _Growth(ahead, novelty, depth, rng)
    atoms = novelty.atoms(seen)
    novelty.new(atoms)
    growth.open[0] = _Open(ahead.root, atoms, list(range(ahead.actions)), {})
    while ahead.affords() and 0 in growth.open:
        growth.roll_out()
    return growth.tree


class _Open(NamedTuple):
    """A node that may be entered: its state, what it shows, its actions not solved yet, its children."""

    state: Any  # whatever the environment makes them
    atoms: Atoms
    unsolved: list[int]
    children: dict[int, int]


@dataclass(slots=True)
class _Growth:
    """A tree that grows by rollouts of so many actions; a node that is solved is no longer `open`."""

    ahead: Lookahead
    novelty: Novelty
    length: int
    rng: np.random.Generator
    tree: Tree = field(default_factory=Tree)
    open: dict[int, _Open] = field(default_factory=dict)

    def roll_out(self) -> None:
        node, here = 0, False  # here: the simulation is in the node's state
        for depth in range(1, self.length + 1):
            if node not in self.open or not self.ahead.affords():
                return
            state, _, choices, children = self.open[node]
            action = choices[int(self.rng.integers(len(choices)))]
            child = children.get(action)
            if child is None:
                if not here:
                    self.ahead.go_to(state)
                child, here = self._simulate(node, action, depth), True
            elif not self.novelty.holds(self.open[child].atoms, depth):
                self._solve(child)
            node = child

    def _simulate(self, node: int, action: int, depth: int) -> int:
        ahead = self.ahead
        child = self.tree.add(node, action, ahead.take(action))
        self.open[node].children[action] = child
        if not ahead.over and depth < self.length:
            atoms = self.novelty.atoms(ahead.observe())
            if self.novelty.new(atoms, depth):
                shown, actions = atoms.astype(np.int32), list(range(ahead.actions))
                self.open[child] = _Open(ahead.state(), shown, actions, {})
                return child
        self._solve(child)
        return child

    def _solve(self, node: int) -> None:
        """Enter a node no more, nor its parents once all their actions are solved."""
        self.open.pop(node, None)
        while node:
            node, action = self.tree.origin(node)
            unsolved = self.open[node].unsolved
            unsolved.remove(action)
            if unsolved:
                return
            del self.open[node]


@dataclass(kw_only=True)
class OneStepLookahead(Planner):
    """Simulate every action `samples` times, as far as the budget goes, and take the best mean.

    The counterpart of the sample controller OneStepLookAhead of GVGAI: Pérez-Liébana et al. (2016), The
    2014 General Video Game Playing Competition, IEEE T-CIAIG 8(3).
    """

    samples: int = 1

    def choose(self, ahead: Lookahead, seen: Seen, rng: np.random.Generator) -> int:
        """Return the action with the best mean reward, ties broken at random."""
        rewards = np.zeros(ahead.actions)
        counts = np.zeros(ahead.actions, dtype=int)
        for _ in range(self.samples):
            for action in rng.permutation(ahead.actions).tolist():
                if not ahead.affords():
                    break
                ahead.go_to(ahead.root)
                rewards[action] += ahead.take(action)
                counts[action] += 1
        means = np.where(counts > 0, rewards / np.maximum(counts, 1), -np.inf)
        return best(means.tolist(), rng)


@dataclass(kw_only=True)
class BreadthFirst(Planner):
    """Grow the tree of all action sequences, shortest first, and follow its best path.

    Bellemare, Naddaf, Veness and Bowling (2013), The Arcade Learning Environment, JAIR 47, section 3.2.
    """

    def choose(self, ahead: Lookahead, seen: Seen, rng: np.random.Generator) -> int:
        """Return the first action of the best path, ties broken at random."""
        tree = grow_breadth_first(ahead, lambda: True, rng)
        return best(tree.action_values(actions=ahead.actions, discount=self.discount), rng)


Search = Literal["rollouts", "breadth-first"]


@dataclass(kw_only=True)
class IW1(Planner):
    """Search that prunes states in which no atom is true for the first time, and follow the best path.

    With `observation = "ram"` atoms are values of bytes of the memory, with screens colours in tiles,
    with anything else numbers as they are and fractions in cells of width `cell`. `search` is
    "breadth-first", as in Lipovetzky, Ramírez and Geffner (2015), Classical Planning with Simulators:
    Results on the Atari Video Games, IJCAI, section 3, which needs tens of thousands of frames to see
    far; or by "rollouts" of at most `depth` actions, as in Bandres, Bonet and Geffner (2018), Planning
    with Pixels in (Almost) Real Time, AAAI, for small budgets. Pruned states still count with their
    reward. Unlike there, no tree is kept for the next decision: with sticky actions the game is rarely
    where it was foreseen.
    """

    search: Search = "rollouts"
    depth: int = 10
    cell: float = 0.1

    blind: ClassVar[bool] = False  # what the root shows is not new

    def __post_init__(self) -> None:
        super().__post_init__()
        check_known("search of the agent 'iw1'", self.search, get_args(Search))

    def choose(self, ahead: Lookahead, seen: Seen, rng: np.random.Generator) -> int:
        """Return the first action of the best path, ties broken at random."""
        novelty = Novelty(self.cell)
        if self.search == "rollouts":
            tree = grow_by_rollouts(ahead, novelty, seen, self.depth, rng)
        else:
            novelty.new(novelty.atoms(seen))
            tree = grow_breadth_first(
                ahead, lambda: novelty.new(novelty.atoms(ahead.observe())), rng
            )
        return best(tree.action_values(actions=ahead.actions, discount=self.discount), rng)
