"""From results to material: comparable values, targets, bits, costs, groups and families."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from examiner.information.channels import Noise
from examiner.information.observations import Moments, Observations, moments, observe
from examiner.results import Classification, Results, Scales
from examiner.results.atari import atari_game
from examiner.results.table import check_results
from examiner.scores.normalise import suggested_normaliser
from examiner.scores.success import Landmark, responses
from examiner.selection.constraints import Constraints, terms_of
from examiner.selection.cost import task_costs
from examiner.selection.material import Benchmark
from examiner.selection.recipe import LEARNT, Recipe, Transform
from examiner.selection.scaling import Kind
from examiner.selection.targets import Target, check_target
from examiner.wording import InputError, counted, listed, shorten

Array = NDArray[np.float64]
_LARGEST = 1e150
LEAST_AGENTS = 4
STATED_DEVIATION = 0.2
"""Stands in where no cell was repeated, as a share of the task's spread between agents; a note says so."""


def benchmark(
    results: Results,
    *,
    measure: str | None = None,
    normalise: str | None = "suggested",
    transform: Transform = "none",
    floor: float | None = None,
    target: str = "mean",
    lexicographic: Sequence[str] = (),
    coverage: float = 0.9,
    success: float | Landmark | None = None,
    deviations: Literal["own", "pooled"] | float | None = None,
    cost: str | Array | None = None,
    constraints: Constraints | None = None,
    groups: Classification | Mapping[str, str] | None = None,
    families: str | Mapping[str, str] | None = None,
    given_target: Mapping[str, float] | None = None,
) -> Benchmark:
    """Gather all that choosing and judging tasks needs, without any agent looking at another.

    `normalise` is a normaliser's name, None, or "suggested" (human where scales are known, z-score
    where values leave [0, 1]); those that compare agents are learnt inside each fold. `transform`
    "log" takes log₁₀ of values, at least `floor` (a hundredth of the human's, or 1). An agent whose
    tasks are observed for less than `coverage` is left out, and counted. `success` says what counts
    for curves of tasks; without it, each fold's median of the task does. `cost` is a column or an
    array, `groups` a classification, `families` a column of the agents' table: families stay whole.
    `given_target` is what to predict of each agent, where that is not an aggregate of these results.

    >>> scores = np.arange(20.0).reshape(5, 4)
    >>> benchmark(Results.from_numpy(scores)).scaling
    'z-score'
    """
    measure = check_results(results).measure_name(measure)
    goal = check_target(target)
    recipe = _recipe(results, measure, normalise, transform, floor, tuple(lexicographic))
    values = recipe.values(results)
    rows, left_out = _complete(values, results.agents, coverage)
    prepared = results if recipe.lexicographic else recipe.prepared(results)
    seen, found = _observed(prepared, recipe)
    noise, notes = _noise(found, seen, deviations)
    labels = _groups(results, groups)
    return Benchmark(
        tuple(results.agents[row] for row in rows),
        results.tasks,
        values[rows],
        terms_of(
            constraints or Constraints(),
            results.tasks,
            results.task_names,
            labels,
            task_costs(results, cost) if isinstance(cost, str) else cost,
        ),
        _scaling(recipe, goal),
        goal,
        _families(results, families, rows),
        recipe,
        None if labels is None else tuple("unknown" if one is None else one for one in labels),
        _success(results, recipe, success, rows),
        seen,
        Moments(*(part[:, rows] for part in found)),
        noise,
        _given(given_target, results.agents, rows),
        left_out,
        (*results.notes, *_told(left_out, coverage, recipe, goal), *notes),
    )


def _recipe(
    results: Results,
    measure: str,
    normaliser: str | None,
    transform: Transform,
    floor: float | None,
    lexicographic: tuple[str, ...],
) -> Recipe:
    if normaliser == "suggested":
        normaliser = suggested_normaliser(results, measure)
    name = None if normaliser in (None, "none") else str(normaliser).lower().replace("_", "-")
    if floor is None:
        floor = 0.01 if name == "human" else 1.0
    kept = Scales(scale for scale in results.scales if scale.measure == measure)
    provenance = results.provenance
    return Recipe(
        measure, results.item, provenance.reduction, name, kept, transform, floor, lexicographic
    )


def _scaling(recipe: Recipe, target: Target) -> Kind:
    if target == "rank-points":
        return "points"
    if recipe.lexicographic:
        return "rank"
    for kind in LEARNT:
        if recipe.normaliser == kind:
            return kind  # type: ignore[return-value]
    return "none"


def _complete(
    values: Array, agents: Sequence[str], coverage: float
) -> tuple[NDArray[np.intp], tuple[str, ...]]:
    if not 0 < coverage <= 1:
        raise InputError(f"The coverage is {coverage:g}. Give a share of the tasks in (0, 1].")
    if np.nanmax(np.abs(values), initial=0.0) > _LARGEST:
        raise InputError(
            f"There are scores beyond {_LARGEST:g}, whose squares no computer holds. Give them in "
            f"larger units."
        )
    share = np.isfinite(values).mean(axis=1)
    enough = share >= coverage - 1e-12
    rows = np.flatnonzero(enough)
    if len(rows) < LEAST_AGENTS:
        if len(agents) < LEAST_AGENTS:
            raise InputError(
                f"The results hold {counted(len(agents), 'agent')}, and choosing tasks needs "
                f"{LEAST_AGENTS}. Give results of more agents."
            )
        raise InputError(
            f"{counted(len(rows), 'agent')} of {len(agents)} were observed on at least {coverage:.0%} of "
            f"the tasks; choosing tasks needs {LEAST_AGENTS}. Lower the coverage (`--coverage`), or leave "
            f"out tasks that few agents played (`--drop`)."
        )
    return rows, tuple(agents[row] for row in np.flatnonzero(~enough).tolist())


def _observed(results: Results, recipe: Recipe) -> tuple[Observations, Moments]:
    names = [name.removeprefix("-") for name in recipe.lexicographic] or [recipe.measure]
    seen = observe(results, names)
    return seen, moments(seen)


def _noise(
    found: Moments, seen: Observations, deviations: Literal["own", "pooled"] | float | None
) -> tuple[Noise, tuple[str, ...]]:
    if deviations is not None:
        return Noise("trial", deviations), ()
    if all(seen.shares) or (found.trials > 1).any():
        return Noise("trial", "own"), ()
    return Noise("trial", STATED_DEVIATION), (
        f"No cell was repeated, so bits take a deviation of {STATED_DEVIATION:g} of the spread between "
        f"agents on each task; state another with `--deviations`.",
    )


def _groups(
    results: Results, groups: Classification | Mapping[str, str] | None
) -> list[str | None] | None:
    if groups is None:
        column = results.task_attributes.aligned(results.task_names, "group")
        labels = [None if value is None else str(value) for value in column]
        return None if all(label is None for label in labels) else labels
    if isinstance(groups, Classification):
        groups = {
            task: " · ".join(row) for task, row in zip(groups.tasks, groups.values, strict=True)
        }
    games = {atari_game(task): label for task, label in groups.items() if atari_game(task)}
    found = [
        groups.get(task, groups.get(name, games.get(atari_game(name))))
        for task, name in zip(results.tasks, results.task_names, strict=True)
    ]
    if all(label is None for label in found):
        raise InputError(
            f"None of the tasks is in the classification, which has {listed(groups)}. Check the names."
        )
    return found


def _families(
    results: Results, families: str | Mapping[str, str] | None, rows: NDArray[np.intp]
) -> tuple[str, ...]:
    agents = [results.agents[row] for row in rows]
    if families is None:
        return tuple(agents)
    if isinstance(families, str):
        if families in results.agent_attributes.columns:
            labels = results.agent_attributes.aligned(agents, families)
        elif families in results.attributes:
            column = results.column(families)
            first = dict(zip(reversed(results.agent_codes.tolist()), reversed(column), strict=True))
            labels = tuple(first[int(row)] for row in rows)
        else:
            known = (*results.agent_attributes.columns, *results.attributes)
            columns = f" Known columns: {listed(known)}." if known else ""
            raise InputError(
                f"No column {shorten(families)} says which agents belong together.{columns} Give a "
                f"table of agents (`--agents FILE`)."
            )
    else:
        labels = tuple(families.get(agent) for agent in agents)
    return tuple(
        agent if label is None else f"family {label}"
        for agent, label in zip(agents, labels, strict=True)
    )


def _given(
    target: Mapping[str, float] | None, agents: Sequence[str], rows: NDArray[np.intp]
) -> Array | None:
    if target is None:
        return None
    kept = [agents[row] for row in rows.tolist()]
    lacking = [agent for agent in kept if agent not in target]
    if lacking:
        raise InputError(
            f"The target of {listed(lacking, limit=5)} is not given. Give one for each agent."
        )
    return np.array([target[agent] for agent in kept], dtype=np.float64)


def _success(
    results: Results, recipe: Recipe, success: float | Landmark | None, rows: NDArray[np.intp]
) -> Array | None:
    from examiner.scores.normalise import normalise

    if success is None and not results.is_binary(recipe.measure):
        return None
    if recipe.fixed_normaliser is not None and not isinstance(success, str):
        results = normalise(results, recipe.fixed_normaliser, recipe.measure)
    return responses(results, success, measure=recipe.measure).to_numpy()[rows]


def _told(
    left_out: tuple[str, ...],
    coverage: float,
    recipe: Recipe,
    target: Target,
) -> tuple[str, ...]:
    notes = []
    if left_out:
        notes.append(
            f"{counted(len(left_out), 'agent')} observed on less than {coverage:.0%} of the tasks "
            f"{'was' if len(left_out) == 1 else 'were'} left out: {listed(left_out, limit=5)}."
        )
    if recipe.normaliser in LEARNT and target != "rank-points":
        notes.append(
            f"Normalised by {recipe.normaliser!r} inside each fold, from its agents alone."
        )
    return tuple(notes)
