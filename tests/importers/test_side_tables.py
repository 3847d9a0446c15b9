"""Tables of tasks and agents beside the results."""

from __future__ import annotations

import numpy as np
import pytest

from examiner import InputError, Results
from examiner.importers import attach, read_agents, read_scales, read_tasks


@pytest.fixture
def table(tmp_path):
    def write(text, name="table.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_table_of_tasks_gives_scales_and_the_rest(table):
    tasks = read_tasks(
        table(
            "game,random,human,direction,cost,group,designer\n"
            "Pong,-20.7,14.6,,2.5,paddle,Alcorn\n"
            "golf,,,lower,1,sport,\n"
            "chess,,,,,board,\n"
        )
    )
    assert tasks.scales.tasks == ("Pong", "golf")
    assert tasks.scales.lookup("golf").direction == "lower"
    assert tasks.attributes.columns == ("cost", "group", "designer")
    np.testing.assert_array_equal(
        tasks.attributes.numbers(["golf", "chess", "pong"], "cost"), [1, np.nan, 2.5]
    )
    assert tasks.attributes.aligned(["chess"], "designer") == (None,)


def test_rows_without_a_measure_are_of_the_one_given(table):
    path = table("task,random,measure\na,1,\nb,2,win\n")
    assert [scale.measure for scale in read_tasks(path, "return").scales] == ["return", "win"]
    assert [scale.measure for scale in read_scales(path)] == ["score", "win"]


def test_a_task_may_have_a_row_for_each_measure(table):
    tasks = read_tasks(table("task,random,measure,group\na,1,score,x\na,2,win,\n"))
    assert len(tasks.scales) == 2
    assert tasks.attributes.names == ("a",)
    assert tasks.attributes.aligned(["a"], "group") == ("x",)


def test_agents_may_go_by_other_names_of_the_column(table):
    agents = read_agents(table("Model\tfamily\nM1\tsmall\n", "agents.tsv"))
    assert agents.aligned(["M1"], "family") == ("small",)


def test_one_column_names_the_task_and_others_say_something_of_it(table):
    tasks = read_tasks(table("game,env,model,cost\npong,ALE,a,2\nchess,board,b,1\n"))
    assert tasks.attributes.names == ("pong", "chess")
    assert tasks.attributes.columns == ("env", "model", "cost")
    with pytest.raises(InputError, match=r"has two columns 'cost'\. Give each its own name"):
        read_tasks(table("task,cost,cost\na,1,2\n"))


def test_tables_are_attached_the_last_first_and_that_of_tasks_before_all(table):
    results = Results.from_numpy([[1.0, 2.0, 3.0]], ["dqn"], ["pong", "go", "chess"])
    one = table("task,random\npong,1\ngo,1\nchess,1\n", "one.csv")
    two = table("task,random\npong,2\ngo,2\n", "two.csv")
    tasks = table("task,random,cost\npong,3,7\ngo,,\nchess,,\n", "tasks.csv")
    agents = table("agent,family\ndqn,value\n", "agents.csv")
    told = attach(results, scales=[one, two], tasks=tasks, agents=agents)
    assert [told.scales.lookup(task).random for task in told.tasks] == [3, 2, 1]
    assert told.task_attributes.aligned(["pong"], "cost") == ("7",)
    assert told.agent_attributes.aligned(["dqn"], "family") == ("value",)
    assert told.provenance.steps == (
        f"tasks from {tasks}",
        f"scales from {one}, {two}",
        f"agents from {agents}",
    )
    named = attach(results, scales={"mine": read_scales(one)})
    assert named.provenance.steps == ("scales from mine",)
    assert attach(results) == results


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,cost\na,1\n", r"has no column 'task'; found 'name', 'cost'.*Name the task"),
        ("task,cost\n", r"holds no tasks\. Give a row for each task"),
        ("task,cost\na,cheap\n", r"The cost of the task 'a' is 'cheap'\. Give a finite number"),
        ("task,cost\na,-1\n", r"The cost of the task 'a' is -1\. Give a number of at least 0"),
        ("task,cost\na,inf\n", r"The cost of the task 'a' is 'inf'"),
        ("task,random\na,x\n", r"The random score of 'a' is 'x'\. Give a number"),
        ("task,direction\na,up\n", r"The direction of 'a' is 'up'\. Say 'higher' or 'lower'"),
        ("task,random\na,1\na,2\n", r"The task 'a' has two scales for the measure 'score'"),
        (
            "task,group\na,x\na,y\n",
            r"The group of the task 'a' is 'x' in one row and 'y' in another",
        ),
        ("task,group\n,x\n", r"names no task"),
    ],
)
def test_a_broken_table_of_tasks_is_refused_with_what_to_do(table, text, message):
    path = table(text)
    with pytest.raises(InputError, match=message) as problem:
        read_tasks(path)
    assert path.name in str(problem.value)


def test_a_broken_table_of_agents_is_refused_with_what_to_do(table):
    with pytest.raises(InputError, match=r"The agent 'a' stands twice in the table"):
        read_agents(table("agent,family\na,x\na,y\n"))
    with pytest.raises(InputError, match=r"no such file"):
        read_agents("missing.csv")


def test_a_file_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / "tasks.csv"
    path.write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
    with pytest.raises(InputError):
        read_tasks(path)
