"""Is there anything to see? Tests against one ability for all and one slope for all hold their level."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import examiner as ex
from examiner.irt import (
    SLOPE_NOT_SIGNIFICANT,
    Abilities,
    ChanceTest,
    Evidence,
    ItemParameters,
    fit,
    indicators,
    leading,
    link,
    negative_tasks,
    place,
    simulate,
    slope_verdicts,
)
from examiner.irt.diagnostics import evidence_tests
from examiner.irt.diagnostics.evidence_tests import ability_test, compared_part, discrimination_test
from examiner.irt.diagnostics.standardised import rest_correlation_deviates
from examiner.irt.evidence import relative_slopes
from examiner.results import ResponseMatrix
from examiner.scores import benjamini_hochberg, friedman
from examiner.storage import open_fit, save

CHANCE = Evidence(ChanceTest(9.0, 11.0, 0.62, "by hand"))
SEEN = Evidence(ChanceTest(99.0, 11.0, 0.002, "by hand"), ChanceTest(50.0, 20.0, 0.01, "by hand"))


def _items(slope: np.ndarray, rng: np.random.Generator) -> ItemParameters:
    names = [f"task {n}" for n in range(len(slope))]
    return ItemParameters.of(names, slope, rng.normal(size=len(slope)))


def _most(count: int, share: float = 0.05) -> float:
    """The largest share of rejections that a test at its level gives in all but 2 % of samples."""
    return share + 2.06 * float(np.sqrt(share * (1 - share) / count)) + 1e-9


def test_the_statistic_of_zeros_and_ones_is_cochrans_q() -> None:
    values = np.random.default_rng(0).integers(0, 2, (9, 14)).astype(float)
    found = ability_test(ResponseMatrix.from_array(values), np.random.default_rng(0))
    assert_allclose(found.statistic * 8 / 9, friedman(values)[0])


def test_identical_agents_are_seen_to_differ_at_the_stated_level_only() -> None:
    rng = np.random.default_rng(1)
    tables = [rng.binomial(3, rng.uniform(0.1, 0.9, 12), (10, 12)) for _ in range(200)]
    p = [ability_test(ResponseMatrix.from_counts(won, 3), rng).p_value for won in tables]
    assert np.mean(np.array(p) < 0.05) <= _most(200)
    assert 0.4 < np.mean(p) < 0.6


def test_gaps_are_exchanged_with_nobody() -> None:
    rng, p = np.random.default_rng(2), []
    for _ in range(100):
        values = rng.integers(0, 2, (12, 15)).astype(float)
        values[rng.random(values.shape) < 0.5] = np.nan
        p.append(ability_test(ResponseMatrix.from_array(values), rng).p_value)
    assert np.mean(np.array(p) < 0.05) <= _most(100)


@pytest.mark.parametrize("signs", [np.ones(20), np.tile([1.0, -1.0], 10)])
def test_agents_who_differ_are_seen_even_where_half_of_the_tasks_reward_the_weak(
    signs: np.ndarray,
) -> None:
    rng = np.random.default_rng(3)
    matrix = simulate(_items(1.5 * signs, rng), 40, rng=rng)
    assert ability_test(matrix, rng).p_value < 0.01


@pytest.mark.parametrize("tasks", [5, 40])
def test_large_tables_have_the_p_value_of_exchanges_in_closed_form(
    monkeypatch: pytest.MonkeyPatch, tasks: int
) -> None:
    rng = np.random.default_rng(4)
    values = rng.integers(0, 2, (60, tasks)).astype(float)
    monkeypatch.setattr(evidence_tests, "PERMUTED_CELLS", 1)
    closed = ability_test(ResponseMatrix.from_array(values), rng)
    assert "mean and variance" in closed.method
    exchanged = rng.permuted(np.broadcast_to(values, (2000, 60, tasks)), axis=1)
    sums = ((exchanged - values.mean(axis=0)).sum(axis=2) ** 2).sum(axis=1)
    found = ((values - values.mean(axis=0)).sum(axis=1) ** 2).sum()
    assert abs(closed.p_value - np.mean(sums >= found - 1e-9)) < 0.05


def test_one_slope_for_all_is_kept_whatever_the_population() -> None:
    p = []
    for table in range(40):
        rng = np.random.default_rng([5, table])
        items = _items(np.ones(12), rng)
        matrix = simulate(items, np.where(rng.random(20) < 0.5, -1.0, 1.0), rng=rng)
        one = fit(matrix, "1pl", starts=1, errors=False)
        part = matrix.take(tasks=[matrix.tasks.index(task) for task in one.items.tasks])
        p.append(discrimination_test(part, one.items, one.quadrature, rng).p_value)
    assert np.mean(np.array(p) < 0.05) <= _most(40)


def test_slopes_that_differ_are_seen_in_part_of_a_large_table() -> None:
    rng = np.random.default_rng(6)
    matrix = simulate(_items(np.tile([0.3, 1.7], 100), rng), 300, rng=rng)
    made = fit(matrix, starts=1)
    assert made.evidence is not None and made.evidence.slopes_differ
    assert made.evidence.discrimination is not None
    assert "153 agents × 100 tasks" in made.evidence.discrimination.method
    assert compared_part(matrix, rng).shape == (153, 100)
    seen = slope_verdicts(made)
    assert seen.steeper[1::2].mean() > 0.9 and not seen.steeper[::2].any()
    assert seen.flatter[::2].mean() > 0.9 and not seen.flatter[1::2].any()


def test_errors_of_relative_slopes_are_those_of_joint_draws() -> None:
    rng = np.random.default_rng(7)
    made = fit(simulate(_items(rng.lognormal(0.2, 0.4, 20), rng), 150, rng=rng), starts=1)
    assert made.errors is not None
    drawn = np.array([items.slope for items in made.draws(400, rng=0).items])
    spread = (drawn / drawn.mean(axis=1, keepdims=True)).std(axis=0)
    assert_allclose(relative_slopes(made.items.slope, made.errors)[1], spread, rtol=0.2)


@pytest.mark.parametrize("model", ["1pl", "rasch", "2pl", "3pl"])
def test_every_model_says_whether_there_is_anything_to_see(model: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    made = fit(simulate(_items(np.full(15, 1.5), rng), 30, rng=rng), model, starts=1)
    assert made.evidence is not None and made.evidence.abilities_differ
    save(made, tmp_path / "fit.json")
    assert open_fit(tmp_path / "fit.json").evidence == made.evidence
    assert made.scalars["abilities_p_value"].value == made.evidence.abilities.p_value


def test_scores_are_tested_too() -> None:
    rng = np.random.default_rng(9)
    items = _items(np.full(12, 1.5), rng)
    able = ItemParameters.of(
        items.tasks, items.slope, items.intercept, precision=np.full(12, 8.0), response="beta"
    )
    made = fit(simulate(able, 25, rng=rng), "beta", starts=1)
    assert made.evidence is not None and made.evidence.abilities_differ
    assert made.evidence.discrimination is not None


def test_a_fit_without_errors_has_no_evidence() -> None:
    rng = np.random.default_rng(10)
    matrix = simulate(_items(np.ones(8), rng), 20, rng=rng)
    assert fit(matrix, "1pl", errors=False).evidence is None


def test_the_same_seed_gives_the_same_evidence() -> None:
    rng = np.random.default_rng(11)
    matrix = simulate(_items(np.ones(8), rng), 20, rng=rng)
    assert fit(matrix, starts=1, rng=3).evidence == fit(matrix, starts=2, rng=3).evidence


def test_what_was_seen_is_said() -> None:
    assert "p < 0.001" in ChanceTest(9.0, 1.0, 1e-5, "").p
    assert not CHANCE.abilities_differ and not CHANCE.slopes_differ
    assert SEEN.sentences() == (
        "Agents differ in ability (p = 0.002).",
        "Tasks differ in discrimination (p = 0.01).",
    )
    alike = Evidence(SEEN.abilities, ChanceTest(20.0, 20.0, 0.5, "by hand"))
    assert "not shown to differ in discrimination" in repr(alike)
    # slopes are no evidence where abilities are none
    assert not Evidence(CHANCE.abilities, SEEN.discrimination).slopes_differ


def test_the_first_agent_is_the_ablest_only_where_its_lead_holds() -> None:
    error = np.full(3, 0.3)
    clear = Abilities(("a", "b", "c"), np.array([0.0, 3.0, 0.1]), error, "")
    close = Abilities(("a", "b", "c"), np.array([0.0, 3.0, 2.9]), error, "")
    assert leading(clear) == ("b",)
    assert leading(close, SEEN) == ("b", "c")
    assert leading(clear, CHANCE) == ()
    unknown = Abilities(("a",), np.array([np.nan]), np.array([np.nan]), "")
    assert leading(unknown) == ()


def test_a_lead_that_is_shared_doubt_about_the_scale_still_counts() -> None:
    rng = np.random.default_rng(12)
    matrix = simulate(
        _items(np.full(40, 1.5), rng), np.array([3.0, *rng.normal(-1, 0.3, 11)]), rng=rng
    )
    made = fit(matrix, starts=1)
    assert leading(made.abilities, made.evidence) == (made.abilities.agents[0],)
    headline = indicators(made).headline
    assert "has the highest ability" in headline and "not significantly" not in headline


def test_benjamini_hochberg_is_scipys() -> None:
    from scipy.stats import false_discovery_control

    p = np.random.default_rng(13).random(50) ** 3
    assert_allclose(benjamini_hochberg(p), false_discovery_control(p, method="bh"))


def test_a_task_that_tells_nothing_goes_with_the_rest_by_chance_only() -> None:
    rng, slope = np.random.default_rng(16), np.full(15, 1.5)
    slope[0] = 0.0
    tables = [simulate(_items(slope, rng), 25, trials=2, rng=rng) for _ in range(150)]
    found = [rest_correlation_deviates(table)[0] for table in tables]
    assert abs(np.mean(found)) < 3 / np.sqrt(150)
    assert 0.75 < np.std(found) < 1.25


def test_tasks_that_reward_the_weak_are_found_and_others_are_not() -> None:
    rng = np.random.default_rng(14)
    slope = np.full(30, 1.3)
    slope[4] = -1.3
    made = fit(simulate(_items(slope, rng), 150, rng=rng), starts=1)
    assert negative_tasks(made) == ("task 4",)


@pytest.fixture(scope="module")
def chance() -> ex.irt.IRTFit:
    """A fit of identical agents, of whom nothing was seen."""
    made = fit(
        ResponseMatrix.from_array(np.random.default_rng(0).integers(0, 2, (12, 16))), starts=1
    )
    assert made.evidence is not None and not made.evidence.abilities_differ
    return made


def test_a_place_among_agents_who_may_be_alike_is_called_chance(chance: ex.irt.IRTFit) -> None:
    assert chance.matrix is not None
    placements = place(chance.matrix.take([0]), chance)
    assert "a rank among them is chance" in placements.notes[0]


def test_a_link_to_a_fit_of_chance_is_warned_of() -> None:
    rng = np.random.default_rng(15)
    items = _items(np.ones(16), rng)
    other = replace(fit(simulate(items, 60, rng=rng), starts=1), evidence=CHANCE)
    warned = [
        words for words in link(other, replace(other, evidence=SEEN)).notes if "unit" in words
    ]
    assert len(warned) == 1 and warned[0].startswith(
        "The agents of the old fit do not differ significantly in ability"
    )


def test_indicators_of_chance_name_nobody(chance: ex.irt.IRTFit) -> None:
    told = indicators(chance)
    assert told.leading == ()
    assert told.headline == "No agent of 12 is significantly more able than another."


def test_five_per_cent_exactly_is_shown_and_close_numbers_are_told_apart() -> None:
    at, above = (ChanceTest(1.0, 1.0, p, "") for p in (0.05, 0.0504))
    assert Evidence(at).abilities_differ and not Evidence(above).abilities_differ
    assert above.p == "p = 0.0504" and "5.04 % of tables" in Evidence(above).sentences()[0]


def test_where_agents_are_not_shown_to_differ_every_task_is_marked_as_noise() -> None:
    rng = np.random.default_rng(3)
    made = fit(ResponseMatrix.from_array(rng.integers(0, 2, (14, 16))), starts=1)
    assert made.evidence is not None and not made.evidence.abilities_differ
    assert all(SLOPE_NOT_SIGNIFICANT in words for words in made.flags)


@pytest.mark.parametrize("trials", [1, 5])
def test_tables_without_gaps_have_correlations_with_the_rest_as_numpy_has_them(trials: int) -> None:
    """Successes of single trials as they are; of several each task has the spread that chance gives it."""
    items = ItemParameters.of([f"t{n}" for n in range(9)], np.linspace(0.5, 2, 9), np.zeros(9))
    matrix = simulate(items, 40, trials=trials, rng=5)
    won = matrix.successes.astype(float)
    share = won.mean(axis=0) / trials
    weighed = (won - won.mean(axis=0)) / won.std(axis=0) * np.sqrt(trials * share * (1 - share))
    expected = [
        np.corrcoef(weighed[:, task], np.delete(weighed, task, axis=1).sum(axis=1))[0, 1]
        for task in range(9)
    ]
    assert_allclose(rest_correlation_deviates(matrix), np.array(expected) * np.sqrt(39), atol=1e-9)


def test_a_gap_hardly_changes_the_correlations() -> None:
    items = ItemParameters.of([f"t{n}" for n in range(9)], np.ones(9), np.zeros(9))
    whole = simulate(items, 300, rng=5)
    trials = np.ones((300, 9), dtype=np.int64)
    trials[0, 0] = 0
    gap = ResponseMatrix.from_counts(whole.successes * trials, trials, whole.agents, whole.tasks)
    assert_allclose(rest_correlation_deviates(gap), rest_correlation_deviates(whole), atol=0.2)


def families(seed: int, spread: float) -> ResponseMatrix:
    """Ten families of five near-copies each; abilities of families have this spread."""
    rng = np.random.default_rng(seed)
    ability, difficulty = spread * rng.normal(size=(10, 1)), rng.normal(size=40)
    chance = np.repeat(1 / (1 + np.exp(difficulty - ability)), 5, axis=0)
    shared = np.repeat(rng.random((10, 40)), 5, axis=0)
    drawn = np.where(rng.random(chance.shape) < 0.1, rng.random(chance.shape), shared)
    return ResponseMatrix.from_array((drawn < chance).astype(float))


def test_agents_without_a_common_task_are_no_near_copies() -> None:
    values = np.full((24, 60), np.nan)
    won = np.random.default_rng(0).integers(0, 2, (24, 30)).astype(float)
    values[:12, :30], values[12:, 30:] = won[:12], won[12:]
    assert not evidence_tests.has_near_copies(ResponseMatrix.from_array(values))
    values[18:] = values[12:18]
    assert evidence_tests.has_near_copies(ResponseMatrix.from_array(values))


def test_families_of_near_copies_that_are_equally_able_are_rarely_called_different() -> None:
    tests = [ability_test(families(seed, 0.0), np.random.default_rng(seed)) for seed in range(40)]
    assert np.mean([test.shown for test in tests]) <= 0.15  # by exchanges alone, in all tables
    assert np.mean([(test.profile_p_value or 0.0) <= 0.05 for test in tests]) > 0.9
    hidden = next(test for test in tests if not test.shown)
    assert "Agents differ in profile" in Evidence(hidden).sentences()[0]
    able = [ability_test(families(seed, 1.0), np.random.default_rng(seed)) for seed in range(8)]
    assert np.mean([test.shown for test in able]) > 0.8
