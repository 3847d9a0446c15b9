"""What each command prints, in JSON and in words."""

import json
import sys
from pathlib import Path

import pytest

import examiner as ex
from examiner.cli.options import Printing
from examiner.cli.output import show
from examiner.reporting import Finding

TIDY = "agent,task,run,trial,score,note\na,t,0,0,1,x\na,t,0,1,3,y\nb,t,0,0,5,z\nb,u,1,0,0.5,\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "scores.csv"
    path.write_text(TIDY)
    return path


def test_describe_prints_one_json_object(examiner, table: Path) -> None:
    done = examiner("describe", table, "--json")
    assert done.returncode == 0
    content = json.loads(done.stdout)
    assert next(iter(content)) == "schema"
    assert content["schema"] == "examiner.describe/1"
    expected = {
        "agents": 2,
        "tasks": 2,
        "runs": 1,
        "trials": 2,
        "measures": ["score"],
        "missing_cells": 1,
        "format": "tidy csv",
        "notes": [],
        "rows": 4,
        "attributes": ["note"],
    }
    assert {name: content[name] for name in expected} == expected


def test_describe_says_the_same_in_words(examiner, table: Path) -> None:
    done = examiner("describe", table)
    assert "2 agents × 2 tasks, 4 rows" in " ".join(done.stdout.split())  # wherever a path wraps
    assert "cells without any result" in done.stdout


def test_describe_says_what_was_guessed(examiner, tmp_path: Path) -> None:
    (tmp_path / "bare.csv").write_text("algorithm,game,score\na,t,1\na,t,2\n")
    content = json.loads(examiner("describe", "bare.csv", "--json").stdout)
    assert content["notes"] == [
        "The column 'algorithm' is read as the agent.",
        "The column 'game' is read as the task.",
        "There is no 'run' column: each repeated row of one agent and task is taken as one run, "
        "up to 2.",
    ]
    assert "note: The column 'game' is read as the task." in examiner("describe", "bare.csv").stderr


def test_tasks_can_be_rows(examiner, tmp_path: Path) -> None:
    (tmp_path / "wide.csv").write_text("name,dqn,random\npong,18,-20\nventure,380,0\n")
    content = json.loads(examiner("describe", "wide.csv", "--tasks-are", "rows", "--json").stdout)
    assert content["agent_names"] == ["dqn", "random"]
    assert content["task_names"] == ["pong", "venture"]


def test_datasets_lists_names_and_what_each_returns(examiner) -> None:
    done = examiner("datasets")
    for name in ex.datasets.DATASETS:
        assert name in done.stdout
    rows = json.loads(examiner("datasets", "--json").stdout)["datasets"]
    returns = {row["name"]: row["returns"] for row in rows}
    for name in ex.datasets.DATASETS:
        assert returns[name] == type(ex.load(name)).__name__


def test_datasets_shows_a_card(examiner) -> None:
    done = examiner("datasets", "atari-typology")
    assert "licence" in done.stdout and "Gomes" in done.stdout
    card = json.loads(examiner("datasets", "atari-typology", "--json").stdout)
    assert card["schema"] == "examiner.dataset/1"
    assert card["returns"] == "Classification"


@pytest.mark.parametrize("ending", ["csv", "tsv", "ndjson", "parquet", "csv.gz"])
def test_convert_keeps_the_table(examiner, table: Path, tmp_path: Path, ending: str) -> None:
    done = examiner("convert", table, f"out.{ending}")
    assert done.returncode == 0, done.stderr
    assert ex.read(tmp_path / f"out.{ending}") == ex.read(table)


def test_convert_normalises_and_says_what_is_lost(examiner, tmp_path: Path) -> None:
    done = examiner(
        "convert", "atari-dqn-family", "out.csv", "--normalise", "human", "--to", "wide", "--json"
    )
    content = json.loads(done.stdout)
    assert content["schema"] == "examiner.convert/1"
    normalised = ex.normalise(ex.load("atari-dqn-family"), "human")
    back = ex.read(tmp_path / "out.csv")
    assert back.agents == normalised.agents
    assert ex.responses(back) == ex.responses(normalised)
    raw = examiner("convert", "atari-dqn-family", "raw.csv", "--all")
    assert "Only tidy Parquet keeps scales" in raw.stderr


def test_convert_marks_success(examiner, tmp_path: Path) -> None:
    done = examiner(
        "convert", "atari-dqn-family", "out.csv", "--normalise", "human", "--success", "1.0"
    )
    assert done.returncode == 0, done.stderr
    won = ex.read(tmp_path / "out.csv", measure="success")
    expected = ex.responses(ex.normalise(ex.load("atari-dqn-family"), "human"), success=1.0)
    assert ex.responses(won) == expected


def test_keep_and_drop_choose_agents_and_tasks(examiner) -> None:
    done = examiner(
        "describe", "atari-dqn-family", "--keep", "agent:d*dqn", "--drop", "task:*a*", "--json"
    )
    content = json.loads(done.stdout)
    assert content["agent_names"] == ["ddqn", "distributional_dqn", "dueling_ddqn"]
    assert not any("a" in task for task in content["task_names"])
    assert len(content["steps"]) == 2


def test_repeated_keeps_of_agents_add_up(examiner) -> None:
    words = ["--keep", "agent:ddqn", "--keep", "agent:distributional_dqn", "--keep", "task:pong"]
    content = json.loads(examiner("describe", "atari-dqn-family", *words, "--json").stdout)
    assert content["agent_names"] == ["ddqn", "distributional_dqn"]
    assert content["task_names"] == ["pong"]


def test_the_items_of_gvgai_trials_fold_when_only_the_task_is_asked_for(examiner, tmp_path) -> None:
    (tmp_path / "trials.csv").write_text("mcts,aliens,0,1,80,476\nmcts,aliens,1,0,3,9\n")
    content = json.loads(examiner("describe", "trials.csv", "--item", "task", "--json").stdout)
    assert (content["task_names"], content["item"], content["trials"]) == (["aliens"], ["task"], 2)


def test_scales_come_from_a_name_or_a_file(examiner, tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text("agent,task,score\na,pong,14.6\nb,pong,-20.7\n")
    (tmp_path / "scales.csv").write_text("task,random,human\npong,-20.7,14.6\n")
    for scales in ("atari-human-random", "scales.csv"):
        examiner("convert", "scores.csv", "out.csv", "--scales", scales, "--normalise", "human")
        assert ex.read(tmp_path / "out.csv").measure().tolist() == [1.0, 0.0]


def test_items_fold_into_trials(examiner) -> None:
    split = json.loads(examiner("describe", "gvgai-plays", "--json").stdout)
    folded = json.loads(examiner("describe", "gvgai-plays", "--item", "task", "--json").stdout)
    assert split["tasks"] > folded["tasks"] == 129
    assert folded["rows"] == split["rows"]
    assert folded["item"] == ["task"]


def test_report_writes_one_file_and_says_where(examiner, tmp_path: Path) -> None:
    done = examiner("report", "atari-dqn-family", "--output", "page.html")
    assert done.returncode == 0
    assert done.stdout.strip() == f"Report written to {tmp_path / 'page.html'}"
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") or page.startswith("<!DOCTYPE html>")
    assert "prioritized_ddqn" in page


def test_report_as_json_writes_no_file(examiner, tmp_path: Path) -> None:
    content = json.loads(examiner("report", "atari-dqn-family", "--json").stdout)
    assert content["schema"] == "examiner.report/1"
    assert not list(tmp_path.iterdir())


def test_version_and_help(examiner) -> None:
    assert examiner("--version").stdout.strip() == f"examiner {ex.__version__}"
    for command in ("describe", "convert", "datasets", "report"):
        assert command in examiner("--help").stdout


def test_convert_says_which_names_a_spreadsheet_would_compute(examiner, tmp_path) -> None:
    (tmp_path / "t.csv").write_text("agent,task,score\n=1+1,pong,1\nb,pong,2\n")
    done = examiner("convert", "t.csv", "o.csv")
    assert "1 name would be computed by a spreadsheet: '=1+1'" in done.stderr
    done = examiner("convert", "t.csv", "o.csv", "--for-spreadsheets")
    assert done.returncode == 0 and "spreadsheet" not in done.stderr
    assert "'=1+1,pong" in (tmp_path / "o.csv").read_text()


def test_nothing_printed_steers_the_terminal(examiner, tmp_path) -> None:
    odd = "\x1b]0;x\x07\x9b31m\u202e"
    path = tmp_path / f"t{odd}.csv"
    path.write_text(f"agent,task,sc{odd}ore\na{odd},p{odd},1\nb,p{odd},2\n", encoding="utf-8")
    for command in ("describe", "scores", "cluster"):
        more = ("--reps", 5) if command == "scores" else ()
        done = examiner(command, path, "--measure", f"sc{odd}ore", *more)
        assert not set(odd.replace("]0;x", "").replace("31m", "")) & set(done.stdout + done.stderr)
    done = examiner("convert", path, f"o{odd}.csv", "--measure", f"sc{odd}ore")
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(done.stdout + done.stderr)


@pytest.mark.filterwarnings("ignore::examiner.messages.ExaminerWarning")
def test_agents_with_a_smaller_budget_are_named_before_the_ranking(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    agents = ["long", "long", "an agent with a long name, of a small budget"]
    table = {"agent": agents, "steps": [500, 2000, 500], "score": [1.0, 2.0, 1.0]}
    reduced = ex.reduce(ex.read(table | {"task": ["t"] * 3, "run": [0] * 3}), "at:1e3")
    monkeypatch.setattr("sys.stderr", sys.stdout)
    ranking = Finding("ranking", "Ranking", "long leads.")
    show(ranking, Printing(), "scores", notes=["Another note.", *reduced.notes])
    first, second, *_, last = capsys.readouterr().out.splitlines()
    assert first.startswith(f"note: No value at 1,000 steps for '{agents[2]}'")
    assert first.endswith("ended before, or were logged only later.")
    assert second == "long leads." and last.startswith("note: ")
