"""An examination: ask, answer, ask again, until enough is known; saved and resumed at any step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from examiner.adaptive.answers import Answer
from examiner.adaptive.bank import Bank
from examiner.adaptive.rules import RULES, Rule
from examiner.adaptive.state import Moments, State, weights_of
from examiner.adaptive.step import Choice, Policy, next_task
from examiner.adaptive.stopping import Ending, Stop, interval
from examiner.irt.fitted import IRTFit
from examiner.irt.items import ItemParameters
from examiner.irt.logistic import probability
from examiner.results.checks import InputError, counted

Answering = Callable[[str], Any]
"""From a task's name to its answer: 0 or 1, (k, n), a score; None where it cannot be answered."""


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
        """Return all numbers by name, the interval's ends too."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return fields | {"low": self.low, "high": self.high}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Examination:
    """An agent's examination so far; `ending` is None while it goes on.

    `closed` are tasks that exposure control keeps from this agent.
    """

    agent: str
    fingerprint: str
    policy: Policy
    stop: Stop
    seed: int
    state: State
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
        >>> bank = Bank.of(items)
        >>> *_, last = examine(bank, {"pong": 1, "qbert": 0}.get, rng=np.random.default_rng(0))
        >>> Examination.from_dict(last.to_dict(), bank).ability == last.ability
        True
        """
        policy = self.policy
        return {
            "agent": self.agent,
            "bank": self.fingerprint,
            "rule": policy.rule_name,
            "among": policy.among,
            "open_shares": None if policy.open_shares is None else dict(policy.open_shares),
            "balance": None if policy.balance is None else dict(policy.balance),
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
        source: Bank | ItemParameters | IRTFit,
        rule: Rule | None = None,
    ) -> Examination:
        """Read what `to_dict` wrote; a rule that is a function of your own is given again.

        >>> Examination.from_dict({}, ItemParameters.of(["pong"], [1], [0]))
        Traceback (most recent call last):
        ...
        examiner.results.checks.InputError: This is no examination: 'bank' is missing or wrong.
        """
        bank = Bank.of(source)
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
            policy = Policy(
                rule or name, content["among"], content["open_shares"], content["balance"]
            )
            ending = content["ending"]
            steps = tuple(
                ExaminationStep(**{name: step[name] for name in ExaminationStep.__slots__})
                for step in content["steps"]
            )
            state = State.start(bank)
            for step in steps:
                state = state.after(
                    bank, Answer.of(step.task, (step.value, step.trials), bank.items.response)
                )
            return cls(
                content["agent"],
                bank.fingerprint,
                policy,
                Stop(**content["stop"]).checked(bank),
                int(content["seed"]),
                state.without(*content["unanswered"]),
                steps,
                tuple(content["closed"]),
                None if ending is None else Ending[ending],
                bank.calibration.notes,
            )
        except (KeyError, TypeError, AttributeError, ValueError) as error:
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


def examine(
    source: Bank | ItemParameters | IRTFit,
    answer: Answering,
    *,
    rng: np.random.Generator,
    policy: str | Rule | Policy = "information",
    stop: Stop | None = None,
    agent: str = "",
    resume: Examination | None = None,
) -> Iterator[Examination]:
    """Ask task after task, and yield the examination after each answer; the last one has ended.

    `answer(task)` returns 0 or 1, successes and trials `(k, n)`, or a score for the beta model; None
    puts the task aside. Without `stop` every task is given. `resume` goes on with an examination: its
    policy, stop and seed are kept unless `stop` is given anew, and it goes on as if never interrupted.

    >>> items = ItemParameters.of(["easy", "apt", "hard"], slope=1.5, difficulty=[-2, 0, 2])
    >>> for step in examine(items, {"apt": 1, "hard": 0, "easy": 1}.get, rng=np.random.default_rng(0)):
    ...     print(step.steps[-1].task, round(step.ability, 2), round(step.error, 2))
    apt 0.53 0.85
    hard 0.39 0.78
    easy 0.43 0.76
    """
    bank = Bank.of(source)
    now = _begin(bank, policy, stop, agent, rng) if resume is None else _resumed(bank, resume, stop)
    if now.ending is not None:
        yield now
        return
    while True:
        choice = _choice(bank, now)
        if choice is None:
            last = replace(now, ending=_no_task_left(bank, now))
            yield last
            return
        given = answer(choice.task)
        if given is None:
            now = replace(now, state=now.state.without(choice.task))
            continue
        now = _answered(bank, now, choice, given)
        yield now
        if now.ending is not None:
            return


def replay(
    examination: Examination | Mapping[str, Any], source: Bank | ItemParameters | IRTFit
) -> Examination:
    """Give the same answers in the same order on another bank, such as a newer fit.

    >>> items = ItemParameters.of(["pong", "qbert"], slope=[2, 1], difficulty=[0, 1])
    >>> *_, last = examine(items, {"pong": 1, "qbert": 0}.get, rng=np.random.default_rng(0))
    >>> replay(last, items.rescaled(0.5, 1.0)).ability < last.ability
    True
    """
    content = examination.to_dict() if isinstance(examination, Examination) else dict(examination)
    bank = Bank.of(source)
    try:
        stop = replace(Stop(**content["stop"]), error=None, better_than=None)
        now = replace(
            _begin(bank, "information", stop, content["agent"], np.random.default_rng(0)),
            stop=Stop(),
        )
        for step in content["steps"]:
            choice = Choice(step["task"], float(step["worth"]))
            now = replace(
                _answered(bank, now, choice, (step["value"], step["trials"])), ending=None
            )
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"This is no examination: {error} is missing or wrong.") from None
    return now


def _begin(
    bank: Bank,
    policy: str | Rule | Policy,
    stop: Stop | None,
    agent: str,
    rng: np.random.Generator,
) -> Examination:
    plan = policy if isinstance(policy, Policy) else Policy(policy)
    seed = int(rng.integers(2**53))  # so that JSON readers keep it exactly
    closed: tuple[str, ...] = ()
    if plan.open_shares is not None:
        drawn = np.random.default_rng([seed, _EXPOSURE]).random(len(bank))
        closed = tuple(
            task
            for task, chance in zip(bank.tasks, drawn, strict=True)
            if chance >= plan.open_shares.get(task, 1.0)
        )
    return Examination(
        agent,
        bank.fingerprint,
        plan,
        (stop or Stop()).checked(bank),
        seed,
        State.start(bank),
        (),
        closed,
        None,
        bank.calibration.notes,
    )


def _resumed(bank: Bank, resume: Examination, stop: Stop | None) -> Examination:
    if resume.fingerprint != bank.fingerprint:
        raise InputError(
            "This examination was made with another fit. Give that fit, or replay its answers on this one."
        )
    if stop is None:
        return resume
    going = replace(resume, stop=stop.checked(bank), ending=None)
    return replace(going, ending=_ending(bank, going))


def _choice(bank: Bank, now: Examination) -> Choice | None:
    rest = np.inf if now.stop.budget is None else now.stop.budget - now.state.cost + 1e-9
    rng = np.random.default_rng([now.seed, len(now.steps), len(now.state.aside)])
    choice = next_task(
        now.state.without(*now.closed), bank, now.policy, rng=rng, at_most_cost=float(rest)
    )
    if choice is None and now.closed:  # better a task too often seen than none
        return next_task(now.state, bank, now.policy, rng=rng, at_most_cost=float(rest))
    return choice


def _answered(bank: Bank, now: Examination, choice: Choice, given: Any) -> Examination:
    answer = Answer.of(choice.task, given, bank.items.response)
    place = bank.position(choice.task)
    curve = probability(bank.items.take([place]), bank.nodes)[0]
    expected = float(weights_of(now.state.log_posterior[None])[0] @ curve)
    state = now.state.after(bank, answer)
    better = now.stop.probability_better(bank, _moments(state))
    step = ExaminationStep(
        answer.task,
        answer.value,
        answer.trials,
        float(bank.costs[place]),
        expected,
        choice.value,
        state.ability,
        state.deviation,
        state.error,
        None if better is None else float(better[0]),
    )
    going = replace(now, state=state, steps=(*now.steps, step))
    return replace(going, ending=_ending(bank, going))


def _ending(bank: Bank, now: Examination) -> Ending | None:
    if not now.steps:
        return None
    precise, clear = now.stop.reached(bank, _moments(now.state), len(now.steps))
    if clear[0]:
        return Ending.DECIDED
    if precise[0]:
        return Ending.PRECISE
    if now.stop.most is not None and len(now.steps) >= now.stop.most:
        return Ending.MOST_TASKS
    if _choice(bank, now) is None:
        return _no_task_left(bank, now)
    return None


def _no_task_left(bank: Bank, now: Examination) -> Ending:
    return Ending.BUDGET if now.state.offered(bank).any() else Ending.USED_UP


def _moments(state: State) -> Moments:
    return Moments(*(np.array([part]) for part in (state.ability, state.deviation, state.error)))


_EXPOSURE = 1 << 40
