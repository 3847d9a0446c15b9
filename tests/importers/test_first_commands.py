"""Tables as they are published: read at the first command, or stopped with the command that reads them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import examiner as ex


def written(path: Path, text: str) -> Path:
    """Write a file, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("agent", "task", "measure"),
    [
        ("classifier_name", "dataset_name", "accuracy"),
        ("modelName", "taskId", "Score (%)"),
        ("Model Name", "Question ID", "score"),
        ("generator", "problem_name", "correct"),
    ],
)
def test_names_of_columns_are_recognised_by_their_words(
    tmp_path: Path, agent: str, task: str, measure: str
):
    path = written(tmp_path / "x.csv", f"{agent},{task},{measure}\na,t,1\na,u,0\nb,t,0\n")
    results = ex.read(path)
    assert (results.agents, results.tasks) == (("a", "b"), ("t", "u"))


def test_a_setting_beside_a_number_of_repeats_is_refused(tmp_path: Path):
    rows = [
        f"{agent},{kind},{fold},0.5" for agent in "ab" for kind in ("cat", "dog") for fold in "01"
    ]
    path = written(tmp_path / "x.csv", "\n".join(["model,kind,fold,accuracy", *rows]))
    with pytest.raises(ex.InputError, match=r"differ in 'kind' .*--item task,kind"):
        ex.read(path, task="=all")


def test_records_under_different_names_are_no_repeats(tmp_path: Path):
    parts = {"train": {"score": 0.9}, "test": {"score": 0.6}}
    record = {"algorithm": "mlp", "dataset": "adult", "metrics": parts}
    path = written(tmp_path / "x.json", json.dumps(record))
    with pytest.raises(ex.InputError, match=r"differ in 'key' \(train, test\).*--where key=train"):
        ex.read(path)
    assert ex.read(path, where="key=test").measure().tolist() == [0.6]


def test_a_wide_table_whose_rows_differ_in_a_setting_is_refused(tmp_path: Path):
    path = written(
        tmp_path / "x.csv", "tool,n,AUC_A,AUC_B\nr,0.1,1,2\nr,10,3,4\npy,0.1,5,6\npy,10,7,8\n"
    )
    with pytest.raises(ex.InputError, match=r"Rows of one 'tool' differ in 'n'.*--where n=0\.1"):
        ex.read(path)


@pytest.mark.parametrize(
    "cost", ["Time_A", "total cost", "tokens", "RAM", "time_training_seconds", "CPU time"]
)
def test_costs_are_no_tasks(tmp_path: Path, cost: str):
    path = written(tmp_path / "x.csv", f"name,AUC,{cost}\nr,1,2\npy,3,4\n")
    with pytest.raises(ex.InputError, match=f"'{cost}' is a cost.*--measure AUC --agent name"):
        ex.read(path)
    assert len(ex.read(path, tasks_are="columns").tasks) == 2


@pytest.mark.parametrize(
    ("measured", "spread"),
    [
        ("mmlu", "mmlu_stderr"),
        ("accuracy_mean", "accuracy_standard_deviation"),
        ("llm_avg_material", "llm_std_dev_material"),
    ],
)
def test_the_spread_of_a_column_is_neither_an_agent_nor_a_task(
    tmp_path: Path, measured: str, spread: str
):
    for first in ("model", "dataset"):
        path = written(tmp_path / "x.csv", f"{first},{measured},{spread}\na,1,2\nb,3,4\n")
        with pytest.raises(ex.InputError, match=f"'{spread}' is a statistic of other columns"):
            ex.read(path)


def test_a_name_with_a_word_for_spread_may_be_a_task(tmp_path: Path):
    path = written(tmp_path / "x.csv", "model,cpp_std,moe,bias_variance\na,1,2,3\nb,3,4,5\n")
    assert ex.read(path).tasks == ("bias_variance", "cpp_std", "moe")


def test_percentages_beside_other_numbers_are_measures(tmp_path: Path):
    path = written(tmp_path / "x.csv", "model,Answered,Length\na,98.2 %,172.4\nb,99.5 %,95.7\n")
    with pytest.raises(ex.InputError, match="they are measures, not tasks"):
        ex.read(path)


def test_columns_of_different_quantities_are_no_tasks(tmp_path: Path):
    path = written(tmp_path / "x.csv", "model,step_time,batch_size,top1\na,1,2,3\nb,4,5,6\n")
    with pytest.raises(ex.InputError, match="'step_time', 'batch_size' are different quantities"):
        ex.read(path)
    assert ex.read(path, tasks_are="columns").tasks == ("batch_size", "step_time", "top1")


@pytest.mark.parametrize(
    "tasks",
    [
        ("Pong", "Time Pilot", "Skiing"),
        ("latency-qa", "memory-qa", "price-qa"),
        ("econometrics", "high_school_statistics", "machine_learning"),
        ("accuracy_rate", "arc", "mmlu"),
        ("arc_accuracy", "mmlu_accuracy", "gsm_accuracy"),
        ("bandit", "memory_len", "memory_size", "umbrella_length", "deep_sea"),
        ("object_counting", "tell_time", "count_tokens", "sorting", "navigate"),
    ],
)
def test_tasks_whose_names_have_words_of_costs_and_quantities_are_tasks(tasks: tuple[str, ...]):
    table = {"model": ["a", "b"], **{task: [0.25, 0.5] for task in tasks}}
    assert set(ex.read(table).tasks) == set(tasks)


def test_who_says_what_columns_are_is_believed(tmp_path: Path):
    table = {"model": ["a", "b"], "Memory": [1, 2], "Price": [3, 4], "hash rate": [5, 6]}
    with pytest.raises(ex.InputError, match=r"'Memory' is a cost.*`--tasks-are columns`"):
        ex.read(table)
    assert ex.read(table, tasks_are="columns").tasks == ("Memory", "Price", "hash rate")
    assert ex.read(table, tasks_are="rows").agents == ("Memory", "Price", "hash rate")


def test_marks_between_thousands_are_left_out(tmp_path: Path):
    path = written(tmp_path / "x.csv", 'model,pong,chess\na,"1,014.45",7\nb,22.5,8\n')
    assert sorted(ex.read(path).measure()) == [7, 8, 22.5, 1014.45]


def test_scores_of_tasks_by_name_beside_costs_are_no_wide_table(tmp_path: Path):
    tasks = {name: {"score": 1.0, "cost": 0.5, "attempts": 2} for name in ("a1", "b2")}
    path = written(tmp_path / "x.json", json.dumps({"score": 1.0, "task_results": tasks}))
    with pytest.raises(ex.InputError, match=r"--measure score --task key --path '{agent}'"):
        ex.read(path)
    results = ex.read(path, measure="score", task="key", path="{agent}")
    assert (results.agents, results.tasks) == (("x",), ("a1", "b2"))


def test_means_with_an_error_in_brackets_are_means(tmp_path: Path):
    path = written(
        tmp_path / "x.csv", "task,mlp,fcn\nBeef,72.0(2.8),69.7 (4.0)\nCar,6.0(0.5),7.5 (1.0)\n"
    )
    results = ex.read(path)
    assert results.column("stated_error") == [4.0, 1.0, 2.8, 0.5]
    assert sorted(results.measure()) == [6.0, 7.5, 69.7, 72.0]


def test_whole_numbers_in_brackets_may_be_counts(tmp_path: Path):
    path = written(tmp_path / "x.csv", "task,mlp,fcn\nBeef,72(28),69(40)\n")
    with pytest.raises(ex.InputError):
        ex.read(path)


def test_fields_of_an_object_are_tasks_where_it_is_the_measure(tmp_path: Path):
    for name in "ab":
        scores = {
            "uuid": "1",
            "model": name,
            "date": "today",
            "metrics": {"icl": {"arc": 0.5, "gsm": 0.25}},
        }
        written(tmp_path / f"{name}.json", json.dumps(scores))
    with pytest.raises(
        ex.InputError, match=r"the 2 fields of 'metrics.icl' are tasks: `--measure metr"
    ):
        ex.read(tmp_path)
    results = ex.read(tmp_path, measure="metrics.icl")
    assert (results.agents, results.tasks) == (("a", "b"), ("arc", "gsm"))


def test_a_log_is_no_chart_of_weights_and_biases(tmp_path: Path):
    line = "2024-08-19 14:48:17,334 - INFO - Environment image found\nBuilding the image\n"
    written(tmp_path / "run.log", line)
    written(tmp_path / "x.csv", "agent,task,score\na,t,1\n")
    assert len(ex.read(tmp_path)) == 1


def test_a_report_of_a_fork_of_the_harness_is_read(tmp_path: Path):
    report = {"total_instances": 3, "resolved": ["a__b-1"], "unresolved_ids": ["a__b-2"]}
    written(
        tmp_path / "agent" / "results" / "results.json", json.dumps(report | {"error_ids": ["c"]})
    )
    written(tmp_path / "agent" / "all_preds.jsonl", '{"instance_id": "a__b-1", "patch": ""}\n')
    results = ex.read(tmp_path)
    assert dict(zip(results.column("task"), results.measure(), strict=True)) == {
        "a__b-1": 1,
        "a__b-2": 0,
    }


# ------------------------------------------------------------------ Markdown

PAGE = """# Board

|Rank|Model|Score %|#Puzzles|
|---:|-----|------:|-------:|
|1|[Gemini](https://x.org/a)|**98.4**|940|
|2|`GPT-5` \\| high|1,097.5|940|

Other text with | a bar.
"""


def test_the_table_of_a_page_is_read_without_its_markup(tmp_path: Path):
    results = ex.read(written(tmp_path / "README.md", PAGE), path="{task}")
    assert results.agents == ("GPT-5 | high", "Gemini")
    assert sorted(results.measure()) == [98.4, 1097.5]


def test_of_several_tables_one_is_chosen(tmp_path: Path):
    path = written(tmp_path / "README.md", PAGE + "\n|agent|pong|\n|--|--|\n|a|3|\n")
    with pytest.raises(ex.InputError, match=r"has 2 tables .*line 3.*`--where table=1`"):
        ex.read(path)
    assert ex.read(path, where="table=2").agents == ("a",)


def test_pages_beside_results_are_not_read(tmp_path: Path):
    written(tmp_path / "README.md", PAGE)
    written(tmp_path / "x.csv", "agent,task,score\na,t,1\n")
    assert ex.read(tmp_path).agents == ("a",)


# ------------------------------------------------------------------ logs that lack their model


def test_runs_that_do_not_name_their_model_are_named_by_their_folders(tmp_path: Path):
    run: dict[str, Any] = {"task_id": "chess", "is_resolved": True}
    for place in ("droid_opus/one", "droid_opus/two", "droid_sonnet/one"):
        folder = tmp_path / place
        written(folder / "results.json", json.dumps({"results": [run | {"trial_name": place}]}))
        written(folder / "run_metadata.json", json.dumps({"agent_name": "droid"}))
        written(
            folder / "chess" / "results.json", json.dumps({"task_id": "chess", "usage": {"n": 1}})
        )
    with pytest.raises(ex.InputError, match=r"`--path '\{agent\}/"):
        ex.read(tmp_path)
    results = ex.read(tmp_path, path="{agent}/")
    assert results.agents == ("droid_opus", "droid_sonnet")
    assert len(results) == 3
