"""ExaminationState: what is known of an agent in the middle of its examination."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.adaptive.answers import Answer
from examiner.adaptive.bank import TaskBank
from examiner.checking import read_only
from examiner.irt.items import Floats
from examiner.wording import InputError, shorten


class Moments(NamedTuple):
    """Mean and standard deviation of abilities under weights [agents, nodes], and the stated error."""

    ability: Floats
    deviation: Floats
    error: Floats


def weights_of(log_posterior: Floats) -> Floats:
    """Return posterior weights that sum to 1 in each row."""
    weights = np.exp(log_posterior - log_posterior.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.asarray(weights)


def moments(bank: TaskBank, weights: Floats) -> Moments:
    r"""Return abilities, their posterior deviations, and errors that count the fit's scale too.

    .. math:: e^2 = \operatorname{Var}(\theta \mid x) + \operatorname{Var}(m)
              + (\hat\theta - \mu)^2 \operatorname{Var}(s)
    """
    ability = weights @ bank.nodes
    variance = np.maximum(weights @ bank.nodes**2 - ability**2, 0.0)
    scale = (
        bank.calibration.scale.zero + (ability - bank.prior_mean) ** 2 * bank.calibration.scale.unit
    )
    return Moments(ability, np.sqrt(variance), np.sqrt(variance + scale))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ExaminationState:
    """Tasks given and answers had, and the posterior over ability on the bank's nodes.

    `aside` are tasks that could not be answered, or that this agent shall not be given.

    >>> from examiner.irt.items import ItemParameters
    >>> bank = TaskBank.of(ItemParameters.of(["pong", "qbert"], slope=[2, 1], difficulty=[0, 1]))
    >>> state = ExaminationState.start(bank).after(bank, Answer("pong", 1.0))
    >>> state.tasks, round(state.ability, 2)
    (('pong',), 0.61)
    """

    answers: tuple[Answer, ...]
    aside: tuple[str, ...]
    log_posterior: Floats
    ability: float
    deviation: float
    error: float
    cost: float

    @classmethod
    def start(cls, bank: TaskBank) -> ExaminationState:
        """Return the state before the first task: what is known of the population.

        >>> from examiner.irt.items import ItemParameters
        >>> ExaminationState.start(TaskBank.of(ItemParameters.of(["pong"], [1], [0])))
        ExaminationState: ability 0.00 ± 1.00 after 0 tasks
        """
        return cls._of(bank, (), (), bank.log_prior, 0.0)

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks given, in their order."""
        return tuple(answer.task for answer in self.answers)

    def after(self, bank: TaskBank, answer: Answer) -> ExaminationState:
        """Return the state after one more answer.

        >>> from examiner.irt.items import ItemParameters
        >>> bank = TaskBank.of(ItemParameters.of(["pong"], [1], [0]))
        >>> ExaminationState.start(bank).after(bank, Answer("pong", 0.0)).ability < 0
        True
        """
        place = bank.position(answer.task)
        if answer.task in self.tasks:
            raise InputError(
                f"The task {shorten(answer.task)} was answered before. Give each task once, all its "
                f"trials in one answer: (3, 5)."
            )
        found = bank.log_likelihood(
            np.array([place]), np.array([answer.value]), np.array([answer.trials])
        )[0]
        posterior = self.log_posterior + found
        cost = self.cost + float(bank.costs[place])
        return self._of(bank, (*self.answers, answer), self.aside, posterior, cost)

    def without(self, *tasks: str) -> ExaminationState:
        """Return the state with tasks put aside: they will not be chosen.

        >>> from examiner.irt.items import ItemParameters
        >>> ExaminationState.start(TaskBank.of(ItemParameters.of(["pong"], [1], [0]))).without("pong").aside
        ('pong',)
        """
        return replace(self, aside=tuple(dict.fromkeys((*self.aside, *tasks))))

    def offered(self, bank: TaskBank) -> NDArray[np.bool_]:
        """Tell which tasks can still be given, shape [tasks].

        >>> from examiner.irt.items import ItemParameters
        >>> bank = TaskBank.of(ItemParameters.of(["pong", "qbert"], [1, 1], [0, 0]))
        >>> ExaminationState.start(bank).without("pong").offered(bank)
        array([False,  True])
        """
        closed = {*self.tasks, *self.aside}
        return np.array([task not in closed for task in bank.tasks], dtype=bool)

    @classmethod
    def _of(
        cls,
        bank: TaskBank,
        answers: tuple[Answer, ...],
        aside: tuple[str, ...],
        log_posterior: Floats,
        cost: float,
    ) -> ExaminationState:
        read_only(log_posterior)
        found = moments(bank, weights_of(log_posterior[None]))
        ability, deviation, error = (float(part[0]) for part in found)
        return cls(answers, aside, log_posterior, ability, deviation, error, cost)

    def __repr__(self) -> str:
        count = len(self.answers)
        return (
            f"ExaminationState: ability {round(self.ability, 2) + 0.0:.2f} ± {self.error:.2f} after "
            f"{count} task{'' if count == 1 else 's'}"
        )
