"""`examiner arena probe` as a user calls it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from examiner.cli import app

pytest.importorskip("gymnasium")


def called(*arguments):
    return CliRunner().invoke(app, ["arena", "probe", *arguments])


CART_POLE = ("CartPole-v1", "--environment", "gymnasium", "--protocol", "gymnasium")


def test_the_table_says_what_is_lost_and_what_replays_give():
    answer = called("random", *CART_POLE, "--seeds", "2", "--workers", "1", "--cap", "30")
    assert answer.exit_code == 0, answer.output
    assert "2 runs of 1 episode each" in answer.stdout
    assert "of 4 replays without sticky actions" in answer.stdout


def test_json_is_one_object_with_settings_taken_as_in_a_plan():
    answer = called(
        *("constant", *CART_POLE, "--set", "action=1", "--seeds", "2", "--replays", "1"),
        *("--sticky", "0.5", "--episodes", "3", "--workers", "1", "--json"),
    )
    assert answer.exit_code == 0, answer.output
    found = json.loads(answer.stdout)
    assert found["schema"] == "examiner.probe/1"
    settings = found["settings"]
    assert (settings["sticky_probability"], settings["seeds"], settings["episodes"]) == (0.5, 2, 3)
    constant, random = found["scores"]
    assert (constant["agent"], random["agent"]) == ("constant", "random play")
    assert constant["loss"] == pytest.approx(constant["deterministic"] - constant["sticky"])


def test_no_share_is_told_of_an_advantage_that_may_be_none():
    arguments = ("random", *CART_POLE, "--seeds", "3", "--workers", "1", "--cap", "60")
    answer = called(*arguments)
    assert answer.exit_code == 0, answer.output
    assert "random is not significantly better than random play" in answer.stdout
    assert "keeps" in answer.stdout and "%" not in answer.stdout.splitlines()[0]
    found = json.loads(called(*arguments, "--json").stdout)
    assert found["advantage_low"] < 0 < found["advantage_high"] and found["kept"] is None


def test_the_share_left_of_a_clear_advantage_is_told(tmp_path: Path, monkeypatch):
    (tmp_path / "upright_agents.py").write_text(
        "class Upright:\n    def act(self, seen):\n        return int(seen[2] + seen[3] > 0)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    arguments = ("upright_agents:Upright", *CART_POLE, "--seeds", "3", "--workers", "1")
    answer = called(*arguments, "--cap", "200")
    assert answer.exit_code == 0, answer.output
    assert re.search(
        r"keeps \d+ % of its advantage over random play on Cart", " ".join(answer.stdout.split())
    )
    found = json.loads(called(*arguments, "--cap", "200", "--json").stdout)
    assert 0 < found["kept"] < 1.5 and found["advantage_low"] > 0


def test_rows_say_what_differs_and_equal_runs_have_no_interval():
    same = ("--set", "action=1", "--seeds", "2", "--replays", "1", "--workers", "1", "--cap", "3")
    answer = called("constant", *CART_POLE, *same)
    assert answer.exit_code == 0, answer.output
    assert re.search(r"constant +3 +3 +0 +– +–", answer.stdout)
    assert "random play: 10 episodes per run" in answer.stdout
    words = " ".join(answer.stdout.split())
    assert "have no interval, because all their runs are equal." in words
    found = json.loads(called("constant", *CART_POLE, *same, "--json").stdout)
    row = found["scores"][0]
    assert (row["deterministic"], row["deterministic_low"], row["loss_high"]) == (3, None, None)
    assert found["replayed"][0]["score_low"] is None and len(found["notes"]) == 1


def test_an_agent_of_the_current_folder_is_found(tmp_path: Path):
    (tmp_path / "cautious_agents.py").write_text(
        "class Cautious:\n    def act(self, observation):\n        return 0\n"
    )
    done = subprocess.run(
        [
            *(sys.executable, "-c", "from examiner.cli import main; main()", "arena", "probe"),
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
    assert "cautious_agents:Cautious" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("random",), "No game is named for 'random'. Name one"),
        (("plan.toml", "pong"), "`GAME` is stated by the plan itself. Leave it out."),
        (("random", *CART_POLE, "--set", "budget"), "The setting 'budget' is not NAME=VALUE"),
        (
            ("uct", *CART_POLE, "--set", "bugdet=5"),
            "Unknown setting of uct 'bugdet'. Did you mean",
        ),
        (("randm", *CART_POLE), "Unknown agent 'randm'. Did you mean 'random'?"),
        (("random", *CART_POLE, "--seeds", "0"), "Cannot probe with 0 seeds"),
        (("random", "Pendulum-v1", *CART_POLE[1:]), "'Pendulum-v1': it has no list of actions"),
        (
            ("plan.toml", "--seeds", "5", "--cap", "30", "--episodes", "1", "--seed", "0"),
            "`--cap` is stated by the plan itself. Leave it out.",
        ),
        (
            ("plan.toml", "--set", "a=1", "--replays", "2", "--observation", "raw"),
            "`--set` is stated by the plan itself. Leave it out.",
        ),
        (
            ("plan.toml", "--protocol", "machado-2018", "--environment", "ale"),
            "`--environment` is stated by the plan itself. Leave it out.",
        ),
        (
            ("random", *CART_POLE, "-o", "out"),
            "is for the ledgers of a plan, and a single agent has none",
        ),
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
    content = json.loads(answer.stdout)
    assert content["schema"] == "examiner.probed-plan/1" and content["folder"] == str(out)
    assert content["published"] == [
        {
            "agent": "brute",
            "game": "asterix",
            "deterministic": 6909,
            "deterministic_sd": 1018,
            "sticky": 308,
            "sticky_sd": 31,
        }
    ]
    assert content["contrasts"][0]["deterministic_runs"] == 2
    again = called(*arguments)
    assert "6,909" in again.stdout
    assert (out / "sticky" / "ledger.sqlite").exists()


def test_variants_of_a_game_are_told_apart_and_the_paper_stands_beside_the_default(tmp_path: Path):
    pytest.importorskip("ale_py", reason="Atari games need ale-py")
    plan = tmp_path / "variants.toml"
    plan.write_text(
        "seeds = 1\nepisodes = 1\n[protocol]\nmax_episode_frames = 100\n"
        '[[games]]\nname = "freeway"\nmodes = [0, 4]\n'
        '[[agents]]\nname = "brute"\nentry = "random"',
        encoding="utf-8",
    )
    arguments = (str(plan), "--workers", "1", "--output", str(tmp_path / "out"))
    content = json.loads(called(*arguments, "--json").stdout)
    assert [row["flavour"] for row in content["contrasts"]] == ["0/0", "4/0"]
    assert len(content["published"]) == 1
    table = called(*arguments).stdout
    assert re.search(r"freeway +0/0", table) and re.search(r"freeway +4/0", table)


def test_an_agent_that_dies_has_a_row_without_scores(tmp_path: Path):
    (tmp_path / "dying_agents.py").write_text(
        "class Dies:\n"
        "    def begin(self, task, rng):\n"
        "        if task.episode == 1:\n"
        "            raise RuntimeError('no second game')\n"
        "    def act(self, observation):\n"
        "        return 0\n"
    )
    plan = tmp_path / "dying.toml"
    plan.write_text(
        'environment = "gymnasium"\ngames = ["CartPole-v1"]\nepisodes = 5\n'
        'protocol = "gymnasium"\n[[agents]]\nname = "dies"\nentry = "dying_agents:Dies"',
        encoding="utf-8",
    )
    answer = called(str(plan), "--workers", "1", "--output", str(tmp_path / "out"))
    assert answer.exit_code == 1, answer.output
    assert re.search(r"dies +CartPole-v1 +– +– +– +– +– +0", answer.stdout)
    assert "Failed jobs" in answer.stdout and "no second game" in " ".join(answer.stdout.split())
