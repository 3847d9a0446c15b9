"""Redundancy: how much information two tasks share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from examiner.answers import Answer, Table, name, number
from examiner.information.channels import Channels
from examiner.information.confusion import PairLikelihood
from examiner.information.gain import bits_with, table_bits
from examiner.results import Results
from examiner.validation import Floats


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

    @property
    def pairs(self) -> SharedBits:
        """The table of pairs of different tasks."""
        first, second = np.triu_indices(len(self.tasks), k=1)
        names = np.array(self.tasks, dtype=object)
        table = SharedBits(
            task=names[first], other=names[second], shared_bits=self.shared[first, second]
        )
        return table.sorted_by("shared_bits", descending=True)

    @property
    def headline(self) -> str:
        """Which two tasks share most."""
        if len(self.tasks) < 2:
            return "One task shares information with no other."
        first = self.pairs[0]
        return f"{first.task} and {first.other} share the most information: {first.shared_bits:.3g} bits."

    @property
    def tables(self) -> Mapping[str, Table]:
        """Pairs of tasks."""
        return {"pairs": self.pairs}


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
    single, joint = np.empty(len(chosen.tasks)), np.empty((len(chosen.tasks),) * 2)
    for column in range(len(single)):
        table = pairs.table([column])
        single[column], joint[column] = table_bits(table), bits_with(pairs, table)
    return Redundancy(chosen.tasks, single[:, None] + single - (joint + joint.T) / 2)
