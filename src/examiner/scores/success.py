"""What counts as success: by threshold, by beating a reference, by share of trials won."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from examiner.messages import InputError, shorten
from examiner.results import (
    Anchor,
    ObservedCells,
    ResponseMatrix,
    Results,
    few_observed,
    reads_results,
)
from examiner.scores.cells import cell_means, counted_cells, judged_runs, observed_means
from examiner.scores.normalise import task_scores
from examiner.validation import check_known

Success: TypeAlias = float | Literal["reference", "human", "random"]
"""A number, or a score of the task's scale: `human` is another word for `reference`."""
_ANCHORS: dict[str, Anchor] = {
    "reference": "reference",
    "human": "reference",
    "random": "random",
}


class Judged(NamedTuple):
    """Which trials of results succeeded, shape [rows]; `marks` are the means that had to be beaten."""

    results: Results
    won: NDArray[np.bool_]
    seen: NDArray[np.bool_]
    marks: Mapping[str, float] | None = None


@reads_results
def responses(
    results: Results,
    success: Success | None = None,
    *,
    beating: str | None = None,
    share: float | None = None,
    measure: str | None = None,
) -> ResponseMatrix:
    """Return how agents responded to tasks: successes of trials, or mean scores.

    A trial is a success when it reaches `success`: a threshold in the measure's own (normalised)
    units, or the task's `"reference"` or `"random"` score (at least as good counts, as in
    papers/002, section IV); or when it is better than the mean of the agent `beating`, who then
    leaves the table. With `share`, each cell becomes one success or failure: whether at least that
    share of its trials succeeded. With none of them, a measure of zeros and ones is counted as it
    is, and any other is averaged. Training logs are reduced first: a trial is a run's value.

    >>> results = Results.from_numpy([[[0.5, 1.5, 1.0]], [[0.2, 0.1, 3.0]]])
    >>> responses(results, success=1.0).successes
    array([[2],
           [1]], dtype=uint8)
    >>> responses(results, success=1.0, share=0.5).to_numpy()
    array([[1.],
           [0.]])
    """
    results = judged_runs(results)
    measure = results.measure_name(measure)
    judged = (success, beating, share) != (None, None, None)
    if not judged and not results.is_binary(measure):
        shape = len(results.agents), len(results.tasks)
        if few_observed(len(results), shape):
            cells = observed_means(results, measure)
            return ResponseMatrix.from_observed(cells, results.agents, results.tasks)
        means = cell_means(results, measure)
        return ResponseMatrix.from_array(means, results.agents, results.tasks)
    return count_successes(_judged(results, measure, success, beating), share)


@reads_results
def mark_success(
    results: Results,
    success: Success | None = None,
    *,
    beating: str | None = None,
    share: float | None = None,
    measure: str | None = None,
) -> Results:
    """Add the measure `success`, 1 or 0 for each trial, in front of the others.

    What counts as success is said as in `responses`; with `share`, every trial of a cell is marked
    with whether the cell as a whole succeeded.

    >>> mark_success(Results.from_numpy([[0.5, 1.5]]), 1.0).measure()
    array([0., 1.])
    """
    results = judged_runs(results)
    measure = results.measure_name(measure)
    judged = _judged(results, measure, success, beating)
    compared = judged.results
    marks = judged.won.astype(np.float64)
    if share is not None:
        cells = count_successes(judged, share).to_numpy()
        marks = cells[compared.agent_codes, compared.task_codes]
    marks[~judged.seen] = np.nan
    what = f"better than agent {beating!r}" if beating else f"{measure} reaches {success}"
    step = f"success: {'a win' if success is None and beating is None else what}"
    if share is not None:
        step += f", in a share of at least {share} of a cell's trials"
    marked = compared.with_measure("success", marks, step)
    return marked.with_measures(
        "success", *(name for name in compared.measures if name != "success")
    )


def better_than(
    results: Results,
    agent: str,
    measure: str | None = None,
    marks: Mapping[str, float] | None = None,
) -> Judged:
    """Tell which trials are better than an agent's means, which are its marks where it is not at hand.

    The agent itself leaves the table, and so do tasks on which it has no mark.

    >>> results = Results.from_numpy([[1.0], [2.0], [3.0]], agents=["a", "b", "c"])
    >>> better_than(results, "b").won
    array([False,  True])
    """
    scores = task_scores(results, measure)
    if marks is None:
        check_known("agent", agent, results.agents)
        row = scores.agent_means[results.agents.index(agent)].tolist()
        marks = {
            task: mean for task, mean in zip(results.tasks, row, strict=True) if not np.isnan(mean)
        }
    if set(results.agents) <= {agent}:
        raise InputError(f"There is no other agent than {shorten(agent)}. Add some to compare.")
    mark = np.array([marks.get(task, np.nan) for task in results.tasks])[scores.task_codes]
    of_agent = np.array([name == agent for name in results.agents])[scores.agent_codes]
    others = ~of_agent & ~np.isnan(mark)
    if not others.any():
        raise InputError(f"No other agent shares a task with {shorten(agent)}. Choose another.")
    sign = scores.sign[scores.task_codes]
    won = sign * scores.values > sign * mark
    kept = results.where(others, f"compared with agent {agent!r}")
    return Judged(kept, won[others], ~np.isnan(scores.values)[others], marks)


def count_successes(judged: Judged, share: float | None = None) -> ResponseMatrix:
    """Count the trials that succeeded in each cell, or mark cells with at least this share of them.

    >>> results = Results.from_numpy([[[0.0, 1.0, 1.0]]])
    >>> won = results.measure() == 1
    >>> count_successes(Judged(results, won, np.ones(3, dtype=bool))).successes
    array([[2]], dtype=uint8)
    """
    results, won, observed, _ = judged
    names, shape = (results.agents, results.tasks), (len(results.agents), len(results.tasks))
    agent, task = results.agent_codes, results.task_codes
    if not observed.all():
        agent, task, won = agent[observed], task[observed], won[observed]
    if few_observed(len(won), shape):
        cells = ObservedCells.counted(shape, agent, task, won)
        if share is not None:
            passed = _passed(cells.parts[0], cells.parts[1], share).astype(np.uint8)
            cells = replace(cells, parts=(passed, np.ones_like(passed)))
        return ResponseMatrix.from_observed(cells, *names)
    successes, trials = (
        counted_cells(agent[rows], task[rows], shape) for rows in (won, slice(None))
    )
    if share is None:
        matrix = ResponseMatrix.from_counts(successes, trials, *names)
    else:
        passed = (_passed(successes, trials, share) & (trials > 0)).astype(np.uint8)
        matrix = ResponseMatrix.from_counts(passed, (trials > 0).astype(np.uint8), *names)
    return matrix.as_sparse() if few_observed(int(np.count_nonzero(trials)), shape) else matrix


def _passed(
    successes: NDArray[np.integer], trials: NDArray[np.integer], share: float
) -> NDArray[np.bool_]:
    """Whether k/n ≥ share, kept away from rounding: 3 of 10 is a share of 0.3."""
    check_share(share)
    return np.asarray(successes >= share * trials - 1e-9)


def check_success(success: Success | None) -> None:
    """Refuse a success that is neither a finite number nor a score of scales; None is no success.

    >>> check_success(float("nan"))
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: The success threshold is nan. Give a finite number.
    """
    if isinstance(success, str):
        if success not in _ANCHORS:
            raise InputError(
                f"Success is {shorten(success)}. Give a number, 'reference' or 'random'."
            )
    elif success is not None and not np.isfinite(success):
        raise InputError(f"The success threshold is {success}. Give a finite number.")


def check_share(share: float | None) -> None:
    """Refuse a share of trials that is none; None asks for no share.

    >>> check_share(0.5)
    """
    if share is not None and not 0 < share <= 1:
        raise InputError(f"The share of trials is {share}. Give a number above 0 and up to 1.")


def _judged(results: Results, measure: str, success: Success | None, beating: str | None) -> Judged:
    if success is not None and beating is not None:
        raise InputError("Both a success and an agent to beat are given. Choose one of them.")
    if beating is not None:
        return better_than(results, beating, measure)
    values = results.measure(measure)
    if success is not None:
        won = _reaching(results, measure, success)
    elif results.is_binary(measure):
        won = values == 1
    else:
        raise InputError(
            f"The measure {shorten(measure)} is not made of zeros and ones, so that no trial is won. "
            f"Say what a success is first: a threshold, 'reference', or an agent to beat."
        )
    return Judged(results, won, ~np.isnan(values))


def _reaching(results: Results, measure: str, success: Success) -> NDArray[np.bool_]:
    check_success(success)
    codes, values = results.task_codes, results.measure(measure)
    if not isinstance(success, str):
        signs = results.scales.aligned(results.task_names, measure).sign
        if (signs > 0).all():
            return np.asarray(values >= success)
        sign = signs[codes]
        return np.asarray(sign * values >= sign * success)
    anchor = _ANCHORS[success]
    scales, notes = task_scores(results, measure).anchored(f"success by {anchor}", [anchor])
    if notes:
        raise InputError(f"{notes[0]} Drop those tasks, or give their scores.")
    threshold, sign = getattr(scales, anchor)[codes], scales.sign[codes]
    return np.asarray(sign * values >= sign * threshold)
