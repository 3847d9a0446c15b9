"""When to stop: precise enough, decided, spent, or nothing left to ask."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from examiner.adaptive.answers import Flags, Floats, Whole
from examiner.adaptive.bank import TaskBank
from examiner.adaptive.rules import maximum_information
from examiner.irt import AbilityEstimates
from examiner.messages import InputError, shorten
from examiner.validation import check_known


class Ending(Enum):
    """Why an examination ended; the value is the sentence the user reads."""

    PRECISE = "The standard error asked for was reached."
    DECIDED = "The decision is clear."
    MOST_TASKS = "The most tasks allowed were given."
    BUDGET = "No task left fits into the rest of the budget."
    USED_UP = "All tasks that could be answered were used up."
    FUTILE = "More tasks are not expected to settle this: those left tell too little."


@dataclass(frozen=True, slots=True)
class Stop:
    """When to stop: as soon as any of these holds, but not before `least` tasks.

    `error` is the stated standard error to reach, `budget` the most that all tasks may cost, `most` the
    most tasks. `better_than` names an agent of the fit, or gives an ability: the examination ends when
    the agent is better or not with a probability of at least `certainty`. It also ends where
    more tasks are not expected to bring about either of the two (see `futile`).

    >>> Stop(error=0.3, most=50)
    Stop(error=0.3, budget=None, most=50, least=1, better_than=None, certainty=0.95)
    """

    error: float | None = None
    budget: float | None = None
    most: int | None = None
    least: int = 1
    better_than: str | float | None = None
    certainty: float = 0.95

    def __post_init__(self) -> None:
        for what, value in (("standard error", self.error), ("budget", self.budget)):
            if value is not None and not (np.isfinite(value) and value > 0):
                raise InputError(f"The {what} is {value}. Give a number above 0.")
        for name, count in (("most", self.most), ("least", self.least)):
            if count is not None and (not isinstance(count, int) or count < 1):
                raise InputError(
                    f"The {name} tasks are {count!r}. Give a whole number of at least 1."
                )
        if self.most is not None and self.least > self.most:
            raise InputError(f"At least {self.least} tasks are more than the most, {self.most}.")
        if isinstance(self.better_than, (int, float)) and not np.isfinite(self.better_than):
            raise InputError(
                f"The ability to compare with is {self.better_than}. Give a finite number."
            )
        if not 0.5 < self.certainty < 1:
            raise InputError(
                f"The certainty is {self.certainty}. Give a share above 0.5 and below 1."
            )

    @classmethod
    def usual(cls, bank: TaskBank, least: int = 1) -> Stop:
        """Return a stop as precise as is usual, or as the agents of the bank's fit allow.

        >>> from examiner.irt import ItemParameters
        >>> Stop.usual(TaskBank.of(ItemParameters.of(["t"], [1], [0]))).error
        0.3
        """
        return cls(error=max(0.3, round(1.25 * bank.least_error, 2)), least=least)

    def checked(self, bank: TaskBank) -> Stop:
        """Return itself after refusing what this bank can never reach.

        >>> from examiner.irt import ItemParameters
        >>> Stop(better_than="dqn").checked(TaskBank.of(ItemParameters.of(["t"], [1], [0])))
        Traceback (most recent call last):
        ...
        examiner.messages.InputError: The fit knows no agents, so that 'dqn' has no ability. Give \
an ability to compare with.
        """
        if self.error is not None and self.error <= bank.least_error:
            raise InputError(
                f"A standard error of {self.error:g} cannot be reached: the fit's "
                f"{len(bank.landmarks)} agents leave the zero of the scale uncertain by "
                f"{bank.least_error:.3f}. Ask for more than that, or do not count the errors of the "
                f"fit (uncertainty='none')."
            )
        if isinstance(self.better_than, str):
            if not bank.landmarks:
                raise InputError(
                    f"The fit knows no agents, so that {shorten(self.better_than)} has no ability. "
                    f"Give an ability to compare with."
                )
            check_known("agent", self.better_than, bank.landmarks)
        cheapest = float(bank.costs.min())
        if self.budget is not None and self.budget < cheapest:
            raise InputError(
                f"The budget is {self.budget:g}, but the cheapest task costs {cheapest:g}. Allow more."
            )
        return self

    def probability_better(self, bank: TaskBank, estimates: AbilityEstimates) -> Floats | None:
        """Return P(θ > θ_X) of each agent, or None where no one is to be compared with.

        Both abilities are taken as normal. The errors of the fit, which both share, are counted once.

        >>> from examiner.irt import ItemParameters
        >>> bank = TaskBank.of(ItemParameters.of(["t"], [1], [0]))
        >>> estimates = AbilityEstimates(np.array([1.0]), np.array([0.5]), np.array([0.5]))
        >>> Stop(better_than=1.0).probability_better(bank, estimates)
        array([0.5])
        """
        if self.better_than is None:
            return None
        from scipy.special import ndtr

        mark, error = self._mark(bank)
        spread = np.sqrt(estimates.deviation**2 + error**2)
        return np.asarray(ndtr((estimates.ability - mark) / np.maximum(spread, 1e-12)))

    def futile(
        self, bank: TaskBank, estimates: AbilityEstimates, offered: Flags, given: Whole
    ) -> Flags:
        r"""Tell of each agent whether going on would be futile; `offered` has shape [agents, tasks].

        K more tasks, those with most information at the estimated ability, leave a posterior variance
        v' and a stated error e':

        .. math:: 1 / v' = 1 / v + \sum_{i \le K} I_i(\hat\theta), \quad e'^2 = e^2 - v + v'

        A standard error is given up where a third of the tasks given again, and at least 20, leave e'
        above it and less than 5 % below the error now. A decision is given up where all tasks left would
        bring it about with a chance below 0.1: until then the ability moves by N(0, v − v').

        >>> from examiner.irt import ItemParameters
        >>> bank = TaskBank.of(ItemParameters.of(["t", "u"], [1, 1], [0, 9]))
        >>> estimates = AbilityEstimates(np.array([1.0]), np.array([0.5]), np.array([0.5]))
        >>> Stop(error=0.3).futile(bank, estimates, np.array([[False, True]]), np.array([5]))
        array([ True])
        """
        futile: Flags = (given >= self.least) & (given % 5 == 0)
        if (self.error is None and self.better_than is None) or not futile.any():
            return np.zeros_like(futile)
        futile &= offered.any(axis=1)
        variance = np.maximum(estimates.deviation**2, 1e-12)
        at_ability = maximum_information(bank, estimates.deviation, estimates.ability)
        information = np.where(offered, at_ability, 0.0)
        if self.error is not None:
            left = 1.0 / (1.0 / variance + _best_information(information, given))
            error = np.sqrt(estimates.error**2 - estimates.deviation**2 + left)
            futile &= (error > self.error) & (error > 0.95 * estimates.error)
        if self.better_than is not None:
            left = 1.0 / (1.0 / variance + information.sum(axis=1))
            futile &= self._chance_of_decision(bank, estimates, variance - left, left) < 0.1
        return futile

    def endings(
        self,
        bank: TaskBank,
        estimates: AbilityEstimates,
        given: Whole,
        offered: Flags,
        possible: Flags,
    ) -> NDArray[np.object_]:
        """Return why each agent's examination ends, None where it goes on; shape [agents].

        `offered` [agents, tasks] are tasks not given yet, `possible` those that can be paid for. What was
        asked for comes before what ran out, and that before what is futile.

        >>> from examiner.irt import ItemParameters
        >>> bank = TaskBank.of(ItemParameters.of(["t", "u"], [1, 1], [0, 9]))
        >>> estimates = AbilityEstimates(np.array([1.0]), np.array([0.5]), np.array([0.5]))
        >>> left = np.array([[False, True]])
        >>> Stop(error=0.6, most=1).endings(bank, estimates, np.array([1]), left, left)[0].name
        'PRECISE'
        """
        ending = np.full(len(given), None, dtype=object)
        ending[self.futile(bank, estimates, offered, given)] = Ending.FUTILE
        nothing = ~possible.any(axis=1)
        if nothing.any():
            ending[nothing] = Ending.BUDGET
            ending[nothing & ~offered.any(axis=1)] = Ending.USED_UP
        if self.most is not None:
            ending[given >= self.most] = Ending.MOST_TASKS
        enough = given >= self.least
        if self.error is not None:
            ending[(estimates.error <= self.error) & enough] = Ending.PRECISE
        better = self.probability_better(bank, estimates)
        if better is not None:
            ending[(np.maximum(better, 1 - better) >= self.certainty) & enough] = Ending.DECIDED
        return ending

    def _chance_of_decision(
        self, bank: TaskBank, estimates: AbilityEstimates, moves: Floats, left: Floats
    ) -> Floats:
        """P(|θ̂' − θ_X| ≥ z √(v' + e_X²)) with θ̂' normal around θ̂ with variance v − v'."""
        from scipy.special import ndtr, ndtri

        mark, error = self._mark(bank)
        needed = ndtri(self.certainty) * np.sqrt(left + error**2)
        by = np.sqrt(np.maximum(moves, 1e-24))
        away = estimates.ability - mark
        return np.asarray(ndtr((away - needed) / by) + ndtr((-away - needed) / by))

    def _mark(self, bank: TaskBank) -> tuple[float, float]:
        """The ability to compare with, and its error."""
        assert self.better_than is not None
        if isinstance(self.better_than, str):
            return bank.landmarks[self.better_than]
        return float(self.better_than), bank.least_error


def _best_information(information: Floats, given: Whole) -> Floats:
    """The sum over as many of the best tasks as are looked ahead to, [agents]."""
    ahead = np.clip(given // 3, 20, None).clip(max=information.shape[1])
    total = np.empty(len(information))
    for count in np.unique(ahead):  # one number, where all agents were given as many tasks
        rows = ahead == count
        total[rows] = np.partition(information[rows], -count, axis=1)[:, -count:].sum(axis=1)
    return total
