"""Words about a fit and its tasks: where estimates are not to be taken at their face."""

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
from examiner.results import ObservedCells, ResponseMatrix

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
"""A slope beyond this is a step for any data: ability would have to be known to 0.1."""
_NOTHING = 1e-4
_TOO_PRECISE = 1e4
"""Trials of one cell then correlate by less than 0.0001."""
ENOUGH_AGENTS = 200
"""Fewer agents cannot tell the chance of guessing, or of slipping, from a task's difficulty."""
_FEW_AGENTS = 30
_FEW_TASKS = 5
SPREAD = 1.1
"""Abilities that spread by more, or by less than its inverse, are on a scale of their own."""


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
    """Return words about each task, none where there is nothing to say.

    `largest` is the slope at which the fit stops; intercepts count as at a boundary at twice that.
    Without errors nothing is said of signs and intervals, and without responses nothing of
    separation. Slopes shared by all tasks, or set to 1, are not looked at. A slope is negative after
    Benjamini–Hochberg over all tasks, and where the `evidence` shows that agents differ. A slope is not
    significant where its interval contains 0.

    >>> from examiner.irt.ability import abilities
    >>> from examiner.irt.models import MODELS
    >>> matrix = ResponseMatrix.from_array([[1, 1], [1, 1], [0, 0], [0, 1]], tasks=["t", "u"])
    >>> items = ItemParameters.of(["t", "u"], slope=[30.0, 1.0], intercept=[0.0, 1.0])
    >>> task_flags(matrix, items, MODELS["2pl"], abilities(matrix, items))[0][0]
    'slope or intercept at a boundary'
    """
    own = set(model.free)
    found: list[tuple[str, NDArray[np.bool_]]] = []
    if "slope" in own:
        steep = np.abs(items.slope) >= largest
        found.append((BOUNDARY, steep | (np.abs(items.intercept) >= 2 * largest)))
        if matrix is not None:
            found.append((SEPARATED, separated(matrix, abilities.ability)))
        found += _signs(items, errors, evidence)
    else:
        found.append((BOUNDARY, np.abs(items.intercept) >= 2 * largest))
    if "guessing" in own:
        found.append((NO_GUESSING, items.guessing <= _NOTHING))
    if "slip" in own:
        found.append((NO_SLIPPING, items.ceiling >= 1 - _NOTHING))
    if items.response == "beta-binomial" and items.precision is not None:
        found.append((NO_OVERDISPERSION, items.precision >= _TOO_PRECISE))
    if errors is not None:
        found.append((NO_ERROR, np.isnan(errors.intercept)))
    return tuple(
        tuple(words for words, where in found if where[task]) for task in range(len(items))
    )


def _signs(
    items: ItemParameters, errors: TaskErrors | None, evidence: Evidence | None
) -> list[tuple[str, NDArray[np.bool_]]]:
    negative = items.slope < 0
    if errors is None:
        return [(NEGATIVE, negative)]
    _, falling = signs(items, errors, evidence)
    endless = np.isinf(errors.difficulty_low) | np.isinf(errors.difficulty_high)
    noise = (errors.slope_low <= 0) & (errors.slope_high >= 0) & ~falling
    return [
        (NEGATIVE, falling),
        (NEGATIVE_ALONE, negative & ~falling & ~noise),
        (SLOPE_NOT_SIGNIFICANT, noise),
        # where stronger agents do worse, difficulty has no meaning
        (UNBOUNDED_DIFFICULTY, endless & ~falling),
    ]


def with_evidence(fit: IRTFit, evidence: Evidence) -> IRTFit:
    """Return the fit with what other tests show, and with the intervals and words that follow from it.

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
    words = task_flags(fit.matrix, fit.items, model, fit.abilities, errors, evidence=evidence)
    return replace(fit, evidence=evidence, errors=errors, flags=words)


def negative_tasks(fit: IRTFit) -> tuple[str, ...]:
    """Return the tasks whose slope is shown to be negative, the steepest first.

    At 5 % after Benjamini–Hochberg over all tasks, and only where agents are shown to differ.

    >>> from examiner.irt.ability import known as known_fit
    >>> negative_tasks(known_fit(ItemParameters.of(["t"], [-1.0], [0.0])))  # no errors, no noise
    ()
    """
    falling = np.flatnonzero(signs(fit.items, fit.errors, fit.evidence)[1])
    order = falling[np.argsort(fit.items.slope[falling], kind="stable")]
    return tuple(fit.items.tasks[column] for column in order.tolist())


def negative_sentence(tasks: Sequence[str]) -> str:
    """Say which tasks have negative discrimination, and what to do about it.

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
    """Say how a fit ended: the worst that is true of it."""
    if not settled:
        return FitOutcome.NOT_CONVERGED
    if divided:
        return FitOutcome.DISCONNECTED
    if any(BOUNDARY in words for words in flags):
        return FitOutcome.BOUNDARY
    if starts.agreeing < len(starts.objectives) / 2:
        return FitOutcome.STARTS_DISAGREE
    return FitOutcome.CONVERGED


def fit_warnings(
    starts: Starts, spread: float, shape: tuple[int, int], model: Model, items: ItemParameters
) -> tuple[str, ...]:
    """Say what is doubtful about a whole fit of so many agents and tasks.

    `spread` is the standard deviation of ability among its agents, which the model says is 1.
    """
    agents, tasks = shape
    said = []
    if starts.agreeing < len(starts.objectives):
        gap = starts.objectives[0] - starts.objectives[-1]
        said.append(
            f"{starts.agreeing} of {counted(len(starts.objectives), 'start')} reached the best "
            f"optimum; the worst ended {gap:.3g} below it."
        )
    if not 1 / SPREAD <= spread <= SPREAD:
        said.append(
            f"Abilities spread by {spread:.2f} where the model says 1: priors of many tasks outweigh "
            f"few agents. Compare abilities within this fit only, or leave the priors to their default."
        )
    for name, value in (("guessing", items.guessing), ("slip", 1.0 - items.ceiling)):
        if name in model.held:
            said.append(
                f"The chance of {'guessing' if name == 'guessing' else 'slipping'} is held at "
                f"{value[0]:.2f}: {counted(agents, 'agent')} cannot distinguish it from difficulty, which "
                f"takes {ENOUGH_AGENTS}. A prior of your own (priors={{{name!r}: …}}) frees it."
            )
    if agents < _FEW_AGENTS:
        said.append(
            f"{counted(agents, 'agent')} say little of a task: read its intervals, not its estimates."
        )
    if tasks < _FEW_TASKS:
        said.append(f"{counted(tasks, 'task')} say little of an agent: abilities are pulled to 0.")
    return tuple(said)


def separated(matrix: ResponseMatrix, ability: Floats) -> NDArray[np.bool_]:
    """Return for which tasks one ability divides the agents who ever fail from those who succeed.

    Then a steeper slope is always a little more likely, and how steep it is said to be comes from
    the prior, or from where the iterations stopped. Continuous scores are never separated.

    >>> matrix = ResponseMatrix.from_array([[0, 1], [1, 0], [1, 1]])
    >>> separated(matrix, np.array([-1.0, 0.0, 1.0]))
    array([ True, False])
    """
    if not matrix.is_counts:
        return np.zeros(len(matrix.tasks), dtype=np.bool_)
    cells = matrix.observed_cells
    if cells is not None:
        return _separated(cells, ability)
    theta = ability[:, None]
    wins, losses = matrix.successes > 0, matrix.trials > matrix.successes
    lowest_win = np.where(wins, theta, np.inf).min(axis=0)
    highest_win = np.where(wins, theta, -np.inf).max(axis=0)
    lowest_loss = np.where(losses, theta, np.inf).min(axis=0)
    highest_loss = np.where(losses, theta, -np.inf).max(axis=0)
    both = wins.any(axis=0) & losses.any(axis=0)
    return np.asarray(both & ((lowest_win > highest_loss) | (highest_win < lowest_loss)))


def _separated(cells: ObservedCells, ability: Floats) -> NDArray[np.bool_]:
    """The same of a list of observed cells."""
    won, tried = cells.parts
    ends = []
    for some in (won > 0, tried > won):
        column, theta = cells.columns[some], ability[cells.rows[some]]
        lowest, highest = np.full(cells.shape[1], np.inf), np.full(cells.shape[1], -np.inf)
        np.minimum.at(lowest, column, theta)
        np.maximum.at(highest, column, theta)
        ends.append((lowest, highest))
    (lowest_win, highest_win), (lowest_loss, highest_loss) = ends
    both = np.isfinite(lowest_win) & np.isfinite(lowest_loss)
    return np.asarray(both & ((lowest_win > highest_loss) | (highest_win < lowest_loss)))
