"""Few levels: where cells have few different values, pairs of agents are pairs of levels."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from examiner.scores import column_blocks
from examiner.validation import Floats

if TYPE_CHECKING:
    from examiner.information.confusion import PairLikelihood

MOST_LEVELS = 16
"""With more, products over levels take no less time than exponentials over pairs."""
FIRST_TASKS = 8
"""Tasks that are checked first: scores that are all different are detected there."""
SAME = 1e-12
LEAST_EXPONENT = -700.0
MOST_EXPONENT = 300.0
BLOCK_CELLS = 1 << 17
SUMMED_CELLS = 1 << 23
FEWEST_IN_BLOCK = 32


@dataclass(frozen=True, slots=True, eq=False)
class CellLevels:
    """Which level each agent has on each task, and how likely each level makes each other.

    `code` [tasks, agents] counts from 0, `logs` [tasks, levels, levels] are log-likelihoods of pairs, and
    `count` [tasks, levels] says how many agents have a level.
    """

    code: NDArray[np.uint8]
    logs: Floats
    count: Floats

    def of(self, tasks: NDArray[np.intp]) -> CellLevels:
        """Return the levels of some tasks."""
        return CellLevels(self.code[tasks], self.logs[tasks], self.count[tasks])

    def single_entropies(self) -> tuple[Floats, Floats]:
        r"""Return the mean entropy of the rows of each task alone, and that of its mean row; [tasks] each.

        With n agents at each level, the row of an agent at level k has

        .. math:: Z_k = \sum_l n_l e^{\ell_{kl}}, \qquad
                  H_k = \log Z_k - \sum_l n_l e^{\ell_{kl}} \ell_{kl} / Z_k
        """
        logs = self._relative(slice(None))
        raised = np.exp(logs)
        total = np.einsum("tkl,tl->tk", raised, self.count)
        total = np.maximum(total, 1e-300)  # of levels that nobody has
        weighted = np.einsum("tkl,tkl,tl->tk", raised, logs, self.count)
        agents = self.code.shape[1]
        entropy = (self.count * (np.log(total) - weighted / total)).sum(axis=1) / agents
        mean = np.einsum("tkl,tk->tl", raised, self.count / total) / agents
        mean_entropy = -(self.count * mean * np.log(np.maximum(mean, 1e-300))).sum(axis=1)
        return entropy, mean_entropy

    def entropies(self, base: Floats, rows: NDArray[np.intp] | None = None) -> Floats | None:
        r"""Return the mean entropy of the rows of a set with each of the tasks; `rows` are some agents.

        With :math:`D_{ab}` the set's log-likelihoods less those of an agent with itself, a row has

        .. math:: Z_a = \sum_l e^{\ell_{k_a l}} \sum_{b: k_b = l} e^{D_{ab}}

        so that all tasks need two products of tables. None where numbers would overflow.
        """
        part = base if rows is None else base[rows]
        own = base.diagonal() if rows is None else base.diagonal()[rows]
        relative = part - own[:, None]
        if relative.max() > MOST_EXPONENT:
            return None
        np.maximum(relative, LEAST_EXPONENT, out=relative)
        raised = np.exp(relative)
        relative *= raised
        step = self._step
        blocks = (slice(start, start + step) for start in range(0, len(self.code), step))
        return np.concatenate([self._block(raised, relative, block, rows) for block in blocks])

    @property
    def _step(self) -> int:
        """Tasks of a block: within the processor's cache, but enough for fast products."""
        cells = int(self.code.shape[1]) * int(self.logs.shape[1])
        return max(FEWEST_IN_BLOCK, BLOCK_CELLS // cells)

    def _block(
        self,
        raised: Floats,
        weighted: Floats,
        tasks: slice,
        rows: NDArray[np.intp] | None,
    ) -> Floats:
        code, levels = self.code[tasks], self.logs.shape[1]
        member = self._members(code, np.float64)
        near = (member @ raised.T).reshape(len(code), levels, -1)  # [tasks, levels, rows]
        near_logs = (member @ weighted.T).reshape(near.shape)
        logs = self._relative(tasks)
        likely = np.exp(logs)
        own = (code if rows is None else code[:, rows]).astype(np.intp)
        total, sums = np.zeros(own.shape), np.zeros(own.shape)
        for level in range(levels):
            here = np.take_along_axis(likely[:, :, level], own, axis=1)
            total += here * near[:, level]
            sums += here * near_logs[:, level]
            here *= np.take_along_axis(logs[:, :, level], own, axis=1)
            sums += here * near[:, level]
        return np.asarray((np.log(total) - sums / total).mean(axis=1))

    def _relative(self, tasks: slice) -> Floats:
        """Return log-likelihoods of levels less those of a level with itself."""
        logs = self.logs[tasks]
        own = np.einsum("tkk->tk", logs)[:, :, None]
        return np.asarray(np.clip(logs - own, LEAST_EXPONENT, MOST_EXPONENT))

    def _members(
        self, code: NDArray[np.uint8], kind: DTypeLike
    ) -> NDArray[Any]:  # Any: of this kind
        """Return which agents have which level, one row per task and level: [tasks · levels, agents]."""
        level = np.arange(self.logs.shape[1], dtype=np.uint8)
        member = code[:, None, :] == level[:, None]
        return np.asarray(member.reshape(-1, code.shape[1]), dtype=kind)

    def table(self, tasks: NDArray[np.intp]) -> Floats:
        """Return the log-likelihood of each pair on these tasks together, [agents, agents]."""
        return self.summed(self.logs[tasks], tasks)

    def summed(self, values: Floats, tasks: NDArray[np.intp]) -> Floats:
        r"""Return the sum over tasks of values of pairs of levels; [agents, agents].

        .. math:: \sum_t v_t(k_a, k_b) = \sum_t \sum_k [k_a = k] \, v_t(k, k_b)
        """
        agents = self.code.shape[1]
        total = np.zeros((agents, agents), dtype=values.dtype)
        step = max(1, SUMMED_CELLS // (agents * self.logs.shape[1]))
        for start in range(0, len(tasks), step):
            code = self.code[tasks[start : start + step]]
            at = code[:, None, :].astype(np.intp)
            there = np.take_along_axis(values[start : start + step], at, axis=2)
            total += self._members(code, values.dtype).T @ there.reshape(-1, agents)
        return total


def levels_of(pairs: PairLikelihood, mean: Floats) -> CellLevels | None:
    """Find the levels of channels with means [measures, agents, tasks]; None where they are many.

    >>> from examiner.information.channels import Channels
    >>> from examiner.information.confusion import PairLikelihood
    >>> from examiner.results import Results
    >>> wins = Channels.of(Results.from_numpy([[[0.0, 1.0]], [[0.0, 0.0]], [[1.0, 0.0]]]))
    >>> levels_of(PairLikelihood(wins), wins.mean).code
    array([[1, 0, 1]], dtype=uint8)
    """
    code = _codes(mean)
    if code is None:
        return None
    levels = int(code.max()) + 1
    member = [code == level for level in range(levels)]
    typical = np.stack([each.argmax(axis=1) for each in member], axis=1)  # an agent at each level
    count = np.stack([each.sum(axis=1) for each in member], axis=1).astype(np.float64)
    part = copy(pairs)
    part.choose_agents(typical)
    if not part.stands_for(pairs, code, SAME):
        return None
    logs = np.stack([part.row(level, slice(None)) for level in range(levels)], axis=1)
    return CellLevels(code, logs, count)


def _codes(mean: Floats) -> NDArray[np.uint8] | None:
    """Return numbers for the values of cells over measures, [tasks, agents]; None where they are many."""
    code: NDArray[np.uint8] | None = None
    for values in mean:
        distinct = _few_values(values)
        if distinct is None or (code is not None and (int(code.max()) + 1) * len(distinct) > 256):
            return None
        place = np.empty(values.shape[::-1], dtype=np.uint8)
        for block in column_blocks(values.shape):
            place[block] = np.searchsorted(distinct, values[:, block].T)
        code = place if code is None else code * np.uint8(len(distinct)) + place
    assert code is not None
    used = np.flatnonzero(sum(np.bincount(row, minlength=256) for row in code))
    if len(used) > MOST_LEVELS:
        return None
    number = np.zeros(256, dtype=np.uint8)
    number[used] = np.arange(len(used))
    return code if len(used) == used[-1] + 1 else number[code]


def _few_values(values: Floats) -> Floats | None:
    """Return the different values of a table [agents, tasks], sorted; None where they are many."""
    distinct = np.unique(values[:, :FIRST_TASKS])
    for block in column_blocks(values.shape):
        if len(distinct) > MOST_LEVELS:
            return None
        here = values[:, block]
        place = np.minimum(np.searchsorted(distinct, here), len(distinct) - 1)
        new = (distinct[place] != here) & ~(np.isnan(here) & np.isnan(distinct[-1]))
        if new.any():
            distinct = np.unique(np.concatenate([distinct, here[new]]))
    return distinct if len(distinct) <= MOST_LEVELS else None
