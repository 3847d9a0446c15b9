"""The audit: tasks flagged for review, with why, and groups of them that correlate beyond ability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np

from examiner.irt.diagnostics.chance import agents_differ
from examiner.irt.evidence import ChanceTest
from examiner.irt.items import Floats
from examiner.irt.suspects.discrimination import Discrimination, discrimination
from examiner.irt.suspects.flagged import Audit, DependentGroup, FlaggedTask
from examiner.irt.suspects.given_ability import Expectations, Responses, given_ability
from examiner.irt.suspects.reasons import Kind, Reasons
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
from examiner.validation import Randomness, generator

GROUPS = ("benchmark", "subtask", "group")
"""Columns of the table of tasks that say which tasks may share an environment."""
TEXT = "text"
_FEWEST_TASKS = 3


def audit(
    results: Any,  # Any: results, all that `ex.read` takes, or a ResponseMatrix
    *,
    recipe: Recipe | None = None,
    groups: Sequence[str] = GROUPS,
    rng: Randomness = 0,
) -> Audit:
    """Flag tasks for review: wrong keys, flat, impossible, repeated, or graded inconsistently.

    `groups` are columns of the table of tasks: tasks of one value may share an environment. Raw `Results`
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
    given = given_ability(found)
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
    said.add_repeats(shared.pairs, told.texts(matrix))
    if agents >= FEWEST_AGENTS:
        said.add_unanimous()
    audited = _audit(
        said, slopes, shared, evidence, tuple(steady), told.texts(matrix), tuple(notes)
    )
    return replace(audited, seed=rng if isinstance(rng, int) else None)


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

    def texts(self, matrix: ResponseMatrix) -> tuple[str, ...]:
        """The text of each task, empty where it is not known."""
        if self.results is None:
            return ("",) * len(matrix.tasks)
        values = self.results.task_attributes.aligned(self._names(matrix), TEXT)
        return tuple("" if value is None else str(value) for value in values)

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


def _audit(
    said: Reasons,
    slopes: Discrimination | None,
    shared: ResidualDependence,
    evidence: ChanceTest,
    steady: tuple[Kind, ...],
    texts: tuple[str, ...],
    notes: tuple[str, ...],
) -> Audit:
    matrix, nothing = said.matrix, np.full(len(said.matrix.tasks), np.nan)
    correlation = nothing if slopes is None else slopes.correlation
    expected = nothing if slopes is None else slopes.expected
    flagged = tuple(
        FlaggedTask(
            matrix.tasks[task],
            reasons,
            float(said.solved[task]),
            int(said.tried[task]),
            float(correlation[task]),
            float(expected[task]),
            texts[task],
        )
        for task, reasons in said.ranked()
    )
    dependent = tuple(_named(group, matrix.tasks) for group in shared.groups)
    tested: list[Kind] = ["nobody", "everybody", *steady]
    if slopes is not None and evidence.shown:
        tested += ["negative", "flat"]
    if shared.draws:
        tested.append("repeat")
    return Audit(
        matrix.tasks,
        matrix.agents,
        flagged,
        dependent,
        said.solved,
        said.share,
        correlation,
        expected,
        evidence,
        tuple(tested),
        notes,
    )


def _named(group: Group, tasks: tuple[str, ...]) -> DependentGroup:
    names = tuple(tasks[task] for task in group.tasks)
    return DependentGroup(names, group.name, group.excess, group.cutoff)
