"""Raw scores made comparable: the door to the normalisers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from examiner.messages import InputError, counted
from examiner.results import Results, Scales, announce, check_results
from examiner.scores.cells import RowCodes, cell_means, mean_cells
from examiner.scores.comparable import (
    LearntScale,
    Normalised,
    OwnFunction,
    TaskScores,
    column_range,
)
from examiner.scores.isolated import in_shares, isolated_notes
from examiner.scores.normalisers import NORMALISERS
from examiner.validation import known_name

FAR_APART = 100
"""Ranges of tasks so many times apart are units of their own: few tasks decide their average."""


def normalise(
    results: Results, method: str | OwnFunction | None = "human", measure: str | None = None
) -> Results:
    """Return the results with one measure made comparable across tasks; higher is then better.

    The method is a name in `NORMALISERS`, a function of `TaskScores` that returns one value per
    row, "auto" for the normaliser that suits, or None, which changes nothing. What could not be
    normalised becomes "not observed", and a note says why. The scales of the measure have been used up
    and are dropped; other measures stay.

    >>> normalise(Results.from_numpy([[10.0], [30.0]]), "min-max").measure()
    array([0., 1.])
    >>> normalise(Results.from_numpy([[10.0], [30.0]]), lambda scores: scores.values / 10).measure()
    array([1., 3.])
    """
    measure = check_results(results).measure_name(measure)
    if method == "auto":
        results = with_isolated_notes(results, measure)
    method = normaliser_name(results, method, measure)
    if method is None:
        return results
    scores = task_scores(results, measure)
    if callable(method):
        return on_scale(results, method, scores)
    return on_scale(results, method, scores, NORMALISERS[method].learn(scores))


def with_isolated_notes(results: Results, measure: str | None = None) -> Results:
    """Add, and warn of, notes on values outside 0 to 1 where all others lie inside.

    >>> with_isolated_notes(Results.from_numpy([[0.5], [0.2]])).notes
    ()
    """
    notes = isolated_notes(results, measure)
    announce(notes, already=results.notes)
    return results.with_notes(*notes) if notes else results


def on_scale(
    results: Results,
    method: str | OwnFunction,
    scores: TaskScores,
    scale: LearntScale | None = None,
) -> Results:
    """Return results whose scores were put on a scale learnt before, from these agents or others.

    >>> scores = task_scores(Results.from_numpy([[10.0], [30.0]], tasks=["t"]))
    >>> new = Results.from_numpy([[20.0]], tasks=["t"])
    >>> scale = NORMALISERS["min-max"].learn(scores)
    >>> on_scale(new, "min-max", task_scores(new), scale).measure()
    array([0.5])
    """
    if callable(method):
        name = getattr(method, "__name__", "function")
        given = method(scores)
        answer = (
            given
            if isinstance(given, Normalised)
            else Normalised(np.asarray(given, dtype=np.float64), f"as {name} gives it")
        )
    else:
        if scale is None:
            raise InputError(
                f"The normaliser {method!r} has learnt no scale. Let it learn from a table."
            )
        name, known = method, NORMALISERS[method]
        values = known.apply(scale.aligned(results.tasks), scores)
        answer = _without_overflow(Normalised(values, known.unit, scale.notes))
    if answer.values.shape != (len(results),):
        raise InputError(
            f"The normaliser {name!r} returned shape {answer.values.shape} for {len(results)} rows. "
            f"Return one value per row."
        )
    announce(answer.notes, already=results.notes)
    kept = Scales(entry for entry in results.scales if entry.measure != scores.measure)
    step = f"{scores.measure} normalised by {name!r} ({answer.unit})"
    changed = results.with_measure(scores.measure, answer.values, step, answer.notes)
    return replace(changed, scales=kept)


def _without_overflow(answer: Normalised) -> Normalised:
    """What is too large for a number is not known; nothing is ever rounded to it."""
    endless = np.isinf(answer.values)
    if not endless.any():
        return answer
    note = (
        f"{counted(int(endless.sum()), 'value')} too large for a number on this scale: not known."
    )
    values = np.where(endless, np.nan, answer.values)
    return answer._replace(values=values, notes=(*answer.notes, note))


def task_scores(results: Results, measure: str | None = None) -> TaskScores:
    """Gather what a normaliser is given.

    >>> task_scores(Results.from_numpy([[1.0, 2.0]])).agent_means
    array([[1., 2.]])
    """
    values, codes = results.measure(measure), RowCodes.of(results)
    log = results.provenance.training
    return TaskScores(
        values=values,
        codes=codes,
        agent_means=cell_means(results, measure) if log else mean_cells(values, codes),
        agents=results.agents,
        tasks=results.tasks,
        task_names=results.task_names,
        measure=results.measure_name(measure),
        scales=results.scales,
    )


def normaliser_name(
    results: Results, method: str | OwnFunction | None, measure: str | None = None
) -> str | OwnFunction | None:
    """Return the name of a normaliser as the table has it, a function as it is, None for "none".

    >>> normaliser_name(Results.from_numpy([[50.0], [70.0]]), "Min_Max")
    'min-max'
    """
    if method is None or callable(method):
        return method
    name = str(method).lower().replace("_", "-")
    if name == "auto":
        return suggested_normaliser(results, measure)
    if name == "none":
        return None
    return known_name("normaliser", method, NORMALISERS)


def judges_as_read(
    normaliser: str | OwnFunction | None, success: float | str | None, share: float | None
) -> bool:
    """Tell whether successes are judged on scores as they were read, though others are normalised.

    "auto" chooses how scores are shown; a threshold cannot be in units that nobody named.

    >>> judges_as_read("auto", 100.0, None), judges_as_read("human", 1.0, None)
    (True, False)
    """
    auto = isinstance(normaliser, str) and normaliser.lower() == "auto"
    return auto and (success is not None or share is not None)


def check_reachable(normaliser: str | OwnFunction | None, success: float | str | None) -> None:
    """Refuse a threshold that no score, or every score, reaches under a normaliser.

    >>> check_reachable("z-score", 100.0)
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Success is 100, and scores normalised by 'z-score' lie between 0 and 1 ...
    """
    if not isinstance(normaliser, str) or success is None or isinstance(success, str):
        return
    low, high = NORMALISERS[normaliser].bounds
    if not low <= success <= high:
        raise InputError(
            f"Success is {success:g}, and scores normalised by {normaliser!r} lie between {low:g} and "
            f"{high:g} ({NORMALISERS[normaliser].unit}). Give a number in this range, or leave the "
            f"normaliser out: success is then in units of the scores as they were read."
        )


def suggested_normaliser(results: Results, measure: str | None = None) -> str | None:
    """Return the normaliser that suits the results: human, none where values lie in [0, 1], z-score.

    Scores that were normalised before stay as they are. A single value outside [0, 1], where all others
    lie inside, decides nothing: see `isolated_rows`.

    >>> suggested_normaliser(Results.from_numpy([[0.5, 1.0]])) is None
    True
    >>> suggested_normaliser(Results.from_numpy([[50.0], [70.0]]))
    'z-score'
    """
    measure = results.measure_name(measure)
    if any(step.startswith(f"{measure} normalised by ") for step in results.provenance.steps):
        return None
    scales = results.scales.aligned(results.task_names, measure, needs=["random", "reference"])
    if not np.isnan(scales.reference).any():
        return "human"
    comparable = in_shares(results, measure)
    # With one agent there is nobody to be compared with: raw scores are all there is.
    return None if comparable or len(results.agents) < 2 else "z-score"


def is_raw(results: Results, measure: str | None = None) -> bool:
    """Tell whether scores are points of each task's own: a scale waits to be used, or ranges lie far apart.

    Human-normalised scores are not, however weak agents are on some task.

    >>> is_raw(Results.from_numpy([[0.2, 500.0], [0.1, 100.0]])), is_raw(Results.from_numpy([[0.2], [1.5]]))
    (True, False)
    """
    measure = results.measure_name(measure)
    if any(
        step.startswith(f"{measure} normalised by 'human' ") for step in results.provenance.steps
    ):
        return False
    scales = results.scales.aligned(results.task_names, measure, needs=["reference"])
    if not np.isnan(scales.reference).all():
        return True
    return task_ranges_apart(results, measure) >= FAR_APART


def task_ranges_apart(results: Results, measure: str | None = None) -> float:
    """Return how many times the widest range of agents' means on a task is the narrowest's.

    >>> task_ranges_apart(Results.from_numpy([[0.0, 0.0], [2.0, 500.0]]))
    250.0
    """
    low, high = column_range(cell_means(results, measure))
    spans = (high - low)[high > low]
    return float(spans.max() / spans.min()) if len(spans) else 1.0
