"""One file per agent; `AGENTS` lists them."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from examiner.arena.agents.random import Random

AGENTS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "random": Random,
    }
)
"""Name → what makes the agent from its settings. A new one is one file in this folder and one line here."""
