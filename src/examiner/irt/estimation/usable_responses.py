"""What a fit can use of a matrix: tasks on which agents differ, and agents that have results on these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from examiner.irt.estimation.blocks import agent_totals, task_totals, tiles_of
from examiner.irt.estimation.kernels import kernel_for
from examiner.irt.estimation.sources import MemorySource, whole_of
from examiner.irt.fitted import Dropped
from examiner.irt.items import Floats, Response
from examiner.irt.model import Model
from examiner.messages import InputError, counted, shorten
from examiner.results import ObservedCells, ResponseMatrix
from examiner.scores import ratio
from examiner.validation import check_squares, is_binary


def usable_responses(
    matrix: ResponseMatrix, model: Model, response: Response | None = None
) -> MemorySource:
    """Exclude tasks with constant results and agents without any, and check that enough is left."""
    if response is None:
        several = matrix.is_counts and matrix.most_trials > 1
        over = "beta-binomial" in model.responses and several
        response = "beta-binomial" if over else model.responses[0]
    check_response(response, model)
    kernel_for(response, matrix)  # says what is wrong with the kind of data, if anything
    if response == "normal" and is_binary(matrix.to_numpy()):
        raise InputError(
            "The model normal is for scores without ends, and these are successes: zeros and ones. Fit "
            'them with `model="2pl"`, or fit the scores instead of successes.'
        )
    if response == "normal":
        check_squares(matrix.to_numpy())
    if matrix.is_counts:
        kept, dropped = set_aside(matrix.tasks, *task_totals(matrix))
    else:
        kept, dropped = _constant_scores(matrix)
    part = matrix.take(tasks=kept) if dropped else matrix
    means = _means(matrix)
    results = agent_totals(part)[1] if part.is_counts else part.observed.sum(axis=1)
    usable = results > 0
    check_enough_agents(int(usable.sum()))
    left_out = excluded_agents(matrix.agents, means, usable)
    if left_out:
        part = part.take(np.flatnonzero(usable).tolist())
    whole = replace(whole_of(part), means=means[usable], dropped=dropped, left_out=left_out)
    return MemorySource(part, response, whole)


def check_response(response: Response, model: Model) -> None:
    """Refuse a response that a model does not take."""
    if response not in model.responses:
        raise InputError(
            f"The model {model.name} does not take the response {response!r}. "
            f"It takes: {', '.join(model.responses)}."
        )


def excluded_agents(
    agents: Sequence[str], means: Floats, usable: NDArray[np.bool_]
) -> tuple[Dropped, ...]:
    """Return agents without any result on the tasks that are fitted, and why; `means` are over all tasks.

    >>> excluded_agents(["a", "b"], np.array([np.nan, 0.5]), np.array([False, True]))
    (Dropped(name='a', reason='no observed result', value=nan),)
    """
    unobserved, constant = ~usable & np.isnan(means), ~usable & ~np.isnan(means)
    return tuple(
        Dropped(agents[row], reason)
        for rows, reason in (
            (unobserved, "no observed result"),
            (constant, "observed only on tasks with constant results"),
        )
        for row in np.flatnonzero(rows).tolist()
    )


def set_aside(
    tasks: Sequence[str], won: Floats, tried: Floats
) -> tuple[list[int], tuple[Dropped, ...]]:
    """Return the columns of tasks on which agents differ, by sums over agents, and the others with why.

    >>> set_aside(["t", "u", "v"], np.array([0.0, 1.0, 2.0]), np.array([3.0, 3.0, 3.0]))
    ([1, 2], (Dropped(name='t', reason='no agent ever succeeded', value=0.0),))
    """
    reasons = _constant_counts(won, tried)
    return _excluded_tasks(tasks, reasons, ratio(won, tried).tolist())


def _excluded_tasks(
    tasks: Sequence[str], reasons: list[str | None], values: list[float]
) -> tuple[list[int], tuple[Dropped, ...]]:
    kept = [column for column, reason in enumerate(reasons) if reason is None]
    dropped = tuple(
        Dropped(task, reason, value)
        for task, reason, value in zip(tasks, reasons, values, strict=True)
        if reason is not None
    )
    if len(kept) < 2:
        why = f" ({shorten(dropped[0].name)}: {dropped[0].reason})" if dropped else ""
        raise InputError(
            f"Only {counted(len(kept), 'task')} of {len(tasks)} can be fitted{why}. "
            f"Give at least 2 tasks on which agents differ."
        )
    return kept, dropped


def check_enough_agents(count: int) -> None:
    """Refuse to fit fewer agents than tell anything."""
    if count < 3:
        raise InputError(
            f"Only {counted(count, 'agent')} with results can be fitted. "
            f"Give at least 3; a few dozen are needed for estimates worth reading."
        )


def constant_tasks(matrix: ResponseMatrix) -> list[str | None]:
    """Why each task cannot be fitted, or None."""
    if matrix.is_counts:
        return _constant_counts(*task_totals(matrix))
    values = matrix.to_numpy()
    observed = ~np.isnan(values)
    low = np.where(observed, values, np.inf).min(axis=0)
    high = np.where(observed, values, -np.inf).max(axis=0)
    return [
        "never observed"
        if bottom > top
        else "only one agent has a result"
        if count == 1
        else f"every agent scored {bottom:g}"
        if top - bottom <= 1e-9 * max(abs(bottom), abs(top))
        else None
        for count, bottom, top in zip(
            observed.sum(axis=0).tolist(), low.tolist(), high.tolist(), strict=True
        )
    ]


def _constant_counts(won: Floats, tried: Floats) -> list[str | None]:
    return [
        "never observed"
        if n == 0
        else "no agent ever succeeded"
        if k == 0
        else "every agent always succeeded"
        if k == n
        else None
        for k, n in zip(won.tolist(), tried.tolist(), strict=True)
    ]


def _constant_scores(matrix: ResponseMatrix) -> tuple[list[int], tuple[Dropped, ...]]:
    """What `set_aside` returns, of scores."""
    reasons, values = constant_tasks(matrix), np.full(len(matrix.tasks), np.nan)
    shared = [column for column, why in enumerate(reasons) if why and why.startswith("every")]
    if shared:
        values[shared] = np.nanmean(matrix.take(tasks=shared).to_numpy(), axis=0)
    return _excluded_tasks(matrix.tasks, reasons, values.tolist())


def _means(matrix: ResponseMatrix) -> Floats:
    """Each agent's mean result over the tasks it met, [agents]; NaN without any."""
    cells = matrix.observed_cells
    if cells is not None:
        return ratio(cells.agent_sums(_shares(cells)), np.diff(cells.starts))
    if matrix.is_counts and matrix.most_trials <= 1:
        return ratio(*agent_totals(matrix))
    total, count = np.zeros((2, len(matrix.agents)))
    for rows in tiles_of(len(matrix.agents), 4096):  # a large matrix is never doubled
        values = matrix.take(agents=range(rows.start, rows.stop)).to_numpy()
        observed = np.isfinite(values)
        total[rows], count[rows] = np.where(observed, values, 0.0).sum(axis=1), observed.sum(axis=1)
    return ratio(total, count)


def _shares(cells: ObservedCells) -> Floats:
    """The result of each observed cell: its value, or share of successes."""
    return np.asarray(np.divide(*cells.parts) if len(cells.parts) == 2 else cells.parts[0])
