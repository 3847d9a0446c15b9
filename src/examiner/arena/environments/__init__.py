"""One file per kind of environment; `ENVIRONMENTS` lists them."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from examiner.arena.environments.ale import AtariEnvironment
from examiner.arena.environments.contract import Environment
from examiner.arena.environments.gymnasium import GymnasiumEnvironment
from examiner.arena.play.job import Job

ENVIRONMENTS: Mapping[str, Callable[[Job], Environment]] = MappingProxyType(
    {
        "ale": AtariEnvironment.of_job,
        "gymnasium": GymnasiumEnvironment.of_job,
    }
)
"""Name → what makes the environment of a job. A new one is one file in this folder and one line here."""
