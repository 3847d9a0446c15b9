"""The door: choose a few tasks, and keep with them all that placing a new agent needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.results import Results
from examiner.results.atari import atari_game
from examiner.selection.entering import BEST_OF, able_methods, method_named
from examiner.selection.gathering import benchmark as gather_material
from examiner.selection.judging import Contest, best_of, inner_residuals
from examiner.selection.material import Benchmark, fold_of
from examiner.selection.methods import METHODS, Select
from examiner.selection.prediction import UNEXPECTED, Predictor, fit_predictor
from examiner.selection.quality import Comparison
from examiner.selection.recipe import Recipe
from examiner.selection.selection import Selection
from examiner.wording import InputError, listed

Array = NDArray[np.float64]
HELD_OUT_FOLDS = 10


def select(
    source: Results | Benchmark,
    size: int | None = None,
    method: str | Select = BEST_OF,
    *,
    rng: np.random.Generator,
    inner: int = 5,
) -> Selection:
    """Choose a few tasks by a method of `METHODS`, a function like them, or "best_of".

    Best-of takes the method whose sets predict best in `inner` folds over the agents. Demands, costs
    and a budget (instead of a size) are those of `gather_material`.

    >>> scores = np.random.default_rng(0).normal(size=(8, 6)) + np.arange(8)[:, None]
    >>> chosen = select(Results.from_numpy(scores), 2, "regression", rng=np.random.default_rng(0))
    >>> len(chosen.tasks), chosen.unit
    (2, 'error of the aggregate removed')
    """
    material = gather_material(source) if isinstance(source, Results) else source
    size = _size(material, size)
    rows = np.arange(len(material.agents))
    if method in (BEST_OF, "best-of"):
        able, notes = able_methods(material)
        contest = Contest(tuple(able.items()), (size,), (), inner, 0.9)
        off = inner_residuals(material, contest, rows, rng)
        names = list(able)
        name = names[best_of(off, names)[0]]
        error = np.abs(off[names.index(name), 0]).mean()
        told = f"Best-of took {name}, whose predictions in {inner} folds were off by {error:.3g}."
        chosen = METHODS[name].select(
            fold_of(material, rows, METHODS[name].needs).evidence, size, rng
        )
        return replace(chosen, notes=(*material.notes, *notes, told))
    name, known = method_named(method)
    needs = known.needs if name in METHODS else ("channels", "items", "ability")
    chosen = known.select(fold_of(material, rows, needs).evidence, size, rng)
    return replace(chosen, notes=(*material.notes, *chosen.notes))


class SetPlacement(NamedTuple):
    """What the few tasks say of one agent: predicted aggregate, its interval, ranks, and surprises."""

    agent: str
    value: float
    low: float
    high: float
    rank_low: int
    rank_high: int
    unexpected: tuple[tuple[str, float], ...]  # task, and by how many deviations
    missing: tuple[str, ...]
    tasks: Mapping[str, float]  # every task predicted, in comparable units


@dataclass(frozen=True, slots=True, eq=False)
class ChosenSet:
    """Chosen tasks with their predictor and recipe: all that placing a new agent needs.

    >>> scores = np.random.default_rng(0).normal(size=(8, 6)) + np.arange(8)[:, None]
    >>> material = gather_material(Results.from_numpy(scores), normalise=None)
    >>> rng = np.random.default_rng(0)
    >>> chosen = chosen_set(material, select(material, 2, "regression", rng=rng), rng=rng)
    >>> ChosenSet.from_dict(chosen.to_dict()).selection.tasks == chosen.selection.tasks
    True
    """

    selection: Selection
    predictor: Predictor
    recipe: Recipe
    target: str
    level: float
    fingerprint: str

    def place(self, results: Results) -> tuple[SetPlacement, ...]:
        """Predict the full benchmark of agents from their raw results on the chosen tasks.

        >>> scores = np.random.default_rng(0).normal(size=(20, 6)) + np.arange(20)[:, None]
        >>> results = Results.from_numpy(scores)
        >>> material = gather_material(results, normalise=None)
        >>> rng = np.random.default_rng(0)
        >>> chosen = chosen_set(material, select(material, 2, "regression", rng=rng), rng=rng)
        >>> new = results.where(results.agent_codes == 3)
        >>> 1 < chosen.place(new)[0].value < 5
        True
        """
        if self.recipe.lexicographic:
            raise InputError(
                f"These tasks were chosen by the order of {', '.join(self.recipe.lexicographic)} among "
                f"agents, which a new agent has only beside them. Give all agents to `examiner compare`."
            )
        values = self._aligned(results)
        predicted = self.predictor.aggregate(values, self.level)
        ranks = self.predictor.rank(predicted)
        surprise = self.predictor.surprise(values)
        tasks = self.predictor.each_task(values)
        return tuple(
            SetPlacement(
                agent,
                float(predicted.value[place]),
                float(predicted.low[place]),
                float(predicted.high[place]),
                ranks[place][0],
                ranks[place][1],
                self._unexpected(surprise[place]),
                tuple(np.array(self.selection.tasks)[np.isnan(values[place])].tolist()),
                dict(zip(self.predictor.all_tasks, tasks[place].tolist(), strict=True)),
            )
            for place, agent in enumerate(results.agents)
        )

    def _aligned(self, results: Results) -> Array:
        known = self.recipe.values(results)
        places = {atari_game(task) or task: place for place, task in enumerate(results.tasks)}
        places |= {task: place for place, task in enumerate(results.tasks)}
        found = [
            places.get(task, places.get(atari_game(task) or "")) for task in self.selection.tasks
        ]
        if all(place is None for place in found):
            raise InputError(
                f"None of the chosen tasks is in the results: {listed(self.selection.tasks)}. Run at "
                f"least one of them."
            )
        values = np.full((len(results.agents), len(found)), np.nan)
        for column, place in enumerate(found):
            if place is not None:
                values[:, column] = known[:, place]
        idle = np.flatnonzero(np.isnan(values).all(axis=1)).tolist()
        if idle:
            raise InputError(
                f"{listed([results.agents[row] for row in idle], limit=5)} has no result on any of the "
                f"chosen tasks: {listed(self.selection.tasks)}. Run at least one of them, or leave the "
                f"agent out (`--drop agent:NAME`)."
            )
        return values

    def _unexpected(self, surprise: Array) -> tuple[tuple[str, float], ...]:
        return tuple(
            (task, float(by))
            for task, by in zip(self.selection.tasks, surprise, strict=True)
            if np.isfinite(by) and abs(by) > UNEXPECTED
        )

    def to_dict(self) -> dict[str, Any]:  # Any: JSON values
        """Return tasks, predictor and recipe as JSON values.

        >>> scores = np.random.default_rng(0).normal(size=(8, 6)) + np.arange(8)[:, None]
        >>> material = gather_material(Results.from_numpy(scores), normalise=None)
        >>> rng = np.random.default_rng(0)
        >>> chosen = chosen_set(material, select(material, 2, "spread", rng=rng), rng=rng)
        >>> sorted(chosen.to_dict())
        ['input', 'level', 'predictor', 'recipe', 'selection', 'target']
        """
        return {
            "selection": self.selection.to_dict(),
            "target": self.target,
            "level": self.level,
            "input": self.fingerprint,
            "recipe": self.recipe.to_dict(),
            "predictor": self.predictor.to_dict(),
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> ChosenSet:  # Any: JSON values
        """Read what `to_dict` gave.

        >>> ChosenSet.from_dict({})
        Traceback (most recent call last):
        ...
        examiner.wording.InputError: The stored selection lacks 'selection'. Store it again with \
`examiner select -o`.
        """
        try:
            made = cls(
                Selection.from_dict(stored["selection"]),
                Predictor.from_dict(stored["predictor"]),
                Recipe.from_dict(stored["recipe"]),
                str(stored["target"]),
                float(stored["level"]),
                str(stored["input"]),
            )
        except KeyError as problem:
            raise InputError(
                f"The stored selection lacks {problem.args[0]!r}. Store it again with `examiner select -o`."
            ) from None
        except (TypeError, ValueError, AttributeError, OverflowError) as problem:
            if isinstance(problem, InputError):
                raise
            raise InputError(
                f"The stored selection is damaged: {problem}. Store it again with `examiner select -o`."
            ) from None
        if made.selection.tasks != made.predictor.tasks or not 0 < made.level < 1:
            raise InputError(
                "The stored selection is damaged: its predictor is of other tasks, or its level no "
                "share between 0 and 1. Store it again with `examiner select -o`."
            )
        return made


def chosen_set(
    material: Benchmark,
    selection: Selection,
    comparison: Comparison | None = None,
    *,
    rng: np.random.Generator,
    level: float = 0.9,
) -> ChosenSet:
    """Fit the predictor of a selection on all agents.

    Intervals rest on how far off each agent was while it had no part in choosing: in the `comparison`,
    where it left every agent out, else in ten folds made here. Taking the tasks as given would be too
    sure, since they suit the agents they were chosen on.

    >>> scores = np.random.default_rng(0).normal(size=(8, 6)) + np.arange(8)[:, None]
    >>> material = gather_material(Results.from_numpy(scores), normalise=None)
    >>> rng = np.random.default_rng(0)
    >>> chosen = select(material, 2, "regression", rng=rng)
    >>> chosen_set(material, chosen, rng=rng).predictor.tasks == chosen.tasks
    True
    """
    rows = np.arange(len(material.agents))
    residual = None if comparison is None else _judged_residual(material, selection, comparison)
    if residual is None and selection.method in METHODS and selection.method != "random":
        size = _size(material, None if material.terms.budget is not None else len(selection))
        entered = ((selection.method, METHODS[selection.method]),)
        contest = Contest(entered, (size,), (), HELD_OUT_FOLDS, level)
        residual = inner_residuals(material, contest, rows, rng)[0, 0]
    return ChosenSet(
        selection,
        fit_predictor(fold_of(material, rows, ()), selection.places, residual),
        material.recipe,
        material.target,
        level,
        material.fingerprint,
    )


def _judged_residual(
    material: Benchmark, selection: Selection, comparison: Comparison
) -> Array | None:
    """How far off each agent was in a comparison; None where it does not tell of all of them."""
    size = comparison.sizes[-1] if material.terms.budget is not None else len(selection)
    method = BEST_OF if BEST_OF in comparison.methods else selection.method
    if (
        comparison.agents != material.agents
        or method not in comparison.methods
        or size not in comparison.sizes
    ):
        return None
    at = comparison.methods.index(method), comparison.sizes.index(size)
    residual: Array = comparison.truth - comparison.predicted[at]
    return residual if np.isfinite(residual).all() else None


def _size(material: Benchmark, size: int | None) -> int:
    if size is None and material.terms.budget is None:
        raise InputError("Neither a size nor a budget was given. Say how many tasks to choose.")
    return int(material.terms.offered.sum()) if size is None else size
