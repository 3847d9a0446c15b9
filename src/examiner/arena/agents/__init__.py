"""One file per agent; `AGENTS` lists them."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from examiner.arena.agents.breadth_first import BreadthFirst
from examiner.arena.agents.brute import Brute
from examiner.arena.agents.constant import Constant, NoOp
from examiner.arena.agents.dqn import DQN
from examiner.arena.agents.hill_climbing import HillClimbing
from examiner.arena.agents.iw1 import IW1
from examiner.arena.agents.olets import OLETS
from examiner.arena.agents.one_step_lookahead import OneStepLookahead
from examiner.arena.agents.periodic import Periodic
from examiner.arena.agents.random import Random
from examiner.arena.agents.random_search import RandomSearch
from examiner.arena.agents.rolling_horizon import RollingHorizon
from examiner.arena.agents.sarsa import Sarsa
from examiner.arena.agents.simulated_annealing import SimulatedAnnealing
from examiner.arena.agents.uct import UCT

AGENTS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "random": Random,
        "constant": Constant,
        "periodic": Periodic,
        "no-op": NoOp,
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
"""Name → what makes the agent from its settings. A new one is one file in this folder and one line here."""
