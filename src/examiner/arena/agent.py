"""The contract between the arena and agents: begin, act, learn, save, load; only `act` is required."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from examiner.arena.environment import Model
from examiner.results.checks import InputError, shorten, unknown_name


@dataclass(frozen=True, slots=True)
class Task:
    """What an agent is told when an episode begins.

    `model` is there for agents that say `plans = True`.
    """

    actions: tuple[str, ...]
    observation_shape: tuple[int, ...]
    frame_skip: int
    episode: int
    frames: int
    learning: bool
    model: Model | None = None


def make_agent(
    entry: str, settings: Mapping[str, object], agents: Mapping[str, Callable[..., Any]]
) -> Any:
    """Make an agent from a name of the table or from `module:factory`."""
    module, colon, factory = entry.partition(":")
    if not colon:
        if entry not in agents:
            raise unknown_name("agent", entry, agents)
        return agents[entry](**settings)
    try:
        made = getattr(importlib.import_module(module), factory)(**settings)
    except (ImportError, AttributeError) as error:
        raise InputError(
            f"Cannot make the agent {shorten(entry)}: {error}. Give module:factory, with the module's "
            f"folder on PYTHONPATH."
        ) from error
    if not callable(getattr(made, "act", None)):
        raise InputError(f"The agent {shorten(entry)} has no method act(observation). Give it one.")
    return made
