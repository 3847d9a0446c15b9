"""An audit looks at a few tasks at a time, and says what it would of all at once."""

import tracemalloc

import numpy as np
import pytest

from examiner.irt.suspects import given_ability as regressions
from examiner.irt.suspects.discrimination import discrimination
from examiner.irt.suspects.given_ability import Expectations, Responses, given_ability
from examiner.results import ResponseMatrix


def _responses(agents: int, tasks: int) -> Responses:
    rng = np.random.default_rng(4)
    able = rng.normal(size=(agents, 1)) - rng.normal(size=tasks)
    table = (rng.random((agents, tasks)) < 1 / (1 + np.exp(-able))).astype(float)
    table[rng.random(table.shape) < 0.4] = np.nan
    return Responses.of(ResponseMatrix.from_array(table))


def test_blocks_of_tasks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    found = _responses(80, 50)
    whole = given_ability(found)
    slopes = discrimination(found, whole)
    monkeypatch.setattr(regressions, "BLOCK_CELLS", 7 * 80)
    parts = given_ability(found)
    for name in ("expected", "alike", "slope"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-12)
    for one, other in zip(discrimination(found, parts), slopes, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_regressions_of_all_tasks_make_few_copies_of_a_large_table() -> None:
    found = _responses(1000, 2000)
    given = given_ability(found)
    assert isinstance(given, Expectations)
    tracemalloc.start()
    given_ability(found)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6 * found.value.nbytes
