"""Models compared by held-out cells, and a test of overdispersion by the ratio of likelihoods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, error, name, number, scalar
from examiner.irt.agent_posterior import agent_posteriors
from examiner.irt.estimation.arrays import log_choose
from examiner.irt.estimation.kernels import log_density
from examiner.irt.fit import fit as fit_irt
from examiner.irt.fit import shown
from examiner.irt.fitted import IRTFit
from examiner.irt.fitting import QUICKLY
from examiner.irt.items import Floats, positions
from examiner.irt.model import Model
from examiner.messages import InputError, counted, listed
from examiner.results import ResponseMatrix
from examiner.scores import Progress
from examiner.validation import Randomness, generator, seed_of

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

    `baseline` predicts every cell of a task by the mean of the task, without abilities (NaN for
    continuous scores): a model that does no better has learnt nothing about agents.
    """

    kind: ClassVar[str] = "compare-models"

    models: ModelScores
    baseline: float = field(metadata=scalar("Log score by the means of tasks alone"))
    cells: int = field(metadata=scalar("Held-out cells"))
    folds: int = field(metadata=scalar("Folds"))
    excluded_cells: int = field(metadata=scalar("Held-out cells that a model could not score"))
    """These are of tasks that do not vary without them."""
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


def compare_models(
    matrix: ResponseMatrix,
    models: Sequence[str] | Mapping[str, Fitter] = ("1pl", "2pl", "3pl"),
    *,
    folds: int = 5,
    rng: Randomness = 0,
    progress: Progress | None = None,
) -> ModelComparison:
    r"""Compare models by cells held out of the fit.

    Each task's cells are divided into `folds` parts. A model is fitted without one part (by default
    with its priors and one start), and predicts each cell of that part from the same agent's results on
    the others:

    .. math:: \log \int f(x_{ji} | \theta) \, p(\theta | x_{j, \text{kept}}) \, d\theta

    Standard errors are over agents, whose cells are not independent. `models` are names, or a
    mapping from names to functions from responses to a fit.

    References: Vehtari & Ojanen (2012), section 5.1; Stenhaug & Domingue (2022), for IRT.

    >>> from examiner.irt import ItemParameters, simulate
    >>> items = ItemParameters.of([f"t{n}" for n in range(12)], np.linspace(-1, 3, 12), np.zeros(12))
    >>> compare_models(simulate(items, 150, rng=0), ["1pl", "2pl"], folds=3, rng=0).best
    '2pl'
    """
    observed = matrix.observed
    if not 2 <= folds <= int(observed.sum(axis=0).max()):
        raise InputError(f"Cannot divide the cells of a task into {folds} folds. Choose 2 to 10.")
    if not models:
        raise InputError("No model is given. Name at least one, better two.")
    by_name = {name: partial(fit_irt, model=name, **QUICKLY) for name in models}
    fitters: Mapping[str, Fitter] = models if isinstance(models, Mapping) else by_name
    fold_of = _folds(observed, folds, generator(rng))
    scores = {name: np.full(matrix.shape, np.nan) for name in fitters}
    baseline = np.full(matrix.shape, np.nan)
    jobs = [(fold, name) for fold in range(folds) for name in fitters]
    for fold, model in shown(jobs, "comparing", progress):
        held_out = fold_of == fold
        kept = _masked(matrix, observed & ~held_out)
        if matrix.is_counts:
            baseline[held_out] = _log_scores_of_means(matrix, kept)[held_out]
        _score(matrix, kept, held_out, fitters[model](kept), scores[model])
    common = observed & np.isfinite(list(scores.values())).all(axis=0)
    cells = int(common.sum())
    if not cells:
        raise InputError(
            f"No held-out cell of {counted(observed.shape[1], 'task')} could be scored: every task "
            f"is constant once a fold is held out. Give more agents."
        )
    means = {name: float(values[common].mean()) for name, values in scores.items()}
    ranked = sorted(means, key=lambda name: -means[name])
    best = ranked[0]
    table = ModelScores(
        model=ranked,
        log_score=[means[name] for name in ranked],
        log_score_error=[_error_over_agents(scores[name], common) for name in ranked],
        behind=[means[best] - means[name] for name in ranked],
        behind_error=[_error_over_agents(scores[best] - scores[name], common) for name in ranked],
    )
    by_means = float(baseline[common].mean())
    return ModelComparison(table, by_means, cells, folds, int(observed.sum()) - cells, seed_of(rng))


def _folds(observed: NDArray[np.bool_], folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """A fold for each observed cell, balanced within each task; −1 elsewhere."""
    fold_of = np.full(observed.shape, -1, dtype=np.int64)
    for task in range(observed.shape[1]):
        rows = np.flatnonzero(observed[:, task])
        fold_of[rng.permutation(rows), task] = (np.arange(rows.size) + rng.integers(folds)) % folds
    return fold_of


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
    held_out: NDArray[np.bool_],
    fit: IRTFit,
    scores: Floats,
) -> None:
    """Write the log predictive density of held-out cells of fitted tasks into `scores`."""
    from scipy.special import logsumexp

    items, columns = fit.items, positions(matrix.tasks, fit.items.tasks).tolist()
    posteriors = agent_posteriors(
        kept.take(tasks=columns), items, fit.quadrature, population_sd=fit.population_sd
    )
    value = matrix.successes if matrix.is_counts else matrix.to_numpy()
    trials = matrix.trials if matrix.is_counts else matrix.observed
    for task, column in enumerate(columns):
        rows = np.flatnonzero(held_out[:, column])
        density = log_density(
            items.take(np.full(len(rows), task)),
            posteriors.nodes,
            value[rows, column].astype(np.float64),
            trials[rows, column].astype(np.int64),
        )
        scores[rows, column] = logsumexp(density, axis=1, b=posteriors.weights[rows])


def _log_scores_of_means(matrix: ResponseMatrix, kept: ResponseMatrix) -> Floats:
    """Binomial log density of all cells at (k + ½)/(n + 1) of the task's kept cells."""
    won = kept.successes.sum(axis=0, dtype=np.float64)
    share = (won + 0.5) / (kept.trials.sum(axis=0, dtype=np.float64) + 1.0)
    k, n = matrix.successes.astype(np.float64), matrix.trials.astype(np.float64)
    return np.asarray(k * np.log(share) + (n - k) * np.log1p(-share) + log_choose(n, k))


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

    statistic: float = field(metadata=scalar("Twice the gain in log-likelihood"))
    p_value: float = field(metadata=scalar("p-value of no overdispersion"))
    precision: float = field(metadata=scalar("Precision of the beta distribution of cells"))
    correlation: float = field(metadata=scalar("Correlation of two trials of one cell"))
    seed: int | None = None

    @property
    def headline(self) -> str:
        """How much trials of one cell correlate, and whether that is significant."""
        return (
            f"Trials of one cell correlate by {self.correlation:.3f} beyond the curve "
            f"(p = {self.p_value:.2g})."
        )


def overdispersion(
    matrix: ResponseMatrix, model: str | Model = "2pl", *, rng: Randomness = 0
) -> OverdispersionTest:
    r"""Test whether k of n trials vary more than the binomial, by the ratio of likelihoods.

    Both models are fitted by maximum likelihood. No overdispersion (1/ν = 0) is an end of the
    range, at which half of all samples without overdispersion have their estimate. Therefore

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
            "No cell has two trials, so that the correlation of trials is not known. "
            "Give successes of several trials."
        )
    from scipy.special import chdtrc

    seed = seed_of(rng)
    plain = fit_irt(matrix, model, estimator="ml", response="binomial", errors=False, rng=seed)
    wide = fit_irt(matrix, model, estimator="ml", response="beta-binomial", errors=False, rng=seed)
    statistic = max(0.0, 2.0 * (wide.log_likelihood - plain.log_likelihood))
    p_value = 1.0 if statistic == 0.0 else float(0.5 * chdtrc(1, statistic))
    assert wide.items.precision is not None
    precision = float(wide.items.precision[0])
    return OverdispersionTest(statistic, p_value, precision, 1.0 / (1.0 + precision), seed)
