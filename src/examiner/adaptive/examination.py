"""An examination as it stands: its steps, what is known, and how it is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from examiner.adaptive.answers import Answer
from examiner.adaptive.bank import TaskBank
from examiner.adaptive.rules import RULES, Rule
from examiner.adaptive.state import ExaminationState
from examiner.adaptive.step import Choosing
from examiner.adaptive.stopping import Ending, Stop, interval
from examiner.irt.fitted import IRTFit
from examiner.irt.items import ItemParameters
from examiner.wording import InputError, counted


@dataclass(frozen=True, slots=True)
class ExaminationStep:
    """One task of an examination: what was expected and answered, and what is known since.

    `expected` is the share of successes, or the score, that was expected; `worth` what the rule said of
    the task; `deviation` the posterior's, and `error` the stated one, with that of the fit's scale.
    """

    task: str
    value: float
    trials: int
    cost: float
    expected: float
    worth: float
    ability: float
    deviation: float
    error: float
    probability_better: float | None = None

    @property
    def low(self) -> float:
        """Lower end of the 95 % interval."""
        return float(interval(self.ability, self.error)[0])

    @property
    def high(self) -> float:
        """Upper end of the 95 % interval."""
        return float(interval(self.ability, self.error)[1])

    def to_dict(self) -> dict[str, Any]:  # Any: JSON values
        """Return all numbers by name, the interval's ends too.

        >>> step = ExaminationStep("pong", 1.0, 1, 1.0, 0.5, 1.0, 0.6, 0.8, 0.8)
        >>> round(step.to_dict()["high"], 2)
        2.17
        """
        fields = {name: getattr(self, name) for name in self.__slots__}
        return fields | {"low": self.low, "high": self.high}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Examination:
    """An agent's examination so far; `ending` is None while it goes on.

    `closed` are tasks that exposure control keeps from this agent.
    """

    agent: str
    fingerprint: str
    choosing: Choosing
    stop: Stop
    seed: int
    state: ExaminationState
    steps: tuple[ExaminationStep, ...]
    closed: tuple[str, ...]
    ending: Ending | None
    notes: tuple[str, ...] = ()

    @property
    def ability(self) -> float:
        """The ability as known now: the posterior mean."""
        return self.state.ability

    @property
    def error(self) -> float:
        """The standard error stated for it."""
        return self.state.error

    @property
    def interval(self) -> tuple[float, float]:
        """The ends of the 95 % interval."""
        low, high = interval(self.ability, self.error)
        return float(low), float(high)

    @property
    def probability_better(self) -> float | None:
        """Probability that the agent is better than the one to compare with, where there is one."""
        return self.steps[-1].probability_better if self.steps else None

    def answer(self, task: str) -> tuple[float, int] | None:
        """Answer a task as this examination did: an examination is itself something to examine.

        >>> items = ItemParameters.of(["pong", "qbert"], slope=[2, 1], difficulty=[0, 1])
        >>> import numpy as np
        >>> from examiner.adaptive.examine import examine
        >>> *_, last = examine(items, {"pong": 1, "qbert": 0}.get, rng=np.random.default_rng(0))
        >>> last.answer("qbert")
        (0.0, 1)
        """
        for step in self.steps:
            if step.task == task:
                return step.value, step.trials
        return None

    def to_dict(self) -> dict[str, Any]:  # Any: JSON values
        """Return everything by name, ready for JSON; `from_dict` reads it back with the same bank.

        >>> items = ItemParameters.of(["pong", "qbert"], slope=[2, 1], difficulty=[0, 1])
        >>> bank = TaskBank.of(items)
        >>> import numpy as np
        >>> from examiner.adaptive.examine import examine
        >>> *_, last = examine(bank, {"pong": 1, "qbert": 0}.get, rng=np.random.default_rng(0))
        >>> Examination.from_dict(last.to_dict(), bank).ability == last.ability
        True
        """
        choosing = self.choosing
        return {
            "agent": self.agent,
            "bank": self.fingerprint,
            "rule": choosing.rule_name,
            "among": choosing.among,
            "open_shares": None if choosing.open_shares is None else dict(choosing.open_shares),
            "balance": None if choosing.balance is None else dict(choosing.balance),
            "stop": self.stop.to_dict(),
            "seed": self.seed,
            "ability": self.ability,
            "error": self.error,
            "steps": [step.to_dict() for step in self.steps],
            "unanswered": list(self.state.aside),
            "closed": list(self.closed),
            "ending": None if self.ending is None else self.ending.name,
        }

    @classmethod
    def from_dict(
        cls,
        content: Mapping[str, Any],
        source: TaskBank | ItemParameters | IRTFit,
        rule: Rule | None = None,
    ) -> Examination:
        """Read what `to_dict` wrote; a rule that is a function of your own is given again.

        >>> Examination.from_dict({}, ItemParameters.of(["pong"], [1], [0]))
        Traceback (most recent call last):
        ...
        examiner.wording.InputError: This is no examination: 'bank' is missing or wrong.
        """
        bank = TaskBank.of(source)
        try:
            if content["bank"] != bank.fingerprint:
                raise InputError(
                    "This examination was made with another fit. Give that fit, or replay its answers "
                    "on this one."
                )
            name = content["rule"]
            if rule is None and name not in RULES:
                raise InputError(
                    f"This examination chose by a function named {name}. Give it again as the rule."
                )
            choosing = Choosing(
                rule or name, content["among"], content["open_shares"], content["balance"]
            )
            ending = content["ending"]
            steps = tuple(_step(step) for step in content["steps"])
            state = ExaminationState.start(bank)
            for step in steps:
                state = state.after(
                    bank, Answer.of(step.task, (step.value, step.trials), bank.items.response)
                )
            return cls(
                content["agent"],
                bank.fingerprint,
                choosing,
                Stop(**content["stop"]).checked(bank),
                int(content["seed"]),
                state.without(*content["unanswered"]),
                steps,
                tuple(content["closed"]),
                None if ending is None else Ending[ending],
                bank.calibration.notes,
            )
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"This is no examination: {error} is missing or wrong.") from None

    def __repr__(self) -> str:
        who = f" of {self.agent}" if self.agent else ""
        end = "It goes on." if self.ending is None else self.ending.value
        return (
            f"Examination{who}: ability {self.ability:.2f} ± {self.error:.2f} after "
            f"{counted(len(self.steps), 'task')}. {end}"
        )


def _step(stored: Mapping[str, Any]) -> ExaminationStep:  # Any: JSON values
    """A step read back, every number of it checked."""
    found = {name: stored[name] for name in ExaminationStep.__slots__}
    for name, value in found.items():
        number = isinstance(value, (int, float)) and isfinite(value)
        if name != "task" and not number and not (name == "probability_better" and value is None):
            raise TypeError(f"{name!r} of a step")
    return ExaminationStep(**found)
