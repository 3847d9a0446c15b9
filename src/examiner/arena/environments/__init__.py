"""One file per kind of environment; `ENVIRONMENTS` lists them."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from examiner.arena.contract import Environment
from examiner.arena.environments.ale import AtariEnvironment
from examiner.arena.environments.gymnasium import GymnasiumEnvironment

ENVIRONMENTS: Mapping[str, Callable[..., Environment]] = MappingProxyType(
    {"ale": AtariEnvironment, "gymnasium": GymnasiumEnvironment}
)
"""Name → what makes the environment of a game, told the protocol, mode, difficulty and observation.

A new one is one file in this folder and one line here.
"""
