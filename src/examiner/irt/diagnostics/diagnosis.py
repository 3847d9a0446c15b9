"""Everything that can be wrong with a fit, looked for at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from examiner.irt.diagnostics.comparison import overdispersion as overdispersion_test
from examiner.irt.diagnostics.cutoffs import rarely_exceeded
from examiner.irt.diagnostics.dependence import (
    dimension_check,
    first_eigenvalue,
    largest_excess,
    local_dependence,
    residual_correlations,
)
from examiner.irt.diagnostics.item_fit import sum_score_fit
from examiner.irt.diagnostics.misfit import Diagnosis
from examiner.irt.diagnostics.residuals import (
    agent_fit,
    mean_square_fit,
    mean_squares,
)
from examiner.irt.errors.draws import View, view
from examiner.irt.errors.draws import replicates as drawn_views
from examiner.irt.fitted import IRTFit
from examiner.irt.items import SCORES, Floats, positions
from examiner.messages import InputError, counted
from examiner.results import ResponseMatrix
from examiner.scores import Progress
from examiner.validation import Randomness, generator

_FEWEST_DRAWS = 20


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
    the fitted model with the same cells and trials, each agent's ability from its own posterior, and
    fitted again (one start), since estimates fit their own data better than the truth does.
    `refit=False` takes the parameters as known: quicker, and the cut-offs a little off. `matrix` is
    needed only for a fit that was read from a file.

    >>> from examiner.irt import ItemParameters, fit as fit_irt, simulate
    >>> items = ItemParameters.of([f"task {n}" for n in range(8)], np.ones(8), np.zeros(8))
    >>> fit = fit_irt(simulate(items, 200, rng=1), errors=False)
    >>> diagnose(fit, replicates=20, rng=0).dimensions.one_dimension
    True
    """
    data = _data(fit, matrix)
    if replicates < _FEWEST_DRAWS:
        raise InputError(
            f"{replicates} replicates are asked for. Give at least {_FEWEST_DRAWS}: cut-offs are "
            f"their percentiles."
        )
    drawing = generator(rng)
    seen = view(data, fit)
    correlations = residual_correlations(seen.residuals)
    drawn = _drawn(
        drawn_views(data, fit, seen, count=replicates, rng=drawing, refit=refit, progress=progress)
    )
    tasks = fit.items.tasks
    several = data.is_counts and fit.items.response not in SCORES and int(data.trials.max()) > 1
    return Diagnosis(
        sum_scores=sum_score_fit(
            data,
            fit.items,
            parameters=_numbers_per_curve(fit),
            population_sd=fit.population_sd,
            nodes=fit.quadrature,
        ),
        mean_squares=mean_square_fit(
            tasks, mean_squares(seen.residuals), (drawn.infit, drawn.outfit)
        ),
        agents=agent_fit(
            data.agents,
            seen.log_likelihood,
            drawn.log_likelihood,
            mean_squares(seen.residuals, axis=1),
        ),
        dependence=local_dependence(tasks, correlations, rarely_exceeded(drawn.excess)),
        dimensions=dimension_check(tasks, correlations, drawn.eigenvalue),
        overdispersion=overdispersion_test(data, fit.model, rng=drawing)
        if several and overdispersion
        else None,
        draws=replicates,
        seed=rng if isinstance(rng, int) else None,
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


def _numbers_per_curve(fit: IRTFit) -> int:
    """Estimated numbers behind each curve: a task's own and the shared ones."""
    own, shared = divmod(fit.parameters, len(fit.items))
    return own + shared


class _Draws(NamedTuple):
    """Infit and outfit [draws, tasks], log-likelihoods [draws, agents], largest Q3, first eigenvalue."""

    infit: Floats
    outfit: Floats
    log_likelihood: Floats
    excess: Floats
    eigenvalue: Floats


def _drawn(views: Iterable[View]) -> _Draws:
    rows = []
    for made in views:
        together = residual_correlations(made.residuals)
        infit, outfit = mean_squares(made.residuals)
        rows.append(
            _Draws(
                infit,
                outfit,
                made.log_likelihood,
                np.array(largest_excess(together)),
                np.array(first_eigenvalue(together)),
            )
        )
    return _Draws(*(np.array(column) for column in zip(*rows, strict=True)))
