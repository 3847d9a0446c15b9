"""Answers from results: what an agent did, treated by the recipe of the fit, task by task."""

from __future__ import annotations

from typing import Any

from examiner.irt import IRTFit
from examiner.irt.newcomer import known_tasks
from examiner.results import ResponseMatrix, Results
from examiner.scores import responses
from examiner.wording import InputError, listed, shorten, unknown_name


def cell_answer(matrix: ResponseMatrix, row: int, column: int) -> Any:
    """Return a cell as an answer: (k, n), a score, or None where nothing was seen.

    >>> cell_answer(ResponseMatrix.from_array([[1, 0]]), 0, 0)
    (1, 1)
    """
    if not matrix.observed[row, column]:
        return None
    if matrix.is_counts:
        return int(matrix.successes[row, column]), int(matrix.trials[row, column])
    return float(matrix.to_numpy()[row, column])


class TableAnswers:
    """Answers of one agent from results, for `examine`.

    >>> from examiner.irt import ItemParameters, known
    >>> fit = known(ItemParameters.of(["t", "u"], [1.0, 1.0], [0.0, 0.0]))
    >>> answers = TableAnswers(fit, Results.from_numpy([[1.0, 0.0]], agents=["a"], tasks=["t", "u"]))
    >>> answers("t"), answers("strange")
    ((1, 1), None)
    """

    def __init__(self, fit: IRTFit, results: Results, agent: str | None = None) -> None:
        made = responses(results) if fit.recipe is None else fit.recipe.responses(results)
        matrix, items, notes = known_tasks(fit, made)
        if agent is None and len(matrix.agents) > 1:
            raise InputError(
                f"The results hold {listed(matrix.agents)}. Say which of them is examined: --agent NAME."
            )
        if agent is not None and agent not in matrix.agents:
            raise unknown_name("agent", agent, matrix.agents)
        self.agent = matrix.agents[0] if agent is None else agent
        self.notes = notes
        row = matrix.agents.index(self.agent)
        self._known = {
            task: cell_answer(matrix, row, column) for column, task in enumerate(items.tasks)
        }
        if all(answer is None for answer in self._known.values()):
            raise InputError(
                f"The agent {shorten(self.agent)} has no result on a task of the fit. Examine another."
            )

    def __call__(self, task: str) -> Any:
        """Return what the agent did on a task, None where it was not seen on it."""
        return self._known.get(task)
