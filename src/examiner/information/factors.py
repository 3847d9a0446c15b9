"""Factors of a table: agents and tasks as sums of singular vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from examiner.answers import Answer, Table, name, number
from examiner.information.decomposition import standard_scores
from examiner.information.observations import oriented_means
from examiner.results import Results, reads_results
from examiner.validation import Floats


class FactorShares(Table):
    """Factors, the largest first."""

    factor: tuple[str, ...] = name("Number of the factor")
    singular_value: Floats = number("Singular value")
    share: Floats = number("Share of the variation between agents")


class AgentFactors(Table):
    """Scores of agents on factors."""

    agent: tuple[str, ...] = name("Agent")
    factor: tuple[str, ...] = name("Number of the factor")
    score: Floats = number("Score of the agent on the factor")


class FactorLoadings(Table):
    """Loadings of tasks on factors."""

    task: tuple[str, ...] = name("Task")
    factor: tuple[str, ...] = name("Number of the factor")
    loading: Floats = number("Loading of the task on the factor")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TaskFactors(Answer):
    """The table as a sum of factors, the largest first.

    `agents_on` has shape [agents, factors], `tasks_on` [tasks, factors]; `share` is each factor's share
    of the variation between agents, shape [factors].
    """

    kind = "factors"

    agent_names: tuple[str, ...]
    task_names: tuple[str, ...]
    agents_on: Floats
    tasks_on: Floats
    singular_values: Floats
    share: Floats

    @property
    def headline(self) -> str:
        """How much the first factor explains."""
        return f"One factor explains {100 * self.share[0]:.0f} % of the differences between agents."

    @property
    def tables(self) -> Mapping[str, Table]:
        """Factors, and the agents and tasks on them."""
        numbers = [str(number + 1) for number in range(len(self.share))]
        agents, tasks = (np.repeat(n, len(numbers)) for n in (self.agent_names, self.task_names))
        factors = FactorShares(
            factor=numbers, singular_value=self.singular_values, share=self.share
        )
        of_agents, of_tasks = (numbers * len(n) for n in (self.agent_names, self.task_names))
        return {
            "factors": factors,
            "agents": AgentFactors(agent=agents, factor=of_agents, score=self.agents_on.ravel()),
            "tasks": FactorLoadings(task=tasks, factor=of_tasks, loading=self.tasks_on.ravel()),
        }


@reads_results
def factors(results: Results, measure: str | None = None) -> TaskFactors:
    r"""Decompose the table into factors: Z = U diag(s) Vᵀ.

    Z holds the cell means with each task standardised over agents, 0 where nothing was observed.
    `agents_on` is U diag(s) and `tasks_on` is V; a share is :math:`s_f^2 / \sum s^2`, the eigenvalue of
    the tasks' correlation matrix over their number. Signs are such that most tasks have a positive loading.

    >>> factors = factors(Results.from_numpy([[1.0, 2.0, 4.0], [2.0, 4.0, 8.0], [3.0, 6.0, 12.0]]))
    >>> factors.share[:1].round(6)
    array([1.])
    """
    scores = np.nan_to_num(standard_scores(oriented_means(results, measure)))
    left, values, right = np.linalg.svd(scores, full_matrices=False)
    sign = np.where(right.sum(axis=1) < 0, -1.0, 1.0)
    total = float((values**2).sum())
    share = values**2 / total if total > 0 else np.full(len(values), np.nan)
    return TaskFactors(
        results.agents, results.tasks, left * values * sign, (right.T * sign), values, share
    )
