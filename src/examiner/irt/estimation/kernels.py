"""How responses scatter around a task's curve: likelihoods with one shape.

The log-likelihood of a cell is a linear form in numbers that depend on the data alone:
log f(x | θ) = Σ_c T_c(x) · F_c(P(θ), ν) + h(x). So the log-likelihood of every agent at every node is
Σ_c T_c F_c, one matrix product for each c, and the M-step sees the data only through the products
S_c = T_cᵀ W with the posterior weights W. A kernel says what T_c, F_c and h are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from examiner.irt.estimation.arrays import log_choose
from examiner.irt.estimation.heights import Slopes
from examiner.irt.estimation.score_kernels import Beta, Normal, log_density_of_scores
from examiner.irt.items import SCORES, Curves, Floats, ItemParameters, Response, curves
from examiner.messages import InputError
from examiner.results import ResponseMatrix

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Counts = NDArray[np.unsignedinteger] | Floats
_MOST_TRIALS = 200
AS_BINOMIAL = 1e9
"""Beyond this precision a beta-binomial is a binomial, and its gamma functions lose their digits."""


class Kernel(Protocol):
    """What the fit needs to know of a likelihood."""

    def statistics(self, matrix: ResponseMatrix) -> tuple[Floats, ...]:
        """Return T_c, each [agents, tasks]; 0 where nothing was observed."""
        ...

    def constant(self, matrix: ResponseMatrix) -> Floats:
        """Return Σᵢ h(xᵢ) of every agent."""
        ...

    def terms(self, curves: Curves, precision: Floats | None) -> tuple[Floats, ...]:
        """Return F_c, each [tasks, nodes]."""
        ...

    def slopes(self, sums: Sequence[Floats], curves: Curves, precision: Floats | None) -> Slopes:
        """Return Σ_c S_c F_c and its derivatives, each [tasks, nodes]."""
        ...


def kernel_for(
    response: Response, matrix: ResponseMatrix, items: ItemParameters | None = None
) -> Kernel:
    """Return the likelihood that fits a response and its data, or say why there is none.

    Scores without ends count from the centres of `items`, where these are known.
    """
    if response in SCORES:
        return Beta() if response == "beta" else Normal(None if items is None else items.centre)
    if not matrix.is_counts:
        raise InputError(
            "These responses are continuous scores, not successes. Say what success is with "
            "`responses(results, success=…)` (a threshold, 'reference' or an agent to beat), "
            "or fit scores as they are: in [0, 1] with model='beta', any others with model='normal'."
        )
    if response == "binomial":
        return Binomial()
    return BetaBinomial(matrix.most_trials)


@dataclass(frozen=True, slots=True)
class Binomial:
    """k successes of n trials: log C(n, k) + k log(P / (1 − P)) + n log(1 − P)."""

    def statistics(self, matrix: ResponseMatrix) -> tuple[Floats, ...]:
        """Return the successes and the trials."""
        return self.of_counts(matrix.successes, matrix.trials)

    def of_counts(self, won: Counts, tried: Counts) -> tuple[Floats, ...]:
        """Return the same of any cells; all are 0 where nothing was observed."""
        return won.astype(np.float64, copy=False), tried.astype(np.float64, copy=False)

    def constant(self, matrix: ResponseMatrix) -> Floats:
        """Return Σ log C(n, k)."""
        return log_choices(matrix)

    def terms(self, curves: Curves, precision: Floats | None) -> tuple[Floats, ...]:
        """Return log(P / (1 − P)) and log(1 − P)."""
        failure = np.log(_safe(curves.failure))
        return np.log(_safe(curves.success)) - failure, failure

    def slopes(self, sums: Sequence[Floats], curves: Curves, precision: Floats | None) -> Slopes:
        """By P: k / P − (n − k) / (1 − P); the information is n / (P (1 − P)) where expected.

        As the data have it, it is k / P² + (n − k) / (1 − P)².
        """
        won, tried = sums
        lost = tried - won
        success, failure = _safe(curves.success), _safe(curves.failure)
        value = won * np.log(success) + lost * np.log(failure)
        up, down = 1.0 / success, 1.0 / failure
        by_success = won * up - lost * down
        return Slopes(value, by_success, None, tried * (up + down), beyond=by_success * (up - down))


@dataclass(frozen=True, slots=True)
class BetaBinomial:
    """k of n trials that share an interaction: k ~ Binomial(n, p) with p ~ Beta(Pν, (1 − P)ν).

    Gamma functions a whole number apart are products, so that the log-likelihood is log C(n, k)
    + Σ_{r<k} log(P + r/ν) + Σ_{r<n−k} log(1 − P + r/ν) − Σ_{r<n} log(1 + r/ν): linear in the
    indicators 1[k > r], 1[n − k > r] and 1[n > r]. Trials of one cell correlate by ρ = 1 / (ν + 1),
    and ν = ∞ is the binomial.
    """

    trials: int

    def statistics(self, matrix: ResponseMatrix) -> tuple[Floats, ...]:
        """Return 1[k > r], then 1[n − k > r], then 1[n > r], for r below the most trials."""
        return self.of_counts(matrix.successes, matrix.trials)

    def of_counts(self, won: Counts, tried: Counts) -> tuple[Floats, ...]:
        """Return the same of any cells; all are 0 where nothing was observed."""
        if self.trials > _MOST_TRIALS:
            raise InputError(
                f"A cell has {self.trials} trials; the beta-binomial takes at most {_MOST_TRIALS}. "
                f"Use response='binomial', or fit shares of successes with model='beta'."
            )
        return tuple(
            (counts > step).astype(np.float64)
            for counts in (won, tried - won, tried)
            for step in range(self.trials)
        )

    def constant(self, matrix: ResponseMatrix) -> Floats:
        """Return Σ log C(n, k)."""
        return log_choices(matrix)

    def terms(self, curves: Curves, precision: Floats | None) -> tuple[Floats, ...]:
        """Return log(P + r/ν), log(1 − P + r/ν) and −log(1 + r/ν) for every r."""
        per = _inverse(precision, curves)
        shares = (curves.success, curves.failure)
        rising = (
            np.log(_safe(share + step * per)) for share in shares for step in range(self.trials)
        )
        # the last of them are the same at every ability
        level = (-np.log1p(step * per) for step in range(self.trials))
        return (*rising, *(np.broadcast_to(part, curves.success.shape) for part in level))

    def slopes(self, sums: Sequence[Floats], curves: Curves, precision: Floats | None) -> Slopes:
        """By P: ±1 / (P + x) with x = r/ν; by log ν: −x / (P + x), and once more x P / (P + x)²."""
        per = _inverse(precision, curves)
        value, by_success, by_log_precision, information, bend = np.zeros(
            (5, *curves.success.shape)
        )
        for step in range(self.trials):
            won, lost, tried = sums[step], sums[self.trials + step], sums[2 * self.trials + step]
            extra = step * per
            up, down = _safe(curves.success + extra), _safe(curves.failure + extra)
            value += won * np.log(up) + lost * np.log(down) - tried * np.log1p(extra)
            up, down = 1.0 / up, 1.0 / down
            over_up, over_down, over = won * up, lost * down, tried / (1.0 + extra)
            by_success += over_up - over_down
            information += over_up * up + over_down * down
            if step:
                by_log_precision -= extra * (over_up + over_down - over)
                bend += extra * (over / (1.0 + extra) - over_up * (1.0 - extra * up))
                bend -= extra * over_down * (1.0 - extra * down)
        return Slopes(value, by_success, by_log_precision, information, bend)


def listed_statistics(
    kernel: Kernel,
    matrix: ResponseMatrix,
    order: NDArray[np.intp] | slice,
) -> tuple[csr_array, ...] | None:
    """Return the statistics of agents in some order as lists of cells, None where all cells are held."""
    cells = matrix.observed_cells
    if cells is None or not isinstance(kernel, Binomial | BetaBinomial):
        return None
    from scipy.sparse import csr_array  # slow to import

    index = np.int32 if len(cells) < np.iinfo(np.int32).max else np.int64
    columns, starts = cells.columns.astype(index, copy=False), cells.starts.astype(index)
    statistics = []
    for data in kernel.of_counts(*cells.parts):
        kind: type[np.floating] = np.float64
        whole = csr_array((data.astype(kind), columns, starts), shape=cells.shape)
        statistics.append(whole[order])
    return tuple(statistics)


def log_density(
    items: ItemParameters, at: Floats, value: Floats, trials: Floats | NDArray[np.int64]
) -> Floats:
    """Return log f(x | θ) of one answer to every task (rows) at every ability (columns).

    k of n is binomial, or beta-binomial with shapes Pν and (1 − P)ν; scores are as their kernels say.
    """
    from scipy.special import betaln, xlogy

    shape = curves(items, at)
    if items.response in SCORES:
        return log_density_of_scores(items, shape, value)
    up, down = _safe(shape.success), _safe(shape.failure)
    won, lost = value[:, None], (trials - value)[:, None]
    ways = log_choose(trials.astype(np.float64), value)[:, None]
    plain = xlogy(won, up) + xlogy(lost, down)
    if items.precision is None:
        return np.asarray(ways + plain)
    nu = items.precision[:, None]
    finite = np.where(nu < AS_BINOMIAL, nu, 1.0)
    shared = betaln(won + up * finite, lost + down * finite) - betaln(up * finite, down * finite)
    return np.asarray(ways + np.where(nu < AS_BINOMIAL, shared, plain))


def log_choices(matrix: ResponseMatrix) -> Floats:
    """Return Σᵢ log C(nᵢ, kᵢ) of every agent; 0 for single trials."""
    if matrix.most_trials <= 1:
        return np.zeros(len(matrix.agents))
    cells = matrix.observed_cells
    if cells is not None:
        won, tried = (part.astype(np.float64) for part in cells.parts)
        return cells.agent_sums(log_choose(tried, won))
    won, tried = matrix.successes.astype(np.float64), matrix.trials.astype(np.float64)
    return np.asarray(log_choose(tried, won).sum(axis=1))


def _inverse(precision: Floats | None, curves: Curves) -> Floats:
    if precision is None:
        return np.zeros((curves.success.shape[0], 1))
    return 1.0 / precision[:, None]


def _safe(shares: Floats) -> Floats:
    return np.maximum(shares, 1e-300)
