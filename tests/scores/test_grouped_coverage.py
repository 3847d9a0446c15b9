"""A quick look at rows of `benchmarks/coverage.py`, which has hundreds of tables of each.

One row of each claim is looked at, the others with the slow tests.
"""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

PATH = Path(__file__).parents[2] / "benchmarks" / "coverage.py"
spec = importlib.util.spec_from_file_location("coverage_rows", PATH)
assert spec is not None and spec.loader is not None
coverage = importlib.util.module_from_spec(spec)
sys.modules["coverage_rows"] = coverage
spec.loader.exec_module(coverage)

ROWS = [name for name in coverage.ROWS if "130" not in name and "45" not in name]
FIRST = {name.partition(",")[0]: name for name in reversed(ROWS)}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in FIRST.values() else pytest.mark.slow) for name in ROWS],
)
def test_a_claim_holds_in_a_few_tables(name: str) -> None:
    row = coverage.ROWS[name]
    found = coverage.measured(row, tables=24)
    error = max(found.error, np.sqrt(0.05 * 0.95 / 24))
    assert row.least - 3.5 * error <= found.share <= row.most + 3.5 * error
