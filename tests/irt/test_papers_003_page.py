"""The page that shows papers/003 beside our numbers says what the published scores say."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.stats import spearmanr

import examiner as ex
from irt.ale_of_papers_002 import needs_published_scores, published
from irt.pages import said, text_of

pytestmark = needs_published_scores
PAGE = text_of("papers/003.md")


@cache
def table_one() -> ex.irt.ItemParameters:
    columns = ex.load("atari-irt-2017-table1").columns
    rows = [row for row, value in enumerate(columns["difficulty"]) if value is not None]
    difficulty = [columns["difficulty"][row] for row in rows]
    slope = [columns["discrimination"][row] for row in rows]
    return ex.irt.ItemParameters.of(published().matrix.tasks, slope, difficulty=difficulty)


@cache
def with_priors() -> ex.irt.IRTFit:
    return ex.irt.fit(published().matrix, priors="fixed", rng=0)


def kept() -> ex.Results:
    """The 40 techniques on all 49 games."""
    results, agents = published().results, published().matrix.agents
    return results.where(np.isin(np.array(results.agents), agents)[results.agent_codes])


def test_games_without_variance_are_those_that_table_one_leaves_out() -> None:
    columns = ex.load("atari-irt-2017-table1").columns
    count = sum(value is None for value in columns["difficulty"])
    assert len(kept().tasks) - len(published().matrix.tasks) == count == 8


def test_log_likelihoods_of_table_one() -> None:
    matrix = published().matrix
    nodes = said(ex.irt.known(table_one(), matrix, nodes=21).log_likelihood)
    fine = ex.irt.log_likelihood(matrix, table_one(), ex.irt.Quadrature.grid(-6, 6, 4801))
    assert f"its log-likelihood is {nodes};" in PAGE
    assert f"Integrated finely Table 1 has {said(fine)}:" in PAGE


def test_difficulties_and_abilities_agree_with_table_one_and_discriminations_less() -> None:
    theirs, fit = table_one(), with_priors()
    rising = theirs.slope > 0
    for ours, printed, words in (
        (fit.items.difficulty, theirs.difficulty, "difficulties of positive games | −6.66 to 9.14"),
        (fit.items.slope, theirs.slope, "discriminations of positive games |"),
    ):
        rank = said(spearmanr(ours[rising], printed[rising])[0])
        assert f"| {words} | rank correlation with Table 1: {rank} |" in PAGE
    known = ex.irt.known(theirs, published().matrix, nodes=21).abilities.ability
    ours = fit.abilities.ability
    ends = [f"{said(each.min())} to {said(each.max())}" for each in (known, ours)]
    r = said(np.corrcoef(known, ours)[0, 1])
    assert f"| abilities | {ends[0]} | {ends[1]}; correlation {r} |" in PAGE


def test_difficulty_follows_the_share_of_techniques_that_succeed() -> None:
    theirs, share = table_one(), published().matrix.to_numpy().mean(axis=0)
    rising = theirs.slope > 0
    among = said(spearmanr(theirs.difficulty[rising], share[rising])[0])
    over_all = said(spearmanr(theirs.difficulty, share)[0])
    assert f"rank correlation {among} over the 37 positive games, {over_all} over all 41" in PAGE


def test_the_most_discriminating_and_the_most_difficult_games() -> None:
    fit = with_priors()
    items, errors = fit.items, fit.errors
    assert errors is not None
    steep = np.argsort(-items.slope)[:6]
    *first, last = [items.tasks[place] for place in steep]
    assert f"the six highest are {', '.join(first)} and {last}" in PAGE
    sizes = [
        f"{said(items.slope[place])} ({said(errors.slope_low[place])} to "
        f"{said(errors.slope_high[place])})"
        for place in (steep[0], steep[-1])
    ]
    assert f"from {sizes[0]} to {sizes[1]}" in PAGE
    rising = np.flatnonzero(items.slope > 0)
    hard = rising[np.argsort(-items.difficulty[rising])][:6]
    names = ", ".join(items.tasks[place] for place in hard)
    assert f"in the same order: {names}." in PAGE
    solved = published().matrix.to_numpy().sum(axis=0)
    assert solved[hard[:2]].tolist() == [1, 1]
    assert np.isneginf(errors.difficulty_low[hard[:2]]).all()


def test_what_is_shown_of_slopes_and_of_the_first_technique() -> None:
    fit = with_priors()
    seen = ex.irt.slope_verdicts(fit)
    assert not seen.steeper.any() and not seen.falling.any()
    assert f"{seen.rising.sum()} of the 41 games have significantly positive discrimination" in PAGE
    first, *near = ex.irt.leading(fit.abilities, fit.evidence)
    row = fit.abilities.agents.index(first)
    size = f"{said(fit.abilities.ability[row])} ± {said(fit.abilities.error[row])}"
    assert first == "Wang.noops_DUEL"
    assert f"{size}, but is not significantly better than {len(near)} others" in PAGE


def test_mean_correlations_are_those_of_the_authors_program_without_its_first_game() -> None:
    scores = ex.responses(kept()).to_numpy()
    assert kept().tasks[0] == "Alien"

    def mean(table: np.ndarray) -> float:
        r = np.corrcoef(table)
        return float(r[np.triu_indices(len(r), 1)].mean())

    without = said(mean(scores[:, 1:]), 5), said(mean(scores[:, 1:].T), 5)
    assert f"({without[0]} and {without[1]})" in PAGE
    whole = said(mean(scores), 4), said(mean(scores.T), 4)
    found = ex.information.general_factor(kept(), rng=0)
    games, techniques = found.mean_task_correlation, found.mean_agent_correlation
    assert said(games.value, 4) == whole[1]
    ends = f"(95 % over techniques: {said(games.low)} to {said(games.high)})"
    assert f"{whole[0]} and {whole[1]} {ends}" in PAGE
    ends = f"({said(techniques.low)} to {said(techniques.high)})"
    assert f"techniques correlate by {said(techniques.value)} {ends}" in PAGE
    share, chance = found.first_factor_share.value, found.first_factor_by_chance
    assert f"{100 * share:.0f} % of how techniques differ, {100 * chance:.0f} % by chance" in PAGE


CITED = {
    **{"FurelosBlanco": 2015, "Nair": 2015, "Schaul": 2015, "Talvitie": 2015, "Wang": 2015},
    **{"He": 2016, "vanHasselt": 2016, "Gruslys": 2017, "O.Donoghue": 2017, "Pritzel": 2017},
}


def test_no_growth_over_the_years_is_shown() -> None:
    fit = with_priors()
    told = ex.irt.indicators(fit, published().scores, bins=[-11, -1, 0, 1, 10])
    years = {
        agent: next(year for name, year in CITED.items() if agent.startswith(name))
        for agent in told.agents
    }
    made = ex.irt.over_time(told, years)
    factors = ex.information.general_factor_by(kept(), years, rng=0)

    def ends(value: float, low: float, high: float) -> str:
        return f"{said(value)} ({said(low)} to {said(high)})"

    for year in made.years:
        factor = factors.factors[int(year.year)]
        ability = ends(year.ability, year.ability_low, year.ability_high)
        general = ends(year.generality, year.generality_low, year.generality_high)
        games = ends(*factor.mean_task_correlation)
        share = f"{said(factor.first_factor_share.value)}, {said(factor.first_factor_by_chance)}"
        row = f"| {year.year} | {year.agents} | {ability} | {general} | {games} | {share} |"
        assert row in PAGE, row
    able, whole = made.with_ability, made.with_generality
    assert (
        f"{said(able.pearson)}, 95 %: {said(able.pearson_low)} to {said(able.pearson_high)}" in PAGE
    )
    assert (
        f"({said(whole.pearson)}, {said(whole.pearson_low)} to {said(whole.pearson_high)})" in PAGE
    )
    assert able.pearson_low < 0 < able.pearson_high and whole.pearson_low < 0 < whole.pearson_high
