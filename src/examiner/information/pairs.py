"""Likelihoods of pairs of agents on each task, and the entropy that sets of tasks leave."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.information.channels import Channels
from examiner.validation import Floats

BLOCK_CELLS = 1 << 16
"""Pairs of agents on tasks that are looked at together: they stay within the processor's cache."""
KEPT_CELLS = 1 << 25
"""Up to this many pairs on all tasks likelihoods are kept (512 MiB): sets are compared repeatedly."""
MOST_LEVELS = 16
"""With more levels, products over them take no less time than pairs of agents."""
LEAST_EXPONENT = -350.0
"""Smaller exponents count as this one: a product of two exponentials is never 0."""


class PairLikelihood:
    r"""Log-likelihood of each pair of agents on each task, in blocks: never all pairs of all tasks at once.

    .. math:: \ell_g(a_1, a_2) = -\sum_m \Big[\tfrac12 z_m^2 + \log\frac{s_m}{s_0}\Big], \qquad
              z_m = \frac{\mu_1 - \mu_2}{s_m}, \quad s_m = \sigma_1 + \sigma_2

    (papers/004, eq. 1, in logarithms; the spread "quadrature" has :math:`s_m^2 = \sigma_1^2 +
    \sigma_2^2`). It is symmetric. The constant :math:`s_0`, twice the geometric mean of a task's
    deviations, cancels in every row of the confusion matrix. A pair of which one was not observed has
    0, the typical value of an agent with itself, so that a missing cell separates no agents.

    Where agents have few different means and deviations on a task, as wins of a few trials have, these
    are its levels, and pairs of levels stand for pairs of agents; else every agent is a level.
    """

    def __init__(self, channels: Channels) -> None:
        deviation = channels.deviation.transpose(0, 2, 1)
        observed = np.isfinite(deviation)
        count = np.maximum(observed.sum(axis=2, keepdims=True), 1)
        logs = np.log(np.where(observed, deviation, 1.0))
        typical = logs.sum(axis=2, keepdims=True) / count
        mean = np.where(observed, channels.mean.transpose(0, 2, 1), 0.0) / np.exp(typical)
        logs = np.where(observed, logs - typical, 0.0)
        self.exact, self.usable = channels.model.exact, channels.usable
        self.diagonal: Floats = -logs.sum(axis=0)  # [tasks, agents]: an agent by itself
        self._spread, self._whitening = channels.model.spread, channels.whitening
        # Such that the spread of an agent with itself is its deviation
        unit = 2.0 if self._spread == "sum" else np.sqrt(2.0)
        self._cells = _Cells(mean / unit, np.exp(logs) / unit, observed)
        self._kept: list[_Piece] | None = None
        self._code = None if self.exact else _level_codes(self._cells)  # [tasks, agents]
        agents, tasks = self.shape
        self.levels = agents
        if self._code is not None:
            self.levels = int(self._code.max()) + 1
            example = np.zeros((tasks, self.levels), dtype=np.intp)
            np.put_along_axis(example, self._code, np.arange(agents)[None], axis=1)
            self._between_levels = self._between(np.arange(tasks), example, example)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of agents and of tasks."""
        return self.diagonal.shape[1], self.diagonal.shape[0]

    def blocks(
        self,
        tasks: NDArray[np.intp] | None = None,
        rows: NDArray[np.intp] | None = None,
        columns: int | None = None,
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Yield tasks and agents (by default all) that are looked at together, next to so many columns."""
        agents, count = self.shape
        tasks = np.arange(count) if tasks is None else tasks
        rows = np.arange(agents) if rows is None else rows
        columns = columns or agents
        height = max(1, BLOCK_CELLS // columns)
        for start in range(0, len(rows), height):
            part = rows[start : start + height]
            width = max(1, BLOCK_CELLS // (len(part) * columns))
            for first in range(0, len(tasks), width):
                yield tasks[first : first + width], part

    def logs(self, tasks: NDArray[np.intp], rows: NDArray[np.intp]) -> Floats:
        """Return log-likelihoods of some agents with all, [tasks, rows, agents]."""
        of_levels = self._logs(tasks, rows)
        if self._code is None:
            return of_levels
        return np.take_along_axis(of_levels, self._code[tasks][:, None], axis=2)

    def table(self, tasks: Sequence[int]) -> Floats:
        """Log-likelihood of each pair on all these tasks together (papers/004, eq. 4), [agents, agents].

        >>> from examiner.results import Results
        >>> pairs = PairLikelihood(Channels.of(Results.from_numpy([[[0.0, 1.0]], [[0.0, 1.0]]])))
        >>> bool((abs(pairs.table([0])) < 1e-15).all())
        True
        """
        total = np.zeros((self.shape[0],) * 2)
        for block, rows in self.blocks(np.asarray(tasks, dtype=np.intp)):
            total[rows] += self.logs(block, rows).sum(axis=0)
        return total

    def keep(self) -> None:
        """Keep likelihoods where memory allows, for sets that are compared repeatedly."""
        agents, tasks = self.shape
        if self._kept is None and agents * self.levels * tasks <= KEPT_CELLS:
            self._kept = list(self._pieces())

    def entropies(
        self,
        base: Floats,
        tasks: NDArray[np.intp] | None = None,
        rows: NDArray[np.intp] | None = None,
    ) -> tuple[Floats, Floats]:
        r"""Return the mean entropy of rows for a set together with each task, and that of the mean row.

        With :math:`K = e^\ell` of a task and :math:`B = e^b` of the set's log-likelihoods `base`, a row
        of the confusion matrix has the entropy

        .. math:: \log Z - \frac1Z \sum K B (\ell + b), \qquad Z = \sum K B

        in nats. By default it is that of all `tasks`, over all `rows`; the mean row is uniform unless the
        model is exact.
        """
        agents, count = self.shape
        number = agents if rows is None else len(rows)
        away = np.maximum(base - base.max(axis=1, keepdims=True), LEAST_EXPONENT)
        raised = np.exp(away)
        away *= raised
        entropy, mean = np.zeros(count), np.zeros((count, agents if self.exact else 0))
        kept = self._kept if tasks is None and rows is None else None
        for piece in self._pieces(tasks, rows) if kept is None else kept:
            near, near_logs = (self._by_level(part, piece) for part in (raised, away))
            total = _along(piece.likelihood, near)
            sums = _along(piece.likelihood, near_logs) + _along(piece.with_log, near)
            entropy[piece.tasks] += (np.log(total) - sums / total).sum(axis=0) / number
            if self.exact:
                shares = piece.likelihood * near[:, None] / total[:, :, None]
                mean[piece.tasks] += shares.sum(axis=0) / number
        prior = entropy_of(mean) if self.exact else np.full(count, np.log(agents))
        return (entropy, prior) if tasks is None else (entropy[tasks], prior[tasks])

    @cached_property
    def alone(self) -> tuple[Floats, Floats]:
        """The `entropies` of each task without any other."""
        return self.entropies(np.zeros((self.shape[0],) * 2))

    def _pieces(
        self, tasks: NDArray[np.intp] | None = None, rows: NDArray[np.intp] | None = None
    ) -> Iterator[_Piece]:
        return (self._piece(*block) for block in self.blocks(tasks, rows, self.levels))

    def _piece(self, tasks: NDArray[np.intp], rows: NDArray[np.intp]) -> _Piece:
        relative = self._logs(tasks, rows).swapaxes(0, 1)
        relative = relative - self.diagonal.T[rows][:, tasks, None]
        np.maximum(relative, LEAST_EXPONENT, out=relative)
        likelihood = np.exp(relative)
        relative *= likelihood
        return _Piece(tasks, rows, likelihood, relative)

    def _by_level(self, values: Floats, piece: _Piece) -> Floats:
        """Sum values [agents, agents] of rows over the agents of each level: [tasks, rows, levels]."""
        values = values[piece.rows]
        if self._code is None:
            return values
        member = self._code[piece.tasks][:, None] == np.arange(self.levels)[:, None]
        sums: Floats = values @ member.reshape(-1, self.shape[0]).T.astype(np.float64)
        return sums.reshape(len(values), -1, self.levels)

    def _logs(self, tasks: NDArray[np.intp], rows: NDArray[np.intp]) -> Floats:
        """Log-likelihoods of some agents with every level, [tasks, rows, levels]."""
        if self._code is None:
            return self._between(tasks, rows[None], np.arange(self.shape[0])[None])
        code = self._code[tasks][:, rows]
        return np.take_along_axis(self._between_levels[tasks], code[:, :, None], axis=1)

    def _between(
        self, tasks: NDArray[np.intp], these: NDArray[np.intp], those: NDArray[np.intp]
    ) -> Floats:
        """Log-likelihoods of agents [tasks or 1, these] with others [tasks or 1, those]."""
        one, other = (self._cells.take(tasks, agents) for agents in (these, those))
        distance = other.mean[:, :, None] - one.mean[..., None]
        combined = np.add if self._spread == "sum" else np.hypot
        spread = combined(other.deviation[:, :, None], one.deviation[..., None])
        distance /= spread
        if not (one.observed.all() and other.observed.all()):
            missing = ~(other.observed[:, :, None] & one.observed[..., None])
            distance[missing], spread[missing] = 0.0, 1.0
        if self._whitening is not None:
            distance = np.einsum("tmk,ktab->mtab", self._whitening[tasks], distance)
        squares: Floats = np.einsum("mtab,mtab->tab", distance, distance)
        squares *= -0.5
        squares -= np.log(spread[0] if len(spread) == 1 else spread.prod(axis=0))
        return squares


def _along(likelihood: Floats, values: Floats) -> Floats:
    """Sum over levels, [rows, tasks]; `values` are [rows, levels] or [rows, tasks, levels]."""
    if values.ndim == 2:
        return np.asarray((likelihood @ values[:, :, None])[:, :, 0])
    return np.asarray(np.einsum("rtk,rtk->rt", likelihood, values))


class _Cells(NamedTuple):
    """Means and deviations of agents on tasks, and which were observed: [measures, tasks, agents]."""

    mean: Floats
    deviation: Floats
    observed: NDArray[np.bool_]

    def take(self, tasks: NDArray[np.intp], agents: NDArray[np.intp]) -> _Cells:
        at = slice(None), tasks[:, None], agents
        return _Cells(self.mean[at], self.deviation[at], self.observed[at])


class _Piece(NamedTuple):
    """Likelihoods of some agents with every level, relative to themselves: [tasks, rows, levels]."""

    tasks: NDArray[np.intp]
    rows: NDArray[np.intp]
    likelihood: Floats
    with_log: Floats  # the likelihood times its logarithm


def _level_codes(cells: _Cells) -> NDArray[np.intp] | None:
    """Number the different cells of each task from 0, [tasks, agents]; None where they are many."""
    values = np.concatenate([cells.mean, np.where(cells.observed, cells.deviation, 0.0)])
    tasks, agents = values.shape[1:]
    most = min(
        MOST_LEVELS, agents // 4
    )  # of fewer agents, pairs take less time than finding levels
    code = np.empty((tasks, agents), dtype=np.intp)
    step = max(1, BLOCK_CELLS // agents)
    for start in range(0, tasks, step):
        part = values[:, start : start + step].round(12)
        order = np.lexsort(part, axis=-1)
        changes = np.diff(np.take_along_axis(part, order[None], axis=2), axis=2).any(axis=0)
        number = np.cumsum(np.pad(changes, ((0, 0), (1, 0))), axis=1)
        if number.max() >= most:
            return None
        np.put_along_axis(code[start : start + step], order, number, axis=1)
    return code


def normalised_rows(log_likelihood: Floats) -> Floats:
    """Convert rows of log-likelihoods to probabilities.

    >>> normalised_rows(np.array([[-2000.0, -2000.0]]))
    array([[0.5, 0.5]])
    """
    raised = np.exp(log_likelihood - log_likelihood.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


def entropy_of(rows: Floats) -> Floats:
    """Return the entropy of rows of probabilities, in nats.

    >>> entropy_of(np.array([[1.0, 0.0], [0.5, 0.5]])).round(3)
    array([-0.   ,  0.693])
    """
    # A probability of 0 contributes nothing, but its logarithm is infinite.
    return np.asarray(-(rows * np.log(np.maximum(rows, 1e-300))).sum(axis=-1))
