"""Agents that reach a limit of an indicator, and the compound, in Python and on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest

import examiner as ex
from arena.runs import command
from examiner.irt import Indicators, qualified

SOURCE = ("gvgai-plays", "--item", "task", "--measure", "win", "--success", "1")
SHARE = ("--success-share", "0.5")


@pytest.fixture(scope="module")
def indicators() -> Indicators:
    rng = np.random.default_rng(2)
    tasks = [f"t{number}" for number in range(24)]
    items = ex.irt.ItemParameters.of(tasks, np.full(24, 2.0), difficulty=np.linspace(-2, 2, 24))
    ability = np.linspace(-1.5, 1.5, 12)
    solved = (rng.random((12, 24)) < ex.irt.probability(items, ability)).astype(float)
    fit = ex.irt.known(items, ex.ResponseMatrix.from_array(solved, tasks=tasks))
    return ex.irt.indicators(fit, bins=4)


def test_a_limit_keeps_exactly_the_agents_that_reach_it(indicators: Indicators) -> None:
    limit = float(np.median(indicators.generality))
    reached = qualified(indicators, f"generality >= {limit!r}")
    values = dict(zip(indicators.agents, indicators.generality, strict=True))
    assert set(reached) == {agent for agent, value in values.items() if value >= limit}
    assert set(qualified(indicators, f"generality<{limit!r}")) == set(values) - set(reached)


@pytest.mark.parametrize(
    "condition", ["speed > 1", "generality", "ability > high", "ability > nan"]
)
def test_a_condition_that_is_not_understood_is_refused(
    indicators: Indicators, condition: str
) -> None:
    with pytest.raises(ex.InputError, match=r"is not understood\. Compare ability, generality"):
        qualified(indicators, condition)


def test_a_limit_that_nobody_reaches_is_refused_with_the_range(indicators: Indicators) -> None:
    with pytest.raises(ex.InputError, match=r"No agent has ability > 9; ability is .* to "):
        qualified(indicators, "ability > 9")


def test_scores_rank_only_qualified_agents_and_name_the_others() -> None:
    shown = json.loads(command("scores", *SOURCE, *SHARE, "--qualify", "ability > 0", "--json").out)
    named = {row["agent"] for row in shown["agents"]}
    assert "OLETS" in named and "doNothing" not in named
    assert any("without ability > 0 excluded" in note for note in shown["notes"])


def test_fit_shows_the_compound_and_what_it_hides() -> None:
    options = ("--starts", "1", "--compound", "0.5", "--json")
    shown = json.loads(command("fit", *SOURCE, *SHARE, *options).out)
    assert shown["weight"] == 0.5 and 0 < shown["undecided"] < 1
