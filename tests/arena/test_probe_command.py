"""`examiner probe` as a user calls it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from examiner.cli import app

pytest.importorskip("gymnasium")


def called(*arguments):
    return CliRunner().invoke(app, ["probe", *arguments])


CART_POLE = ("CartPole-v1", "--environment", "gymnasium", "--protocol", "gymnasium")


def test_the_table_says_what_is_lost_and_what_replays_give():
    answer = called("random", *CART_POLE, "--seeds", "2", "--workers", "1", "--cap", "30")
    assert answer.exit_code == 0, answer.output
    assert "random on CartPole-v1, 2 runs each" in answer.stdout
    assert "4 replays with ς = 0" in answer.stdout


def test_json_is_one_object_with_settings_taken_as_in_a_plan():
    answer = called(
        *("constant", *CART_POLE, "--set", "action=1", "--seeds", "2", "--replays", "1"),
        *("--sticky", "0.5", "--episodes", "3", "--workers", "1", "--json"),
    )
    assert answer.exit_code == 0, answer.output
    found = json.loads(answer.stdout)
    assert found["schema"] == "examiner.probe/1"
    assert found["sticky_probability"] == 0.5
    assert found["contrast"]["loss"]["mean"] == pytest.approx(
        found["contrast"]["deterministic"]["mean"] - found["contrast"]["sticky"]["mean"]
    )
    assert found["kept_known"] == (found["kept"] is not None)


def test_rows_say_what_differs_and_equal_runs_have_no_interval():
    same = ("--set", "action=1", "--seeds", "2", "--replays", "1", "--workers", "1", "--cap", "3")
    answer = called("constant", *CART_POLE, *same)
    assert answer.exit_code == 0, answer.output
    assert re.search(
        r"constant, 1 episode a run +3 \(equal\) +3 \(equal\) +0 \(equal\)", answer.stdout
    )
    assert "random play, 10 episodes a run" in answer.stdout
    assert "(equal): 2 equal runs, no interval" in answer.stdout and "± 0" not in answer.stdout
    found = json.loads(called("constant", *CART_POLE, *same, "--json").stdout)
    plain = found["contrast"]["deterministic"]
    assert (plain["mean"], plain["low"], plain["high"]) == (3, None, None)
    assert plain["equal_runs"] and found["replay"]["recorded"]["equal_runs"]


def test_an_agent_of_the_current_folder_is_found(tmp_path: Path):
    (tmp_path / "cautious_agents.py").write_text(
        "class Cautious:\n    def act(self, observation):\n        return 0\n"
    )
    done = subprocess.run(
        [
            *(sys.executable, "-c", "from examiner.cli import main; main()", "probe"),
            *("cautious_agents:Cautious", *CART_POLE, "--seeds", "2", "--workers", "2"),
        ],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        | {"PYTHONSAFEPATH": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "cautious_agents:Cautious, 1 episode a run" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("random",), "Say on which game 'random' is probed"),
        (("plan.toml", "pong"), "A plan names its games itself. Leave out 'pong'."),
        (("random", *CART_POLE, "--set", "budget"), "The setting 'budget' is not NAME=VALUE"),
        (("uct", *CART_POLE, "--set", "bugdet=5"), "The agent 'uct' cannot be made"),
        (("randm", *CART_POLE), "Unknown agent 'randm'. Did you mean 'random'?"),
        (("random", *CART_POLE, "--seeds", "0"), "Cannot probe with 0 seeds"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(arguments, sentence):
    answer = called(*arguments)
    assert answer.exit_code == 2
    assert sentence in answer.stderr


def test_the_published_table_stands_beside_ours(tmp_path: Path):
    pytest.importorskip("ale_py", reason="Atari games need ale-py")
    plan = tmp_path / "table.toml"
    plan.write_text(
        'games = ["asterix"]\nseeds = 2\n[protocol]\nmax_episode_frames = 100\n'
        '[[agents]]\nname = "brute"\nentry = "random"',
        encoding="utf-8",
    )
    out = tmp_path / "out"
    arguments = (str(plan), "--frames", "100", "--workers", "1", "--output", str(out))
    answer = called(*arguments, "--json")
    assert answer.exit_code == 0, answer.output
    (row,) = json.loads(answer.stdout)["rows"]
    assert row["paper"] == {"deterministic": 6909, "sticky": 308}
    assert row["deterministic"]["runs"] == 2
    again = called(*arguments)
    assert "6,909" in again.stdout
    assert (out / "sticky" / "ledger.sqlite").exists()
