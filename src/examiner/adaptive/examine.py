"""An examination: ask, answer, ask again, until enough is known; saved and resumed at any step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from examiner.adaptive.answers import Answer
from examiner.adaptive.bank import TaskBank
from examiner.adaptive.examination import Examination, ExaminationStep
from examiner.adaptive.rules import Rule
from examiner.adaptive.state import ExaminationState, Moments, weights_of
from examiner.adaptive.step import Choice, Choosing, next_task
from examiner.adaptive.stopping import Ending, Stop
from examiner.irt.fitted import IRTFit
from examiner.irt.items import ItemParameters, probability
from examiner.wording import InputError

Answering = Callable[[str], Any]
"""From a task's name to its answer: 0 or 1, (k, n), a score; None where it cannot be answered."""


def examine(
    source: TaskBank | ItemParameters | IRTFit,
    answer: Answering,
    *,
    rng: np.random.Generator,
    choosing: str | Rule | Choosing = "information",
    stop: Stop | None = None,
    agent: str = "",
    resume: Examination | None = None,
) -> Iterator[Examination]:
    """Ask task after task, and yield the examination after each answer; the last one has ended.

    `answer(task)` returns 0 or 1, successes and trials `(k, n)`, or a score for the beta model; None
    puts the task aside. Without `stop` every task is given. `resume` goes on with an examination: its
    choosing, stop and seed are kept unless `stop` is given anew, and it goes on as if never interrupted.

    >>> items = ItemParameters.of(["easy", "apt", "hard"], slope=1.5, difficulty=[-2, 0, 2])
    >>> for step in examine(items, {"apt": 1, "hard": 0, "easy": 1}.get, rng=np.random.default_rng(0)):
    ...     print(step.steps[-1].task, round(step.ability, 2), round(step.error, 2))
    apt 0.53 0.85
    hard 0.39 0.78
    easy 0.43 0.76
    """
    bank = TaskBank.of(source)
    now = (
        _begin(bank, choosing, stop, agent, rng) if resume is None else _resumed(bank, resume, stop)
    )
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
    examination: Examination | Mapping[str, Any], source: TaskBank | ItemParameters | IRTFit
) -> Examination:
    """Give the same answers in the same order on another bank, such as a newer fit.

    >>> items = ItemParameters.of(["pong", "qbert"], slope=[2, 1], difficulty=[0, 1])
    >>> *_, last = examine(items, {"pong": 1, "qbert": 0}.get, rng=np.random.default_rng(0))
    >>> replay(last, items.rescaled(0.5, 1.0)).ability < last.ability
    True
    """
    content = examination.to_dict() if isinstance(examination, Examination) else dict(examination)
    bank = TaskBank.of(source)
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
    bank: TaskBank,
    choosing: str | Rule | Choosing,
    stop: Stop | None,
    agent: str,
    rng: np.random.Generator,
) -> Examination:
    plan = choosing if isinstance(choosing, Choosing) else Choosing(choosing)
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
        ExaminationState.start(bank),
        (),
        closed,
        None,
        bank.calibration.notes,
    )


def _resumed(bank: TaskBank, resume: Examination, stop: Stop | None) -> Examination:
    if resume.fingerprint != bank.fingerprint:
        raise InputError(
            "This examination was made with another fit. Give that fit, or replay its answers on this one."
        )
    if stop is None:
        return resume
    going = replace(resume, stop=stop.checked(bank), ending=None)
    return replace(going, ending=_ending(bank, going))


def _choice(bank: TaskBank, now: Examination) -> Choice | None:
    rest = np.inf if now.stop.budget is None else now.stop.budget - now.state.cost + 1e-9
    rng = np.random.default_rng([now.seed, len(now.steps), len(now.state.aside)])
    choice = next_task(
        now.state.without(*now.closed), bank, now.choosing, rng=rng, at_most_cost=float(rest)
    )
    if choice is None and now.closed:  # better a task too often seen than none
        return next_task(now.state, bank, now.choosing, rng=rng, at_most_cost=float(rest))
    return choice


def _answered(bank: TaskBank, now: Examination, choice: Choice, given: Any) -> Examination:
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


def _ending(bank: TaskBank, now: Examination) -> Ending | None:
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
    offered = now.state.offered(bank)[None]
    if now.stop.futile(bank, _moments(now.state), offered, len(now.steps))[0]:
        return Ending.FUTILE
    return None


def _no_task_left(bank: TaskBank, now: Examination) -> Ending:
    return Ending.BUDGET if now.state.offered(bank).any() else Ending.USED_UP


def _moments(state: ExaminationState) -> Moments:
    return Moments(*(np.array([part]) for part in (state.ability, state.deviation, state.error)))


_EXPOSURE = 1 << 40
