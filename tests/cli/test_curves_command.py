"""`examiner curves`, and the options that reduce runs and read tables of tasks and agents."""

from __future__ import annotations

import json

import numpy as np
import pytest

import examiner as ex


@pytest.fixture
def log(tmp_path):
    """A tidy training log in Parquet that says that it is one."""
    rng = np.random.default_rng(0)
    rows = [
        (agent, task, run, trial, 100 * (trial + 1), level * trial + rng.normal())
        for agent, level in (("fast", 2.0), ("slow", 1.0))
        for task in ("Space Invaders", "chess")
        for run in range(2)
        for trial in range(200)
    ]
    names = ("agent", "task", "run", "trial", "frames", "score")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    results = ex.Results.from_dict(columns, provenance=ex.results.Provenance("log", training=True))
    return results.save(tmp_path / "log.parquet")


def printed(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_curves_are_printed_as_one_json_object(examiner, log):
    content = printed(examiner("curves", log, "--json", "--last", "50"))
    assert content["schema"] == "examiner.curves/1"
    assert content["points"] == [1000.0, 5000.0, 10000.0, 20000.0]
    assert content["unit"] == "frames" and content["last_episodes"] == 50
    assert len(content["runs"]) == 8
    run = content["runs"][0]
    counts = [run[f"episodes_at_{point:g}"] for point in content["points"]]
    assert counts == [10, 50, 50, 50]
    assert [row["rank"] for row in content["agents"] if row["summary"] == "best"] == [1, 2]
    pairs = {(row["one"], row["other"]): row["tau"] for row in content["agreement"]}
    assert pairs["best", "area under the curve"] == 1.0
    assert content["runs"][0]["evaluation after learning"] is None
    assert any("No episodes are marked as evaluation" in note for note in content["notes"])


def test_curves_are_printed_for_people(examiner, log):
    done = examiner("curves", log, "--points", "5e3,20_000")
    assert done.returncode == 0
    assert "training at 5,000" in done.stdout and "training at 20,000" in done.stdout
    assert "note: " in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--reduce", "auc"], "learning curves need whole runs"),
        (["--points", "soon"], "The report points are 'soon'. Give frames"),
        (["--points", "-5"], "The report points are [-5.0]. Give frames above 0."),
    ],
)
def test_curves_refuse_what_they_cannot_use(examiner, log, options, message):
    done = examiner("curves", log, *options)
    assert done.returncode == 2
    assert message in done.stderr


def test_describe_and_convert_keep_training_logs_whole_and_say_how_they_would_be_reduced(
    examiner, log, tmp_path
):
    content = printed(examiner("describe", log, "--json"))
    assert content["rows"] == 1600
    assert content["training_log"] is True
    assert content["reduction"] == "last:100"
    assert printed(examiner("convert", log, tmp_path / "x.csv", "--json"))["rows"] == 1600


def test_reduce_leaves_one_row_a_run_and_stands_in_the_output(examiner, log, tmp_path):
    content = printed(examiner("describe", log, "--reduce", "last:10", "--json"))
    assert content["rows"] == 8
    assert content["reduction"] == "last:10"
    assert any(step.startswith("runs reduced by last:10") for step in content["steps"])
    assert (
        printed(examiner("convert", log, tmp_path / "x.csv", "--reduce", "auc", "--json"))["rows"]
        == 8
    )


def test_reduce_refuses_what_it_does_not_know(examiner, log):
    done = examiner("describe", log, "--reduce", "first:10")
    assert done.returncode == 2
    assert "Cannot reduce runs by 'first:10'" in done.stderr


def test_a_report_of_training_logs_has_their_curves_and_says_the_reduction(examiner, log):
    content = printed(examiner("report", log, "--json"))
    assert content["reduction"] == "last:100"
    assert content["trials"] == 1
    assert "curves" in [section["key"] for section in content["sections"]]
    assert printed(examiner("report", log, "--reduce", "auc", "--json"))["reduction"] == "auc"


def test_tables_of_tasks_and_agents_are_attached_and_what_does_not_match_is_said(
    examiner, log, tmp_path
):
    tasks, agents = tmp_path / "tasks.csv", tmp_path / "agents.csv"
    tasks.write_text(
        "task,random,human,cost,group\nspace_invaders,148,1668.7,3,shooter\ngo,,,9,board\n"
    )
    agents.write_text("agent,family\nfast,value\n")
    content = printed(examiner("describe", log, "--tasks", tasks, "--agents", agents, "--json"))
    assert content["tasks_with_scale"] == 1
    assert content["task_attributes"] == ["cost", "group"]
    assert content["agent_attributes"] == ["family"]
    assert content["notes"][-5:] == [
        "1 task name was recognised as an Atari game, for example 'Space Invaders' as 'space_invaders'.",
        "1 of 2 tasks are not in the table of tasks: 'chess'.",
        "1 of 2 tasks in the table of tasks are not in the results: 'go'.",
        "1 of 2 tasks have no scale: 'chess'.",
        "1 of 2 agents are not in the table of agents: 'slow'.",
    ]


def test_the_table_of_tasks_goes_before_bundled_scales(examiner, log, tmp_path):
    tasks = tmp_path / "tasks.csv"
    tasks.write_text("task,random,human\nSpace Invaders,0,100\n")
    target = tmp_path / "out.parquet"
    options = ["--tasks", tasks, "--scales", "atari-human-random", "--keep", "task:space_invaders"]
    printed(examiner("convert", log, target, *options, "--json"))
    stored = ex.Results.load(target)
    assert stored.scales.lookup("Space Invaders").reference == 100.0
    assert stored.tasks == ("Space Invaders",)


def test_a_flipped_scale_is_said(examiner, log, tmp_path):
    tasks = tmp_path / "tasks.csv"
    tasks.write_text("task,random,human\nchess,10,5\n")
    content = printed(examiner("describe", log, "--tasks", tasks, "--json"))
    assert any("no better than random on 'chess'" in note for note in content["notes"])


@pytest.mark.parametrize("option", ["--tasks", "--agents", "--scales"])
def test_a_table_that_is_not_there_is_named(examiner, log, option):
    done = examiner("describe", log, option, "missing.csv")
    assert done.returncode == 2
    assert "'missing.csv': no such file" in done.stderr


def test_single_results_have_no_curves(examiner, tmp_path):
    path = tmp_path / "single.csv"
    path.write_text("agent,task,score\na,t,1\na,u,2\nb,t,2\nb,u,1\n")
    done = examiner("curves", path)
    assert done.returncode == 2 and "so there are no learning curves" in done.stderr


def test_a_leader_that_shares_its_lead_now_and_then_ranks_first_by_every_summary(
    examiner, tmp_path
):
    lines = ["agent,task,seed,frames,score"]
    for agent, gain in (("fast", 2), ("slow", 1)):
        for task in "tuvwxyz":
            lines += [f"{agent},{task},0,{step},{gain * (step - 1)}" for step in range(1, 9)]
    path = tmp_path / "log.csv"
    path.write_text("\n".join(lines) + "\n")
    done = examiner("curves", path, "--points", "1,8", "--last", "1")
    assert done.returncode == 0, done.stderr
    assert "fast ranks first by 4 of 4 summaries of the learning curves." in done.stdout
