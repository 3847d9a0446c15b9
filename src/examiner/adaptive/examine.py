"""Examinations: ask, answer, ask again, until enough is known; of one agent, or of thousands at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
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
    StoredAnswers,
    another_fit,
    read_stored,
)
from examiner.adaptive.rules import Choosing, Rule
from examiner.adaptive.state import choose
from examiner.adaptive.stopping import Stop
from examiner.irt import AbilityEstimates, IRTFit, ItemParameters, probability
from examiner.messages import InputError, shorten
from examiner.results import ResponseMatrix, Results
from examiner.validation import Randomness, generator

Answering: TypeAlias = Callable[[str], Any]
"""From a task's name to its answer: 0 or 1, (k, n), a score; None where it cannot be answered."""


class Round(NamedTuple):
    """One task for each agent who went on: `rows` of the sitting, `task` columns of the bank.

    `value` is NaN where the task could not be answered; `estimates` is what is known since.
    """

    rows: Indices
    task: Indices
    worth: Floats
    value: Floats
    trials: Whole
    estimates: AbilityEstimates


class Sitting:
    """Agents who are examined side by side, each by its own answers; one agent is a sitting of one row.

    `posterior` [agents, nodes] holds logarithms; `offered` [agents, tasks] are the tasks that can be given,
    `value` and `trials` [agents, tasks] the answers, with 0 trials where there is none. `closed` are the
    tasks that exposure control keeps back, None for nothing.
    """

    def __init__(self, bank: TaskBank, choosing: Choosing, stop: Stop, agents: int) -> None:
        self.bank, self.choosing, self.stop = bank, choosing, stop
        self.closed: Flags | None = None
        self.posterior = np.repeat(bank.log_prior[None], agents, axis=0)
        self.offered = np.ones((agents, len(bank)), dtype=bool)
        self.value = np.zeros((agents, len(bank)))
        self.trials = np.zeros((agents, len(bank)), dtype=np.int64)
        self.given = np.zeros(agents, dtype=np.int64)
        self.cost = np.zeros(agents)
        self.ending = np.full(agents, None, dtype=object)

    @classmethod
    def of_one(cls, bank: TaskBank, now: Examination) -> Sitting:
        """Return the one agent of an examination that may be on its way."""
        sitting = cls(bank, now.choosing, now.stop, 1)
        sitting.closed = bank.among(now.closed)[None] if now.closed else None
        sitting.posterior[0] = now.state.log_posterior
        sitting.offered[0] = now.state.offered(bank)
        for answer in now.state.answers:
            column = bank.column(answer.task)
            sitting.value[0, column], sitting.trials[0, column] = answer.value, answer.trials
        sitting.given[0], sitting.cost[0] = len(now.steps), now.state.cost
        return sitting

    def rounds(
        self,
        answer: Callable[[Indices, Indices], tuple[Floats, Whole]],
        rng: Callable[[], np.random.Generator],
    ) -> Iterator[Round]:
        """Ask every agent who goes on one task after another, and yield after each.

        `answer` takes rows and the task of each, and returns values and trials; `rng` gives the
        generator of the next choice. `ending` says of each agent why it ended.
        """
        rows = np.arange(len(self.cost))
        weights = weights_of(self.posterior)
        estimates = self.estimates(rows, weights)
        possible, goes_on = self.judge(rows, estimates, np.zeros(len(rows), dtype=bool))
        while True:
            if not goes_on.all():
                rows, weights, possible = rows[goes_on], weights[goes_on], possible[goes_on]
                estimates = AbilityEstimates(*(part[goes_on] for part in estimates))
            if not rows.size:
                return
            taken = self.trials[rows] > 0
            task, worth = choose(
                self.bank, self.choosing, weights, estimates.ability, possible, taken, rng()
            )
            value, trials = answer(rows, task)
            answered = ~np.isnan(value)
            self.offered[rows, task] = False
            self._record(rows[answered], task[answered], value[answered], trials[answered])
            weights = weights_of(self.posterior[rows])
            estimates = self.estimates(rows, weights)
            possible, goes_on = self.judge(rows, estimates, answered)
            yield Round(rows, task, worth, value, trials, estimates)

    def estimates(self, rows: Indices, weights: Floats) -> AbilityEstimates:
        """Return what is known of some agents with posterior weights [agents, nodes]."""
        value, trials = self.value.take(rows, axis=0), self.trials.take(rows, axis=0)
        tasks = np.flatnonzero(trials.any(axis=0))
        return self.bank.estimates(
            weights, tasks, value.take(tasks, axis=1), trials.take(tasks, axis=1)
        )

    def judge(
        self, rows: Indices, estimates: AbilityEstimates, answered: Flags
    ) -> tuple[Flags, Flags]:
        """Say who ends, and why; return the tasks that can come next, and who goes on.

        Whoever did not answer goes on as long as there is another task.
        """
        offered = possible = self.offered[rows]
        if self.stop.budget is not None:
            budget_left = self.stop.budget - self.cost[rows] + 1e-9
            possible = possible & (self.bank.costs <= budget_left[:, None])
        if self.closed is not None:  # better a task too often seen than none
            is_open = possible & ~self.closed[rows]
            possible = np.where(is_open.any(axis=1, keepdims=True), is_open, possible)
        given = np.where(answered, self.given[rows], 0)
        ending = self.stop.endings(self.bank, estimates, given, offered, possible)
        self.ending[rows] = ending
        return possible, np.array([end is None for end in ending], dtype=bool)

    def _record(self, rows: Indices, task: Indices, value: Floats, trials: Whole) -> None:
        self.posterior[rows] += self.bank.log_likelihood(task, value, trials)
        self.value[rows, task], self.trials[rows, task] = value, trials
        self.given[rows] += 1
        self.cost[rows] += self.bank.costs[task]


def examine(
    source: TaskBank | ItemParameters | IRTFit,
    answer: Answering | Results | ResponseMatrix,
    *,
    rng: Randomness = 0,
    choosing: str | Rule | Choosing = "information",
    stop: Stop | None = None,
    agent: str = "",
    resume: Examination | None = None,
) -> Examination:
    """Ask task after task until the examination ends, and return it: the ability, and every step.

    `answer(task)` returns 0 or 1, successes and trials `(k, n)`, or a score for the beta model; None
    puts the task aside. Results answer for the `agent` named, through the fit's recipe. Without `stop`
    every task is given. `resume` goes on with an examination: its choosing, stop and seed are kept unless
    `stop` is given anew, and it goes on as if never interrupted.

    >>> items = ItemParameters.of(["easy", "apt", "hard"], slope=1.5, difficulty=[-2, 0, 2])
    >>> examination = examine(items, {"apt": 1, "hard": 0, "easy": 1}.get)
    >>> [step.task for step in examination.steps], round(examination.ability, 2)
    (['apt', 'hard', 'easy'], 0.43)
    """
    *_, last = examine_stepwise(
        source, answer, rng=rng, choosing=choosing, stop=stop, agent=agent, resume=resume
    )
    return last


def examine_stepwise(
    source: TaskBank | ItemParameters | IRTFit,
    answer: Answering | Results | ResponseMatrix,
    *,
    rng: Randomness = 0,
    choosing: str | Rule | Choosing = "information",
    stop: Stop | None = None,
    agent: str = "",
    resume: Examination | None = None,
) -> Iterator[Examination]:
    """Examine as `examine` does, and yield the examination after each answer; the last one has ended.

    So it can be stored, shown or stopped on its way.

    >>> items = ItemParameters.of(["easy", "apt", "hard"], slope=1.5, difficulty=[-2, 0, 2])
    >>> for step in examine_stepwise(items, {"apt": 1, "hard": 0, "easy": 1}.get):
    ...     print(step.steps[-1].task, round(step.ability, 2), round(step.error, 2))
    apt 0.53 0.85
    hard 0.39 0.78
    easy 0.43 0.76
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
        yield now
        return
    sitting = Sitting.of_one(bank, now)

    def chance() -> np.random.Generator:
        return np.random.default_rng([now.seed, len(now.steps), len(now.state.aside)])

    for turn in sitting.rounds(_answering(bank, answer), chance):
        task = bank.tasks[turn.task[0]]
        if np.isnan(turn.value[0]):
            now = replace(now, state=now.state.without(task))
            continue
        given = TaskResponse(task, float(turn.value[0]), int(turn.trials[0]))
        now = _stepped(bank, now, given, float(turn.worth[0]))
        now = replace(now, ending=sitting.ending[0])
        yield now
    if now.ending is None:
        yield replace(now, ending=sitting.ending[0])


def _answering(
    bank: TaskBank, answer: Answering
) -> Callable[[Indices, Indices], tuple[Floats, Whole]]:
    """Let a function of a task's name answer for the one agent of a sitting."""

    def answered(_: Indices, task: Indices) -> tuple[Floats, Whole]:
        name = bank.tasks[task[0]]
        given = answer(name)
        if given is None:
            return np.array([np.nan]), np.ones(1, dtype=np.int64)
        checked = TaskResponse.of(name, given, bank.items.response)
        return np.array([checked.value]), np.array([checked.trials])

    return answered


def replay(
    examination: Examination | Mapping[str, Any], source: TaskBank | ItemParameters | IRTFit
) -> Examination:
    """Give the same answers in the same order on another bank, such as a newer fit.

    >>> items = ItemParameters.of(["pong", "qbert"], slope=[2, 1], difficulty=[0, 1])
    >>> last = examine(items, {"pong": 1, "qbert": 0}.get, rng=0)
    >>> replay(last, items.rescaled(0.5, 1.0)).ability < last.ability
    True
    """
    stored = read_stored(
        StoredAnswers,
        examination.to_record() if isinstance(examination, Examination) else examination,
    )
    bank = TaskBank.of(source)
    now = Examination.begin(bank, Choosing(), Stop(), stored.agent, 0)  # nothing of it is drawn
    for step in stored.steps:
        now = _stepped(bank, now, step.answer(bank), step.worth)
    return now


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
    sitting.judge(np.zeros(1, dtype=np.intp), going.state.estimates, np.ones(1, dtype=bool))
    return replace(going, ending=sitting.ending[0])


def _stepped(bank: TaskBank, now: Examination, given: TaskResponse, worth: float) -> Examination:
    """The examination with one more step; whether it ends is told elsewhere."""
    column = bank.column(given.task)
    state = now.state.after(bank, given)
    curve = probability(bank.items.take([column]), bank.nodes)[:, 0]
    better = now.stop.probability_better(bank, state.estimates)
    step = ExaminationStep(
        given.task,
        given.value,
        given.trials,
        float(bank.costs[column]),
        float(weights_of(now.state.log_posterior[None])[0] @ curve),
        worth,
        state.ability,
        state.deviation,
        state.error,
        None if better is None else float(better[0]),
    )
    return replace(now, state=state, steps=(*now.steps, step))
