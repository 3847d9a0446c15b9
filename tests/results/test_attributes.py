"""What is known of tasks and agents beside their results."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import examiner as ex
from examiner import InputError, Results
from examiner.results import Attributes

values = st.none() | st.text(min_size=1) | st.integers(-9, 9) | st.floats(-9, 9) | st.booleans()


def results():
    return Results.from_dict(
        {"agent": ["a", "b"], "task": ["Pong", "u"], "level": [0, 1], "score": [1, 2]}
    )


@given(st.dictionaries(st.text(min_size=1), st.tuples(values, values), max_size=5))
def test_values_are_aligned_with_names(rows):
    about = Attributes("agent", tuple(rows), ("x", "y"), tuple(rows.values()))
    assert about.aligned(list(rows), "y") == tuple(row[1] for row in rows.values())


def test_attributes_are_saved_and_loaded_with_results(tmp_path):
    tasks = Attributes.from_dicts("task", [{"task": "pong", "cost": 2, "group": "paddle"}])
    agents = Attributes.from_dicts("agent", [{"agent": "a", "family": "wért"}])
    known = results().with_attributes(tasks).with_attributes(agents)
    stored = Results.load(known.save(tmp_path / "x.parquet"))
    assert stored == known
    assert stored.task_attributes == tasks
    assert stored.agent_attributes == agents
    assert stored != results()


def test_attributes_stay_when_rows_items_and_measures_change():
    tasks = Attributes.from_dicts("task", [{"task": "pong", "cost": 2}])
    known = results().with_attributes(tasks)
    for changed in (
        known.where(known.measure() > 1),
        known.with_items(),
        known.with_measure("score", np.array([3.0, 4.0])),
    ):
        assert changed.task_attributes == tasks


def test_tasks_are_found_as_atari_games_and_agents_are_not():
    tasks = Attributes.from_dicts("task", [{"task": "pong", "cost": "2"}])
    assert tasks.numbers(["PongNoFrameskip-v4"], "cost").tolist() == [2.0]
    agents = Attributes.from_dicts("agent", [{"agent": "pong", "cost": "2"}])
    assert agents.aligned(["Pong"], "cost") == (None,)


def test_names_missing_on_either_side_are_noted():
    tasks = Attributes.from_dicts("task", [{"task": "pong"}, {"task": "chess"}])
    assert results().with_attributes(tasks).notes == (
        "1 task name was recognised as an Atari game, for example 'Pong' as 'pong'.",
        "1 of 2 tasks are not in the table of tasks: 'u'.",
        "1 of 2 tasks in the table of tasks are not in the results: 'chess'.",
    )


def test_a_second_table_goes_before_the_first_and_fills_it():
    first = Attributes.from_dicts("agent", [{"agent": "a", "family": "x", "year": 1}])
    second = Attributes.from_dicts("agent", [{"agent": "a", "family": "y"}, {"agent": "b"}])
    both = results().with_attributes(first).with_attributes(second).agent_attributes
    assert both.aligned(["a", "b"], "family") == ("y", None)
    assert both.aligned(["a", "b"], "year") == (1, None)


def test_a_name_that_stands_twice_or_is_missing_is_refused():
    with pytest.raises(InputError, match=r"The agent 'a' stands twice in the table\. Keep one row"):
        Attributes.from_dicts("agent", [{"agent": "a"}, {"agent": "a"}])
    with pytest.raises(InputError, match=r"Row 2 of the table names no task; it has 'group'"):
        Attributes.from_dicts("task", [{"task": "a"}, {"group": "x"}])


def test_an_attribute_that_is_no_number_is_refused_where_one_is_needed():
    about = Attributes.from_dicts("task", [{"task": "t", "cost": "cheap"}])
    with pytest.raises(InputError, match=r"The cost of the task 't' is 'cheap'\. Give a finite"):
        about.numbers(["t"], "cost")


def test_a_column_that_differs_within_an_agent_is_no_column_of_agents() -> None:
    from examiner.results import find_agent_column

    table = {"agent": ["a", "a", "b"], "task": ["s", "t", "s"], "score": [1, 0, 1]}
    steady = ex.read({**table, "year": [None, 2024, 2025], "language": ["c", "go", "c"]})
    assert find_agent_column(steady, "year") == (2024, 2025)
    with pytest.raises(InputError, match="differs between results of one agent: 'a' has 'c', 'go'"):
        find_agent_column(steady, "language")
