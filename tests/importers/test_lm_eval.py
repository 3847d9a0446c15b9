"""Samples and results of lm-evaluation-harness, as it wrote them before and after 2025."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import examiner as ex
from importers.evaluation_files import (
    DATE,
    LATER,
    LM_EVAL_RESULTS,
    lm_eval_line,
    write_lm_eval,
)

pytestmark = pytest.mark.filterwarnings("ignore::examiner.messages.ExaminerWarning")


def test_model_and_task_come_from_the_names_of_folder_and_file(tmp_path: Path):
    write_lm_eval(tmp_path / "org__tiny", "arc_easy", [lm_eval_line(3, {"acc": 1.0})])
    write_lm_eval(tmp_path / "org__big", "arc_easy", [lm_eval_line(3, {"acc": 0.0})])
    results = ex.read(tmp_path)
    assert results.agents == ("org/big", "org/tiny")
    assert results.tasks == ("arc_easy/3",)
    assert results.measures == ("acc",)
    assert results.measure().tolist() == [0.0, 1.0]


def test_the_results_beside_samples_name_the_model_and_the_group(tmp_path: Path):
    lines = [lm_eval_line(number, {"acc": float(number % 2)}) for number in range(4)]
    write_lm_eval(tmp_path / "somewhere", "mmlu_law", lines, about=LM_EVAL_RESULTS)
    results = ex.read(tmp_path)
    assert results.agents == ("org/tiny",)
    assert len(results) == 4, "results of whole tasks are not read beside samples"
    about = results.task_attributes
    assert set(about.aligned(results.tasks, "benchmark")) == {"mmlu"}
    assert set(about.aligned(results.tasks, "subtask")) == {"mmlu_law"}
    assert not any("skipped" in note for note in results.notes)


def test_a_filter_is_a_measure_that_has_to_be_chosen(tmp_path: Path):
    lines = [
        lm_eval_line(number, {"exact_match": score}, kind=kind)
        for kind, score in (("strict-match", 0.0), ("flexible-extract", 1.0))
        for number in range(3)
    ]
    path = write_lm_eval(tmp_path / "m", "gsm8k", lines)
    with pytest.raises(
        ex.InputError, match=r"'exact_match,strict-match', 'exact_match,flexible-ex"
    ):
        ex.read(path)
    results = ex.read(path, measure="exact_match,flexible-extract")
    assert results.measure().tolist() == [1.0] * 3
    assert results.counts()["trials"] == 1


def test_filters_that_old_files_do_not_name_are_measures_too(tmp_path: Path):
    lines = [
        lm_eval_line(number, {"exact_match": score}, kind=None)
        for score in (0.0, 1.0)
        for number in range(3)
    ]
    path = write_lm_eval(tmp_path / "m", "gsm8k", lines)
    with pytest.raises(ex.InputError, match=r"'exact_match', 'exact_match,filter 2' of 'gsm8k'"):
        ex.read(path)
    assert ex.read(path, measure="exact_match,filter 2").measure().tolist() == [1.0] * 3


def test_old_files_without_filters_have_every_number_as_a_metric(tmp_path: Path):
    line = lm_eval_line(0, {"acc": 1.0, "acc_norm": 0.0, "word_perplexity": [1.0, 2]}, kind=None)
    path = write_lm_eval(tmp_path / "m", "arc", [line])
    results = ex.read(path, measure=["acc_norm", "acc"])
    assert results.measures == ("acc_norm", "acc")
    assert results.measure("acc").tolist() == [1.0]
    with pytest.raises(ex.InputError, match=r"no column 'f1'; found 'acc', 'acc_norm'"):
        ex.read(path, measure="f1")


def test_each_benchmark_may_have_a_measure_of_its_own(tmp_path: Path):
    write_lm_eval(tmp_path / "m", "arc", [lm_eval_line(0, {"acc": 0.0, "acc_norm": 1.0})])
    write_lm_eval(tmp_path / "m", "gsm8k", [lm_eval_line(0, {"exact_match": 1.0})])
    results = ex.read(tmp_path, measure=["arc*=acc_norm"])
    assert results.measures == ("score",)
    assert results.measure().tolist() == [1.0, 1.0]
    assert any("'acc_norm' of 'arc'" in note for note in results.notes)
    with pytest.raises(ex.InputError, match="PATTERN=MEASURE"):
        ex.read(tmp_path, measure=["=acc"])
    with pytest.raises(ex.InputError, match="is for logs of evaluations, and this is 'dict'"):
        ex.read({"agent": ["a"], "task": ["t"], "score": [1]}, measure=["t=score"])


def test_items_are_the_same_by_content_whatever_their_number(tmp_path: Path):
    questions = ["one", "two", "three"]
    first = [lm_eval_line(at, {"acc": 1.0}, question=text) for at, text in enumerate(questions)]
    other = [
        lm_eval_line(at, {"acc": float(text == "two")}, question=text)
        for at, text in enumerate(reversed(questions))
    ]
    write_lm_eval(tmp_path / "a", "quiz", first)
    write_lm_eval(tmp_path / "b", "quiz", other)
    results = ex.read(tmp_path)
    assert results.tasks == ("quiz/0", "quiz/1", "quiz/2")
    matrix = {
        (a, t): s
        for a, t, s in zip(
            results.column("agent"), results.column("task"), results.measure(), strict=True
        )
    }
    assert matrix["b", "quiz/1"] == 1.0
    assert matrix["b", "quiz/0"] == 0.0


def test_an_id_with_another_content_is_another_item(tmp_path: Path):
    write_lm_eval(tmp_path / "a", "quiz", [lm_eval_line(0, {"acc": 1.0}, question="old")])
    write_lm_eval(tmp_path / "b", "quiz", [lm_eval_line(0, {"acc": 1.0}, question="new")])
    with pytest.warns(ex.ExaminerWarning, match="1 item of an id that stands for something else"):
        results = ex.read(tmp_path)
    assert len(results.tasks) == 2


def test_a_document_that_the_data_set_holds_twice_is_two_items(tmp_path: Path):
    lines = [lm_eval_line(at, {"acc": float(at)}, question="same") for at in range(2)]
    path = write_lm_eval(tmp_path / "a", "quiz", lines)
    assert ex.read(path).tasks == ("quiz/0", "quiz/1")


def test_two_dates_of_one_model_are_two_runs_and_that_is_said(tmp_path: Path):
    for date, score in ((DATE, 0.0), (LATER, 1.0)):
        write_lm_eval(tmp_path / "m", "arc", [lm_eval_line(0, {"acc": score})], date=date)
    with pytest.warns(ex.ExaminerWarning, match="evaluated more than once .* 'm on arc'"):
        results = ex.read(tmp_path)
    assert results.column("run") == [0, 1]
    assert results.column("trial") == [0, 0]


def test_settings_that_differ_on_the_same_task_make_agents(tmp_path: Path):
    for date, shots in ((DATE, 0), (LATER, 5)):
        about = {"results": {}, "model_name": "m", "n-shot": {"arc": shots, "gsm8k": 8}}
        write_lm_eval(
            tmp_path / "m", "arc", [lm_eval_line(0, {"acc": 1.0})], date=date, about=about
        )
    write_lm_eval(tmp_path / "m", "gsm8k", [lm_eval_line(0, {"acc": 1.0})], date=LATER)
    results = ex.read(tmp_path)
    assert results.agents == ("m (shots=0)", "m (shots=5)", "m (shots=8)")
    assert any("several settings ('shots')" in note for note in results.notes)


def test_the_same_line_twice_counts_once_and_another_result_is_refused(tmp_path: Path):
    same = lm_eval_line(0, {"acc": 1.0})
    path = write_lm_eval(tmp_path / "m", "arc", [same, same])
    with pytest.warns(
        ex.ExaminerWarning, match="1 sample twice with the same result: counted once"
    ):
        assert len(ex.read(path)) == 1
    write_lm_eval(tmp_path / "m", "arc", [same, lm_eval_line(0, {"acc": 0.0})])
    with pytest.raises(ex.InputError, match="two results of the sample '0': 'acc' is 1 and 0"):
        ex.read(path)


def test_a_line_cut_off_is_named_and_its_file_passed_over_in_a_folder(tmp_path: Path):
    whole = [lm_eval_line(number, {"acc": 1.0}) for number in range(3)]
    good = write_lm_eval(tmp_path / "good", "arc", whole)
    bad = write_lm_eval(tmp_path / "bad", "arc", whole)
    bad.write_bytes(good.read_bytes()[:-40])
    with pytest.raises(ex.InputError, match="line 3 is not a whole JSON object"):
        ex.read(bad)
    with pytest.warns(ex.ExaminerWarning, match="1 file could not be read .*line 3"):
        assert ex.read(tmp_path).agents == ("good",)
    with pytest.raises(ex.InputError, match="line 3 is not"):
        ex.read(tmp_path, strict=True)


def test_samples_under_another_name_need_a_template(tmp_path: Path):
    path = write_lm_eval(tmp_path / "m", "arc", [lm_eval_line(0, {"acc": 1.0})])
    path = path.rename(path.with_name("arc.jsonl"))
    with pytest.raises(ex.InputError, match="does not say which task its samples are of"):
        ex.read(path)
    results = ex.read(tmp_path, path="{agent}/{task}.jsonl")
    assert (results.agents, results.tasks) == (("m",), ("arc/0",))


def test_a_sample_without_any_metric_is_not_observed(tmp_path: Path):
    lines = [lm_eval_line(0, {"acc": 1.0}), lm_eval_line(1, {})]
    with pytest.warns(ex.ExaminerWarning, match="1 sample without a score: not observed"):
        assert ex.read(write_lm_eval(tmp_path / "m", "arc", lines)).tasks == ("arc/0",)
    with pytest.raises(ex.InputError, match=r"holds no sample with a score\. 1 sample without"):
        ex.read(write_lm_eval(tmp_path / "m", "none", [lm_eval_line(1, {})]))


def test_texts_of_items_are_kept_on_request(tmp_path: Path):
    lines = [lm_eval_line(0, {"acc": 1.0}, question="Why " * 200)]
    path = write_lm_eval(tmp_path / "m", "arc", lines)
    assert ex.read(path).task_attributes.columns == ("benchmark", "subtask")
    (text,) = ex.read(path, item_text=True).task_attributes.aligned(["arc/0"], "text")
    assert text == ("Why " * 200)[:300].strip() or len(text) == 300


def test_a_metric_that_is_better_the_lower_says_so(tmp_path: Path):
    about = {"results": {}, "higher_is_better": {"arc": {"loss": False}}}
    path = write_lm_eval(tmp_path / "m", "arc", [lm_eval_line(0, {"loss": 2.5})], about=about)
    scale = ex.read(path).scales.lookup("arc/0", measure="loss")
    assert scale is not None and scale.direction == "lower"


def test_results_of_whole_tasks_are_read_where_there_are_no_samples(tmp_path: Path):
    folder = tmp_path / "org__tiny"
    folder.mkdir()
    (folder / f"results_{DATE}.json").write_text(json.dumps(LM_EVAL_RESULTS))
    results = ex.read(tmp_path)
    assert results.tasks == ("mmlu_art", "mmlu_law"), "a group is the mean of its tasks"
    assert results.measure("acc").tolist() == [0.75, 0.25]
    assert results.task_attributes.aligned(results.tasks, "benchmark") == ("mmlu", "mmlu")


def test_results_from_before_filters_are_read_and_settings_make_agents(tmp_path: Path):
    for step in (1000, 143000):
        about = {
            "results": {"piqa": {"acc": step / 1e6, "acc_stderr": 0.01}},
            "versions": {"piqa": 0},
            "config": {
                "model": "hf-causal",
                "model_args": f"pretrained=org/tiny,revision=step{step}",
                "num_fewshot": 0,
            },
        }
        (tmp_path / f"tiny_step{step}.json").write_text(json.dumps(about, indent=2))
    results = ex.read(tmp_path)
    assert results.tasks == ("piqa",) and results.measures == ("acc",)
    assert len(results.agents) == 2 and all("revision=step" in name for name in results.agents)
    assert sorted(results.measure().tolist()) == [0.001, 0.143]


def test_measures_to_choose_from_are_named_in_a_short_message(tmp_path: Path):
    lines = [lm_eval_line(3, {f"m{n}" + "x" * 400: 1.0 for n in range(40)})]
    for task in range(30):
        write_lm_eval(tmp_path / "org__tiny", f"task{task}" + "y" * 150, lines)
    with pytest.raises(ex.InputError, match="The logs hold several measures") as refused:
        ex.read(tmp_path)
    assert len(str(refused.value)) < 600
