"""One file per kind of agent; `AGENTS` lists them."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from examiner.arena.agents.action_trees import OLETS, UCT
from examiner.arena.agents.blind import Periodic, Random, constant, no_op
from examiner.arena.agents.brute import Brute
from examiner.arena.agents.dqn import DQN
from examiner.arena.agents.sarsa import Sarsa
from examiner.arena.agents.sequences import (
    HillClimbing,
    RandomSearch,
    RollingHorizon,
    SimulatedAnnealing,
)
from examiner.arena.agents.state_trees import IW1, BreadthFirst, OneStepLookahead

AGENTS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "random": Random,
        "constant": constant,
        "periodic": Periodic,
        "no-op": no_op,
        "brute": Brute,
        "sarsa": Sarsa,
        "dqn": DQN,
        "one-step-lookahead": OneStepLookahead,
        "breadth-first": BreadthFirst,
        "iw1": IW1,
        "uct": UCT,
        "olets": OLETS,
        "rolling-horizon": RollingHorizon,
        "random-search": RandomSearch,
        "hill-climbing": HillClimbing,
        "simulated-annealing": SimulatedAnnealing,
    }
)
"""Name → what makes the agent from its settings: a new one is a class in this folder and a line here."""
