"""What counts as success: by threshold, by beating a reference, by share of trials won."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from examiner.results import ResponseMatrix, Results
from examiner.results.scale import Anchor
from examiner.results.table import check_results
from examiner.scores.cells import cell_means
from examiner.scores.normalise import task_scores
from examiner.wording import InputError, shorten, unknown_name

Landmark = Literal["reference", "human", "random"]
"""A score of the task's scale: `human` is another word for `reference`."""


def responses(
    results: Results,
    success: float | Landmark | None = None,
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
    is, and any other is averaged.

    >>> results = Results.from_numpy([[[0.5, 1.5, 1.0]], [[0.2, 0.1, 3.0]]])
    >>> responses(results, success=1.0).successes
    array([[2],
           [1]], dtype=uint8)
    >>> responses(results, success=1.0, share=0.5).to_numpy()
    array([[1.],
           [0.]])
    """
    measure = check_results(results).measure_name(measure)
    said = success is not None or beating is not None or share is not None
    if not said and not results.is_binary(measure):
        means = cell_means(results, measure)
        return ResponseMatrix.from_array(means, results.agents, results.tasks)
    compared, won, seen = _judged(results, measure, success, beating)
    return _counted(compared, won, seen, share)


def mark_success(
    results: Results,
    success: float | Landmark | None = None,
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
    measure = check_results(results).measure_name(measure)
    compared, won, seen = _judged(results, measure, success, beating)
    marks = won.astype(np.float64)
    if share is not None:
        cells = _counted(compared, won, seen, share).to_numpy()
        marks = cells[compared.agent_codes, compared.task_codes]
    marks[~seen] = np.nan
    what = f"better than agent {beating!r}" if beating else f"{measure} reaches {success}"
    step = f"success: {'a win' if success is None and beating is None else what}"
    if share is not None:
        step += f", in a share of at least {share} of a cell's trials"
    marked = compared.with_measure("success", marks, step)
    return marked.with_measures(
        "success", *(name for name in compared.measures if name != "success")
    )


def _judged(
    results: Results,
    measure: str,
    success: float | Landmark | None,
    beating: str | None,
) -> tuple[Results, NDArray[np.bool_], NDArray[np.bool_]]:
    """The results that are judged, which of their trials succeeded, and which were observed."""
    if success is not None and beating is not None:
        raise InputError("Both a success and an agent to beat are given. Choose one of them.")
    if beating is not None:
        results, won = _beating(results, measure, beating)
    elif success is not None:
        won = _reaching(results, measure, success)
    elif results.is_binary(measure):
        won = results.measure(measure) == 1
    else:
        raise InputError(
            f"The measure {shorten(measure)} is not made of zeros and ones, so that no trial is won. "
            f"Say what a success is first: a threshold, 'reference', or an agent to beat."
        )
    return results, won, ~np.isnan(results.measure(measure))


def _reaching(results: Results, measure: str, success: float | Landmark) -> NDArray[np.bool_]:
    scores = task_scores(results, measure)
    codes = results.task_codes
    if isinstance(success, str):
        if success not in get_args(Landmark):
            raise InputError(
                f"Success is {shorten(success)}. Give a number, 'reference' or 'random'."
            )
        anchor: Anchor = "random" if success == "random" else "reference"
        scales, notes = scores.anchored(f"success by {anchor}", [anchor])
        if notes:
            raise InputError(f"{notes[0]} Drop those tasks, or give their scores.")
        threshold, sign = getattr(scales, anchor)[codes], scales.sign[codes]
    else:
        if not np.isfinite(success):
            raise InputError(f"The success threshold is {success}. Give a finite number.")
        threshold, sign = success, scores.sign[codes]
    return np.asarray(sign * scores.values >= sign * threshold)


def _beating(results: Results, measure: str, agent: str) -> tuple[Results, NDArray[np.bool_]]:
    if agent not in results.agents:
        raise unknown_name("agent", agent, results.agents)
    if len(results.agents) < 2:
        raise InputError(f"There is no other agent than {shorten(agent)}. Add some to compare.")
    position = results.agents.index(agent)
    scores = task_scores(results, measure)
    mark = scores.agent_means[position]
    unmet = np.isnan(mark[scores.task_codes])
    others = (scores.agent_codes != position) & ~unmet
    if not others.any():
        raise InputError(f"No other agent shares a task with {shorten(agent)}. Choose another.")
    sign = scores.sign[scores.task_codes]
    won = sign * scores.values > sign * mark[scores.task_codes]
    step = f"compared with agent {agent!r}"
    return results.where(others, step), won[others]


def _counted(
    results: Results, won: NDArray[np.bool_], seen: NDArray[np.bool_], share: float | None
) -> ResponseMatrix:
    shape = len(results.agents), len(results.tasks)
    cells = results.agent_codes.astype(np.int64) * shape[1] + results.task_codes
    size = shape[0] * shape[1]
    trials = np.bincount(cells[seen], minlength=size).reshape(shape)
    successes = np.bincount(cells[seen & won], minlength=size).reshape(shape)
    if share is None:
        return ResponseMatrix.from_counts(successes, trials, results.agents, results.tasks)
    if not 0 < share <= 1:
        raise InputError(f"The share of trials is {share}. Give a number above 0 and up to 1.")
    # k/n ≥ share, kept away from rounding: 3 of 10 is a share of 0.3
    passed = (successes >= share * trials - 1e-9) & (trials > 0)
    return ResponseMatrix.from_counts(
        passed.astype(np.uint8), (trials > 0).astype(np.uint8), results.agents, results.tasks
    )
