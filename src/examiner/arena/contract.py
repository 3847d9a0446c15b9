"""What agents, environments and the arena owe each other.

An agent is any object with `act(observation) -> action`. If it has them, these are called too:

- `begin(task, rng)` before every episode; the random numbers are that episode's own;
- `learn(reward, observation, terminated, truncated)` after every action of a training episode, with what
  is seen next; after `terminated` or `truncated` the next `act` begins something new;
- `save() -> bytes` and `load(bytes)` between episodes, by agents that keep something from one to the next;
  `load` comes before the first `begin`.

`blind = True` says that observations need not be made; `plans = True` asks for `task.model`. A new kind
of environment brings a `World`; `Environment` and `ForwardModel` are the same for all.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from examiner.messages import InputError, listed, shorten, unknown_name
from examiner.validation import check_known

Seen = NDArray[np.generic]
"""What an agent sees: a screen, a stack of screens, a memory, a vector."""


class World(Protocol):
    """A game with its clock; actions put it forward, with random numbers that are given."""

    over: bool
    truncated: bool
    frames: int

    @property
    def lives(self) -> int:
        """Lives left; 0 where the game has none."""

    # An action is an index into the names of actions, or an array where actions are continuous.
    def act(self, action: Any, rng: np.random.Generator) -> float:
        """Take an action for as many frames as the protocol says; return the sum of rewards."""

    def observe(self) -> Seen:
        """Return what an agent sees now."""

    # States are whatever the world makes them: others only keep them and hand them back.
    def clone(self) -> Any:
        """Return the state of the game."""

    def restore(self, state: Any, rng: np.random.Generator) -> None:
        """Go back to a state; whatever noise the world has of its own comes from the generator."""


class _OnWorld:
    """A world, played or imagined, as it stands now."""

    world: World

    @property
    def over(self) -> bool:
        """Whether the episode has ended, by itself or cut off."""
        return self.world.over

    @property
    def lives(self) -> int:
        """Lives left; 0 where the game has none."""
        return self.world.lives

    def observe(self) -> Seen:
        """Return what an agent sees now, or would see."""
        return self.world.observe()


class ForwardModel(_OnWorld):
    """A forward model: what actions would lead to, tried on a second world.

    The game that is played is not touched. Noise (sticky actions, the environment's own) is drawn anew in
    every simulation: a planner does not foresee it. `frames` counts all simulated frames of the episode,
    so that a budget can be kept.
    """

    def __init__(self, played: World, imagined: World, rng: np.random.Generator) -> None:
        self.world, self.frames = imagined, 0
        self._played, self._rng = played, rng

    def root(self) -> Any:
        """Return the state of the game that is played."""
        return self._played.clone()

    def clone(self) -> Any:
        """Return the state the simulation is in."""
        return self.world.clone()

    def restore(self, state: Any) -> None:
        """Put the simulation into a state."""
        self.world.restore(state, self._rng)

    def advance(self, action: Any) -> float:
        """Take an action for as long as the agent's actions last; return the reward."""
        before = self.world.frames
        reward = self.world.act(action, self._rng)
        self.frames += self.world.frames - before
        return reward


class Environment(_OnWorld):
    """A game being played; time is counted in frames. Without `action_names`, actions are continuous."""

    action_names: tuple[str, ...]
    observation_shape: tuple[int, ...]

    def __init__(self, world: World) -> None:
        self.world = world
        self._rng = np.random.default_rng(0)  # replaced at every reset

    @property
    def truncated(self) -> bool:
        """Whether it was cut off, by the protocol's cap or by a limit of the environment's own."""
        return self.world.truncated

    @property
    def frames(self) -> int:
        """Frames of this episode so far."""
        return self.world.frames

    def watch(self, watched: bool) -> None:
        """Say whether anybody looks: a blind agent saves the making of screens, where they cost time."""

    def random_action(self, rng: np.random.Generator) -> Any:
        """Return an action drawn at random."""
        return int(rng.integers(len(self.action_names)))

    def reset(self, rng: np.random.Generator) -> None:
        """Begin an episode whose noise comes from the generator."""
        raise NotImplementedError(f"{type(self).__name__} does not say how an episode begins")

    def step(self, action: Any) -> float:
        """Take an action for as many frames as the protocol says; return the sum of rewards."""
        return self.world.act(action, self._rng)

    def model(self, rng: np.random.Generator) -> ForwardModel:
        """Return a forward model of the game, whose noise comes from the generator."""
        raise NotImplementedError(f"{type(self).__name__} has no forward model")


@dataclass(frozen=True, slots=True)
class Task:
    """What an agent is told when an episode begins.

    `actions` names the actions, which are chosen by their position; it is empty where actions are
    continuous. `draw` returns a random action. `episode` counts from 0, `frames` are those trained
    on so far out of `training_frames` (None where only episodes are counted). `model` is there for
    agents that say `plans = True`.
    """

    actions: tuple[str, ...]
    observation_shape: tuple[int, ...]
    draw: Callable[[np.random.Generator], Any]
    frame_skip: int = 1
    episode: int = 0
    frames: int = 0
    training_frames: int | None = None
    learning: bool = True
    model: ForwardModel | None = None

    def action(self, action: int | str) -> int:
        """Return the position of an action given by name or position.

        >>> task = Task(("NOOP", "FIRE"), (210, 160), draw=lambda rng: 0)
        >>> task.action("FIRE"), task.action(0)
        (1, 0)
        >>> task.action("JUMP")
        Traceback (most recent call last):
        ...
        examiner.messages.InputError: There is no action 'JUMP'. The 2 actions are 'NOOP', 'FIRE'.
        """
        if isinstance(action, str) and action in self.actions:
            return self.actions.index(action)
        if isinstance(action, int) and 0 <= action < len(self.actions):
            return action
        if not self.actions:
            raise InputError(
                f"There is no action {action!r}: the actions of this environment are continuous. "
                f"Choose an agent for continuous actions, for example 'random'."
            )
        raise InputError(
            f"There is no action {action!r}. The {len(self.actions)} actions are "
            f"{listed(self.actions, limit=18)}."
        )

    def counted_actions(self, agent: str) -> int:
        """Return how many actions there are, for an agent that cannot do with continuous ones.

        >>> Task((), (3,), draw=lambda rng: 0.5).counted_actions("brute")
        Traceback (most recent call last):
        ...
        examiner.messages.InputError: The agent 'brute' needs actions that can be counted; here they are \
continuous. Choose another agent, for example 'random'.
        """
        if not self.actions:
            raise InputError(
                f"The agent {agent!r} needs actions that can be counted; here they are continuous. "
                f"Choose another agent, for example 'random'."
            )
        return len(self.actions)


def make_agent(
    entry: str, settings: Mapping[str, object], agents: Mapping[str, Callable[..., Any]]
) -> Any:  # an agent is any object with `act`
    """Make an agent from a name in a table or from `module:factory`, called with the settings.

    >>> from examiner.arena.agents import AGENTS
    >>> type(make_agent("constant", {"action": "FIRE"}, AGENTS)).__name__
    'Periodic'
    >>> make_agent("constant", {}, AGENTS)
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: The agent 'constant' cannot be made with these settings: missing a \
required argument: 'action'. It takes (action: 'int | str').
    """
    factory = _factory(entry, agents)
    if not inspect.isclass(factory) and callable(getattr(factory, "act", None)):
        return factory  # the agent itself, not something that makes it
    if not callable(factory):
        raise InputError(
            f"The agent {shorten(entry)} is a {type(factory).__name__}. Give a class, a function that "
            f"makes the agent, or an object with a method act(observation)."
        )
    check_settings(entry, factory, settings)
    agent = factory(**settings)
    if not callable(getattr(agent, "act", None)):
        raise InputError(
            f"The agent {shorten(entry)} is a {type(agent).__name__} without a method "
            f"act(observation). Give it one."
        )
    return agent


def _factory(entry: str, agents: Mapping[str, Callable[..., Any]]) -> Any:
    if ":" not in entry:
        if entry not in agents:
            problem = unknown_name("agent", entry, agents)
            raise InputError(f"{problem} Or give your own as module:factory.")
        return agents[entry]
    return imported(entry, "agent")


def imported(entry: str, what: str) -> Any:  # Any: whatever the module has by that name
    """Return what `module:name` names.

    >>> imported("math:tau", "number")
    6.283185307179586
    """
    module, _, name = entry.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise InputError(
            f"Cannot find the {what} {shorten(entry)}: {error}. Give module:factory, with the module's "
            f"folder on PYTHONPATH."
        ) from error


def check_settings(entry: str, factory: Callable[..., Any], settings: Mapping[str, object]) -> None:
    """Refuse settings that the factory of an agent does not take, without making the agent.

    >>> check_settings("constant", lambda action: None, {"actoin": 1})
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Unknown setting of constant 'actoin'. Did you mean 'action'? \
Known: 'action'.
    """
    try:
        signature = inspect.signature(factory)
    except ValueError:  # factories written in C do not tell what they take
        return
    parameters = signature.parameters
    if settings and not parameters:
        raise InputError(f"The agent {shorten(entry)} has no settings. Leave them out.")
    if not any(setting.kind is setting.VAR_KEYWORD for setting in parameters.values()):
        for name in settings:
            check_known(f"setting of {entry}", name, parameters)
    try:
        signature.bind(**settings)
    except TypeError as error:
        raise InputError(
            f"The agent {shorten(entry)} cannot be made with these settings: {error}. "
            f"It takes {signature.replace(return_annotation=signature.empty)}."
        ) from None


def best(values: Sequence[float], rng: np.random.Generator) -> int:
    """Return the index of a largest value, each of equal ones equally likely: the first is no better.

    >>> best([0.0, 2.0, 1.0], np.random.default_rng(0))
    1
    >>> sorted({best([1.0, 0.0, 1.0], np.random.default_rng(seed)) for seed in range(9)})
    [0, 2]
    """
    largest = max(values)
    indices = [index for index, value in enumerate(values) if value == largest]
    return indices[0] if len(indices) == 1 else indices[int(rng.integers(len(indices)))]


def extra_package(name: str, need: str) -> ModuleType:
    """Import a package that only playing needs, or say how to install it.

    >>> extra_package("numpi", "Counting needs numpi")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Counting needs numpi: pip install 'examiner[atari]'.
    """
    try:
        return importlib.import_module(name)
    except ImportError:
        raise InputError(f"{need}: pip install 'examiner[atari]'.") from None
