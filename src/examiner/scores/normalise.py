"""What scores are measured in, as a sentence that stands beside every number made from them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from examiner.messages import InputError, counted, shorten
from examiner.results import Results, Scales, announce, atari_game, check_results, reads_results
from examiner.scores.cells import RowCodes, cell_means, judged_runs, mean_cells
from examiner.scores.comparable import (
    LearntScale,
    Normalised,
    OwnFunction,
    TaskScores,
    column_range,
)
from examiner.scores.normalisers import NORMALISERS
from examiner.validation import known_name

SHOWN = 3
AUTOMATIC = "Scores are normalised by "
"""How the note on an automatic choice begins."""


def in_shares(results: Results, measure: str | None = None) -> bool:
    """Whether all values lie between 0 and 1, apart from isolated ones.

    >>> in_shares(Results.from_numpy([[0.5], [1.0]])), in_shares(Results.from_numpy([[50.0], [70.0]]))
    (True, False)
    """
    return _within(results, measure, 1.0)


def shared_range(results: Results, measure: str | None = None) -> float | None:
    """Return the upper end of the range that all tasks share: 1 of shares, 100 of percentages, else None.

    Isolated values (`isolated_rows`) do not count.

    >>> shared_range(Results.from_numpy([[50.0], [70.0]])), shared_range(Results.from_numpy([[-1.0]]))
    (100.0, None)
    """
    return next((top for top in (1.0, 100.0) if _within(results, measure, top)), None)


def _within(results: Results, measure: str | None, top: float) -> bool:
    outside = _outside(results, measure, top)
    return not outside.any() or len(isolated_rows(results, measure, top)) > 0


def isolated_rows(
    results: Results, measure: str | None = None, top: float = 1.0
) -> NDArray[np.intp]:
    """Return the rows outside 0 to `top` if each is the only one of its agent and of its task, else none.

    Then no agent and no task has a unit of its own: all others say what the unit is. A task whose values
    lie outside, or an agent whose do, has one. Two others on the task are needed: one value is no range.

    >>> cells = np.full((4, 3), 0.5)
    >>> cells[1, 2] = -2.0
    >>> isolated_rows(Results.from_numpy(cells))
    array([5])
    """
    none = np.zeros(0, dtype=np.intp)
    outside = _outside(results, measure, top)
    if np.count_nonzero(outside) > min(len(results.agents), len(results.tasks)):
        return none
    rows = np.flatnonzero(outside)
    agents, tasks = results.agent_codes[rows], results.task_codes[rows]
    if len(np.unique(agents)) < len(rows) or len(np.unique(tasks)) < len(rows):
        return none
    observed = ~np.isnan(results.measure(measure))
    others = np.bincount(results.task_codes[observed], minlength=len(results.tasks))[tasks] - 1
    return rows if (others >= 2).all() else none


def _outside(results: Results, measure: str | None, top: float) -> NDArray[np.bool_]:
    values = results.measure(measure)
    return np.asarray((values < 0) | (values > top))


def isolated_values(results: Results, measure: str | None = None, top: float = 1.0) -> str:
    """Name the values outside 0 to `top` where all others lie inside; nothing where there are none.

    >>> isolated_values(Results.from_numpy([[0.5, 0.5], [0.5, -2.0], [0.0, 1.0]]))
    "1 of 6 values of 'score' lies outside 0 to 1, where all others lie: -2 (agent 'agent 2', task \
'task 2')."
    """
    measure = results.measure_name(measure)
    rows = isolated_rows(results, measure, top)
    if not len(rows):
        return ""
    values = results.measure(measure)
    cells = [
        f"{values[row]:g} (agent {shorten(results.agents[results.agent_codes[row]])}, task "
        f"{shorten(results.tasks[results.task_codes[row]])})"
        for row in rows[:SHOWN].tolist()
    ]
    more = f" and {len(rows) - SHOWN:,} more" if len(rows) > SHOWN else ""
    return (
        f"{len(rows):,} of {counted(int((~np.isnan(values)).sum()), 'value')} of {shorten(measure)} "
        f"{'lies' if len(rows) == 1 else 'lie'} outside 0 to {top:g}, where all others lie: "
        f"{', '.join(cells)}{more}."
    )


def isolated_notes(results: Results, measure: str | None = None) -> tuple[str, ...]:
    """Name the values outside the range in which all others lie, and say how they are treated.

    >>> isolated_notes(Results.from_numpy([[0.5, 1.0]]))
    ()
    """
    named = isolated_values(results, measure, shared_range(results, measure) or 1.0)
    if not named:
        return ()
    treatment = (
        "Nothing is changed: the value is used as it is, and does not decide how scores are normalised. "
        "Correct the table, or exclude the agent or the task."
    )
    return (f"{named} {treatment}",)


FAR_APART = 100
"""Ranges of tasks so many times apart are units of their own: few tasks decide their average."""


@reads_results
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
    notes: tuple[str, ...] = ()
    if is_automatic(method):
        results = with_isolated_notes(results, measure)
        notes = automatic_notes(results, measure)
    method = normaliser_name(results, method, measure)
    if method is None:
        return results
    scores = task_scores(results, measure)
    scale = None if callable(method) else NORMALISERS[method].learn(scores)
    return on_scale(results, method, scores, scale).with_notes(*notes)


def comparable_runs(
    results: Results, method: str | OwnFunction | None, measure: str | None = None
) -> Results:
    """Return results as agents are compared: training logs reduced, then scores normalised.

    >>> comparable_runs(Results.from_numpy([[10.0], [30.0]]), "min-max").measure()
    array([0., 1.])
    """
    return normalise(judged_runs(results), method, measure)


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
    return is_automatic(normaliser) and (success is not None or share is not None)


def is_automatic(normaliser: str | OwnFunction | None) -> bool:
    """Whether the normaliser is to be chosen by the results.

    >>> is_automatic("auto"), is_automatic(None)
    (True, False)
    """
    return isinstance(normaliser, str) and normaliser.lower() == "auto"


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


@reads_results
def suggested_normaliser(results: Results, measure: str | None = None) -> str | None:
    """Return the normaliser that "auto" means: human, None for scores as they were read, or z-score.

    Scores that were normalised before stay as they are. Else it is "human" where all tasks have random and
    reference scores. Scores are used as they were read where there is one task; where all lie between 0 and
    1, or between 0 and 100 (isolated values do not count: see `isolated_rows`); and where there are fewer
    than three agents: two say nothing about the scale of a task. Where lower is better on some task, scores
    cannot be averaged as they were read, and are compared with the other agents' on every task.

    >>> suggested_normaliser(Results.from_numpy([[0.5, 1.0]])) is None
    True
    >>> suggested_normaliser(Results.from_numpy([[500.0, 3.0], [700.0, 2.0], [900.0, 1.0]]))
    'z-score'
    """
    measure = results.measure_name(measure)
    if is_normalised(results, measure):
        return None
    scales = results.scales.aligned(results.task_names, measure, needs=["random", "reference"])
    if not np.isnan(scales.reference).any():
        return "human"
    if len(results.agents) > 1 and (scales.sign < 0).any():
        return "z-score"
    as_read = len(results.agents) < 3 or len(results.tasks) == 1
    return None if as_read or shared_range(results, measure) is not None else "z-score"


def is_normalised(results: Results, measure: str) -> bool:
    """Whether a measure was normalised before.

    >>> is_normalised(normalise(Results.from_numpy([[10.0], [30.0]]), "min-max"), "score")
    True
    """
    return any(step.startswith(f"{measure} normalised by ") for step in results.provenance.steps)


def automatic_notes(results: Results, measure: str | None = None) -> tuple[str, ...]:
    """State which normaliser is chosen for results, why, and how to keep scores as they were read.

    >>> automatic_notes(Results.from_numpy([[500.0, 3.0], [700.0, 2.0], [900.0, 1.0]]))[0][:60]
    "Scores are normalised by 'z-score', as tasks have different "
    """
    method = suggested_normaliser(results, measure)
    if method is None:
        return ()
    if method == "human":
        reason = "every task has a random and a reference score"
    elif (results.scales.aligned(results.task_names, results.measure_name(measure)).sign < 0).any():
        reason = "lower is better on some tasks"
    else:
        reason = "tasks have different scales"
    scales = ""
    if method != "human" and any(atari_game(name) is not None for name in results.task_names):
        scales = ', `results.with_scales(ex.load("atari-human-random"))` human ones'
    return (f"{AUTOMATIC}{method!r}, as {reason}; `normalise=None` uses raw scores{scales}.",)


def stated_choice(results: Results) -> tuple[str, ...]:
    """Return the note on a normaliser that was chosen automatically, for the answer made from the results.

    >>> table = Results.from_numpy([[500.0, 3.0], [700.0, 2.0], [900.0, 1.0]])
    >>> len(stated_choice(normalise(table, "auto"))), stated_choice(table)
    (1, ())
    """
    return tuple(note for note in results.notes if note.startswith(AUTOMATIC))


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


@reads_results
def score_unit(results: Results, measure: str | None = None) -> str:
    """Say what the values of a measure are: as they were read, or what was done to them, in order.

    >>> from examiner.scores import normalise
    >>> table = Results.from_numpy([[10.0], [30.0]])
    >>> score_unit(table), score_unit(normalise(table, "log"))
    ('score as it was read', "score normalised by 'log' (signed log₁₀ of 1 + |score|)")
    """
    name = results.measure_name(measure)
    steps = [step for step in results.provenance.steps if step.startswith(f"{name} ")]
    return "; ".join(steps) if steps else f"{name} as it was read"
