"""Shapes of published tables: truth values, answers with a key, nested objects, steps without a header."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import examiner as ex

pytestmark = pytest.mark.filterwarnings("ignore::examiner.messages.ExaminerWarning")


def written(folder: Path, content: Any, name: str) -> Path:  # Any: text, or JSON values
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def scores(results: ex.Results) -> dict[tuple[Any, ...], float]:
    rows = zip(*(results.column(name) for name in ("agent", "task", "run")), strict=True)
    return dict(zip(rows, results.measure().tolist(), strict=True))


@pytest.mark.parametrize(
    ("wrong", "right"), [("False", "True"), ("false", "TRUE"), ("no", "Yes"), ("fail", "pass")]
)
def test_truth_values_are_one_and_zero(wrong: str, right: str, tmp_path: Path) -> None:
    tidy = f"model,question_id,correct\na,q1,{right}\na,q2,{wrong}\nb,q1,n/a\nb,q2,{right}\n"
    results = ex.read(written(tmp_path, tidy, "tidy.csv"))
    observed = {key: value for key, value in scores(results).items() if value == value}
    assert observed == {("a", "q1", 0): 1.0, ("a", "q2", 0): 0.0, ("b", "q2", 0): 1.0}
    wide = f"model,q1,q2\na,{right},{wrong}\nb,n/a,{right}\n"
    assert scores(ex.read(written(tmp_path, wide, "wide.csv"))) == observed


def test_words_that_are_no_truth_values_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "model,task,correct\na,q1,True\na,q2,maybe\n", "x.csv")
    with pytest.raises(ex.InputError, match="not a number"):
        ex.read(path)


def test_answers_are_marked_by_a_key(tmp_path: Path) -> None:
    rows = "a,q1,A,A\na,q2,b,C\nb,q1,(a),A\nb,q2,,C\n"
    results = ex.read(written(tmp_path, f"model,question_id,prediction,gold\n{rows}", "x.csv"))
    assert results.measures == ("correct",)
    observed = {key[:2]: value for key, value in scores(results).items() if value == value}
    assert observed == {("a", "q1"): 1.0, ("a", "q2"): 0.0, ("b", "q1"): 1.0}


def test_answers_in_words_are_not_marked(tmp_path: Path) -> None:
    rows = "a,q1,The answer is A,A\na,q2,B,C\n"
    path = written(tmp_path, f"model,question_id,prediction,gold\n{rows}", "x.csv")
    with pytest.raises(ex.InputError, match="No measure found"):
        ex.read(path)


def test_objects_of_three_keys_are_read(tmp_path: Path) -> None:
    runs = {"dqn": {"Pong": {"0": 1, "1": 2}, "Alien": {"0": 3, "1": 4}}}
    expected = {
        ("dqn", "Pong", 0): 1.0,
        ("dqn", "Pong", 1): 2.0,
        ("dqn", "Alien", 0): 3.0,
        ("dqn", "Alien", 1): 4.0,
    }
    assert scores(ex.read(written(tmp_path, runs, "runs.json"))) == expected
    seeds = {"Pong": {"dqn": {"seed_3": 1.5}}, "Alien": {"dqn": {"seed_3": 2.5}}}
    results = ex.read(written(tmp_path, seeds, "seeds.json"))
    assert scores(results) == {("dqn", "Pong", "seed_3"): 1.5, ("dqn", "Alien", "seed_3"): 2.5}


def test_a_measure_is_chosen_from_objects_of_three_keys(tmp_path: Path) -> None:
    cells = {"dqn": {"Pong": {"mean": 1.5, "std": 9}, "Alien": {"mean": 2.5, "std": 9}}}
    path = written(tmp_path, cells, "x.json")
    with pytest.raises(ex.InputError, match=r"`--measure mean"):
        ex.read(path)
    results = ex.read(path, measure="mean")
    assert results.measures == ("mean",)
    assert scores(results) == {("dqn", "Pong", 0): 1.5, ("dqn", "Alien", 0): 2.5}


def test_numbers_that_may_be_times_are_no_runs(tmp_path: Path) -> None:
    curve = {"dqn": {"Pong": {"1000": 1, "2000": 2}}}
    with pytest.raises(ex.InputError, match="not a list of records"):
        ex.read(written(tmp_path, curve, "x.json"))


YAML = """
- {model: m, task: t, score: 1}
- {model: n, task: t, score: 2}
"""


def test_yaml_is_read_as_the_json_of_the_same_content(tmp_path: Path) -> None:
    from_yaml = ex.read(written(tmp_path, YAML, "my scores.yaml"))
    records = [{"model": "m", "task": "t", "score": 1}, {"model": "n", "task": "t", "score": 2}]
    assert from_yaml == ex.read(written(tmp_path, records, "x.json"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- {model: m, model: n}", "has the key 'model' twice in one object"),
        ("- &a {model: m}\n- *a", "has aliases"),
        ("- {model: m", "the YAML is broken"),
        ("- 1\n- 2\n", "Entry 1 of .* and no record"),
    ],
)
def test_yaml_that_would_be_misread_is_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ex.InputError, match=message):
        ex.read(written(tmp_path, text, "x.yml"))


def test_settings_in_yaml_beside_results_are_no_results(tmp_path: Path) -> None:
    written(tmp_path, "agent,task,score\na,t,1\nb,t,2\n", "x.csv")
    written(tmp_path, YAML, "x.yml")
    results = ex.read(tmp_path)
    assert results.agents == ("a", "b")
    assert any("1 file was skipped that is not results: 'x.yml'" in note for note in results.notes)


NESTED = {
    "smac": {
        "3m": {
            "qmix": {
                f"seed_{run}": {
                    f"step_{step}": {"step_count": 100 * step, "return": [run + step, run]}
                    for step in range(3)
                }
                for run in range(2)
            }
        }
    }
}


def test_levels_of_nested_objects_are_named_by_axes(tmp_path: Path) -> None:
    path = written(tmp_path, NESTED, "x.json")
    axes = "environment,tasks,agents,runs,checkpoints"
    results = ex.read(path, axes=axes, measure="return")
    assert (results.agents, results.tasks) == (("qmix",), ("3m",))
    assert results.measure().sum() == sum(run + step + run for run in range(2) for step in range(3))
    assert results.counts()["runs"] == 2
    with pytest.raises(ex.InputError, match=r"Name what is measured: `--measure return`"):
        ex.read(path, axes=axes)


def test_a_matrix_in_a_document_is_read_with_the_texts_around_it(tmp_path: Path) -> None:
    document = {"system": "duckdb", "date": "2024", "result": [[1.5, 1.0], [3.0, 2.5]]}
    path = written(tmp_path, document, "x.json")
    results = ex.read(path, axes="tasks,runs", measure="result")
    assert (results.agents, results.tasks) == (("duckdb",), ("task 1", "task 2"))
    assert results.measure("result").tolist() == [1.5, 1.0, 3.0, 2.5]


def test_more_levels_than_there_are_end_the_reading(tmp_path: Path) -> None:
    path = written(tmp_path, {"pong": {"dqn": 1}}, "x.json")
    with pytest.raises(
        ex.InputError, match=r"has '1' at task pong, agent dqn, where names or a list"
    ):
        ex.read(path, axes="tasks,agents,runs")


def test_records_are_found_within_a_document(tmp_path: Path) -> None:
    records = [{"id": 1, "task": "a", "correct": True}, {"id": 2, "task": "b", "correct": False}]
    document = {"model": {"name": "m"}, "accuracy": 0.5, "run": 3, "results": {"rows": records}}
    with pytest.raises(ex.InputError, match=r"no column for the agent"):
        ex.read(written(tmp_path, document, "x.json"))  # only texts hold for all records
    results = ex.read(written(tmp_path, document | {"model": "m"}, "x.json"))
    assert (results.agents, results.measures) == (("m",), ("correct",))
    assert results.measure().tolist() == [1.0, 0.0]
    assert results.column("run") == [3, 3]


def test_keys_of_an_object_of_records_are_a_column(tmp_path: Path) -> None:
    document = {
        "date": "today",
        "summary": {"acc": 0.5},
        "eval": {"q/1": {"acc": 1}, "q/2": {"acc": 0}},
    }
    path = written(tmp_path, document, "gpt.json")
    with pytest.raises(ex.InputError, match=r"--measure acc --task key --path '\{agent\}'"):
        ex.read(path)
    results = ex.read(path, measure="acc", task="key", path="{agent}")
    assert (results.agents, results.tasks) == (("gpt",), ("q/1", "q/2"))


def test_fields_of_objects_in_records_are_columns(tmp_path: Path) -> None:
    records = [
        {"agent_info": {"model": {"name": name}}, "task": "t", "out": {"reward": reward}}
        for name, reward in (("m", 1), ("n", 0))
    ]
    path = written(tmp_path, records, "x.json")
    results = ex.read(path, agent="agent_info.model.name")
    assert (results.agents, results.measures) == (("m", "n"), ("out.reward",))
    lines = "".join(json.dumps(record) + "\n" for record in records)
    assert (
        ex.read(written(tmp_path, lines, "x.jsonl"), agent="agent_info.model.name").agents
        == results.agents
    )


def test_steps_and_values_without_a_header_are_curves(tmp_path: Path) -> None:
    for agent, level in (("dqn", 1.0), ("ppo", 2.0)):
        for seed in (0, 1):
            lines = "".join(f"{1000 * n} {level * n + seed}\n" for n in range(1, 5))
            written(tmp_path, lines, f"{agent}/Pong_{seed}.txt")
    with pytest.raises(ex.InputError, match=r"--path '\{agent\}/\{task\}_\{run\}'"):
        ex.read(tmp_path)
    results = ex.read(tmp_path, path="{agent}/{task}_{run}")
    assert results.provenance.training
    assert results.column("steps")[:4] == [1000, 2000, 3000, 4000]
    last = ex.responses(ex.reduce(results, "final")).to_numpy()
    assert last.tolist() == [[4.5], [8.5]]


@pytest.mark.parametrize("text", ["1 2\n1 3\n", "1 2\n2 3 4\n", "3 1\n2 1\n", "1 2\n2 x\n"])
def test_other_numbers_without_a_header_are_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(ex.InputError, match="There is no header"):
        ex.read(written(tmp_path, text, "dqn_Pong_0.txt"), path="{agent}_{task}_{run}")


VALUES = np.arange(24.0).reshape(4, 3, 2)


def test_fields_of_a_summary_are_not_runs(tmp_path: Path) -> None:
    """A summary next to the results holds a mean and a count, which would be averaged as two runs."""
    results = {"pong": {"dqn": [{"total": 0.5}, {"total": 1.0}]}}
    summary = {"pong": {"dqn": {"mean": 0.75, "evaluations": 2, "criteria": {"wins": 1}}}}
    written(tmp_path, results, "detailed.json")
    path = written(tmp_path, summary, "summary.json")
    names = {"axes": "tasks,agents,runs", "measure": "total"}
    with pytest.raises(ex.InputError, match="beside objects without 'total'"):
        ex.read(path, **names)
    assert scores(ex.read(tmp_path, **names)) == {("dqn", "pong", 0): 0.5, ("dqn", "pong", 1): 1.0}


def test_axes_of_an_array_are_named(tmp_path: Path) -> None:
    path = tmp_path / "dqn_Pong.npy"
    np.save(path, VALUES[:, :, 0])
    names = {"agent": "=dqn", "task": "=Pong"}
    with pytest.raises(ex.InputError, match=r"Runs: `--axes checkpoints,runs`; episodes"):
        ex.read(path, path="{agent}_{task}")
    results = ex.read(path, axes="checkpoints,runs", **names)
    assert results.counts()["runs"] == 3 and results.provenance.training
    assert ex.responses(ex.reduce(results, "final")).to_numpy() == VALUES[-1, :, 0].mean()
    turned = tmp_path / "turned.npy"
    np.save(turned, VALUES[:, :, 0].T)
    assert ex.read(turned, axes="runs,checkpoints", **names) == results
    assert scores(ex.read(path, axes="tasks,runs", agent="=dqn")) == {
        ("dqn", f"task {task + 1}", run): VALUES[task, run, 0]
        for task in range(4)
        for run in range(3)
    }


def test_arrays_of_an_npz_file_are_agents_or_tasks(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    np.savez(path, Pong=VALUES, Alien=VALUES + 1)
    results = ex.read(path, axes="checkpoints,runs,episodes", agent="=dqn")
    assert (results.agents, results.tasks) == (("dqn",), ("Alien", "Pong"))
    means = ex.responses(ex.reduce(results, "final")).to_numpy()
    assert means.tolist() == [[VALUES[-1].mean() + 1, VALUES[-1].mean()]]
    with pytest.raises(ex.InputError, match=r"names no task.*`--task =NAME`"):
        ex.read(path, axes="checkpoints,runs,episodes")


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ("rows,runs", "The axis 'rows' of arrays is none of"),
        ("runs,runs", "Name each axis once"),
        ("runs", r"has the shape \(4, 3\) and the kind float64, and 1 axes of numbers"),
    ],
)
def test_axes_that_do_not_fit_are_refused(axes: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    np.save(path, VALUES[:, :, 0])
    with pytest.raises(ex.InputError, match=message):
        ex.read(path, axes=axes, agent="=a", task="=t")


def test_axes_are_for_arrays() -> None:
    with pytest.raises(ex.InputError, match=r"`--axes`\) are for arrays of npy and npz files"):
        ex.read({"agent": ["a"], "task": ["t"], "score": [1.0]}, axes="runs")
