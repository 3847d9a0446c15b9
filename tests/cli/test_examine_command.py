"""`examiner examine`, as a user runs it."""

import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest

TASKS = 30


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A table of 60 agents, one of two new agents, and a table of tasks; scores, not successes."""
    rng = np.random.default_rng(0)
    slope, difficulty = np.exp(rng.normal(0.4, 0.3, TASKS)), rng.normal(size=TASKS)
    header = "agent," + ",".join(f"t{n}" for n in range(TASKS))
    for name, abilities in (("old.csv", rng.normal(size=60)), ("new.csv", np.array([-1.0, 1.5]))):
        chance = 1 / (1 + np.exp(-slope * (abilities[:, None] - difficulty)))
        scores = np.where(rng.random(chance.shape) < chance, 120.0, 40.0)
        rows = [f"{name[:3]}{n}," + ",".join(map(str, row)) for n, row in enumerate(scores)]
        (tmp_path / name).write_text("\n".join([header, *rows]) + "\n")
    lines = [f"t{n},{1 + n % 4},{'maze' if n % 3 else 'ball'}" for n in range(TASKS)]
    (tmp_path / "tasks.csv").write_text("\n".join(["task,cost,group", *lines]) + "\n")
    return tmp_path


@pytest.fixture
def fitted(examiner, files: Path) -> Path:
    done = examiner("fit", "old.csv", "--layout", "wide", "--success", 100, "-o", "fit.json")
    assert done.returncode == 0, done.stderr
    return files / "fit.json"


ORACLE = ("--fit", "fit.json", "--oracle", "new.csv", "--layout", "wide")


def answered(examiner, *arguments: object) -> dict:
    done = examiner("examine", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_table_answers_through_the_recipe_of_the_fit(examiner, fitted: Path) -> None:
    found = answered(examiner, *ORACLE, "--agent", "new1", "--standard-error", 0.45)
    assert found["schema"] == "examiner.examine/1"
    assert found["outcome"] == "The standard error asked for was reached."
    assert found["ability_error"] <= 0.45 and found["tasks"] == len(found["steps"]) < TASKS
    assert found["ability_low"] < found["ability"] < found["ability_high"]
    assert {step["value"] for step in found["steps"]} <= {0.0, 1.0}  # scores became successes
    weak = answered(examiner, *ORACLE, "--agent", "new0", "--standard-error", 0.45)
    assert weak["ability"] < 0 < found["ability"]


def test_it_is_stored_after_every_answer_and_resumed(examiner, fitted: Path) -> None:
    who = (*ORACLE, "--agent", "new1", "--among", 3)
    whole = answered(examiner, *who, "--most", 9)
    answered(examiner, *who, "--most", 4, "--output", "half.json")
    rest = answered(examiner, *who, "--most", 9, "--resume", "half.json")
    assert rest["steps"] == whole["steps"]
    stored = json.loads((fitted.parent / "half.json").read_text())
    assert stored["schema"] == "examiner.examination/1" and len(stored["steps"]) == 9


def test_costs_budget_and_balance(examiner, fitted: Path) -> None:
    who = (*ORACLE, "--agent", "new1", "--cost", "tasks.csv")
    found = answered(examiner, *who, "--budget", 10)
    assert found["cost"] <= 10 and found["ended"] == "budget"
    assert sum(step["cost"] for step in found["steps"]) == found["cost"]
    balanced = answered(
        examiner,
        *ORACLE,
        "--agent",
        "new1",
        "--tasks",
        "tasks.csv",
        "--balance",
        "group",
        "--most",
        9,
    )
    balls = sum(int(step["task"][1:]) % 3 == 0 for step in balanced["steps"])
    assert balls == 3
    lines = ["task,kind", *(f"t{n},{'maze' if n % 3 else 'ball'}" for n in range(TASKS))]
    (fitted.parent / "kinds.csv").write_text("\n".join(lines) + "\n")
    by_kind = answered(examiner, *ORACLE, "--agent", "new1", "--typology", "kinds.csv", "--most", 9)
    assert sum(int(step["task"][1:]) % 3 == 0 for step in by_kind["steps"]) == 3
    refused = examiner("examine", *ORACLE, "--agent", "new1", "--balance", "kinds.csv")
    assert refused.returncode == 2
    assert "or a classification with `--typology`." in refused.stderr


def test_a_decision_names_the_agent_and_its_probability(examiner, fitted: Path) -> None:
    stored = json.loads(fitted.read_text())
    agents = stored["abilities"]["agents"]
    weakest = agents[int(np.argmin(stored["abilities"]["ability"]))]
    found = answered(examiner, *ORACLE, "--agent", "new1", "--better-than", weakest)
    assert found["ended"] == "decided" and found["probability_better"] >= 0.95
    assert found["better_than"] == weakest
    numeric = answered(examiner, *ORACLE, "--agent", "new1", "--better-than", "-3")
    assert numeric["probability_better"] >= 0.95


def test_a_person_answers_at_the_terminal(examiner, fitted: Path, monkeypatch) -> None:
    typed = io.StringIO("1\nno\n3/2\n2/3\n?\n0\nq\n")
    monkeypatch.setattr(sys, "stdin", typed)
    done = examiner("examine", "--fit", "fit.json", "--interactive", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [(step["value"], step["trials"]) for step in found["steps"]] == [(1, 1), (2, 3), (0, 1)]
    assert len(found["unanswered"]) == 1 and found["ended"] is None
    assert "no is not an answer" in done.stderr and "(3.0, 2.0)" in done.stderr


def test_skipped_tasks_are_listed_and_the_end_of_the_answers_is_named(
    examiner, fitted: Path, monkeypatch
) -> None:
    who = ("examine", "--fit", "fit.json", "--interactive")
    monkeypatch.setattr(sys, "stdin", io.StringIO("?\n1\n0\n?\n"))
    done = examiner(*who, "--output", "half.json")
    assert done.returncode == 0, done.stderr
    assert "The answers ended." in done.stdout and "by hand" not in done.stdout
    line = next(line for line in done.stdout.splitlines() if line.startswith("Skipped: "))
    assert len(line.removeprefix("Skipped: ").split(", ")) == 2
    stored = json.loads((fitted.parent / "half.json").read_text())
    assert ", ".join(stored["unanswered"]) in line
    monkeypatch.setattr(sys, "stdin", io.StringIO("1\nq\n"))
    assert "It was stopped by hand." in examiner(*who).stdout


def test_place_and_examine_say_the_same_of_the_same_answers(examiner, fitted: Path) -> None:
    done = examiner("place", "new.csv", "--layout", "wide", "--fit", "fit.json", "--json")
    placed = {one["agent"]: one for one in json.loads(done.stdout)["agents"]}["new1"]
    everything = (*ORACLE, "--agent", "new1", "--most", TASKS)
    examined = answered(examiner, *everything)
    for key, other in (
        ("ability", "ability"),
        ("ability_error", "ability_error"),
        ("ability_low", "ability_low"),
    ):
        assert examined[key] == pytest.approx(placed[other], rel=1e-5)
    exact = answered(examiner, *everything, "--uncertainty", "none")
    assert exact["ability"] == examined["ability"]
    assert exact["ability_error"] == exact["posterior_sd"] == pytest.approx(placed["posterior_sd"])


def test_more_tasks_that_will_not_settle_it_are_not_asked(examiner, fitted: Path) -> None:
    found = answered(examiner, *ORACLE, "--agent", "new1", "--standard-error", 0.14)
    assert found["ended"] in ("futile", "used up")
    stored = json.loads(fitted.read_text())["abilities"]
    near = stored["agents"][int(np.argmin(np.abs(np.array(stored["ability"]) - found["ability"])))]
    one = answered(examiner, *ORACLE, "--agent", "new1", "--better-than", near)
    assert one["ended"] == "futile" and one["tasks"] < TASKS
    assert "not expected to settle" in one["outcome"]


def test_a_study_of_simulated_agents(examiner, fitted: Path) -> None:
    arguments = ("--fit", "fit.json", "--simulate", 60, "--standard-error", 0.5)
    found = answered(examiner, *arguments)
    assert found["schema"] == "examiner.examine-study/1" and found["agents"] == 60
    assert [row["rule"] for row in found["needs"]] == ["information", "random"]
    assert found == answered(examiner, *arguments)
    done = examiner("examine", *arguments)
    assert "Tasks needed" in done.stdout and "Accuracy" in done.stdout


def test_in_words_with_every_way_of_choosing(examiner, fitted: Path) -> None:
    done = examiner(
        *("examine", *ORACLE, "--agent", "new1", "--rule", "posterior-variance", "--exposure", 0.5),
        *("--most", 5, "--uncertainty", "none", "--least", 2, "--seed", 3),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("new1: ability ") and "after 5 tasks of 30; seed 3" in done.stdout
    assert "The most tasks allowed were given." in done.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--fit", "none.json", "--simulate", 5), "Cannot read 'none.json'"),
        (("--simulate", 5), "A stored fit is needed. Name one"),
        (("--fit", "fit.json"), "Choose one way to answer"),
        (("--fit", "fit.json", "--interactive", "--simulate", 5), "Choose one way to answer"),
        (ORACLE, "Say which of them is examined: `--agent NAME`"),
        ((*ORACLE, "--agent", "nwe1"), "Unknown agent 'nwe1'. Did you mean 'new1'"),
        ((*ORACLE, "--agent", "new1", "--rule", "best"), "Unknown rule 'best'"),
        ((*ORACLE, "--agent", "new1", "--standard-error", 0.01), "cannot be reached"),
        ((*ORACLE, "--agent", "new1", "--better-than", "me"), "Unknown agent 'me'. The fit has"),
        ((*ORACLE, "--agent", "new1", "--cost", "no.csv"), "No column 'no.csv' says"),
        ((*ORACLE, "--agent", "new1", "--resume", "no.json"), "Cannot read 'no.json'"),
        ((*ORACLE, "--agent", "new1", "--resume", "fit.json"), "Make one with"),
        (("--fit", "fit.json", "--protocol", "machado-2018"), "Name the agent that plays"),
        (("--fit", "fit.json", "--agent", "random", "--protocol", "atari"), "Unknown protocol"),
        (("--fit", "fit.json", "--simulate", 1), "Ask for at least 2"),
    ],
)
def test_bad_input_ends_in_a_sentence(examiner, fitted: Path, arguments, sentence: str) -> None:
    done = examiner("examine", *arguments)
    assert done.returncode == 2 and done.stdout == ""
    assert sentence in done.stderr


def test_nothing_answered_ends_in_a_sentence(examiner, fitted: Path, monkeypatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("q\n"))
    done = examiner("examine", "--fit", "fit.json", "--interactive")
    assert done.returncode == 2 and "No task was answered" in done.stderr


def test_a_live_agent_plays_the_next_task_for_real(examiner, tmp_path: Path) -> None:
    pytest.importorskip("ale_py")
    rows = [f"a{n},{n % 4},{n % 3 + n // 6}" for n in range(12)]
    (tmp_path / "games.csv").write_text("\n".join(["agent,breakout,tennis", *rows]) + "\n")
    done = examiner("fit", "games.csv", "--layout", "wide", "--success", 2, "-o", "fit.json")
    assert done.returncode == 0, done.stderr
    found = answered(
        examiner,
        *("--fit", "fit.json", "--agent", "random", "--protocol", "machado-2018", "--trials", 2),
        *("--most", 1, "--uncertainty", "none"),
    )
    assert found["agent"] == "random" and found["steps"][0]["trials"] == 2


LIVE_AGENTS = """
import sys
class Chatty:
    def act(self, observation):
        print("an agent may talk")
        return 1  # FIRE
class Broken:
    def act(self, observation):
        raise KeyError("paddle")
class Leaving:
    def act(self, observation):
        sys.exit(0)
"""


def test_live_agents_of_this_folder_may_talk_and_crash_without_harm(
    examiner, tmp_path: Path, monkeypatch
) -> None:
    pytest.importorskip("ale_py")
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "agents_of_mine.py").write_text(LIVE_AGENTS)
    rows = [f"a{n},{n % 4},{n % 3 + n // 6}" for n in range(12)]
    (tmp_path / "games.csv").write_text("\n".join(["agent,breakout,tennis", *rows]) + "\n")
    examiner("fit", "games.csv", "--layout", "wide", "--success", 2, "-o", "fit.json")
    live = ("examine", "--fit", "fit.json", "--most", 1, "--json", "--trials", 2)
    done = examiner(*live, "--agent", "agents_of_mine:Chatty", "--protocol", "mnih-2015")
    assert done.returncode == 0, done.stderr
    # The evaluation episodes of the protocol are the answer, as many as one asking takes.
    assert json.loads(done.stdout)["steps"][0]["trials"] == 2
    assert "an agent may talk" in done.stderr
    for agent, said in (("Broken", "KeyError: 'paddle'"), ("Leaving", "SystemExit: 0")):
        done = examiner(*live, "--agent", f"agents_of_mine:{agent}", "--protocol", "machado-2018")
        assert (done.returncode, done.stdout) == (2, "")
        assert f"failed on 'breakout': {said}" in done.stderr or f"'tennis': {said}" in done.stderr
