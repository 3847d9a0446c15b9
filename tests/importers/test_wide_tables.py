"""A wide table has names first and numbers after: anything else is read otherwise or refused."""

import json
from contextlib import nullcontext
from pathlib import Path

import pytest
from click.testing import CliRunner

import examiner as ex
from examiner.cli import app


def table(folder: Path, text: str, name: str = "scores.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


PROGRESS = """eplenmean,eprewmean,fps,misc/total_timesteps
94.2,0.54,1939.0,16384.0
107.35,0.93,1950.0,32768.0
"""


def test_a_column_of_floats_is_no_list_of_agents(tmp_path: Path):
    outcome = CliRunner().invoke(app, ["describe", str(table(tmp_path, PROGRESS))])
    assert outcome.exit_code == 2
    assert "There is no column for the agent" in outcome.stderr
    assert "--path '{agent}/{task}'" in outcome.stderr
    outcome = CliRunner().invoke(
        app, ["describe", str(table(tmp_path, PROGRESS.replace("eprewmean", "x")))]
    )
    assert outcome.exit_code == 2
    assert "'eplenmean' and holds numbers (94.2, 107.35)" in outcome.stderr
    for option in ("--tasks-are columns", "--tasks-are rows", "--measure COLUMN --path"):
        assert option in outcome.stderr


def test_a_progress_log_is_read_with_a_measure_a_path_and_a_time(tmp_path: Path):
    (tmp_path / "easy").mkdir()
    path = table(tmp_path / "easy", PROGRESS, "progress-bigfish.csv")
    template, time = "{agent}/progress-{task}", "misc/total_timesteps"
    results = ex.read(path, path=template, measure="eprewmean", time=time)
    assert (results.agents, results.tasks) == (("easy",), ("bigfish",))
    assert results.measure().tolist() == [0.54, 0.93]


@pytest.mark.parametrize("name", ["step", "epoch", "seed", "frames", "", "Unnamed: 0", "x"])
def test_an_index_names_no_agents(tmp_path: Path, name: str):
    path = table(tmp_path, f"{name},dqn,ppo\n0,1,2\n1,2,3\n2,3,4\n")
    with pytest.raises(ex.InputError, match="holds numbers"):
        ex.read(path)


def test_numbers_are_names_where_the_user_says_so(tmp_path: Path):
    path = table(tmp_path, "id,q1,q2\n17,1,0\n18,0,1\n")
    assert ex.read(path, tasks_are="columns").agents == ("17", "18")
    path = table(tmp_path, "agent,q1,q2\n17,1,0\n18,0,1\n")
    assert ex.read(path).agents == ("17", "18")


@pytest.mark.parametrize(
    "tasks",
    [
        ("Pong", "Montezuma's Revenge", "Ms. Pacman"),
        ("Hopper-v4", "HalfCheetah-v4", "maze2d-umaze-v1"),
        ("walker_run", "cheetah-run", "dog-trot"),
        ("bigfish", "coinrun", "starpilot"),
        ("Pong", "Venture", "Overall mood"),
    ],
)
def test_known_names_in_rows_mean_that_tasks_are_rows(tmp_path: Path, tasks: tuple[str, ...]):
    path = table(tmp_path, "name,dqn,ppo\n" + "".join(f"{task},1,2\n" for task in tasks))
    with pytest.warns(match="tasks are rows"):
        results = ex.read(path)
    assert (results.agents, set(results.tasks)) == (("dqn", "ppo"), set(tasks))


def test_known_names_in_columns_leave_agents_in_rows(tmp_path: Path):
    with pytest.warns(match="--tasks-are rows"):
        results = ex.read(table(tmp_path, "name,pong,venture\ndqn,1,2\nppo,3,4\n"))
    assert results.agents == ("dqn", "ppo")


def test_known_tasks_under_the_name_of_agents_are_not_guessed(tmp_path: Path):
    path = table(tmp_path, "model,a,b\npong,1,2\nventure,3,4\n")
    with pytest.raises(ex.InputError, match="`--tasks-are rows` or `--tasks-are columns`"):
        ex.read(path)
    assert ex.read(path, tasks_are="rows").tasks == ("pong", "venture")


@pytest.mark.parametrize("key", ["seed", "run"])
def test_seeds_in_a_wide_table_are_runs_and_no_task(tmp_path: Path, key: str):
    path = table(tmp_path, f"agent,{key},pong,venture\na,3,1,2\na,5,2,3\nb,3,3,4\nb,5,5,6\n")
    with pytest.warns(match="There is no 'run'") if key == "seed" else nullcontext():
        results = ex.read(path)
    assert results.tasks == ("pong", "venture")
    assert sorted(set(results.column("run"))) == [3, 5]
    means = results.to_pandas().groupby("agent").score.mean()
    assert means.to_dict() == {"a": 2.0, "b": 4.5}


def test_columns_beside_a_seed_may_be_measures(tmp_path: Path):
    path = table(tmp_path, "game,seed,HNS,Max HNS\nAlien,1,0.1,0.2\nAlien,2,0.3,0.4\n")
    with pytest.raises(ex.InputError, match=r"may be agents, tasks or measures.*`--measure HNS`"):
        ex.read(path)
    with pytest.warns(match="There is no 'run'"):
        results = ex.read(path, tasks_are="rows")
    assert (results.agents, results.tasks) == (("HNS", "Max HNS"), ("Alien",))
    with pytest.warns(match="There is no 'run'"):
        results = ex.read(path, path="{agent}", measure="HNS")
    assert (results.agents, results.measure().tolist()) == (("scores",), [0.1, 0.3])


@pytest.mark.parametrize(
    ("name", "reason"), [("step", "a time"), ("std", "a statistic"), ("level", "an item's name")]
)
def test_a_column_that_is_neither_agent_nor_task_is_named(tmp_path: Path, name: str, reason: str):
    path = table(tmp_path, f"game,dqn,{name}\npong,1,2\nventure,3,4\n")
    with pytest.raises(
        ex.InputError, match=rf"column '{name}' is .*{reason}.*one result: `--measure"
    ):
        ex.read(path)


def test_an_agent_that_is_not_first_asks_for_the_task(tmp_path: Path):
    path = table(tmp_path, "env_step,rew,agent\n0,1.5,npg\n10,2.5,npg\n")
    with pytest.raises(ex.InputError, match=r"no column for the task.*`--path '\{task\}'`"):
        ex.read(path)


def test_text_in_a_whole_column_is_said_to_be_text(tmp_path: Path):
    path = table(tmp_path, "name,dqn,comment\na,1,good\nb,2,bad\n")
    with pytest.raises(
        ex.InputError,
        match=r"'comment' holds text \('good'\).*`--measure COLUMN --agent name --path '\{task\}'`",
    ):
        ex.read(path)


def test_rows_of_several_metrics_are_not_averaged(tmp_path: Path):
    rows = [f"{agent},pong,{metric},1\n" for agent in "ab" for metric in ("return", "success")]
    path = table(tmp_path, "agent,task,metric,value\n" + "".join(rows))
    with pytest.raises(ex.InputError, match=r"'metric'.*'return', 'success'.*--item task,metric"):
        ex.read(path)
    with pytest.warns(match="There is no"):
        assert len(ex.read(path, item=("task", "metric")).tasks) == 2


def test_a_leaderboard_whose_names_are_not_first_is_read_by_their_column(tmp_path: Path):
    path = table(
        tmp_path, "Rank,Model,ARC,MMLU,Type\n1,gpt,0.9,0.8,closed\n2,llama,0.7,0.75,open\n"
    )
    with pytest.raises(
        ex.InputError, match=r"no column for the task.*`--layout wide --agent Model`"
    ):
        ex.read(path)
    with pytest.warns(ex.ExaminerWarning, match="text and ranks are left out .*'Rank', 'Type'"):
        results = ex.read(path, layout="wide", agent="Model")
    assert (results.agents, results.tasks) == (("gpt", "llama"), ("ARC", "MMLU"))
    assert sorted(results.measure().tolist()) == [0.7, 0.75, 0.8, 0.9]


def test_a_rank_is_no_task(tmp_path: Path):
    with pytest.raises(ex.InputError, match="'Rank' is a rank, and neither an agent nor a task"):
        ex.read(table(tmp_path, "name,Rank,pong\na,1,2.5\nb,2,1.5\n"))


def test_a_game_called_run_is_a_task_where_its_values_are_no_whole_numbers(tmp_path: Path):
    path = table(tmp_path, "agent,pong,run\na,1,0.5\nb,0.25,\nc,2,0.75\n")
    results = ex.read(path)
    assert (results.agents, results.tasks) == (("a", "b", "c"), ("pong", "run"))
    assert sorted(results.measure().tolist()) == [0.25, 0.5, 0.75, 1, 2]


def test_json_lines_of_many_tasks_keep_the_order_of_their_columns(tmp_path: Path):
    games = [f"game {number}" for number in range(57)]
    lines = [{"agent": agent} | dict.fromkeys(games, 1.5) for agent in ("dqn", "ppo")]
    lines[1] |= {"late": 2.0, "later": 3.0}
    path = tmp_path / "wide.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    results = ex.read(path)
    assert results.agents == ("dqn", "ppo")
    assert results.provenance.columns[1] == ("'game 0', 'game 1', 'game 2' and 56 more", "task")
