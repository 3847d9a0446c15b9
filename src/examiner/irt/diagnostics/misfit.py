"""What a diagnosis returns: tasks and agents that the model does not describe, and dependent tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Scalar, Table, bound, flag, name, number
from examiner.irt.diagnostics.comparison import OverdispersionTest
from examiner.irt.diagnostics.dependence import DimensionCheck, LocalDependence
from examiner.irt.diagnostics.item_fit import SumScoreFit
from examiner.irt.diagnostics.residuals import AgentFit, MeanSquareFit
from examiner.irt.items import Floats
from examiner.messages import counted

_RARE = 0.01
_RANGE = "95 % of what data drawn from the model give"


class TaskFit(Table):
    """How well the model describes each task, the worst first."""

    task: tuple[str, ...] = name("Task")
    infit: Floats = number(
        "Mean squared residual near the task's difficulty; 1 where the model fits"
    )
    infit_low: Floats = bound("infit", "low", _RANGE)
    infit_high: Floats = bound("infit", "high", _RANGE)
    outfit: Floats = number("Mean squared residual over all agents; 1 where the model fits")
    outfit_low: Floats = bound("outfit", "low", _RANGE)
    outfit_high: Floats = bound("outfit", "high", _RANGE)
    sum_score_p: Floats = number("p-value of S-X²", title="p by S-X²")
    rmsea: Floats = number("Size of the misfit by S-X²")
    misfit: NDArray[np.bool_] = flag(
        "Whether infit or outfit is outside its range", title="fits badly"
    )


class AgentFitTable(Table):
    """How well the model describes each agent, the least likely responses first."""

    agent: tuple[str, ...] = name("Agent")
    lz: Floats = number("Log-likelihood of the responses, in standard deviations of draws")
    p_value: Floats = number("Share of draws at most as likely", title="p")
    adjusted_p_value: Floats = number(
        "Share of tables drawn with any agent this unlikely", title="adjusted p"
    )
    infit: Floats = number("Mean squared residual, weighted by information")
    outfit: Floats = number("Mean squared residual")
    unexpected: NDArray[np.bool_] = flag("Whether the responses are unexpected (adjusted p ≤ 0.05)")


class DependentPairs(Table):
    """Pairs of tasks that correlate beyond ability, the strongest first."""

    first: tuple[str, ...] = name("Task", title="task")
    second: tuple[str, ...] = name("The other task", title="and")
    excess: Floats = number("Q3 less its mean over all pairs", title="beyond the mean")


@dataclass(frozen=True, slots=True, repr=False)
class Diagnosis(Answer):
    """What a fit leaves unexplained: by task, by agent, by pair of tasks, and as a whole.

    `overdispersion` is None where no cell has two trials, or the test was not asked for. Cut-offs
    come from `draws` data sets drawn from the fitted model.
    """

    kind: ClassVar[str] = "diagnose"

    sum_scores: SumScoreFit
    mean_squares: MeanSquareFit
    agents: AgentFit
    dependence: LocalDependence
    dimensions: DimensionCheck
    overdispersion: OverdispersionTest | None
    draws: int
    seed: int | None = None

    def findings(self) -> tuple[str, ...]:
        """Return what was found, one sentence each.

        >>> from examiner.irt import ItemParameters, diagnose, fit as fit_irt, simulate
        >>> items = ItemParameters.of([f"task {n}" for n in range(8)], np.ones(8), np.zeros(8))
        >>> fit = fit_irt(simulate(items, 200, rng=0), errors=False)
        >>> len(diagnose(fit, replicates=20, rng=0).findings())
        5
        """
        odd_tasks, tasks = int(self.mean_squares.misfit.sum()), len(self.mean_squares.tasks)
        odd_agents, agents = int(self.agents.odd.sum()), len(self.agents.agents)
        sentences = [
            self._sum_score_words(),
            f"{odd_tasks} of {counted(tasks, 'task')} with infit or outfit outside what the model "
            f"gives (up to {0.1 * tasks:.1f} expected by chance).",
            f"{odd_agents} of {counted(agents, 'agent')} with unexpected responses "
            f"(one table in twenty has any by chance).",
            self._pair_words(),
            self._dimension_words(),
        ]
        if self.overdispersion is not None:
            test = self.overdispersion
            sentences.append(
                f"Trials of one cell correlate by {test.correlation:.3f} beyond the curve "
                f"(p = {test.p_value:.2g})."
            )
        return tuple(sentences)

    def _sum_score_words(self) -> str:
        known = np.isfinite(self.sum_scores.p_value)
        if not known.any():
            return f"S-X² is not available: {self.sum_scores.reasons[0]}."
        low = int((self.sum_scores.p_value[known] < _RARE).sum())
        return (
            f"{low} of {counted(int(known.sum()), 'task')} with p < {_RARE:g} by S-X² "
            f"({_RARE * known.sum():.1f} expected by chance)."
        )

    def _pair_words(self) -> str:
        pairs = self.dependence.pairs
        if not pairs:
            return "No two tasks correlate beyond ability."
        first = pairs[0]
        return (
            f"{counted(len(pairs), 'pair')} of tasks correlate beyond ability, most "
            f"{first.first!r} and {first.second!r} (Q3 {first.excess:+.2f} beyond the mean)."
        )

    def _dimension_words(self) -> str:
        check = self.dimensions
        sizes = f"first eigenvalue {check.first:.2f}, cut-off {check.cutoff:.2f}"
        if check.one_dimension:
            return f"One ability is enough ({sizes})."
        return f"One ability is not enough ({sizes}): see {', '.join(map(repr, check.tasks[:3]))}."

    @property
    def headline(self) -> str:
        """How many tasks and agents the model does not describe, and whether one ability is enough."""
        misfit, total = int(self.mean_squares.misfit.sum()), len(self.mean_squares.tasks)
        enough = "is enough" if self.dimensions.one_dimension else "is not enough"
        return (
            f"{misfit:,} of {counted(total, 'task')} fit badly (up to {0.1 * total:.1f} by chance); "
            f"{int(self.agents.odd.sum()):,} of {counted(len(self.agents.agents), 'agent')} have "
            f"unexpected responses; one ability {enough}."
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """Tasks and agents, the worst fit first, and pairs of tasks that correlate beyond ability."""
        pairs = DependentPairs.from_rows(pair._asdict() for pair in self.dependence.pairs)
        return {"tasks": self._tasks(), "agents": self._agents(), "pairs": pairs}

    def _tasks(self) -> TaskFit:
        squares, sums = self.mean_squares, self.sum_scores
        distance = np.nan_to_num(np.abs(np.log(np.maximum(squares.outfit, 1e-9))))
        order = np.lexsort((-distance, ~squares.misfit))
        table = TaskFit(
            task=squares.tasks,
            infit=squares.infit,
            infit_low=squares.infit_low,
            infit_high=squares.infit_high,
            outfit=squares.outfit,
            outfit_low=squares.outfit_low,
            outfit_high=squares.outfit_high,
            sum_score_p=sums.p_value,
            rmsea=sums.rmsea,
            misfit=squares.misfit,
        )
        return table.take(order)

    def _agents(self) -> AgentFitTable:
        fit = self.agents
        table = AgentFitTable(
            agent=fit.agents,
            lz=fit.lz,
            p_value=fit.p_value,
            adjusted_p_value=fit.adjusted,
            infit=fit.infit,
            outfit=fit.outfit,
            unexpected=fit.odd,
        )
        return table.take(np.argsort(fit.lz, kind="stable"))

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """Whether one ability is enough, and whether trials of one cell correlate."""
        over = self.overdispersion
        return {
            "one_ability": Scalar(
                bool(self.dimensions.one_dimension), "Whether one ability is enough"
            ),
            "first_eigenvalue": Scalar(self.dimensions.first, "First eigenvalue of residuals"),
            "eigenvalue_cutoff": Scalar(self.dimensions.cutoff, "Cut-off of the first eigenvalue"),
            "pair_cutoff": Scalar(self.dependence.cutoff, "Cut-off of Q3 beyond its mean"),
            "overdispersion_correlation": Scalar(
                None if over is None else over.correlation, "Correlation of trials of one cell"
            ),
            "overdispersion_p_value": Scalar(
                None if over is None else over.p_value, "p-value of the test of overdispersion"
            ),
            "draws": Scalar(self.draws, "Data sets drawn from the model for the cut-offs"),
        }

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """The seed of the draws."""
        return {"seed": self.seed}
