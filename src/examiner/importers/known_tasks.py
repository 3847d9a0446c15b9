"""Names of well-known tasks, by which they are told from names of agents."""

from __future__ import annotations

import re

from examiner.results import atari_game

_ENVIRONMENT = re.compile(r"\S+-v\d+")
_CONTROL_SUITE = re.compile(
    r"(?:dmc[_-])?(?:acrobot|(?:ball[_-]in[_-])?cup|cartpole|cheetah|dog|finger|fish|hopper|humanoid"
    r"|manipulator|pendulum|point[_-]mass|quadruped|reacher|swimmer\d*|walker)[_-][a-z0-9_-]+"
)
_PROCGEN_AND_MUJOCO = frozenset(
    (
        *("bigfish", "bossfight", "caveflyer", "chaser", "climber", "coinrun", "dodgeball"),
        *(
            "fruitbot",
            "heist",
            "jumper",
            "leaper",
            "maze",
            "miner",
            "ninja",
            "plunder",
            "starpilot",
        ),
        *("ant", "halfcheetah", "hopper", "humanoid", "humanoidstandup", "inverteddoublependulum"),
        *("invertedpendulum", "reacher", "swimmer", "walker2d"),
    )
)


def is_known_task(name: str) -> bool:
    """Tell whether a name is that of a well-known task: an Atari game, an environment's id, a suite's.

    >>> [is_known_task(name) for name in ("Pong", "Hopper-v4", "walker_run", "bigfish", "DQN", "GPT-4")]
    [True, True, True, True, False, False]
    """
    plain = name.strip().lower()
    return (
        plain in _PROCGEN_AND_MUJOCO
        or _ENVIRONMENT.fullmatch(plain) is not None
        or _CONTROL_SUITE.fullmatch(plain) is not None
        or atari_game(name) is not None
    )
