"""What a new agent's results say of its ability, under task parameters that stay as they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from examiner.irt.estimation.kernels import kernel_for
from examiner.irt.estimation.quadrature import Quadrature
from examiner.irt.fitted import IRTFit, TaskErrors
from examiner.irt.items import Floats, ItemParameters
from examiner.irt.logistic import curves
from examiner.irt.posterior import quadrature_for
from examiner.irt.surprise import Cells
from examiner.results import ResponseMatrix, atari_game
from examiner.wording import InputError, counted, listed

_STEP = 1e-2


@dataclass(frozen=True, slots=True, eq=False)
class Newcomer:
    """An agent's observed cells, and the posterior they leave over ability.

    `items` are the tasks it met, `each` [tasks, nodes] the log-likelihood of each cell, `joint` [nodes]
    the log posterior up to a constant and `weights` the posterior; `nodes` are abilities.
    """

    items: ItemParameters
    responses: ResponseMatrix
    cells: Cells
    nodes: Floats
    each: Floats
    joint: Floats
    weights: Floats


def known_tasks(
    fit: IRTFit, matrix: ResponseMatrix
) -> tuple[ResponseMatrix, ItemParameters, tuple[str, ...]]:
    """Return the columns of tasks that the fit knows, their parameters, and a note on the others."""
    place = {task: number for number, task in enumerate(fit.items.tasks)}
    games: dict[str, int] = {}
    for task, number in place.items():
        game = atari_game(task)
        if game is not None:
            games.setdefault(game, number)
    found: dict[int, int] = {}
    unknown: list[str] = []
    for column, task in enumerate(matrix.tasks):
        known = place.get(task, games.get(atari_game(task) or ""))
        if known is None or known in found:
            unknown.append(task)
        else:
            found[known] = column
    if not found:
        raise InputError(
            f"None of the tasks is in the fit: the new results have {listed(matrix.tasks)}, the fit has "
            f"{listed(fit.items.tasks)}. Give results on tasks of the fit."
        )
    notes: tuple[str, ...] = ()
    if unknown:
        dropped = {one.name for one in fit.dropped}
        flat = [task for task in unknown if task in dropped]
        why = f" ({len(flat)} of them were set aside when it was made)" if flat else ""
        tells = "tells" if len(unknown) == 1 else "tell"
        notes = (
            f"{counted(len(unknown), 'task')} outside the fit {tells} nothing{why}: {listed(unknown)}.",
        )
    numbers = sorted(found)
    return matrix.take(tasks=[found[number] for number in numbers]), fit.items.take(numbers), notes


def newcomer(
    fit: IRTFit,
    matrix: ResponseMatrix,
    items: ItemParameters,
    row: int,
    nodes: Quadrature | None = None,
) -> Newcomer:
    """Return the posterior over ability of one row; `items` are the parameters of its columns."""
    columns = np.flatnonzero(matrix.observed[row])
    if not len(columns):
        raise InputError(
            f"The agent {matrix.agents[row]!r} has no result on a task of the fit. Give at least one."
        )
    one = matrix.take(agents=[row], tasks=columns.tolist())
    met = items.take(columns)
    trials = one.trials[0].astype(np.float64) if one.is_counts else np.ones(len(columns))
    value = one.successes[0].astype(np.float64) if met.response != "beta" else one.to_numpy()[0]
    if met.response == "beta":
        trials = np.ones(len(columns))
    rule = quadrature_for(nodes, met.rescaled(0.0, fit.population_sd), one)
    at = fit.population_sd * rule.nodes
    each = _cell_terms(met, one, at)
    joint = each.sum(axis=0) + rule.log_weights
    weights = np.exp(joint - joint.max())
    weights /= weights.sum()
    return Newcomer(met, one, Cells(value, trials), at, each, joint, weights)


def error_with_tasks(
    seen: Newcomer, errors: TaskErrors, places: list[int], ability: float, error: float
) -> float:
    r"""Return the posterior's deviation with what the errors of slopes and intercepts add.

    With η = aθ + d, ∂² log f / ∂θ∂a = ℓ'(η) + aθ ℓ''(η) and ∂² log f / ∂θ∂d = a ℓ''(η); the posterior
    mean moves by s² times that for each unit of a parameter.
    """
    at, a = np.array([ability]), seen.items.slope
    down, here, up = (
        _cell_terms(_shifted(seen.items, shift), seen.responses, at)[:, 0]
        for shift in (-_STEP, 0.0, _STEP)
    )
    first, second = (up - down) / (2 * _STEP), (up - 2 * here + down) / _STEP**2
    by_slope, by_intercept = first + a * ability * second, a * second
    variance = (
        by_slope**2 * errors.slope[places] ** 2
        + 2 * by_slope * by_intercept * errors.covariance[places]
        + by_intercept**2 * errors.intercept[places] ** 2
    )
    added = float(np.nansum(np.maximum(variance, 0.0))) * error**4
    return float(np.sqrt(error**2 + added))


def _shifted(items: ItemParameters, shift: float) -> ItemParameters:
    return ItemParameters.of(
        items.tasks,
        items.slope,
        items.intercept + shift,
        guessing=items.guessing,
        ceiling=items.ceiling,
        precision=items.precision,
        response=items.response,
    )


def _cell_terms(items: ItemParameters, one: ResponseMatrix, at: Floats) -> Floats:
    """Log-likelihood of each cell of one agent at each ability, [tasks, abilities]."""
    kernel = kernel_for(items.response, one)
    total = np.zeros((len(items), at.size))
    for data, term in zip(
        kernel.statistics(one), kernel.terms(curves(items, at), items.precision), strict=True
    ):
        total += data[0][:, None] * term
    return total
