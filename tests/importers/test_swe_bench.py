"""Submissions to SWE-bench: lists of what was resolved, details, reports of the harness."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import examiner as ex
from importers.evaluation_files import write_details, write_submission

pytestmark = pytest.mark.filterwarnings("ignore::examiner.messages.ExaminerWarning")

ONE, TWO, THREE = "django__django-1", "django__django-2", "scikit-learn__scikit-learn-3"


def cells(results: ex.Results) -> dict[tuple[str, str], float]:
    keys = zip(results.column("agent"), results.column("task"), strict=True)
    return dict(zip(keys, results.measure().tolist(), strict=True))


def test_without_a_list_items_are_those_that_anybody_names(tmp_path: Path):
    write_submission(tmp_path, "20250101_a", [ONE], no_generation=[TWO])
    write_submission(tmp_path, "20250102_b", [ONE, THREE])
    with pytest.warns(
        ex.ExaminerWarning, match=r"items that nobody solved are missing.*--items FILE"
    ):
        results = ex.read(tmp_path)
    assert cells(results) == {
        ("20250101_a", ONE): 1.0,
        ("20250101_a", TWO): 0.0,
        ("20250101_a", THREE): 0.0,
        ("20250102_b", ONE): 1.0,
        ("20250102_b", TWO): 0.0,
        ("20250102_b", THREE): 1.0,
    }
    assert not any("skipped" in note for note in results.notes)


@pytest.mark.parametrize(
    "listed",
    [
        f"{ONE}\n{TWO}\n{THREE}\nflask__flask-4\n",
        f"instance_id,repo\n{ONE},x\n{TWO},x\n{THREE},x\nflask__flask-4,x\n",
        json.dumps([{"instance_id": name} for name in (ONE, TWO, THREE, "flask__flask-4")]),
        json.dumps([ONE, TWO, THREE, "flask__flask-4"]),
    ],
)
def test_a_list_of_items_gives_those_that_nobody_solved(listed: str, tmp_path: Path):
    write_submission(tmp_path / "logs", "a", [ONE])
    (tmp_path / "items").write_text(listed)
    results = ex.read(tmp_path / "logs", items=tmp_path / "items")
    assert cells(results)["a", "flask__flask-4"] == 0.0
    assert len(results) == 4
    assert not any("missing" in note for note in results.notes)


def test_items_that_the_list_lacks_are_left_out_and_said(tmp_path: Path):
    write_submission(tmp_path, "a", [ONE, THREE])
    with pytest.warns(
        ex.ExaminerWarning, match=f"that the list of items lacks are left out: '{THREE}'"
    ):
        assert ex.read(tmp_path, items=[ONE, TWO]).tasks == (ONE, TWO)


def test_an_empty_list_of_items_is_refused(tmp_path: Path):
    write_submission(tmp_path, "a", [ONE])
    (tmp_path / "items.csv").write_text("instance_id\n")
    with pytest.raises(ex.InputError, match="lists no items"):
        ex.read(tmp_path / "evaluation", items=tmp_path / "items.csv")


def test_levels_are_the_part_of_the_benchmark_and_the_repository(tmp_path: Path):
    write_submission(tmp_path, "a", [ONE, THREE])
    results = ex.read(tmp_path)
    about = results.task_attributes
    assert about.aligned(results.tasks, "benchmark") == ("SWE-bench verified",) * 2
    assert about.aligned([ONE, THREE], "subtask") == ("django/django", "scikit-learn/scikit-learn")


def test_details_have_costs_and_all_items(tmp_path: Path):
    details = {
        ONE: {"resolved": True, "cost": 0.5, "api_calls": 12},
        TWO: {"resolved": False, "cost": 1.25, "api_calls": 250},
    }
    results = ex.read(write_details(tmp_path, "mini_gpt", details))
    assert results.agents == ("mini_gpt",)
    assert results.measure("resolved").tolist() == [1.0, 0.0]
    assert results.numbers("cost").tolist() == [0.5, 1.25]


def test_details_of_some_complete_the_lists_of_others(tmp_path: Path):
    write_submission(tmp_path, "lists", [ONE])
    write_details(tmp_path, "details", {ONE: {"resolved": True}, TWO: {"resolved": False}})
    assert cells(ex.read(tmp_path))["lists", TWO] == 0.0


def test_lists_and_details_of_one_submission_count_once(tmp_path: Path):
    write_submission(tmp_path, "a", [ONE], no_logs=[TWO])
    write_details(tmp_path, "a", {ONE: {"resolved": True}, TWO: {"resolved": False}})
    results = ex.read(tmp_path)
    assert len(results) == 2
    assert set(results.column("run")) == {0}


def test_an_agent_of_two_parts_is_told_apart(tmp_path: Path):
    write_submission(tmp_path, "a", [ONE])
    write_submission(tmp_path, "a", [ONE, TWO], split="lite")
    write_submission(tmp_path, "b", [ONE])
    assert ex.read(tmp_path).agents == ("a (split=lite)", "a (split=verified)", "b")


def test_reports_of_the_harness_are_read(tmp_path: Path):
    report = {
        "total_instances": 4,
        "submitted_ids": [ONE, TWO, THREE],
        "resolved_ids": [ONE],
        "unresolved_ids": [TWO],
        "empty_patch_ids": [THREE],
        "error_ids": ["flask__flask-4"],
        "schema_version": 2,
    }
    path = tmp_path / "gpt-4.baseline.json"
    path.write_text(json.dumps(report))
    with pytest.warns(ex.ExaminerWarning, match="1 sample with an error: not observed"):
        results = ex.read(path)
    assert cells(results) == {("gpt-4", ONE): 1.0, ("gpt-4", TWO): 0.0, ("gpt-4", THREE): 0.0}


def test_details_that_are_no_object_are_refused(tmp_path: Path):
    path = write_details(tmp_path, "a", {ONE: {"resolved": True}, TWO: "yes"})
    with pytest.raises(ex.InputError, match=f"says 'yes' of '{TWO}'"):
        ex.read(path)


def test_items_and_texts_are_for_logs_only():
    table = {"agent": ["a"], "task": ["t"], "score": [1]}
    with pytest.raises(ex.InputError, match=r"`--items`\) is for logs of evaluations"):
        ex.read(table, items=["t"])
    with pytest.raises(ex.InputError, match=r"`--item-text`\) is for logs of evaluations"):
        ex.read(table, item_text=True)


def test_an_agent_that_resolved_nothing_failed_on_what_others_are_asked(tmp_path: Path):
    write_submission(tmp_path, "20250101_a", [ONE, TWO])
    write_submission(tmp_path, "20250102_b", [])
    results = ex.read(tmp_path)
    assert len(results.agents) == 2
    assert sorted(results.measure().tolist()) == [0.0, 0.0, 1.0, 1.0]


@pytest.mark.parametrize("odd", [None, True, 1.5, ["a__b-1"]])
def test_an_id_that_names_nothing_is_refused(odd: object, tmp_path: Path):
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"resolved": ["a__b-1", odd]}))
    with pytest.raises(ex.InputError, match="among its ids"):
        ex.read(path)
