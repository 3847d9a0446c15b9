r"""Ability and generality on a given difficulty, which does not depend on other agents.

.. math:: P_{ji} = \operatorname{logistic}(\gamma_j s (\theta_j - b_i - e_i)), \quad
          \log \gamma_j \sim N(0, \tau^2), \quad e_i \sim N(0, \sigma_e^2)

with b given, such as the minutes that a person needs or the size of a level. Ability is the difficulty at
which an agent succeeds half of the time, in the unit of that column. Tasks of the same given difficulty
differ by e.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, bound, flag, name, number, scalar, setting
from examiner.irt.evidence import LEVEL
from examiner.irt.explained.attributes import attribute_values, is_logarithm, numbers_of
from examiner.irt.indicators.slopes import agent_unevenness, fit_slopes, line_draws
from examiner.irt.items import Floats
from examiner.irt.share_cells import share_cells, share_responses
from examiner.messages import InputError, counted, listed, shorten
from examiner.results import Attributes, ResponseMatrix, check_results
from examiner.scores import Recipe, holm
from examiner.validation import Randomness, generator, seed_of


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
    standard deviation of tasks around the given difficulty, in its unit.
    """

    kind: ClassVar[str] = "abilities-on-difficulty"

    agents: AgentsOnDifficulty
    column: str = field(metadata=setting())
    slope: float = field(
        metadata=scalar("Fall of the logit of success per unit", "1 / {answer.column}")
    )
    slope_low: float = field(metadata=scalar("Lower end of its 95 % interval"))
    slope_high: float = field(metadata=scalar("Upper end of its 95 % interval"))
    residual: float = field(
        metadata=scalar("Standard deviation of tasks around their difficulty", "{answer.column}")
    )
    deviation: float = field(metadata=scalar("Standard deviation of log generality between agents"))
    overdispersion: float = field(metadata=scalar("Variance of cells relative to chance"))
    notes: tuple[str, ...] = ()
    seed: int | None = None
    level: float = field(default=0.95, metadata=setting())

    @property
    def headline(self) -> str:
        """Whether success falls with the given difficulty, and the ability of the most able agent."""
        if self.slope_low <= 0:
            return (
                f"Success does not fall significantly with {self.column} (95 %: {-self.slope_high:.2g} to "
                f"{-self.slope_low:.2g} logits per unit): it does not measure difficulty for these agents."
            )
        first = next(iter(self.agents))
        return (
            f"{first.agent} succeeds half of the time at {self.column} = {first.ability:.3g} "
            f"(95 %: {first.ability_low:.3g} to {first.ability_high:.3g}); success falls by "
            f"{self.slope:.2g} logits per unit."
        )


def on_difficulty(
    results: Any,  # Any: results, all that `ex.read` takes, or a ResponseMatrix
    column: str,
    *,
    attributes: Attributes | None = None,
    recipe: Recipe | None = None,
    rng: Randomness = 0,
) -> AbilitiesOnDifficulty:
    """Estimate ability and generality on a difficulty that a column of tasks gives.

    Ability is in the unit of the column (`minutes`, or `log2(minutes)`, for which abilities are also shown
    in minutes), and does not depend on the other agents, except for shrinkage. `attributes` are by default
    those of the results. Tasks without a value are excluded; tasks that all agents solve are included.

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
    used = np.flatnonzero(np.isfinite(given))
    present = np.flatnonzero(matrix.observed[:, used].any(axis=1))
    if len(present) < 4 or len(used) < 8 or np.ptp(given[used]) == 0:
        raise InputError(
            f"{counted(len(present), 'agent')} on {counted(len(used), 'task')} with {shorten(column)} are "
            f"too few, or all tasks have the same. Have at least 4 agents and 8 tasks of different "
            f"{shorten(column)}."
        )
    middle, scale = float(given[used].mean()), float(given[used].std())
    difficulty = (given[used] - middle) / scale
    cells = share_cells(matrix).of_tasks(used).of_agents(present)
    tasks, agents, excess = fit_slopes(cells, difficulty)
    cells = cells.scaled(excess)
    drawn = line_draws(cells, tasks, agents, difficulty, generator(rng))
    assert tasks.line is not None, "difficulty is given"
    fall, level = np.polyfit(difficulty, tasks.line, 1)
    ability = middle - scale * (level + tasks.slope[0] * agents.mean[:, 0]) / fall
    interval = (0.025, 0.975)
    ability_low, ability_high = middle + scale * np.quantile(drawn.reached, interval, axis=0)
    flatter, steeper = np.quantile(drawn.log_slope, interval, axis=0)
    slope_low, slope_high = np.quantile(-drawn.fall, interval) / scale
    unevenness, uneven_p = agent_unevenness(cells, tasks, agents.mean)
    logarithm = is_logarithm(column)
    table = AgentsOnDifficulty(
        agent=[matrix.agents[row] for row in present],
        ability=ability,
        ability_low=ability_low,
        ability_high=ability_high,
        reach=np.exp2(ability) if logarithm else None,
        reach_low=np.exp2(ability_low) if logarithm else None,
        reach_high=np.exp2(ability_high) if logarithm else None,
        log_generality=agents.mean[:, 1],
        log_generality_low=flatter,
        log_generality_high=steeper,
        unevenness=unevenness,
        uneven=holm(uneven_p) < LEVEL,
    )
    notes = [
        "The interval of the slope is too narrow: in simulations it contains the true slope in 67 to 92 % "
        "of tables."
    ]
    unused = [matrix.tasks[task] for task in np.setdiff1d(np.arange(len(matrix.tasks)), used)]
    if unused:
        without = f"{counted(len(unused), 'task')} without {shorten(column)}"
        notes.insert(0, f"{without} excluded: {listed(unused)}.")
    return AbilitiesOnDifficulty(
        agents=table.sorted_by("ability", descending=True),
        column=column,
        slope=float(-fall / scale),
        slope_low=float(slope_low),
        slope_high=float(slope_high),
        residual=abs(float(tasks.residual / fall)) * scale,
        deviation=agents.deviation,
        overdispersion=excess,
        notes=tuple(notes),
        seed=seed_of(rng),
    )
