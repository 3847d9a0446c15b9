"""Add to a fit what came later: everything in it stays, new agents are placed and new tasks calibrated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np

from examiner.answers import Answer, Scalar, Table, name, number
from examiner.irt.agent_posterior import (
    AbilityEstimates,
    ability_moves,
    agent_posteriors,
    response_slopes,
)
from examiner.irt.estimation.kernel_statistics import KernelStatistics
from examiner.irt.estimation.kernels import kernel_for
from examiner.irt.estimation.sources import MemorySource
from examiner.irt.fit_tables import ExcludedTasks
from examiner.irt.fitted import Dropped, IRTFit, TaskErrors
from examiner.irt.growth.calibration import Calibrated, calibrated
from examiner.irt.growth.drift import Drift, covariances, drift
from examiner.irt.growth.tails import Newcomers
from examiner.irt.items import SCORES, Floats, ItemParameters, positions
from examiner.irt.models import MODELS
from examiner.irt.place import responses_for
from examiner.irt.populations import Population, estimate_population, log_likelihoods
from examiner.irt.posterior import Quadrature, moments, posterior_blocks, posterior_weights
from examiner.messages import InputError, counted
from examiner.results import ResponseMatrix, Results
from examiner.validation import Randomness, check_known, generator

ADDED = "calibrated later, on the agents that took it"
_SPACING = 0.4
_SAME = Population()


class MovedTasks(Table):
    """Tasks of the fit that moved, the farthest first."""

    task: tuple[str, ...] = name("Task")
    shift: Floats = number("Change of difficulty by new agents", unit="logits")
    p_value: Floats = number("p-value, adjusted for all tasks (Benjamini–Hochberg)", title="p")


@dataclass(frozen=True, slots=True, repr=False)
class Grown(Answer):
    """A fit with what was added, the names of that, what was not, and whether old tasks moved."""

    kind: ClassVar[str] = "growth"

    fit: IRTFit
    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    dropped: tuple[Dropped, ...]
    drift: Drift
    known: int = 0
    """Agents that were in the fit already: their abilities stay, whatever they did since."""
    population: Population = _SAME
    """Mean and deviation of the new agents' abilities, where those of the fit are N(0, 1)."""

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
        places = {task: place for place, task in enumerate(self.drift.tasks)}
        moved = MovedTasks.from_rows(
            {
                "task": task,
                "shift": self.drift.shift[places[task]],
                "p_value": self.drift.p[places[task]],
            }
            for task in self.drift.moved
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
        """Whether tasks moved, and how many agents were known before."""
        return {
            "drift": Scalar(self.drift.sentence(), "Whether tasks of the fit moved"),
            "known_agents": Scalar(self.known, "Agents of the fit that keep their ability"),
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

    New agents are placed by what they did on tasks of the fit. New tasks are calibrated on the agents that
    took them: new ones, by all their results, and those of the fit, by the abilities it has of them
    (fixed-parameter calibration). The mean and the deviation of new agents are estimated first, from five
    agents on: later agents are often more able. Parameters of old tasks and abilities of old agents stay as
    they are; their results on old tasks are not counted again. `drift` says which old tasks new agents
    contradict.

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
    rule = Quadrature.for_items(inner, spacing=_SPACING)
    old = set(fit.abilities.agents)
    newcomers = [row for row, agent in enumerate(matrix.agents) if agent not in old]
    anchor = _known_before(fit, matrix, rule)
    population, moved = _by_old_tasks(fit, matrix, inner, (rule, anchor), newcomers, generator(rng))
    known = {*fit.items.tasks, *(task.name for task in fit.dropped)}
    fresh = [column for column, task in enumerate(matrix.tasks) if task not in known]
    added = Calibrated(None, None, ())
    if fresh:
        centre = population.mean * len(newcomers) / len(matrix.agents)
        added = calibrated(fit, inner, matrix.take(tasks=fresh), rule, anchor, centre)
    tasks = () if added.items is None else added.items.tasks
    alike = _shared_error(fit, matrix.take(newcomers), rule, population) if newcomers else None
    grown = _with_tasks(fit, added, alike)
    if newcomers:
        means = _means(matrix, newcomers)
        grown = _with_agents(grown, matrix.take(newcomers), means, rule, population)
    kept = len(matrix.agents) - len(newcomers)
    agents = tuple(matrix.agents[row] for row in newcomers)
    return Grown(grown, agents, tasks, added.dropped, moved, kept, population)


def _known_before(fit: IRTFit, matrix: ResponseMatrix, rule: Quadrature) -> Floats:
    """Log densities at nodes [agents, nodes]: of the population, or what the fit knows of its agents."""
    nodes, fitted = rule.nodes, fit.abilities
    densities = np.repeat(rule.log_weights[None], len(matrix.agents), axis=0)
    row = {agent: index for index, agent in enumerate(fitted.agents)}
    own = fitted.error if fitted.posterior is None else fitted.posterior
    for index, agent in enumerate(matrix.agents):
        if agent in row:
            mean, sd = (
                float(part[row[agent]]) / fit.population_sd for part in (fitted.ability, own)
            )
            densities[index] += 0.5 * nodes**2 - 0.5 * ((nodes - mean) / max(sd, 1e-3)) ** 2
    return densities


def _by_old_tasks(
    fit: IRTFit,
    matrix: ResponseMatrix,
    inner: ItemParameters,
    at: tuple[Quadrature, Floats],
    newcomers: list[int],
    rng: np.random.Generator,
) -> tuple[Population, Drift]:
    """Add what newcomers did on tasks of the fit to their densities, and see whether these moved.

    The population of newcomers is estimated first: later agents are often more able.
    """
    rule, anchor = at
    known = {task: column for column, task in enumerate(fit.items.tasks)}
    shared = [column for column, task in enumerate(matrix.tasks) if task in known]
    nothing = np.full(len(inner), np.nan)
    if not shared or not newcomers:
        return Population(), Drift(inner.tasks, nothing, nothing)
    part = matrix.take(newcomers, shared)
    columns = [known[task] for task in part.tasks]
    items = inner.take(columns)
    heights = log_likelihoods(part, items, rule)
    population = estimate_population(heights, rule)
    anchor[newcomers] = heights + population.log_weights(rule)
    found = MemorySource(part, items.response).summed(items, population.rule(rule))
    assert isinstance(found, KernelStatistics)
    _, weights = posterior_weights(anchor[newcomers])
    new = Newcomers(rule.nodes, weights, part.trials.astype(np.float64))
    doubt = covariances(fit.errors, fit.items, fit.population_sd)[columns]
    told = drift(found, items, doubt, new, len(fit.abilities.agents), rng)
    return population, replace(told, shift=told.shift * fit.population_sd)


def _means(matrix: ResponseMatrix, rows: list[int]) -> Floats:
    values = matrix.to_numpy()[rows]
    seen = ~np.isnan(values)
    return np.asarray(np.where(seen, values, 0.0).sum(axis=1) / np.maximum(seen.sum(axis=1), 1))


def _shared_error(
    fit: IRTFit, matrix: ResponseMatrix, rule: Quadrature, population: Population
) -> Floats | None:
    """By how much abilities of newcomers err together, along the directions of task errors and one more.

    The errors of old tasks move all newcomers alike, and so does chance in the mean of their results. New
    tasks that are calibrated on them err by as much. The unit is that in which the population is N(0, 1).
    """
    columns = positions(fit.items.tasks, matrix.tasks)
    shared = np.flatnonzero(columns >= 0)
    if fit.errors is None or not shared.size:
        return None
    sd, prior = fit.population_sd, population.rule(rule)
    covariance = fit.errors.covariance_of(fit.items).take(columns[shared])
    part, items = matrix.take(tasks=shared.tolist()), fit.items.take(columns[shared])
    kernel = kernel_for(items.response, part, items)
    slopes = response_slopes(kernel, items, sd * rule.nodes, covariance.names)
    own = [np.zeros((1, len(items))) for _ in covariance.own]
    common = [np.zeros(1) for _ in covariance.shared]
    alone = 0.0
    for block, _, weights in posterior_blocks(part, items, prior, population_sd=sd):
        ability, variance = moments(weights, sd * rule.nodes)
        centred = weights * (sd * rule.nodes - ability[:, None])
        moves = ability_moves(centred, sd * rule.nodes, block.statistics, slopes, covariance, sd)
        for total, values in zip([*own, *common], [*moves[0], *moves[1]], strict=True):
            total += values.sum(axis=0) / (sd * len(matrix.agents))
        precision = sd**2 / np.maximum(variance, 1e-9) - population.sd**-2
        alone += float((1.0 / np.maximum(precision, 0.1)).sum()) / len(matrix.agents) ** 2
    row = np.concatenate([np.stack(own, axis=2).ravel(), *common])
    along = row @ covariance.directions
    left = float(covariance.variances(row[None])[0]) - float(along @ along)
    # where the population is estimated, its mean makes up for the pull of the prior
    pull = 1.0 / max(1.0 - float(np.mean(variance)) / (sd * population.sd) ** 2, 0.2)
    return np.append(pull * along, np.sqrt(pull**2 * max(left, 0.0) + alone))


def _with_tasks(fit: IRTFit, added: Calibrated, shared_error: Floats | None) -> IRTFit:
    """The fit with new tasks behind the old ones; `shared_error` is what their difficulties share."""
    grown = replace(
        fit,
        abilities=replace(fit.abilities, joint=None),
        matrix=None,
        evidence=None,
        errors=None if fit.errors is None else replace(fit.errors, joint=None),
    )
    if added.items is None:
        return grown
    errors = None
    if fit.errors is not None:
        assert added.errors is not None
        errors = _all_errors(fit, fit.errors, added.items, added.errors, shared_error)
    return replace(
        grown,
        items=_all_tasks(fit.items, added.items),
        flags=fit.flags + tuple((ADDED,) for _ in added.items.tasks),
        errors=errors,
    )


def _with_agents(
    fit: IRTFit, matrix: ResponseMatrix, means: Floats, rule: Quadrature, population: Population
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
            part, items, population.rule(rule), covariance, population_sd=fit.population_sd
        ).estimates
        from_mean = fit.population_sd * population.error(placed.deviation / fit.population_sd)
        placed = placed._replace(error=np.hypot(placed.error, from_mean))
    together = None
    if fitted.together is not None:
        nothing = np.zeros((len(matrix.agents), fitted.together.shape[1]))
        together = np.concatenate([fitted.together, nothing])
    before = fitted.populations
    if before is None:
        before = np.tile(_SAME, (len(fitted.agents), 1))
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
    return replace(
        fit,
        abilities=abilities,
        means=None if fit.means is None else np.append(fit.means, means),
    )


def _all_tasks(old: ItemParameters, new: ItemParameters) -> ItemParameters:
    parts = {}
    for part in fields(old):
        before, after = getattr(old, part.name), getattr(new, part.name)
        parts[part.name] = before
        if isinstance(before, tuple):
            parts[part.name] = before + after
        elif isinstance(before, np.ndarray):
            parts[part.name] = np.concatenate([before, after])
    return ItemParameters.of(**parts)


def _all_errors(
    fit: IRTFit,
    old: TaskErrors,
    items: ItemParameters,
    new: TaskErrors,
    shared_error: Floats | None,
) -> TaskErrors:
    """Errors of old and new tasks, and what the new ones err by together."""
    parts: dict[str, Any] = {}  # Any: arrays of the fields that have them
    for part in fields(old):
        before, after = getattr(old, part.name), getattr(new, part.name)
        if isinstance(before, np.ndarray) and isinstance(after, np.ndarray):
            parts[part.name] = np.concatenate([before, after])
    covariance = old.covariance_of(fit.items)
    blocks = new.blocks_of(covariance.own, items)
    together = None
    if shared_error is not None:  # of the intercept −ab, where the population is N(0, 1)
        every = np.zeros((len(items), len(covariance.own), len(shared_error)))
        slope = fit.population_sd * items.slope
        every[:, covariance.own.index("intercept")] = -np.multiply.outer(slope, shared_error)
        together = every.reshape(-1, len(shared_error))
    return replace(old, **parts, parameters=covariance.with_tasks(blocks, together), joint=None)
