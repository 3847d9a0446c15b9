"""Models compared: by cells they have not seen, and the binomial with the beta-binomial by likelihoods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Scalar, Table, error, name, number
from examiner.irt.estimation.arrays import log_choose
from examiner.irt.estimation.kernels import kernel_for
from examiner.irt.fit import fit as fit_irt
from examiner.irt.fit import shown
from examiner.irt.fitted import IRTFit
from examiner.irt.fitting import QUICKLY
from examiner.irt.items import Floats, curves, positions
from examiner.irt.model import Model
from examiner.irt.posterior import posterior_blocks
from examiner.messages import InputError, counted, listed
from examiner.results import ResponseMatrix
from examiner.scores import Progress
from examiner.validation import Randomness, generator

Fitter = Callable[[ResponseMatrix], IRTFit]


class ModelScores(Table):
    """Models by their predictions of held-out cells, the best first."""

    model: tuple[str, ...] = name("Model")
    log_score: Floats = number("Mean log predictive density of a held-out cell; larger is better")
    log_score_error: Floats = error("log_score")
    behind: Floats = number("Difference from the best model")
    behind_error: Floats = error("behind", "Standard error of the difference, over agents")


@dataclass(frozen=True, slots=True, repr=False)
class ModelComparison(Answer):
    """Models from the best to the worst, on the same held-out cells.

    `baseline` foretells every cell of a task by its mean alone, without abilities (NaN for
    continuous scores): a model that does no better has learnt nothing about agents.
    """

    kind: ClassVar[str] = "compare-models"

    models: ModelScores
    baseline: float
    cells: int
    folds: int
    left_out: int
    """Held-out cells that some model could not score: their task did not vary without them."""
    seed: int | None = None

    @property
    def best(self) -> str:
        """The model that predicted best."""
        return str(self.models.model[0])

    @property
    def as_good(self) -> tuple[str, ...]:
        """Models within two standard errors of the best, which is one of them."""
        return tuple(row.model for row in self.models if row.behind <= 2 * row.behind_error)

    @property
    def headline(self) -> str:
        """The model that predicts held-out cells best, and those not significantly worse."""
        start = f"The model {self.best} predicts {counted(self.cells, 'held-out cell')} best"
        others = [model for model in self.as_good if model != self.best]
        return f"{start}; {listed(others)} within two standard errors." if others else f"{start}."

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """The baseline, and how many cells were held out."""
        return {
            "baseline": Scalar(self.baseline, "Log score by the means of tasks alone"),
            "cells": Scalar(self.cells, "Held-out cells"),
            "folds": Scalar(self.folds, "Folds"),
            "excluded_cells": Scalar(self.left_out, "Held-out cells that a model could not score"),
        }

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """The seed of the folds."""
        return {"seed": self.seed}


def compare_models(
    matrix: ResponseMatrix,
    models: Sequence[str] | Mapping[str, Fitter] = ("1pl", "2pl", "3pl"),
    *,
    folds: int = 5,
    rng: Randomness = 0,
    progress: Progress | None = None,
) -> ModelComparison:
    r"""Compare models by cells held out of the fit.

    Each task's cells are dealt into `folds` parts. A model is fitted without one part (by default
    with its priors and one start), and foretells each cell of that part from what the same agent
    did on the others:

    .. math:: \log \int f(x_{ji} | \theta) \, p(\theta | x_{j, \text{kept}}) \, d\theta

    Standard errors are over agents, whose cells stand or fall together. `models` are names, or a
    mapping from names to functions from responses to a fit.

    References: Vehtari & Ojanen (2012), section 5.1; Stenhaug & Domingue (2022), for IRT.

    >>> from examiner.irt import ItemParameters, simulate
    >>> items = ItemParameters.of([f"t{n}" for n in range(12)], np.linspace(-1, 3, 12), np.zeros(12))
    >>> compare_models(simulate(items, 150, rng=0), ["1pl", "2pl"], folds=3, rng=0).best
    '2pl'
    """
    observed = matrix.observed
    if not 2 <= folds <= int(observed.sum(axis=0).max()):
        raise InputError(f"Cannot deal the cells of a task into {folds} folds. Choose 2 to 10.")
    fitters = _fitters(models)
    part = _dealt(observed, folds, generator(rng))
    scores = {name: np.full(matrix.shape, np.nan) for name in fitters}
    baseline = np.full(matrix.shape, np.nan)
    jobs = [(fold, name) for fold in range(folds) for name in fitters]
    for fold, model in shown(jobs, "comparing", progress):
        held = part == fold
        kept = _masked(matrix, observed & ~held)
        _score_by_means(matrix, kept, held, baseline)
        _score(matrix, kept, held, fitters[model](kept), scores[model])
    compared = _comparison(scores, baseline, observed, folds)
    return replace(compared, seed=rng if isinstance(rng, int) else None)


def _fitters(models: Sequence[str] | Mapping[str, Fitter]) -> dict[str, Fitter]:
    if not models:
        raise InputError("No model is given. Name at least one, better two.")
    if isinstance(models, Mapping):
        return dict(models)
    return {name: partial(fit_irt, model=name, **QUICKLY) for name in models}


def _dealt(observed: NDArray[np.bool_], folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """A fold for each observed cell, even within each task; −1 elsewhere."""
    part = np.full(observed.shape, -1, dtype=np.int64)
    for task in range(observed.shape[1]):
        rows = np.flatnonzero(observed[:, task])
        part[rng.permutation(rows), task] = (np.arange(rows.size) + rng.integers(folds)) % folds
    return part


def _masked(matrix: ResponseMatrix, keep: NDArray[np.bool_]) -> ResponseMatrix:
    if matrix.is_counts:
        return ResponseMatrix.from_counts(
            np.where(keep, matrix.successes, 0).astype(matrix.successes.dtype),
            np.where(keep, matrix.trials, 0).astype(matrix.trials.dtype),
            matrix.agents,
            matrix.tasks,
        )
    return ResponseMatrix.from_array(
        np.where(keep, matrix.to_numpy(), np.nan), matrix.agents, matrix.tasks
    )


def _score(
    matrix: ResponseMatrix,
    kept: ResponseMatrix,
    held: NDArray[np.bool_],
    fit: IRTFit,
    scores: Floats,
) -> None:
    """Write the log predictive density of held-out cells of fitted tasks into `scores`."""
    items = fit.items
    columns = positions(matrix.tasks, items.tasks).tolist()
    part = kept.take(tasks=columns)
    seen = posterior_blocks(part, items, fit.quadrature, population_sd=fit.population_sd)
    weights = np.concatenate([block.weights for block in seen])
    whole = matrix.take(tasks=columns)
    kernel = kernel_for(items.response, whole, items)
    terms = kernel.terms(curves(items, fit.population_sd * fit.quadrature.nodes), items.precision)
    data = kernel.statistics(whole)
    for task, column in enumerate(columns):
        rows = np.flatnonzero(held[:, column])
        constant = kernel.constant(whole.take(tasks=[task]))[rows]
        height = sum(
            values[rows, task, None] * term[task] for values, term in zip(data, terms, strict=True)
        )
        top = np.max(height, axis=1, keepdims=True)
        mass = (weights[rows] * np.exp(height - top)).sum(axis=1)
        scores[rows, column] = constant + top[:, 0] + np.log(np.maximum(mass, 1e-300))


def _score_by_means(
    matrix: ResponseMatrix, kept: ResponseMatrix, held: NDArray[np.bool_], scores: Floats
) -> None:
    """Binomial log density at (k + ½)/(n + 1) of the task's kept cells."""
    if not matrix.is_counts:
        return
    won = kept.successes.sum(axis=0, dtype=np.float64)
    share = (won + 0.5) / (kept.trials.sum(axis=0, dtype=np.float64) + 1.0)
    k, n = matrix.successes.astype(np.float64), matrix.trials.astype(np.float64)
    density = k * np.log(share) + (n - k) * np.log1p(-share) + log_choose(n, k)
    scores[held] = density[held]


def _comparison(
    scores: dict[str, Floats], baseline: Floats, observed: NDArray[np.bool_], folds: int
) -> ModelComparison:
    common = observed.copy()
    for values in scores.values():
        common &= np.isfinite(values)
    cells = int(common.sum())
    if not cells:
        raise InputError(
            f"No held-out cell of {counted(observed.shape[1], 'task')} could be scored: every task "
            f"is constant once a fold is left out. Give more agents."
        )
    means = {name: float(values[common].mean()) for name, values in scores.items()}
    ranked = sorted(means, key=lambda name: -means[name])
    best = scores[ranked[0]]
    errors = {name: _error_over_agents(values, common) for name, values in scores.items()}
    apart = [_error_over_agents(best - scores[name], common) for name in ranked]
    table = ModelScores(
        model=ranked,
        log_score=[means[name] for name in ranked],
        log_score_error=[errors[name] for name in ranked],
        behind=[means[ranked[0]] - means[name] for name in ranked],
        behind_error=apart,
    )
    by_means = float(baseline[common].mean()) if np.isfinite(baseline[common]).all() else np.nan
    return ModelComparison(table, by_means, cells, folds, int(observed.sum()) - cells)


def _error_over_agents(values: Floats, common: NDArray[np.bool_]) -> float:
    """Standard error of the mean over cells, agents as clusters."""
    mean = values[common].mean()
    off = np.where(common, values - mean, 0.0).sum(axis=1)
    agents = int(common.any(axis=1).sum())
    if agents < 2:
        return float("nan")
    return float(np.sqrt((off**2).sum() * agents / (agents - 1)) / common.sum())


@dataclass(frozen=True, slots=True, repr=False)
class OverdispersionTest(Answer):
    """Twice the gain in log-likelihood of the beta-binomial over the binomial, and its p-value.

    `correlation` is ρ = 1 / (1 + ν), how much two trials of one cell correlate beyond the curve.
    """

    kind: ClassVar[str] = "overdispersion"

    statistic: float
    p_value: float
    precision: float
    correlation: float

    @property
    def headline(self) -> str:
        """How much trials of one cell correlate, and whether that is significant."""
        return (
            f"Trials of one cell correlate by {self.correlation:.3f} beyond the curve "
            f"(p = {self.p_value:.2g})."
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """None: the test is of all cells at once."""
        return {}

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """The test and the estimate."""
        return {
            "statistic": Scalar(self.statistic, "Twice the gain in log-likelihood"),
            "p_value": Scalar(self.p_value, "p-value of no overdispersion"),
            "precision": Scalar(self.precision, "Precision of the beta distribution of cells"),
            "correlation": Scalar(self.correlation, "Correlation of two trials of one cell"),
        }


def overdispersion(
    matrix: ResponseMatrix, model: str | Model = "2pl", *, rng: Randomness = 0
) -> OverdispersionTest:
    r"""Test whether k of n trials scatter more than the binomial, by the ratio of likelihoods.

    Both models are fitted by maximum likelihood. No overdispersion (1/ν = 0) is an end of the
    range, where half of all samples put the estimate when it is true; so

    .. math:: p = \tfrac12 P(\chi^2_1 \ge 2 (\ell_1 - \ell_0))

    References: Self & Liang (1987), case 5.

    >>> from examiner.irt import ItemParameters, simulate
    >>> items = ItemParameters.of([f"task {n}" for n in range(8)], np.ones(8), np.linspace(-1, 1, 8))
    >>> matrix = simulate(items, 100, trials=4, interaction=1.5, rng=0)
    >>> bool(overdispersion(matrix, "1pl").p_value < 0.001)
    True
    """
    if not matrix.is_counts or int(matrix.trials.max()) < 2:
        raise InputError(
            "No cell has two trials, so that nothing is known of how alike trials are. "
            "Give successes of several trials."
        )
    from scipy.special import chdtrc

    plain = fit_irt(matrix, model, estimator="ml", response="binomial", errors=False, rng=rng)
    wide = fit_irt(matrix, model, estimator="ml", response="beta-binomial", errors=False, rng=rng)
    statistic = max(0.0, 2.0 * (wide.log_likelihood - plain.log_likelihood))
    p_value = 1.0 if statistic == 0.0 else float(0.5 * chdtrc(1, statistic))
    assert wide.items.precision is not None
    precision = float(wide.items.precision[0])
    return OverdispersionTest(statistic, p_value, precision, 1.0 / (1.0 + precision))
