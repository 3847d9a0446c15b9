"""The tasks that together tell most about which agent is playing: one after the other, or exchanged."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from examiner.information import PairLikelihood, bits_with, bounded_bits, table_bits
from examiner.selection.evidence import SelectionEvidence
from examiner.selection.greedy import Gains, TaskSet, exchanged, floating, grow
from examiner.validation import Floats

KEPT_CELLS = 1 << 22
"""Up to so many agents² · tasks their likelihoods are kept: 64 MiB for both tables."""
SAFE_EXPONENT = 300.0
"""Products of two exponentials below this cannot overflow."""


def information_gain(evidence: SelectionEvidence, size: int, rng: np.random.Generator) -> TaskSet:
    """Add the task that tells most bits beside those chosen (papers/004, section V-C).

    Needs `evidence.channels`; draws nothing at random.
    """
    gains = bits_gains(evidence, "information_gain")
    return grow(evidence, size, gains, method="information_gain", unit="bits")


def information_swap(evidence: SelectionEvidence, size: int, rng: np.random.Generator) -> TaskSet:
    """Add the task that tells most bits, and exchange tasks while that adds bits, at every size.

    Needs `evidence.channels`; draws nothing at random.
    """
    gains = bits_gains(evidence, "information_swap")
    return exchanged(evidence, size, gains, method="information_swap", unit="bits")


def information_swap_path(
    evidence: SelectionEvidence, sizes: Sequence[int], rng: np.random.Generator
) -> list[tuple[int, ...]]:
    """Choose the positions of sets of several sizes at once."""
    return floating(evidence, sizes, bits_gains(evidence, "information_swap"))


def bits_gains(evidence: SelectionEvidence, method: str) -> Gains:
    """Return a function of the tasks chosen that gives the bits each other one would add."""
    pairs = PairLikelihood(evidence.needed(method, "channels"))
    kept = KeptLikelihoods.of(pairs)
    tables: dict[int, Floats] = {}  # of the tasks that were chosen at some time: few

    def gains(chosen: list[int]) -> Floats:
        base = np.zeros((pairs.shape[0],) * 2)
        for column in chosen:
            if column not in tables:
                tables[column] = pairs.table([column])
            base += tables[column]
        held = table_bits(base) if chosen else 0.0
        bits = None if kept is None else kept.bits_with(base)
        bits = bits_with(pairs, base) if bits is None else bits
        return np.where(pairs.usable, bits - held, -np.inf)

    return gains


class KeptLikelihoods:
    r"""Likelihoods of all pairs on all tasks, kept where the same tasks are looked at again and again.

    With K = exp ℓ of a task and B = exp b of the set, a row of the confusion matrix has the entropy

    .. math:: \log Z - \frac1Z \sum K B (\ell + b), \qquad Z = \sum K B

    whose sums over K and over K ℓ are matrix products: no exponential is taken twice.
    """

    __slots__ = ("_likelihood", "_with_log")

    def __init__(self, logs: Floats) -> None:
        self._likelihood = np.exp(logs)  # [agents, tasks, agents]
        self._with_log = self._likelihood * logs

    @classmethod
    def of(cls, pairs: PairLikelihood) -> KeptLikelihoods | None:
        """Keep them, or None where they are too many or too large."""
        agents, tasks = pairs.shape
        if agents**2 * tasks > KEPT_CELLS or np.abs(pairs.diagonal).max() > SAFE_EXPONENT:
            return None
        return cls(np.stack([pairs.row(agent, slice(None)) for agent in range(agents)]))

    def bits_with(self, base: Floats) -> Floats | None:
        """Bits of a set, whose log-likelihoods are given, with each task; None where unsafe.

        An agent explains itself no worse than exp(−300) on a safe table, so that no sum is 0.
        """
        if np.abs(base.diagonal()).max() > SAFE_EXPONENT or base.max() > SAFE_EXPONENT:
            return None
        raised = np.exp(base)
        both = np.stack([raised, raised * base], axis=2)  # [agents, agents, 2]
        sums = self._likelihood @ both  # [agents, tasks, 2]
        total = sums[:, :, 0]
        weighted = sums[:, :, 1] + (self._with_log @ raised[:, :, None])[:, :, 0]
        entropy = (np.log(total) - weighted / total).mean(axis=0)
        return bounded_bits(np.log(len(base)) - entropy, len(base))
