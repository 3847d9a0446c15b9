"""What `describe` says results support is what the commands then do, and what looks wrong is named."""

from __future__ import annotations

import shlex
import time

import numpy as np
import pytest

import examiner as ex
from end_to_end.running import run
from examiner.reporting import render_description

TABLES = ("atari-dqn-family", "atari-table1", "gvgai-plays")
COMMANDS = [
    pytest.param(row, dataset, id=f"{dataset} {row.analysis}")
    for dataset in TABLES
    for row in ex.scores.first_look(ex.load(dataset)).supports
]


def shown(results: ex.Results, source: str) -> dict[str, str]:
    blocks = render_description(results, source).blocks
    pairs = [pair for block in blocks for pair in getattr(block, "pairs", ())]
    return {
        what.strip(): "".join(getattr(part, "text", part) for part in prose)
        for what, prose in pairs
    }


@pytest.mark.parametrize(("row", "dataset"), COMMANDS)
def test_a_supported_command_answers_and_another_is_refused(
    row: ex.answers.Row, dataset: str
) -> None:
    said = shown(ex.load(dataset), dataset)[row.analysis]
    if row.possible:
        assert run(*shlex.split(said)).exit_code == 0
    else:
        assert said == f"no: {row.basis}"
        command = {
            "information of tasks": "information",
            "select a few tasks": "select",
            "learning curves": "curves",
            "scores and costs": "cost",
        }[row.analysis]
        assert run(command, dataset).exit_code == 2


def test_the_call_in_python_is_the_command() -> None:
    results = ex.load("atari-dqn-family")
    fit = ex.scores.first_look(results).supports["difficulty and ability"]
    assert fit.call == 'ex.irt.fit(results, normalise="human", success=1.0)'
    assert (
        shown(results, "atari-dqn-family")["difficulty and ability"]
        == "fit atari-dqn-family --normalise human --success 1.0"
    )
    made = eval(fit.call, {"ex": ex, "results": results})
    assert made.outcome.name == "CONVERGED"


def test_what_looks_wrong_is_named() -> None:
    rng = np.random.default_rng(0)
    table = {f"agent {n}": rng.normal(size=(1, 6)) for n in range(4)}
    table["copy"] = table["agent 0"]
    table["Agent_1"] = rng.normal(size=(1, 6))
    table["idle"] = np.zeros((1, 6))
    for scores in table.values():
        scores[:, 5] = 7.0
    table["idle"][:] = 7.0
    table["rare"] = np.array([[1.0, *[np.nan] * 4, 7.0]])
    look = ex.scores.first_look(table)
    assert {row.what: row.where for row in look.suspicions} == {
        "1 task where agents do not differ": "'task 6'",
        "1 agent same on every task": "'idle'",
        "same results": "'agent 0', 'copy'",
        "perhaps one agent": "'Agent_1', 'agent 1'",
        "1 agent on under half of the tasks": "'rare'",
    }


def test_nothing_is_suspected_of_an_ordinary_table_and_row_order_does_not_matter() -> None:
    rng = np.random.default_rng(1)
    rows = {
        "agent": np.repeat(["a", "b", "c"], 8),
        "task": np.tile([f"t{n}" for n in range(8)], 3),
        "score": rng.normal(size=24),
    }
    look = ex.scores.first_look(ex.read(rows))
    mixed = rng.permutation(24)
    other = ex.scores.first_look(ex.read({name: column[mixed] for name, column in rows.items()}))
    assert not len(look.suspicions) and look.to_dict() == other.to_dict()


def test_what_is_missing_is_said() -> None:
    alone = ex.scores.first_look({"a": [[0.3, 0.6]]}).supports
    assert alone["difficulty and ability"].basis == "needs 3 agents or more, and there is 1"
    assert alone["select a few tasks"].basis == "needs 4 agents or more, and there is 1"
    assert alone["rank agents, over tasks"].possible
    single = ex.scores.first_look({"a": [[0.3]], "b": [[0.4]]}).supports
    assert single["rank agents, no intervals"].basis == "one run of one task"


def test_a_look_at_a_million_rows_is_quick() -> None:
    rng = np.random.default_rng(0)
    results = ex.Results.from_numpy(rng.integers(0, 2, size=(1_000, 1_000)).astype(float))
    start = time.process_time()
    ex.scores.first_look(results)
    assert time.process_time() - start < 4
