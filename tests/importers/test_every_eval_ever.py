"""Every Eval Ever: samples with and without their aggregate, aggregates alone, and written back."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

import examiner as ex
from examiner.results import write
from importers.evaluation_files import eee_aggregate, eee_line, write_eee

pytestmark = pytest.mark.filterwarnings("ignore::examiner.messages.ExaminerWarning")


def test_samples_name_model_evaluation_and_costs(tmp_path: Path):
    results = ex.read(write_eee(tmp_path, [eee_line("1", 1.0), eee_line("2", 0.25)]))
    assert (results.agents, results.tasks) == (("org/m",), ("quiz/1", "quiz/2"))
    assert results.measures == ("score",)
    assert results.measure().tolist() == [1.0, 0.25]
    assert results.numbers("tokens_in").tolist() == [12.0, 12.0]
    assert results.numbers("seconds").tolist() == [1.5, 1.5]
    correct = ex.read(tmp_path, measure="is_correct")
    assert correct.measure().tolist() == [1.0, 0.0]


def test_the_aggregate_beside_gives_the_benchmark_and_is_no_result(tmp_path: Path):
    write_eee(tmp_path, [eee_line("1", 1.0)], eee_aggregate(lower=True))
    results = ex.read(tmp_path)
    assert len(results) == 1
    assert results.task_attributes.aligned(["quiz/1"], "benchmark") == ("quizzes",)
    assert results.task_attributes.aligned(["quiz/1"], "subtask") == ("quiz",)
    scale = results.scales.lookup("quiz/1")
    assert scale is not None and scale.direction == "lower"


def test_samples_are_the_same_by_hash_and_again_are_runs(tmp_path: Path):
    write_eee(tmp_path / "a", [eee_line("1", 1.0), eee_line("1", 0.0)])
    moved = eee_line("9", 0.5, sample_hash=eee_line("1", 0)["sample_hash"], model_id="org/other")
    write_eee(tmp_path / "b", [moved])
    results = ex.read(tmp_path)
    assert results.tasks == ("quiz/1",)
    assert results.column("run") == [0, 1, 0]


def test_another_evaluation_is_another_run(tmp_path: Path):
    write_eee(tmp_path / "a", [eee_line("1", 1.0)])
    write_eee(tmp_path / "b", [eee_line("1", 0.0, evaluation_id="source/org_m/1750000001")])
    assert ex.read(tmp_path).column("run") == [0, 1]


def test_several_metrics_are_measures_under_their_names(tmp_path: Path):
    lines = [
        eee_line("1", score, evaluation_result_id=f"quiz.{metric}")
        for metric, score in (("accuracy", 1.0), ("f1", 0.5))
    ]
    path = write_eee(tmp_path, lines, eee_aggregate("accuracy", "f1"))
    with pytest.raises(ex.InputError, match="'accuracy', 'f1' of 'quiz'"):
        ex.read(path)
    assert ex.read(path, measure="f1").measure().tolist() == [0.5]


def test_errors_and_unknown_levels_are_not_observed(tmp_path: Path):
    about = eee_aggregate()
    about["evaluation_results"][0]["metric_config"]["has_unknown_level"] = True
    lines = [eee_line("1", 1.0), eee_line("2", 0.0, error="timeout"), eee_line("3", -1.0)]
    with pytest.warns(ex.ExaminerWarning) as told:
        assert len(ex.read(write_eee(tmp_path, lines, about))) == 1
    messages = " ".join(str(one.message) for one in told)
    assert "1 sample with an error" in messages and "1 sample without a score" in messages


def test_other_versions_of_the_schema_are_refused(tmp_path: Path):
    path = write_eee(tmp_path, [eee_line("1", 1.0), eee_line("2", 1.0, schema_version="9.1")])
    with pytest.raises(ex.InputError, match=r"line 2, is of version '9\.1' of the schema"):
        ex.read(path)


def test_a_line_that_lacks_its_model_is_named(tmp_path: Path):
    path = write_eee(tmp_path, [eee_line("1", 1.0), eee_line("2", 1.0, model_id=None)])
    with pytest.raises(ex.InputError, match="line 2, lacks one of `model_id`"):
        ex.read(path)


def test_aggregates_alone_give_a_value_an_evaluation(tmp_path: Path):
    (tmp_path / "x.json").write_text(json.dumps(eee_aggregate()))
    results = ex.read(tmp_path / "x.json")
    assert (results.agents, results.tasks) == (("org/m",), ("quiz",))
    assert results.measure().tolist() == [0.75]
    (tmp_path / "x.json").write_text(json.dumps(eee_aggregate() | {"model_info": {}}))
    with pytest.raises(ex.InputError, match="does not say which model had which results"):
        ex.read(tmp_path / "x.json")


def test_what_is_written_reads_back(tmp_path: Path):
    lines = [eee_line(sample, score) for sample, score in (("1", 1.0), ("2", 0.25), ("2", 0.5))]
    write_eee(tmp_path / "in", lines)
    before = ex.read(tmp_path / "in", item_text=True)
    write(before, tmp_path / "out", layout="every-eval-ever")
    after = ex.read(tmp_path / "out", item_text=True)
    columns = ["agent", "task", "score", "item_hash", "tokens_in", "tokens_out", "seconds"]
    tables = [table.to_polars().select(columns).sort("task", "score") for table in (before, after)]
    assert tables[0].equals(tables[1])
    assert after.counts()["runs"] == before.counts()["runs"] == 2
    assert after.task_attributes.aligned(["quiz/1"], "text") == ("What is 1?",)


def test_what_is_written_has_what_the_schema_requires(tmp_path: Path):
    results = ex.Results.from_numpy([[[1, 0], [0, 1]]], ["a/b"], ["q1", "q2"], measure="correct")
    write(results, tmp_path / "out", layout="every-eval-ever")
    aggregates = sorted((tmp_path / "out").rglob("*.json"))
    assert len(aggregates) == 2, "one for each run"
    for path in aggregates:
        about = json.loads(path.read_text())
        detailed = about["detailed_evaluation_results"]
        # The pattern of the published schema, for file names of version 4.
        version_4 = r"[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}"
        pattern = rf"data/[^/]+/a/b/{version_4}_samples\.jsonl"
        assert re.fullmatch(pattern, detailed["file_path"])
        data = (tmp_path / "out" / detailed["file_path"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == detailed["checksum"]
        assert len(data.splitlines()) == detailed["total_rows"] == 2
        required = {"schema_version", "evaluation_id", "retrieved_timestamp", "source_metadata"}
        assert required | {"model_info", "eval_library", "evaluation_results"} <= set(about)
    assert ex.read(tmp_path / "out").counts()["runs"] == 2


def test_writing_refuses_scores_beyond_one_and_folders_that_are_there(tmp_path: Path):
    with pytest.raises(ex.InputError, match=r"has 18\. Mark success first"):
        write(ex.Results.from_numpy([[18.0]]), tmp_path / "out", layout="every-eval-ever")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    with pytest.raises(ex.InputError, match="is written to a new folder"):
        write(ex.Results.from_numpy([[1.0]]), tmp_path / "full", layout="every-eval-ever")
