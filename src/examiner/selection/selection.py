"""Selection: the few selected tasks, with all that predicting a new agent from them needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, NamedTuple

import numpy as np

from examiner.answers import Answer, Row, Scalar, Table
from examiner.messages import InputError, counted
from examiner.results import Results
from examiner.scores import Recipe, value_unit
from examiner.selection.benchmark import Benchmark, benchmark_of
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
    usual_method,
)
from examiner.selection.prediction import Predictor, fit_predictor
from examiner.selection.proof.beyond import BeyondTraining
from examiner.selection.proof.folds import best_of, inner_folds
from examiner.selection.proof.holdout import FOLDS, Holdout
from examiner.selection.proof.judgement import MethodJudgement
from examiner.selection.proof.sets import Contest, random_sets
from examiner.selection.reasons import SelectedTasks, SelectionReasons, reasons_of
from examiner.selection.record import Record, record_of
from examiner.selection.shrinkage import Shrinkage
from examiner.validation import Bounds, Floats, Randomness, generator, seed_of

_UNSTORED = {"stored": False}
"""Of parts of a selection that are not written to its file."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Selection(Answer):
    """Selected tasks and why, with all that predicting a new agent from them needs.

    `level` is that of the intervals, `fingerprint` a hash of the results they were selected on. `record`
    has the errors of held-out agents, and `judgement` all figures, where it was judged; `beyond` has those
    of the best and the newest third of agents. A file keeps neither these two nor the reasons.

    >>> scores = np.random.default_rng(0).normal(size=(8, 6)) + np.arange(8)[:, None]
    >>> select(Results.from_numpy(scores), 2, "regression", rng=0).unit
    'error of the aggregate removed'
    """

    kind = "selection"

    chosen: TaskSet
    predictor: Predictor
    recipe: Recipe
    target: str
    level: Annotated[float, Bounds(1e-9, 1 - 1e-9, "a share between 0 and 1")]
    fingerprint: str
    record: Record | None = None
    judgement: MethodJudgement | None = field(default=None, metadata=_UNSTORED)
    beyond: BeyondTraining | None = field(default=None, metadata=_UNSTORED)
    reasons: SelectionReasons | None = field(default=None, metadata=_UNSTORED)
    budget: float | None = field(default=None, metadata=_UNSTORED)
    cost_of_all: float | None = field(default=None, metadata=_UNSTORED)

    def __post_init__(self) -> None:
        if self.chosen.tasks != self.predictor.tasks:
            raise InputError(
                "The predictor of this selection is of other tasks. Choose them again."
            )

    @property
    def tasks(self) -> SelectedTasks:
        """The tasks in the order they were selected, and what each adds."""
        if self.reasons is not None:
            return self.reasons.tasks
        return SelectedTasks(task=self.chosen.tasks, gain=self.chosen.gain)

    @property
    def headline(self) -> str:
        """How well the tasks predict held-out agents, or that this was not judged."""
        size, every = len(self), len(self.predictor.all_tasks)
        subject = f"{size:,} of {counted(every, 'task')}"
        verb = "predicts" if size == 1 else "predict"
        start = f"{subject} {verb} the {self.target} of held-out agents with"
        judged = self.figures
        if judged is not None and np.isnan(judged.r2):
            return f"{subject} cannot be judged: held-out agents are all equal, or too few."
        if judged is not None:
            random = self.random_figures
            beside = "" if random is None else f"random selections: {random.r2:.3g}"
            if np.isfinite(judged.r2_low):
                interval = f"95 % interval {judged.r2_low:.3g} to {judged.r2_high:.3g}"
                beside = f"{interval}; {beside}" if beside else interval
            return (
                f"{start} R² {judged.r2:.3g}{f' ({beside})' if beside else ''} and a mean absolute error "
                f"of {judged.mae:.3g}."
            )
        if self.record is not None:
            return (
                f"{start} a mean absolute error of {self.record.error:.3g} (random selections: "
                f"{self.record.random_error:.3g})."
            )
        verb = "was" if size == 1 else "were"
        return f"{subject} {verb} selected by {self.method}, without validation on held-out agents."

    @property
    def tables(self) -> Mapping[str, Table]:
        """The tasks, and, where the selection was judged, methods, predictions, alarms and stability."""
        tables: dict[str, Table] = {"tasks": self.tasks}
        if self.reasons is not None:
            tables["similar"] = self.reasons.similar
        if self.judgement is not None:
            size = self._judged_size
            tables["methods"] = self.judgement.methods
            tables["predictions"] = self.judgement.predictions(self._judged_method, size)
            tables["stability"] = self.judgement.stability
        if self.beyond is not None:
            tables["beyond"] = self.beyond
        if self.record is not None:
            tables["alarms"] = self.record.table(value_unit(self.recipe))
        return tables

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """The size, method and cost of the selection, and its figures on held-out agents."""
        priced = self.tasks.cost is not None
        scalars = {
            "size": Scalar(len(self), "Number of selected tasks"),
            "of_tasks": Scalar(len(self.predictor.all_tasks), "Number of all tasks"),
            "agents": Scalar(len(self.predictor.agents), "Number of agents it was selected on"),
            "method": Scalar(self.method, "Selection method"),
            "gain_unit": Scalar(self.unit, "What gains of tasks are measured in"),
            "target": Scalar(self.target, "Aggregate that is predicted"),
            "cost": Scalar(self.cost if priced else None, "Cost of the selected tasks"),
            "cost_of_all": Scalar(self.cost_of_all if priced else None, "Cost of all tasks"),
            "budget": Scalar(self.budget, "Maximum cost"),
        }
        return scalars | self._judged_scalars()

    def _judged_scalars(self) -> dict[str, Scalar]:
        row, random, record = self.figures, self.random_figures, self.record
        unit = value_unit(self.recipe)
        if row is None and record is not None:
            return {
                "mae": Scalar(record.error, "Mean absolute error for held-out agents", unit),
                "mae_low": Scalar(
                    record.error_low, "95 % interval of the mean absolute error", unit
                ),
                "mae_high": Scalar(
                    record.error_high, "95 % interval of the mean absolute error", unit
                ),
                "random_mae": Scalar(record.random_error, "The same of random selections", unit),
                "coverage": Scalar(record.coverage, "Share of agents inside their intervals"),
                "folds": Scalar(record.folds, "How agents are held out"),
            }
        if row is None or self.judgement is None:
            return {}
        columns = self.judgement.methods.columns
        names = ("r2", "mae", "relative_error", "kendall")
        scalars = {
            f"{name}{end}": Scalar(row[f"{name}{end}"], columns[name].meaning, columns[name].unit)
            for name in names
            for end in ("", "_low", "_high")
        }
        scalars["coverage"] = Scalar(row.coverage, columns["coverage"].meaning)
        if random is not None:
            scalars["random_r2"] = Scalar(random.r2, "R² of random selections of the same size")
            scalars["random_mae"] = Scalar(random.mae, "Mean absolute error of the same", unit)
        scalars["folds"] = Scalar(self.judgement.folds, "How agents are held out")
        limits = "What the agents at hand cannot show"
        scalars["limits"] = Scalar(self.judgement.limits or None, limits)
        return scalars

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """The seed, the level of intervals, and a hash of the results it was selected on."""
        return {"seed": self.seed, "level": self.level, "input": self.fingerprint}

    @property
    def _judged_method(self) -> str:
        named = () if self.judgement is None else self.judgement.names
        return BEST_OF if BEST_OF in named else self.method

    @property
    def _judged_size(self) -> int:
        assert self.judgement is not None
        sizes = self.judgement.sizes
        return len(self) if len(self) in sizes else sizes[-1]  # a budget is one size

    @property
    def figures(self) -> Row | None:
        """The figures of the selection on held-out agents; None where it was not judged."""
        if self.judgement is None:
            return None
        return self.judgement.row(self._judged_method, self._judged_size)

    @property
    def random_figures(self) -> Row | None:
        """The figures of random selections of the same size; None where none were judged."""
        if self.judgement is None or "random" not in self.judgement.methods:
            return None
        return self.judgement.row("random", self._judged_size)

    @property
    def method(self) -> str:
        """The selection method."""
        return self.chosen.method

    @property
    def seed(self) -> int | None:
        """The seed of random choices."""
        return self.chosen.seed

    @property
    def unit(self) -> str:
        """What gains are measured in."""
        return self.chosen.unit

    @property
    def ends(self) -> tuple[float, float]:
        """The bounds of the aggregate: 0 and 1 where it is computed from shares of successes."""
        learnt = self.recipe.learnt
        shares = learnt is not None and learnt.counts and self.recipe.transform == "none"
        return (0.0, 1.0) if shares else (-np.inf, np.inf)

    @property
    def knows_total(self) -> bool:
        """Whether it says how all tasks give the target; an old file of a macro-mean may not."""
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
        judged = () if self.judgement is None else self.judgement.notes
        return tuple(dict.fromkeys((*self.chosen.notes, *judged)))

    def __len__(self) -> int:
        return len(self.chosen)


def select(
    source: Results | Benchmark | Any,  # Any: all that `ex.read` takes
    size: int | None = None,
    method: str | Select | None = None,
    *,
    rng: Randomness = 0,
    inner: int = 5,
    level: float = 0.9,
) -> Selection:
    """Select a few tasks, and learn to predict the aggregate over all tasks from them.

    The source is a `benchmark`, or anything that `ex.read` takes. `choose` describes the other arguments;
    `level` is that of the intervals (see `with_predictor`). `select_and_judge` also validates the
    selection on held-out agents.

    >>> scores = np.random.default_rng(0).normal(size=(20, 6)) + np.arange(20)[:, None]
    >>> select(Results.from_numpy(scores), 2, "regression", rng=0).tasks.task
    ('task 6', 'task 2')
    """
    whole = benchmark_of(source)
    method, seed = method or usual_method(whole), seed_of(rng)
    shrinkage = settle(whole) if method == DEFAULT else None
    chosen = choose(whole, size, method, rng=seed, inner=inner, shrinkage=shrinkage)
    return with_predictor(whole, chosen, rng=seed, level=level, shrinkage=shrinkage)


def settle(whole: Benchmark) -> Shrinkage | None:
    """Return how far covariances of all agents are shrunk, to be found once for choosing and predicting.

    >>> scores = np.random.default_rng(0).normal(size=(8, 6)) + np.arange(8)[:, None]
    >>> settle(benchmark_of(Results.from_numpy(scores))).rungs
    (2,)
    """
    return fold_of(whole, whole.everyone, ("shrinkage",), curves=False).evidence.shrinkage


def choose(
    source: Results | Benchmark | Any,  # Any: all that `ex.read` takes
    size: int | None = None,
    method: str | Select | None = None,
    *,
    rng: Randomness = 0,
    inner: int = 5,
    shrinkage: Shrinkage | None = None,
) -> TaskSet:
    """Choose a few tasks by a method of `METHODS`, a function like them, or "best_of".

    By default that is "covariance", and "strata" where newer agents will be examined.
    Best-of takes the method whose sets predict best in `inner` folds over the agents. Demands, costs
    and a budget (instead of a size) are those of `benchmark`. `shrinkage` is what `settle` found before.

    >>> scores = np.random.default_rng(0).normal(size=(8, 6)) + np.arange(8)[:, None]
    >>> chosen = choose(Results.from_numpy(scores), 2, "regression", rng=0)
    >>> len(chosen), chosen.unit
    (2, 'error of the aggregate removed')
    """
    whole = benchmark_of(source)
    size, method = _size(whole, size), method or usual_method(whole)
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
    judgement: MethodJudgement | None = None,
    shrinkage: Shrinkage | None = None,
) -> Selection:
    """Learn from all agents to predict the full benchmark from chosen tasks.

    Intervals rest on the errors of agents while they were held out: in the `judgement`, where every agent
    was, else in ten folds. Intervals for the tasks as given would be too narrow, since the tasks suit the
    agents they were selected on. The errors of the best and the worst quarter of agents, held out together,
    widen intervals towards both ends. A note warns where the tasks are not shown to predict better than
    random selections of the same size.

    >>> scores = np.random.default_rng(0).normal(size=(8, 6)) + np.arange(8)[:, None]
    >>> whole = benchmark_of(Results.from_numpy(scores))
    >>> with_predictor(whole, choose(whole, 2, "spread", rng=0), rng=0).method
    'spread'
    """
    method = METHODS.get(chosen.method)
    if method is None or chosen.method == "random":
        method = Method(lambda *_: chosen, (), True, "as given")
    size = _size(whole, None if whole.terms.budget is not None else len(chosen))
    rng = generator(rng)
    judged = None if judgement is None else _judged(whole, chosen, judgement)
    draws = random_sets(whole, (size,), Holdout().draws, rng) if judged is None else ()
    contest = Contest(((chosen.method, method),), (size,), draws, FOLDS, level)
    fold = fold_of(whole, whole.everyone, contest.needs, shrinkage=shrinkage)
    inner = inner_folds(whole, contest, fold, rng, parts=judged is None)
    if judged is None:
        warning = inner.comparison.warning((0, 0), chosen.method, len(chosen))
    else:
        inner, warning = inner._replace(residuals=judged.off[None, None]), judged.warning
    notes = chosen.notes if warning is None else (*chosen.notes, warning)
    predictor = fit_predictor(fold, chosen.columns, inner.held_out((0, 0), level))
    return Selection(
        replace(chosen, notes=notes),
        predictor,
        whole.recipe,
        whole.target,
        level,
        whole.fingerprint,
        None if judged is None else judged.record,
        judgement=judgement,
        reasons=reasons_of(whole, fold.evidence, chosen, predictor),
        budget=whole.terms.budget,
        cost_of_all=float(whole.terms.cost.sum()) if whole.terms.priced else None,
    )


def _best_method(
    whole: Benchmark, size: int, inner: int, rng: np.random.Generator
) -> tuple[str, Method, tuple[str, ...]]:
    able, notes = able_methods(whole)
    contest = Contest(tuple(able.items()), (size,), (), inner, 0.9)
    fold = fold_of(whole, whole.everyone, contest.needs)
    off = inner_folds(whole, contest, fold, rng, ends=False).residuals
    names = list(able)
    name = names[best_of(off, names)[0]]
    error = np.nanmean(np.abs(off[names.index(name), 0]))
    taken = f"Best-of took {name}, whose mean absolute error in {inner} folds was {error:.3g}."
    return name, able[name], (*notes, taken)


class _Judged(NamedTuple):
    off: Floats
    warning: str | None
    record: Record


def _judged(whole: Benchmark, chosen: TaskSet, judgement: MethodJudgement) -> _Judged | None:
    """The errors of all agents in a judgement; None where some of them were not held out."""
    size = judgement.sizes[-1] if whole.terms.budget is not None else len(chosen)
    method = BEST_OF if BEST_OF in judgement.names else chosen.method
    judged = method in judgement.names and size in judgement.sizes
    if judgement.agents != whole.agents or not judged:
        return None
    at = judgement.names.index(method), judgement.sizes.index(size)
    off: Floats = judgement.truth - judgement.predicted[at]
    if not np.isfinite(off[whole.judged]).all():
        return None
    return _Judged(off, judgement.doubt(method, size), record_of(judgement, method, size))


def _size(whole: Benchmark, size: int | None) -> int:
    if size is None and whole.terms.budget is None:
        raise InputError("Neither a size nor a budget was given. Say how many tasks to choose.")
    return int(whole.terms.offered.sum()) if size is None else size
