"""Why a task is flagged for review, in sentences, with the agents concerned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.items import Floats
from examiner.irt.suspects.dependence import Pair
from examiner.irt.suspects.rest_regressions import Responses, RestRegressions
from examiner.irt.suspects.task_tests import Disagreement, Discrimination
from examiner.messages import counted, listed
from examiner.results import ResponseMatrix

Kind = Literal["key", "negative", "unsteady", "scorers", "flat", "repeat", "nobody", "everybody"]
KINDS: Mapping[Kind, str] = {
    "key": "most agents give the same answer, and it is not the key",
    "negative": "weak agents solve it, strong agents fail it",
    "unsteady": "trials of the same agent disagree more than on tasks of similar difficulty",
    "scorers": "scorers disagree more than on tasks of similar difficulty",
    "flat": "discriminates less than half as much as tasks do on average",
    "repeat": "repeats another task",
    "nobody": "solved by no agent",
    "everybody": "solved by every agent",
}
"""What a task may be flagged for, the most serious first."""
FLAGS: Mapping[Kind, str] = {
    **KINDS,
    "key": "agents agree on another answer",
    "negative": "negative discrimination",
    "unsteady": "trials disagree",
    "scorers": "scorers disagree",
    "flat": "low discrimination",
}
"""The same in two or three words."""
Reasons = Iterator[tuple[int, "Reason"]]
"""Positions of tasks, each with a reason."""


class Reason(NamedTuple):
    """Why one task is flagged for review.

    `strength` ranks tasks of one kind; `tasks` are others concerned, and `agents` those with the least
    expected results, by name.
    """

    kind: Kind
    sentence: str
    strength: float
    agents: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()


class AuditedResponses(NamedTuple):
    """Responses, and what is expected of them given the agents' results on other tasks."""

    matrix: ResponseMatrix
    responses: Responses
    regressions: RestRegressions

    @property
    def solved(self) -> Floats:
        """Trials solved by all agents together, or the mean score, of each task."""
        total = (self.responses.trials * self.responses.value).sum(axis=0)
        return np.asarray(total if self.responses.counts else self.share)

    @property
    def share(self) -> Floats:
        """The share of trials solved, or the mean score, of each task; NaN where none was observed."""
        trials = self.responses.trials.sum(axis=0)
        total = (self.responses.trials * self.responses.value).sum(axis=0)
        nothing = np.full(len(total), np.nan)
        return np.asarray(np.divide(total, trials, out=nothing, where=trials > 0))

    def largest(self, size: Floats) -> tuple[str, ...]:
        """Return the names of the three agents with the largest positive sizes."""
        rows = np.argsort(-size, kind="stable")[:3]
        return tuple(self.matrix.agents[row] for row in rows if size[row] > 0)


def ranked_reasons(reasons: Reasons) -> list[tuple[int, tuple[Reason, ...]]]:
    """Return tasks and their reasons: the most serious kind first, of each kind those with several."""
    order, by_task = list(KINDS), dict[int, list[Reason]]()
    for task, reason in reasons:
        by_task.setdefault(task, []).append(reason)
    for of_task in by_task.values():
        of_task.sort(key=lambda reason: (order.index(reason.kind), -reason.strength))

    def seriousness(task: int) -> tuple[float, ...]:
        first, kinds = by_task[task][0], {reason.kind for reason in by_task[task]}
        return order.index(first.kind), -len(kinds), -first.strength, task

    return [(task, tuple(by_task[task])) for task in sorted(by_task, key=seriousness)]


def discrimination_reasons(audited: AuditedResponses, slopes: Discrimination) -> Reasons:
    """Flag negative and low slopes, with the strong agents that fail and the weak agents that solve."""
    kinds: dict[Kind, NDArray[np.bool_]] = {"negative": slopes.negative, "flat": slopes.flat}
    for kind, flagged in kinds.items():
        for task in np.flatnonzero(flagged).tolist():
            r, expected = float(slopes.correlation[task]), float(slopes.expected[task])
            rest_score = audited.regressions.rest_score[:, task]
            residual = audited.responses.value[:, task] - audited.regressions.alike[:, task]
            surprise = np.where(audited.responses.observed[:, task], residual * rest_score, 0.0)
            agents = [
                audited.largest(np.where(side & (surprise < 0), -surprise, 0.0))
                for side in (rest_score > 0, rest_score < 0)
            ]
            sentence = (
                f"{KINDS[kind]}: correlation with the others {r:.2f}, expected {expected:.2f}"
            )
            yield task, Reason(kind, sentence, expected - r, (*agents[0], *agents[1]))


def disagreement_reasons(
    audited: AuditedResponses,
    kind: Literal["unsteady", "scorers"],
    tasks: Disagreement,
    cells: Floats,
) -> Reasons:
    """Flag tasks on which trials, or scorers, disagree, with the agents on whom they do most."""
    subject = "two trials differ" if kind == "unsteady" else "scorers differ"
    for task in np.flatnonzero(tasks.significant).tolist():
        share = f"{tasks.mean[task]:.0%} of cases, expected {tasks.expected[task]:.0%}"
        sentence = f"{KINDS[kind]}: {subject} in {share}"
        agents = audited.largest(np.nan_to_num(cells[:, task]))
        yield task, Reason(kind, sentence, float(tasks.excess[task]), agents)


def repeat_reasons(
    audited: AuditedResponses, pairs: Sequence[Pair], texts: Sequence[str]
) -> Reasons:
    """Flag pairs that correlate beyond ability, and tasks with the same text."""
    names, responses = audited.matrix.tasks, audited.responses
    for first, second, excess in pairs:
        both = responses.observed[:, first] & responses.observed[:, second]
        gap = np.abs(responses.value[:, first] - responses.value[:, second])
        equal = int((both & (gap < 1e-12)).sum())
        agents = audited.largest(np.where(both, gap, 0.0))
        same = f"the same results of {equal:,} of {counted(int(both.sum()), 'agent')}"
        for task, other in ((first, second), (second, first)):
            sentence = f"correlates with {names[other]!r} beyond ability: {same}"
            yield task, Reason("repeat", sentence, excess, agents, (names[other],))
    tasks_of: dict[str, list[int]] = {}
    for task, text in enumerate(texts):
        tasks_of.setdefault(" ".join(text.split()).casefold(), []).append(task)
    for text, tasks in tasks_of.items():
        # texts below 20 letters may be equal without being one task: "Continue."
        for task in tasks if len(tasks) > 1 and len(text) >= 20 else ():
            others = tuple(names[other] for other in tasks if other != task)
            sentence = f"{KINDS['repeat']}: the same text as {listed(others)}"
            yield task, Reason("repeat", sentence, float("inf"), (), others)


def key_reasons(
    audited: AuditedResponses, answers: Mapping[int, Mapping[str, list[str]]], keys: Sequence[str]
) -> Reasons:
    """Flag tasks on which more than half of the agents give one answer that is not the key.

    `answers` are the agents of every answer, by task. An answer that solves the task is the key in
    another spelling.
    """
    responses = audited.responses
    for task, agents_of in answers.items():
        answer = max(agents_of, key=lambda given: (len(agents_of[given]), given))
        votes, total = len(agents_of[answer]), sum(map(len, agents_of.values()))
        if answer == keys[task] or not keys[task] or 2 * votes <= total:
            continue
        rows = [agent in agents_of[answer] for agent in audited.matrix.agents]
        if responses.counts and responses.value[rows, task].mean() > 0.5:
            continue
        sentence = (
            f"{votes:,} of {counted(total, 'agent')} answered {answer}, the key says {keys[task]}"
        )
        right = sorted(agents_of.get(keys[task], ()))
        yield task, Reason("key", sentence, (votes - len(right)) / total, tuple(right[:3]))


def unanimous_reasons(audited: AuditedResponses) -> Reasons:
    """Flag tasks that no agent, or every agent, solves, where results are successes."""
    agents, trials = audited.responses.observed.sum(axis=0), audited.responses.trials.sum(axis=0)
    solved, kinds = audited.solved, dict[Kind, NDArray[np.bool_]]()
    if audited.responses.counts:
        kinds = {"nobody": solved == 0, "everybody": solved == trials}
    for kind, unanimous in kinds.items():
        for task in np.flatnonzero((agents > 0) & unanimous).tolist():
            sentence = f"{KINDS[kind]} of {counted(int(agents[task]), 'agent')}"
            yield task, Reason(kind, sentence, float(trials[task]))
