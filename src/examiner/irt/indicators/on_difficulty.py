r"""Ability and generality on a difficulty that is given, so that it does not depend on other agents.

.. math:: P_{ji} = \operatorname{logistic}(\gamma_j s (\theta_j - b_i - e_i)), \quad
          \log \gamma_j \sim N(0, \tau^2), \quad e_i \sim N(0, \sigma_e^2)

with b given: the minutes a person needs, the size of a level. Ability is the difficulty at which an agent
succeeds half of the time, in the unit of that column. Tasks of the same given difficulty differ by e.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Scalar, Table, bound, flag, name, number
from examiner.irt.explained.attributes import attribute_values, is_logarithm, numbers_of
from examiner.irt.indicators.slope_fit import (
    agent_unevenness,
    fit_slopes,
    line_draws,
)
from examiner.irt.items import Floats
from examiner.irt.share_cells import share_cells, share_responses
from examiner.messages import InputError, counted, listed, shorten
from examiner.results import Attributes, ResponseMatrix, check_results
from examiner.scores import Recipe, holm
from examiner.validation import Randomness, generator

_FEWEST_AGENTS, _FEWEST_TASKS = 4, 8
_LEVEL, _ENDS = 0.05, (0.025, 0.975)


class AgentsOnDifficulty(Table):
    """Agents on a given difficulty, the most able first."""

    agent: tuple[str, ...] = name("Agent")
    ability: Floats = number("Given difficulty at which the agent succeeds half of the time")
    ability_low: Floats = bound("ability", "low")
    ability_high: Floats = bound("ability", "high")
    reach: Floats = number("The same before the logarithm", default=None)
    reach_low: Floats = bound("reach", "low", default=None)
    reach_high: Floats = bound("reach", "high", default=None)
    log_generality: Floats = number(
        "Logarithm of the slope of the agent's curve, by the average agent's"
    )
    log_generality_low: Floats = bound("log_generality", "low")
    log_generality_high: Floats = bound("log_generality", "high")
    unevenness: Floats = number("Misfit around the agent's own curve; 1 for the middle agent")
    uneven: NDArray[np.bool_] = flag("Whether the agent is significantly uneven: a specialist")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AbilitiesOnDifficulty(Answer):
    """Abilities in the unit of a given difficulty, with the generality of each agent.

    `slope` is the fall of the average agent's logit of success per unit of difficulty, and `residual` the
    standard deviation of tasks around what is given, in its unit.
    """

    kind: ClassVar[str] = "abilities-on-difficulty"

    agents: AgentsOnDifficulty
    column: str
    slope: float
    slope_low: float
    slope_high: float
    residual: float
    deviation: float
    overdispersion: float
    notes: tuple[str, ...] = ()
    seed: int | None = None

    @property
    def headline(self) -> str:
        """Whether success falls with the given difficulty, and how far the most able agent reaches."""
        if self.slope_low <= 0:
            return (
                f"Success does not fall significantly with {self.column} (95 %: {-self.slope_high:.2g} to "
                f"{-self.slope_low:.2g} logits per unit): it is no difficulty for these agents."
            )
        first = next(iter(self.agents))
        return (
            f"{first.agent} succeeds half of the time at {self.column} = {first.ability:.3g} "
            f"(95 %: {first.ability_low:.3g} to {first.ability_high:.3g}); success falls by "
            f"{self.slope:.2g} logits per unit."
        )

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """The fall of success with difficulty, and how much agents differ in generality."""
        return {
            "slope": Scalar(
                self.slope, "Fall of the logit of success per unit", f"1 / {self.column}"
            ),
            "slope_low": Scalar(self.slope_low, "Lower end of its 95 % interval"),
            "slope_high": Scalar(self.slope_high, "Upper end of its 95 % interval"),
            "residual": Scalar(
                self.residual, "Standard deviation of tasks around their difficulty", self.column
            ),
            "deviation": Scalar(
                self.deviation, "Standard deviation of log generality between agents"
            ),
            "overdispersion": Scalar(self.overdispersion, "Variance of cells relative to chance"),
        }

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """The column that is taken as difficulty, and the seed of the draws."""
        return {"column": self.column, "seed": self.seed, "level": 0.95}


def on_difficulty(
    results: Any,  # Any: results, all that `ex.read` takes, or a ResponseMatrix
    column: str,
    *,
    attributes: Attributes | None = None,
    recipe: Recipe | None = None,
    rng: Randomness = 0,
) -> AbilitiesOnDifficulty:
    """Estimate ability and generality on a difficulty that a column of tasks gives.

    Ability is in the unit of the column (`minutes`, or `log2(minutes)`, whose abilities are also shown as
    minutes), and is not moved by a change of the other agents, but for shrinkage. `attributes` are those of
    the results, if they are not given. Tasks without a value are excluded; tasks that all agents solve
    count.

    References: papers/002, section VI.

    >>> from examiner.irt import ItemParameters, simulate
    >>> minutes = np.linspace(-2, 2, 40)
    >>> items = ItemParameters.of([f"t{n}" for n in range(40)], np.full(40, 1.5), difficulty=minutes)
    >>> rows = [{"task": task, "minutes": value} for task, value in zip(items.tasks, minutes.tolist())]
    >>> about = Attributes.from_dicts("task", rows)
    >>> matrix = simulate(items, np.linspace(-1, 1, 12), rng=0)
    >>> answer = on_difficulty(matrix, "minutes", attributes=about)
    >>> bool(answer.slope_low > 0), len(answer.agents)
    (True, 12)
    """
    raw = None if isinstance(results, ResponseMatrix) else check_results(results)
    matrix = share_responses(results if raw is None else raw, recipe, "Ability on a difficulty")
    about = attributes or (Attributes() if raw is None else raw.task_attributes)
    given = numbers_of(column, attribute_values(about, [column], matrix.tasks)[column])
    known = np.flatnonzero(np.isfinite(given))
    present = np.flatnonzero(matrix.observed[:, known].any(axis=1))
    if len(present) < _FEWEST_AGENTS or len(known) < _FEWEST_TASKS or np.ptp(given[known]) == 0:
        raise InputError(
            f"{counted(len(present), 'agent')} on {counted(len(known), 'task')} with {shorten(column)} are "
            f"too few, or all tasks have the same. Have at least {_FEWEST_AGENTS} agents and "
            f"{_FEWEST_TASKS} tasks of different {shorten(column)}."
        )
    middle, scale = float(given[known].mean()), float(given[known].std())
    difficulty = (given[known] - middle) / scale
    cells = share_cells(matrix).of_tasks(known).of_agents(present)
    tasks, agents, excess = fit_slopes(cells, difficulty)
    cells = cells.scaled(excess)
    draws = list(line_draws(cells, tasks, agents, difficulty, generator(rng)))
    assert tasks.line is not None, "difficulty is given"
    fall, level = np.polyfit(difficulty, tasks.line, 1)
    reached = middle + scale * np.array([draw.reached for draw in draws])
    table = _table(
        [matrix.agents[row] for row in present],
        middle - scale * (level + tasks.slope[0] * agents.mean[:, 0]) / fall,
        reached,
        agents.mean[:, 1],
        np.array([draw.log_slope for draw in draws]),
        agent_unevenness(cells, tasks, agents.mean),
        logarithm=is_logarithm(column),
    )
    unused = np.setdiff1d(np.arange(len(matrix.tasks)), known)
    steep = np.quantile([-draw.fall for draw in draws], _ENDS) / scale
    return AbilitiesOnDifficulty(
        agents=table.sorted_by("ability", descending=True),
        column=column,
        slope=float(-fall / scale),
        slope_low=float(steep[0]),
        slope_high=float(steep[1]),
        residual=abs(float(tasks.residual / fall)) * scale,
        deviation=agents.deviation,
        overdispersion=excess,
        notes=_notes([matrix.tasks[task] for task in unused], column),
        seed=rng if isinstance(rng, int) else None,
    )


def _table(
    names: list[str],
    ability: Floats,
    drawn_abilities: Floats,
    log_generality: Floats,
    drawn_generality: Floats,
    unevenness: tuple[Floats, Floats],
    *,
    logarithm: bool,
) -> AgentsOnDifficulty:
    low, high = np.quantile(drawn_abilities, _ENDS, axis=0)
    flatter, steeper = np.quantile(drawn_generality, _ENDS, axis=0)
    reach = [np.exp2(end) if logarithm else None for end in (ability, low, high)]
    return AgentsOnDifficulty(
        agent=names,
        ability=ability,
        ability_low=low,
        ability_high=high,
        reach=reach[0],
        reach_low=reach[1],
        reach_high=reach[2],
        log_generality=log_generality,
        log_generality_low=flatter,
        log_generality_high=steeper,
        unevenness=unevenness[0],
        uneven=holm(unevenness[1]) < _LEVEL,
    )


def _notes(unused: list[str], column: str) -> tuple[str, ...]:
    narrow = (
        "The interval of the slope is too narrow: in simulations it contains the true slope in 67 to 92 % "
        "of tables."
    )
    if not unused:
        return (narrow,)
    return (
        f"{counted(len(unused), 'task')} without {shorten(column)} excluded: {listed(unused)}.",
        narrow,
    )
