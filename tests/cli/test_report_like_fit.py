"""The report and `fit` with the same options, and the command that a report prints."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner

from examiner.cli import app
from examiner.cli.parsing import typed_words

PUBLISHED = next(
    (
        path
        for folder in Path(__file__).parents
        if (path := folder / "shared" / "data" / "ale_published_scores_2018.csv").exists()
    ),
    None,
)
DESTINATIONS = {"output", "json", "everything", "to", "figures", "figures_as", "columns"}
"""Options of `report` that say where and as what the answer is written, not what it is."""


def percentages(folder: Path) -> Path:
    """Human-normalised percentages, as published tables have them: negative, skewed, up to thousands."""
    rng = np.random.default_rng(5)
    ability, difficulty = rng.normal(size=(20, 1)), rng.normal(size=18)
    values = 100 * np.exp(1.2 * (ability - difficulty) + 0.5 * rng.normal(size=(20, 18))) - 10
    lines = ["agent," + ",".join(f"game {n}" for n in range(18))]
    lines += [f"dqn {n}," + ",".join(f"{v:.2f}" for v in row) for n, row in enumerate(values)]
    path = folder / "percentages.csv"
    path.write_text("\n".join(lines))
    return path


def difficulties_of_report(content: dict) -> dict[str, float]:
    (section,) = [each for each in content["sections"] if each["key"] == "task_table"]
    *_, table = [block for block in section["blocks"] if block["kind"] == "table"]
    where = table["columns"].index("difficulty")
    return {row[0]: row[where] for row in table["rows"]}


@pytest.mark.parametrize(
    "options",
    [
        ("--success", "100"),
        ("--success", "100", "--normalise", "auto"),
        ("--success", "100", "--normalise", "none"),
        ("--success", "0.5", "--normalise", "z-score"),
        ("--success", "0.3", "--normalise", "min-max"),
    ],
)
def test_the_report_fits_the_successes_that_fit_does_with_the_same_options(
    examiner: Callable, tmp_path: Path, options: tuple[str, ...]
) -> None:
    path = percentages(tmp_path)
    fitted = json.loads(examiner("fit", path, "--starts", "3", *options, "--json").stdout)
    shown = ("--sections", "task_table,suspects", "--json")
    told = examiner("report", path, *options, *shown)
    assert told.returncode == 0
    found = difficulties_of_report(json.loads(told.stdout))
    expected = {row["task"]: row["difficulty"] for row in fitted["tasks"]}
    assert found.keys() == expected.keys() and len(found) >= 10
    for task, difficulty in expected.items():
        assert found[task] == pytest.approx(difficulty, rel=1e-3, abs=1e-3)


@pytest.mark.skipif(PUBLISHED is None, reason="the published scores are not beside the checkout")
def test_published_percentages_with_success_100_have_abilities_and_the_tasks_that_audit_flags(
    examiner: Callable,
) -> None:
    audited = json.loads(examiner("audit", PUBLISHED, "--success", "100", "--json").stdout)
    shown = ("--sections", "task_table,suspects", "--json")
    told = json.loads(examiner("report", PUBLISHED, "--success", "100", *shown).stdout)
    assert len(difficulties_of_report(told)) == 41
    (section,) = [each for each in told["sections"] if each["key"] == "suspects"]
    table = next(block for block in section["blocks"] if block["kind"] == "table")
    assert {row[0] for row in table["rows"]} == {row["task"] for row in audited["flagged"]}


@pytest.mark.parametrize("command", ["report", "fit", "audit", "scores"])
@pytest.mark.parametrize(
    ("normaliser", "success"), [("z-score", "100"), ("min-max", "-1"), ("points", "26")]
)
def test_a_threshold_outside_the_range_of_the_normaliser_is_refused(
    examiner: Callable, tmp_path: Path, command: str, normaliser: str, success: str
) -> None:
    path = percentages(tmp_path)
    done = examiner(command, path, "--success", success, "--normalise", normaliser)
    assert done.returncode == 2 and done.stdout == ""
    assert f"scores normalised by '{normaliser}' lie between" in done.stderr
    assert not (tmp_path / "report.html").exists()


def test_the_printed_command_makes_the_same_report_from_a_table_that_needs_options(
    examiner: Callable, tmp_path: Path
) -> None:
    rng = np.random.default_rng(1)
    lines = ["task," + ",".join(f"a{n}" for n in range(4))]
    lines += [f"t {n}," + ",".join(f"{v:.3f}" for v in rng.random(4)) for n in range(9)]
    (tmp_path / "its table.csv").write_text("\n".join(lines))
    given = ("its table.csv", "--tasks-are", "rows", "--drop", "task:t 3", "--drop", "task:t 4")
    more = ("--success", "0.5", "--sections", "ranking,reading", "--title", "It's mine", "--json")
    first = json.loads(examiner("report", *given, *more, "--seed", 3).stdout)
    assert (first["agents"], first["tasks"]) == (4, 7)
    words = shlex.split(first["command"])
    assert words[:2] == ["examiner", "report"]
    again = json.loads(examiner(*words[1:], "--json").stdout)
    assert again == first


REPORT = app.get_command(click.Context(app), "report")


def another(parameter: click.Parameter) -> str:
    """A value of this option that is nobody's default, as the command line would give it."""
    if isinstance(parameter.type, click.Choice):
        return str(parameter.type.choices[-1])
    return {"integer": "17", "float": "0.25"}.get(parameter.type.name, "it's a value")


@pytest.mark.parametrize("parameter", REPORT.params, ids=lambda parameter: parameter.name)
def test_every_option_of_the_report_is_in_the_command_it_prints(parameter: click.Option) -> None:
    if parameter.name in DESTINATIONS:
        return
    words = [parameter.opts[0]]
    if parameter.name == "source":
        words = []
    elif not parameter.is_flag:
        words.append(another(parameter))
    words = ["x.csv", *words, *(words if parameter.multiple else [])]
    context = REPORT.make_context("report", list(words))
    assert typed_words(context) == words


@pytest.mark.parametrize("command", ["report", "fit", "audit"])
def test_a_share_of_trials_is_refused_where_no_success_is_stated(
    command: str, tmp_path: Path
) -> None:
    lines = [f"a{n % 6},t{n // 6},{n * n % 17}" for n in range(42)]
    (tmp_path / "scores.csv").write_text("\n".join(["agent,task,score", *lines]) + "\n")
    done = CliRunner().invoke(
        app, [command, str(tmp_path / "scores.csv"), "--success-share", "0.5"]
    )
    assert done.exit_code == 2 and "is not made of zeros and ones" in done.stderr
