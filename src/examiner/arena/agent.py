"""The contract between the arena and agents: begin, act, learn, save, load; only `act` is required.

An agent is any object with `act(observation) -> action`. If it has them, these are called too:

- `begin(task, rng)` before every episode; the random numbers are that episode's own;
- `learn(reward, observation, terminated, truncated)` after every action of a training episode, with what
  is seen next; after `terminated` or `truncated` the next `act` begins something new;
- `save() -> bytes` and `load(bytes)` between episodes, by agents that keep something from one to the next;
  `load` comes before the first `begin`.

`blind = True` says that observations need not be made; `plans = True` asks for `task.model`.
"""

from __future__ import annotations

import importlib
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

import numpy as np

from examiner.arena.environments.contract import Model
from examiner.wording import InputError, listed, shorten, unknown_name


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
    model: Model | None = None

    def action(self, action: int | str) -> int:
        """Return the position of an action given by name or position.

        >>> task = Task(("NOOP", "FIRE"), (210, 160), draw=lambda rng: 0)
        >>> task.action("FIRE"), task.action(0)
        (1, 0)
        >>> task.action("JUMP")
        Traceback (most recent call last):
        ...
        examiner.wording.InputError: There is no action 'JUMP'. The 2 actions are 'NOOP', 'FIRE'.
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
        examiner.wording.InputError: The agent 'brute' needs actions that can be counted; here they are \
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
    'Constant'
    >>> make_agent("constant", {}, AGENTS)
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: The agent 'constant' cannot be made with these settings: missing a \
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
    module, colon, name = entry.partition(":")
    if not colon:
        if entry not in agents:
            known = unknown_name("agent", entry, agents)
            raise InputError(f"{known} Or give your own as module:factory.")
        return agents[entry]
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(
            f"Cannot find the agent {shorten(entry)}: {error}. Give module:factory, with the module's "
            f"folder on PYTHONPATH."
        ) from error


def check_settings(entry: str, factory: Callable[..., Any], settings: Mapping[str, object]) -> None:
    """Refuse settings that the factory of an agent does not take, without making the agent.

    >>> check_settings("constant", lambda action: None, {"actoin": 1})
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: Unknown setting of constant 'actoin'. Did you mean 'action'? \
Known: 'action'.
    """
    try:
        signature = inspect.signature(factory)
    except ValueError:  # factories written in C do not tell what they take
        return
    known = signature.parameters
    if settings and not known:
        raise InputError(f"The agent {shorten(entry)} has no settings. Leave them out.")
    if not any(one.kind is one.VAR_KEYWORD for one in known.values()):
        for name in settings:
            if name not in known:
                raise unknown_name(f"setting of {entry}", name, tuple(known))
    try:
        signature.bind(**settings)
    except TypeError as error:
        raise InputError(
            f"The agent {shorten(entry)} cannot be made with these settings: {error}. "
            f"It takes {signature.replace(return_annotation=signature.empty)}."
        ) from None


def check_numbers(
    agent: Any,  # a dataclass whose fields are settings
    *,
    least: Mapping[str, float] = MappingProxyType({}),
    most: Mapping[str, float] = MappingProxyType({}),
) -> None:
    """Check the settings of an agent that are numbers, for its `__post_init__`.

    A setting whose default is whole must be whole, and at least 1 if nothing else is said; any other at
    least 0. A wrong one should not fail hours later.
    """
    for one in fields(agent):
        number = isinstance(one.default, int | float) and not isinstance(one.default, bool)
        if one.init and number:
            whole = isinstance(one.default, int)
            check_number(
                one.name,
                getattr(agent, one.name),
                whole=whole,
                least=least.get(one.name, int(whole)),
                most=most.get(one.name, math.inf),
            )


def check_number(
    name: str, value: object, *, whole: bool = False, least: float = 0, most: float = math.inf
) -> None:
    """Refuse a setting that is no number, no whole one where that is needed, or out of range.

    >>> check_number("budget", 500, whole=True, least=1)
    >>> check_number("max_nodes", 1e7, whole=True, least=1)
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: The setting max_nodes is 10000000.0. Give a whole number of at \
least 1.
    """
    kinds: tuple[type, ...] = (int,) if whole else (int, float)
    is_number = isinstance(value, kinds) and not isinstance(value, bool)
    if not is_number or not least <= value <= most or math.isinf(value):  # type: ignore[operator, arg-type]
        wanted = f"a {'whole ' if whole else ''}number of at least {least}"
        upper = "" if math.isinf(most) else f" and at most {most:.12g}"
        raise InputError(f"The setting {name} is {value!r}. Give {wanted}{upper}.")


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
