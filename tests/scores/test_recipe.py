"""The recipe that turns raw results into values and responses treats a newcomer as the first table."""

from __future__ import annotations

import json

import numpy as np
import pytest

import examiner as ex
from examiner.results import Provenance, Results, Scales, TaskScale
from examiner.scores import NORMALISERS, Recipe, cell_means, responses
from examiner.validation import from_record, to_record

RNG = np.random.default_rng(5)
TABLE = RNG.normal(size=(8, 5, 3)) * 10 + 20
SCALES = Scales(
    TaskScale(f"task {n}", random=5.0, reference=25.0 - n, direction="higher") for n in range(1, 5)
) + Scales([TaskScale("task 5", random=40.0, reference=10.0, direction="lower")])


def results(values: np.ndarray = TABLE, first: int = 1) -> Results:
    names = [f"agent {n}" for n in range(first, len(values) + first)]
    return Results.from_numpy(values, agents=names, scales=SCALES)


def stored(recipe: Recipe) -> Recipe:
    return from_record(Recipe, json.loads(json.dumps(to_record(recipe))))


@pytest.mark.parametrize("normaliser", [None, *NORMALISERS])
@pytest.mark.parametrize("success", [0.6, None])
def test_an_agent_of_the_first_table_is_treated_as_it_was(normaliser, success) -> None:
    recipe = Recipe(normaliser=normaliser, success=success).learn(results())
    whole = recipe.responses(results())
    again = stored(recipe).responses(results(TABLE[2:3], first=3))
    assert again.is_counts == whole.is_counts
    np.testing.assert_allclose(again.to_numpy()[0], whole.to_numpy()[2], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        stored(recipe).values(results(TABLE[2:3], first=3))[0], recipe.values(results())[2]
    )


@pytest.mark.parametrize("normaliser", NORMALISERS)
def test_values_are_those_of_normalise_whichever_way_they_are_asked_for(normaliser) -> None:
    plain = cell_means(ex.normalise(results(), normaliser))
    recipe = Recipe(normaliser=normaliser)
    np.testing.assert_allclose(recipe.values(results()), plain)
    np.testing.assert_allclose(stored(recipe.learn(results())).values(results()), plain)
    study = ex.report(results(), normalise=normaliser, sections=["ranking"]).to_dict()
    table = next(b for b in study["sections"][0]["blocks"] if b["kind"] == "table")
    agent, mean = (table["columns"].index(name) for name in ("agent", "mean"))
    means = {row[agent]: row[mean] for row in table["rows"]}
    for agent, values in zip(results().agents, plain, strict=True):
        assert means[agent] == pytest.approx(np.nanmean(values))


@pytest.mark.parametrize("normaliser", [name for name in NORMALISERS if NORMALISERS[name].relative])
def test_a_constant_task_is_the_same_number_everywhere(normaliser) -> None:
    values = TABLE.copy()
    values[:, 1] = 7.0
    table = results(values)
    plain = cell_means(ex.normalise(table, normaliser))
    recipe = Recipe(normaliser=normaliser).learn(table)
    np.testing.assert_array_equal(np.isnan(recipe.values(table)), np.isnan(plain))
    whole = ex.selection.benchmark(table, Recipe(normaliser=normaliser))
    rows = np.arange(8)
    np.testing.assert_allclose(whole.comparable(rows, whole.learn(rows)), plain)
    alone = stored(recipe).values(results(values[:1]))
    np.testing.assert_allclose(alone[0], plain[0])


def test_the_best_agent_of_a_task_has_rank_one_however_it_is_asked() -> None:
    single = TABLE.mean(axis=2)
    recipe = Recipe(normaliser="rank").learn(results(single))
    own = stored(recipe).values(results(single[:1]))[0]
    np.testing.assert_allclose(own, ex.normalise(results(single), "rank").measure()[:5])
    best = np.full((1, 5), 1000.0)
    best[0, 4] = -1000.0  # lower is better there
    assert stored(recipe).values(results(best, first=99)).tolist() == [[1.0] * 5]


def test_beating_an_agent_is_kept_as_its_means() -> None:
    recipe = Recipe(beating="agent 3").learn(results())
    assert stored(recipe).responses(results()) == responses(results(), beating="agent 3")
    alone = stored(recipe).responses(results(TABLE[4:5], first=5))
    assert alone.to_numpy()[0].tolist() == recipe.responses(results()).to_numpy()[3].tolist()


@pytest.mark.parametrize("success", ["reference", "random"])
@pytest.mark.parametrize("normaliser", [None, "human"])
def test_a_threshold_of_each_task_comes_from_the_stored_scales(success, normaliser) -> None:
    recipe = Recipe(normaliser=normaliser, success=success, share=0.5).learn(results())
    bare = Results.from_numpy(TABLE[:2], agents=["x", "y"])  # the newcomer brings no scales
    assert stored(recipe).responses(bare).to_numpy().tolist() == (
        responses(results(), success, share=0.5).to_numpy()[:2].tolist()
    )


def log_of(agents: list[str], final: list[float]) -> Results:
    """A training log of 300 episodes each that ends at a level."""
    columns: dict[str, list] = {name: [] for name in ("agent", "task", "run", "trial", "score")}
    for agent, level in zip(agents, final, strict=True):
        for task in ("t", "u", "v"):
            for trial in range(300):
                row = (agent, task, 0, trial, level * min(trial / 100, 1.0) + ord(task) % 5)
                for name, value in zip(columns, row, strict=True):
                    columns[name].append(value)
    return Results.from_dict(columns, provenance=Provenance(training=True))


def test_training_logs_are_reduced_alike() -> None:
    log = log_of(["a", "b"], [6.0, 2.0])
    recipe = Recipe(reduction="last:2", success=7.0).learn(log)
    assert recipe.reduction == "last:2"
    assert (
        stored(recipe).responses(log).to_numpy().tolist()
        == responses(ex.reduce(log, "last:2"), 7.0).to_numpy().tolist()
    )


def test_a_raw_training_log_is_placed_alike_in_python_and_on_the_command_line(
    tmp_path, capsys
) -> None:
    """Before, Python averaged the whole training where the command took its last episodes."""
    from examiner.cli import main

    log = log_of([f"a{n}" for n in range(9)], [1.0, 2, 3, 4, 5, 6, 7, 8, 9])
    chosen = ex.selection.select(log, 2, "regression", rng=0)
    path = ex.save(chosen, tmp_path / "chosen.json")
    new = log_of(["mine"], [3.5])
    here = ex.selection.place(new, chosen)[0].predicted
    assert ex.selection.place(new, ex.load_saved(path))[0].predicted == here
    assert ex.selection.place(ex.reduce(new), chosen)[0].predicted == here
    raw = new.save(tmp_path / "new.parquet")
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit):
        patch.setattr("sys.argv", ["examiner", "place", str(raw), "--with", str(path), "--json"])
        main()
    told = json.loads(capsys.readouterr().out)["agents"][0]["predicted"]
    assert told == pytest.approx(here)


def test_what_cannot_be_treated_alike_is_said() -> None:
    recipe = Recipe(success=1.0).learn(results())
    with pytest.raises(ex.InputError, match="for the measure 'score', and the results have 'win'"):
        recipe.responses(Results.from_numpy([[1.0]], measure="win"))
    own = Recipe(normaliser=lambda scores: scores.values / 2)
    np.testing.assert_allclose(own.values(results())[:, :4], TABLE.mean(axis=2)[:, :4] / 2)
    with pytest.raises(ex.InputError, match=r"A function of your own .* cannot be stored"):
        to_record(own)
    wins = Recipe().learn(Results.from_numpy([[1.0], [0.0]]))
    with pytest.raises(ex.InputError, match="not made of zeros and ones"):
        wins.responses(Results.from_numpy([[0.5]]))
    with pytest.raises(ex.InputError, match=r"learnt.scales is '3'. Give a list"):
        from_record(Recipe, {"learnt": {"scales": 3}})
    with pytest.raises(ex.InputError, match="Say 'none' or 'log'"):
        Recipe(transform="sqrt")
    with pytest.raises(ex.InputError, match="least value above 0"):
        Recipe(floor=0.0)


def test_other_protocols_are_said() -> None:
    table = {"agent": ["a", "b"], "task": ["t", "t"], "score": [1.0, 2.0], "protocol": ["one"] * 2}
    recipe = stored(Recipe().learn(Results.from_dict(table)))
    other = Results.from_dict(table | {"protocol": ["one", "two"]})
    assert "made under 'two', those before under 'one'" in recipe.protocol_notes(other)[0]
    assert recipe.protocol_notes(Results.from_dict(table)) == ()
