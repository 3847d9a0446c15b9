"""Information gain: how many bits a task, or a set of tasks, tells about which agent is playing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from examiner.information.channels import Channels
from examiner.information.confusion import FEWEST_BY_LEVELS, PairLikelihood, normalised_rows
from examiner.messages import counted
from examiner.results import Results
from examiner.results.display import html_columns
from examiner.validation import Floats, read_only

BLOCK_CELLS = 1 << 15
"""A block of rows stays within the processor's cache; with it, memory is bounded for any table."""
SAFE_EXPONENT = 300.0
"""While logarithms stay within this, one exponential serves both agents of a pair without underflow."""
LEAST_EXPONENT = -700.0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TaskInformation:
    """Bits of each task, shape [tasks]: of all measures together, and of each alone.

    NaN is a task that was not seen on two agents, or without any deviation.
    """

    tasks: tuple[str, ...]
    bits: Floats
    by_measure: Mapping[str, Floats]
    max_bits: float
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        most = np.nanmax(self.bits) if np.isfinite(self.bits).any() else np.nan
        return (
            f"TaskInformation: {counted(len(self.tasks), 'task')}, the most telling {most:.3g} of "
            f"{self.max_bits:.3g} bits"
        )

    def _repr_html_(self) -> str:
        columns = {"task": self.tasks, "bits": self.bits}
        return html_columns(repr(self), {**columns, **self.by_measure}, self.notes)


def gain(source: Results | Channels, pairs: PairLikelihood | None = None) -> TaskInformation:
    r"""Return the bits that each task tells about which agent is playing.

    .. math:: I = \log_2 |A| - \frac{1}{|A|} \sum_{a} \sum_{\hat a}
              -p(\hat a | a) \log_2 p(\hat a | a)

    (papers/004, eq. 3, with a uniform prior). It lies in [0, log₂|A|]. The equation takes the beliefs
    :math:`\hat A` to be uniform on the whole, which the columns of the confusion matrix need not be: so
    this is not exactly a mutual information. With a model that is `exact` it is: the entropy of the mean
    row stands in the place of :math:`\log_2 |A|`, and the result is never larger. `pairs` are those of the
    same channels, where they are there already.

    >>> results = Results.from_numpy([[[0.0, 2.0], [0.0, 1.0]], [[90.0, 92.0], [0.0, 1.0]]])
    >>> gain(results).bits.round(6)
    array([1., 0.])
    """
    channels = Channels.of(source)
    bits = single_bits(PairLikelihood(channels) if pairs is None else pairs)
    by_measure = dict.fromkeys(channels.measures, bits)
    if len(by_measure) > 1:
        for name in by_measure:
            by_measure[name] = single_bits(PairLikelihood(channels.only(name)))
    return TaskInformation(
        channels.tasks, bits, MappingProxyType(by_measure), channels.max_bits, channels.notes
    )


def set_gain(source: Results | Channels, tasks: Sequence[str] | None = None) -> float:
    """Return the bits that a set of tasks tells together (papers/004, eq. 3 and 4); all by default.

    >>> results = Results.from_numpy([[[0.0, 2.0]] * 2, [[4.0, 6.0]] * 2])
    >>> [round(set_gain(results, names), 3) for names in (["task 1"], None)]
    [0.16, 0.473]
    """
    channels = Channels.of(source)
    pairs = PairLikelihood(channels)
    return table_bits(pairs.table(channels.columns(tasks)), exact=pairs.exact)


def single_bits(pairs: PairLikelihood) -> Floats:
    """Return the bits of each task alone, NaN for one that tells nothing; shape [tasks].

    >>> single_bits(PairLikelihood(Channels.of(Results.from_numpy([[[0.0, 2.0]], [[90.0, 92.0]]]))))
    array([1.])
    """
    bits = np.where(pairs.usable, bits_with(pairs), np.nan)
    read_only(bits)
    return bits


def cumulative_bits(pairs: PairLikelihood, columns: Sequence[int]) -> Floats:
    """Return the bits of the first task, of the first two, and so on.

    >>> pairs = PairLikelihood(Channels.of(Results.from_numpy([[[0.0, 2.0]] * 2, [[4.0, 6.0]] * 2])))
    >>> cumulative_bits(pairs, [0, 1]).round(3)
    array([0.16 , 0.473])
    """
    table = np.zeros((pairs.shape[0],) * 2)
    bits = []
    for column in columns:
        table += pairs.table([column])
        bits.append(table_bits(table, exact=pairs.exact))
    return np.array(bits)


def table_bits(log_likelihood: Floats, *, exact: bool = False) -> float:
    """Return the bits of a table of log-likelihoods [agents, agents].

    >>> table_bits(np.zeros((4, 4))), table_bits(np.diag([0.0, 0.0]) - 1000 * (1 - np.eye(2)))
    (0.0, 1.0)
    """
    rows = normalised_rows(log_likelihood)
    entropy = _entropy(rows).mean()
    prior = _entropy(rows.mean(axis=0)) if exact else np.log(len(rows))
    return float(bounded_bits(prior - entropy, len(rows)))


def bits_with(pairs: PairLikelihood, base: Floats | None = None) -> Floats:
    """Return for every task the bits of a set together with that task; shape [tasks].

    `base` is the set's own table of log-likelihoods, None for the empty set. Work is tasks · agents² / 2
    exponentials, in blocks of tasks that fit the processor's cache.

    >>> pairs = PairLikelihood(Channels.of(Results.from_numpy([[[0.0, 2.0]] * 2, [[4.0, 6.0]] * 2])))
    >>> bits_with(pairs, pairs.table([0])).round(3)
    array([0.473, 0.473])
    """
    agents, tasks = pairs.shape
    by_levels = _by_levels(pairs, base)
    if by_levels is not None:
        return by_levels
    base = np.zeros((agents, agents)) if base is None else base
    own = pairs.diagonal + base.diagonal()
    highest = base.max() + np.maximum(pairs.diagonal.max(axis=1), 0.0)
    safe = (highest <= SAFE_EXPONENT) & (own.min(axis=1) >= -SAFE_EXPONENT) & (not pairs.exact)
    bits = np.empty(tasks)
    step = max(1, BLOCK_CELLS // agents)
    for start in range(0, tasks, step):
        block = slice(start, min(start + step, tasks))
        scan = _by_pairs if safe[block].all() else _by_rows
        entropy, prior = scan(pairs, base, block)
        bits[block] = (prior if pairs.exact else np.log(agents)) - entropy
    return bounded_bits(bits, agents)


def entropies_of_rows(pairs: PairLikelihood, base: Floats, rows: NDArray[np.intp]) -> Floats:
    """Return the mean entropy of some agents' rows, for a set together with each task; shape [tasks].

    >>> pairs = PairLikelihood(Channels.of(Results.from_numpy([[[0.0, 2.0]] * 2, [[4.0, 6.0]] * 2])))
    >>> entropies_of_rows(pairs, pairs.table([0]), np.array([1])).round(3)
    array([0.365, 0.365])
    """
    levels = pairs.levels()
    found = None if levels is None else levels.entropies(base, rows)
    if found is not None:
        return found
    agents, tasks = pairs.shape
    entropy = np.zeros(tasks)
    step = max(1, BLOCK_CELLS // agents)
    for start in range(0, tasks, step):
        block = slice(start, min(start + step, tasks))
        for row in rows.tolist():
            entropy[block] += _entropy(normalised_rows(pairs.row(row, block) + base[row]))
    return entropy / len(rows)


def _by_levels(pairs: PairLikelihood, base: Floats | None) -> Floats | None:
    """The bits of every task where cells have few levels; None where they have many."""
    agents, tasks = pairs.shape
    levels = pairs.levels() if agents >= FEWEST_BY_LEVELS else None
    if levels is None or (pairs.exact and base is not None):
        return None
    if base is None:
        entropy, mean_entropy = levels.single_entropies()
        prior = mean_entropy if pairs.exact else np.full(tasks, np.log(agents))
        return bounded_bits(prior - entropy, agents)
    found = levels.entropies(base)
    return None if found is None else bounded_bits(np.log(agents) - found, agents)


def bounded_bits(nats: Floats | float, agents: int) -> Floats:
    """Turn nats into bits, cut to [0, log₂ agents]: rounding may lead a hair beyond.

    >>> bounded_bits(np.array([-1e-17, np.log(2)]), 2)
    array([0., 1.])
    """
    return np.asarray(np.clip(np.asarray(nats) / np.log(2.0), 0.0, np.log2(agents)))


def _by_pairs(pairs: PairLikelihood, base: Floats, block: slice) -> tuple[Floats, Floats]:
    """Mean entropy of the rows, one exponential for each pair: the table is symmetric.

    With T = exp ℓ and Z its row sums, the entropy of a row is log Z − Σ T ℓ / Z.
    """
    kept = pairs.later_rows()
    own = pairs.diagonal[block] + base.diagonal()
    total = np.exp(own)
    weighted = total * own
    for agent in range(len(base) - 1):
        later = slice(agent + 1, None)
        if kept is None:
            logs = pairs.row(agent, block, agent + 1)
            logs += base[agent, later]
        else:
            logs = kept[agent][block] + base[agent, later]
        np.maximum(logs, LEAST_EXPONENT, out=logs)
        raised = np.exp(logs)
        total[:, agent] += raised.sum(axis=1)
        total[:, later] += raised
        raised *= logs
        weighted[:, agent] += raised.sum(axis=1)
        weighted[:, later] += raised
    entropy: Floats = (np.log(total) - weighted / total).mean(axis=1)
    return entropy, np.empty(0)


def _by_rows(pairs: PairLikelihood, base: Floats, block: slice) -> tuple[Floats, Floats]:
    """Mean entropy of the rows and entropy of the mean row, each row by its own largest term."""
    agents = len(base)
    entropy = np.zeros(len(pairs.diagonal[block]))
    mean = np.zeros((len(entropy), agents))
    for agent in range(agents):
        rows = normalised_rows(pairs.row(agent, block) + base[agent])
        entropy += _entropy(rows) / agents
        mean += rows / agents
    return entropy, _entropy(mean)


def _entropy(rows: Floats) -> Floats:
    # A probability of 0 has no part in an entropy, and its logarithm would be infinite.
    return np.asarray(-(rows * np.log(np.maximum(rows, 1e-300))).sum(axis=-1))
