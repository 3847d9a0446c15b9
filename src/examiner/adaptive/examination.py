"""An examination as it stands: its steps, what is known of the agent, and how it is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from examiner.adaptive.answers import Flags, Floats, TaskResponse
from examiner.adaptive.bank import TaskBank
from examiner.adaptive.rules import RULES, Choosing, Rule
from examiner.adaptive.state import ExaminationState
from examiner.adaptive.stopping import Ending, Stop
from examiner.answers import Answer, Scalar, Table, bound, count, error, name, number
from examiner.irt import IRTFit, ItemParameters, interval
from examiner.messages import InputError, counted, shorten
from examiner.scores import Recipe
from examiner.validation import Bounds, ShapeError, from_record, to_record

T = TypeVar("T")
_EXPOSURE = 1 << 40
"""Beyond any number of steps: the tasks closed to an agent are drawn apart from its choices."""
Finite = Annotated[float, Bounds(-1e307, 1e307, "a finite number")]
"""With room for the ends of an interval around it."""
NotNegative = Annotated[float, Bounds(0.0, 1e307, "a finite number of 0 or more")]
Probability = Annotated[float, Bounds(0.0, 1.0, "a number between 0 and 1")]


@dataclass(frozen=True, slots=True)
class ExaminationStep:
    """One task of an examination: what was expected and answered, and what is known since.

    `expected` is the share of successes, or the score, that was expected; `worth` what the rule said of
    the task; `deviation` the posterior's, and `error` the total one, which counts the errors of the fit.
    """

    task: str
    value: Finite
    trials: int
    cost: Finite
    expected: Finite
    worth: Finite
    ability: Finite
    deviation: NotNegative
    error: NotNegative
    probability_better: Probability | None = None

    @property
    def low(self) -> float:
        """Lower end of the 95 % interval."""
        return interval(self.ability, self.error)[0]

    @property
    def high(self) -> float:
        """Upper end of the 95 % interval."""
        return interval(self.ability, self.error)[1]

    def to_record(self) -> dict[str, Any]:  # Any: JSON values
        """Return all numbers by name, the interval's ends too.

        >>> step = ExaminationStep("pong", 1.0, 1, 1.0, 0.5, 1.0, 0.6, 0.8, 0.8)
        >>> round(step.to_record()["high"], 2)
        2.17
        """
        parts = {part.name: getattr(self, part.name) for part in fields(self)}
        return {**to_record(parts), "low": self.low, "high": self.high}

    def answer(self, bank: TaskBank) -> TaskResponse:
        """Return what was answered, checked against a bank.

        >>> bank = TaskBank.of(ItemParameters.of(["pong"], [1], [0]))
        >>> ExaminationStep("pong", 1.0, 1, 1.0, 0.5, 1.0, 0.6, 0.8, 0.8).answer(bank).value
        1.0
        """
        return TaskResponse.of(self.task, (self.value, self.trials), bank.items.response)


class StepTable(Table):
    """Tasks of an examination in the order given, and what was known after each."""

    task: tuple[str, ...] = name("Task")
    value: Floats = number("Successes, or the score")
    trials: NDArray[np.int64] = count("Trials")
    expected: Floats = number("Expected share of successes, or expected score")
    ability: Floats = number("Posterior mean of ability after the task", unit="logits")
    ability_error: Floats = error("ability", "Total standard error of ability")
    ability_low: Floats = bound("ability", "low")
    ability_high: Floats = bound("ability", "high")
    posterior_sd: Floats = number("Posterior standard deviation, without the errors of tasks")
    cost: Floats = number("Cost of the task")
    worth: Floats = number("Value of the task by the rule that chose it")
    probability_better: Floats = number(
        "Probability that the agent is better than the one it is compared with"
    )


class UnansweredTasks(Table):
    """Tasks that were skipped."""

    task: tuple[str, ...] = name("Task")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Examination(Answer):
    """An agent's examination so far; `ending` is None while it goes on.

    `closed` are tasks that exposure control keeps from this agent. `recipe` is that of the fit: how raw
    results of the agent become answers.
    """

    kind: ClassVar[str] = "examine"

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
    recipe: Recipe | None = None

    @classmethod
    def begin(
        cls, bank: TaskBank, choosing: Choosing, stop: Stop, agent: str, seed: int
    ) -> Examination:
        """Return an examination before its first task; `seed` is that of all that is drawn in it.

        >>> bank = TaskBank.of(ItemParameters.of(["pong"], [1], [0]))
        >>> Examination.begin(bank, Choosing(), Stop(), "dqn", 0).headline
        'dqn has ability 0.00 ± 1.00 after 0 tasks. It goes on.'
        """
        closed: tuple[str, ...] = ()
        if choosing.open_shares is not None:
            rng = np.random.default_rng([seed, _EXPOSURE])
            drawn = closed_tasks(bank, choosing.open_shares, 1, rng)[0]
            closed = tuple(bank.tasks[column] for column in np.flatnonzero(drawn))
        return cls(
            agent,
            bank.fingerprint,
            choosing,
            stop.checked(bank),
            seed,
            ExaminationState.start(bank),
            (),
            closed,
            None,
            bank.notes,
            bank.recipe,
        )

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
        return interval(self.ability, self.error)

    @property
    def probability_better(self) -> float | None:
        """Probability that the agent is better than the one to compare with, where there is one."""
        return self.steps[-1].probability_better if self.steps else None

    def answer(self, task: str) -> tuple[float, int] | None:
        """Answer a task as this examination did: an examination is itself something to examine.

        >>> items = ItemParameters.of(["pong", "qbert"], slope=[2, 1], difficulty=[0, 1])
        >>> from examiner.adaptive.examine import examine
        >>> last = examine(items, {"pong": 1, "qbert": 0}.get, rng=0)
        >>> last.answer("qbert")
        (0.0, 1)
        """
        for step in self.steps:
            if step.task == task:
                return step.value, step.trials
        return None

    def to_record(self) -> dict[str, Any]:  # Any: JSON values
        """Return everything that is stored; `from_dict` reads it back with the same bank.

        >>> items = ItemParameters.of(["pong", "qbert"], slope=[2, 1], difficulty=[0, 1])
        >>> bank = TaskBank.of(items)
        >>> from examiner.adaptive.examine import examine
        >>> last = examine(bank, {"pong": 1, "qbert": 0}.get, rng=0)
        >>> Examination.from_dict(last.to_record(), bank).ability == last.ability
        True
        """
        plan = self.choosing
        content: dict[str, Any] = to_record(  # Any: JSON values
            {
                "agent": self.agent,
                "bank": self.fingerprint,
                "rule": plan.rule_name,
                "among": plan.among,
                "open_shares": plan.open_shares,
                "balance": plan.balance,
                "stop": self.stop,
                "seed": self.seed,
                "ability": self.ability,
                "error": self.error,
                "steps": [step.to_record() for step in self.steps],
                "unanswered": self.state.aside,
                "closed": self.closed,
                "ending": self.ending,
            }
        )
        return content

    @classmethod
    def from_dict(
        cls,
        content: Mapping[str, Any],
        source: TaskBank | ItemParameters | IRTFit,
        rule: Rule | None = None,
    ) -> Examination:
        """Read what `to_record` wrote; a rule that is a function of your own is given again.

        >>> Examination.from_dict({}, ItemParameters.of(["pong"], [1], [0]))
        Traceback (most recent call last):
        ...
        examiner.messages.InputError: This is no examination: 'bank' is missing. Give text.
        """
        bank = TaskBank.of(source)
        setting = read_stored(_StoredSetting, content)
        if setting.bank != bank.fingerprint:
            raise another_fit()
        if rule is None and setting.rule not in RULES:
            rule_name = shorten(setting.rule)[1:-1]  # without its quotes
            raise InputError(
                f"This examination chose by a function named {rule_name}. Give it again as the rule."
            )
        stored = read_stored(StoredAnswers, content)
        plan = Choosing(rule or setting.rule, setting.among, setting.open_shares, setting.balance)
        start = cls.begin(bank, plan, stored.stop, stored.agent, setting.seed)
        state = start.state.without(*setting.unanswered)
        for step in stored.steps:
            state = state.after(bank, step.answer(bank))
        return replace(
            start, state=state, steps=stored.steps, closed=setting.closed, ending=setting.ending
        )

    @property
    def headline(self) -> str:
        """The ability as known now, and how the examination ended."""
        end = "It goes on." if self.ending is None else self.ending.value
        ability = f"{round(self.ability, 2) + 0.0:.2f} ± {self.error:.2f}"
        return (
            f"{self.agent or 'The agent'} has ability {ability} after "
            f"{counted(len(self.steps), 'task')}. {end}"
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """One row per task given, and tasks without an answer."""
        steps = StepTable.from_rows(
            {
                "task": step.task,
                "value": step.value,
                "trials": step.trials,
                "expected": step.expected,
                "ability": step.ability,
                "ability_error": step.error,
                "ability_low": step.low,
                "ability_high": step.high,
                "posterior_sd": step.deviation,
                "cost": step.cost,
                "worth": step.worth,
                "probability_better": step.probability_better,
            }
            for step in self.steps
        )
        return {"steps": steps, "unanswered": UnansweredTasks(task=self.state.aside)}

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """The ability with its error and interval, what it cost, and how the examination ended."""
        low, high = self.interval
        ended = None if self.ending is None else self.ending.name.lower().replace("_", " ")
        outcome = None if self.ending is None else self.ending.value
        return {
            "agent": Scalar(self.agent, "Agent"),
            "ability": Scalar(self.ability, "Posterior mean of ability", "logits"),
            "ability_error": Scalar(self.error, "Total standard error of ability", "logits"),
            "ability_low": Scalar(low, "95 % interval of ability", "logits"),
            "ability_high": Scalar(high, "95 % interval of ability", "logits"),
            "posterior_sd": Scalar(
                self.state.deviation, "Posterior standard deviation, without the errors of tasks"
            ),
            "tasks": Scalar(len(self.steps), "Tasks given"),
            "cost": Scalar(self.state.cost, "Cost of the tasks given"),
            "rule": Scalar(self.choosing.rule_name, "Rule that chose the tasks"),
            "outcome": Scalar(outcome, "How the examination ended, in a sentence"),
            "ended": Scalar(ended, "How the examination ended, in a word"),
            "better_than": Scalar(self.stop.better_than, "Agent it is compared with"),
            "probability_better": Scalar(
                self.probability_better, "Probability that it is better than that agent"
            ),
        }

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """The seed, the rule of stopping and the fit."""
        return {"seed": self.seed, "stop": to_record(self.stop), "bank": self.fingerprint}


class StoredAnswers(NamedTuple):
    """What of a stored examination can be given again on any bank."""

    stop: Stop
    agent: str
    steps: tuple[ExaminationStep, ...]


class _StoredSetting(NamedTuple):
    """How a stored examination was made; `bank` is the fingerprint of the bank."""

    bank: str
    rule: str
    among: int
    open_shares: Mapping[str, float] | None
    balance: Mapping[str, float] | None
    seed: Annotated[int, Bounds(0, words="a whole number of at least 0")]
    unanswered: tuple[str, ...]
    closed: tuple[str, ...]
    ending: Ending | None
    error: NotNegative = 0.0


def closed_tasks(
    bank: TaskBank, open_shares: Mapping[str, float], agents: int, rng: np.random.Generator
) -> Flags:
    """Draw which tasks are closed to each agent, [agents, tasks]."""
    shares = np.array([open_shares.get(task, 1.0) for task in bank.tasks])
    return np.asarray(rng.random((agents, len(bank))) >= shares)


def another_fit() -> InputError:
    """Say that an examination does not belong to a bank."""
    return InputError(
        "This examination was made with another fit. Give that fit, or replay its answers on this one."
    )


def read_stored(kind: type[T], content: object) -> T:
    """Return some parts of a stored examination, or say what of them is wrong."""
    try:
        return from_record(kind, content)
    except ShapeError as problem:
        place = repr(problem.path) if problem.path else "it"
        raise InputError(
            f"This is no examination: {place} {problem.found}. Give {problem.wanted}."
        ) from None
