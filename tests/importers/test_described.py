"""Logs that are read by a description alone: Harbor, Terminal-Bench, MTEB, lighteval; HELM's answers."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import examiner as ex
from importers.evaluation_files import harbor_trial, helm_state, mteb_result

pytestmark = pytest.mark.filterwarnings("ignore::examiner.ExaminerWarning")


def write(path: Path, content: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
    return path


def test_trials_of_harbor_are_runs_and_a_trial_without_a_reward_was_not_observed(tmp_path: Path):
    rewards = {"chess__a": 1.0, "chess__b": 0.0, "chess__c": None, "sort__a": 1.0}
    for trial, reward in rewards.items():
        result = harbor_trial(trial.partition("__")[0], trial, reward)
        write(tmp_path / "job" / trial / "result.json", result)
    write(tmp_path / "job" / "result.json", {"id": "job", "n_total_trials": 4, "stats": {}})
    results = ex.read(tmp_path)
    assert results.agents == ("gpt-5",)
    assert results.tasks == ("terminal-bench/chess", "terminal-bench/sort")
    assert results.measure("reward").tolist() == [1.0, 0.0, 1.0]
    assert results.counts()["runs"] == 2
    assert any("1 sample without a score: not observed" in note for note in results.notes)
    assert results.column("cost") == [0.25] * 3


def test_scaffolds_of_one_model_on_the_same_tasks_are_agents(tmp_path: Path):
    for agent in ("terminus-2", "mini-swe"):
        result = harbor_trial("chess", f"chess__{agent}", 1.0, agent=agent)
        write(tmp_path / agent / "result.json", result)
    assert ex.read(tmp_path).agents == ("gpt-5 (agent=mini-swe)", "gpt-5 (agent=terminus-2)")


def test_harbor_agents_that_differ_in_an_argument_are_agents_whatever_their_jobs_are_called(
    tmp_path: Path,
):
    for task, tool in product(("chess", "sort"), ("pi", "thin")):
        result = harbor_trial(task, f"{task}__{tool}", 1.0)
        arguments = {"harness": tool, "cell_id": f"{task}--{tool}", "mode": "fake"}
        result["config"] = {"agent": {"model_name": "org/gpt-5", "kwargs": arguments}}
        write(tmp_path / task / tool / "result.json", result)
    results = ex.read(tmp_path)
    assert results.agents == ("gpt-5 (harness=pi)", "gpt-5 (harness=thin)")
    assert len(results.tasks) == 2


def test_subsets_and_splits_of_mteb_are_tasks_and_revisions_belong_to_the_model(tmp_path: Path):
    scores = {"test": {"en": 0.7, "fr": 0.5}, "dev": {"en": 0.6}}
    write(tmp_path / "org__a" / "r1" / "STS17.json", mteb_result("STS17", scores))
    write(tmp_path / "org__b" / "r9" / "STS17.json", mteb_result("STS17", {"test": {"en": 0.9}}))
    write(tmp_path / "org__b" / "r9" / "model_meta.json", {"name": "org/b", "revision": "r9"})
    other = tmp_path / "org__b" / "r9" / "experiments" / "kwargs"
    write(other / "STS18.json", mteb_result("STS18", {"test": {"en": 0.2}}))
    results = ex.read(tmp_path)
    assert results.agents == ("org/a", "org/b")
    tasks = {"STS17/test/en", "STS17/test/fr", "STS17/dev/en", "STS18/test/en"}
    assert set(results.tasks) == tasks
    assert np.nanmean(results.measure()) == pytest.approx((0.7 + 0.5 + 0.6 + 0.9 + 0.2) / 5)
    assert not any("skipped" in note for note in results.notes)


def test_logs_of_different_versions_of_a_harness_are_warned_of(tmp_path: Path):
    for model, version in (("org__a", "1.18.0"), ("org__b", "2.1.0")):
        scores = mteb_result("STS17", {"test": {"en": 0.7}}, version)
        write(tmp_path / model / "r1" / "STS17.json", scores)
    notes = ex.read(tmp_path).notes
    assert any("different versions of mteb ('1.18.0', '2.1.0')" in note for note in notes)


def test_a_result_of_mteb_without_a_main_score_is_refused(tmp_path: Path):
    old = {"mteb_dataset_name": "STS17", "test": {"en": {"cos_sim": {"pearson": 0.7}}}}
    path = write(tmp_path / "org__a" / "r1" / "STS17.json", old)
    with pytest.raises(ex.InputError, match=r"before 1\.11 do not say which score is the main"):
        ex.read(path)


def test_the_mean_over_tasks_of_lighteval_is_no_task(tmp_path: Path):
    content = {
        "config_general": {"model_name": "org/m"},
        "results": {"arc|0": {"acc": 0.5, "acc_stderr": 0.1}, "all": {"acc": 0.5}},
    }
    results = ex.read(write(tmp_path / "results.json", content))
    assert (results.tasks, results.measures) == (("arc|0",), ("acc",))


def test_answers_of_helm_are_marked_by_their_references(tmp_path: Path):
    answers = [("id1", " Paris", "Paris"), ("id2", "Rome", "Paris")]
    path = write(tmp_path / "quiz-model=openai_gpt2" / "scenario_state.json", helm_state(answers))
    results = ex.read(path)
    assert results.measure("exact_match").tolist() == [1.0, 0.0]
    assert any("holds answers and no scores" in note for note in results.notes)


def test_requests_of_separate_choices_are_refused(tmp_path: Path):
    state = helm_state([("id1", "A", "A")], method="multiple_choice_separate_original")
    path = write(tmp_path / "quiz" / "scenario_state.json", state)
    with pytest.raises(ex.InputError, match=r"one request for each choice .* per_instance_stats"):
        ex.read(path)
