"""Difficulty explained by attributes of tasks: effects with intervals, and predictions for new tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examiner.irt.design_effect import task_codes
from examiner.irt.explained.answer import (
    AttributeEffects,
    ExplainedAgents,
    ExplainedDifficulty,
    task_table,
)
from examiner.irt.explained.attributes import (
    Term,
    attribute_values,
    check_identified,
    design_matrix,
    learn_terms,
)
from examiner.irt.explained.crossed import CrossedFit, fit_crossed, predict_held_out
from examiner.irt.items import Floats, sigmoid_pair
from examiner.irt.share_cells import ShareCells, share_cells, share_responses
from examiner.messages import InputError, counted, listed
from examiner.results import Attributes, ResponseMatrix, Results, check_results
from examiner.scores import Recipe, holm
from examiner.validation import Randomness, generator, seed_of


def explain(
    results: Any,  # Any: results, all that `ex.read` takes, or a ResponseMatrix
    columns: Sequence[str],
    *,
    attributes: Attributes | None = None,
    recipe: Recipe | None = None,
    group: str | Mapping[str, object] | None = None,
    folds: int = 10,
    rng: Randomness = 0,
) -> ExplainedDifficulty:
    r"""Estimate effects of attributes of tasks on difficulty, jointly with the abilities of agents.

    .. math:: \operatorname{logit} P_{ji} = t_j - (x_i'\beta + u_{g(i)} + e_i)

    `columns` name attributes of tasks: numbers have one effect, per unit (`log2(minutes)`: per doubling);
    categories have one each, compared with the most frequent. Unlike that of `fit`, difficulty is also
    predicted for tasks without results, and does not depend on the population of agents except for its
    zero. `attributes` are by default those of the results. `group` names families of tasks (a repository, a
    game), which get effects of their own; families in the table are used by default, and "none" takes tasks
    as independent.

    Results are successes of trials, or scores between 0 and 1. The explained share is estimated on held-out
    tasks, in `folds` folds that keep families whole.

    References: papers/002, section VI; De Boeck (2008), random item IRT models.

    >>> from examiner.results import Attributes
    >>> rng = np.random.default_rng(0)
    >>> names, lines = [f"t{n}" for n in range(40)], rng.normal(size=40)
    >>> chance = 1 / (1 + np.exp(lines - rng.normal(size=(20, 1))))
    >>> matrix = ResponseMatrix.from_array(rng.random((20, 40)) < chance, tasks=names)
    >>> about = [{"task": n, "lines": x} for n, x in zip(names, lines.tolist())]
    >>> explained = explain(matrix, ["lines"], attributes=Attributes.from_dicts("task", about))
    >>> row = explained.effects["lines", "per unit"]
    >>> row.effect_low < 1.0 < row.effect_high, explained.share > 0.5
    (True, True)
    """
    from scipy.special import stdtrit

    raw = None if isinstance(results, ResponseMatrix) else check_results(results)
    matrix = share_responses(results if raw is None else raw, recipe, "Explaining difficulty")
    about = attributes or (Attributes() if raw is None else raw.task_attributes)
    values = attribute_values(about, columns, matrix.tasks)
    lacking = np.array([None in of_task for of_task in zip(*values.values(), strict=True)])
    unused = [matrix.tasks[task] for task in np.flatnonzero(lacking)]
    if lacking.all():
        raise InputError(
            f"No task has {listed(columns)}, all of them. Name attributes that tasks have."
        )
    kept = np.flatnonzero(~lacking).tolist()
    values = {name: tuple(column[task] for task in kept) for name, column in values.items()}
    matrix = matrix.take(tasks=kept)
    terms = learn_terms(values)
    design = design_matrix(terms, values)
    check_identified(terms, design)
    family, codes = _families(raw, group, matrix.tasks)
    units = len(design) if codes is None else int(codes.max()) + 1
    _check_size(matrix, terms, units, family)
    cells, excess, fitted = _dispersed(share_cells(matrix), design, codes)
    held_out = predict_held_out(cells, design, codes, fitted, folds=folds, rng=generator(rng))
    freedom = units - len(terms) - 1
    critical = float(stdtrit(freedom, 0.975))
    unplayed, beside = _unplayed(about, columns, matrix.tasks, terms)
    difficulty = np.full((2, len(design) + len(unplayed)), np.nan)
    difficulty[:, : len(design)] = fitted.difficulty, fitted.difficulty_error
    centre, spread = fitted.predicted(beside)
    predicted = np.r_[held_out.predicted, centre], np.r_[held_out.error, spread]
    return ExplainedDifficulty(
        _effects(terms, fitted, critical, freedom),
        task_table((*matrix.tasks, *unplayed), difficulty, predicted, critical),
        ExplainedAgents(
            agent=matrix.agents, ability=fitted.ability, ability_error=fitted.ability_error
        ).sorted_by("ability", descending=True),
        held_out.share,
        held_out.share_low,
        held_out.share_high,
        terms,
        fitted,
        critical,
        tuple(dict.fromkeys(term.attribute for term in terms)),
        family,
        excess,
        seed_of(rng),
        _notes(unused, unplayed, family, units, group is not None),
    )


def _families(
    raw: Results | None, group: str | Mapping[str, object] | None, tasks: tuple[str, ...]
) -> tuple[str | None, NDArray[np.int64] | None]:
    """The name of the grouping, and the family of each task; None if each family has one task."""
    grouping = task_codes(raw, group, tasks)
    if grouping is None:
        return None, None
    codes = np.unique(grouping[1], return_inverse=True)[1]
    return (grouping[0], codes) if 0 < codes.max() < len(codes) - 1 else (None, None)


def _check_size(
    matrix: ResponseMatrix, terms: Sequence[Term], units: int, family: str | None
) -> None:
    least = len(terms) + 4  # fewer leave no residual to estimate
    if len(matrix.agents) < 2:
        raise InputError(
            f"{counted(len(matrix.agents), 'agent')} cannot show differences in difficulty. Have two or "
            f"more."
        )
    if units < least:
        unit, advice = ("task", "") if family is None else ("family", ' or `group="none"`')
        raise InputError(
            f"{counted(units, unit)} for {counted(len(terms), 'effect')}: a residual cannot be estimated. "
            f"Name fewer attributes, or have at least {least}{advice}."
        )


def _dispersed(
    cells: ShareCells, design: Floats, codes: NDArray[np.int64] | None
) -> tuple[ShareCells, float, CrossedFit]:
    """Cells scaled by their variance relative to the binomial, that variance, and the fit."""
    excess, fitted = 1.0, fit_crossed(cells, design, codes)
    for _ in range(0 if cells.least is None else 3):  # the variance and the fit converge together
        success, failure = sigmoid_pair(fitted.ability[:, None] - fitted.difficulty)
        observed = cells.trials > 0
        expected = np.where(observed, cells.trials * success * failure, 1.0)
        squares = np.where(observed, (cells.won - cells.trials * success) ** 2 / expected, 0.0)
        freedom = max(int(observed.sum()) - sum(observed.shape), 1)
        excess = max(cells.least or 1.0, float(squares.sum() / freedom))
        fitted = fit_crossed(cells.scaled(excess), design, codes, fitted)
    return cells.scaled(excess), excess, fitted


def _effects(
    terms: Sequence[Term], fitted: CrossedFit, critical: float, freedom: int
) -> AttributeEffects:
    from scipy.special import stdtr

    scale = np.array([term.scale for term in terms])
    per_deviation = fitted.effects[1:]
    effect = per_deviation / scale
    spread = np.sqrt(np.diag(fitted.effect_covariance))[1:] / scale
    return AttributeEffects(
        attribute=[term.attribute for term in terms],
        step=[term.step for term in terms],
        compared_with=[term.reference or "" for term in terms],
        effect=effect,
        effect_error=spread,
        effect_low=effect - critical * spread,
        effect_high=effect + critical * spread,
        per_deviation=per_deviation,
        p=holm(np.asarray(2 * stdtr(freedom, -np.abs(effect) / spread))),
    )


def _unplayed(
    about: Attributes, columns: Sequence[str], played: Sequence[str], terms: Sequence[Term]
) -> tuple[tuple[str, ...], Floats]:
    """Tasks without results that have all attributes, and their design."""
    used = {row for row in about.rows(played) if row is not None}
    others = [name for row, name in enumerate(about.names) if row not in used]
    if not others:
        return (), np.zeros((0, len(terms) + 1))
    design = design_matrix(terms, attribute_values(about, columns, others))
    usable = np.flatnonzero(~np.isnan(design).any(axis=1))
    return tuple(others[row] for row in usable), design[usable]


def _notes(
    unused: Sequence[str], unplayed: Sequence[str], family: str | None, units: int, named: bool
) -> tuple[str, ...]:
    notes = []
    if unused:
        notes.append(
            f"{counted(len(unused), 'task')} without all attributes excluded: {listed(unused)}."
        )
    if unplayed:
        notes.append(
            f"{counted(len(unplayed), 'task')} without results predicted from attributes: "
            f"{listed(unplayed)}."
        )
    if family is not None and not named:
        notes.append(
            f"Tasks are in {units:,} families by {family!r}, which have an effect of their own. "
            f'`group="none"` takes tasks as independent.'
        )
    return tuple(notes)
