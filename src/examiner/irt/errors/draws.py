"""Resampled responses: the misfit expected of a true fit, and errors of tasks from fitting again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple, get_args

import numpy as np

from examiner.answers import Answer, Table, name, number
from examiner.irt.diagnostics.residuals import Residuals, residuals
from examiner.irt.errors.intervals import allowing_equal_abilities
from examiner.irt.estimation.kernels import kernel_for
from examiner.irt.fit import fit_again, shown
from examiner.irt.fitted import IRTFit, TaskErrors
from examiner.irt.items import Floats, ItemParameters, curves, positions
from examiner.irt.models import MODELS
from examiner.irt.posterior import drawn_abilities, posterior_blocks
from examiner.irt.simulate import simulate
from examiner.messages import InputError, counted
from examiner.results import ResponseMatrix, order_of_matrix
from examiner.scores import Progress
from examiner.validation import Randomness, check_known, generator, seed_of

Resampling = Literal["agents", "responses"]
_FEWEST = 20
"""Fits to resampled data: fewer say nothing of the ends of a 95 % interval."""
_READ = ("slope", "intercept", "guessing", "ceiling", "precision")


class View(NamedTuple):
    """Responses as an examiner sees them: posterior means, log f(x | mean) of agents, residuals."""

    ability: Floats
    weights: Floats
    log_likelihood: Floats
    residuals: Residuals


def view(matrix: ResponseMatrix, fit: IRTFit) -> View:
    """Place the agents of a matrix by EAP under a fit's parameters, and take what is left over."""
    items, rule, sd = fit.items, fit.quadrature, fit.population_sd
    weights = np.empty((len(matrix.agents), len(rule)))
    ability, height = np.empty((2, len(matrix.agents)))
    kernel = kernel_for(items.response, matrix, items)
    for block, _, block_weights in posterior_blocks(matrix, items, rule, population_sd=sd):
        weights[block.rows] = block_weights
        ability[block.rows] = sd * (block_weights @ rule.nodes)
        terms = kernel.terms(curves(items, ability[block.rows]), items.precision)
        height[block.rows] = block.constant + sum(
            (data * term.T).sum(axis=1) for data, term in zip(block.statistics, terms, strict=True)
        )
    return View(ability, weights, height, residuals(matrix, items, ability))


def replicates(
    matrix: ResponseMatrix,
    fit: IRTFit,
    seen: View,
    *,
    count: int,
    rng: np.random.Generator,
    refit: bool,
    progress: Progress | None = None,
) -> Iterator[View]:
    """Yield `count` views of responses drawn from the fit, with the cells and trials of the matrix.

    Each agent's ability is drawn from its own posterior. With `refit` task parameters are estimated
    anew from each draw, since estimates fit their own data better than the truth does; without it
    they are taken as known. Draws are made in an order by content, whatever the names.
    """
    order = order_of_matrix(matrix)
    agents, tasks = (part.tolist() for part in order)
    ordered, back = matrix.take(agents, tasks), [np.argsort(part).tolist() for part in order]
    model = replace(fit, items=fit.items.named(ordered.tasks))
    for child in shown(rng.spawn(count), "simulating", progress):
        random = child.random((2, len(agents))).T
        drawn = drawn_abilities(seen.weights[agents], fit.quadrature.nodes, random)
        simulated = _simulated(model, ordered, fit.population_sd * drawn, child).take(*back)
        yield view(simulated, _fitted_again(fit, simulated) if refit else fit)


def _simulated(
    fit: IRTFit, matrix: ResponseMatrix, ability: Floats, rng: np.random.Generator
) -> ResponseMatrix:
    """Responses of the model with the cells and trials of a matrix."""
    trials = matrix.trials if matrix.is_counts else matrix.observed.astype(np.int64)
    return simulate(fit.items, ability, trials=trials, rng=rng, agents=matrix.agents)


def _fitted_again(fit: IRTFit, drawn: ResponseMatrix) -> IRTFit:
    """The same fit to other responses; tasks it cannot fit (constant draws) keep their parameters."""
    try:
        refitted = fit_again(fit, drawn)
    except InputError:  # a draw with nothing left to fit
        return fit
    new = _on_the_old_tasks(fit.items, refitted.items)
    kept = {
        name: np.where(np.isnan(part), getattr(fit.items, name), part)
        for name, part in new.items()
        if getattr(fit.items, name) is not None
    }
    if refitted.items.cuts is not None:  # all tasks share them
        kept["cuts"] = np.tile(refitted.items.cuts[:1], (len(fit.items), 1))
    items = replace(fit.items, **kept)  # type: ignore[arg-type]
    return replace(fit, items=items, population_sd=refitted.population_sd)


class ResampledTasks(Table):
    """Standard errors and intervals of task parameters from resampled fits."""

    task: tuple[str, ...] = name("Task")
    difficulty: Floats = number("Standard error of difficulty", unit="logits")
    difficulty_low: Floats = number("Low end of the 95 % interval of difficulty", unit="logits")
    difficulty_high: Floats = number("High end of the 95 % interval of difficulty", unit="logits")
    discrimination: Floats = number("Standard error of discrimination")
    discrimination_low: Floats = number("Low end of the 95 % interval of discrimination")
    discrimination_high: Floats = number("High end of the 95 % interval of discrimination")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ResampledErrors(Answer):
    """Errors of task parameters from fits to resampled data: `errors` has all of them as arrays."""

    kind: ClassVar[str] = "resampled-errors"

    tasks: tuple[str, ...]
    errors: TaskErrors
    settings: Mapping[str, str | int | None]

    @property
    def headline(self) -> str:
        """How large the error of a difficulty is."""
        errors = self.errors.difficulty[np.isfinite(self.errors.difficulty)]
        tasks = counted(len(self.tasks), "task")
        if not errors.size:
            return f"The errors of {tasks} are not known ({self.errors.method})."
        return (
            f"The median standard error of the difficulty of {tasks} is {np.median(errors):.2f} "
            f"({self.errors.method})."
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """Errors and intervals, task by task."""
        errors = self.errors
        table = ResampledTasks(
            task=self.tasks,
            difficulty=errors.difficulty,
            difficulty_low=errors.difficulty_low,
            difficulty_high=errors.difficulty_high,
            discrimination=errors.slope,
            discrimination_low=errors.slope_low,
            discrimination_high=errors.slope_high,
        )
        return {"tasks": table}


def bootstrap(
    fit: IRTFit,
    *,
    resample: Resampling = "agents",
    replicates: int = 200,
    rng: Randomness = 0,
    refit: Callable[[ResponseMatrix], ItemParameters] | None = None,
    progress: Progress | None = None,
) -> ResampledErrors:
    """Return errors of task parameters from fits to resampled data, with percentile intervals.

    `agents`: agents are drawn with replacement, so that nothing is assumed of their abilities.
    `responses`: abilities and responses are drawn from the fitted model, with the same cells and
    trials. `refit` turns responses into task parameters; by default the model is fitted as before,
    from one start. A fit that points the other way is turned. A task that a draw leaves without
    variation is left out of that draw; with fewer than half the draws its errors are NaN. Where a
    slope's interval contains 0, that of difficulty is unbounded.

    References: Efron & Tibshirani (1993), chapters 6 and 13.

    >>> from examiner.irt import fit as fit_irt, simulate
    >>> items = ItemParameters.of([f"task {n}" for n in range(6)], np.ones(6), np.zeros(6))
    >>> fit = fit_irt(simulate(items, 300, rng=0), errors=False)
    >>> errors = bootstrap(fit, replicates=20, rng=0)
    >>> bool((errors["task 0"].discrimination > 0.05) and (errors["task 0"].discrimination < 0.5))
    True
    """
    matrix = fit.matrix
    if matrix is None:
        raise InputError(
            "This fit was read from a file and has no responses to resample. Fit again."
        )
    check_known("resampling", resample, get_args(Resampling))
    if replicates < _FEWEST:
        raise InputError(f"{replicates} replicates are asked for. Give at least {_FEWEST}.")
    estimates: dict[str, list[Floats]] = {name: [] for name in _READ}
    for child in shown(generator(rng).spawn(replicates), "resampling", progress):
        drawn = _drawn(fit, matrix, resample, child)
        try:
            items = fit_again(fit, drawn).items if refit is None else refit(drawn)
        except InputError:  # nothing left to fit in this draw
            continue
        for parameter, values in _on_the_old_tasks(fit.items, items).items():
            estimates[parameter].append(values)
    errors = _errors(fit, estimates, f"bootstrap over {resample}, {len(estimates['slope'])} fits")
    settings = {"resample": resample, "replicates": replicates, "seed": seed_of(rng)}
    return ResampledErrors(fit.items.tasks, errors, settings)


def _drawn(
    fit: IRTFit, matrix: ResponseMatrix, resample: Resampling, rng: np.random.Generator
) -> ResponseMatrix:
    agents = len(matrix.agents)
    if resample == "agents":
        chosen = rng.integers(0, agents, agents)
        names = [f"draw {n + 1}" for n in range(agents)]
        if matrix.is_counts:
            return ResponseMatrix.from_counts(
                matrix.successes[chosen], matrix.trials[chosen], names, matrix.tasks
            )
        return ResponseMatrix.from_array(matrix.to_numpy()[chosen], names, matrix.tasks)
    return _simulated(fit, matrix, fit.population_sd * rng.standard_normal(agents), rng)


def _on_the_old_tasks(old: ItemParameters, new: ItemParameters) -> dict[str, Floats]:
    """Parameters of a refit in the order of the fit, turned to point its way, NaN for tasks left out."""
    chosen = positions(new.tasks, old.tasks)
    fitted = chosen >= 0
    turned = float(new.slope[chosen[fitted]] @ old.slope[fitted]) < 0
    unknown = np.full(len(new), np.nan)
    values = {
        "slope": -new.slope if turned else new.slope,
        "intercept": new.intercept,
        "guessing": new.guessing,
        "ceiling": new.ceiling,
        "precision": unknown if new.precision is None else new.precision,
    }
    return {name: np.where(fitted, value[chosen], np.nan) for name, value in values.items()}


def _errors(fit: IRTFit, estimates: dict[str, list[Floats]], method: str) -> TaskErrors:
    if len(estimates["slope"]) < _FEWEST // 2:
        raise InputError(
            f"Only {len(estimates['slope'])} of the resampled data sets could be fitted. "
            f"Give more agents, or use the errors of the fit."
        )
    drawn = {name: np.array(values) for name, values in estimates.items()}
    counts = np.isfinite(drawn["slope"]).sum(axis=0)
    enough = counts >= max(_FEWEST // 2, len(estimates["slope"]) // 2)
    slope, intercept = drawn["slope"], drawn["intercept"]
    with np.errstate(divide="ignore", invalid="ignore"):
        difficulty = -intercept / slope
    ends = np.full((4, len(enough)), np.nan)
    ends[:2, enough] = np.nanquantile(slope[:, enough], [0.025, 0.975], axis=0)
    ends[2:, enough] = np.nanquantile(difficulty[:, enough], [0.025, 0.975], axis=0)
    crosses = enough & (ends[0] <= 0) & (ends[1] >= 0)
    ends[2, crosses], ends[3, crosses] = -np.inf, np.inf
    lost = np.where(enough, 0.0, np.nan)
    errors = TaskErrors(
        slope=_sd(slope) + lost,
        intercept=_sd(intercept) + lost,
        covariance=_covariance(slope, intercept) + lost,
        difficulty=np.where(crosses, np.nan, _sd(difficulty) + lost),
        guessing=_sd(drawn["guessing"]) + lost,
        ceiling=_sd(drawn["ceiling"]) + lost,
        precision=_sd(drawn["precision"]) + lost,
        slope_low=ends[0],
        slope_high=ends[1],
        difficulty_low=ends[2],
        difficulty_high=ends[3],
        method=method,
    )
    alike = fit.evidence is not None and not fit.evidence.abilities_differ
    if alike and not MODELS[fit.model].unit_slopes:
        return allowing_equal_abilities(fit.items.slope, errors)
    return errors


def _covariance(first: Floats, second: Floats) -> Floats:
    """Covariances over the draws [draws, tasks] in which both are finite; NaN where fewer than two are."""
    both = np.isfinite(first) & np.isfinite(second)
    count = both.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        x, y = (
            np.where(both, part - np.where(both, part, 0.0).sum(axis=0) / count, 0.0)
            for part in (first, second)
        )
        return np.where(count > 1, (x * y).sum(axis=0) / (count - 1), np.nan)


def _sd(values: Floats) -> Floats:
    return np.sqrt(_covariance(values, values))
