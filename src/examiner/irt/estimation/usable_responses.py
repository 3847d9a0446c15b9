"""What a fit can use of a matrix: tasks that vary, agents that were seen, and a place to start."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.estimation.kernels import kernel_for
from examiner.irt.estimation.score_kernels import standardised
from examiner.irt.fitted import Dropped
from examiner.irt.items import Floats, Response
from examiner.irt.model import Model
from examiner.messages import InputError, counted, shorten
from examiner.results import Connections, ObservedCells, ResponseMatrix
from examiner.scores import Recipe, ratio
from examiner.validation import check_squares, is_binary

if TYPE_CHECKING:
    from examiner.irt.estimation.sources import ResponseSource

_FEWEST_AGENTS = 3
_ROUNDING = 1e-9
"""Scores that differ by this share of their size are the same, and were rounded."""
_FEWEST_TASKS = 2
_ROWS = 4096
"""Agents whose results are looked at together, so that a large matrix is never doubled."""


class UsableResponses(NamedTuple):
    """The part of a matrix that is fitted, how its responses scatter, and what was set aside.

    `matrix` is None where the responses are elsewhere, and the source of them has nothing to set aside.
    """

    matrix: ResponseMatrix | None
    response: Response
    dropped: tuple[Dropped, ...]
    left_out: tuple[Dropped, ...]
    means: Floats | None = None
    """Mean over all tasks of each agent that is fitted, constant tasks among them."""
    joined: Connections | None = None
    """How agents hang together, where the responses are elsewhere and their source knows."""
    recipe: Recipe | None = None
    notes: tuple[str, ...] = ()


def usable_responses(
    given: ResponseMatrix | ResponseSource, model: Model, response: Response | None = None
) -> UsableResponses:
    """Set aside tasks with constant results and agents without any, and check that enough is left."""
    if not isinstance(given, ResponseMatrix):
        whole = getattr(given, "whole", None)
        if whole is not None:
            return UsableResponses(
                None,
                _taken(model, given.response),
                whole.dropped,
                whole.left_out,
                whole.means,
                whole.joined,
                whole.recipe,
                whole.notes,
            )
        raise InputError(
            f"A {type(given).__name__} is given. Give a ResponseMatrix: `responses(results, success=…)` "
            f"or `ResponseMatrix.from_array(table)`; or results, from `load` or `read`."
        )
    matrix, chosen = given, _response_for(given, model, response)
    kernel_for(chosen, matrix)  # says what is wrong with the kind of data, if anything
    if chosen == "normal" and is_binary(matrix.to_numpy()):
        raise InputError(
            "The model normal is for scores without ends, and these are successes: zeros and ones. Fit "
            'them with `model="2pl"`, or fit the scores instead of successes.'
        )
    if chosen == "normal":
        check_squares(matrix.to_numpy())
    reasons = constant_tasks(matrix)
    kept, dropped = _aside(matrix.tasks, reasons, _shared_results(matrix, reasons))
    part = matrix.take(tasks=kept) if dropped else matrix
    seen, usable = _seen(matrix), _seen(part)
    unseen = [(row, "no observed result") for row in np.flatnonzero(~seen)]
    unseen += [
        (row, "observed only on tasks with constant results")
        for row in np.flatnonzero(seen & ~usable)
    ]
    check_enough_agents(int(usable.sum()))
    means = _means(matrix)[usable]
    if unseen:
        part = part.take(np.flatnonzero(usable).tolist())
    left_out = tuple(Dropped(matrix.agents[row], reason) for row, reason in unseen)
    return UsableResponses(part, chosen, dropped, left_out, means)


def set_aside(
    tasks: Sequence[str], won: Floats, tried: Floats
) -> tuple[list[int], tuple[Dropped, ...]]:
    """Return the columns of tasks on which agents differ, by sums over agents, and the others with why.

    >>> set_aside(["t", "u", "v"], np.array([0.0, 1.0, 2.0]), np.array([3.0, 3.0, 3.0]))
    ([1, 2], (Dropped(name='t', reason='no agent ever succeeded', value=0.0),))
    """
    reasons = _constant_counts(won, tried)
    return _aside(tasks, reasons, ratio(won, tried).tolist())


def _aside(
    tasks: Sequence[str], reasons: list[str | None], values: list[float]
) -> tuple[list[int], tuple[Dropped, ...]]:
    kept = [column for column, reason in enumerate(reasons) if reason is None]
    dropped = tuple(
        Dropped(task, reason, value)
        for task, reason, value in zip(tasks, reasons, values, strict=True)
        if reason is not None
    )
    if len(kept) < _FEWEST_TASKS:
        why = f" ({shorten(dropped[0].name)}: {dropped[0].reason})" if dropped else ""
        raise InputError(
            f"Only {counted(len(kept), 'task')} of {len(tasks)} can be fitted{why}. "
            f"Give at least {_FEWEST_TASKS} tasks on which agents differ."
        )
    return kept, dropped


def check_enough_agents(count: int) -> None:
    """Refuse to fit fewer agents than tell anything."""
    if count < _FEWEST_AGENTS:
        raise InputError(
            f"Only {counted(count, 'agent')} with results can be fitted. "
            f"Give at least {_FEWEST_AGENTS}; a few dozen are needed for estimates worth reading."
        )


def _response_for(matrix: ResponseMatrix, model: Model, response: Response | None) -> Response:
    if response is not None:
        return _taken(model, response)
    if "beta-binomial" in model.responses and matrix.is_counts and matrix.most_trials > 1:
        return "beta-binomial"
    return model.responses[0]


def _taken(model: Model, response: Response) -> Response:
    if response not in model.responses:
        raise InputError(
            f"The model {model.name} does not take the response {response!r}. "
            f"It takes: {', '.join(model.responses)}."
        )
    return response


def _seen(matrix: ResponseMatrix) -> NDArray[np.bool_]:
    """Which agents have any result."""
    if matrix.observed_cells is not None:
        return np.diff(matrix.observed_cells.starts) > 0
    if matrix.is_counts and same_trials(matrix):
        return np.full(len(matrix.agents), bool(matrix.trials[0].any()))
    return np.asarray(matrix.observed.any(axis=1))


def constant_tasks(matrix: ResponseMatrix) -> list[str | None]:
    """Why each task cannot be fitted, or None."""
    if matrix.is_counts:
        return _constant_counts(*task_totals(matrix))
    values = matrix.to_numpy()
    seen = ~np.isnan(values)
    low = np.where(seen, values, np.inf).min(axis=0)
    high = np.where(seen, values, -np.inf).max(axis=0)
    return [
        "never observed"
        if bottom > top
        else "only one agent has a result"
        if count == 1
        else f"every agent scored {bottom:g}"
        if top - bottom <= _ROUNDING * max(abs(bottom), abs(top))
        else None
        for count, bottom, top in zip(
            seen.sum(axis=0).tolist(), low.tolist(), high.tolist(), strict=True
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


def _shared_results(matrix: ResponseMatrix, reasons: list[str | None]) -> list[float]:
    """What all agents had on each task that is set aside; NaN where they differ or hardly any was seen."""
    shared = [reason is not None and reason.startswith(("no agent", "every")) for reason in reasons]
    values = np.full(len(reasons), np.nan)
    columns, cells = np.flatnonzero(shared), matrix.observed_cells
    if cells is not None:
        means = ratio(cells.task_sums(_shares(cells)), cells.task_sums(np.ones(len(cells))))
        values[columns] = means[columns]
    elif len(columns):
        values[columns] = np.nanmean(matrix.take(tasks=columns.tolist()).to_numpy(), axis=0)
    return values.tolist()


def _means(matrix: ResponseMatrix) -> Floats:
    """Each agent's mean result over the tasks it met, [agents]; NaN without any."""
    cells = matrix.observed_cells
    if cells is not None:
        return ratio(cells.agent_sums(_shares(cells)), np.diff(cells.starts))
    if matrix.is_counts and same_trials(matrix) and (matrix.trials[0] == 1).all():
        return np.asarray(matrix.successes.sum(axis=1, dtype=np.float64) / len(matrix.tasks))
    if matrix.is_counts and int(matrix.trials.max(initial=0)) <= 1:
        won, tried = agent_totals(matrix)
        return ratio(won, tried)
    total, count = np.zeros(len(matrix.agents)), np.zeros(len(matrix.agents))
    for start in range(0, len(matrix.agents), _ROWS):
        rows = slice(start, start + _ROWS)
        values = matrix.take(agents=range(*rows.indices(len(matrix.agents)))).to_numpy()
        seen = np.isfinite(values)
        total[rows], count[rows] = np.where(seen, values, 0.0).sum(axis=1), seen.sum(axis=1)
    return ratio(total, count)


def _shares(cells: ObservedCells) -> Floats:
    """The result of each observed cell: its value, or share of successes."""
    return np.asarray(np.divide(*cells.parts) if len(cells.parts) == 2 else cells.parts[0])


def task_totals(matrix: ResponseMatrix) -> tuple[Floats, Floats]:
    """Return successes and trials of each task over all agents, [tasks] each.

    >>> task_totals(ResponseMatrix.from_array([[1, 0], [1, np.nan]]))
    (array([2., 0.]), array([2., 1.]))
    """
    cells = matrix.observed_cells
    if cells is None:
        return column_sums(matrix.successes), column_sums(matrix.trials)
    won, tried = cells.parts
    return cells.task_sums(won), cells.task_sums(tried)


def agent_totals(matrix: ResponseMatrix) -> tuple[Floats, Floats]:
    """Return successes and trials of each agent over all tasks, [agents] each.

    >>> agent_totals(ResponseMatrix.from_array([[1, 0], [1, np.nan]]).as_sparse())
    (array([1., 1.]), array([2., 1.]))
    """
    cells = matrix.observed_cells
    if cells is None:
        won, trials = matrix.successes.sum(axis=1).astype(np.float64), matrix.trials
        if trials.strides[0] == 0:  # the same for all
            return won, np.full(len(won), float(trials[0].sum()))
        return won, trials.sum(axis=1).astype(np.float64)
    return cells.agent_sums(cells.parts[0]), cells.agent_sums(cells.parts[1])


def same_trials(matrix: ResponseMatrix) -> bool:
    """Whether every agent was given the same trials; a shared number needs no look at the cells.

    Where observed cells alone are held, trials are taken to differ.
    """
    if matrix.observed_cells is not None:
        return False
    trials = matrix.trials
    return trials.strides[0] == 0 or bool((trials == trials[0]).all())


def column_sums(counts: NDArray[np.unsignedinteger]) -> Floats:
    """Sums over agents, in blocks so short that small integers hold them."""
    if counts.strides[0] == 0:
        return np.asarray(counts.shape[0] * counts[0].astype(np.float64))
    largest = int(counts.max(initial=0))
    kind = counts.dtype
    rows = max(1, int(np.iinfo(kind).max) // max(1, largest))
    total = np.zeros(counts.shape[1])
    for first in range(0, counts.shape[0], rows):
        total += counts[first : first + rows].sum(axis=0, dtype=kind)
    return total


def start_along(
    along: Floats, total_won: Floats, total_tried: Floats, *, shared_slope: bool
) -> tuple[Floats, Floats]:
    """Return slopes and intercepts from successes of each task weighted by standardised total scores.

    A task's correlation with the standardised total, divided by the height of the normal curve at its
    share, is about the biserial r; a = 1.702 r / √(1 − r²) in logits. Shares are smoothed.
    """
    share = (total_won + 0.5) / (total_tried + 1.0)
    logit = np.log(share / (1 - share))
    # Logistic and normal quantiles differ by 1.702; the normal height at the quantile is closed-form.
    height = np.exp(-0.5 * (logit / 1.702) ** 2) / np.sqrt(2 * np.pi)
    r = np.clip(along / total_tried / height, -0.9, 0.9)
    stretch = 1 / np.sqrt(1 - r**2)
    slope = np.clip(1.702 * r * stretch, -4.0, 4.0)
    if shared_slope:
        slope = np.full(slope.size, max(0.1, float(np.median(slope))))
    return slope, logit * stretch


def continuous_start(matrix: ResponseMatrix) -> tuple[Floats, Floats]:
    """Slopes and intercepts of the logits of scores regressed on the mean score."""
    logit, observed = standardised(matrix)
    slope, mean, _ = _regressed(logit, observed)
    return np.clip(slope, -4.0, 4.0), np.clip(mean, -6.0, 6.0)


def centres(matrix: ResponseMatrix) -> Floats:
    """Return the mean score of each task, [tasks]."""
    return np.asarray(np.nanmean(matrix.to_numpy(), axis=0))


def unbounded_start(matrix: ResponseMatrix) -> tuple[Floats, Floats, Floats]:
    """Slopes, intercepts (from the centres on) and precisions of scores without ends."""
    values = matrix.to_numpy() - centres(matrix)
    observed = ~np.isnan(values)
    scores = np.where(observed, values, 0.0)
    unit = np.sqrt((scores**2).sum(axis=0) / observed.sum(axis=0))
    slope, mean, left = _regressed(scores / unit, observed)
    deviation = np.sqrt(np.maximum(left, 0.05))  # a mean of few tasks fits its own too well
    return np.clip(slope / deviation, -4.0, 4.0), mean / deviation, (deviation * unit) ** -2.0


def _regressed(scores: Floats, observed: NDArray[np.bool_]) -> tuple[Floats, Floats, Floats]:
    """Slopes on the standardised mean score of agents, means, and residual variances: [tasks] each."""
    count = observed.sum(axis=0)
    mean = np.where(observed, scores, 0.0).sum(axis=0) / count
    away = np.where(observed, scores - mean, 0.0)
    standing = away.sum(axis=1) / np.maximum(observed.sum(axis=1), 1)
    ability = (standing - standing.mean()) / max(float(standing.std()), 1e-12)
    centred = np.where(observed, ability[:, None], 0.0)
    slope = (centred * away).sum(axis=0) / np.maximum((centred**2).sum(axis=0), 1e-12)
    return slope, mean, ((away - slope * centred) ** 2).sum(axis=0) / count
