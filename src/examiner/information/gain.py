"""Information gain: how many bits a task, or a set of tasks, gives about which agent is playing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, bound, count, flag, name, number, scalar
from examiner.information.channels import MAX_BITS, Channels
from examiner.information.pairs import PairLikelihood, entropy_of, normalised_rows
from examiner.messages import InputError
from examiner.results import Results
from examiner.validation import Floats, natural_key, read_only

LEAST_GAIN = 1e-9
"""Bits less than this apart are a tie: rounding depends on the order in which agents are summed."""


class Bits(Table):
    """Information of tasks, with its interval and what permuted results give; NaN where unknown."""

    task: tuple[str, ...] = name("Task")
    bits: Floats = number("Information about which agent is playing", unit="bits")
    bits_low: Floats | None = bound("bits", "low", default=None)
    bits_high: Floats | None = bound("bits", "high", default=None)
    corrected_bits: Floats | None = number(
        "Information expected once noise is removed", unit="bits", title="corrected", default=None
    )
    chance_bits: Floats | None = number(
        "Mean over permuted results", unit="bits", title="by chance", default=None
    )
    chance_high: Floats | None = number(
        "95th percentile over permuted results", unit="bits", default=None
    )


class TaskBits(Bits):
    """Information of single tasks, the most informative first."""

    significant: NDArray[np.bool_] | None = flag(
        "More bits than by chance (permutation test, 5 % over all tasks)", default=None
    )
    pairs_separated: NDArray[np.int64] | None = count(
        "Pairs of agents that this task separates", default=None
    )
    cost: Floats | None = number("Cost of the task", default=None)
    bits_per_cost: Floats | None = number("Information per unit of cost", default=None)


class MeasureBits(Table):
    """Information of single tasks by each measure alone."""

    task: tuple[str, ...] = name("Task")
    measure: tuple[str, ...] = name("Measure")
    bits: Floats = number("Information of this measure alone", unit="bits")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TaskInformation(Answer):
    """Bits of each task, and `bits` of all of them together; `by_measure` where measures are several."""

    kind = "gain"

    tasks: TaskBits
    by_measure: MeasureBits | None
    bits: float = field(metadata=scalar("Information of these tasks together", "bits"))
    max_bits: float = field(metadata=scalar(MAX_BITS, "bits"))
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
    prior = entropy_of(rows.mean(axis=0)) if exact else np.log(len(rows))
    return float(_bounded_bits(prior - entropy_of(rows).mean(), len(rows)))


def bits_with(
    pairs: PairLikelihood, base: Floats | None = None, tasks: NDArray[np.intp] | None = None
) -> Floats:
    """Return for every task (or some) the bits of a set together with that task; shape [tasks].

    `base` is the set's table of log-likelihoods, None for the empty set.

    >>> pairs = PairLikelihood(Channels.of(Results.from_numpy([[[0.0, 2.0]] * 2, [[4.0, 6.0]] * 2])))
    >>> bits_with(pairs, pairs.table([0])).round(3)
    array([0.473, 0.473])
    """
    entropy, prior = pairs.alone if base is None else pairs.entropies(base, tasks)
    return _bounded_bits(prior - entropy, pairs.shape[0])


def _bounded_bits(nats: Floats | float, agents: int) -> Floats:
    """Convert nats to bits, limited to [0, log₂ agents], which rounding may exceed."""
    return np.asarray(np.clip(np.asarray(nats) / np.log(2.0), 0.0, np.log2(agents)))


class AgentConfusions(Table):
    """Pairs of different agents, those that are confused most first."""

    agent: tuple[str, ...] = name("Agent whose mean was observed")
    other: tuple[str, ...] = name("Agent it may be mistaken for")
    probability: Floats = number("Probability of the other agent, given this mean")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Confusion(Answer):
    """How probable each agent (column) is given the mean of another (row), [agents, agents]."""

    kind = "confusion"

    agents: tuple[str, ...]
    probability: Floats
    pairs: AgentConfusions

    @property
    def headline(self) -> str:
        """Which two agents are confused most."""
        first = self.pairs[0]
        return (
            f"{first.agent} is mistaken for {first.other} with probability {first.probability:.2g}, more "
            f"often than any other pair."
        )


def confusion(source: Results | Channels, tasks: Sequence[str] | None = None) -> Confusion:
    r"""Return p(a₂ | a₁): how probable agent a₂ (column) is, given the mean of a₁ (row).

    .. math:: p(a_2 | a_1) = \frac{e^{\ell(a_1, a_2)}}{\sum_a e^{\ell(a_1, a)}}, \qquad
              \ell = \sum_{g \in G} \ell_g

    (papers/004, eq. 1, 2 and 4). `tasks` names the set G; all tasks by default. Rows sum to 1.

    >>> confusion(Results.from_numpy([[[0.0, 2.0]], [[4.0, 6.0]]])).probability.round(3)
    array([[0.731, 0.269],
           [0.269, 0.731]])
    """
    channels = Channels.of(source)
    probability = normalised_rows(PairLikelihood(channels).table(channels.columns(tasks)))
    first, second = np.nonzero(~np.eye(len(probability), dtype=bool))
    names = np.array(channels.agents, dtype=object)
    table = AgentConfusions(
        agent=names[first], other=names[second], probability=probability[first, second]
    )
    return Confusion(channels.agents, probability, table.sorted_by("probability", descending=True))


class SharedBits(Table):
    """Pairs of tasks, those that share most first."""

    task: tuple[str, ...] = name("Task")
    other: tuple[str, ...] = name("Other task")
    shared_bits: Floats = number("Information that both tasks give", unit="bits")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Redundancy(Answer):
    """How much information each two tasks share: `shared` [tasks, tasks], in bits."""

    kind = "redundancy"

    tasks: tuple[str, ...]
    shared: Floats
    pairs: SharedBits

    @property
    def headline(self) -> str:
        """Which two tasks share most."""
        if len(self.tasks) < 2:
            return "One task shares information with no other."
        first = self.pairs[0]
        return f"{first.task} and {first.other} share the most information: {first.shared_bits:.3g} bits."


def redundancy(source: Results | Channels, tasks: Sequence[str] | None = None) -> Redundancy:
    r"""Return how much information each two tasks share: I(g) + I(h) − I(g, h), in bits.

    It is negative where two tasks give more together than the sum of both. The diagonal is what a task
    and its copy share. Bits are those of papers/004, eq. 3, whatever the model.

    >>> redundancy(Results.from_numpy([[[0.0, 2.0]] * 2, [[90.0, 92.0]] * 2])).shared.round(3)
    array([[1., 1.],
           [1., 1.]])
    """
    channels = Channels.of(source)
    chosen = channels.take(channels.columns(tasks))
    pairs = PairLikelihood(replace(chosen, model=replace(chosen.model, exact=False)))
    pairs.keep()
    single, joint = np.empty(len(chosen.tasks)), np.empty((len(chosen.tasks),) * 2)
    for column in range(len(single)):
        table = pairs.table([column])
        single[column], joint[column] = table_bits(table), bits_with(pairs, table)
    shared = single[:, None] + single - (joint + joint.T) / 2
    first, second = np.triu_indices(len(single), k=1)
    names = np.array(chosen.tasks, dtype=object)
    rows = SharedBits(task=names[first], other=names[second], shared_bits=shared[first, second])
    return Redundancy(chosen.tasks, shared, rows.sorted_by("shared_bits", descending=True))
