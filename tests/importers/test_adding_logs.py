"""Logs added to a table: the result is that of reading all at once, and known files are not opened."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import examiner as ex
from examiner.cli import app
from examiner.importers import folders
from importers.evaluation_files import (
    DATE,
    LATER,
    eval_archive,
    inspect_members,
    inspect_sample,
    lm_eval_line,
    write_lm_eval,
    write_submission,
)

pytestmark = pytest.mark.filterwarnings("ignore::examiner.messages.ExaminerWarning")


def stored(folder: Path, target: Path, **options: Any) -> ex.Results:
    """The table of a folder, written where it will be added to; its logs are surely older."""
    results = ex.read(folder, **options)
    results.save(target)
    for path in folder.rglob("*"):
        os.utime(path, (1, 1))
    return results


def test_adding_logs_gives_what_reading_all_gives(tmp_path: Path, monkeypatch):
    logs, target = tmp_path / "logs", tmp_path / "all.parquet"
    about = {"results": {}, "model_name": "m", "n-shot": {"quiz": 0}, "higher_is_better": {}}
    first = [lm_eval_line(at, {"acc": 1.0}) for at in range(3)]
    write_lm_eval(logs / "m", "quiz", first, about=about)
    stored(logs, target, item_text=True)
    about["n-shot"] = {"quiz": 5}
    moved = [
        lm_eval_line(0, {"acc": 0.0}, question="What is 2 + 2?"),
        lm_eval_line(7, {"acc": 1.0}),
    ]
    write_lm_eval(logs / "m", "quiz", moved, date=LATER, about=about)
    opened = []
    original = folders.look_at
    monkeypatch.setattr(folders, "look_at", lambda path: opened.append(path.name) or original(path))
    added = ex.read(logs, append_to=target, item_text=True)
    assert f"samples_quiz_{DATE}.jsonl" not in opened
    assert added == ex.read(logs, item_text=True)
    assert added.agents == ("m (shots=0)", "m (shots=5)"), "what was one agent is two"


def test_a_log_that_changed_is_read_again(tmp_path: Path):
    logs, target = tmp_path / "logs", tmp_path / "all.parquet"
    path = write_lm_eval(logs / "m", "quiz", [lm_eval_line(0, {"acc": 0.0})])
    stored(logs, target)
    write_lm_eval(logs / "m", "quiz", [lm_eval_line(0, {"acc": 1.0})])
    os.utime(path, (2**33, 2**33))
    assert ex.read(logs, append_to=target).measure().tolist() == [1.0]


def test_nothing_new_adds_nothing(tmp_path: Path):
    logs, target = tmp_path / "logs", tmp_path / "all.parquet"
    write_lm_eval(logs / "m", "quiz", [lm_eval_line(0, {"acc": 0.0})])
    (logs / "README.md").write_text("Logs")
    before = stored(logs, target)
    added = ex.read(logs, append_to=target)
    assert added == before
    assert "There are no new logs: nothing was added." in added.notes


def test_a_retry_that_comes_later_takes_the_place(tmp_path: Path):
    logs, target = tmp_path / "logs", tmp_path / "all.parquet"
    logs.mkdir()
    (logs / "1.eval").write_bytes(eval_archive(inspect_members([inspect_sample(1, "I")])))
    stored(logs, target)
    (logs / "2.eval").write_bytes(eval_archive(inspect_members([inspect_sample(1, "C")])))
    added = ex.read(logs, append_to=target)
    assert added.measure().tolist() == [1.0]
    assert added == ex.read(logs)


def test_what_does_not_fit_is_refused(tmp_path: Path):
    logs, target = tmp_path / "logs", tmp_path / "all.parquet"
    write_lm_eval(logs / "m", "quiz", [lm_eval_line(0, {"acc": 0.0})])
    stored(logs, target)
    write_lm_eval(logs / "m", "other", [lm_eval_line(0, {"f1": 0.0})])
    with pytest.raises(ex.InputError, match="holds 'acc', and the new logs 'f1'"):
        ex.read(logs, append_to=target)
    ex.Results.from_numpy([[1.0]]).save(target)
    with pytest.raises(ex.InputError, match="does not say which logs its rows are from"):
        ex.read(logs, append_to=target)


def test_lists_of_what_was_solved_need_the_items_to_be_added(tmp_path: Path):
    write_submission(tmp_path / "logs", "a", ["x__x-1"])
    target = tmp_path / "all.parquet"
    stored(tmp_path / "logs", target, items=["x__x-1", "x__x-2"])
    write_submission(tmp_path / "logs", "b", ["x__x-2"])
    with pytest.raises(ex.InputError, match="List all items with `--items FILE`"):
        ex.read(tmp_path / "logs", append_to=target)
    added = ex.read(tmp_path / "logs", append_to=target, items=["x__x-1", "x__x-2"])
    assert added.column("task") == ["x__x-1", "x__x-2"] * 2
    assert added.measure().tolist() == [1.0, 0.0, 0.0, 1.0]


def test_convert_adds_to_its_target(tmp_path: Path):
    logs, target = tmp_path / "logs", tmp_path / "all.parquet"
    for number, date in enumerate((DATE, LATER)):
        write_lm_eval(logs / f"m{number}", "quiz", [lm_eval_line(0, {"acc": 1.0})], date=date)
        done = CliRunner().invoke(app, ["convert", str(logs), str(target), "--append"])
        assert done.exit_code == 0, done.output
    assert ex.Results.load(target).agents == ("m0", "m1")
    done = CliRunner().invoke(app, ["convert", str(logs), str(tmp_path / "x.csv"), "--append"])
    assert "only be added to tidy Parquet" in f"{done.output}{done.exception}"


def test_logs_of_several_formats_keep_their_levels(tmp_path: Path):
    write_lm_eval(tmp_path / "m", "quiz", [lm_eval_line(0, {"acc": 1.0, "f1": 0.5})])
    (tmp_path / "1.eval").write_bytes(eval_archive(inspect_members([inspect_sample(1, "C")])))
    results = ex.read(tmp_path, measure=["quiz=f1", "inspect_evals/*=choice"])
    assert results.measures == ("score",)
    assert sorted(results.measure()) == [0.5, 1.0]
    benchmarks = results.task_attributes.aligned(results.tasks, "benchmark")
    assert benchmarks == ("inspect_evals/arc_easy", "quiz")
    with pytest.raises(ex.InputError, match="There is no column 'bleu'; found 'acc', 'f1'"):
        ex.read(tmp_path, measure=["quiz=bleu"])


def test_aggregates_beside_known_samples_are_not_taken_for_new_logs(tmp_path: Path):
    logs, target = tmp_path / "logs", tmp_path / "all.parquet"
    about = {
        "results": {"quiz": {"acc,none": 0.5, "alias": "quiz"}},
        "model_name": "m",
        "n-shot": {"quiz": 0},
        "higher_is_better": {"quiz": {"acc": True}},
    }
    write_lm_eval(
        logs / "m", "quiz", [lm_eval_line(at, {"acc": 1.0}) for at in range(3)], about=about
    )
    before = stored(logs, target)
    again = ex.read(logs, append_to=target)
    assert len(again) == len(before) == 3
    assert any("nothing was added" in note for note in again.notes)
