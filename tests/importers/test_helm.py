"""HELM run folders: models, draws of examples, perturbations, and what is no score."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import examiner as ex
from importers.evaluation_files import helm_instance, helm_stat, helm_state, write_helm

pytestmark = pytest.mark.filterwarnings("ignore::examiner.messages.ExaminerWarning")
ITEMS = "mmlu:subject=law,method=multiple_choice_joint"


def test_run_folders_give_models_instances_and_costs(tmp_path: Path):
    for model, scores in (("openai/gpt2", (1, 0)), ("meta/llama", (0, 1))):
        instances = [helm_instance(f"id{at}", score) for at, score in enumerate(scores)]
        write_helm(tmp_path / f"mmlu-x,model={model.replace('/', '_')}", instances, model=model)
    results = ex.read(tmp_path)
    assert results.agents == ("meta/llama", "openai/gpt2")
    assert results.tasks == (f"{ITEMS}/id0", f"{ITEMS}/id1")
    assert results.measures == ("exact_match",), "bookkeeping is no measure"
    assert results.measure().tolist() == [0.0, 1.0, 1.0, 0.0]
    assert results.numbers("tokens_in").tolist() == [333.0] * 4
    assert results.numbers("seconds").tolist() == [0.5] * 4
    about = results.task_attributes
    assert set(about.aligned(results.tasks, "benchmark")) == {"mmlu"}
    assert set(about.aligned(results.tasks, "subtask")) == {ITEMS.partition(":")[2]}
    assert not any("skipped" in note for note in results.notes)


def test_another_draw_of_examples_is_another_run(tmp_path: Path):
    instances = [helm_instance("id1", score, trial) for trial, score in enumerate((1, 0, 1))]
    results = ex.read(write_helm(tmp_path, instances))
    assert results.column("run") == [0, 1, 2]


def test_several_scores_have_to_be_chosen_from(tmp_path: Path):
    instance = helm_instance("id1", 1)
    instance["stats"].append(helm_stat("f1_score", 0.5))
    path = write_helm(tmp_path, [instance])
    with pytest.raises(ex.InputError, match="'exact_match', 'f1_score' of 'mmlu:"):
        ex.read(path)
    assert ex.read(path, measure="f1_score").measure().tolist() == [0.5]


def test_perturbed_copies_are_items_and_the_worst_of_them_is_none(tmp_path: Path):
    typos = {"name": "typos", "seed": 3}
    worst = helm_instance("id1", 0, perturbation=typos)
    stats = [helm_stat("exact_match", 0, perturbation={**typos, "computed_on": "worst"})]
    instances = [
        helm_instance("id1", 1),
        helm_instance("id1", 0, perturbation=typos),
        worst | {"stats": stats, "instance_id": "id9"},
    ]
    results = ex.read(write_helm(tmp_path, instances))
    assert results.tasks == (f"{ITEMS}/id1", f"{ITEMS}/id1~typos.3")
    assert results.measure().tolist() == [1.0, 0.0]


def test_a_statistic_of_nothing_is_not_observed(tmp_path: Path):
    instances = [helm_instance("id1", 1), helm_instance("id2", None)]
    with pytest.warns(ex.ExaminerWarning, match="1 sample without a score: not observed"):
        assert len(ex.read(write_helm(tmp_path, instances))) == 1


def test_the_folder_names_the_run_where_no_specification_does(tmp_path: Path):
    path = write_helm(tmp_path / "mmlu-subject=law,model=openai_gpt2", [helm_instance("id1", 1)])
    path.with_name("run_spec.json").unlink()
    results = ex.read(path)
    assert (results.agents, results.tasks) == (("openai_gpt2",), ("mmlu:subject=law/id1",))
    other = write_helm(tmp_path / "somewhere", [helm_instance("id1", 1)])
    other.with_name("run_spec.json").unlink()
    with pytest.raises(ex.InputError, match=r"does not say which model was evaluated\. Name it"):
        ex.read(other)


def test_texts_come_from_the_requests(tmp_path: Path):
    path = write_helm(tmp_path, [helm_instance("id1", 1)])
    states = [{"instance": {"id": "id1", "input": {"text": "Why?"}, "split": "test"}}]
    path.with_name("scenario_state.json").write_text(json.dumps({"request_states": states}))
    results = ex.read(path, item_text=True)
    assert results.task_attributes.aligned(results.tasks, "text") == ("Why?",)


def test_an_instance_without_a_name_is_refused(tmp_path: Path):
    with pytest.raises(ex.InputError, match="an instance without `instance_id`"):
        ex.read(write_helm(tmp_path, [helm_instance("id1", 1), {"stats": []}]))


def test_answers_under_another_name_are_of_the_run_that_the_file_names(tmp_path: Path):
    path = tmp_path / "openai_gpt2" / "college_law.json"
    path.parent.mkdir()
    path.write_text(json.dumps(helm_state([("id1", "A", "A")])))
    assert ex.read(path).tasks == ("college_law/id1",)
