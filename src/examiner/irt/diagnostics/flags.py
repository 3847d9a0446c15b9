"""Flags of tasks and warnings about a fit: which estimates should not be taken at face value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from examiner.irt.errors.intervals import allowing_equal_abilities
from examiner.irt.evidence import Evidence, signs
from examiner.irt.fitted import Abilities, FitOutcome, IRTFit, Starts, TaskErrors
from examiner.irt.items import Floats, ItemParameters
from examiner.irt.model import Model
from examiner.irt.models import MODELS
from examiner.messages import counted, listed
from examiner.results import ResponseMatrix

BOUNDARY = "slope or intercept at a boundary"
SEPARATED = "agents who succeed and agents who fail are separated by ability"
SLOPE_NOT_SIGNIFICANT = "slope not significant"
NEGATIVE = "negative discrimination: weaker agents do better"
NEGATIVE_ALONE = "negative discrimination, not significant after Benjamini–Hochberg over all tasks"
UNBOUNDED_DIFFICULTY = "interval of difficulty is unbounded"
NO_GUESSING = "guessing at 0"
NO_SLIPPING = "ceiling at 1"
NO_OVERDISPERSION = "no overdispersion found"
NO_ERROR = "no standard error: the likelihood is flat here"

STEEP = 20.0
"""A steeper slope is a step function for any data: the data would have to locate ability to 0.1."""
ENOUGH_AGENTS = 200
"""Fewer agents cannot distinguish the chance of guessing, or of slipping, from difficulty."""
SPREAD = 1.1
"""Abilities whose deviation is larger, or smaller than its inverse, have a scale of their own."""


def task_flags(
    matrix: ResponseMatrix | None,
    items: ItemParameters,
    model: Model,
    abilities: Abilities,
    errors: TaskErrors | None = None,
    *,
    evidence: Evidence | None = None,
    largest: float = STEEP,
) -> tuple[tuple[str, ...], ...]:
    """Return the flags of each task.

    `largest` is the slope at which the fit stops; intercepts count as at a boundary at twice that.
    Signs and intervals are flagged only with errors, separation only with responses, and slopes only where
    each task has its own. A slope is negative after Benjamini–Hochberg over all tasks, and where the
    `evidence` shows that agents differ. A slope is not significant where its interval contains 0.

    >>> from examiner.irt.ability import abilities
    >>> from examiner.irt.models import MODELS
    >>> matrix = ResponseMatrix.from_array([[1, 1], [1, 1], [0, 0], [0, 1]], tasks=["t", "u"])
    >>> items = ItemParameters.of(["t", "u"], slope=[30.0, 1.0], intercept=[0.0, 1.0])
    >>> task_flags(matrix, items, MODELS["2pl"], abilities(matrix, items))[0][0]
    'slope or intercept at a boundary'
    """
    raised: list[tuple[str, NDArray[np.bool_]]] = []
    if "slope" in model.free:
        steep = np.abs(items.slope) >= largest
        raised.append((BOUNDARY, steep | (np.abs(items.intercept) >= 2 * largest)))
        if matrix is not None:
            raised.append((SEPARATED, separated(matrix, abilities.ability)))
        raised += _signs(items, errors, evidence)
    else:
        raised.append((BOUNDARY, np.abs(items.intercept) >= 2 * largest))
    if "guessing" in model.free:
        raised.append((NO_GUESSING, items.guessing <= 1e-4))
    if "slip" in model.free:
        raised.append((NO_SLIPPING, items.ceiling >= 1 - 1e-4))
    if items.response == "beta-binomial" and items.precision is not None:
        # trials of one cell then correlate by less than 0.0001
        raised.append((NO_OVERDISPERSION, items.precision >= 1e4))
    if errors is not None:
        raised.append((NO_ERROR, np.isnan(errors.intercept)))
    return tuple(tuple(flag for flag, tasks in raised if tasks[task]) for task in range(len(items)))


def _signs(
    items: ItemParameters, errors: TaskErrors | None, evidence: Evidence | None
) -> list[tuple[str, NDArray[np.bool_]]]:
    negative = items.slope < 0
    if errors is None:
        return [(NEGATIVE, negative)]
    _, falling = signs(items, errors, evidence)
    unbounded = np.isinf(errors.difficulty_low) | np.isinf(errors.difficulty_high)
    not_significant = (errors.slope_low <= 0) & (errors.slope_high >= 0) & ~falling
    return [
        (NEGATIVE, falling),
        (NEGATIVE_ALONE, negative & ~falling & ~not_significant),
        (SLOPE_NOT_SIGNIFICANT, not_significant),
        # where stronger agents do worse, difficulty has no meaning
        (UNBOUNDED_DIFFICULTY, unbounded & ~falling),
    ]


def with_evidence(fit: IRTFit, evidence: Evidence) -> IRTFit:
    """Return the fit with the results of other tests, and with the intervals and flags that follow.

    >>> from examiner.irt.ability import known as known_fit
    >>> from examiner.irt.evidence import ChanceTest
    >>> fit = known_fit(ItemParameters.of(["t"], [1.0], [0.0]))  # no errors
    >>> with_evidence(fit, Evidence(ChanceTest(1.0, 1.0, 0.5, ""))).evidence.abilities_differ
    False
    """
    if fit.errors is None:
        return replace(fit, evidence=evidence)
    model, errors = MODELS[fit.model], fit.errors
    if not evidence.abilities_differ and not model.unit_slopes:
        errors = allowing_equal_abilities(fit.items.slope, errors)
    flags = task_flags(fit.matrix, fit.items, model, fit.abilities, errors, evidence=evidence)
    return replace(fit, evidence=evidence, errors=errors, flags=flags)


def negative_tasks(fit: IRTFit) -> tuple[str, ...]:
    """Return the tasks whose slope is significantly negative, the steepest first.

    At 5 % after Benjamini–Hochberg over all tasks, and only if agents differ significantly.

    >>> from examiner.irt.ability import known as known_fit
    >>> negative_tasks(known_fit(ItemParameters.of(["t"], [-1.0], [0.0])))  # no errors
    ()
    """
    falling = np.flatnonzero(signs(fit.items, fit.errors, fit.evidence)[1])
    order = falling[np.argsort(fit.items.slope[falling], kind="stable")]
    return tuple(fit.items.tasks[column] for column in order.tolist())


def negative_sentence(tasks: Sequence[str]) -> str:
    """Return which tasks have negative discrimination, and what to do about it.

    >>> negative_sentence(["item-057"])
    "1 task has negative discrimination: 'item-057'. Check its key or its scoring."
    """
    one = len(tasks) == 1
    verb, whose = ("has", "its key or its") if one else ("have", "their keys or their")
    return (
        f"{counted(len(tasks), 'task')} {verb} negative discrimination: {listed(tasks)}. "
        f"Check {whose} scoring."
    )


def outcome_of(
    starts: Starts, flags: tuple[tuple[str, ...], ...], *, settled: bool, divided: bool = False
) -> FitOutcome:
    """Return how a fit ended: the most serious outcome that applies."""
    if not settled:
        return FitOutcome.NOT_CONVERGED
    if divided:
        return FitOutcome.DISCONNECTED
    if any(BOUNDARY in of_task for of_task in flags):
        return FitOutcome.BOUNDARY
    if starts.agreeing < len(starts.objectives) / 2:
        return FitOutcome.STARTS_DISAGREE
    return FitOutcome.CONVERGED


def fit_warnings(
    starts: Starts, spread: float, shape: tuple[int, int], model: Model, items: ItemParameters
) -> tuple[str, ...]:
    """Return warnings about a whole fit, of `shape` (agents, tasks).

    `spread` is the standard deviation of ability among its agents, which is 1 in the model.
    """
    agents, tasks = shape
    warnings = []
    if starts.agreeing < len(starts.objectives):
        gap = starts.objectives[0] - starts.objectives[-1]
        warnings.append(
            f"{starts.agreeing} of {counted(len(starts.objectives), 'start')} reached the best "
            f"optimum; the worst ended {gap:.3g} below it."
        )
    if not 1 / SPREAD <= spread <= SPREAD:
        warnings.append(
            f"Abilities spread by {spread:.2f} where the model says 1: priors of many tasks outweigh "
            f"few agents. Compare abilities within this fit only, or leave the priors to their default."
        )
    for name, value in (("guessing", items.guessing), ("slip", 1.0 - items.ceiling)):
        if name in model.held:
            warnings.append(
                f"The chance of {'guessing' if name == 'guessing' else 'slipping'} is held at "
                f"{value[0]:.2f}: {counted(agents, 'agent')} cannot distinguish it from difficulty, which "
                f"takes {ENOUGH_AGENTS}. A prior of your own (priors={{{name!r}: …}}) frees it."
            )
    if agents < 30:
        warnings.append(
            f"{counted(agents, 'agent')} say little of a task: read its intervals, not its estimates."
        )
    if tasks < 5:
        warnings.append(
            f"{counted(tasks, 'task')} say little of an agent: abilities are pulled to 0."
        )
    return tuple(warnings)


def separated(matrix: ResponseMatrix, ability: Floats) -> NDArray[np.bool_]:
    """Return for which tasks one ability divides the agents who ever fail from those who succeed.

    Then a steeper slope is always a little more likely, and its estimate comes from the prior, or from
    where the iterations stopped. Continuous scores are never separated.

    >>> matrix = ResponseMatrix.from_array([[0, 1], [1, 0], [1, 1]])
    >>> separated(matrix, np.array([-1.0, 0.0, 1.0]))
    array([ True, False])
    """
    if not matrix.is_counts:
        return np.zeros(len(matrix.tasks), dtype=np.bool_)
    (low_win, high_win), (low_loss, high_loss) = (
        _ability_range(matrix, ability, successes=successes) for successes in (True, False)
    )
    both = np.isfinite(low_win) & np.isfinite(low_loss)
    return np.asarray(both & ((low_win > high_loss) | (high_win < low_loss)))


def _ability_range(
    matrix: ResponseMatrix, ability: Floats, *, successes: bool
) -> tuple[Floats, Floats]:
    """The lowest and highest ability of agents with a success, or a failure, [tasks]; ±∞ if none."""
    cells = matrix.observed_cells
    won, trials = (matrix.successes, matrix.trials) if cells is None else cells.parts
    chosen = won > 0 if successes else trials > won
    if cells is None:
        theta = ability[:, None]
        lowest = np.where(chosen, theta, np.inf).min(axis=0)
        return lowest, np.where(chosen, theta, -np.inf).max(axis=0)
    lowest, highest = np.full(cells.shape[1], np.inf), np.full(cells.shape[1], -np.inf)
    np.minimum.at(lowest, cells.columns[chosen], ability[cells.rows[chosen]])
    np.maximum.at(highest, cells.columns[chosen], ability[cells.rows[chosen]])
    return lowest, highest
