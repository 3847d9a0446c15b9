"""`--by`, `--average`, `--weights` and `--chance` on the command line."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

VALUES = (np.random.default_rng(1).random((9, 10)) < 0.6).astype(int)
SUBTASKS = ["art"] * 7 + ["law"] * 3


@pytest.fixture
def results(tmp_path: Path) -> Path:
    lines = ["agent,task,score,subtask"]
    for (agent, task), value in np.ndenumerate(VALUES):
        lines.append(f"m{agent},q{task},{value},{SUBTASKS[task]}")
    path = tmp_path / "results.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def art_and_law(row: int) -> tuple[float, float]:
    return VALUES[row, :7].mean(), VALUES[row, 7:].mean()


def test_scores_average_groups(examiner: Callable, results: Path) -> None:
    done = examiner("scores", results, "--unit", "tasks", "--by", "subtask", "--json")
    told = json.loads(done.stdout)
    assert told["settings"]["total"] == "mean over 2 subtasks of their tasks' means"
    values = {row["agent"]: row["mean"] for row in told["agents"]}
    assert values["m0"] == pytest.approx(np.mean(art_and_law(0)))
    assert {"agent": "m0", "group": "law", "mean": art_and_law(0)[1]} in told["groups"]
    assert [row["agent"] for row in told["groups"][::2]] == list(values), "in one order"


def test_weights_and_chance_levels_are_read_from_tables(
    examiner: Callable, results: Path, tmp_path: Path
) -> None:
    (tmp_path / "weights.csv").write_text("subtask,weight\nlaw,3\n")
    (tmp_path / "chance.tsv").write_text("subtask\tchance\nart\t0.25\nlaw\t0.5\n")
    options = "--by", "subtask", "--weights", "weights.csv", "--chance", "chance.tsv"
    done = examiner("scores", results, *options, "--json")
    art, law = art_and_law(0)
    expected = ((art - 0.25) / 0.75 + 3 * (law - 0.5) / 0.5) / 4
    values = {row["agent"]: row["mean"] for row in json.loads(done.stdout)["agents"]}
    assert values["m0"] == pytest.approx(expected)


def test_a_difference_is_one_of_totals(examiner: Callable, results: Path) -> None:
    done = examiner("compare", results, "m0", "m1", "--by", "subtask", "--json")
    expected = np.mean(art_and_law(0)) - np.mean(art_and_law(1))
    pair = json.loads(done.stdout)["pairs"][0]
    assert pair["difference"] == pytest.approx(expected)


def test_chosen_tasks_keep_the_total_that_new_agents_are_placed_by(
    examiner: Callable, results: Path
) -> None:
    options = "--size", "2", "--method", "spread", "--no-proof", "-o", "chosen.json"
    done = examiner("select", results, "--by", "subtask", *options)
    assert done.returncode == 0, done.stderr
    done = examiner("place", results, "--with", "chosen.json", "--json")
    placed = {row["agent"]: row for row in json.loads(done.stdout)["agents"]}
    assert placed["m0"]["predicted"] == pytest.approx(np.mean(art_and_law(0)))


def test_a_report_ranks_by_the_total_and_says_so(examiner: Callable, results: Path) -> None:
    done = examiner("report", results, "--by", "subtask", "--sections", "ranking", "--json")
    told = json.loads(done.stdout)
    assert told["total"] == "mean over 2 subtasks of their tasks' means"
    assert told["total"] in done.stdout
    table = next(block for block in told["sections"][0]["blocks"] if block["kind"] == "table")
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    means = {row["agent"]: row["mean"] for row in rows}
    assert means["m3"] == pytest.approx(np.mean(art_and_law(3)))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--by", "topic"], "No column 'topic' says which group a task is of"),
        (["--average", "macro"], "no level is named"),
        (["--by", "subtask", "--weights", "bad.csv"], "is no table of names and numbers"),
        (
            ["--by", "subtask", "--weights", "words.csv"],
            "The weight of 'law' is 'heavy'. Give a number",
        ),
        (["--by", "subtask", "--weights", "twice.csv"], "'law' stands twice in"),
        (["--weights", "none.csv"], "none.csv"),
        (["--chance", "words.csv", "--normalise", "rank"], "Leave one of the two out"),
    ],
)
def test_refusals(
    examiner: Callable, results: Path, tmp_path: Path, words: list[str], told: str
) -> None:
    (tmp_path / "bad.csv").write_text("name,size\nlaw,3\n")
    (tmp_path / "words.csv").write_text("subtask,weight\nlaw,heavy\n")
    (tmp_path / "twice.csv").write_text("subtask,weight\nlaw,1\nlaw,2\n")
    done = examiner("scores", results, *words)
    assert done.returncode == 2
    assert told in done.stderr.replace("\n", " ")
