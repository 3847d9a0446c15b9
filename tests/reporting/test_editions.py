"""Two editions of an exam, and the report as data and as Markdown."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

import examiner as ex
from examiner.cli import app
from examiner.reporting.prose import plain_text
from examiner.results import Results

AGENTS = ("a", "b", "c", "d", "e")


def edition(level, tasks, seed):
    rng = np.random.default_rng(seed)
    scores = np.array(level)[:, None] + 0.1 * rng.normal(size=(len(level), len(tasks)))
    return Results.from_numpy(scores, agents=AGENTS, tasks=tasks)


EARLIER = edition([5, 4, 3, 2, 1], [f"t{task}" for task in range(10)], 0)


def compared(later, earlier=EARLIER):
    return ex.report(later, None, sections=["editions"], earlier=earlier).sections[0]


def test_the_same_order_is_said_to_be_the_same():
    told = compared(edition([5, 4, 3, 2, 1], [f"t{task}" for task in range(10)], 1))
    assert (
        plain_text(told.lead) == "Both editions put the 5 agents that took them in the same order."
    )
    assert told.data["kendall"] == 1.0


def test_a_pair_that_was_told_apart_and_turned_is_named():
    told = compared(edition([5, 4, 3, 1, 2], [f"t{task}" for task in range(10)], 1))
    assert told.answer.reversed_pairs == 1 and told.answer.tested_pairs == (("d", "e"),)
    assert plain_text(told.lead).endswith("1 of these differed significantly: 'd and e'.")


def test_the_task_that_moved_most_stands_first_with_its_change():
    names = [f"t{task}" for task in range(10)]
    later = edition([5, 4, 3, 2, 1], names, 0)
    values = later.measure().reshape(5, 10).copy()
    values[:, 3] += 2.0
    told = compared(Results.from_numpy(values, agents=AGENTS, tasks=names))
    assert told.data["tasks"][0]["task"] == "t3"
    assert told.data["tasks"][0]["change"] == pytest.approx(2.0)
    assert told.data["tasks"][1]["change"] == pytest.approx(0.0)


def test_tasks_dropped_and_added_are_named():
    told = compared(edition([5, 4, 3, 2, 1], [f"t{task}" for task in range(2, 12)], 1))
    facts = dict(told.blocks[-1].pairs)
    assert plain_text(facts["Tasks dropped"]) == "t0 and t1"
    assert plain_text(facts["Tasks added"]) == "t10 and t11"


def test_two_agents_in_both_are_too_few():
    other = Results.from_numpy(np.eye(4, 6), agents=["a", "b", "x", "y"])
    told = compared(other)
    assert not told.applies and "2 agents took both editions" in plain_text(told.lead)


def test_the_command_line_takes_both_editions(tmp_path):
    for name, results in (("one", EARLIER), ("two", edition([5, 4, 3, 2, 1], list("uvwxyz"), 2))):
        ex.write(results, tmp_path / f"{name}.csv")
    words = [
        "report",
        "--editions",
        tmp_path / "one.csv",
        tmp_path / "two.csv",
        "--sections",
        "editions",
    ]
    for ending in ("html", "json", "md"):
        done = CliRunner().invoke(
            app, [*map(str, words), "--output", str(tmp_path / f"r.{ending}")]
        )
        assert done.exit_code == 0, done.stderr
    data = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert data["schema"] == "examiner.report/1"
    assert "in the same order" in data["sections"][0]["finding"]
    assert "--editions" in data["command"]
    text = (tmp_path / "r.md").read_text(encoding="utf-8")
    assert "### Two editions" in text and "| a | 1 | 1 |" in text
    done = CliRunner().invoke(app, [*map(str, words), "--output", str(tmp_path / "r.docx")])
    assert done.exit_code == 2 and "JSON or Markdown" in done.stderr


def test_markdown_and_data_of_a_report_say_what_the_page_says(scaled, tmp_path):
    report = ex.report(scaled, sections=["ranking", "reading"])
    assert plain_text(report.sections[0].lead) in report.markdown
    report.save(tmp_path / "report.json")
    stored = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert stored == json.loads(json.dumps(report.to_dict()))
    assert next(iter(stored)) == "schema"


def test_hostile_names_are_no_marks_in_markdown(hostile):
    from examiner.reporting import Finding, Report
    from examiner.reporting.prose import enumerated

    named = Finding("f", "F", enumerated(hostile.agents, 99))
    text = Report("T", (named,), {}, "").markdown
    assert "<" not in text.replace("\\<", "") and "`" not in text.replace("\\`", "").removesuffix(
        "``.\n"
    )


def test_a_task_on_which_all_agents_are_at_the_top_is_saturated():
    names = [f"t{task}" for task in range(10)]
    rng = np.random.default_rng(1)
    solved = (rng.random((5, 10)) < 0.5).astype(float)
    solved[:, 0], solved[:, 1] = (1, 0, 0, 1, 0), (0, 0, 1, 1, 0)
    later = solved.copy()
    later[:, 0], later[:, 1] = 1.0, 0.0  # one task that all solve by now, one that nobody does
    answer = compared(
        Results.from_numpy(later, agents=AGENTS, tasks=names),
        Results.from_numpy(solved, agents=AGENTS, tasks=names),
    ).answer
    assert answer.scalars["saturated"].value == ["t0"]


def test_information_lost_with_dropped_tasks_and_gained_with_added_ones():
    level, runs = np.array([5.0, 4.0, 3.0, 2.0, 1.0]), 4

    def repeated(tasks, spread, seed):
        noise = np.random.default_rng(seed).normal(size=(5, len(tasks), runs))
        means = level[:, None, None] * np.array(spread)[:, None]
        return Results.from_numpy(means + noise, agents=AGENTS, tasks=tasks)

    earlier = repeated(["flat", "steep"], [0.0, 3.0], 0)
    later = repeated(["flat", "new"], [0.0, 0.2], 1)
    bits = compared(later, earlier).answer.information
    before, both_before, after, both_after = bits.bits
    assert before > both_before + 0.5 and after >= both_after
    assert after < before, "the discriminating task was dropped"
    assert compared(EARLIER).answer.information is None, "single runs do not say how agents vary"
