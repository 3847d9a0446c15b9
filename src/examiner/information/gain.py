"""Information gain: how many bits a task, or a set of tasks, gives about which agent is playing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Scalar
from examiner.information.bits import MeasureBits, TaskBits
from examiner.information.channels import MAX_BITS, Channels
from examiner.information.confusion import FEWEST_BY_LEVELS, PairLikelihood, normalised_rows
from examiner.messages import InputError
from examiner.results import Results
from examiner.validation import Floats, natural_key, read_only

BLOCK_CELLS = 1 << 15
"""A block of rows stays within the processor's cache; with it, memory is bounded for any table."""
SAFE_EXPONENT = 300.0
"""While logarithms stay within this, one exponential serves both agents of a pair without underflow."""
LEAST_EXPONENT = -700.0
LEAST_GAIN = 1e-9
"""Bits less than this apart are a tie: rounding depends on the order in which agents are summed."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TaskInformation(Answer):
    """Bits of each task, and `bits` of all of them together; `by_measure` where measures are several."""

    kind = "gain"

    tasks: TaskBits
    by_measure: MeasureBits | None
    bits: float
    max_bits: float
    notes: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """Which task is the most informative."""
        best = self.tasks[0]
        if np.isnan(best.bits):
            return "The information of no task can be estimated."
        return (
            f"{best.task} gives the most information about which agent is playing: {best.bits:.3g} of "
            f"at most {self.max_bits:.3g} bits."
        )

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """Bits of all tasks together, and the most possible."""
        return {
            "bits": Scalar(self.bits, "Information of these tasks together", "bits"),
            "max_bits": Scalar(self.max_bits, MAX_BITS, "bits"),
        }


def gain(source: Results | Channels, tasks: Sequence[str] | None = None) -> TaskInformation:
    r"""Return the bits that each task, and all of them together, give about which agent is playing.

    .. math:: I = \log_2 |A| - \frac{1}{|A|} \sum_{a} \sum_{\hat a}
              -p(\hat a | a) \log_2 p(\hat a | a)

    (papers/004, eq. 3, with a uniform prior; eq. 4 for several tasks). It lies in [0, log₂|A|]. The
    equation assumes that the beliefs :math:`\hat A` are uniform on average, which the columns of the
    confusion matrix need not be: so this is not exactly a mutual information. With a model that is
    `exact` it is: the entropy of the mean row replaces :math:`\log_2 |A|`, and the result is never
    larger. `tasks` names some tasks; all by default.

    >>> results = Results.from_numpy([[[0.0, 2.0], [0.0, 1.0]], [[90.0, 92.0], [0.0, 1.0]]])
    >>> gain(results).tasks.bits.round(6)
    array([1., 0.])
    >>> two = Results.from_numpy([[[0.0, 2.0]] * 2, [[4.0, 6.0]] * 2])
    >>> [round(gain(two, names).bits, 3) for names in (["task 1"], None)]
    [0.16, 0.473]
    """
    channels = Channels.of(source)
    if tasks is not None and not len(tasks):
        raise InputError("There are no tasks to measure the information of. Name at least one.")
    if tasks is not None:
        channels = channels.take(channels.columns(tasks))
    pairs = PairLikelihood(channels)
    return TaskInformation(
        task_bits(channels.tasks, single_bits(pairs)),
        measure_bits(channels),
        table_bits(pairs.table(channels.columns()), exact=pairs.exact),
        channels.max_bits,
        channels.notes,
    )


def task_bits(tasks: Sequence[str], bits: Floats, **columns: Any) -> TaskBits:  # Any: arrays, None
    """Return the table of tasks in their given order, sorted: most bits first, ties by name, NaN last.

    >>> task_bits("tuv", np.array([0.5, np.nan, 0.7])).task
    ('v', 't', 'u')
    """
    rounded = np.rint(np.nan_to_num(bits, nan=-1.0) / LEAST_GAIN)
    order = sorted(range(len(tasks)), key=lambda row: (-rounded[row], natural_key(tasks[row])))
    return TaskBits(task=tasks, bits=bits, **columns).take(order)


def measure_bits(channels: Channels) -> MeasureBits | None:
    """Return the bits of each task by each measure alone; None where there is one measure."""
    if len(channels.measures) < 2:
        return None
    alone = [single_bits(PairLikelihood(channels.only(measure))) for measure in channels.measures]
    return MeasureBits(
        task=np.repeat(channels.tasks, len(alone)),
        measure=channels.measures * len(channels.tasks),
        bits=np.stack(alone, axis=1).ravel(),
    )


def single_bits(pairs: PairLikelihood) -> Floats:
    """Return the bits of each task alone, NaN for one that cannot be estimated; shape [tasks].

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

    `base` is the set's table of log-likelihoods, None for the empty set. The work is tasks · agents² / 2
    exponentials, in blocks of tasks that fit into the processor's cache.

    >>> pairs = PairLikelihood(Channels.of(Results.from_numpy([[[0.0, 2.0]] * 2, [[4.0, 6.0]] * 2])))
    >>> bits_with(pairs, pairs.table([0])).round(3)
    array([0.473, 0.473])
    """
    agents, tasks = pairs.shape
    by_levels = _by_levels(pairs, base)
    if by_levels is not None:
        return by_levels
    base = np.zeros((agents, agents)) if base is None else base
    own_logs = pairs.diagonal + base.diagonal()
    highest = base.max() + np.maximum(pairs.diagonal.max(axis=1), 0.0)
    safe = (highest <= SAFE_EXPONENT) & (own_logs.min(axis=1) >= -SAFE_EXPONENT) & (not pairs.exact)
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
    by_levels = None if levels is None else levels.entropies(base, rows)
    if by_levels is not None:
        return by_levels
    agents, tasks = pairs.shape
    entropy = np.zeros(tasks)
    step = max(1, BLOCK_CELLS // agents)
    for start in range(0, tasks, step):
        block = slice(start, min(start + step, tasks))
        for row in rows.tolist():
            entropy[block] += _entropy(normalised_rows(pairs.row(row, block) + base[row]))
    return entropy / len(rows)


def _by_levels(pairs: PairLikelihood, base: Floats | None) -> Floats | None:
    """Return the bits of every task where cells have few levels; None where they have many."""
    agents, tasks = pairs.shape
    levels = pairs.levels() if agents >= FEWEST_BY_LEVELS else None
    if levels is None or (pairs.exact and base is not None):
        return None
    if base is None:
        entropy, mean_entropy = levels.single_entropies()
        prior = mean_entropy if pairs.exact else np.full(tasks, np.log(agents))
        return bounded_bits(prior - entropy, agents)
    entropies = levels.entropies(base)
    return None if entropies is None else bounded_bits(np.log(agents) - entropies, agents)


def bounded_bits(nats: Floats | float, agents: int) -> Floats:
    """Convert nats to bits, limited to [0, log₂ agents], which rounding may exceed.

    >>> bounded_bits(np.array([-1e-17, np.log(2)]), 2)
    array([0., 1.])
    """
    return np.asarray(np.clip(np.asarray(nats) / np.log(2.0), 0.0, np.log2(agents)))


def _by_pairs(pairs: PairLikelihood, base: Floats, block: slice) -> tuple[Floats, Floats]:
    """Mean entropy of the rows, with one exponential per pair: the table is symmetric.

    With T = exp ℓ and Z its row sums, the entropy of a row is log Z − Σ T ℓ / Z.
    """
    cached = pairs.later_rows()
    own_logs = pairs.diagonal[block] + base.diagonal()
    total = np.exp(own_logs)
    weighted = total * own_logs
    for agent in range(len(base) - 1):
        later = slice(agent + 1, None)
        if cached is None:
            logs = pairs.row(agent, block, agent + 1)
            logs += base[agent, later]
        else:
            logs = cached[agent][block] + base[agent, later]
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
    """Mean entropy of the rows and entropy of the mean row, each row scaled by its largest term."""
    agents = len(base)
    entropy = np.zeros(len(pairs.diagonal[block]))
    mean = np.zeros((len(entropy), agents))
    for agent in range(agents):
        rows = normalised_rows(pairs.row(agent, block) + base[agent])
        entropy += _entropy(rows) / agents
        mean += rows / agents
    return entropy, _entropy(mean)


def _entropy(rows: Floats) -> Floats:
    # A probability of 0 contributes nothing to an entropy, but its logarithm is infinite.
    return np.asarray(-(rows * np.log(np.maximum(rows, 1e-300))).sum(axis=-1))
