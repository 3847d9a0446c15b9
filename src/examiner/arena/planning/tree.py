"""A tree of simulated actions, grown breadth-first or by rollouts from states that show something new."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from examiner.arena.contract import Seen, best
from examiner.arena.planning.planner import Lookahead, Planner

Atoms = NDArray[np.integer]

_TILE_ROWS, _TILE_COLUMNS = 7, 4  # of screens, as in the BASIC features of Bellemare et al. (2013)
_BYTE = 256
_MOST_COLOURS = 4
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
        self._known: dict[tuple[int, float], int] = {}

    def atoms(self, seen: Seen) -> Atoms:
        """Return the numbers of the atoms that are true."""
        if seen.dtype == np.uint8:
            return self._byte_atoms(seen[-1] if _is_stack(seen) else seen)
        values = np.ravel(seen)
        if self._cell and values.dtype.kind == "f":
            values = np.floor(values.astype(np.float64) / self._cell)
        known = self._known
        numbers = [known.setdefault(atom, len(known)) for atom in enumerate(values.tolist())]
        if len(known) > len(self._depths):
            more = np.full(len(known), _NEVER, dtype=np.int32)
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
    return seen.ndim == 3 and seen.shape[-1] > _MOST_COLOURS


def _first_atoms(shape: tuple[int, ...]) -> Atoms:
    if len(shape) != 2:
        return np.arange(int(np.prod(shape)), dtype=np.intp).reshape(shape) * _BYTE
    rows, columns = (
        np.arange(extent) // tile
        for extent, tile in zip(shape, (_TILE_ROWS, _TILE_COLUMNS), strict=True)
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


class Returns:
    """The least and the greatest return met in a search: games count in ones or in thousands.

    >>> returns = Returns()
    >>> for one in (10.0, 30.0):
    ...     returns.meet(one)
    >>> returns.share(15.0)
    0.25
    """

    def __init__(self) -> None:
        self._least, self._greatest = math.inf, -math.inf

    def meet(self, value: float) -> None:
        """Take note of a return."""
        self._least, self._greatest = min(self._least, value), max(self._greatest, value)

    def share(self, value: float) -> float:
        """Return where a return lies between the least (0) and the greatest (1)."""
        spread = self._greatest - self._least
        return (value - self._least) / spread if spread > 0.0 else 0.0


@dataclass(slots=True)
class ActionNode:
    """What is known of a sequence of actions; how its `value` comes about is the planner's affair."""

    untried: list[int]
    children: dict[int, Self] = field(default_factory=dict)
    visits: int = 0
    value: float = 0.0

    @classmethod
    def fresh(cls, ahead: Lookahead, rng: np.random.Generator) -> Self:
        """Return a node whose actions will be tried in a random order."""
        return cls(rng.permutation(ahead.actions).tolist())

    def grow(self: Self, ahead: Lookahead, rng: np.random.Generator) -> int:
        """Add a child for an untried action; return the action."""
        action = self.untried.pop()
        self.children[action] = self.fresh(ahead, rng)
        return action

    def next_action(
        self, ahead: Lookahead, returns: Returns, exploration: float, rng: np.random.Generator
    ) -> int:
        """Return an untried action, which gets a child, or the favourite where all were tried."""
        return self.grow(ahead, rng) if self.untried else self.favourite(returns, exploration)

    def favourite(self, returns: Returns, exploration: float) -> int:
        r"""Return the child with the greatest upper confidence bound.

        .. math:: \arg\max_a \; v(n a) + c \sqrt{\ln N(n) / N(n a)}

        with values brought to [0, 1] by the returns met in the search, and c the exploration.
        """
        log_visits = math.log(self.visits)
        return max(
            self.children,
            key=lambda action: (
                returns.share(self.children[action].value)
                + exploration * math.sqrt(log_visits / self.children[action].visits)
            ),
        )

    def most_tried(self, ahead: Lookahead, rng: np.random.Generator) -> int:
        """Return the action tried most often, among equals the one with the best value."""
        most = max(child.visits for child in self.children.values())
        values = [-np.inf] * ahead.actions
        for action, child in self.children.items():
            if child.visits == most:
                values[action] = child.value
        return best(values, rng)


@dataclass(kw_only=True)
class ActionTreePlanner(Planner):
    """A planner that simulates down a tree of actions and takes the action tried most often.

    A kind of it says how a simulation goes, in `simulate`, and what its nodes know: `node`.
    """

    exploration: float = math.sqrt(2.0)

    node: ClassVar[type[ActionNode]]

    def choose(self, ahead: Lookahead, seen: Seen, rng: np.random.Generator) -> int:
        """Return the action tried most often, among equals the one with the best value."""
        root, returns = self.node.fresh(ahead, rng), Returns()
        while ahead.affords():
            ahead.go_to(ahead.root)
            self.simulate(root, ahead, returns, rng)
        return root.most_tried(ahead, rng)

    def simulate(
        self, root: Any, ahead: Lookahead, returns: Returns, rng: np.random.Generator
    ) -> None:  # Any: a node of this kind of planner
        """Play from the state of the game down the tree, and bring the nodes of the path up to date."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it simulates")
