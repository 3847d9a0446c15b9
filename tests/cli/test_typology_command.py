"""`examiner typology` as a user runs it."""

import json
import re
import shlex
from pathlib import Path

import pytest

KINDS = "game,haste,mutability\npong,absent,none\ntennis,absent,none\nalien,present,temporal\n"


def content(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_bundled_games_are_grouped_reduced_and_validated_as_json(examiner):
    words = ("typology", "atari-typology", "--results", "atari-dqn-family", "--json")
    made = content(examiner(*words, "--drop", "agent:dqn_mnih2015"))
    assert made["schema"] == "examiner.typology/1"
    assert len(made["groups"]) == 31
    assert sum(len(group["tasks"]) for group in made["groups"]) == 55
    missing = [(row["dimension"], row["value"]) for row in made["values"] if not row["tasks"]]
    assert ("struggle.challenge", "agent") in missing
    groups = made["validation"]["groups"]
    means = {group["tasks"].split(", ")[0]: group["mean_p"] for group in groups}
    assert round(means["hero"], 3) == 0.028 and round(means["asterix"], 3) == 0.079
    assert made["validation"]["notes"] and made["settings"]["seed"] == 0


def test_without_results_there_is_no_validation(examiner):
    made = content(examiner("typology", "atari-typology", "--json"))
    assert made["validation"] is None


def test_another_seed_keeps_other_games(examiner):
    words = ("typology", "atari-typology", "--json")
    one, other = (
        [row["kept"] for row in content(examiner(*words, "--seed", seed))["groups"]]
        for seed in (0, 1)
    )
    assert one != other and len(one) == len(other)


def test_a_table_of_ones_own_is_told_in_words(examiner, tmp_path):
    (tmp_path / "kinds.csv").write_text(KINDS)
    done = examiner("typology", "kinds.csv")
    assert "3 tasks are of 2 kinds" in done.stdout
    words = " ".join(done.stdout.split())
    assert "2 of 6 values and 2 of 4 pairs of values" in words
    assert "What is missing: No task has game_state.mutability finite" in words


def test_features_of_no_schema_are_taken_as_they_are(examiner, tmp_path):
    (tmp_path / "kinds.csv").write_text("task,genre\npong,paddle\ntennis,paddle\nalien,maze\n")
    done = examiner("typology", "kinds.csv", "--json")
    made = content(done)
    assert made["settings"]["typology"] == "own" and len(made["groups"]) == 2
    assert "belong to no known typology" in made["notes"][0]


def test_some_features_can_be_chosen(examiner):
    words = ("typology", "atari-typology", "--features", "virtual_space.perspective", "--json")
    assert len(content(examiner(*words))["groups"]) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("atari-dqn-family",), "is a table of results, not a classification"),
        (("nowhere.csv",), "nowhere.csv"),
        (("atari-typology", "--schema", "genre"), "Known: 'agent-centric', 'elverdam-aarseth'"),
        (("kinds.csv", "--schema", "agent-centric"), "Known: 'action_space.branching'"),
        (("kinds.csv", "--features", "genre"), "Unknown feature 'genre'"),
        (("kinds.csv", "--results", "kinds.csv"), "kinds.csv"),
        (("kinds.csv", "--results", "two.csv"), "Hypothesis tests need at least 3"),
        (("kinds.csv", "--results", "other.csv"), "use the same names"),
    ],
)
def test_bad_input_ends_with_one_sentence_and_code_2(examiner, tmp_path, words, said):
    (tmp_path / "kinds.csv").write_text(KINDS)
    (tmp_path / "two.csv").write_text("agent,pong,tennis\na,1,2\nb,2,1\n")
    (tmp_path / "other.csv").write_text("agent,chess,go\na,1,2\nb,2,1\nc,3,3\n")
    done = examiner("typology", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr and done.stderr.count("\n") == 1


def test_a_report_with_a_classification_has_the_kinds_of_task(examiner):
    words = ("report", "atari-dqn-family", "--typology", "atari-typology", "--json")
    made = content(examiner(*words))
    assert "typology" in [section["key"] for section in made["sections"]]
    assert "--typology atari-typology" in made["command"]


def test_the_command_on_the_page_of_papers_000_gives_the_numbers_on_the_page(examiner):
    page = (Path(__file__).parents[2] / "docs" / "papers" / "000.md").read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if line.startswith("| Table IV, experiment 2"))
    command = re.search(r"`examiner (.*?)`", row)
    assert command is not None
    totals = content(examiner(*shlex.split(command[1]), "--json"))["validation"]["totals"]
    within, between = (row["mean_p"] for row in totals)
    assert f"[{within:.3f} and {between:.3f}]" in row
