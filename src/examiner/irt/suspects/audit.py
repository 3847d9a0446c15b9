"""The audit: tasks that deserve a look, ranked, with why, and groups of them that move together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from examiner.irt.diagnostics.chance import agents_differ
from examiner.irt.evidence import ChanceTest
from examiner.irt.items import Floats
from examiner.irt.suspects.discrimination import Discrimination, discrimination
from examiner.irt.suspects.given_ability import Expectations, Responses, given_ability
from examiner.irt.suspects.reasons import Kind, Reason, Reasons
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
from examiner.results import ResponseMatrix, Results
from examiner.results.display import html_columns
from examiner.scores import Recipe, cell_means
from examiner.validation import Randomness, generator

GROUPS = ("benchmark", "subtask", "group")
"""Columns of the table of tasks that say which tasks may share an environment."""
TEXT = "text"
_FEWEST_TASKS = 3


class Suspect(NamedTuple):
    """A task that deserves a look, why, how many solved it, and how it goes together with the others.

    `correlation` is that with what agents did elsewhere, `expected` what it would be if it discriminated
    as tasks do on average; NaN where nobody differs. `solved` is the mean where results are scores.
    """

    task: str
    reasons: tuple[Reason, ...]
    solved: float
    agents: int
    correlation: float
    expected: float
    text: str = ""

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """What it is suspected of, the gravest first."""
        return tuple(dict.fromkeys(reason.kind for reason in self.reasons))


class MovingGroup(NamedTuple):
    """Tasks that move together beyond ability, how far, in deviations by chance, and what chance allows.

    `name` is the column and value of a group that was given, empty for one that was found.
    """

    tasks: tuple[str, ...]
    name: str
    excess: float
    cutoff: float


@dataclass(frozen=True, slots=True, repr=False)
class Audit:
    """Tasks that deserve a look, the gravest first, and groups that move together beyond ability.

    Arrays have shape [tasks]; `share` is of trials solved, or the mean score. `evidence` says whether
    agents differ at all: without that nothing is said of discrimination. `looked_for` are the kinds that
    could be looked for in these results.
    """

    tasks: tuple[str, ...]
    agents: tuple[str, ...]
    suspects: tuple[Suspect, ...]
    groups: tuple[MovingGroup, ...]
    solved: Floats
    share: Floats
    correlation: Floats
    expected: Floats
    evidence: ChanceTest
    looked_for: tuple[Kind, ...]
    notes: tuple[str, ...]

    def of_kind(self, kind: Kind) -> tuple[str, ...]:
        """Return the tasks suspected of something, in the order of the list.

        >>> audit(Results.from_numpy(np.triu(np.ones((6, 6)))), rng=0).of_kind("everybody")
        ('task 6',)
        """
        return tuple(each.task for each in self.suspects if kind in each.kinds)

    def __repr__(self) -> str:
        return (
            f"Audit: {len(self.suspects):,} of {counted(len(self.tasks), 'task')} are flagged, "
            f"{counted(len(self.groups), 'group')} move together"
        )

    def _repr_html_(self) -> str:
        columns = {
            "task": [each.task for each in self.suspects],
            "why": ["; ".join(why.sentence for why in each.reasons) for each in self.suspects],
        }
        return html_columns(repr(self), columns, self.notes)


def audit(
    results: Results | ResponseMatrix,
    *,
    recipe: Recipe | None = None,
    groups: Sequence[str] = GROUPS,
    rng: Randomness = 0,
) -> Audit:
    """List the tasks that deserve a look: wrong keys, flat, impossible, repeated, or graded unsteadily.

    `groups` are columns of the table of tasks: tasks of one value may share an environment. Raw `Results`
    become responses by the `recipe`, as in `fit`. Each kind has its own test, at 5 % over all tasks: of a
    table with nothing wrong, in which tasks discriminate alike, one in twenty has any task of that kind,
    but for those that nobody, or everybody, solves, which are counted.

    >>> rng = np.random.default_rng(0)
    >>> table = (rng.random((60, 20)) < np.linspace(0.1, 0.9, 60)[:, None]).astype(float)
    >>> table[:, 6] = 1 - table[:, 6]
    >>> made = audit(Results.from_numpy(table), rng=0)
    >>> made.suspects[0].task, made.suspects[0].kinds
    ('task 7', ('negative',))
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
            f"Agents are not shown to differ ({evidence.often}): nothing is said of discrimination."
        )
    shared = _shared(found, given, told.labels(matrix, groups), drawing, notes)
    steady = _steadiness(found, given, told, matrix, drawing)
    said = Reasons(matrix, found, given)
    said.add_discrimination(slopes)
    said.add_unsteady(steady)
    said.add_repeats(shared.pairs, told.texts(matrix))
    if agents >= FEWEST_AGENTS:
        said.add_unanimous()
    return _told(said, slopes, shared, evidence, tuple(steady), told.texts(matrix), tuple(notes))


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
        found = {name: about.aligned(names, name) for name in groups if name in about.columns}
        return {name: values for name, values in found.items() if len(set(values) - {None}) > 1}

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


def _responses(
    results: Results | ResponseMatrix, recipe: Recipe | None
) -> tuple[ResponseMatrix, _SideData]:
    if isinstance(results, ResponseMatrix):
        if recipe is not None:
            raise InputError(
                "A recipe makes responses of raw results, and a ResponseMatrix is given with one. Give the "
                "results, or leave the recipe out."
            )
        return results, _SideData(None)
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
        notes.append(f"Repeats and groups are not looked for with {why}.")
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
    scorers = [name for name in results.measures if results.is_binary(name)]
    if found.counts and len(scorers) > 1:
        first, others = results.measure(scorers[0]), scorers[1:]
        apart = np.nanmean([np.abs(first - results.measure(name)) for name in others], axis=0)
        cells = cell_means(results.with_measure("disagreement", apart), "disagreement")
        made["scorers"] = unsteady(cells, given.expected, rng), cells
    return made


def _told(
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
    suspects = tuple(
        Suspect(
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
    moving = tuple(_named(group, matrix.tasks) for group in shared.groups)
    looked_for: list[Kind] = ["nobody", "everybody", *steady]
    if slopes is not None and evidence.shown:
        looked_for += ["negative", "flat"]
    if shared.draws:
        looked_for.append("repeat")
    return Audit(
        matrix.tasks,
        matrix.agents,
        suspects,
        moving,
        said.solved,
        said.share,
        correlation,
        expected,
        evidence,
        tuple(looked_for),
        notes,
    )


def _named(group: Group, tasks: tuple[str, ...]) -> MovingGroup:
    names = tuple(tasks[task] for task in group.tasks)
    return MovingGroup(names, group.name, group.excess, group.cutoff)
