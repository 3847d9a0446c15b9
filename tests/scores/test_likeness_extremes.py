"""Correlations of tables whose numbers differ by hundreds of orders of magnitude."""

import numpy as np

from examiner.scores import correlate_columns


def test_one_far_value_beside_tiny_ones_overflows_nothing() -> None:
    tiny = np.array([0.0, 1e-200, 2e-200, 3e-200, 1.0])
    other = np.array([1.0, 2.0, 3.0, np.nan, 5.0])
    found, pairs = correlate_columns(np.column_stack([tiny, other]))
    expected = np.corrcoef(tiny[[0, 1, 2, 4]], other[[0, 1, 2, 4]])[0, 1]
    assert pairs[0, 1] == 4
    np.testing.assert_allclose(found[0, 1], expected)
