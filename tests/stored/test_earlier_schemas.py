"""Fits that were stored before are read, and place new agents as they did."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import examiner as ex

FOLDER = Path(__file__).parent / "schema_1"
TOLD = json.loads((FOLDER / "expected.json").read_text())


@pytest.mark.parametrize("name", TOLD["expected"])
def test_a_fit_of_schema_1_places_a_raw_newcomer_as_the_version_that_wrote_it(name: str) -> None:
    fit = ex.open(FOLDER / f"{name}.json")
    tasks = [f"t{n}" for n in range(6)]
    new = ex.Results.from_numpy(np.array([TOLD["new"]]), agents=["new"], tasks=tasks)
    expected = TOLD["expected"][name]
    np.testing.assert_allclose(fit.recipe.responses(new).to_numpy()[0], expected["responses"])
    placed = ex.irt.place(new, fit)[0]
    assert placed.ability == pytest.approx(expected["ability"], abs=1e-12)
    assert placed.error == pytest.approx(expected["error"], abs=1e-12)


@pytest.mark.parametrize(
    "part", ["scales", "standing", "beating", "normaliser", "success", "counts"]
)
@pytest.mark.parametrize("value", ["x", [[]], {"marks": 3}, {"marks": {"t1": ["x", "y"]}}])
def test_damaged_recipes_of_schema_1_are_refused_in_a_sentence(tmp_path, part, value) -> None:
    content = json.loads((FOLDER / "min-max.json").read_text())
    content["recipe"][part] = value
    (tmp_path / "fit.json").write_text(json.dumps(content))
    with pytest.raises(ex.InputError):
        fit = ex.open(tmp_path / "fit.json")
        fit.recipe.responses(ex.Results.from_numpy([[1.0]], tasks=["t1"]))


def test_a_fit_of_schema_1_takes_the_scale_that_has_what_its_normaliser_needs() -> None:
    """Each game has two scales, and only the second knows a human; 0.67296 is what wrote it said."""
    fit = ex.open(FOLDER.parent / "schema_1_two_scales.json")
    new = ex.load("atari-dqn-family").keeping("agent:noisy_dqn")
    assert ex.irt.place(new, fit)[0].ability == pytest.approx(0.6729587)
