"""Fit a model by marginal maximum likelihood, with weak priors or without."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, get_args

import numpy as np

from examiner.irt.diagnostics.flags import BOUNDARY, task_flags
from examiner.irt.errors.intervals import task_errors
from examiner.irt.estimation.em import Estimate, biserial_start, climb
from examiner.irt.estimation.exponential import ResponseSource, source_of
from examiner.irt.estimation.general import climb_generally
from examiner.irt.estimation.quadrature import Quadrature
from examiner.irt.estimation.starts import (
    continuous_start,
    general_start,
    number_of_starts,
    random_start,
)
from examiner.irt.estimation.usable_responses import Prepared, prepared
from examiner.irt.fitted import Abilities, Estimator, FitOutcome, IRTFit, Starts
from examiner.irt.items import Floats, ItemParameters, Response
from examiner.irt.model import Model, Priors
from examiner.irt.models import MODELS
from examiner.irt.parameters import Layout
from examiner.results import ResponseMatrix
from examiner.wording import InputError, counted, unknown_name

Progress = Callable[[str, int, int], None]

_QUICKLY_FLAGGED = 100_000
_FEW_AGENTS = 30
_FEW_TASKS = 5
_SPREAD = 1.1
"""Abilities that spread by more, or by less than its inverse, are on a scale of their own."""
_AGREE = 0.01
"""Objectives within 0.01 are the same optimum."""


def fit(
    matrix: ResponseMatrix,
    model: str | Model = "2pl",
    *,
    estimator: Estimator = "map",
    priors: Priors | Mapping[str, Any] | None = None,
    response: Response | None = None,
    starts: int | None = None,
    nodes: int | Quadrature | None = None,
    rng: np.random.Generator | int | None = None,
    errors: bool = True,
    most_iterations: int = 2000,
    progress: Progress | None = None,
) -> IRTFit:
    """Put tasks and agents on one scale: the maximum of the marginal likelihood, with weak priors.

    P(success) = c + (u − c) σ(aθ + d) with abilities θ ~ N(0, 1); the marginal likelihood
    Πⱼ ∫ Πᵢ f(xⱼᵢ | θ) φ(θ) dθ is maximised over the task parameters (Bock and Aitkin 1981), times
    the `priors` under `estimator="map"`. Cells that were not observed are left out of it. Slopes may
    be negative; the sign of the scale is the one with Σ a > 0. Tasks with constant results carry no
    information on their slope and are set aside.

    `model` is a name of `MODELS`; k successes of n > 1 trials are beta-binomial unless
    `response="binomial"`. `starts` is how many starts to try (by default ten for small tables, one
    for large ones: the first from correlations, the others random from `rng`); `nodes` a number of
    Gauss–Hermite nodes or a `Quadrature`, by default a grid as fine as the test is long. Standard
    errors are computed unless `errors=False`.

    References: papers/002, eq. 1 and section IV; papers/003, section 3.

    >>> from examiner.irt import ItemParameters, simulate
    >>> items = ItemParameters.of([f"task {n}" for n in range(20)], np.ones(20), np.linspace(-2, 2, 20))
    >>> made = fit(simulate(items, 100, rng=0), estimator="ml", errors=False)
    >>> made.converged
    True
    """
    chosen = _model(model)
    if estimator not in get_args(Estimator):
        raise InputError(f"The estimator is {estimator!r}. Choose 'map' or 'ml'.")
    if priors is not None and estimator == "ml":
        raise InputError("Priors are given with estimator='ml', which has none. Use 'map'.")
    weak = Priors.of(priors) if estimator == "map" else None
    rule = Quadrature.gauss_hermite(nodes) if isinstance(nodes, int) else nodes
    ready = prepared(matrix, chosen, response)
    count = number_of_starts(*ready.matrix.shape) if starts is None else starts
    if count < 1:
        raise InputError(f"{count} starts are asked for. Give at least 1.")
    generator = np.random.default_rng(0 if rng is None else rng)
    source = None
    if ready.response == "binomial" and not {"guessing", "slip"} & set(chosen.free):
        source = source_of(ready.matrix, fixed=rule is not None)
    layout = Layout.of(chosen, ready.response)
    task = _Task(ready, chosen, layout, weak, rule, most_iterations, source)
    found = []
    for number, start in enumerate(task.starts(count, generator)):
        if progress is not None:
            progress("fitting", number, count)
        found.append(task.climb(start))
    if progress is not None:
        progress("fitting", count, count)
    return _told(task, found, estimator, errors=errors)


def fit_again(made: IRTFit, matrix: ResponseMatrix) -> IRTFit:
    """Fit other responses the way a fit was made, from one start and without errors.

    >>> from examiner.irt import simulate
    >>> items = ItemParameters.of([f"task {n}" for n in range(6)], np.ones(6), np.zeros(6))
    >>> made = fit(simulate(items, 200, rng=0), "1pl", errors=False)
    >>> fit_again(made, simulate(items, 200, rng=1)).model
    '1pl'
    """
    return fit(
        matrix,
        made.model,
        estimator=made.estimator,
        priors=made.priors,
        response=made.items.response,
        starts=1,
        errors=False,
    )


def _model(model: str | Model) -> Model:
    if isinstance(model, Model):
        return model
    if model not in MODELS:
        raise unknown_name("model", model, MODELS)
    return MODELS[model]


class _Task(NamedTuple):
    """Everything that is the same for all starts."""

    ready: Prepared
    model: Model
    layout: Layout
    priors: Priors | None
    rule: Quadrature | None
    most: int
    source: ResponseSource | None
    """The fast E-step of exponential families, where it serves."""

    @property
    def shared_slope(self) -> bool:
        return "slope" in self.layout.shared

    def starts(self, count: int, rng: np.random.Generator) -> list[ItemParameters]:
        """The first start from the data, the others random."""
        matrix = self.ready.matrix
        if self.ready.response == "beta":
            first = continuous_start(matrix)
        else:
            first = biserial_start(self.source or source_of(matrix), shared_slope=self.shared_slope)
        places = [first] + [
            random_start(first, child, shared_slope=self.shared_slope)
            for child in rng.spawn(count - 1)
        ]
        return [
            general_start(matrix, slope, intercept, self.ready.response)
            for slope, intercept in places
        ]

    def climb(self, start: ItemParameters) -> Estimate:
        """Go from a start to its optimum, and turn the scale so that Σ a > 0."""
        matrix = self.ready.matrix
        if self.source is None:
            return climb_generally(
                matrix,
                self.layout,
                start,
                self.priors,
                fixed=self.rule,
                most=self.most,
                tolerance=1e-5,
            )
        return climb(
            self.source,
            start,
            self.priors,
            shared_slope=self.shared_slope,
            fixed=self.rule,
            most=self.most,
            tolerance=1e-6 if self.source.exact else 5e-5,
            noise=1e-12 if self.source.exact else 1e-8,
        )


def _told(task: _Task, found: list[Estimate], estimator: Estimator, *, errors: bool) -> IRTFit:
    """The best optimum, turned and scaled for the reader, with words about how it ended."""
    ranked = sorted(found, key=lambda one: -one.objective)
    best = ranked[0]
    matrix, model = task.ready.matrix, task.model
    items, population_sd, ability = _anchored(best, model)
    abilities = Abilities(
        matrix.agents,
        ability * population_sd,
        np.sqrt(np.maximum(best.variance, 0.0)) * population_sd,
        "eap",
    )
    known = None
    if errors:
        known = task_errors(matrix, items, model, task.priors, best.rule, population_sd)
    flags: tuple[tuple[str, ...], ...] = tuple(() for _ in matrix.tasks)
    if errors or len(matrix.agents) * len(matrix.tasks) <= _QUICKLY_FLAGGED:
        flags = task_flags(matrix, items, model, abilities, known)
    starts = Starts(
        tuple(one.objective for one in ranked),
        sum(best.objective - one.objective < _AGREE for one in ranked),
    )
    return IRTFit(
        model=model.name,
        estimator=estimator,
        items=items,
        abilities=abilities,
        population_sd=population_sd,
        log_likelihood=best.log_likelihood,
        objective=best.objective,
        outcome=_outcome(best, starts, flags),
        converged=best.settled,
        iterations=best.iterations,
        starts=starts,
        quadrature=best.rule,
        priors=task.priors,
        flags=flags,
        dropped=task.ready.dropped,
        left_out=task.ready.left_out,
        warnings=tuple(_warnings(task, starts, _spread(best))),
        errors=known,
        matrix=matrix,
        parameters=task.layout.count(len(matrix.tasks)),
    )


def _anchored(best: Estimate, model: Model) -> tuple[ItemParameters, float, Floats]:
    """Of the two mirror images, which fit alike, the one with Σ a > 0; slopes of 1 for Rasch."""
    items, ability = best.items, best.ability
    if items.slope.sum() < 0:
        items, ability = items.rescaled(0.0, -1.0), -ability
    if not model.unit_slopes:
        return items, 1.0, ability
    sd = float(items.slope[0])
    return items.rescaled(0.0, 1.0 / sd), sd, ability


def _outcome(best: Estimate, starts: Starts, flags: tuple[tuple[str, ...], ...]) -> FitOutcome:
    if not best.settled:
        return FitOutcome.NOT_CONVERGED
    if any(BOUNDARY in words for words in flags):
        return FitOutcome.BOUNDARY
    if starts.agreeing < len(starts.objectives) / 2:
        return FitOutcome.STARTS_DISAGREE
    return FitOutcome.CONVERGED


def _spread(best: Estimate) -> float:
    """The standard deviation of ability among these agents, which the model says is 1."""
    return float(np.sqrt(best.variance.mean() + best.ability.var()))


def _warnings(task: _Task, starts: Starts, spread: float) -> list[str]:
    agents, tasks = task.ready.matrix.shape
    said = []
    if starts.agreeing < len(starts.objectives):
        gap = starts.objectives[0] - starts.objectives[-1]
        said.append(
            f"{starts.agreeing} of {counted(len(starts.objectives), 'start')} reached the best "
            f"optimum; the worst ended {gap:.3g} below it."
        )
    if not 1 / _SPREAD <= spread <= _SPREAD:
        said.append(
            f"Abilities spread by {spread:.2f} where the model says 1: priors of many tasks outweigh "
            f"few agents. Compare abilities within this fit only, or use estimator='ml'."
        )
    if agents < _FEW_AGENTS:
        said.append(
            f"{counted(agents, 'agent')} say little of a task: read its intervals, not its estimates."
        )
    if tasks < _FEW_TASKS:
        said.append(f"{counted(tasks, 'task')} say little of an agent: abilities are pulled to 0.")
    return said
