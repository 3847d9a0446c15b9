"""The log-likelihood of every agent at every ability, straight from a kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from examiner.irt import ItemParameters, agent_blocks, kernel_for
from examiner.irt import item_curves as curves
from examiner.results import ResponseMatrix


def log_likelihoods(
    matrix: ResponseMatrix, items: ItemParameters, abilities: NDArray[np.float64]
) -> NDArray[np.float64]:
    kernel = kernel_for(items.response, matrix)
    terms = kernel.terms(curves(items, abilities), items.precision)
    return np.concatenate([block.log_likelihoods(terms) for block in agent_blocks(matrix, kernel)])
