"""Indicators as people meet them: a short repr, a table for a notebook, plain rows."""

from __future__ import annotations

import numpy as np
import pytest

import examiner as ex
from examiner.answers import StoredAnswer


@pytest.fixture(scope="module")
def told() -> ex.irt.Indicators:
    items = ex.irt.ItemParameters.of(
        [f"t{n}" for n in range(24)], np.ones(24), np.linspace(-2, 2, 24)
    )
    agents = [f"<b>agent {n}</b>" for n in range(30)]
    solved = ex.irt.simulate(items, 30, rng=1).to_numpy()
    matrix = ex.ResponseMatrix.from_array(solved, agents, items.tasks)
    return ex.irt.indicators(ex.irt.fit(matrix, starts=1))


def test_the_headline_names_the_highest_ability(told: ex.irt.Indicators) -> None:
    best = told.agents[int(told.ability.argmax())]
    assert told.headline.startswith(f"{best!r} has the highest ability of 30 agents, ")
    assert f"{told.ability.max():.2f} ± " in told.headline
    assert told[0].agent == best and told[0].tied_first
    assert told[best].generality == told.generality[told.agents.index(best)]


def test_a_notebook_shows_the_ablest_first_with_names_escaped(told: ex.irt.Indicators) -> None:
    page = told._repr_html_()
    assert "<b>agent" not in page and "and 18 more rows" in page
    order = np.argsort(-told.ability)
    first, second = (f"agent {place}&lt;/b&gt;" for place in order[:2])
    table = page.split("<tbody>")[1]
    assert 0 < table.index(first) < table.index(second)


def test_rows_make_a_table_of_pandas(told: ex.irt.Indicators) -> None:
    pandas = pytest.importorskip("pandas")
    table = told.to_pandas()
    assert isinstance(table, pandas.DataFrame)
    np.testing.assert_array_equal(table["ability"], np.sort(told.ability)[::-1])


def test_agents_without_any_ability_are_shown_too(told: ex.irt.Indicators) -> None:
    from dataclasses import replace

    none = replace(told, ability=np.full(30, np.nan), bins=None)
    assert none.headline == "The abilities of 30 agents are not known."
    assert "<tbody>" in none._repr_html_()


def shown_results() -> list[object]:
    names = [f"<b>task {n}</b>" for n in range(14)]
    items = ex.irt.ItemParameters.of(names, np.ones(14), np.linspace(-1, 1, 14))
    matrix = ex.irt.simulate(items, 60, rng=0)
    fit = ex.irt.fit(matrix, starts=1)
    told = ex.irt.diagnose(fit, replicates=20, refit=False, rng=0)
    mine = ex.irt.place(matrix.take([0], range(9)), fit)
    found = ex.irt.indicators(fit)
    return [
        *(fit, fit.errors, fit.abilities, mine, found.bins, found.curves),
        *(told, ex.irt.sum_score_fit(matrix, fit.items)),
        *(ex.irt.curves(fit), ex.irt.empirical_curves(matrix, fit.abilities.ability)),
        ex.irt.agent_curves(fit.abilities, fit.items),
        *(ex.irt.dominance(matrix), ex.irt.link(fit, fit)),
        ex.irt.compare_models(matrix, ["1pl"], folds=2, rng=0),
    ]


def test_results_show_themselves_as_tables_with_names_escaped() -> None:
    for result in shown_results():
        if isinstance(result, ex.Answer):
            assert result.headline.endswith(".") and "\n" not in result.headline
            assert StoredAnswer.from_json(result.to_json()).headline == result.headline
        if hasattr(result, "_repr_html_"):
            text = result._repr_html_()
            assert "<table>" in text and "<b>task" not in text
