"""The audit: tasks flagged for review, with reasons, and groups that correlate beyond ability."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Literal, NamedTuple

import numpy as np

from examiner.irt.diagnostics.evidence_tests import agents_differ
from examiner.irt.items import Floats
from examiner.irt.suspects.dependence import (
    MAX_TASKS,
    MIN_AGENTS,
    ResidualDependence,
    labelled_groups,
    residual_dependence,
)
from examiner.irt.suspects.flagged import (
    Audit,
    AuditedTasks,
    ConstantTasks,
    DependentGroups,
    FlaggedTasks,
)
from examiner.irt.suspects.reasons import (
    FLAGS,
    AuditedResponses,
    Kind,
    Reasons,
    disagreement_reasons,
    discrimination_reasons,
    key_reasons,
    ranked_reasons,
    repeat_reasons,
    unanimous_reasons,
)
from examiner.irt.suspects.rest_regressions import Responses, rest_regressions
from examiner.irt.suspects.task_tests import (
    Disagreement,
    Discrimination,
    compare_disagreement,
    disagreement_over_trials,
    discrimination,
)
from examiner.messages import InputError, counted
from examiner.results import ResponseMatrix, Results, Value, check_results
from examiner.scores import Recipe, cell_means
from examiner.validation import Randomness, generator, seed_of

GROUPS = ("benchmark", "subtask", "group")
"""Columns of the table of tasks whose values may share an environment."""
ANSWERS, KEY = "answer", "key"
"""Columns of the answers that agents gave, and of the right answers."""


def audit(
    results: Any,  # Any: results, all that `ex.read` takes, or a ResponseMatrix
    *,
    recipe: Recipe | None = None,
    groups: Sequence[str] = GROUPS,
    top: int | None = None,
    answers: str = ANSWERS,
    key: str = KEY,
    rng: Randomness = 0,
) -> Audit:
    """Flag tasks for review: wrong keys, flat, impossible, repeated, or graded inconsistently.

    `groups` are columns of the table of tasks: tasks of one value may share an environment. With `top`,
    tasks on which that many best agents all succeed, or all fail, are listed too. `answers` is a column
    with the agents' answers, and `key` one with the right ones: tasks on which most agents agree on another
    answer are flagged, the largest majority first. Raw `Results` become responses by the `recipe`, as in
    `fit`. Each kind of flag has its own test, at 5 % over all tasks: of tables without faults, in which
    tasks discriminate alike, one in twenty has any task of that kind. Tasks that no agent, or every agent,
    solves are counted without a test.

    >>> rng = np.random.default_rng(0)
    >>> table = (rng.random((60, 20)) < np.linspace(0.1, 0.9, 60)[:, None]).astype(float)
    >>> table[:, 6] = 1 - table[:, 6]
    >>> audit(Results.from_numpy(table), rng=0)["task 7"].flags
    ('negative discrimination',)
    """
    notes: list[str] = []
    matrix, side = _responses(results, recipe)
    agents, tasks = matrix.shape
    if agents < 2 or tasks < 3:
        raise InputError(
            f"{counted(agents, 'agent')} on {counted(tasks, 'task')} are too few for an audit. Have at "
            f"least 2 agents and 3 tasks."
        )
    drawing = generator(rng)
    evidence = agents_differ(matrix, drawing)
    responses = Responses.of(matrix)
    audited = AuditedResponses(matrix, responses, rest_regressions(responses, None))
    slopes = discrimination(responses, audited.regressions) if agents >= MIN_AGENTS else None
    if not evidence.shown and slopes is not None:
        notes.append(
            f"Agents do not differ significantly ({evidence.p}), so that discrimination is not tested."
        )
    shared = _dependence(audited, side.columns(groups), drawing, notes)
    disagreement = side.disagreement(audited, drawing)
    texts, answers_of = side.text("text"), side.answers(answers, key)
    reasons = [
        *(disagreement_reasons(audited, kind, *tested) for kind, tested in disagreement.items()),
        repeat_reasons(audited, shared.pairs if shared else (), texts),
        key_reasons(audited, *answers_of),
    ]
    kinds: list[Kind] = ["nobody", "everybody", *disagreement]
    if answers_of[0]:
        kinds.append("key")
    if slopes is not None:
        reasons.append(unanimous_reasons(audited))
        if evidence.shown:
            reasons.append(discrimination_reasons(audited, slopes))
            kinds += ["negative", "flat"]
    if shared is not None:
        kinds.append("repeat")
    columns = {"text": texts, "url": side.text("url", "link")}
    flagged = _flagged(audited, chain(*reasons), slopes, columns)
    unknown = np.full(tasks, np.nan)
    return Audit(
        flagged,
        DependentGroups.from_rows(
            {
                "group": group.name or "found",
                "size": len(group.tasks),
                "excess": group.excess,
                "cutoff": group.cutoff,
                "members": [matrix.tasks[task] for task in group.tasks],
            }
            for group in (shared.groups if shared else ())
        ),
        AuditedTasks(
            task=matrix.tasks,
            share=audited.share,
            correlation=unknown if slopes is None else slopes.correlation,
            expected_correlation=unknown if slopes is None else slopes.expected,
            flagged=np.isin(np.array(matrix.tasks, dtype=object), list(flagged.task)),
        ),
        _constant(responses, matrix, top),
        agents,
        evidence.p_value,
        top,
        ", ".join(flag for kind, flag in FLAGS.items() if kind in kinds),
        tuple(notes),
        seed_of(rng),
    )


def _responses(results: Any, recipe: Recipe | None) -> tuple[ResponseMatrix, _SideData]:
    if isinstance(results, ResponseMatrix):
        if recipe is not None:
            raise InputError(
                "A recipe turns results into responses, and a ResponseMatrix holds responses already. Give "
                "the results, or omit the recipe."
            )
        return results, _SideData(None, results)
    results = check_results(results)
    learnt = (Recipe() if recipe is None else recipe).learn(results)
    matrix = learnt.responses(results)
    if not matrix.is_counts:  # higher is better, whatever the direction of a task
        values = learnt.values(results)
        matrix = ResponseMatrix.from_array(values, results.agents, results.tasks).as_values()
    return matrix, _SideData(learnt.ready(results), matrix)


def _dependence(
    audited: AuditedResponses,
    columns: Mapping[str, Sequence[object]],
    rng: np.random.Generator,
    notes: list[str],
) -> ResidualDependence | None:
    agents, tasks = audited.matrix.shape
    if agents < MIN_AGENTS or tasks > MAX_TASKS:
        reason = (
            f"fewer than {MIN_AGENTS} agents"
            if agents < MIN_AGENTS
            else f"more than {MAX_TASKS:,} tasks"
        )
        notes.append(f"Repeated tasks and groups are not tested with {reason}.")
        return None
    labels = {name: values for name, values in columns.items() if len(set(values) - {None}) > 1}
    dependence = residual_dependence(audited.responses, audited.regressions, rng)
    labelled = labelled_groups(dependence.excess, labels, rng)
    return dependence._replace(groups=(*labelled, *dependence.groups))


def _flagged(
    audited: AuditedResponses,
    reasons: Reasons,
    slopes: Discrimination | None,
    columns: Mapping[str, Sequence[str]],
) -> FlaggedTasks:
    """Rows of flagged tasks, with `columns` of the table of tasks that are not empty."""
    ranks: Counter[Kind] = Counter()
    agents, solved, rows = audited.responses.observed.sum(axis=0), audited.solved, []
    for task, of_task in ranked_reasons(reasons):
        ranks[of_task[0].kind] += 1
        rows.append(
            {
                "task": audited.matrix.tasks[task],
                "flags": dict.fromkeys(FLAGS[reason.kind] for reason in of_task),
                "rank": ranks[of_task[0].kind],
                "solved": float(solved[task]),
                "agents": int(agents[task]),
                "correlation": np.nan if slopes is None else float(slopes.correlation[task]),
                "expected_correlation": np.nan if slopes is None else float(slopes.expected[task]),
                "reasons": [reason.sentence for reason in of_task],
                "related_tasks": dict.fromkeys(n for reason in of_task for n in reason.tasks),
                "notable_agents": dict.fromkeys(n for reason in of_task for n in reason.agents),
                **{name: column[task] for name, column in columns.items() if any(column)},
            }
        )
    return FlaggedTasks.from_rows(rows)


def _constant(responses: Responses, matrix: ResponseMatrix, top: int | None) -> ConstantTasks:
    """Tasks on which the best agents, by their mean over tasks, all succeed or all fail."""
    agents = len(matrix.agents)
    if top is None:
        return ConstantTasks(task=(), result=())
    if not 1 <= top <= agents:
        raise InputError(
            f"The best {top:,} of {counted(agents, 'agent')} are asked for. Give 1 to {agents}."
        )
    if not responses.counts:
        raise InputError(
            "Tasks constant among the best agents need successes. Say what a success is."
        )
    won, trials = responses.trials * responses.value, responses.trials
    mean = won.sum(axis=1) / np.maximum(trials.sum(axis=1), 1)
    best = np.lexsort((np.array(matrix.agents), -mean))[:top]
    total, solved = trials[best].sum(axis=0), won[best].sum(axis=0)
    rows = np.flatnonzero(((solved == total) | (solved == 0)) & (total > 0))
    return ConstantTasks(
        task=[matrix.tasks[task] for task in rows],
        result=["solved by all" if solved[task] else "solved by none" for task in rows],
    )


class _SideData(NamedTuple):
    """The results that responses come from, with their tables of tasks and answers; None for a matrix."""

    results: Results | None
    matrix: ResponseMatrix

    def columns(self, names: Sequence[str]) -> dict[str, tuple[Value, ...]]:
        """Return columns of the table of tasks that exist, in the order of the matrix."""
        if self.results is None:
            return {}
        about = self.results.task_attributes
        name_of = dict(zip(self.results.tasks, self.results.task_names, strict=True))
        tasks = [name_of[task] for task in self.matrix.tasks]
        return {name: about.aligned(tasks, name) for name in names if name in about.columns}

    def text(self, *names: str) -> tuple[str, ...]:
        """Return the first existing column as text, empty where a task has no value."""
        for values in self.columns(names).values():
            return tuple("" if value is None else str(value) for value in values)
        return ("",) * len(self.matrix.tasks)

    def keys(self, key: str) -> tuple[str, ...]:
        """Return the right answer of every task, from the table of tasks or a column of results."""
        keys = self.text(key)
        if any(keys) or self.results is None or key not in self.results.attributes:
            return keys
        codes = self.results.task_codes.tolist()
        key_of = dict(zip(codes, self.results.column(key), strict=True))
        values = (key_of.get(self.results.tasks.index(task)) for task in self.matrix.tasks)
        return tuple("" if value is None else str(value).strip() for value in values)

    def answers(
        self, answers: str, key: str
    ) -> tuple[dict[int, dict[str, list[str]]], tuple[str, ...]]:
        """Return the agents of every answer by task, and all keys; nothing without both columns."""
        keys = self.keys(key)
        if self.results is None or answers not in self.results.attributes:
            if answers != ANSWERS or key != KEY:
                raise InputError(
                    f"Results have no column {answers!r} of answers, which the key is compared with. "
                    "Name another."
                )
            return {}, keys
        if not any(keys):
            if key != KEY:
                raise InputError(f"Results have no column {key!r} of right answers. Name another.")
            return {}, keys
        votes: dict[tuple[int, int], Counter[str]] = {}
        codes = (self.results.task_codes.tolist(), self.results.agent_codes.tolist())
        for task, agent, answer in zip(*codes, self.results.column(answers), strict=True):
            if answer is not None:
                votes.setdefault((task, agent), Counter())[str(answer).strip()] += 1
        columns = {task: column for column, task in enumerate(self.matrix.tasks)}
        agents_of: dict[int, dict[str, list[str]]] = {}
        for (task, agent), counts in sorted(votes.items()):
            column = columns.get(self.results.tasks[task])
            if column is not None:
                commonest = max(counts, key=lambda answer: (counts[answer], answer))
                by_answer = agents_of.setdefault(column, {})
                by_answer.setdefault(commonest, []).append(self.results.agents[agent])
        return agents_of, keys

    def disagreement(
        self, audited: AuditedResponses, rng: np.random.Generator
    ) -> dict[Literal["unsteady", "scorers"], tuple[Disagreement, Floats]]:
        """Return disagreement over trials, and between binary measures, where there are several."""
        cells_of: dict[Literal["unsteady", "scorers"], Floats] = {}
        responses, results = audited.responses, self.results
        if responses.counts and bool((responses.trials > 1).any()):
            cells_of["unsteady"] = disagreement_over_trials(responses.value, responses.trials)
        if results is not None and responses.counts and self._same_shape(results):
            scorers = [measure for measure in results.measures if results.is_binary(measure)]
            if len(scorers) > 1:
                first = results.measure(scorers[0])
                gaps = [np.abs(first - results.measure(other)) for other in scorers[1:]]
                with_gaps = results.with_measure("disagreement", np.nanmean(gaps, axis=0))
                cells_of["scorers"] = cell_means(with_gaps, "disagreement")
        return {
            kind: (compare_disagreement(cells, audited.regressions.expected, rng), cells)
            for kind, cells in cells_of.items()
        }

    def _same_shape(self, results: Results) -> bool:
        return results.agents == self.matrix.agents and results.tasks == self.matrix.tasks
