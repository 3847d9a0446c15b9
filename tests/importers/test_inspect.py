"""Logs of inspect_ai: archives deflated and in zstd, plain JSON, cut off, retried, damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import examiner as ex
from importers.evaluation_files import (
    eval_archive,
    inspect_header,
    inspect_members,
    inspect_sample,
)

pytestmark = pytest.mark.filterwarnings("ignore::examiner.messages.ExaminerWarning")

SAMPLES = [inspect_sample(1, "C"), inspect_sample("x-2", "I"), inspect_sample(3, "P")]


def write_log(path: Path, samples: Any = SAMPLES, method: int = 8, **more: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(eval_archive(inspect_members(samples, **more), method))
    return path


@pytest.mark.parametrize("method", [0, 8, 93])
def test_archives_are_read_however_they_are_packed(method: int, tmp_path: Path):
    results = ex.read(write_log(tmp_path / "x.eval", method=method))
    assert results.agents == ("openai/gpt2",)
    assert results.tasks == tuple(f"inspect_evals/arc_easy/{name}" for name in (1, 3, "x-2"))
    assert results.measure("choice").tolist() == [1.0, 0.5, 0.0]


def test_plain_json_says_the_same_as_an_archive(tmp_path: Path):
    (tmp_path / "x.json").write_text(json.dumps(inspect_header() | {"samples": SAMPLES}, indent=2))
    plain = ex.read(tmp_path / "x.json").to_polars().drop("log")
    zipped = ex.read(write_log(tmp_path / "x.eval")).to_polars().drop("log")
    assert plain.equals(zipped)


def test_the_grader_is_no_cost_of_the_agent(tmp_path: Path):
    results = ex.read(write_log(tmp_path / "x.eval"))
    assert results.numbers("tokens_in").tolist() == [100.0] * 3
    assert results.numbers("tokens_out").tolist() == [7.0] * 3
    assert results.numbers("seconds").tolist() == [2.5] * 3
    assert ex.read(tmp_path / "x.eval", measure=["choice", "seconds"]).measures == (
        "choice",
        "seconds",
    )


def test_epochs_are_runs_for_they_are_independent_attempts(tmp_path: Path):
    samples = [inspect_sample(1, value, epoch) for epoch, value in ((1, "C"), (2, "I"), (3, "C"))]
    results = ex.read(write_log(tmp_path / "x.eval", samples))
    assert results.column("trial") == [1, 2, 3]
    assert results.column("run") == [0, 1, 2]


@pytest.mark.parametrize(
    ("value", "number"),
    [("C", 1), ("N", 0), ("yes", 1), ("False", 0), (True, 1), (0.65, 0.65), ("0.25", 0.25)],
)
def test_values_are_what_inspect_makes_of_them(value: object, number: float, tmp_path: Path):
    assert ex.read(write_log(tmp_path / "x.eval", [inspect_sample(1, value)])).measure() == [number]


def test_errors_and_samples_without_a_score_are_not_observed(tmp_path: Path):
    samples = [
        *SAMPLES,
        inspect_sample(4, "C", error="Timeout"),
        inspect_sample(5, None, scores={}),
        inspect_sample(6, [1, 2]),
    ]
    with pytest.warns(ex.ExaminerWarning) as told:
        results = ex.read(write_log(tmp_path / "x.eval", samples))
    assert len(results) == 3
    messages = [str(one.message) for one in told]
    assert "1 sample with an error: not observed." in messages
    assert "2 samples without a score: not observed." in messages


def test_several_scorers_are_measures_to_be_chosen_from(tmp_path: Path):
    both = {"match": {"value": "C"}, "judge": {"value": {"style": 0.5, "fact": 1}}}
    path = write_log(tmp_path / "x.eval", [inspect_sample(1, "C", scores=both)])
    with pytest.raises(ex.InputError, match=r"'match', 'judge\.style', 'judge\.fact' of 'insp"):
        ex.read(path)
    assert ex.read(path, measure="judge.style").measure().tolist() == [0.5]


@pytest.mark.parametrize("status", ["cancelled", "error", "started"])
def test_scored_samples_of_logs_that_did_not_succeed_count(status: str, tmp_path: Path):
    path = write_log(tmp_path / "x.eval", status=status)
    with pytest.warns(ex.ExaminerWarning, match="1 log did not .*: 3 scored samples of it count"):
        assert len(ex.read(path)) == 3


def test_a_log_that_was_cut_off_is_read_from_its_journal(tmp_path: Path):
    members = {
        "_journal/start.json": {"version": 2, "eval": inspect_header()["eval"]},
        "samples/1_epoch_1.json": b"-",
        "_journal/summaries/1.json": SAMPLES[:1],
        "_journal/summaries/2.json": SAMPLES[1:],
    }
    (tmp_path / "x.eval").write_bytes(eval_archive(members))
    with pytest.warns(ex.ExaminerWarning, match="did not come to a successful end: 3 scored"):
        assert ex.read(tmp_path / "x.eval").measure().tolist() == [1.0, 0.5, 0.0]


def test_an_archive_without_header_or_journal_is_refused(tmp_path: Path):
    (tmp_path / "x.eval").write_bytes(eval_archive({"summaries.json": SAMPLES}))
    with pytest.raises(ex.InputError, match=r"neither header\.json nor _journal/start\.json"):
        ex.read(tmp_path / "x.eval")


def test_an_unknown_version_is_refused(tmp_path: Path):
    with pytest.raises(ex.InputError, match="log of version '9', and versions 1 to 3 are known"):
        ex.read(write_log(tmp_path / "x.eval", version=9))


def test_a_sample_twice_with_another_score_is_refused(tmp_path: Path):
    path = write_log(tmp_path / "x.eval", [inspect_sample(1, "C"), inspect_sample(1, "I")])
    with pytest.raises(ex.InputError, match="two results of the sample '1' in trial 1"):
        ex.read(path)


@pytest.mark.parametrize("method", [8, 93])
def test_archives_cut_off_or_damaged_are_refused(method: int, tmp_path: Path):
    path = write_log(tmp_path / "x.eval", method=method)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ex.InputError, match="cut off or damaged"):
        ex.read(path)
    place = whole.index(b"summaries.json") + 24
    path.write_bytes(whole[:place] + b"\x00\xff" + whole[place + 2 :])
    with pytest.raises(ex.InputError, match="cut off or damaged"):
        ex.read(path)


@pytest.mark.parametrize("method", [8, 93])
def test_a_zip_bomb_is_refused_before_it_is_unpacked(method: int, tmp_path: Path, monkeypatch):
    monkeypatch.setattr("examiner.importers.files.UNPACKED_FREELY_BYTES", 2**16)
    members = inspect_members([]) | {"summaries.json": b"[" + b" " * 2**23 + b"]"}
    (tmp_path / "x.eval").write_bytes(eval_archive(members, method))
    with pytest.raises(ex.InputError, match="as a zip bomb does"):
        ex.read(tmp_path / "x.eval")


def test_a_retry_takes_the_place_of_what_it_retries(tmp_path: Path):
    write_log(tmp_path / "1.eval", SAMPLES[:2], status="error", eval_id="a")
    again = [inspect_sample(1, "C"), inspect_sample("x-2", "C"), inspect_sample(3, "C")]
    write_log(tmp_path / "2.eval", again, eval_id="b")
    with pytest.warns(ex.ExaminerWarning, match="2 samples of an evaluation stand in several logs"):
        results = ex.read(tmp_path)
    assert results.measure().tolist() == [1.0, 1.0, 1.0]
    assert set(results.column("run")) == {0}


def test_another_evaluation_is_another_run_and_other_settings_another_agent(tmp_path: Path):
    write_log(tmp_path / "1.eval", task_id="a", model_generate_config={"temperature": 0.0})
    write_log(tmp_path / "2.eval", task_id="b", model_generate_config={"temperature": 0.0})
    write_log(tmp_path / "3.eval", task_id="c", model_generate_config={"temperature": 1.0})
    write_log(tmp_path / "4.eval", task_id="d", model="openai/other", task_args={"cot": True})
    results = ex.read(tmp_path)
    assert results.agents == (
        "openai/gpt2 (temperature=0.0)",
        "openai/gpt2 (temperature=1.0)",
        "openai/other",
    )
    assert results.counts()["runs"] == 2


def test_items_of_shuffled_data_sets_are_the_same_by_content(tmp_path: Path):
    shuffled = {"dataset": {"name": "arc", "shuffled": True}}
    write_log(tmp_path / "1.eval", [inspect_sample(1, "C"), inspect_sample(2, "I")], **shuffled)
    turned = [
        inspect_sample(1, "C", input="What is 2?"),
        inspect_sample(2, "I", input="What is 1?"),
    ]
    write_log(tmp_path / "2.eval", turned, model="other/model", task_id="t2", **shuffled)
    results = ex.read(tmp_path)
    assert len(results.tasks) == 2
    assert results.task_codes.tolist() == [0, 1, 0, 1]
    assert results.measure().tolist() == [1.0, 0.0, 0.0, 1.0], "what is first here was second there"


def test_an_id_with_another_input_is_said(tmp_path: Path):
    write_log(tmp_path / "1.eval", [inspect_sample(1, "C")])
    write_log(tmp_path / "2.eval", [inspect_sample(1, "C", input="Else?")], task_id="t2", model="m")
    with pytest.warns(ex.ExaminerWarning, match="1 item of 1 have another input in another log"):
        assert len(ex.read(tmp_path).tasks) == 1


def test_logs_without_samples_are_passed_over_among_others(tmp_path: Path):
    write_log(tmp_path / "1.eval")
    write_log(tmp_path / "2.eval", [], status="cancelled", task_id="t2")
    assert len(ex.read(tmp_path)) == 3
    with pytest.raises(ex.InputError, match="holds no sample with a score"):
        ex.read(tmp_path / "2.eval")


def test_a_log_that_names_no_model_is_refused(tmp_path: Path):
    with pytest.raises(ex.InputError, match="does not say which model did which task"):
        ex.read(write_log(tmp_path / "x.eval", model=None))


def test_many_logs_are_read_by_processes_as_they_are_by_one(tmp_path: Path, monkeypatch):
    for number in range(4):
        write_log(tmp_path / f"{number}.eval", task_id=f"t{number}", model=f"m/{number}")
    alone = ex.read(tmp_path)
    monkeypatch.setattr("examiner.importers.folders._PROCESSES_FROM_BYTES", 0)
    stages = []
    assert ex.read(tmp_path, progress=lambda *stage: stages.append(stage)) == alone
    assert ("reading inspect", 4, 4) in stages
