"""New results as responses to the tasks of a fit: by its recipe, tasks matched by any of their names."""

from __future__ import annotations

import numpy as np

from examiner.irt.estimation.score_kernels import outside_bounds
from examiner.irt.fitted import IRTFit
from examiner.irt.items import SCORES, Floats, ItemParameters
from examiner.messages import InputError, counted, listed
from examiner.results import ResponseMatrix, Results, atari_game, check_results


def by_recipe(fit: IRTFit, new: Results | ResponseMatrix) -> tuple[ResponseMatrix, tuple[str, ...]]:
    """Return new results as responses by the recipe of a fit, with notes; a matrix as it is."""
    if isinstance(new, ResponseMatrix):
        return new, ()
    if fit.recipe is None:
        raise InputError(
            "This fit has no recipe, so that raw results cannot be turned into its responses. Fit results "
            "(`irt.fit(results, success=…)`, `examiner fit … -o fit.json`), add a recipe with "
            "`fit.with_recipe(Recipe(…).learn(results))`, or give a ResponseMatrix."
        )
    raw = check_results(new)
    return fit.recipe.responses(raw), fit.recipe.protocol_notes(raw)


def responses_for(fit: IRTFit, new: Results | ResponseMatrix) -> ResponseMatrix:
    """Return new results as the responses that a fit is of."""
    matrix = by_recipe(fit, new)[0]
    check_kind(fit.items, matrix)
    return matrix


def check_kind(items: ItemParameters, matrix: ResponseMatrix) -> None:
    """Refuse scores where a fit is of successes, and scores that its model cannot have."""
    if items.response not in SCORES and not matrix.is_counts:
        raise InputError(
            "The fit is of successes, and the new responses are scores. Say what success is "
            "(`responses(results, success=…)`), as for the fit."
        )
    if items.response == "beta":
        values = matrix.to_numpy()
        outside = outside_bounds(values)
        if outside.any():
            row, column = (int(part[0]) for part in np.nonzero(outside))
            raise InputError(
                f"{matrix.agents[row]!r} has {values[row, column]:g} on {matrix.tasks[column]!r}. The "
                f"fit is of scores from 0 to 1: normalise as for the fit."
            )


def known_tasks(
    fit: IRTFit, matrix: ResponseMatrix
) -> tuple[ResponseMatrix, ItemParameters, tuple[str, ...]]:
    """Return the columns of tasks that the fit knows, their parameters, and a note on the others.

    >>> from examiner.irt.ability import known as known_fit
    >>> fit = known_fit(ItemParameters.of(["pong"], [1.0], [0.0]))
    >>> known_tasks(fit, ResponseMatrix.from_array([[0, 1]], tasks=["chess", "PongNoFrameskip-v4"]))[2]
    ("1 task outside the fit was ignored: 'chess'.",)
    """
    numbers = {task: number for number, task in enumerate(fit.items.tasks)}
    games: dict[str, int] = {}
    for task, number in numbers.items():
        game = atari_game(task)
        if game is not None:
            games.setdefault(game, number)
    columns: dict[int, int] = {}
    unknown: list[str] = []
    for column, task in enumerate(matrix.tasks):
        place_in_fit = numbers.get(task, games.get(atari_game(task) or ""))
        if place_in_fit is None or place_in_fit in columns:
            unknown.append(task)
        else:
            columns[place_in_fit] = column
    if not columns:
        raise InputError(
            f"None of the tasks is in the fit: the new results have {listed(matrix.tasks)}, the fit has "
            f"{listed(fit.items.tasks)}. Give results on tasks of the fit."
        )
    notes: tuple[str, ...] = ()
    if unknown:
        dropped = {task.name for task in fit.dropped}
        flat = [task for task in unknown if task in dropped]
        strange = [task for task in unknown if task not in dropped]
        if strange:
            was = "was" if len(strange) == 1 else "were"
            notes += (
                f"{counted(len(strange), 'task')} outside the fit {was} ignored: {listed(strange)}.",
            )
        if flat:
            verbs = ("has", "counts") if len(flat) == 1 else ("have", "count")
            notes += (
                f"{counted(len(flat), 'task')} on which all agents of the fit had the same result "
                f"{verbs[0]} no influence on ability, and {verbs[1]} in the means: {listed(flat)}.",
            )
    order = sorted(columns)
    return matrix.take(tasks=[columns[number] for number in order]), fit.items.take(order), notes


def on_excluded_tasks(fit: IRTFit, matrix: ResponseMatrix) -> Floats:
    """Return results of new agents on tasks that were excluded from the fit, [agents, those tasks]."""
    column = {task: number for number, task in enumerate(matrix.tasks)}
    results = np.full((len(matrix.agents), len(fit.dropped)), np.nan)
    for number, task in enumerate(fit.dropped):
        if task.name in column:
            results[:, number] = matrix.take(tasks=[column[task.name]]).to_numpy()[:, 0]
    return results
