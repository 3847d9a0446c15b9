"""One file per agent; `AGENTS` lists them."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from examiner.arena.agents.constant import Constant
from examiner.arena.agents.no_op import NoOp
from examiner.arena.agents.periodic import Periodic
from examiner.arena.agents.random import Random

AGENTS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "random": Random,
        "constant": Constant,
        "periodic": Periodic,
        "no-op": NoOp,
    }
)
"""Name → what makes the agent from its settings. A new one is one file in this folder and one line here."""
