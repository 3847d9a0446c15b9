"""As many agents as tasks: no answer may take one axis for the other.

What is said of an agent or a task by known parameters does not depend on how many others there are. So
each answer of a square table is compared with that of the same table and one more agent, or one more task.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import examiner as ex
from end_to_end.running import DATA_COMMANDS, checked, run, words_of
from examiner.irt import ItemParameters, Response, known, result_variance
from examiner.results import ResponseMatrix, Results, Scales, TaskScale
from examiner.scores import AGGREGATES, NORMALISERS
from examiner.selection import METHODS
from examiner.validation import Floats

SIDE = 12
TASKS = tuple(f"task {n}" for n in range(SIDE + 1))
AGENTS = tuple(f"agent {n}" for n in range(SIDE + 1))


def items_of(response: str) -> ItemParameters:
    """One task more than a side, of any response."""
    rng = np.random.default_rng(3)
    count = SIDE + 1
    more: dict[str, Any] = {
        "binomial": {"guessing": rng.uniform(0, 0.2, count), "ceiling": rng.uniform(0.9, 1, count)},
        "beta-binomial": {"precision": rng.uniform(2, 5, count)},
        "beta": {"precision": rng.uniform(3, 6, count), "cuts": (-3, 3)},
        "normal": {
            "precision": rng.uniform(0.5, 2, count),
            "landmark": 0.5,
            "centre": rng.normal(size=count),
        },
    }[response]
    slope, intercept = rng.uniform(0.5, 2, count), rng.normal(size=count)
    return ItemParameters.of(TASKS, slope, intercept, response=response, **more)


def table_of(items: ItemParameters) -> ResponseMatrix:
    """One agent more than a side."""
    trials = 5 if items.response == "beta-binomial" else 1
    ability = np.linspace(-2, 2, SIDE + 1)
    return ex.irt.simulate(items, ability, trials=trials, rng=1, agents=AGENTS)


PER_CELL: dict[str, Callable[[ItemParameters, Floats], Floats]] = {
    "probability": ex.irt.probability,
    "steepness": ex.irt.steepness,
    "information": ex.irt.fisher_information,
    "expected_result": lambda items, at: ex.irt.expected_result(items, at).T,
    "result_variance": lambda items, at: result_variance(items, at).T,
    "curves": lambda items, at: ex.irt.curves(known(items), at).success.T,
}
"""Functions of tasks and abilities, each [abilities, tasks]."""


@pytest.mark.parametrize("response", get_args(Response))
@pytest.mark.parametrize("name", PER_CELL)
def test_values_at_as_many_abilities_as_tasks_are_those_of_single_tasks(
    name: str, response: str
) -> None:
    items, ability = items_of(response), np.linspace(-2, 2, SIDE + 1)
    square = PER_CELL[name](items, ability)
    assert square.shape == (SIDE + 1, SIDE + 1)
    for task in range(SIDE + 1):
        alone = PER_CELL[name](items.take([task]), ability[:2])
        np.testing.assert_allclose(square[:2, task], alone[:, 0], rtol=1e-12)


PER_AGENT: dict[str, Callable[[ex.irt.IRTFit], Any]] = {
    "abilities": lambda fit: (fit.abilities.ability, fit.abilities.error),
    "agent_curves": lambda fit: (
        ex.irt.agent_curves(fit.abilities, fit.items, np.linspace(-1, 1, SIDE)).success,
        ex.irt.agent_curves(fit.abilities, fit.items, np.linspace(-1, 1, SIDE)).low,
    ),
    "indicators": lambda fit: [
        getattr(ex.irt.indicators(fit, bins=3), column)
        for column in ("mean", "ability", "ability_error", "regularity", "generality", "slope")
    ],
    "place": lambda fit: [
        np.array([getattr(each, name) for each in ex.irt.place(fit.matrix, fit)])
        for name in ("ability", "ability_error", "mean", "generality")
    ],
}
"""What is said of each agent by a fit with known parameters: arrays whose first axis is agents."""


@pytest.mark.parametrize("response", get_args(Response))
@pytest.mark.parametrize("name", PER_AGENT)
def test_what_is_said_of_an_agent_of_a_square_table_stays_with_one_more_agent(
    name: str, response: str
) -> None:
    items = items_of(response).take(range(SIDE))
    wide = table_of(items_of(response)).take(range(SIDE + 1), range(SIDE))
    square = PER_AGENT[name](known(items, wide.take(range(SIDE), range(SIDE))))
    larger = PER_AGENT[name](known(items, wide))
    for few, more in zip(square, larger, strict=True):
        assert len(few) == SIDE and len(more) == SIDE + 1
        np.testing.assert_allclose(few, more[:SIDE], rtol=1e-9)


@pytest.mark.parametrize("response", get_args(Response))
def test_empirical_curves_of_a_square_table_are_those_of_single_tasks(response: str) -> None:
    items = items_of(response)
    matrix, ability = table_of(items), np.linspace(-2, 2, SIDE + 1)
    square = ex.irt.empirical_curves(matrix, ability, groups=3)
    for task in range(SIDE + 1):
        alone = ex.irt.empirical_curves(matrix.take(range(SIDE + 1), [task]), ability, groups=3)
        np.testing.assert_allclose(square.mean[task], alone.mean[0])


@pytest.mark.parametrize("name", NORMALISERS)
def test_normalised_scores_of_a_square_table_are_those_of_single_tasks(name: str) -> None:
    rng = np.random.default_rng(2)
    values = rng.gamma(2.0, 0.2, size=(SIDE, SIDE))
    random, reference = rng.uniform(0.01, 0.1, SIDE), rng.uniform(0.5, 1.0, SIDE)
    scales = Scales(
        TaskScale(task, random=low, reference=high)
        for task, low, high in zip(TASKS, random, reference, strict=False)
    )

    def normalised(columns: list[int]) -> Floats:
        part = Results.from_numpy(
            values[:, columns],
            agents=AGENTS[:SIDE],
            tasks=[TASKS[column] for column in columns],
            scales=scales,
        )
        return ex.scores.cell_means(ex.normalise(part, name))

    square = normalised(list(range(SIDE)))
    for task in range(SIDE):
        np.testing.assert_allclose(square[:, task], normalised([task])[:, 0], rtol=1e-12)


def point_values(values: Floats, name: str) -> Floats:
    made = ex.scores.intervals(Results.from_numpy(values), name, rng=0, reps=20, unit="tasks")
    return np.array([made[f"agent {row + 1}"][name] for row in range(len(values))])


@pytest.mark.parametrize("name", AGGREGATES)
def test_aggregates_of_a_square_table_are_those_of_single_agents(name: str) -> None:
    values = np.random.default_rng(4).random((SIDE, SIDE))
    square = point_values(values, name)
    assert len(square) == SIDE
    for agent in range(SIDE):
        alone = point_values(values[[agent]], name)
        np.testing.assert_allclose(square[agent], alone[0], rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_a_selection_from_a_square_table_is_of_its_tasks_and_not_of_its_agents(name: str) -> None:
    values = ex.irt.simulate(items_of("binomial"), 2.0 * np.linspace(-1, 1, SIDE + 1), rng=0)
    results = Results.from_numpy(values.to_numpy(), agents=AGENTS, tasks=TASKS)
    chosen = ex.selection.select(results, 4, name, rng=0)
    assert set(chosen.tasks.task) <= set(TASKS) and len(chosen.tasks) == 4


# ------------------------------------------------------------------ commands


@pytest.mark.parametrize("agents", [SIDE, SIDE + 1])
def test_agents_are_placed_on_the_fit_of_a_square_table(
    agents: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = written(tmp_path / "table.csv", agents, SIDE)
    assert run("fit", table, "--starts", "1", "-o", "fit.json", "--json").exit_code == 0
    placed = checked(run("place", table, "--fit", "fit.json", "--json"), tmp_path, as_json=True)
    assert placed is not None
    assert [row["agent"] for row in placed["agents"]] == list(AGENTS[:agents])


QUICK_COMMANDS = {"describe", "scores", "compare", "fit", "audit", "information"}


def written(path: Path, agents: int, tasks: int) -> Path:
    """Zeros and ones of agents who differ, as a wide table."""
    rng = np.random.default_rng(agents * 100 + tasks)
    line = np.linspace(-2, 2, agents)[:, None] - rng.normal(size=tasks)
    won = (rng.random((agents, tasks)) < 1 / (1 + np.exp(-2 * line))).astype(int)
    lines = ["agent," + ",".join(TASKS[:tasks])]
    lines += [f"{AGENTS[n]}," + ",".join(map(str, row)) for n, row in enumerate(won)]
    path.write_text("\n".join(lines))
    return path


def records_of(content: object) -> list[dict[str, Any]]:
    """All records in JSON, however deep."""
    if isinstance(content, dict):
        return [content, *(each for value in content.values() for each in records_of(value))]
    if isinstance(content, list):
        return [each for value in content for each in records_of(value)]
    return []


@pytest.mark.parametrize(
    ("agents", "tasks"), [(SIDE, SIDE), (SIDE + 1, SIDE), (SIDE, SIDE + 1)], ids=str
)
@pytest.mark.parametrize(
    "command",
    [
        pytest.param(name, marks=() if name in QUICK_COMMANDS else pytest.mark.slow)
        for name in DATA_COMMANDS
    ],
)
def test_commands_name_agents_as_agents_and_tasks_as_tasks(
    command: str, agents: int, tasks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = written(tmp_path / "table.csv", agents, tasks)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    words = words_of(command, table, list(AGENTS[:agents]), list(TASKS[:tasks]))
    content = checked(run(*words, "--json"), tmp_path / "here", as_json=True)
    for record in records_of(content):
        for key, names in (("agent", AGENTS[:agents]), ("task", TASKS[:tasks])):
            value = record.get(key)
            if isinstance(value, str):
                assert value in names, (key, record)
