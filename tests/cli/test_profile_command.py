"""`examiner arena profile` as a user runs it."""

import json

import pytest

pytest.importorskip("gymnasium")

GYMNASIUM = ("--environment", "gymnasium", "--frames", 1_000)


def test_games_are_measured_into_a_table_that_typology_reads(examiner, tmp_path):
    words = ("arena", "profile", "Pendulum-v1", "MountainCar-v0", *GYMNASIUM, "-o", "games.csv")
    done = examiner(*words)
    assert done.returncode == 0, done.stderr
    assert (
        "2 games measured in 1,000 frames each" in done.stdout
        and "s of processor time" in done.stdout
    )
    lines = (tmp_path / "games.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 3 and lines[1].startswith("Pendulum-v1,continuous,")
    read = json.loads(examiner("typology", "games.csv", "--json").stdout)
    assert [group["tasks"] for group in read["groups"]] == [["Pendulum-v1"], ["MountainCar-v0"]]
    again = json.loads(examiner(*words, "--json").stdout)
    assert again["schema"] == "examiner.profile/1" and again["settings"]["seed"] == 0
    games, classes = ({row["game"]: row for row in again[name]} for name in ("games", "classes"))
    assert classes["MountainCar-v0"]["action_space.size"] == "up to 4"
    assert games["MountainCar-v0"]["mean_score"] == -200
    assert games["Pendulum-v1"]["branching"] is None
    assert (tmp_path / "games.csv").read_text(encoding="utf-8").splitlines() == lines


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("pongg",), "Unknown Atari game 'pongg'. Did you mean 'pong'?"),
        (("combat",), "loading it ends the process"),
        (("--environment", "gymnasium"), "No game is named. Name the games"),
        (("pong", "--environment", "atari"), "Unknown environment 'atari'"),
        (("pong", "--protocol", "machado"), "Did you mean 'machado-2018'?"),
        (("Nothing-v0", "--environment", "gymnasium"), "Gymnasium cannot make 'Nothing-v0'"),
        (("pong", "-o", "games.xlsx"), "is written to '.csv', not to 'games.xlsx'"),
        (("pong", "--frames", "10"), "10 is not in the range x>=1000"),
    ],
)
def test_bad_input_is_one_sentence(examiner, tmp_path, words, said):
    done = examiner("arena", "profile", *words)
    assert done.returncode == 2 and said in done.stderr
    assert not done.stdout and not list(tmp_path.iterdir())


def test_a_table_measured_otherwise_is_refused(examiner):
    words = ("arena", "profile", "CartPole-v1", *GYMNASIUM, "-o", "games.csv")
    assert examiner(*words).returncode == 0
    done = examiner(*words, "--seed", 1)
    assert done.returncode == 2 and "seed 0 instead of 1" in done.stderr
