"""What a fit leaves unexplained: misfit of tasks and agents, dependent tasks, a second ability."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Scalar, Table, bound, flag, name, number, scalar
from examiner.irt.diagnostics.comparison import OverdispersionTest
from examiner.irt.diagnostics.comparison import overdispersion as overdispersion_test
from examiner.irt.diagnostics.item_fit import SumScoreTable, sum_score_fit
from examiner.irt.diagnostics.residuals import (
    DimensionCheck,
    adjusted,
    dimension_check,
    first_eigenvalue,
    largest_excess,
    mean_squares,
    minimum_p_values,
    rarely_exceeded,
    residual_correlations,
)
from examiner.irt.errors.draws import replicates as drawn_views
from examiner.irt.errors.draws import view
from examiner.irt.fitted import IRTFit
from examiner.irt.items import SCORES, Floats, positions
from examiner.messages import InputError, counted
from examiner.results import ResponseMatrix
from examiner.scores import LEVEL, Progress
from examiner.validation import Randomness, generator, seed_of

_RANGE = "95 % of what data drawn from the model give"


class TaskFit(Table):
    """How well the model describes each task, the worst first.

    `infit` weights agents by information and depends on those near the difficulty; `outfit` weights all
    equally and depends on surprises far from it. Above their range: noise, or a curve that is too steep.
    Below: responses are more orderly than the curve predicts.
    """

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


class AgentFit(Table):
    """How likely each agent's responses are at its own ability, the least likely first.

    `lz` has mean and standard deviation from responses drawn from the model for the same agent, with its
    ability estimated from each draw; those of the formula of Drasgow, Levine & Williams (1985) do not hold
    once ability is estimated. One table in twenty has any agent with unexpected responses (hard tasks
    solved and easy tasks failed) by chance.
    """

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

    The largest |Q3 − mean| of data drawn from the model exceeds `pair_cutoff` once in twenty times.
    `no_sum_scores` says why S-X² is not available. `overdispersion` is None where no cell has two trials,
    or the test was not requested. Cut-offs come from `draws` data sets drawn from the fitted model.
    """

    kind: ClassVar[str] = "diagnose"

    tasks: TaskFit
    agents: AgentFit
    pairs: DependentPairs
    dimensions: DimensionCheck
    pair_cutoff: float = field(metadata=scalar("Cut-off of Q3 beyond its mean"))
    no_sum_scores: str
    overdispersion: OverdispersionTest | None
    draws: int = field(metadata=scalar("Data sets drawn from the model for the cut-offs"))
    seed: int | None = None

    def findings(self) -> tuple[str, ...]:
        """Return what was found, one sentence each.

        >>> from examiner.irt import ItemParameters, diagnose, fit as fit_irt, simulate
        >>> items = ItemParameters.of([f"task {n}" for n in range(8)], np.ones(8), np.zeros(8))
        >>> fit = fit_irt(simulate(items, 200, rng=0), errors=False)
        >>> len(diagnose(fit, replicates=20, rng=0).findings())
        5
        """
        tasks, agents = len(self.tasks), len(self.agents)
        sentences = [
            self._sum_score_sentence(),
            f"{int(self.tasks.misfit.sum())} of {counted(tasks, 'task')} with infit or outfit outside what "
            f"the model gives (up to {0.1 * tasks:.1f} expected by chance).",
            f"{int(self.agents.unexpected.sum())} of {counted(agents, 'agent')} with unexpected responses "
            f"(one table in twenty has any by chance).",
            self._pair_sentence(),
            self._dimension_sentence(),
        ]
        if self.overdispersion is not None:
            sentences.append(self.overdispersion.headline)
        return tuple(sentences)

    def _sum_score_sentence(self) -> str:
        if self.no_sum_scores:
            return f"S-X² is not available: {self.no_sum_scores}."
        p_values = self.tasks.sum_score_p[np.isfinite(self.tasks.sum_score_p)]
        return (
            f"{int((p_values < 0.01).sum())} of {counted(len(p_values), 'task')} with p < 0.01 by S-X² "
            f"({0.01 * len(p_values):.1f} expected by chance)."
        )

    def _pair_sentence(self) -> str:
        if not len(self.pairs):
            return "No two tasks correlate beyond ability."
        strongest = self.pairs[0]
        return (
            f"{counted(len(self.pairs), 'pair')} of tasks correlate beyond ability, most "
            f"{strongest.first!r} and {strongest.second!r} (Q3 {strongest.excess:+.2f} beyond the mean)."
        )

    def _dimension_sentence(self) -> str:
        check = self.dimensions
        sizes = f"first eigenvalue {check.first:.2f}, cut-off {check.cutoff:.2f}"
        if check.one_dimension:
            return f"One ability is enough ({sizes})."
        return f"One ability is not enough ({sizes}): see {', '.join(map(repr, check.tasks[:3]))}."

    @property
    def headline(self) -> str:
        """How many tasks and agents the model does not describe, and whether one ability is enough."""
        total = len(self.tasks)
        enough = "is enough" if self.dimensions.one_dimension else "is not enough"
        return (
            f"{int(self.tasks.misfit.sum()):,} of {counted(total, 'task')} fit badly (up to "
            f"{0.1 * total:.1f} by chance); {int(self.agents.unexpected.sum()):,} of "
            f"{counted(len(self.agents), 'agent')} have unexpected responses; one ability {enough}."
        )

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """Whether one ability is enough, and whether trials of one cell correlate."""
        over = self.overdispersion
        return {
            **super(Diagnosis, self).scalars,
            "one_ability": Scalar(
                bool(self.dimensions.one_dimension), "Whether one ability is enough"
            ),
            "first_eigenvalue": Scalar(self.dimensions.first, "First eigenvalue of residuals"),
            "eigenvalue_cutoff": Scalar(self.dimensions.cutoff, "Cut-off of the first eigenvalue"),
            "overdispersion_correlation": Scalar(
                None if over is None else over.correlation, "Correlation of trials of one cell"
            ),
            "overdispersion_p_value": Scalar(
                None if over is None else over.p_value, "p-value of the test of overdispersion"
            ),
        }


def diagnose(
    fit: IRTFit,
    matrix: ResponseMatrix | None = None,
    *,
    replicates: int = 100,
    refit: bool = True,
    rng: Randomness = 0,
    overdispersion: bool = True,
    progress: Progress | None = None,
) -> Diagnosis:
    """Look for misfit of tasks and agents, dependence between tasks, and more than one ability.

    S-X², infit and outfit, agent fit, Q3, the largest eigenvalue of residuals and, where cells have
    several trials, a test of overdispersion. Cut-offs come from `replicates` data sets drawn from
    the fitted model with the same cells and trials, each agent's ability from its own posterior. Each is
    fitted again (one start), since estimates fit their own data better than the truth does.
    `refit=False` takes the parameters as known, which is faster and less accurate. `matrix` is needed only
    for a fit that was read from a file.

    >>> from examiner.irt import ItemParameters, fit as fit_irt, simulate
    >>> items = ItemParameters.of([f"task {n}" for n in range(8)], np.ones(8), np.zeros(8))
    >>> fit = fit_irt(simulate(items, 200, rng=1), errors=False)
    >>> diagnose(fit, replicates=20, rng=0).dimensions.one_dimension
    True
    """
    data = _data(fit, matrix)
    if replicates < 20:
        raise InputError(
            f"{replicates} replicates are asked for. Give at least 20: cut-offs are their percentiles."
        )
    drawing = generator(rng)
    observed = view(data, fit)
    correlations = residual_correlations(observed.residuals)
    squares, heights, excesses, eigenvalues = [], [], [], []
    for drawn in drawn_views(
        data, fit, observed, count=replicates, rng=drawing, refit=refit, progress=progress
    ):
        drawn_correlations = residual_correlations(drawn.residuals)
        squares.append(mean_squares(drawn.residuals))
        heights.append(drawn.log_likelihood)
        excesses.append(largest_excess(drawn_correlations))
        eigenvalues.append(first_eigenvalue(drawn_correlations))
    of_task, shared = divmod(fit.parameters, len(fit.items))  # estimated numbers behind a curve
    sums = sum_score_fit(
        data,
        fit.items,
        parameters=of_task + shared,
        population_sd=fit.population_sd,
        nodes=fit.quadrature,
    ).tasks
    cutoff = rarely_exceeded(np.array(excesses))
    several = data.is_counts and fit.items.response not in SCORES and int(data.trials.max()) > 1
    return Diagnosis(
        tasks=_task_fit(mean_squares(observed.residuals), np.array(squares), sums),
        agents=agent_fit(
            data.agents,
            observed.log_likelihood,
            np.array(heights),
            mean_squares(observed.residuals, axis=1),
        ),
        pairs=_dependent_pairs(fit.items.tasks, correlations, cutoff),
        dimensions=dimension_check(fit.items.tasks, correlations, np.array(eigenvalues)),
        pair_cutoff=cutoff,
        no_sum_scores="" if np.isfinite(sums.p_value).any() else sums.reason[0],
        overdispersion=overdispersion_test(data, fit.model, rng=drawing)
        if several and overdispersion
        else None,
        draws=replicates,
        seed=seed_of(rng),
    )


def _data(fit: IRTFit, matrix: ResponseMatrix | None) -> ResponseMatrix:
    given = fit.matrix if matrix is None else matrix
    if given is None:
        raise InputError(
            "This fit was read from a file and has no responses. Give them: `diagnose(fit, matrix)`."
        )
    columns = positions(given.tasks, fit.items.tasks)
    missing = [task for task, column in zip(fit.items.tasks, columns, strict=True) if column < 0]
    if missing:
        raise InputError(
            f"The responses lack {counted(len(missing), 'task')} of the fit, {missing[0]!r} first. "
            f"Give the responses that were fitted."
        )
    return given if given.tasks == fit.items.tasks else given.take(tasks=columns.tolist())


def _task_fit(squares: tuple[Floats, Floats], drawn: Floats, sums: SumScoreTable) -> TaskFit:
    """Compare infit and outfit with those of draws, [draws, 2, tasks]."""
    infit, outfit = squares
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    with np.errstate(invalid="ignore"):
        inside = ((squares >= low) & (squares <= high)).all(axis=0)
    misfit = ~inside & np.isfinite(infit)
    distance = np.nan_to_num(np.abs(np.log(np.maximum(outfit, 1e-9))))
    table = TaskFit(
        task=sums.task,
        infit=infit,
        infit_low=low[0],
        infit_high=high[0],
        outfit=outfit,
        outfit_low=low[1],
        outfit_high=high[1],
        sum_score_p=sums.p_value,
        rmsea=sums.rmsea,
        misfit=misfit,
        caption="Tasks, the worst fit first",
    )
    return table.take(np.lexsort((-distance, ~misfit)))


def agent_fit(
    agents: tuple[str, ...],
    log_likelihood: Floats,
    drawn: Floats,
    squares: tuple[Floats, Floats],
) -> AgentFit:
    """Compare each agent's log-likelihood with draws [draws, agents]."""
    spread = drawn.std(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        lz = np.where(spread > 0, (log_likelihood - drawn.mean(axis=0)) / spread, np.nan)
    slack = 1e-9 * (1 + np.abs(log_likelihood))
    adjusted_p = minimum_p_values(log_likelihood, drawn)
    with np.errstate(invalid="ignore"):
        unexpected = adjusted_p <= LEVEL + 1e-12
    table = AgentFit(
        agent=agents,
        lz=lz,
        p_value=(1 + (drawn <= log_likelihood + slack).sum(axis=0)) / (1 + drawn.shape[0]),
        adjusted_p_value=adjusted_p,
        infit=squares[0],
        outfit=squares[1],
        unexpected=unexpected,
        caption="Agents, the most unusual responses first",
    )
    return table.take(np.argsort(lz, kind="stable"))


def _dependent_pairs(tasks: tuple[str, ...], correlations: Floats, cutoff: float) -> DependentPairs:
    """Return which pairs have Q3 beyond a cut-off, the largest first."""
    excess, _ = adjusted(correlations)
    with np.errstate(invalid="ignore"):
        rows, columns = np.nonzero(np.abs(excess) > cutoff)
    order = np.argsort(-np.abs(excess[rows, columns]), kind="stable")
    return DependentPairs(
        first=[tasks[rows[pair]] for pair in order],
        second=[tasks[columns[pair]] for pair in order],
        excess=excess[rows, columns][order],
        caption="Tasks that correlate beyond ability",
    )
