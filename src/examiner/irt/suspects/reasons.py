"""Why a task is flagged for review, in words, with the agents concerned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.items import Floats
from examiner.irt.suspects.discrimination import Discrimination
from examiner.irt.suspects.given_ability import Expectations, Responses
from examiner.irt.suspects.together import Pair
from examiner.irt.suspects.unsteady import Unsteady
from examiner.messages import counted, listed
from examiner.results import ResponseMatrix

Bools = NDArray[np.bool_]
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
    "key": "agents agree on another answer",
    "negative": "negative discrimination",
    "unsteady": "trials disagree",
    "scorers": "scorers disagree",
    "flat": "low discrimination",
    "repeat": "repeats another task",
    "nobody": "solved by no agent",
    "everybody": "solved by every agent",
}
"""The same in two or three words."""
_NAMED = 3
_FEW_LETTERS = 20
"""Shorter texts may be alike without being one task: "Continue." """


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


class Reasons:
    """Gathers reasons by task."""

    def __init__(self, matrix: ResponseMatrix, found: Responses, given: Expectations) -> None:
        self.matrix, self._found, self._given = matrix, found, given
        self._by_task: dict[int, list[Reason]] = {}
        seen = found.seen
        self.tried = seen.sum(axis=0)
        trials = found.trials.sum(axis=0)
        total = (found.trials * found.value).sum(axis=0)
        self.share: Floats = np.divide(
            total, trials, out=np.full(len(total), np.nan), where=trials > 0
        )
        self.solved: Floats = np.asarray(total if found.counts else self.share)
        self._trials = trials

    def _add(self, task: int, reason: Reason) -> None:
        self._by_task.setdefault(task, []).append(reason)

    def ranked(self) -> list[tuple[int, tuple[Reason, ...]]]:
        """Return tasks and their reasons: the gravest kind first, of each those with several."""
        order = list(KINDS)
        made = []
        for task, reasons in self._by_task.items():
            own = sorted(reasons, key=lambda why: (order.index(why.kind), -why.strength))
            made.append((task, tuple(own)))

        def gravest(each: tuple[int, tuple[Reason, ...]]) -> tuple[float, ...]:
            first, kinds = each[1][0], len({why.kind for why in each[1]})
            return order.index(first.kind), -kinds, -first.strength, each[0]

        return sorted(made, key=gravest)

    def add_discrimination(self, slopes: Discrimination | None) -> None:
        """Add tasks with low and negative slopes, with the strong that fail and the weak that solve."""
        if slopes is None:
            return
        kinds: tuple[tuple[Kind, Bools], ...]
        kinds = ("negative", slopes.negative), ("flat", slopes.flat)
        for kind, where in kinds:
            for task in np.flatnonzero(where).tolist():
                r, usual = float(slopes.correlation[task]), float(slopes.expected[task])
                goes = f"correlation with the others {r:.2f}, expected {usual:.2f}"
                sentence = f"{KINDS[kind]}: {goes}"
                self._add(task, Reason(kind, sentence, usual - r, self._odd(task)))

    def _odd(self, task: int) -> tuple[str, ...]:
        """The strong that do worst beside what is usual, then the weak that do best, by name."""
        ability, seen = self._given.ability[:, task], self._found.seen[:, task]
        left = np.where(seen, self._found.value[:, task] - self._given.alike[:, task], 0.0)
        low = np.where((ability > 0) & (left < 0), left * ability, 0.0)
        high = np.where((ability < 0) & (left > 0), left * ability, 0.0)
        return (*self._largest(-low), *self._largest(-high))

    def _largest(self, size: Floats) -> tuple[str, ...]:
        rows = np.argsort(-size, kind="stable")[:_NAMED]
        return tuple(self.matrix.agents[row] for row in rows if size[row] > 0)

    def add_unsteady(
        self, found: Mapping[Literal["unsteady", "scorers"], tuple[Unsteady, Floats]]
    ) -> None:
        """Add tasks on which trials, or scorers, disagree, with the agents on whom they do most."""
        for kind, (made, cells) in found.items():
            for task in np.flatnonzero(made.shown).tolist():
                agents = self._largest(np.nan_to_num(cells[:, task]))
                what = "two trials differ" if kind == "unsteady" else "scorers differ"
                usual = f"{made.mean[task]:.0%} of cases, expected {made.like[task]:.0%}"
                sentence = f"{KINDS[kind]}: {what} in {usual}"
                self._add(task, Reason(kind, sentence, float(made.excess[task]), agents))

    def add_repeats(self, pairs: Sequence[Pair], texts: Sequence[str]) -> None:
        """Add pairs that go together beyond ability, and tasks with the same text."""
        for pair in pairs:
            both = self._found.seen[:, pair.first] & self._found.seen[:, pair.second]
            first, second = (self._found.value[:, task] for task in (pair.first, pair.second))
            apart = np.where(both, np.abs(first - second), 0.0)
            alike = int((both & (apart < 1e-12)).sum())
            agents = self._largest(apart)
            same = f"the same results of {alike:,} of {counted(int(both.sum()), 'agent')}"
            for task, other in ((pair.first, pair.second), (pair.second, pair.first)):
                name = self.matrix.tasks[other]
                sentence = f"correlates with {name!r} beyond ability: {same}"
                self._add(task, Reason("repeat", sentence, pair.excess, agents, (name,)))
        texted: dict[str, list[int]] = {}
        for task, text in enumerate(texts):
            plain = " ".join(text.split()).casefold()
            if len(plain) >= _FEW_LETTERS:
                texted.setdefault(plain, []).append(task)
        for tasks in texted.values():
            for task in tasks if len(tasks) > 1 else ():
                others = tuple(self.matrix.tasks[other] for other in tasks if other != task)
                sentence = f"{KINDS['repeat']}: the same text as {listed(others)}"
                self._add(task, Reason("repeat", sentence, float("inf"), (), others))

    def add_keys(self, answers: Mapping[int, Mapping[str, list[str]]], keys: Sequence[str]) -> None:
        """Add tasks on which more than half of the agents give one answer that is not the key.

        `answers` are the agents of every answer, by task. An answer that solves the task is the key in
        other letters.
        """
        for task, given in answers.items():
            most = max(given, key=lambda answer: (len(given[answer]), answer))
            total = sum(map(len, given.values()))
            right = len(given.get(keys[task], ()))
            if most == keys[task] or not keys[task] or 2 * len(given[most]) <= total:
                continue
            rows = [agent in given[most] for agent in self.matrix.agents]
            if self._found.counts and self._found.value[rows, task].mean() > 0.5:
                continue
            sentence = (
                f"{len(given[most]):,} of {counted(total, 'agent')} answered {most}, the key says "
                f"{keys[task]}"
            )
            agreement = (len(given[most]) - right) / total
            agents = tuple(sorted(given.get(keys[task], ())))[:_NAMED]
            self._add(task, Reason("key", sentence, agreement, agents))

    def add_unanimous(self) -> None:
        """Add tasks that nobody, or everybody, solves, where results are successes."""
        if not self._found.counts:
            return
        for task in np.flatnonzero(self.tried > 0).tolist():
            kind: Kind | None = None
            if self.solved[task] == 0:
                kind = "nobody"
            elif self.solved[task] == self._trials[task]:
                kind = "everybody"
            if kind is not None:
                sentence = f"{KINDS[kind]} of {counted(int(self.tried[task]), 'agent')}"
                self._add(task, Reason(kind, sentence, float(self._trials[task])))
