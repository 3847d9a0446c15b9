"""Damaged fits, selections and examinations, given to every command that opens one."""

from __future__ import annotations

import functools
import json
import random
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import examiner as ex
from fuzzing.attack import attacks, both, command, survives
from mutations import damaged_bytes, damaged_record

DQN = "atari-dqn-family"
WHICH = ("--oracle", "wins.csv", "--agent", "agent 3")
MADE: dict[str, tuple[Any, ...]] = {
    "fit": ("fit", "wins.csv", "--starts", 1),
    "fit 3pl": ("fit", "wins.csv", "--model", "3pl", "--starts", 1),
    "fit beta": ("fit", "scores.csv", "--model", "beta", "--starts", 1),
    "fit human": ("fit", DQN, "--normalise", "human", "--success", 1, "--starts", 1),
    "fit z-score": ("fit", DQN, "--normalise", "z-score", "--model", "beta", "--starts", 1),
    "selection": ("select", DQN, "--size", 4, "--method", "spread", "--no-proof"),
    "selection regression": ("select", DQN, "--size", 4, "--method", "regression", "--no-proof"),
    "selection fisher": ("select", "wins.csv", "--size", 3, "--method", "fisher", "--no-proof"),
    "examination": ("examine", "--fit", "fit.json", *WHICH, "--most", 4),
}


@functools.cache
def stored(name: str) -> tuple[Path, bytes]:
    """The folder of the tables, and the file that a command makes of them."""
    folder = Path(tempfile.mkdtemp())
    rng = np.random.default_rng(4)
    chance = 1 / (1 + np.exp(-rng.normal(size=(14, 1)) - rng.normal(size=(1, 8))))
    wins = ex.Results.from_numpy((rng.random((14, 8)) < chance).astype(float))
    ex.write(wins, folder / "wins.csv")
    ex.write(ex.Results.from_numpy(rng.random((14, 8))), folder / "scores.csv")
    if name == "examination":
        (folder / "fit.json").write_bytes(stored("fit")[1])
    assert command(folder, *MADE[name], "-o", "made.json") == 0
    return folder, (folder / "made.json").read_bytes()


def uses(name: str, rng: random.Random) -> tuple[Any, ...]:
    command, source, *_ = MADE[name]
    if command == "fit":
        agent = ("--agent", "dqn" if source == DQN else "agent 3")
        return rng.choice(
            [
                ("place", source, "--fit", "bad.json"),
                ("place", source, "--fit", "bad.json", "--json"),
                ("examine", "--fit", "bad.json", "--oracle", source, *agent, "--most", 2),
                ("examine", "--fit", "bad.json", "--simulate", 2, "--most", 2),
            ]
        )
    if command == "select":
        return ("place", source, "--with", "bad.json", *rng.choice([(), ("--json",)]))
    return ("examine", "--fit", "fit.json", *WHICH, "--resume", "bad.json", "--most", 6)


@both
@pytest.mark.parametrize("name", MADE)
def test_damaged_things_are_used_or_refused(name: str, long: bool) -> None:
    if not long and " " in name:
        pytest.skip("one of each kind is enough for a short look")
    folder, original = stored(name)
    for rng in attacks(name, long, few=12, seconds=30.0):
        if rng.random() < 0.8:
            data = json.dumps(damaged_record(json.loads(original), rng)).encode()
        else:
            data = damaged_bytes(original, rng)
        (folder / "bad.json").write_bytes(data)
        command(folder, *uses(name, rng))


@both
def test_damaged_things_opened_in_python_are_whole_or_refused(long: bool) -> None:
    for rng in attacks("opened in Python", long, few=30):
        folder, original = stored(rng.choice(["fit", "selection"]))
        (folder / "bad.json").write_text(json.dumps(damaged_record(json.loads(original), rng)))
        thing = survives(lambda: ex.load_saved(folder / "bad.json"))  # noqa: B023  called at once
        if thing is not None:
            assert repr(thing)
            ex.save(thing, folder / "again.json")
            assert repr(ex.load_saved(folder / "again.json")) == repr(thing)
