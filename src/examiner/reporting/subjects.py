"""Whom a report is about: its agents and tasks, the orders a reader may choose, and what tasks ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from examiner.reporting.study import Study

TEXT = "text"
"""The column of a table of tasks that holds what a task asks."""


@dataclass(frozen=True, slots=True)
class Subjects:
    """Agents and tasks by name, and orders of the agents: positions among them, the first on top.

    >>> from examiner.results import Results
    >>> study = Study.of(Results.from_numpy([[0.0, 0.5], [0.5, 1.0]], agents=["dqn", "ppo"]))
    >>> dict(Subjects.of(study).orders)["mean"]
    (1, 0)
    """

    agents: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    orders: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, study: Study) -> Subjects:
        """Gather whom a study is about."""
        results = study.results
        orders = {
            "mean": study.order.tolist(),
            "name": sorted(
                range(len(results.agents)), key=lambda row: results.agents[row].casefold()
            ),
            "as read": list(range(len(results.agents))),
        }
        if (fitted := study.made_fit) is not None:
            ability = dict(
                zip(fitted.fit.abilities.agents, fitted.fit.abilities.ability.tolist(), strict=True)
            )
            abilities = np.array([ability.get(agent, np.nan) for agent in results.agents])
            orders["ability"] = np.argsort(-abilities, kind="stable").tolist()  # NaN comes last
        kept = {name: tuple(order) for name, order in orders.items()}
        return cls(results.agents, results.tasks, kept, _texts(study))

    def places(self, of: str) -> dict[str, int]:
        """Return the positions of "agents" or "tasks" by name.

        >>> Subjects(agents=("dqn", "ppo")).places("agents")
        {'dqn': 0, 'ppo': 1}
        """
        names = self.agents if of == "agents" else self.tasks
        return {name: place for place, name in enumerate(names)}


def _texts(study: Study) -> dict[str, str]:
    results = study.results
    if TEXT not in results.task_attributes.columns:
        return {}
    values = results.task_attributes.aligned(list(results.task_names), TEXT)
    pairs = zip(results.tasks, values, strict=True)
    return {task: str(text)[:300] for task, text in pairs if text}
