"""Damaged plans: a plan, or one sentence; nothing is imported or played for it."""

from __future__ import annotations

import json
import random
from typing import Any

from examiner.arena import plan_from_toml
from fuzzing.attack import attacks, both, survives
from mutations import damaged_bytes, damaged_record

PLAN: dict[str, Any] = {
    "name": "pilot",
    "games": ["pong", {"name": "freeway", "modes": [0, 1], "difficulties": [0]}],
    "seeds": [0, 1, 2],
    "episodes": 3,
    "frames": 5000,
    "environment": "ale",
    "observation": "raw",
    "tuning_games": ["pong"],
    "protocol": {"preset": "machado-2018", "frame_skip": 4, "sticky_probability": 0.25},
    "limits": {"job_seconds": 3600.0, "memory_mib": 500},
    "agents": [
        {"entry": "random", "name": "chance"},
        {"entry": "rolling-horizon", "settings": {"budget": 100}, "observation": "ram"},
    ],
}


def as_toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {as_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    return '"none"' if value is None else json.dumps(value)


def text_of(plan: Any) -> str:
    if not isinstance(plan, dict):
        return as_toml(plan)
    return "".join(f"{json.dumps(key)} = {as_toml(value)}\n" for key, value in plan.items())


def damaged(rng: random.Random) -> str:
    if rng.random() < 0.7:
        return text_of(damaged_record(PLAN, rng))
    return damaged_bytes(text_of(PLAN).encode(), rng).decode(errors="replace")


def test_the_plan_that_is_damaged_is_one() -> None:
    assert len(plan_from_toml(text_of(PLAN)).jobs()) == 2 * 3 * 3


@both
def test_damaged_plans_are_plans_or_refused(long: bool) -> None:
    for rng in attacks("plans", long, few=150, seconds=60.0):
        text = damaged(rng)
        survives(lambda: repr(plan_from_toml(text)))  # noqa: B023  called at once
