"""Plays in a real checkout, where GVGAI_CHECKOUT names one."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from examiner import read
from examiner.arena import GvgaiAgent, GvgaiPlan, run
from examiner.arena.gvgai.checkout import VARIABLE, checkout

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not os.environ.get(VARIABLE) or shutil.which("javac") is None,
        reason=f"{VARIABLE} names no checkout, or there is no JDK",
    ),
]

GAMES = (
    *("aliens", "angelsdemons", "bait", "butterflies", "camelRace", "chase", "frogs"),
    *("infection", "seaquest", "zelda"),
)
AGENTS = ("simpleRandom", "sampleonesteplookahead", "sampleMCTS")
COLUMNS = ("agent", "task", "level", "win", "score", "ticks", "model_calls", "status")


def test_random_one_step_and_mcts_play_ten_games_twice_alike(tmp_path: Path) -> None:
    tables = []
    for turn, step in (("there", 1), ("back", -1)):
        agents = tuple(GvgaiAgent(entry) for entry in AGENTS[::step])
        outcome = run(GvgaiPlan(agents, GAMES[::step], (0,)), tmp_path / turn, workers=1)
        assert outcome.done == len(GAMES) * len(AGENTS)
        frame = read(outcome.ledger).to_polars().select(COLUMNS)
        tables.append(sorted(frame.rows(), key=repr))
    assert tables[0] == tables[1]
    assert {row[-1] for row in tables[0]} <= {"finished", "capped"}
    calls = [row[-2] for row in tables[0] if row[0] == "sampleMCTS"]
    assert all(count > 0 for count in calls)


def test_all_listed_games_have_five_levels() -> None:
    found = checkout(None)
    games = found.listed_games()
    assert len(games) == 122
    assert all(found.levels(game) == (0, 1, 2, 3, 4) for game in games)
