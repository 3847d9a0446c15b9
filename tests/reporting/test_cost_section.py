"""What scores cost, as it is told: the section, the figure, the command, and bits for their cost."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import examiner as ex
from examiner.cli import app
from examiner.reporting import FINDINGS, Figure, Study
from examiner.reporting.prose import plain_text

PRICES = {"small": 0.001, "middling": 0.01, "large": 0.1, "overpriced": 0.2}


def results() -> ex.Results:
    """Four agents on 40 items; the dearest is as able as the second cheapest."""
    rng = np.random.default_rng(3)
    able = {"small": -2.0, "middling": 0.0, "large": 2.5, "overpriced": 0.0}
    rows = [
        (agent, f"t{item}", float(rng.random() < 1 / (1 + math.exp(-able[agent]))), price, item + 1)
        for agent, price in PRICES.items()
        for item in range(40)
    ]
    names = ("agent", "task", "score", "cost", "seconds")
    return ex.Results.from_dict(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def test_the_section_names_who_is_surely_on_the_front_and_who_is_dominated() -> None:
    told = FINDINGS["cost"](Study.of(results()))
    assert plain_text(told.lead) == (
        "3 of 4 agents are on the Pareto front of score and cost in at least 95 % of resamples: large, "
        "middling and small; 1 is dominated."
    )
    (dear,) = (row for row in told.data["agents"] if row["agent"] == "overpriced")
    assert "large" in dear["dominated_by"]


def test_without_costs_there_is_no_section_and_the_reason_is_said() -> None:
    told = FINDINGS["cost"](Study.of(ex.Results.from_numpy(np.eye(3))))
    assert not told.applies
    assert "The results have no costs" in plain_text(told.lead)


def test_nobody_is_named_where_agents_are_not_shown_to_differ() -> None:
    rng = np.random.default_rng(0)
    keys = {
        "agent": [f"a{row}" for row in range(6) for _ in range(30)],
        "task": [f"t{item}" for _ in range(6) for item in range(30)],
    }
    alike = ex.Results.from_dict(
        keys | {"score": rng.integers(0, 2, 180), "cost": rng.random(180) + 1}
    )
    study = Study.of(alike)
    assert study.not_shown
    lead = plain_text(FINDINGS["cost"](study).lead)
    assert lead.startswith("Which agents are worth their cost is not known.")
    assert not any(agent in lead for agent in alike.agents)


def test_the_figure_draws_the_front_from_the_cheapest_on_and_a_logarithmic_axis_over_decades() -> (
    None
):
    drawn = ex.plots.pareto(results())
    front = drawn.figure.drawing["data"][0]
    assert front["x"] == [0.001, 0.01, 0.1]
    assert front["y"] == sorted(front["y"])
    assert front["line"]["shape"] == "hv"
    assert drawn.data.log_axis
    assert drawn.figure.drawing["layout"]["xaxis"]["type"] == "log"
    even = ex.plots.pareto(results(), cost="seconds")
    assert not even.data.log_axis, "all pay the same seconds"
    assert even.data.on_front.sum() == 1


def test_the_report_has_the_section_where_there_is_a_cost() -> None:
    made = ex.report(results(), sections=["reading", "cost"], cost="cost")
    assert [section.key for section in made.sections] == ["reading", "cost"]
    assert any(isinstance(block, Figure) for block in made.sections[1].blocks)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return ex.write(results(), tmp_path / "evals.csv")


def answer(*words: object) -> dict[str, Any]:  # Any: JSON
    """Run a command, and return what it says as JSON."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.stderr
    content: dict[str, Any] = json.loads(done.stdout)
    return content


def test_the_command_takes_the_cost_there_is_and_says_all_as_json(table: Path) -> None:
    content = answer("cost", table, "--json", "--reps", 200)
    assert content["schema"] == "examiner.cost/1"
    assert content["cost"] == "cost"
    assert content["front"] == ["large", "middling", "small"], "best first"
    assert {row["agent"]: row["cost"] for row in content["agents"]} == pytest.approx(PRICES)
    scores = [row["score"] for row in content["agents"]]
    assert scores == sorted(scores, reverse=True)


def test_bits_for_their_cost_are_a_column_and_an_order(table: Path) -> None:
    how = ("information", table, "--deviations", 0.2, "--json")
    told = answer(*how, "--cost", "seconds")["tasks"]
    for row in told:
        assert row["cost"] == int(row["task"][1:]) + 1
        assert row["bits_per_cost"] == pytest.approx(row["bits"] / row["cost"])
    gained = [row["bits_per_cost"] for row in told]
    assert gained == sorted(gained, reverse=True)
    plain = answer(*how)["tasks"]
    assert [row["task"] for row in plain] != [row["task"] for row in told]
    assert "cost" not in plain[0]
