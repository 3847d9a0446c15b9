"""Successes and trials of agents on tasks, from results, successes or scores between 0 and 1."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.items import Floats
from examiner.messages import InputError
from examiner.results import ResponseMatrix, check_results
from examiner.scores import Recipe


class ShareCells(NamedTuple):
    """Successes and trials, [agents, tasks]; a cell without trials was not observed.

    `least` is the smallest variance that cells can have relative to coins: 1 for several trials per cell,
    None for single ones, which vary exactly so, and less for scores, which vary less.
    """

    won: Floats
    trials: Floats
    least: float | None = None

    def scaled(self, excess: float) -> ShareCells:
        """Return as many trials as those with a variance of `excess` times the binomial count for."""
        return self._replace(won=self.won / excess, trials=self.trials / excess)

    def of_tasks(self, tasks: NDArray[Any]) -> ShareCells:
        """Return the cells of some tasks."""
        return self._replace(won=self.won[:, tasks], trials=self.trials[:, tasks])

    def of_agents(self, agents: NDArray[Any]) -> ShareCells:
        """Return the cells of some agents."""
        return self._replace(won=self.won[agents], trials=self.trials[agents])


def share_responses(
    results: Any,  # Any: results, all that `ex.read` takes, or a ResponseMatrix
    recipe: Recipe | None,
    purpose: str,
) -> ResponseMatrix:
    """Return successes of trials or scores between 0 and 1, and refuse other scores.

    >>> share_responses(ResponseMatrix.from_array([[0.0, 7.0]]), None, "Generality")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Scores are between 0 and 7. Generality needs successes, or scores \
between 0 and 1: normalise them, or define what a success is.
    """
    if isinstance(results, ResponseMatrix):
        matrix = results
    else:
        results = check_results(results)
        matrix = (Recipe() if recipe is None else recipe).learn(results).responses(results)
    if not matrix.is_counts:
        values = matrix.to_numpy()[matrix.observed]
        if values.min() < 0 or values.max() > 1:
            raise InputError(
                f"Scores are between {values.min():g} and {values.max():g}. {purpose} needs successes, or "
                f"scores between 0 and 1: normalise them, or define what a success is."
            )
    return matrix


def share_cells(matrix: ResponseMatrix) -> ShareCells:
    """Return successes and trials of each cell; a score counts as one trial.

    >>> share_cells(ResponseMatrix.from_array([[1.0, float("nan")]])).trials
    array([[1., 0.]])
    """
    trials = (matrix.trials if matrix.is_counts else matrix.observed).astype(np.float64)
    won = np.nan_to_num(matrix.to_numpy()) * trials
    least = (1.0 if float(trials.max()) > 1 else None) if matrix.is_counts else 1e-3
    return ShareCells(won, trials, least)
