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
from collections.abc import Callable, Mapping
from dataclasses import dataclass
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
