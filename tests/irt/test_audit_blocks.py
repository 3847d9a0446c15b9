"""An audit looks at a few tasks at a time, and says what it would of all at once."""

import tracemalloc

import numpy as np
import pytest

from examiner.irt.suspects import rest_regressions as module
from examiner.irt.suspects.rest_regressions import Responses, RestRegressions, rest_regressions
from examiner.irt.suspects.task_tests import discrimination
from examiner.results import ResponseMatrix


def _responses(agents: int, tasks: int) -> Responses:
    rng = np.random.default_rng(4)
    able = rng.normal(size=(agents, 1)) - rng.normal(size=tasks)
    table = (rng.random((agents, tasks)) < 1 / (1 + np.exp(-able))).astype(float)
    table[rng.random(table.shape) < 0.4] = np.nan
    return Responses.of(ResponseMatrix.from_array(table))


def test_blocks_of_tasks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    found = _responses(80, 50)
    whole = rest_regressions(found)
    slopes = discrimination(found, whole)
    monkeypatch.setattr(module, "BLOCK_CELLS", 7 * 80)
    parts = rest_regressions(found)
    for name in ("expected", "alike", "slope"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-12)
    for one, other in zip(discrimination(found, parts), slopes, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_regressions_of_all_tasks_make_few_copies_of_a_large_table() -> None:
    found = _responses(1000, 2000)
    given = rest_regressions(found)
    assert isinstance(given, RestRegressions)
    tracemalloc.start()
    rest_regressions(found)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6 * found.value.nbytes
