"""Examinations: ask, answer, ask again, until enough is known; of one agent, or of thousands at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from examiner.adaptive.answers import (
    Flags,
    Floats,
    Indices,
    TableAnswers,
    TaskResponse,
    Whole,
    answers_from,
)
from examiner.adaptive.bank import TaskBank, weights_of
from examiner.adaptive.examination import (
    Examination,
    ExaminationStep,
    StoredExamination,
    another_fit,
    answers_of,
)
from examiner.adaptive.rules import Choosing, Rule, among_these, choose
from examiner.adaptive.stopping import Stop
from examiner.irt import AbilityEstimates, IRTFit, ItemParameters, probability
from examiner.messages import InputError, shorten
from examiner.results import ResponseMatrix, Results
from examiner.validation import Randomness, generator

Answering: TypeAlias = Callable[[str], Any]
"""From a task's name to its answer: 0 or 1, (k, n), a score; None where it cannot be answered."""
_ONE = np.zeros(1, dtype=np.intp)


class Round(NamedTuple):
    """One task for each of some agents: `rows` of the sitting, `task` columns of the bank.

    `value` is NaN where the task could not be answered. `before` and `weights` are the posterior weights
    [agents, nodes] before and after the answers, and `estimates` the abilities after them.
    """

    rows: Indices
    task: Indices
    worth: Floats
    value: Floats
    trials: Whole
    before: Floats
    weights: Floats
    estimates: AbilityEstimates


class Sitting:
    """Agents who are examined side by side, each by its own answers; one agent is a sitting of one row.

    `posterior` [agents, nodes] holds logarithms; `offered` [agents, tasks] are the tasks that can be given,
    `value` and `trials` [agents, tasks] the answers, with 0 trials where there is none. `closed` are the
    tasks that exposure control keeps back, None for nothing. `ending` says why each agent ended.
    """

    def __init__(self, bank: TaskBank, agents: int) -> None:
        self.bank = bank
        self.closed: Flags | None = None
        self.posterior = np.repeat(bank.log_prior[None], agents, axis=0)
        self.offered = np.ones((agents, len(bank)), dtype=bool)
        self.value = np.zeros((agents, len(bank)))
        self.trials = np.zeros((agents, len(bank)), dtype=np.int64)
        self.given, self.cost = np.zeros(agents, dtype=np.int64), np.zeros(agents)
        self.ending = np.full(agents, None, dtype=object)

    @classmethod
    def of_one(cls, bank: TaskBank, now: Examination) -> Sitting:
        """Return the one agent of an examination that may be on its way."""
        sitting = cls(bank, 1)
        sitting.closed = bank.among(now.closed)[None] if now.closed else None
        sitting.offered[0] = ~bank.among(now.skipped)
        for answer in answers_of(now.steps, bank):
            sitting.record_one(answer)
        return sitting

    def rounds(
        self,
        choosing: Choosing,
        stop: Stop,
        answer: Callable[[Indices, Indices], tuple[Floats, Whole]],
        rngs: Iterator[np.random.Generator],
    ) -> Iterator[Round]:
        """Ask every agent that goes on one task after another, and yield after each.

        `answer` takes rows and the task of each, and returns values and trials; `rngs` yields a random
        generator for each choice.
        """
        rows = np.arange(len(self.ending))
        weights = weights_of(self.posterior)
        answered = np.zeros(len(rows), dtype=bool)
        possible, goes_on = self.judge(stop, rows, self.estimates(rows, weights), answered)
        while goes_on.any():
            rows, weights, possible = rows[goes_on], weights[goes_on], possible[goes_on]
            if self.closed is not None:  # better a task given too often than none
                possible = among_these(possible, ~self.closed[rows])
            task, worth = choose(
                self.bank, choosing, weights, possible, self.trials[rows] > 0, next(rngs)
            )
            turn = self.record(rows, task, worth, *answer(rows, task), weights)
            weights = turn.weights
            possible, goes_on = self.judge(stop, rows, turn.estimates, ~np.isnan(turn.value))
            yield turn

    def record(
        self,
        rows: Indices,
        task: Indices,
        worth: Floats,
        value: Floats,
        trials: Whole,
        before: Floats,
    ) -> Round:
        """Record the answers of some agents, each to its own task."""
        answered = ~np.isnan(value)
        at = rows[answered], task[answered]
        self.offered[rows, task] = False
        self.value[at], self.trials[at] = value[answered], trials[answered]
        self.given[at[0]] += 1
        self.cost[at[0]] += self.bank.costs[at[1]]
        self.posterior[at[0]] += self.bank.log_likelihood(at[1], value[answered], trials[answered])
        weights = weights_of(self.posterior[rows])
        return Round(
            rows, task, worth, value, trials, before, weights, self.estimates(rows, weights)
        )

    def record_one(self, answer: TaskResponse, worth: float = 0.0) -> Round:
        """Record an answer of the one agent."""
        return self.record(
            _ONE,
            np.array([self.bank.column(answer.task)]),
            np.array([worth]),
            np.array([answer.value]),
            np.array([answer.trials]),
            weights_of(self.posterior),
        )

    def estimates(self, rows: Indices, weights: Floats) -> AbilityEstimates:
        """Return the abilities of some agents with posterior weights [agents, nodes]."""
        value, trials = self.value.take(rows, axis=0), self.trials.take(rows, axis=0)
        tasks = np.flatnonzero(trials.any(axis=0))
        return self.bank.estimates(
            weights, tasks, value.take(tasks, axis=1), trials.take(tasks, axis=1)
        )

    def judge(
        self, stop: Stop, rows: Indices, estimates: AbilityEstimates, answered: Flags
    ) -> tuple[Flags, Flags]:
        """Record who ends, and why; return the tasks that can come next, and who goes on.

        Whoever did not answer goes on as long as there is another task.
        """
        offered = possible = self.offered[rows]
        if stop.budget is not None:
            budget_left = stop.budget - self.cost[rows] + 1e-9
            possible = possible & (self.bank.costs <= budget_left[:, None])
        given = np.where(answered, self.given[rows], 0)
        ending = stop.endings(self.bank, estimates, given, offered, possible)
        self.ending[rows] = ending
        return possible, np.array([end is None for end in ending], dtype=bool)


def examine(
    source: TaskBank | ItemParameters | IRTFit,
    answer: Answering | Results | ResponseMatrix,
    *,
    rng: Randomness = 0,
    choosing: str | Rule | Choosing = "information",
    stop: Stop | None = None,
    agent: str = "",
    resume: Examination | None = None,
    after_each: Callable[[Examination], object] | None = None,
) -> Examination:
    """Ask task after task until the examination ends, and return it: the ability, and every step.

    `answer(task)` returns 0 or 1, successes and trials `(k, n)`, or a score for the beta model; None
    skips the task. Results answer for the `agent` named, through the fit's recipe. Without `stop`
    every task is given. `resume` goes on with an examination: its choosing, stop and seed are kept unless
    `stop` is given anew, and it goes on as if never interrupted. `after_each` gets the examination after
    each answer, so that it can be stored, shown or stopped on its way.

    >>> items = ItemParameters.of(["easy", "apt", "hard"], slope=1.5, difficulty=[-2, 0, 2])
    >>> answers = {"apt": 1, "hard": 0, "easy": 1}
    >>> last = examine(items, answers.get, after_each=lambda now: print(now.steps[-1].task))
    apt
    hard
    easy
    >>> round(last.ability, 2), round(last.error, 2)
    (0.43, 0.76)
    """
    bank = TaskBank.of(source)
    if isinstance(answer, Results | ResponseMatrix):
        answer = answers_from(answer, bank.fit or bank.items, agent or None)
        agent = answer.agent
    if not callable(answer):
        raise InputError(
            f"A {type(answer).__name__} cannot answer. Give a function of a task's name, or results."
        )
    for name, value, kind in (("stop", stop, Stop), ("resume", resume, Examination)):
        if value is not None and not isinstance(value, kind):
            raise InputError(
                f"`{name}` is a {type(value).__name__}. Give {name}={kind.__name__}, or leave it out."
            )
    if resume is None:
        seed = int(generator(rng).integers(2**53))  # so that JSON readers keep it exactly
        now = Examination.begin(bank, Choosing.of(choosing), stop or Stop(), agent, seed)
    else:
        now = _resumed(bank, resume, stop, agent)
    if isinstance(answer, TableAnswers):
        now = replace(now, notes=tuple(dict.fromkeys((*now.notes, *answer.notes))))
    if now.ending is not None:
        return now
    ask = answer

    def answered(_: Indices, task: Indices) -> tuple[Floats, Whole]:
        name = bank.tasks[task[0]]
        given = ask(name)
        if given is None:
            return np.array([np.nan]), np.ones(1, dtype=np.int64)
        checked = TaskResponse.of(name, given, bank.items.response)
        return np.array([checked.value]), np.array([checked.trials])

    def of_this_choice() -> Iterator[np.random.Generator]:
        while True:  # does not depend on what was drawn before, so that it can be resumed anywhere
            yield np.random.default_rng([now.seed, len(now.steps), len(now.skipped)])

    sitting = Sitting.of_one(bank, now)
    for turn in sitting.rounds(now.choosing, now.stop, answered, of_this_choice()):
        now = _continued(bank, now, turn)
        if not np.isnan(turn.value[0]):
            now = replace(now, ending=sitting.ending[0])
            if after_each is not None:
                after_each(now)
    return replace(now, ending=sitting.ending[0])


def _resumed(bank: TaskBank, resume: Examination, stop: Stop | None, agent: str) -> Examination:
    if resume.fingerprint != bank.fingerprint:
        raise another_fit()
    if agent and resume.agent and agent != resume.agent:
        raise InputError(
            f"This is the examination of {shorten(resume.agent)}, and the answers are those of "
            f"{shorten(agent)}. Begin another examination, or name {shorten(resume.agent)}."
        )
    if stop is None:
        return resume
    going = replace(resume, stop=stop.checked(bank), ending=None)
    if not going.steps:
        return going
    sitting = Sitting.of_one(bank, going)
    estimates = sitting.estimates(_ONE, weights_of(sitting.posterior))
    sitting.judge(going.stop, _ONE, estimates, np.ones(1, dtype=bool))
    return replace(going, ending=sitting.ending[0])


def _continued(bank: TaskBank, now: Examination, turn: Round) -> Examination:
    """The examination with one more step, or one more task without an answer."""
    column = int(turn.task[0])
    if np.isnan(turn.value[0]):
        return replace(now, skipped=(*now.skipped, bank.tasks[column]))
    curve = probability(bank.items.take([column]), bank.nodes)[:, 0]
    better = now.stop.probability_better(bank, turn.estimates)
    ability, deviation, error = (float(part[0]) for part in turn.estimates)
    step = ExaminationStep(
        bank.tasks[column],
        float(turn.value[0]),
        int(turn.trials[0]),
        float(bank.costs[column]),
        float(turn.before[0] @ curve),
        float(turn.worth[0]),
        ability,
        deviation,
        error,
        None if better is None else float(better[0]),
    )
    return replace(now, steps=(*now.steps, step))


def replay(
    examination: Examination | Mapping[str, Any], source: TaskBank | ItemParameters | IRTFit
) -> Examination:
    """Give the same answers in the same order on another bank, such as a newer fit.

    >>> items = ItemParameters.of(["pong", "qbert"], slope=[2, 1], difficulty=[0, 1])
    >>> last = examine(items, {"pong": 1, "qbert": 0}.get, rng=0)
    >>> replay(last, items.rescaled(0.5, 1.0)).ability < last.ability
    True
    """
    stored = StoredExamination.read(
        examination.to_record() if isinstance(examination, Examination) else examination
    )
    bank = TaskBank.of(source)
    now = Examination.begin(bank, Choosing(), Stop(), stored.agent, 0)  # nothing of it is drawn
    sitting = Sitting(bank, 1)
    for answer, step in zip(answers_of(stored.steps, bank), stored.steps, strict=True):
        now = _continued(bank, now, sitting.record_one(answer, step.worth))
    return now


class Choice(NamedTuple):
    """The next task, and its value under the rule for each unit of cost."""

    task: str
    value: float


def next_task(
    source: TaskBank | ItemParameters | IRTFit,
    answers: Mapping[str, Any],  # Any: whatever a user gives
    rule: str | Rule | Choosing = "information",
    *,
    skipped: Sequence[str] = (),
    at_most_cost: float = np.inf,
    rng: Randomness = 0,
) -> Choice | None:
    """Return the best next task after some answers, or None where no task can be given for the cost.

    `answers` are 0 or 1, successes and trials `(k, n)`, or scores, by task. `skipped` tasks are not given.

    >>> items = ItemParameters.of(["easy", "apt", "hard"], slope=1.5, difficulty=[-2, 0, 2])
    >>> next_task(items, {}).task, next_task(items, {"apt": 1}).task
    ('apt', 'hard')
    """
    bank = TaskBank.of(source)
    sitting = Sitting(bank, 1)
    for task, given in answers.items():
        sitting.record_one(TaskResponse.of(task, given, bank.items.response))
    offered = sitting.offered & ~bank.among(skipped) & (bank.costs <= at_most_cost)
    if not offered.any():
        return None
    (column,), (value,) = choose(
        bank,
        Choosing.of(rule),
        weights_of(sitting.posterior),
        offered,
        sitting.trials > 0,
        generator(rng),
    )
    return Choice(bank.tasks[column], float(value))
