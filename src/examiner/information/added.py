"""What tasks add to a set of tasks: bits beyond those of the set, with noise removed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from examiner.answers import Answer, Scalar, Table, bound, name, number
from examiner.information.channels import MAX_BITS, channels_of, observed
from examiner.information.gain import bits_with, table_bits
from examiner.information.noise import ChannelModel
from examiner.information.observations import Moments, moments
from examiner.information.pairs import PairLikelihood
from examiner.information.plausible import plausible_draws
from examiner.information.uncertainty import ends_of
from examiner.messages import InputError, counted
from examiner.results import Results, reads_results
from examiner.validation import Floats, Randomness, check_known, generator, seed_of


class AddedBits(Table):
    """Bits that each task adds to the set, the most first; NaN where they cannot be estimated."""

    task: tuple[str, ...] = name("Task")
    added_bits: Floats = number(
        "Information beyond the set, expected once noise is removed", unit="bits", title="adds"
    )
    added_bits_low: Floats = bound("added_bits", "low")
    added_bits_high: Floats = bound("added_bits", "high")
    observed_bits: Floats = number("Information beyond the set as observed", unit="bits")


class Advantage(NamedTuple):
    """How much more a task adds than others do on average, with its interval."""

    bits: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AddedInformation(Answer):
    """What tasks add to a set: `added`. `draws` are posterior draws of the bits, in the table's order."""

    kind = "added-information"

    tasks: AddedBits
    draws: Floats
    base: tuple[str, ...]
    base_bits: float
    max_bits: float
    level: float = 0.95
    seed: int | None = None

    @property
    def headline(self) -> str:
        """Which task adds most."""
        if not len(self.tasks) or np.isnan(self.tasks.added_bits[0]):
            return "What tasks add to the set cannot be estimated."
        first = self.tasks[0]
        return (
            f"{first.task} adds most: {first.added_bits:.3g} bits beyond the {self.base_bits:.3g} of "
            f"{counted(len(self.base), 'task')}, of at most {self.max_bits:.3g}."
        )

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """The information of the set, and the most possible."""
        return {
            "base_bits": Scalar(self.base_bits, "Information of the set without noise", "bits"),
            "max_bits": Scalar(self.max_bits, MAX_BITS, "bits"),
        }

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """The seed, the tasks of the set, and the level of intervals."""
        return {"seed": self.seed, "base": list(self.base), "level": self.level}

    def advantage(self, task: str, others: Sequence[str], rng: Randomness = 0) -> Advantage:
        """Return how much more a task adds than others do on average.

        The interval counts the noise of runs and, by resampling, that the others are a sample of tasks.

        >>> truth = np.array([[0.0, 0.0, 0.0, 0.0], [0.0, 9.0, 0.0, 0.0], [0.0, 18.0, 0.0, 0.0]])
        >>> noise = np.random.default_rng(0).normal(size=(3, 4, 8))
        >>> answer = added(Results.from_numpy(truth[..., None] + noise), ["task 1"])
        >>> answer.advantage("task 2", ["task 3", "task 4"]).low > 0
        True
        """
        column_of = {one: column for column, one in enumerate(self.tasks.task)}
        for one in (task, *others):
            check_known("task", one, column_of)
        draws = generator(rng)
        columns = np.array([column_of[one] for one in others])
        resampled = columns[draws.integers(len(columns), size=(len(self.draws), len(columns)))]
        rows = np.arange(len(self.draws))[:, None]
        difference = self.draws[:, column_of[task]] - self.draws[rows, resampled].mean(axis=1)
        tail = 50 * (1 - self.level)
        low, high = np.percentile(difference, (tail, 100 - tail))
        return Advantage(float(difference.mean()), float(low), float(high))


@reads_results
def added(
    results: Results,
    base: Sequence[str],
    *,
    measure: str | None = None,
    model: ChannelModel | None = None,
    rng: Randomness = 0,
    reps: int = 200,
    level: float = 0.95,
) -> AddedInformation:
    r"""Return how many bits each other task adds to those that the `base` tasks give together.

    .. math:: I(t \mid B) = I(B \cup \{t\}) - I(B)

    with I as in `gain` (papers/004, eq. 3 and 4). Noise looks like information, most of all in the task
    that was chosen for it, so that estimates and intervals are those of posterior draws of means and
    deviations given all runs. `model` says what counts as noise.

    >>> truth = np.array([[0.0, 0.0, 0.0], [9.0, 0.0, 9.0], [9.0, 9.0, 9.0]])
    >>> noise = np.random.default_rng(0).normal(size=(3, 3, 8))
    >>> answer = added(Results.from_numpy(truth[..., None] + noise), ["task 1"])
    >>> answer.tasks.task[0], answer.tasks["task 3"].added_bits < 0.05
    ('task 2', True)
    """
    model = model or ChannelModel()
    observations = observed(results, None if measure is None else [measure], model)
    for task in base:
        check_known("task", task, observations.tasks)
    columns = [observations.tasks.index(task) for task in base]
    others = [column for column in range(len(observations.tasks)) if column not in set(columns)]
    if not others:
        raise InputError("All tasks are in the set, so that none can be added. Name fewer.")
    cells = moments(observations)

    def bits(drawn: Moments) -> tuple[Floats, float]:
        pairs = PairLikelihood(channels_of(observations, drawn, model))
        table = pairs.table(columns)
        base_bits = table_bits(table, exact=pairs.exact)
        together = np.where(pairs.usable, bits_with(pairs, table), np.nan)
        return together[others] - base_bits, base_bits

    seed = seed_of(rng)
    tables = plausible_draws(observations, cells, generator(seed))
    drawn = [bits(next(tables)) for _ in range(reps)]
    draws = np.array([part for part, _ in drawn])
    observed_bits = bits(cells)[0]
    corrected, low, high = ends_of(observed_bits, draws, level)
    order = np.argsort(-np.nan_to_num(corrected, nan=-np.inf), kind="stable")
    table = AddedBits(
        task=[observations.tasks[column] for column in others],
        added_bits=corrected,
        added_bits_low=low,
        added_bits_high=high,
        observed_bits=observed_bits,
    )
    return AddedInformation(
        table.take(order),
        draws[:, order],
        tuple(base),
        float(np.mean([base_bits for _, base_bits in drawn])),
        float(np.log2(len(observations.agents))),
        level,
        seed,
    )
