"""Selection: the few tasks chosen, and with them all that placing a new agent needs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple

import numpy as np

from examiner.messages import InputError, counted
from examiner.results import Results
from examiner.results.display import html_table
from examiner.scores import Recipe
from examiner.selection.benchmark import Benchmark, benchmark
from examiner.selection.evidence import fold_of
from examiner.selection.greedy import TaskSet
from examiner.selection.methods import (
    BEST_OF,
    DEFAULT,
    METHODS,
    Method,
    Select,
    able_methods,
    method_named,
)
from examiner.selection.prediction import Predictor, fit_predictor
from examiner.selection.proof.comparison import Comparison
from examiner.selection.proof.holdout import FOLDS, Holdout
from examiner.selection.proof.inner import best_of, inner_folds
from examiner.selection.proof.sets import Contest, random_sets
from examiner.selection.record import Record, record_of
from examiner.selection.shrinkage import Shrinkage
from examiner.validation import Bounds, Floats, Randomness, generator, seed_of


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """Chosen tasks with their predictor and recipe: all that placing a new agent needs.

    `level` is that of the intervals, `fingerprint` a hash of the results it was chosen on. `record` says
    how far off agents were that had no part in choosing, where that was judged.

    >>> scores = np.random.default_rng(0).normal(size=(8, 6)) + np.arange(8)[:, None]
    >>> select(Results.from_numpy(scores), 2, "regression", rng=0).unit
    'error of the aggregate removed'
    """

    chosen: TaskSet
    predictor: Predictor
    recipe: Recipe
    target: str
    level: Annotated[float, Bounds(1e-9, 1 - 1e-9, "a share between 0 and 1")]
    fingerprint: str
    record: Record | None = None

    def __post_init__(self) -> None:
        if self.chosen.tasks != self.predictor.tasks:
            raise InputError(
                "The predictor of this selection is of other tasks. Choose them again."
            )

    @property
    def method(self) -> str:
        """The method that chose."""
        return self.chosen.method

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks, in the order they were chosen."""
        return self.chosen.tasks

    @property
    def gain(self) -> Floats:
        """What each task added to those before it, in `unit`; shape [size]."""
        return self.chosen.gain

    @property
    def seed(self) -> int | None:
        """The seed of what was random in choosing."""
        return self.chosen.seed

    @property
    def unit(self) -> str:
        """What gains are measured in."""
        return self.chosen.unit

    @property
    def ends(self) -> tuple[float, float]:
        """Between what the aggregate lies: 0 and 1 where it is made of shares of successes."""
        learnt = self.recipe.learnt
        shares = learnt is not None and learnt.counts and self.recipe.transform == "none"
        return (0.0, 1.0) if shares else (-np.inf, np.inf)

    @property
    def knows_total(self) -> bool:
        """Whether it says how all tasks make the target; one of a macro-mean stored long ago may not."""
        total = self.recipe.total
        if total is None:
            return self.target != "macro-mean"
        return total.tasks == self.predictor.all_tasks

    @property
    def cost(self) -> float:
        """The total cost, in tasks where no cost was given."""
        return self.chosen.cost

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know."""
        return self.chosen.notes

    def __len__(self) -> int:
        return len(self.chosen)

    def __repr__(self) -> str:
        names = ", ".join(self.tasks[:6]) + (", …" if len(self) > 6 else "")
        return f"Selection of {counted(len(self), 'task')} by {self.method}: {names}"

    def _repr_html_(self) -> str:
        rows = [[task, float(gain)] for task, gain in zip(self.tasks, self.gain, strict=True)]
        return html_table(repr(self), ["task", self.unit], rows, self.notes)


def select(
    source: Results | Benchmark,
    size: int | None = None,
    method: str | Select = DEFAULT,
    *,
    rng: Randomness = 0,
    inner: int = 5,
    level: float = 0.9,
) -> Selection:
    """Choose a few tasks, and learn to predict the full benchmark from them.

    What is chosen is said as in `choose`; `level` is that of the intervals (see `with_predictor`).
    `select_and_judge` validates the choice on held-out agents too.

    >>> scores = np.random.default_rng(0).normal(size=(20, 6)) + np.arange(20)[:, None]
    >>> select(Results.from_numpy(scores), 2, "regression", rng=0)
    Selection of 2 tasks by regression: task 6, task 2
    """
    whole = source if isinstance(source, Benchmark) else benchmark(source)
    seed = seed_of(rng)
    shrinkage = settle(whole) if method == DEFAULT else None
    chosen = choose(whole, size, method, rng=seed, inner=inner, shrinkage=shrinkage)
    return with_predictor(whole, chosen, rng=seed, level=level, shrinkage=shrinkage)


def settle(whole: Benchmark) -> Shrinkage | None:
    """Return how far covariances of all agents are shrunk, to be found once for choosing and predicting.

    >>> scores = np.random.default_rng(0).normal(size=(8, 6)) + np.arange(8)[:, None]
    >>> settle(benchmark(Results.from_numpy(scores))).rungs
    (2,)
    """
    return fold_of(whole, whole.everyone, ("shrinkage",), curves=False).evidence.shrinkage


def choose(
    source: Results | Benchmark,
    size: int | None = None,
    method: str | Select = DEFAULT,
    *,
    rng: Randomness = 0,
    inner: int = 5,
    shrinkage: Shrinkage | None = None,
) -> TaskSet:
    """Choose a few tasks by a method of `METHODS`, a function like them, or "best_of".

    Best-of takes the method whose sets predict best in `inner` folds over the agents. Demands, costs
    and a budget (instead of a size) are those of `benchmark`. `shrinkage` is what `settle` found before.

    >>> scores = np.random.default_rng(0).normal(size=(8, 6)) + np.arange(8)[:, None]
    >>> chosen = choose(Results.from_numpy(scores), 2, "regression", rng=0)
    >>> len(chosen), chosen.unit
    (2, 'error of the aggregate removed')
    """
    whole = source if isinstance(source, Benchmark) else benchmark(source)
    size = _size(whole, size)
    seed = seed_of(rng)
    drawing = generator(seed)
    notes: tuple[str, ...] = ()
    if method in (BEST_OF, "best-of"):
        name, entered, notes = _best_method(whole, size, inner, drawing)
    else:
        name, entered = method_named(method)
    needs = entered.needs if name in METHODS else ("channels", "items", "ability")
    evidence = fold_of(whole, whole.everyone, needs, shrinkage=shrinkage, curves=False).evidence
    chosen = entered.select(evidence, size, drawing)
    return replace(chosen, notes=(*whole.notes, *(notes or chosen.notes)), seed=seed)


def with_predictor(
    whole: Benchmark,
    chosen: TaskSet,
    *,
    rng: Randomness = 0,
    level: float = 0.9,
    proof: Comparison | None = None,
    shrinkage: Shrinkage | None = None,
) -> Selection:
    """Learn from all agents to predict the full benchmark from chosen tasks.

    Intervals rest on how far off each agent was while it had no part in choosing: in the `proof`,
    where that left every agent out, else in ten folds made here. Taking the tasks as given would be
    too sure, since they suit the agents they were chosen on. What the best and the worst quarter of agents
    show while they are left out together widens intervals towards both ends. A note warns where the
    tasks are not shown to predict better than random sets of as many.

    >>> scores = np.random.default_rng(0).normal(size=(8, 6)) + np.arange(8)[:, None]
    >>> whole = benchmark(Results.from_numpy(scores))
    >>> with_predictor(whole, choose(whole, 2, "spread", rng=0), rng=0).method
    'spread'
    """
    method = METHODS.get(chosen.method)
    if method is None or chosen.method == "random":
        method = Method(lambda *_: chosen, (), True, "as given")
    size = _size(whole, None if whole.terms.budget is not None else len(chosen))
    rng = generator(rng)
    judged = None if proof is None else _judged(whole, chosen, proof)
    draws = random_sets(whole, (size,), Holdout().draws, rng) if judged is None else ()
    contest = Contest(((chosen.method, method),), (size,), draws, FOLDS, level)
    fold = fold_of(whole, whole.everyone, contest.needs, shrinkage=shrinkage)
    inner = inner_folds(whole, contest, fold, rng, parts=judged is None)
    if judged is None:
        warning = inner.beside.luck(0, 0).warning(chosen.method, len(chosen))
    else:
        inner, warning = inner._replace(off=judged.off[None, None]), judged.warning
    notes = chosen.notes if warning is None else (*chosen.notes, warning)
    return Selection(
        replace(chosen, notes=notes),
        fit_predictor(fold, chosen.columns, inner.held_out((0, 0), level)),
        whole.recipe,
        whole.target,
        level,
        whole.fingerprint,
        None if judged is None else judged.record,
    )


def _best_method(
    whole: Benchmark, size: int, inner: int, rng: np.random.Generator
) -> tuple[str, Method, tuple[str, ...]]:
    able, notes = able_methods(whole)
    contest = Contest(tuple(able.items()), (size,), (), inner, 0.9)
    fold = fold_of(whole, whole.everyone, contest.needs)
    off = inner_folds(whole, contest, fold, rng, ends=False).off
    names = list(able)
    name = names[best_of(off, names)[0]]
    error = np.nanmean(np.abs(off[names.index(name), 0]))
    told = f"Best-of took {name}, whose predictions in {inner} folds were off by {error:.3g}."
    return name, able[name], (*notes, told)


class _Judged(NamedTuple):
    off: Floats
    warning: str | None
    record: Record


def _judged(whole: Benchmark, chosen: TaskSet, proof: Comparison) -> _Judged | None:
    """How far off each agent was in a comparison; None where it does not tell of all of them."""
    size = proof.sizes[-1] if whole.terms.budget is not None else len(chosen)
    method = BEST_OF if BEST_OF in proof.methods else chosen.method
    if proof.agents != whole.agents or method not in proof.methods or size not in proof.sizes:
        return None
    at = proof.methods.index(method), proof.sizes.index(size)
    off: Floats = proof.truth - proof.predicted[at]
    known = np.isfinite(off[whole.judged]).all()
    if not known:
        return None
    return _Judged(off, proof.warning(method, size), record_of(proof, method, size))


def _size(whole: Benchmark, size: int | None) -> int:
    if size is None and whole.terms.budget is None:
        raise InputError("Neither a size nor a budget was given. Say how many tasks to choose.")
    return int(whole.terms.offered.sum()) if size is None else size
