"""A quick fit of the two-parameter model with priors, for use inside folds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from examiner.irt import ItemParameters
from examiner.irt import fit as fit_irt
from examiner.results import ResponseMatrix
from examiner.selection.evidence import Array
from examiner.wording import InputError

NODES = 21
MOST_ITERATIONS = 200


class QuickFit(NamedTuple):
    """Curves of all tasks, flat where every agent had the same result, and abilities of all agents."""

    items: ItemParameters
    ability: Array


def quick_fit(
    success: Array, agents: Sequence[str], tasks: Sequence[str], *, lenient: bool = False
) -> QuickFit | None:
    """Fit shares of successes [agents, tasks], NaN where not observed; None where nothing can be fitted.

    One start and few nodes: the priors keep estimates from running away, and inside a fold only the
    order of tasks matters. A share of one half or more counts as a success.
    """
    won = np.where(np.isnan(success), np.nan, (success >= 0.5).astype(np.float64))
    try:
        fit = fit_irt(
            ResponseMatrix.from_array(won, list(agents), list(tasks)),
            "2pl",
            response="binomial",
            starts=1,
            nodes=NODES,
            errors=False,
            most_iterations=MOST_ITERATIONS,
        )
    except InputError:
        flat = ItemParameters.of(tasks, np.zeros(len(tasks)), np.zeros(len(tasks)))
        return QuickFit(flat, np.zeros(len(agents))) if lenient else None
    slope, intercept = np.zeros(len(tasks)), np.zeros(len(tasks))
    place = {task: number for number, task in enumerate(tasks)}
    kept = [place[task] for task in fit.items.tasks]
    slope[kept], intercept[kept] = fit.items.slope, fit.items.intercept
    ability = dict(zip(fit.abilities.agents, fit.abilities.ability.tolist(), strict=True))
    return QuickFit(
        ItemParameters.of(tasks, slope, intercept),
        np.array([ability.get(agent, 0.0) for agent in agents]),
    )
