"""An examination so far: its steps, the ability of the agent, and how it is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.adaptive.answers import Flags, Floats, TaskResponse
from examiner.adaptive.bank import TaskBank
from examiner.adaptive.rules import RULES, Choosing, Rule
from examiner.adaptive.stopping import Ending, Stop
from examiner.answers import Answer, Scalar, Table, bound, count, error, name, number
from examiner.irt import IRTFit, ItemParameters, interval
from examiner.messages import InputError, counted, shorten
from examiner.scores import Recipe
from examiner.validation import Bounds, ShapeError, from_record, to_record

Finite = Annotated[float, Bounds(-1e307, 1e307, "a finite number")]
"""With room for the ends of an interval around it."""
NotNegative = Annotated[float, Bounds(0.0, 1e307, "a finite number of 0 or more")]
Probability = Annotated[float, Bounds(0.0, 1.0, "a number between 0 and 1")]


@dataclass(frozen=True, slots=True)
class ExaminationStep:
    """One task of an examination: what was expected and answered, and the ability since.

    `expected` is the expected share of successes, or the expected score; `worth` the value of the task by
    the rule; `posterior_sd` takes task parameters as known, and `ability_error` counts their errors.
    """

    task: str
    value: Finite
    trials: int
    cost: Finite
    expected: Finite
    worth: Finite
    ability: Finite
    posterior_sd: NotNegative
    ability_error: NotNegative
    probability_better: Probability | None = None

    @property
    def ability_low(self) -> float:
        """Lower end of the 95 % interval."""
        return interval(self.ability, self.ability_error)[0]

    @property
    def ability_high(self) -> float:
        """Upper end of the 95 % interval."""
        return interval(self.ability, self.ability_error)[1]

    def to_record(self) -> dict[str, Any]:  # Any: JSON values
        """Return all numbers by name, the interval's ends too.

        >>> step = ExaminationStep("pong", 1.0, 1, 1.0, 0.5, 1.0, 0.6, 0.8, 0.8)
        >>> round(step.to_record()["ability_high"], 2)
        2.17
        """
        parts = {part.name: to_record(getattr(self, part.name)) for part in fields(self)}
        return {**parts, "ability_low": self.ability_low, "ability_high": self.ability_high}


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

    `prior` are the mean and the standard deviation of abilities before the first task. `skipped` are tasks
    without an answer, `closed` those that exposure control keeps from this agent. `recipe` is that of the
    fit: how raw results of the agent become answers.
    """

    kind: ClassVar[str] = "examine"

    agent: str
    fingerprint: str
    choosing: Choosing
    stop: Stop
    seed: int
    prior: tuple[float, float]
    steps: tuple[ExaminationStep, ...] = ()
    skipped: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    ending: Ending | None = None
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
            # beyond any number of steps, so that these draws are apart from those of choices
            rng = np.random.default_rng([seed, 1 << 40])
            drawn = closed_tasks(bank, choosing.open_shares, 1, rng)[0]
            closed = tuple(bank.tasks[column] for column in np.flatnonzero(drawn))
        (ability,), (deviation,), _ = bank.estimates_before
        return cls(
            agent,
            bank.fingerprint,
            choosing,
            stop.checked(bank),
            seed,
            (float(ability), float(deviation)),
            closed=closed,
            notes=bank.notes,
            recipe=bank.recipe,
        )

    @property
    def ability(self) -> float:
        """The posterior mean of ability."""
        return self.steps[-1].ability if self.steps else self.prior[0]

    @property
    def posterior_sd(self) -> float:
        """The posterior standard deviation, without the errors of tasks."""
        return self.steps[-1].posterior_sd if self.steps else self.prior[1]

    @property
    def error(self) -> float:
        """The total standard error of ability."""
        return self.steps[-1].ability_error if self.steps else self.prior[1]

    @property
    def interval(self) -> tuple[float, float]:
        """The ends of the 95 % interval."""
        return interval(self.ability, self.error)

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks given, in their order."""
        return tuple(step.task for step in self.steps)

    @property
    def cost(self) -> float:
        """The cost of the tasks given."""
        return sum(step.cost for step in self.steps)

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
        return {step.task: (step.value, step.trials) for step in self.steps}.get(task)

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
        stored = StoredExamination(
            self.fingerprint,
            self.agent,
            self.stop,
            self.steps,
            plan.rule_name,
            plan.among,
            plan.open_shares,
            plan.balance,
            self.seed,
            self.skipped,
            self.closed,
            self.ending,
        )
        return {**to_record(stored), "ability": self.ability, "error": self.error}

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
        stored = StoredExamination.read(content)
        if stored.bank != bank.fingerprint:
            raise another_fit()
        if rule is None and stored.rule not in RULES:
            rule_name = shorten(stored.rule)[1:-1]  # without its quotes
            raise InputError(
                f"This examination chose by a function named {rule_name}. Give it again as the rule."
            )
        answers_of(stored.steps, bank)  # refused here if one is wrong
        plan = Choosing(rule or stored.rule, stored.among, stored.open_shares, stored.balance)
        return replace(
            cls.begin(bank, plan, stored.stop, stored.agent, stored.seed),
            steps=stored.steps,
            skipped=stored.unanswered,
            closed=stored.closed,
            ending=stored.ending,
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
        steps = StepTable.from_rows(step.to_record() for step in self.steps)
        return {"steps": steps, "unanswered": UnansweredTasks(task=self.skipped)}

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
                self.posterior_sd, "Posterior standard deviation, without the errors of tasks"
            ),
            "tasks": Scalar(len(self.steps), "Tasks given"),
            "cost": Scalar(self.cost, "Cost of the tasks given"),
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


class StoredExamination(NamedTuple):
    """The parts of an examination that are stored; `bank` is the fingerprint of the bank."""

    bank: str
    agent: str
    stop: Stop
    steps: tuple[ExaminationStep, ...]
    rule: str
    among: int
    open_shares: Mapping[str, float] | None
    balance: Mapping[str, float] | None
    seed: Annotated[int, Bounds(0, words="a whole number of at least 0")]
    unanswered: tuple[str, ...]
    closed: tuple[str, ...]
    ending: Ending | None

    @classmethod
    def read(cls, content: object) -> StoredExamination:
        """Return a stored examination, or say what of it is wrong."""
        try:
            return from_record(cls, content)
        except ShapeError as problem:
            place = repr(problem.path) if problem.path else "it"
            raise InputError(
                f"This is no examination: {place} {problem.found}. Give {problem.wanted}."
            ) from None


def answers_of(steps: Sequence[ExaminationStep], bank: TaskBank) -> list[TaskResponse]:
    """Return the answers of an examination, checked against a bank.

    >>> step = ExaminationStep("pong", 1.0, 1, 1.0, 0.5, 1.0, 0.6, 0.8, 0.8)
    >>> answers_of([step, step], TaskBank.of(ItemParameters.of(["pong"], [1], [0])))
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: The task 'pong' was answered before. Give each task once, all its \
trials in one answer: (3, 5).
    """
    answers: dict[str, TaskResponse] = {}
    for step in steps:
        bank.column(step.task)
        if step.task in answers:
            raise InputError(
                f"The task {shorten(step.task)} was answered before. Give each task once, all its "
                f"trials in one answer: (3, 5)."
            )
        given = step.value, step.trials
        answers[step.task] = TaskResponse.of(step.task, given, bank.items.response)
    return list(answers.values())


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
