"""Fit a model by marginal maximum likelihood, with weak priors or without."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, get_args

import numpy as np

from examiner.checking import Randomness, generator
from examiner.irt.diagnostics.flags import fit_warnings, outcome_of, task_flags
from examiner.irt.errors.intervals import task_errors
from examiner.irt.estimation.complete import CompleteSource
from examiner.irt.estimation.em import Optimum, ResponseSource, climb
from examiner.irt.estimation.exponential import PatternedSource
from examiner.irt.estimation.kernel_source import KernelSource
from examiner.irt.estimation.quadrature import Quadrature
from examiner.irt.estimation.usable_responses import (
    UsableResponses,
    same_trials,
    usable_responses,
)
from examiner.irt.fitted import Abilities, Estimator, IRTFit, Starts
from examiner.irt.items import Floats, ItemParameters, Response
from examiner.irt.model import Model, Point, Priors, Unknowns
from examiner.irt.models import MODELS
from examiner.results import ResponseMatrix
from examiner.wording import InputError, unknown_name

Progress = Callable[[str, int, int], None]
"""Called with what is done, how many of it are done, and how many there are."""
T = TypeVar("T")

_QUICKLY_FLAGGED = 100_000
"""Cells up to which words about tasks cost nothing beside the fit."""
_AGREE = 0.01
"""Objectives within 0.01 are the same optimum."""


def fit(
    responses: ResponseMatrix | ResponseSource,
    model: str | Model = "2pl",
    *,
    estimator: Estimator = "map",
    priors: Priors | Mapping[str, Any] | None = None,
    response: Response | None = None,
    starts: int | None = None,
    nodes: int | Quadrature | None = None,
    rng: Randomness = 0,
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
    errors are computed unless `errors=False`. Responses that are not in this process come as a
    `ResponseSource`, and then without standard errors, which need the responses themselves.

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
    usable = usable_responses(responses, chosen, response)
    source, unknowns = _source(responses, usable, chosen, weak)
    count = _number_of_starts(len(source.agents), len(source.tasks)) if starts is None else starts
    if count < 1:
        raise InputError(f"{count} starts are asked for. Give at least 1.")
    found = [
        climb(source, unknowns, start, fixed=rule, most=most_iterations)
        for start in shown(_starts(source, unknowns, count, generator(rng)), "fitting", progress)
    ]
    return _told(chosen, unknowns, source.agents, usable, found, errors=errors)


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


def shown(jobs: Sequence[T], what: str, progress: Progress | None) -> Iterator[T]:
    """Yield jobs one after the other, and tell `progress` how many are done.

    >>> list(shown("ab", "spelling", lambda what, done, count: print(what, done, "of", count)))
    spelling 0 of 2
    spelling 1 of 2
    spelling 2 of 2
    ['a', 'b']
    """
    for done, job in enumerate(jobs):
        if progress is not None:
            progress(what, done, len(jobs))
        yield job
    if progress is not None:
        progress(what, len(jobs), len(jobs))


def _model(model: str | Model) -> Model:
    if isinstance(model, Model):
        return model
    if model not in MODELS:
        raise unknown_name("model", model, MODELS)
    return MODELS[model]


def _source(
    given: ResponseMatrix | ResponseSource,
    usable: UsableResponses,
    model: Model,
    priors: Priors | None,
) -> tuple[ResponseSource, Unknowns]:
    """The E-steps that suit the responses and what is to be estimated, and what that is."""
    matrix = usable.matrix
    source: ResponseSource
    if matrix is None:
        assert not isinstance(given, ResponseMatrix)
        source = given
    elif usable.response != "binomial" or {"guessing", "slip"} & set(model.free):
        source = KernelSource(matrix, usable.response)
    else:
        source = CompleteSource(matrix) if same_trials(matrix) else PatternedSource(matrix)
    unknowns = Unknowns.of(model, usable.response, source.tasks, priors)
    if not source.serves(unknowns):
        raise InputError(
            f"The source of responses has not what the model {model.name} needs. Choose another model."
        )
    return source, unknowns


def _starts(
    source: ResponseSource, unknowns: Unknowns, count: int, rng: np.random.Generator
) -> list[Point]:
    """The first start from the responses, the others random."""
    shared = "slope" in unknowns.shared
    first = source.first_start(shared_slope=shared)
    drawn = [_random_start(first, child, shared_slope=shared) for child in rng.spawn(count - 1)]
    return [unknowns.start(slope, intercept) for slope, intercept in (first, *drawn)]


def _number_of_starts(agents: int, tasks: int) -> int:
    """Small data have several optima: ten starts below 5,000 cells, one above 100,000."""
    cells = agents * tasks
    for most, count in ((5_000, 10), (20_000, 5), (100_000, 3)):
        if cells <= most:
            return count
    return 1


def _random_start(
    first: tuple[Floats, Floats], rng: np.random.Generator, *, shared_slope: bool
) -> tuple[Floats, Floats]:
    """Slopes drawn from N(1, 1) whatever the data say, and intercepts near the shares'."""
    slope, intercept = first
    if shared_slope:
        return np.full(slope.size, rng.uniform(0.3, 3.0)), intercept + rng.normal(0, 1, slope.size)
    return rng.normal(1.0, 1.0, slope.size), intercept + rng.normal(0.0, 1.0, slope.size)


def _told(
    model: Model,
    unknowns: Unknowns,
    agents: tuple[str, ...],
    usable: UsableResponses,
    found: list[Optimum],
    *,
    errors: bool,
) -> IRTFit:
    """The best optimum, turned and scaled for the reader, with words about how it ended."""
    ranked = sorted(found, key=lambda one: -one.objective)
    best, matrix, priors = ranked[0], usable.matrix, unknowns.priors
    items, population_sd, ability = _anchored(best, model)
    abilities = Abilities(
        agents,
        ability * population_sd,
        np.sqrt(np.maximum(best.expected.variance, 0.0)) * population_sd,
        "eap",
    )
    known = None
    if errors and matrix is not None:
        known = task_errors(matrix, items, model, priors, best.rule, population_sd)
    flags: tuple[tuple[str, ...], ...] = tuple(() for _ in items.tasks)
    if errors or len(agents) * len(items) <= _QUICKLY_FLAGGED:
        flags = task_flags(matrix, items, model, abilities, known)
    starts = Starts(
        tuple(one.objective for one in ranked),
        sum(best.objective - one.objective < _AGREE for one in ranked),
    )
    return IRTFit(
        model=model.name,
        estimator="ml" if priors is None else "map",
        items=items,
        abilities=abilities,
        population_sd=population_sd,
        log_likelihood=best.expected.log_likelihood,
        objective=best.objective,
        outcome=outcome_of(starts, flags, settled=best.settled),
        converged=best.settled,
        iterations=best.iterations,
        starts=starts,
        quadrature=best.rule,
        priors=priors,
        flags=flags,
        dropped=usable.dropped,
        left_out=usable.left_out,
        warnings=fit_warnings(starts, best.expected.spread[1], (len(agents), len(items))),
        errors=known,
        matrix=matrix,
        parameters=unknowns.count,
    )


def _anchored(best: Optimum, model: Model) -> tuple[ItemParameters, float, Floats]:
    """Of the two mirror images, which fit alike, the one with Σ a > 0; slopes of 1 for Rasch."""
    sign = -1.0 if best.items.slope.sum() < 0 else 1.0
    items, ability = best.items.rescaled(0.0, sign), sign * best.expected.ability
    if not model.unit_slopes:
        return items, 1.0, ability
    sd = float(items.slope[0])
    return items.rescaled(0.0, 1.0 / sd), sd, ability
