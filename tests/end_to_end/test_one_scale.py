"""Without `--normalise`, the report, the commands and Python put scores on the same scale."""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import examiner as ex
from examiner.cli import app
from examiner.datasets import DATASETS

REPS = 20


def results_named(name: str) -> ex.Results:
    results = ex.load(name)
    return results if isinstance(results, ex.Results) else pytest.skip("no results")


def asked(*words: str) -> dict[str, Any]:
    answer = CliRunner().invoke(app, [*words, "--json"])
    assert answer.exit_code == 0, answer.output
    return dict(json.loads(answer.stdout))


@pytest.fixture(scope="module")
def without_scales(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six agents, two runs each, on tasks whose scores differ 10,000-fold, and what an attempt costs."""
    rng = np.random.default_rng(5)
    path = tmp_path_factory.mktemp("one_scale") / "points.csv"
    lines = ["agent,task,run,score,cost"]
    for (agent, task, run), noise in np.ndenumerate(rng.normal(size=(6, 5, 2))):
        points = 10**task * (3 + agent * (-1) ** task + noise)
        lines.append(f"a{agent},t{task},{run},{points:.4f},{1 + agent + rng.random():.3f}")
    path.write_text("\n".join(lines))
    return path


def assert_one_ranking(source: str, results: ex.Results) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ex.ExaminerWarning)
        ranking = ex.scores.rank(results, reps=REPS)
        aggregates = ex.scores.aggregate(results)
    report = asked("report", source, "--sections", "ranking")
    scores = asked("scores", source, "--reps", str(REPS))
    blocks = next(part for part in report["sections"] if part["key"] == "ranking")["blocks"]
    table = next(block for block in blocks if block["kind"] == "table")
    place = [table["columns"].index(column) for column in ("agent", "mean")]
    shown = {row[place[0]]: row[place[1]] for row in table["rows"]}
    printed = {row["agent"]: row["mean"] for row in scores["agents"]}
    ranked = dict(zip(ranking.agents.agent, ranking.agents.mean.tolist(), strict=True))
    assert report["unit"] == scores["score_unit"] == ranking.agents.columns["mean"].unit
    assert list(printed) == list(ranked) == list(aggregates.agents.agent)
    assert list(shown) == list(ranked)[: len(shown)]
    assert [printed[agent] for agent in shown] == pytest.approx(list(shown.values()), abs=1e-9)
    assert list(printed.values()) == pytest.approx(list(ranked.values()), nan_ok=True)
    np.testing.assert_allclose(aggregates.agents.mean, list(ranked.values()), atol=1e-9)


@pytest.mark.parametrize("name", sorted(DATASETS))
def test_every_bundled_data_set_has_one_ranking(name: str) -> None:
    assert_one_ranking(name, results_named(name))


def test_a_table_without_scales_has_one_ranking(without_scales: Path) -> None:
    assert_one_ranking(str(without_scales), ex.read(without_scales))


def test_commands_and_functions_agree_on_the_scale(without_scales: Path) -> None:
    results, source = ex.read(without_scales), str(without_scales)
    ranking, pair = ex.scores.rank(results, reps=REPS), ("a5", "a1")
    unit, gap = ranking.agents.columns["mean"].unit, ranking["a5"].mean - ranking["a1"].mean
    assert unit.startswith("score normalised by 'z-score'")
    compared = asked("compare", source, *pair, "--reps", str(REPS))
    gated = asked("compare", source, *pair, "--fail-if", "worse")
    costs = asked("cost", source, "--reps", str(REPS))
    assert compared["score_unit"] == gated["score_unit"] == costs["score_unit"] == unit
    assert compared["pairs"][0]["difference"] == pytest.approx(gap)
    assert gated["agents"][0]["difference"] == pytest.approx(gap)
    costing = {row["agent"]: row["score"] for row in costs["agents"]}
    assert costing == pytest.approx({row.agent: row.mean for row in ranking.agents})
    means = {
        "compare": ex.scores.compare(results, *pair, reps=REPS).pairs.difference[0],
        "gate": ex.scores.gate(results, *pair).agents.difference[0],
        "intervals": np.subtract(*(ex.scores.intervals(results, reps=REPS)[a].mean for a in pair)),
        "significance": np.subtract(*(ex.scores.significance(results)[a].mean for a in pair)),
        "pareto": np.subtract(*(ex.scores.pareto(results, "cost")[a].score for a in pair)),
    }
    assert means == pytest.approx(dict.fromkeys(means, gap))
    improved = ex.scores.improvement(results, *pair, reps=REPS).probability
    assert ranking.pairs[pair].probability == pytest.approx(improved)
    variance = ex.scores.variance(results)
    assert variance.agent == pytest.approx(ranking.decision.components.agent)


def test_the_choice_is_stated_with_the_way_back_to_raw_scores(without_scales: Path) -> None:
    results, source = ex.read(without_scales), str(without_scales)
    stated = (
        "Scores are normalised by 'z-score', as tasks have different scales; `{}` uses raw scores."
    )
    for answer in (
        ex.scores.rank(results, reps=REPS),
        ex.scores.aggregate(results),
        ex.scores.compare(results, "a1", "a2", reps=REPS),
        ex.scores.gate(results, "a1", "a2"),
        ex.scores.significance(results),
        ex.scores.pareto(results, "cost", reps=REPS),
        ex.scores.variance(results),
    ):
        assert stated.format("normalise=None") in answer.all_notes, type(answer)
    for command in (["scores"], ["compare", "a1", "a2"], ["cost"]):
        words = [command[0], source, *command[1:], "--reps", str(REPS)]
        assert stated.format("--normalise none") in asked(*words)["notes"]
    raw = asked("scores", source, "--reps", str(REPS), "--normalise", "none")
    assert raw["score_unit"] == "score as it was read"
    assert raw["agents"][0]["mean"] == pytest.approx(
        ex.scores.rank(results, normalise=None, reps=REPS).agents.mean[0]
    )


def test_two_agents_keep_their_scores_and_are_warned(without_scales: Path) -> None:
    two = ex.read(without_scales).keeping("agent:a[12]")
    ranking = ex.scores.rank(two, reps=REPS)
    assert ranking.agents.columns["mean"].unit == "score as it was read"
    assert any("so that few tasks decide" in note for note in ranking.notes)
