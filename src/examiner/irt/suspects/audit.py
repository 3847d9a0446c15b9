"""The audit: tasks flagged for review, with why, and groups of them that correlate beyond ability."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from examiner.irt.diagnostics.chance import agents_differ
from examiner.irt.items import Floats
from examiner.irt.suspects.discrimination import Discrimination, discrimination
from examiner.irt.suspects.flagged import (
    Audit,
    AuditedTasks,
    ConstantTasks,
    DependentGroups,
    FlaggedTasks,
)
from examiner.irt.suspects.given_ability import Expectations, Responses, given_ability
from examiner.irt.suspects.reasons import FLAGS, Kind, Reasons
from examiner.irt.suspects.together import (
    FEWEST_AGENTS,
    MOST_TASKS,
    Group,
    ResidualDependence,
    given_groups,
    together,
)
from examiner.irt.suspects.unsteady import Unsteady, disagreement_over_trials, unsteady
from examiner.messages import InputError, counted
from examiner.results import ResponseMatrix, Results, check_results
from examiner.scores import Recipe, cell_means
from examiner.validation import Randomness, generator, seed_of

GROUPS = ("benchmark", "subtask", "group")
"""Columns of the table of tasks that say which tasks may share an environment."""
TEXT = "text"
URLS = ("url", "link")
ANSWERS, KEY = "answer", "key"
"""Columns of the answers that agents gave, and of what is right."""
_FEWEST_TASKS = 3


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
    with what agents answered, and `key` one with what is right: tasks on which most agents agree on another
    answer are flagged, the largest majority first. Raw `Results`
    become responses by the `recipe`, as in `fit`. Each kind has its own test, at 5 % over all tasks: of a
    table with nothing wrong, in which tasks discriminate alike, one in twenty has any task of that kind,
    but for those that nobody, or everybody, solves, which are counted.

    >>> rng = np.random.default_rng(0)
    >>> table = (rng.random((60, 20)) < np.linspace(0.1, 0.9, 60)[:, None]).astype(float)
    >>> table[:, 6] = 1 - table[:, 6]
    >>> audit(Results.from_numpy(table), rng=0)["task 7"].flags
    ('negative discrimination',)
    """
    notes: list[str] = []
    matrix, told = _responses(results, recipe)
    agents, tasks = matrix.shape
    if agents < 2 or tasks < _FEWEST_TASKS:
        raise InputError(
            f"{counted(agents, 'agent')} on {counted(tasks, 'task')} are too few for an audit. Have at "
            f"least 2 agents and {_FEWEST_TASKS} tasks."
        )
    drawing = generator(rng)
    evidence = agents_differ(matrix, drawing)
    found = Responses.of(matrix)
    given = given_ability(found, None)
    slopes = discrimination(found, given) if agents >= FEWEST_AGENTS else None
    if slopes is not None and not evidence.shown:
        slopes = slopes._replace(
            negative=np.zeros(tasks, dtype=np.bool_), flat=np.zeros(tasks, dtype=np.bool_)
        )
        notes.append(
            f"Agents do not differ significantly ({evidence.p}), so that discrimination is not tested."
        )
    shared = _shared(found, given, told.labels(matrix, groups), drawing, notes)
    steady = _steadiness(found, given, told, matrix, drawing)
    said = Reasons(matrix, found, given)
    said.add_discrimination(slopes)
    said.add_unsteady(steady)
    said.add_repeats(shared.pairs, told.about(matrix, TEXT))
    given_answers, keys = told.answers(matrix, answers, key)
    said.add_keys(given_answers, keys)
    if agents >= FEWEST_AGENTS:
        said.add_unanimous()
    tested: list[Kind] = ["nobody", "everybody", *steady]
    if given_answers:
        tested.append("key")
    if slopes is not None and evidence.shown:
        tested += ["negative", "flat"]
    if shared.draws:
        tested.append("repeat")
    flagged = _flagged(said, slopes, told.about(matrix, TEXT), told.about(matrix, *URLS))
    nothing = np.full(tasks, np.nan)
    return Audit(
        flagged,
        DependentGroups.from_rows(_row(group, matrix.tasks) for group in shared.groups),
        AuditedTasks(
            task=matrix.tasks,
            share=said.share,
            correlation=nothing if slopes is None else slopes.correlation,
            expected_correlation=nothing if slopes is None else slopes.expected,
            flagged=np.isin(np.array(matrix.tasks, dtype=object), list(flagged.task)),
        ),
        _constant(found, matrix, top),
        matrix.agents,
        evidence,
        tuple(tested),
        top,
        tuple(notes),
        seed_of(rng),
    )


def _flagged(
    said: Reasons, slopes: Discrimination | None, texts: Sequence[str], urls: Sequence[str]
) -> FlaggedTasks:
    ranks: Counter[Kind] = Counter()
    rows = []
    optional = {name: part for name, part in (("text", texts), ("url", urls)) if any(part)}
    for task, reasons in said.ranked():
        ranks[reasons[0].kind] += 1
        kinds = dict.fromkeys(reason.kind for reason in reasons)
        rows.append(
            {
                "task": said.matrix.tasks[task],
                "flags": [FLAGS[kind] for kind in kinds],
                "rank": ranks[reasons[0].kind],
                "solved": float(said.solved[task]),
                "agents": int(said.tried[task]),
                "correlation": np.nan if slopes is None else float(slopes.correlation[task]),
                "expected_correlation": np.nan if slopes is None else float(slopes.expected[task]),
                "reasons": [reason.sentence for reason in reasons],
                "related_tasks": dict.fromkeys(
                    other for reason in reasons for other in reason.tasks
                ),
                "notable_agents": dict.fromkeys(
                    agent for reason in reasons for agent in reason.agents
                ),
                **{name: part[task] for name, part in optional.items()},
            }
        )
    return FlaggedTasks.from_rows(rows)


def _constant(found: Responses, matrix: ResponseMatrix, top: int | None) -> ConstantTasks:
    """Tasks on which the best agents, by their mean over tasks, all succeed or all fail."""
    agents = len(matrix.agents)
    if top is None:
        return ConstantTasks(task=(), result=())
    if not 1 <= top <= agents:
        raise InputError(
            f"The best {top:,} of {counted(agents, 'agent')} are asked for. Give 1 to {agents}."
        )
    if not found.counts:
        raise InputError(
            "Tasks constant among the best agents need successes. Say what a success is."
        )
    mean = (found.trials * found.value).sum(axis=1) / np.maximum(found.trials.sum(axis=1), 1)
    best = np.lexsort((np.array(matrix.agents), -mean))[:top]
    trials, won = found.trials[best], (found.trials * found.value)[best]
    every, none = won.sum(axis=0) == trials.sum(axis=0), won.sum(axis=0) == 0
    rows = np.flatnonzero((every | none) & (trials > 0).any(axis=0))
    return ConstantTasks(
        task=[matrix.tasks[task] for task in rows],
        result=["solved by all" if every[task] else "solved by none" for task in rows],
    )


class _SideData(NamedTuple):
    """What is known beside the responses: the results they were made of, or nothing."""

    results: Results | None

    def labels(
        self, matrix: ResponseMatrix, groups: Sequence[str]
    ) -> Mapping[str, Sequence[object]]:
        """Columns that put tasks into several groups of at least two."""
        if self.results is None:
            return {}
        about, names = self.results.task_attributes, self._names(matrix)
        found = {
            column: about.aligned(names, column) for column in groups if column in about.columns
        }
        return {column: values for column, values in found.items() if len(set(values) - {None}) > 1}

    def about(self, matrix: ResponseMatrix, *columns: str) -> tuple[str, ...]:
        """What the first column that is there says of each task, empty where it says nothing."""
        known = () if self.results is None else self.results.task_attributes.columns
        for column in columns:
            if self.results is not None and column in known:
                values = self.results.task_attributes.aligned(self._names(matrix), column)
                return tuple("" if value is None else str(value) for value in values)
        return ("",) * len(matrix.tasks)

    def answers(
        self, matrix: ResponseMatrix, answers: str, key: str
    ) -> tuple[dict[int, dict[str, list[str]]], tuple[str, ...]]:
        """The agents of every answer by task, and the key of every task; none without both columns."""
        keys = self.about(matrix, key)
        if self.results is None or answers not in self.results.attributes:
            if answers != ANSWERS:
                raise InputError(f"Results have no column {answers!r} of answers. Name another.")
            return {}, keys
        task_codes, agent_codes = self.results.task_codes, self.results.agent_codes
        if not any(keys) and key in self.results.attributes:
            by_task = dict(zip(task_codes.tolist(), self.results.column(key), strict=True))
            right = map(by_task.get, range(len(self.results.tasks)))
            keys = tuple("" if value is None else str(value).strip() for value in right)
        if not any(keys):
            if key != KEY:
                raise InputError(f"Results have no column {key!r} of right answers. Name another.")
            return {}, keys
        votes: dict[tuple[int, int], Counter[str]] = {}
        columns = (task_codes.tolist(), agent_codes.tolist(), self.results.column(answers))
        for task, agent, answer in zip(*columns, strict=True):
            if answer is not None:
                votes.setdefault((task, agent), Counter())[str(answer).strip()] += 1
        places = {task: column for column, task in enumerate(matrix.tasks)}
        given: dict[int, dict[str, list[str]]] = {}
        for (task, agent), counts in sorted(votes.items()):
            column = places.get(self.results.tasks[task])
            if column is not None:
                most = max(counts, key=lambda answer: (counts[answer], answer))
                given.setdefault(column, {}).setdefault(most, []).append(self.results.agents[agent])
        order = [self.results.tasks.index(task) for task in matrix.tasks]
        return given, tuple(keys[code] for code in order) if len(keys) == len(order) else keys

    def _names(self, matrix: ResponseMatrix) -> list[str]:
        assert self.results is not None
        own = dict(zip(self.results.tasks, self.results.task_names, strict=True))
        return [own[task] for task in matrix.tasks]


def _responses(results: Any, recipe: Recipe | None) -> tuple[ResponseMatrix, _SideData]:
    if isinstance(results, ResponseMatrix):
        if recipe is not None:
            raise InputError(
                "A recipe turns results into responses, and a ResponseMatrix holds responses already. Give "
                "the results, or omit the recipe."
            )
        return results, _SideData(None)
    results = check_results(results)
    learnt = (Recipe() if recipe is None else recipe).learn(results)
    made = learnt.responses(results)
    if not made.is_counts:  # higher is better, whatever the direction of a task
        values = learnt.values(results)
        made = ResponseMatrix.from_array(values, results.agents, results.tasks).as_values()
    return made, _SideData(learnt.ready(results))


def _shared(
    found: Responses,
    given: Expectations,
    labels: Mapping[str, Sequence[object]],
    rng: np.random.Generator,
    notes: list[str],
) -> ResidualDependence:
    agents, tasks = found.value.shape
    if agents < FEWEST_AGENTS or tasks > MOST_TASKS:
        why = (
            f"fewer than {FEWEST_AGENTS} agents"
            if agents < FEWEST_AGENTS
            else f"more than {MOST_TASKS:,} tasks"
        )
        notes.append(f"Repeated tasks and groups are not tested with {why}.")
        return ResidualDependence(np.zeros((0, 0)), (), (), 0)
    made = together(found, given, rng)
    return made._replace(groups=(*given_groups(made.excess, labels, rng), *made.groups))


def _steadiness(
    found: Responses,
    given: Expectations,
    known: _SideData,
    matrix: ResponseMatrix,
    rng: np.random.Generator,
) -> dict[Literal["unsteady", "scorers"], tuple[Unsteady, Floats]]:
    """Disagreement over trials, and between measures of zeros and ones, where there are several."""
    made: dict[Literal["unsteady", "scorers"], tuple[Unsteady, Floats]] = {}
    if found.counts and bool((found.trials > 1).any()):
        flips = disagreement_over_trials(found.value, found.trials)
        made["unsteady"] = unsteady(flips, given.expected, rng), flips
    results = known.results
    if results is None or results.agents != matrix.agents or results.tasks != matrix.tasks:
        return made
    scorers = [measure for measure in results.measures if results.is_binary(measure)]
    if found.counts and len(scorers) > 1:
        first, others = results.measure(scorers[0]), scorers[1:]
        apart = np.nanmean([np.abs(first - results.measure(other)) for other in others], axis=0)
        cells = cell_means(results.with_measure("disagreement", apart), "disagreement")
        made["scorers"] = unsteady(cells, given.expected, rng), cells
    return made


def _row(group: Group, tasks: tuple[str, ...]) -> dict[str, Any]:  # Any: columns of a table
    return {
        "group": group.name or "found",
        "size": len(group.tasks),
        "excess": group.excess,
        "cutoff": group.cutoff,
        "members": [tasks[task] for task in group.tasks],
    }
