"""The section on the next agent: what it finds, shows, and when it has nothing to say."""

import numpy as np
import pytest

import examiner as ex


def table(agents: int, tasks: int = 30) -> ex.Results:
    rng = np.random.default_rng(0)
    slope = np.exp(rng.normal(0.4, 0.3, tasks))
    chance = 1 / (1 + np.exp(-slope * (rng.normal(size=agents)[:, None] - rng.normal(size=tasks))))
    return ex.Results.from_numpy((rng.random(chance.shape) < chance).astype(float))


def section(results: ex.Results) -> dict:
    return ex.report(results, sections=["next_task"]).to_dict()["sections"][0]


def test_it_says_how_few_tasks_place_a_new_agent_and_shows_one() -> None:
    found = section(table(60))
    assert found["finding"].startswith("A new agent like these is placed by ")
    needed = int(found["finding"].split(" placed by ")[1].split()[0])
    alone = int(found["finding"].split("in random order it takes ")[1].split(".")[0])
    assert 1 <= needed < alone <= 30
    figure = next(block for block in found["blocks"] if block["kind"] == "figure")
    assert len(figure["data"]["tasks"]) == needed
    assert len(set(figure["data"]["tasks"])) == needed


def test_it_is_left_out_where_there_is_no_scale() -> None:
    assert "With 5 agents an ability scale says little" in section(table(5))["finding"]


@pytest.mark.parametrize("values", [0.5, 1.0])
def test_equal_results_end_in_a_sentence(values: float) -> None:
    results = ex.Results.from_numpy(np.full((20, 6), values))
    assert "too few for an ability scale" in section(results)["finding"]
