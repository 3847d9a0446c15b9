"""Extend a fit: new agents are placed and new tasks calibrated, and everything in it stays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar

import numpy as np

from examiner.answers import Answer, Scalar, Table, name, number, scalar
from examiner.irt.agent_posterior import AbilityEstimates, agent_posteriors
from examiner.irt.editions import SAME, Population
from examiner.irt.estimation.kernel_statistics import KernelStatistics
from examiner.irt.estimation.sources import MemorySource
from examiner.irt.fit_responses import responses_for
from examiner.irt.fit_tables import ExcludedTasks
from examiner.irt.fitted import Dropped, IRTFit
from examiner.irt.growth.calibration import Calibrated, calibrated
from examiner.irt.growth.drift import Drift, Newcomers, covariances, drift
from examiner.irt.items import SCORES, Floats, ItemParameters, positions
from examiner.irt.models import MODELS
from examiner.irt.newcomers import with_newcomers
from examiner.irt.parameter_covariance import ParameterCovariance
from examiner.irt.populations import estimate_population, log_likelihoods
from examiner.irt.posterior import REACH, Quadrature, posterior_weights
from examiner.messages import InputError, counted
from examiner.results import ResponseMatrix, Results
from examiner.scores import ratio
from examiner.validation import Randomness, check_known, generator, read_only, seed_of

ADDED = "calibrated later, on the agents that took it"


class MovedTasks(Table):
    """Tasks of the fit that moved, the farthest first."""

    task: tuple[str, ...] = name("Task")
    shift: Floats = number("Change of difficulty by new agents", unit="logits")
    p_value: Floats = number("p-value, adjusted for all tasks (Benjamini–Hochberg)", title="p")


@dataclass(frozen=True, slots=True, repr=False)
class Grown(Answer):
    """An extended fit, the added agents and tasks, excluded tasks, and whether old tasks moved."""

    kind: ClassVar[str] = "growth"

    fit: IRTFit
    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    dropped: tuple[Dropped, ...]
    drift: Drift
    known_agents: int = field(
        default=0, metadata=scalar("Agents of the fit that keep their ability")
    )
    population: Population = SAME
    """Mean and deviation of the new agents' abilities, where those of the fit are N(0, 1)."""
    seed: int | None = None

    @property
    def headline(self) -> str:
        """How many agents and tasks were added."""
        were = ["was" if len(part) == 1 else "were" for part in (self.agents, self.tasks)]
        return (
            f"{counted(len(self.agents), 'agent')} {were[0]} placed, and "
            f"{counted(len(self.tasks), 'task')} {were[1]} calibrated."
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """New agents and tasks, tasks that moved, and tasks that could not be calibrated."""
        fit, agents, tasks = self.fit, set(self.agents), set(self.tasks)
        rows = [row for row, agent in enumerate(fit.agents.agent) if agent in agents]
        columns = [row for row, task in enumerate(fit.tasks.task) if task in tasks]
        places = [self.drift.tasks.index(task) for task in self.drift.moved]
        moved = MovedTasks(
            task=self.drift.moved, shift=self.drift.shift[places], p_value=self.drift.p[places]
        )
        excluded = ExcludedTasks.from_rows(
            {"task": task.name, "reason": task.reason} for task in self.dropped
        )
        return {
            "agents": fit.agents.take(rows),
            "tasks": fit.tasks.take(columns),
            "moved": moved,
            "excluded_tasks": excluded,
        }

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """Whether tasks moved, how many agents were in the fit before, and the new agents' population."""
        return {
            "drift": Scalar(self.drift.sentence(), "Whether tasks of the fit moved"),
            **super(Grown, self).scalars,
            "population_mean": Scalar(
                self.population.mean, "Mean ability of new agents, in deviations of the fit"
            ),
            "population_mean_error": Scalar(
                self.population.mean_error, "Standard error of that mean"
            ),
            "population_deviation": Scalar(
                self.population.sd, "Deviation of their abilities, in deviations of the fit"
            ),
        }


def grow(fit: IRTFit, results: Results | ResponseMatrix, *, rng: Randomness = 0) -> Grown:
    """Add later results to a fit of successes, without fitting again.

    New agents are placed by their results on tasks of the fit. New tasks are calibrated on the agents that
    took them: new agents with all their results, and agents of the fit with their estimated abilities
    (fixed-parameter calibration). The mean and the deviation of five or more new agents are estimated
    first, since later agents are often more able. Parameters of old tasks and abilities of old agents do
    not change, and their results on old tasks are not counted again. `drift` lists the old tasks whose
    parameters new agents contradict.

    References: Kim (2006), "A comparative study of IRT fixed parameter calibration methods".

    >>> from examiner.irt import fit as fit_irt, simulate
    >>> items = ItemParameters.of([f"task {n}" for n in range(12)], np.ones(12), np.linspace(-2, 2, 12))
    >>> table = simulate(items, 300, rng=0)
    >>> before = fit_irt(table.take(range(200), range(10)), errors=False)
    >>> after = grow(before, table.take(range(200, 300)))
    >>> after.tasks, len(after.agents), after.drift.moved
    (('task 10', 'task 11'), 100, ())
    """
    if fit.items.response in SCORES:
        raise InputError(
            f"The fit is of scores ({fit.model}), and only fits of successes grow. Fit all results again."
        )
    check_known("model", fit.model, MODELS)
    matrix = responses_for(fit, results)
    inner = fit.items.rescaled(0.0, fit.population_sd)  # where the population is N(0, 1)
    covariance = None if fit.errors is None else fit.errors.covariance_of(fit.items)
    newest = fit.abilities.newest_population
    ends = min(-REACH, newest.mean - REACH), max(REACH, newest.mean + REACH)
    rule = Quadrature.for_items(inner, spacing=0.4, ends=ends)
    old = set(fit.abilities.agents)
    newcomers = [row for row, agent in enumerate(matrix.agents) if agent not in old]
    anchor = _prior_densities(fit, matrix, rule)
    seed = seed_of(rng)
    population, moved = _by_old_tasks(
        fit, matrix, inner, (rule, anchor), newcomers, generator(seed)
    )
    fitted = {*fit.items.tasks, *(task.name for task in fit.dropped)}
    fresh = [column for column, task in enumerate(matrix.tasks) if task not in fitted]
    added = Calibrated(None, None, ())
    if fresh:
        centre = population.mean * len(newcomers) / len(matrix.agents)
        added = calibrated(fit, inner, matrix.take(tasks=fresh), rule, anchor, centre)
    tasks = () if added.items is None else added.items.tasks
    if covariance is not None and population != newest:
        columns = positions(fit.items.tasks, matrix.tasks)
        part = matrix.take(newcomers, np.flatnonzero(columns >= 0).tolist())
        columns = columns[columns >= 0]
        items = inner.take(columns)
        covariance = with_newcomers(covariance, columns, part, items, rule, population)
    share = len(newcomers) / len(matrix.agents)
    grown = _with_tasks(fit, added, covariance, population, share)
    if newcomers:
        grown = _with_agents(grown, matrix.take(newcomers), rule, population)
    kept = len(matrix.agents) - len(newcomers)
    agents = tuple(matrix.agents[row] for row in newcomers)
    return Grown(grown, agents, tasks, added.dropped, moved, kept, population, seed)


def _prior_densities(fit: IRTFit, matrix: ResponseMatrix, rule: Quadrature) -> Floats:
    """Log densities at nodes [agents, nodes]: of the population, or of the fit's agents their own."""
    nodes, fitted = rule.nodes, fit.abilities
    densities = np.repeat(rule.log_weights[None], len(matrix.agents), axis=0)
    rows = positions(fitted.agents, matrix.agents)
    old = rows >= 0
    deviation = fitted.error if fitted.posterior is None else fitted.posterior
    mean, sd = (part[rows[old], None] / fit.population_sd for part in (fitted.ability, deviation))
    densities[old] += 0.5 * nodes**2 - 0.5 * ((nodes - mean) / np.maximum(sd, 1e-3)) ** 2
    return densities


def _by_old_tasks(
    fit: IRTFit,
    matrix: ResponseMatrix,
    inner: ItemParameters,
    at: tuple[Quadrature, Floats],
    newcomers: list[int],
    rng: np.random.Generator,
) -> tuple[Population, Drift]:
    """Add the newcomers' results on tasks of the fit to their densities, and test these tasks for drift."""
    rule, anchor = at
    column_of = {task: column for column, task in enumerate(fit.items.tasks)}
    shared = [column for column, task in enumerate(matrix.tasks) if task in column_of]
    nothing = np.full(len(inner), np.nan)
    if not shared or not newcomers:
        return fit.abilities.newest_population, Drift(inner.tasks, nothing, nothing)
    part = matrix.take(newcomers, shared)
    columns = [column_of[task] for task in part.tasks]
    items = inner.take(columns)
    heights = log_likelihoods(part, items, rule)
    population = estimate_population(heights, rule, fit.abilities.newest_population)
    anchor[newcomers] = heights + population.log_weights(rule)
    expected = MemorySource(part, items.response).expected(items, population.rule(rule))
    assert isinstance(expected, KernelStatistics)
    _, weights = posterior_weights(anchor[newcomers])
    new = Newcomers(rule.nodes, weights, part.trials.astype(np.float64))
    uncertainty = covariances(fit.errors, fit.items, fit.population_sd)[columns]
    moved = drift(expected, items, uncertainty, new, len(fit.abilities.agents), rng)
    return population, replace(moved, shift=moved.shift * fit.population_sd)


def _with_tasks(
    fit: IRTFit,
    added: Calibrated,
    covariance: ParameterCovariance | None,
    population: Population,
    share: float,
) -> IRTFit:
    """The fit with new tasks behind the old ones; newcomers are a `share` of the agents that took them."""
    grown = replace(
        fit,
        abilities=replace(fit.abilities, joint=None),
        matrix=None,
        evidence=None,
        errors=None
        if fit.errors is None
        else replace(fit.errors, joint=None, parameters=covariance),
    )
    new = added.items
    if new is None:
        return grown
    items = replace(fit.items, tasks=fit.items.tasks + new.tasks, **_joined(fit.items, new))
    errors = None
    if fit.errors is not None:
        assert added.errors is not None and covariance is not None
        along = _along_population(fit, new, covariance, population, share)
        blocks = added.errors.blocks_of(covariance.own, new)
        both = covariance.with_tasks(blocks, along)
        parts = _joined(fit.errors, added.errors)
        errors = replace(fit.errors, **parts, parameters=both, joint=None)
    flags = fit.flags + ((ADDED,),) * len(new)
    return replace(grown, items=items, flags=flags, errors=errors)


def _with_agents(
    fit: IRTFit, matrix: ResponseMatrix, rule: Quadrature, population: Population
) -> IRTFit:
    """The fit with new agents behind the old ones, placed by all their results on its tasks."""
    fitted, columns = fit.abilities, positions(fit.items.tasks, matrix.tasks)
    shared = np.flatnonzero(columns >= 0)
    unknown = np.full(len(matrix.agents), fit.population_sd)
    placed = AbilityEstimates(np.zeros_like(unknown), unknown, unknown)
    if shared.size:
        items, covariance = fit.items.take(columns[shared]), None
        if fit.errors is not None:
            covariance = fit.errors.covariance_of(fit.items).take(columns[shared])
        part = matrix.take(tasks=shared.tolist())
        placed = agent_posteriors(
            part, items, rule, covariance, population_sd=fit.population_sd, population=population
        ).estimates
    together = None
    if fitted.together is not None:
        nothing = np.zeros((len(matrix.agents), fitted.together.shape[1]))
        together = np.concatenate([fitted.together, nothing])
    before = fitted.populations
    if before is None:
        before = np.tile(SAME, (len(fitted.agents), 1))
    abilities = replace(
        fitted,
        populations=np.concatenate([before, np.tile(population, (len(matrix.agents), 1))]),
        agents=fitted.agents + matrix.agents,
        ability=np.append(fitted.ability, placed.ability),
        error=np.append(fitted.error, placed.error),
        posterior=None
        if fitted.posterior is None
        else np.append(fitted.posterior, placed.deviation),
        together=together,
    )
    means = ratio(np.nansum(matrix.to_numpy(), axis=1), matrix.observed.sum(axis=1))
    return replace(
        fit,
        abilities=abilities,
        means=None if fit.means is None else np.append(fit.means, means),
    )


def _joined(old: Any, new: Any) -> dict[str, Any]:  # Any: dataclasses of one type, and their arrays
    """The arrays of both, those of the new tasks behind those of the old ones."""
    parts = {part.name: (getattr(old, part.name), getattr(new, part.name)) for part in fields(old)}
    joined = {
        name: np.concatenate(both)
        for name, both in parts.items()
        if all(isinstance(part, np.ndarray) for part in both)
    }
    read_only(*joined.values())
    return joined


def _along_population(
    fit: IRTFit,
    items: ItemParameters,
    covariance: ParameterCovariance,
    population: Population,
    share: float,
) -> Floats | None:
    """Errors of new tasks through the mean and deviation of newcomers, [tasks × parameters, directions].

    Abilities that are overestimated by e + f (θ − μ) give slopes a (1 − f) and intercepts
    d − a (e − f μ), in units of the population.
    """
    if not 0 < population.edition <= covariance.populations // 2:
        return None
    mean, log_sd = share * covariance.population_directions(population.edition)
    slope = fit.population_sd * items.slope
    moves = {"slope": -log_sd, "intercept": population.mean * log_sd - mean}
    every = np.zeros((len(items), len(covariance.own), len(mean)))
    for row, parameter in enumerate(covariance.own):
        if parameter in moves:
            every[:, row] = np.multiply.outer(slope, moves[parameter])
    return every.reshape(-1, len(mean))
