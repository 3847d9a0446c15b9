"""Columns are named by options, recognised by their names, and rows are chosen by comparisons."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

import examiner as ex
from examiner.cli import app
from examiner.importers.vocabulary import AGENT_COLUMNS, OTHER_MEASURES, TASK_COLUMNS

pytestmark = pytest.mark.filterwarnings("ignore::examiner.messages.ExaminerWarning")

TABLE = "framework,name,fold,split,score\nsklearn,adult,0,test,0.5\nsklearn,adult,1,test,0.7\n"


def written(folder: Path, text: str, name: str = "scores.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def scores(results: ex.Results) -> dict[tuple[str, str, object], float]:
    rows = zip(*(results.column(name) for name in ("agent", "task", "run")), strict=True)
    return dict(zip(rows, results.measure().tolist(), strict=True))


def test_columns_are_named_by_options(tmp_path: Path) -> None:
    path = written(tmp_path, TABLE)
    chosen = {"agent": "framework", "task": "name", "run": "fold"}
    expected = {("sklearn", "adult", 0): 0.5, ("sklearn", "adult", 1): 0.7}
    for source in (path, tmp_path, pl.read_csv(path)):
        assert scores(ex.read(source, **chosen)) == expected


def test_a_constant_names_the_agent_of_all_rows(tmp_path: Path) -> None:
    path = written(tmp_path, "name,score\nadult,0.5\ncredit,0.7\n")
    for source in (path, tmp_path, pl.read_csv(path)):
        results = ex.read(source, agent="=gpt-4o", task="name")
        assert (results.agents, results.tasks) == (("gpt-4o",), ("adult", "credit"))
    with pytest.raises(
        ex.InputError, match=r"an option says that the agent is 'a', and the column"
    ):
        ex.read({"agent": ["b"], "task": ["t"], "score": [1.0]}, agent="=a")


def test_a_column_called_like_a_key_is_kept_beside_the_one_that_is_named() -> None:
    table = {"agent": ["scaffold"] * 2, "model": ["x", "y"], "task": ["t"] * 2, "score": [1.0, 0.0]}
    results = ex.read(table, agent="model")
    assert results.agents == ("x", "y")
    assert results.column("other_agent") == ["scaffold"] * 2


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"task": "framework"}, r"no column for the agent.*`--agent COLUMN`, or `--agent =NAME`"),
        (
            {"agent": "x"},
            r"no column 'x' for the agent; found 'framework'.*`--agent =x` if that is the name",
        ),
        ({"agent": "name", "task": "name"}, r"'name' cannot be both the agent and the task"),
        ({"agent": "="}, r"`--agent` names no column. Write `--agent COLUMN`, or `--agent =NAME`"),
    ],
)
def test_columns_that_cannot_be_used_are_refused(columns, message, tmp_path: Path) -> None:
    with pytest.raises(ex.InputError, match=message):
        ex.read(written(tmp_path, TABLE), **columns)


def test_columns_are_not_named_of_what_has_none(tmp_path: Path) -> None:
    path = written(tmp_path, json.dumps({"Pong": {"dqn": 1.0}, "Alien": {"dqn": 2.0}}), "x.json")
    with pytest.raises(ex.InputError, match=r"`--agent model` names a column of a plain table"):
        ex.read(path, agent="model")
    with pytest.raises(ex.InputError, match=r"without columns to choose rows by"):
        ex.read(path, where="split=test")
    stored = ex.read({"agent": ["a"], "task": ["t"], "score": [1.0]}).save(tmp_path / "x.parquet")
    with pytest.raises(ex.InputError, match=r"this is results stored by examiner"):
        ex.read(stored, agent="model")


@pytest.mark.parametrize("style", [str.lower, str.upper, str.title])
@pytest.mark.parametrize("agent", AGENT_COLUMNS)
def test_agents_are_recognised_in_any_capitalisation(agent: str, style) -> None:
    results = ex.read({style(agent): ["a", "b"], style("task"): ["t", "t"], "score": [1.0, 2.0]})
    assert (results.agents, results.tasks) == (("a", "b"), ("t",))


@pytest.mark.parametrize("task", TASK_COLUMNS)
def test_tasks_are_recognised(task: str) -> None:
    results = ex.read({"Model": ["a", "a"], task.title(): ["t", "u"], "Correct": [1, 0]})
    assert (results.agents, results.tasks) == (("a",), ("t", "u"))
    assert results.measures == ("Correct",)


@pytest.mark.parametrize("measure", [*OTHER_MEASURES, "EpRewMean", "rollout/ep_rew_mean"])
def test_measures_are_recognised(measure: str) -> None:
    results = ex.read({"algo": ["a", "b"], "env": ["t", "t"], measure: [1.0, 2.0]})
    assert results.measures == (measure,)


def test_seeds_in_capitals_are_runs(tmp_path: Path) -> None:
    for number in (1, 2):
        rows = f"dqn,{number},5.0\nppo,{number},6.0\n"
        written(tmp_path, f"Agent,Seed,Score\n{rows}", f"t{number}.csv")
    results = ex.read(tmp_path, task="=pong")
    assert sorted(scores(results)) == [
        (agent, "pong", run) for agent in ("dqn", "ppo") for run in (1, 2)
    ]


def test_a_table_is_refused_where_two_columns_may_name_the_task() -> None:
    table = {"model": ["a"] * 4, "task": ["arc"] * 2 + ["law"] * 2, "doc_id": [0, 1, 0, 1]}
    table["correct"] = [1, 0, 1, 1]
    with pytest.raises(
        ex.InputError,
        match=r"Rows of one 'task' differ in 'doc_id'.*`--task doc_id` or `--task task`; both: "
        r"`--item task,doc_id`",
    ):
        ex.read(table)
    assert len(ex.read(table, item=("doc_id",)).tasks) == 4
    assert ex.read(table, task="task").tasks == ("arc", "law")


def test_a_second_name_that_is_an_attribute_does_not_matter() -> None:
    table = {"question_id": ["q1", "q2"], "benchmark": ["law", "law"], "model": ["a", "a"]}
    results = ex.read(table | {"correct": [1, 0]})
    assert results.tasks == ("q1", "q2")
    assert results.column("benchmark") == ["law", "law"]


def test_a_scaffold_with_several_models_is_asked_about() -> None:
    table = {"agent": ["s", "s"], "model": ["x", "y"], "task": ["t", "t"], "score": [0.1, 0.7]}
    with pytest.raises(ex.InputError, match=r"Name one: `--agent model` or `--agent agent`\."):
        ex.read(table)


ROWS = {
    "agent": ["a"] * 6,
    "task": ["t", "u", "v", "w", "x", "y"],
    "split": ["test", "dev", "test", None, "train", "n/a"],
    "shots": [0, 5, 10, 5, None, 5],
    "ok": [True, False, True, True, False, None],
    "score": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
}


@pytest.mark.parametrize(
    ("where", "tasks"),
    [
        ("split=test", "tv"),
        ("split = test|dev", "tuv"),
        ("split!=test", "uwxy"),
        ("split=null", "wy"),
        ("split!=null", "tuvx"),
        ("split!=test|null", "ux"),
        ("shots=5", "uwy"),
        ("shots==5.0", "uwy"),
        ("shots<5", "t"),
        ("shots<=5", "tuwy"),
        ("shots>5", "v"),
        ("shots>=5", "uvwy"),
        ("ok=true", "tvw"),
        (["split!=null", "shots>=5"], "uv"),
    ],
)
@pytest.mark.parametrize("kind", ["frame", "csv", "ndjson", "parquet", "stored"])
def test_rows_are_chosen_by_comparisons(where, tasks: str, kind: str, tmp_path: Path) -> None:
    frame = pl.DataFrame(ROWS)
    source: object = frame
    if kind == "csv":
        frame.write_csv(tmp_path / "x.csv")
    elif kind == "ndjson":
        frame.write_ndjson(tmp_path / "x.ndjson")
    elif kind == "parquet":
        frame.write_parquet(tmp_path / "x.parquet")
    elif kind == "stored":
        ex.read(frame).save(tmp_path / "x.parquet")
    if kind != "frame":
        (source,) = tmp_path.iterdir()
    assert ex.read(source, where=where).tasks == tuple(tasks)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("split", r"Cannot compare by 'split'\. Write it as `--where 'split=test'`"),
        ("shots>many", r"'many' is no number"),
        ("spilt=test", r"no column 'spilt' to choose rows by; found 'agent'"),
        ("split=tset", r"No row is left where 'split=tset': .* holds 'test', 'dev', null, 'train'"),
        ("split>3", r"the column 'split' has 'test' in row 1, and no number"),
    ],
)
def test_a_comparison_that_cannot_be_made_is_refused(where: str, message: str) -> None:
    with pytest.raises(ex.InputError, match=message):
        ex.read(ROWS, where=where)


def test_rows_of_a_wide_table_are_chosen_by_a_column_that_is_no_task() -> None:
    table = {"model": ["a", "a"], "shots": [0, 5], "arc": [0.1, 0.2], "law": [0.3, 0.4]}
    results = ex.read(table, where="shots=5")
    assert scores(results) == {("a", "arc", 0): 0.2, ("a", "law", 0): 0.4}


def test_a_metric_is_chosen_from_a_long_table(tmp_path: Path) -> None:
    text = "model,task,metric,value\na,t,acc,0.5\na,t,f1,0.25\nb,t,acc,0.75\nb,t,f1,0.125\n"
    path = written(tmp_path, text)
    with pytest.raises(ex.InputError, match=r"different measures.*Choose one \(`--measure acc`\)"):
        ex.read(path)
    results = ex.read(path, measure="f1")
    assert results.measures == ("f1",)
    assert scores(results) == {("a", "t", 0): 0.25, ("b", "t", 0): 0.125}


def test_describe_prints_how_each_column_was_interpreted(tmp_path: Path) -> None:
    text = "exp_name,env_id,seed,global_step,eprewmean,note\n"
    text += "".join(f"ppo,Pong-v5,1,{step},{step / 10},x\n" for step in (10, 20, 30))
    path = written(tmp_path, text)
    answer = ex.read(path).describe().column_meanings
    assert dict(zip(answer.column, answer.interpretation, strict=True)) == {
        "exp_name": "agent",
        "env_id": "task",
        "seed": "run",
        "global_step": "time, in steps",
        "eprewmean": "main measure",
        "note": "attribute",
    }
    shown = CliRunner().invoke(app, ["describe", str(path), "--run", "seed", "--where", "seed=1"])
    assert shown.exit_code == 0
    printed = " ".join(shown.stdout.split())
    assert "column of agent, task, run exp_name; env_id; seed" in printed
    assert "column of time, in steps, main measure global_step; eprewmean" in printed
    assert "other columns note" in printed


def test_describe_interprets_the_columns_of_a_wide_table() -> None:
    answer = ex.read({"game": ["pong", "go"], "dqn": [1.0, 2.0], "ppo": [2.0, 3.0]}).describe()
    assert answer.column_meanings.column == ("game", "'dqn', 'ppo'")
    assert answer.column_meanings.interpretation == ("task", "agent")
