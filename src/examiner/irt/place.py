"""A new agent on a stored fit, without fitting again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from examiner.irt.agent_curves import empirical_agent_curves
from examiner.irt.bins import bins as difficulty_bins
from examiner.irt.fitted import IRTFit
from examiner.irt.indicators import generality, regularities
from examiner.irt.items import Floats, ItemParameters
from examiner.irt.newcomer import Newcomer, error_with_tasks, known_tasks, newcomer
from examiner.irt.prediction import Interval, Predictions, predicted_mean, predicted_results
from examiner.irt.quadrature import Quadrature
from examiner.irt.standings import RankInterval, rank_among
from examiner.irt.surprise import UNEXPECTED, Cells, Unexpected, unexpected_results
from examiner.results import ResponseMatrix, Results
from examiner.wording import InputError, counted

FEW_TASKS = 5


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """An agent on the scale of a fit.

    `ability` and `error` are the mean and the standard deviation of the posterior; `total_error` has
    the error of the task parameters in it too, and equals `error` where the fit has none. `low` and
    `high` are the 95 % interval by `total_error`. `predicted` are the fit's tasks it has not met, and
    `benchmark` the mean over all the fit's tasks, had it met them.
    """

    agent: str
    tasks: int
    mean: float
    ability: float
    error: float
    total_error: float
    low: float
    high: float
    regularity: float
    generality: float
    slope: float
    rank: RankInterval
    benchmark: Interval
    predicted: Predictions
    unexpected: tuple[Unexpected, ...]
    flags: tuple[str, ...]
    notes: tuple[str, ...] = ()


def place(
    fit: IRTFit,
    new: Results | ResponseMatrix,
    *,
    bins: Sequence[float] | int | None = None,
    nodes: Quadrature | None = None,
) -> tuple[Placement, ...]:
    r"""Place agents on a fit by what they did on any of its tasks.

    Raw `Results` are treated by the recipe of the fit (measure, items, reduction, normaliser, scales,
    success); a `ResponseMatrix` is taken as it is. Tasks that the fit does not know are left out and
    named. Atari games are found under any of their names.

    Ability is the posterior mean :math:`E[\theta \mid x]`. Task parameters are taken as known for it;
    what their own errors add is in `total_error`, by the delta method:

    .. math:: \operatorname{Var} = s^2 + \sum_i g_i^\top \Sigma_i g_i / J^2, \quad
              g_i = \partial^2 \log f_i / \partial\theta\,\partial(a_i, d_i), \; J = 1 / s^2

    >>> from examiner.irt.known import known as known_fit
    >>> items = ItemParameters.of(list("abcd"), np.full(4, 2.0), difficulty=[-2.0, -1.0, 1.0, 2.0])
    >>> new = ResponseMatrix.from_array([[1, 1, 0]], ["mine"], ["a", "b", "c"])
    >>> (mine,) = place(known_fit(items), new)
    >>> round(mine.ability, 2), mine.predicted.tasks, mine.unexpected
    (0.04, ('d',), ())
    """
    matrix, notes = _responses(fit, new)
    matrix, items, more = known_tasks(fit, matrix)
    _check_kind(items, matrix)
    said = (*notes, *more)
    return tuple(
        _placed(fit, newcomer(fit, matrix, items, row, nodes), matrix.agents[row], bins, said)
        for row in range(len(matrix.agents))
    )


def _placed(
    fit: IRTFit,
    seen: Newcomer,
    agent: str,
    bins: Sequence[float] | int | None,
    notes: tuple[str, ...],
) -> Placement:
    met = seen.items
    ability = float(seen.weights @ seen.nodes)
    error = float(np.sqrt(seen.weights @ (seen.nodes - ability) ** 2))
    total = error
    if fit.errors is not None:
        total = error_with_tasks(seen, fit.errors, _places(fit, met.tasks), ability, error)
    results = np.full(len(fit.items), np.nan)
    results[_places(fit, met.tasks)] = seen.cells.value / seen.cells.trials
    value, slope, words = _indicators(fit, results, bins)
    unmet = [place for place in range(len(fit.items)) if np.isnan(results[place])]
    flags = [*words, *_flags(seen.cells)]
    unexpected = unexpected_results(met, seen.cells, seen.joint, seen.each, seen.nodes)
    by_chance = UNEXPECTED * len(met)
    if len(unexpected) > by_chance + 2 * np.sqrt(by_chance) + 1:
        flags.append(
            f"{len(unexpected)} of {counted(len(met), 'result')} are unexpected, and at most "
            f"{by_chance:.1f} would be by chance: the agent may not fit the model"
        )
    return Placement(
        agent=agent,
        tasks=len(met),
        mean=float((seen.cells.value / seen.cells.trials).mean()),
        ability=ability,
        error=error,
        total_error=total,
        low=ability - 1.96 * total,
        high=ability + 1.96 * total,
        regularity=float(regularities(results[None, :])[0]),
        generality=value,
        slope=slope,
        rank=rank_among(fit.abilities, seen.nodes, seen.weights),
        benchmark=predicted_mean(
            results[~np.isnan(results)], fit.items.take(unmet), seen.nodes, seen.weights
        ),
        predicted=predicted_results(fit.items.take(unmet), seen.nodes, seen.weights),
        unexpected=unexpected,
        flags=tuple(flags),
        notes=notes,
    )


def _responses(
    fit: IRTFit, new: Results | ResponseMatrix
) -> tuple[ResponseMatrix, tuple[str, ...]]:
    if isinstance(new, ResponseMatrix):
        return new, ()
    if fit.recipe is None:
        raise InputError(
            "This fit has no recipe, so that raw results cannot be turned into its responses. Fit with "
            "`examiner fit … -o fit.json`, add one with `fit.with_recipe(Recipe(…).learn(results))`, or "
            "give a ResponseMatrix."
        )
    return fit.recipe.responses(new), fit.recipe.protocol_notes(new)


def _check_kind(items: ItemParameters, matrix: ResponseMatrix) -> None:
    if items.response != "beta" and not matrix.is_counts:
        raise InputError(
            "The fit is of successes, and the new responses are scores. Say what success is "
            "(`responses(results, success=…)`), as for the fit."
        )
    if items.response == "beta":
        values = matrix.to_numpy()
        outside = ~(np.isnan(values) | ((values >= 0) & (values <= 1)))
        if outside.any():
            row, column = (int(part[0]) for part in np.nonzero(outside))
            raise InputError(
                f"{matrix.agents[row]!r} has {values[row, column]:g} on {matrix.tasks[column]!r}. The "
                f"fit is of scores from 0 to 1: normalise as for the fit."
            )


def _indicators(
    fit: IRTFit, results: Floats, bins: Sequence[float] | int | None
) -> tuple[float, float, list[str]]:
    try:
        held = difficulty_bins(fit.items, bins)
    except InputError:
        return float("nan"), float("nan"), ["generality cannot be told: no bins of difficulty"]
    made = empirical_agent_curves(("",), results[None, :], held)
    general = generality(made)
    words = [general.flags[0]] if general.flags[0] is not None else []
    return float(general.value[0]), float(made.slope[0]), words


def _flags(cells: Cells) -> list[str]:
    words = []
    if len(cells.value) < FEW_TASKS:
        words.append(f"placed by {counted(len(cells.value), 'task')} only")
    if (cells.value == cells.trials).all():
        words.append("it succeeded at everything it met: its ability is known from below only")
    elif (cells.value == 0).all():
        words.append("it failed at everything it met: its ability is known from above only")
    return words


def _places(fit: IRTFit, tasks: tuple[str, ...]) -> list[int]:
    place = {task: number for number, task in enumerate(fit.items.tasks)}
    return [place[task] for task in tasks]
