"""`examiner compare`: agents of one source, or one agent in each of two files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import examiner as ex

NEW = [0.9, 0.8, 0.95, 0.7, 0.85, 0.9]
OLD = [0.5, 0.6, 0.40, 0.3, 0.55, 0.4]


def written(path: Path, agent: str, scores: list[float], first: int = 0) -> Path:
    rows = (f"{agent},t{first + number},{score}\n" for number, score in enumerate(scores))
    path.write_text("agent,task,score\n" + "".join(rows))
    return path


@pytest.fixture
def together(tmp_path: Path) -> Path:
    ex.write(
        ex.Results.from_numpy([NEW, OLD, OLD[::-1]], ["new", "old", "older"]), tmp_path / "all.csv"
    )
    return tmp_path / "all.csv"


def test_the_first_agent_is_compared_with_each_of_the_others(examiner, together: Path) -> None:
    done = examiner("compare", together, "new", "old", "older", "--json")
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    assert content["schema"] == "examiner.compare/1"
    assert [(pair["a"], pair["b"]) for pair in content["pairs"]] == [
        ("new", "old"),
        ("new", "older"),
    ]
    assert content["pairs"][0]["difference"] == pytest.approx((sum(NEW) - sum(OLD)) / 6)


def test_two_files_with_one_agent_each_are_compared(
    examiner, tmp_path: Path, together: Path
) -> None:
    new, old = written(tmp_path / "n.csv", "new", NEW), written(tmp_path / "o.csv", "old", OLD)
    apart = json.loads(examiner("compare", new, old, "--json").stdout)["pairs"]
    joint = json.loads(examiner("compare", together, "new", "old", "--json").stdout)["pairs"]
    same = ("a", "b", "difference", "difference_low", "difference_high", "p")
    assert [apart[0][key] for key in same] == [joint[0][key] for key in same]


def test_agents_of_the_same_name_are_named_by_their_files(examiner, tmp_path: Path) -> None:
    new, old = written(tmp_path / "n.csv", "me", NEW), written(tmp_path / "o.csv", "me", OLD)
    pair = json.loads(examiner("compare", new.name, old.name, "--json").stdout)["pairs"][0]
    assert (pair["a"], pair["b"]) == ("me (n.csv)", "me (o.csv)")
    assert pair["difference"] > 0


def test_files_with_several_agents_or_other_tasks_are_refused(
    examiner, tmp_path: Path, together: Path
) -> None:
    new = written(tmp_path / "n.csv", "new", NEW)
    done = examiner("compare", new, together)
    assert done.returncode == 2 and "has 3 agents, and two files are compared by one" in done.stderr
    other = written(tmp_path / "other.csv", "old", OLD, first=2)
    done = examiner("compare", new, other)
    assert done.returncode == 2
    assert "2 tasks only in" in done.stderr and "'t0', 't1'" in done.stderr


def test_one_agent_alone_is_refused_with_both_forms(examiner, together: Path) -> None:
    done = examiner("compare", together, "new")
    assert done.returncode == 2
    assert "`examiner compare SOURCE A B`" in done.stderr
    assert "`examiner compare NEW OLD`" in done.stderr
    done = examiner("compare", together, "new", "odl")
    assert done.returncode == 2 and "Did you mean 'old'?" in done.stderr


def test_the_same_file_twice_is_refused(examiner, tmp_path: Path) -> None:
    new = written(tmp_path / "n.csv", "new", NEW)
    (tmp_path / "linked.csv").symlink_to(new)
    for old in ("n.csv", "./n.csv", new, "linked.csv"):
        done = examiner("compare", "n.csv", old)
        assert done.returncode == 2 and "Both sources are the same file: 'n.csv'." in done.stderr
    done = examiner("compare", "atari-arena", "atari-arena")
    assert done.returncode == 2 and "Both sources are the same data set" in done.stderr


def test_different_measures_of_two_files_are_named(examiner, tmp_path: Path) -> None:
    new = written(tmp_path / "n.csv", "new", NEW)
    other = tmp_path / "o.csv"
    other.write_text(written(other, "old", OLD).read_text().replace("score", "reward"))
    done = examiner("compare", new.name, other.name)
    assert done.returncode == 2 and (
        "different measures: 'score' in 'n.csv', 'reward' in 'o.csv'. If they measure the same"
        in " ".join(done.stderr.split())
    )
    rows = "".join(f"old,t{place},1,{score}\n" for place, score in enumerate(OLD))
    other.write_text("agent,task,win,reward\n" + rows)
    new.write_text(new.read_text().replace("score", "reward"))
    done = examiner("compare", new.name, other.name)
    assert done.returncode == 2 and "`--measure reward`" in done.stderr
    assert examiner("compare", new.name, other.name, "--measure", "reward").returncode == 0


def test_levels_of_one_file_are_named_as_the_difference(examiner, tmp_path: Path) -> None:
    written(tmp_path / "n.csv", "new", NEW)
    rows = (
        f"old,t{place},{level},{score}\n" for place, score in enumerate(OLD) for level in (0, 1)
    )
    (tmp_path / "o.csv").write_text("agent,task,level,score\n" + "".join(rows))
    for pair in (("n.csv", "o.csv"), ("o.csv", "n.csv")):
        done = examiner("compare", *pair)
        assert done.returncode == 2 and "'level' in 'o.csv'" in " ".join(done.stderr.split())
        assert "`--item task`" in done.stderr and "only in" not in done.stderr
        assert examiner("compare", *pair, "--item", "task").returncode == 0


def test_files_without_a_common_task_are_refused_as_such(examiner, tmp_path: Path) -> None:
    written(tmp_path / "n.csv", "new", NEW)
    written(tmp_path / "o.csv", "old", OLD, first=20)
    done = examiner("compare", "n.csv", "o.csv")
    assert done.returncode == 2 and "have no task in common" in done.stderr
    assert "--keep" not in done.stderr


def graded(path: Path, agent: str, won: str, version: str = "") -> Path:
    head = "agent,task,score" + (",version" if version else "")
    rows = (f"{agent},t{task},{score}{version and ',' + version}" for task, score in enumerate(won))
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


def test_a_gate_decides_the_exit_status(examiner, tmp_path: Path) -> None:
    good = graded(tmp_path / "good.csv", "good", "1" * 30 + "0" * 10)
    bad = graded(tmp_path / "bad.csv", "bad", "1" * 15 + "0" * 25)
    same = graded(tmp_path / "same.csv", "same", "1" * 29 + "01" + "0" * 9)
    assert examiner("compare", good, bad, "--fail-if", "worse").returncode == 0
    fail = examiner("compare", bad, good, "--fail-if", "worse", "--summary", tmp_path / "s.md")
    assert fail.returncode == 3 and fail.stdout.startswith("FAIL: bad is significantly worse")
    assert (tmp_path / "s.md").read_text().startswith("### FAIL: bad is significantly worse")
    unclear = examiner("compare", same, good, "--fail-if", "worse:0.02")
    assert unclear.returncode == 0 and "more tasks would decide" in " ".join(unclear.stdout.split())
    strict = examiner("compare", same, good, "--fail-if", "worse:0.02", "--undecided", "fail")
    assert strict.returncode == 3
    content = json.loads(examiner("compare", bad, good, "--fail-if", "worse", "--json").stdout)
    assert content["schema"] == "examiner.gate/1" and content["agents"][0]["verdict"] == "fail"


def test_a_sequential_gate_takes_a_part_of_the_tasks(examiner, tmp_path: Path) -> None:
    old = graded(tmp_path / "old.csv", "old", "1" * 40)
    new = graded(tmp_path / "new.csv", "new", "10" * 8)
    assert (
        "do not have the same tasks" in examiner("compare", new, old, "--fail-if", "worse").stderr
    )
    look = examiner("compare", new, old, "--fail-if", "worse:0.1", "--sequential")
    assert look.returncode in (0, 3) and "16 of 40 tasks given" in look.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--fail-if", "better"), "Give `--fail-if worse`"),
        (("--fail-if", "worse:x"), "Give `--fail-if worse`"),
        (("--plan", "0"), "The difference is 0"),
    ],
)
def test_odd_conditions_are_refused(examiner, tmp_path: Path, options, message: str) -> None:
    good, bad = (graded(tmp_path / f"{name}.csv", name, "1100") for name in ("good", "bad"))
    done = examiner("compare", good, bad, *options)
    assert done.returncode == 2 and message in done.stderr


def test_baselines_of_another_version_or_without_common_tasks_are_refused(
    examiner, tmp_path: Path
) -> None:
    new = graded(tmp_path / "new.csv", "new", "1100", "2.0")
    old = graded(tmp_path / "old.csv", "old", "1100", "1.0")
    done = examiner("compare", new, old, "--fail-if", "worse")
    assert done.returncode == 2 and "different versions of the benchmark" in done.stderr
    other = written(tmp_path / "other.csv", "other", [1, 0, 1], first=10)
    plain = graded(tmp_path / "plain.csv", "plain", "1100")
    done = examiner("compare", plain, other, "--fail-if", "worse")
    assert done.returncode == 2 and "no task in common" in done.stderr


def test_a_plan_lists_tasks_by_attempts(examiner, together: Path) -> None:
    done = examiner("compare", together, "new", "old", "--plan", "0.1", "--json")
    assert done.returncode == 0, done.stderr
    assert [row["attempts"] for row in json.loads(done.stdout)["designs"]] == [1]


def test_a_summary_is_never_appended_to_what_is_read(examiner, tmp_path: Path) -> None:
    good, bad = (graded(tmp_path / f"{name}.csv", name, "1100") for name in ("good", "bad"))
    for taken in (good, bad):
        before = taken.read_text()
        done = examiner("compare", good, bad, "--fail-if", "worse", "--summary", taken)
        assert done.returncode == 2 and "Nothing was changed" in done.stderr
        assert taken.read_text() == before


def test_an_agent_of_a_leaderboard_is_the_baseline(examiner, tmp_path: Path) -> None:
    new = graded(tmp_path / "new.csv", "new", "1" * 15 + "0" * 25)
    rows = [f"{agent},t{task},{score}" for agent, won in (("good", 30), ("same", 15))
            for task, score in enumerate("1" * won + "0" * (40 - won))]  # fmt: skip
    board = tmp_path / "board.csv"
    board.write_text("\n".join(["agent,task,score", *rows]) + "\n")
    assert examiner("compare", new, board, "good", "--fail-if", "worse").returncode == 3
    assert examiner("compare", new, board, "same", "--fail-if", "worse:0.1").returncode == 0
    unknown = examiner("compare", new, board, "goud", "--fail-if", "worse")
    assert unknown.returncode == 2 and "no agent 'goud'. Did you mean 'good'" in unknown.stderr
    several = examiner("compare", new, board, "--fail-if", "worse")
    assert several.returncode == 2 and "examiner compare NEW OLD AGENT" in several.stderr


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    scores = np.random.default_rng(0).normal(size=(30, 8)) / 10 + np.linspace(0, 1, 30)[:, None]
    selection = ex.selection.select(ex.Results.from_numpy(scores), 3)
    return Path(ex.save(selection, tmp_path_factory.mktemp("tiny") / "tiny.json"))


def test_a_tiny_version_predicts_what_the_gate_compares(
    examiner, tmp_path: Path, tiny: Path
) -> None:
    tasks = json.loads(tiny.read_text())["chosen"]["tasks"]
    for agent, score in (("weak", 0.2), ("strong", 0.8)):
        rows = [f"{agent},{task},{score}" for task in tasks]
        (tmp_path / f"{agent}.csv").write_text("\n".join(["agent,task,score", *rows]) + "\n")
    every = [f"whole,task {number},0.8" for number in range(1, 9)]
    (tmp_path / "whole.csv").write_text("\n".join(["agent,task,score", *every]) + "\n")
    weak, strong, whole = (tmp_path / f"{name}.csv" for name in ("weak", "strong", "whole"))
    fail = examiner("compare", weak, strong, "--with", tiny, "--fail-if", "worse")
    assert fail.returncode == 3 and "8 tasks predicted from 3 of them" in fail.stdout
    assert examiner("compare", strong, weak, "--with", tiny, "--fail-if", "worse").returncode == 0
    widths = []
    for old in (whole, strong):
        done = examiner("compare", weak, old, "--with", tiny, "--fail-if", "worse", "--json")
        row = json.loads(done.stdout)["agents"][0]
        widths.append(row["difference_high"] - row["difference_low"])
    assert widths[0] < widths[1]  # a score that was observed adds no error


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "has no effect without `--fail-if`"),
        (("--fail-if", "worse", "--sequential"), "`--sequential` has no effect with `--with`"),
        (
            ("--fail-if", "worse", "--normalise", "min-max"),
            "`--normalise` has no effect with `--with`",
        ),
    ],
)
def test_options_that_a_tiny_version_has_settled_are_refused(
    examiner, tmp_path: Path, tiny: Path, options, message: str
) -> None:
    good, bad = (graded(tmp_path / f"{name}.csv", name, "1100") for name in ("good", "bad"))
    done = examiner("compare", good, bad, "--with", tiny, *options)
    assert done.returncode == 2 and message in done.stderr
