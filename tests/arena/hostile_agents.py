"""Agents that change the state of their process, and one whose play depends on all of that state."""

from __future__ import annotations

import os
import random
import signal
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.envs.classic_control import CartPoleEnv

PLAYED: list[str] = []
"""Filled by every agent that is made: a global of this module."""


def process_state() -> tuple[object, ...]:
    """Everything that a hostile agent may have changed, and the next draws of global generators."""
    return (
        CartPoleEnv.step.__qualname__,
        tuple(sorted(np.geterr().items())),
        tuple(PLAYED),
        os.environ.get("HOSTILE"),
        os.getcwd(),  # noqa: PTH109
        random.random(),
        float(np.random.rand()),  # noqa: NPY002
        [str(entry) for entry in warnings.filters if "hostile" in str(entry)],
        list({f"word {number}" for number in range(20)}),
        hasattr(np, "hostile"),
    )


class Sensitive:
    """Draws its actions by a seed made from the state of its process."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(zlib.crc32(repr(process_state()).encode()))

    def begin(self, task: Any, rng: np.random.Generator) -> None:
        self.actions = len(task.actions)

    def act(self, observation: object) -> int:
        return int(self.rng.integers(self.actions))


class Parented(Sensitive):
    """Prints which process its own is a child of, and ends its parent's parent if told to."""

    def __init__(self, end_grandparent: bool = False) -> None:
        super().__init__()
        print("parent", os.getppid())
        if end_grandparent:
            stat = Path(f"/proc/{os.getppid()}/stat").read_text()
            os.kill(int(stat.rpartition(")")[2].split()[1]), signal.SIGKILL)


class Hostile(Sensitive):
    """Changes its process in one way, then plays like the others."""

    def __init__(self, how: str) -> None:
        BEHAVIOURS[how]()
        PLAYED.append(how)
        super().__init__()


def _wrap_step() -> None:
    original = CartPoleEnv.step

    def wrapped(self: Any, action: Any) -> Any:
        observed, reward, *others = original(self, action)
        return observed, 10 * float(reward), *others

    CartPoleEnv.step = wrapped  # type: ignore[method-assign]


def _raise_warnings_of_numpy() -> None:
    np.seterr(all="raise")


def _set_variable() -> None:
    os.environ["HOSTILE"] = "yes"


def _seed() -> None:
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002


def _filter_warnings() -> None:
    warnings.filterwarnings("error", message="hostile")


def _leave() -> None:
    os.chdir("/")


def _import_hostile_module() -> None:
    from arena import hostile_at_import  # noqa: F401


BEHAVIOURS = {
    "wraps the class": _wrap_step,
    "changes numpy": _raise_warnings_of_numpy,
    "sets a variable": _set_variable,
    "seeds": _seed,
    "filters warnings": _filter_warnings,
    "leaves": _leave,
    "imports": _import_hostile_module,
}
