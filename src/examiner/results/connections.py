"""How agents and tasks hang together: groups with nothing in common, and the weakest link between agents.

Agents and tasks are the two sides of a graph, and a cell that was observed joins an agent with a task.
Only within a connected group can agents be compared without assuming that groups are alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.messages import InputError, counted, listed
from examiner.results.matrix import ResponseMatrix
from examiner.validation import Floats

WEAK = 2.0
"""A link is weak where the error of a difference across it is at least twice what as many results on common
tasks give: three quarters of the work are then lost. Tables with half or a fifth of their cells, left
out at random, stay below 1.4 at 24 agents × 60 tasks (`tests/results/test_connections.py`)."""
MOST_AGENTS = 500
"""The weakest link takes the eigenvectors of a matrix of agents, a tenth of a second for so many; of more
agents only groups are looked for."""
_ROWS = 64
"""Agents looked at together: tables that hang together mostly show it in the first of them."""
_Cells = tuple[NDArray[np.integer], ...]
"""The agent and the task of each observed cell."""


class WeakLink(NamedTuple):
    """Where the table nearly falls apart: two sides of agents, and what holds them together.

    `hangs_on` are the agents and tasks without which the sides would share nothing; `error_ratio` is the
    standard error of the difference between the sides over that of as many results on common tasks.
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    hangs_on: tuple[str, ...]
    error_ratio: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Connections:
    """Groups of agents and of tasks [agents], [tasks], numbered from 0; −1 is what was never observed.

    `weakest` is the weakest link within the only group; None where there are several, or it is strong.
    """

    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    agent_group: NDArray[np.int64]
    task_group: NDArray[np.int64]
    weakest: WeakLink | None

    @classmethod
    def by_groups(
        cls, agents: tuple[str, ...], tasks: tuple[str, ...], observed: NDArray[np.bool_]
    ) -> Connections:
        """Find groups alone, by the cells that were observed [agents, tasks]; no weakest link.

        >>> Connections.by_groups(("a", "b"), ("t", "u"), np.eye(2, dtype=bool)).separate
        (('a',), ('b',))
        """
        return cls(agents, tasks, *groups_of(observed), None)

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The names of the agents of each group, the largest group first."""
        names: dict[int, list[str]] = {}
        for agent, group in zip(self.agents, self.agent_group.tolist(), strict=True):
            names.setdefault(group, []).append(agent)
        names.pop(-1, None)
        return tuple(
            sorted((tuple(names[group]) for group in sorted(names)), key=len, reverse=True)
        )

    @property
    def separate(self) -> tuple[tuple[str, ...], ...]:
        """The groups where there are several, none where all agents hang together."""
        return self.groups if len(self.groups) > 1 else ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know before comparing agents, one sentence each."""
        if self.separate:
            return (f"{divided_sentence(self.separate)} Compare agents within a group only.",)
        return () if self.weakest is None else (_weak_sentence(self.weakest),)

    def __repr__(self) -> str:
        groups = counted(max(len(self.groups), 1), "group")
        weak = "" if self.weakest is None else f", weakest link {self.weakest.error_ratio:.1f}"
        return f"Connections: {counted(len(self.agents), 'agent')} in {groups}{weak}"


def connections(matrix: ResponseMatrix) -> Connections:
    r"""Return which agents hang together by the tasks they met, and where that is weakest.

    The weakest link divides the agents by the sign of the second eigenvector of

    .. math:: L = D_a - N D_t^{-1} N^\top

    the information on agents of the additive model agent + task with equal errors, N the observed cells
    and D their sums. The squared error of the difference between the means of both sides is
    :math:`c^\top L^{+} c`; agents that all met common tasks would have the sum of the inverse numbers of
    their results. What the link hangs on is a smallest set of agents and tasks that touches every cell
    across it.

    References: Eccleston & Hedayat (1974), for connected designs; Fiedler (1973); König (1931).

    >>> half = [[1, 0, np.nan, np.nan], [0, 1, np.nan, np.nan]]
    >>> table = ResponseMatrix.from_array(half + [row[::-1] for row in half], agents="abcd")
    >>> connections(table).groups
    (('a', 'b'), ('c', 'd'))
    >>> connections(table)
    Connections: 4 agents in 2 groups
    """
    cells = matrix.observed_cells
    if cells is None:
        observed = matrix.observed
        groups, complete = groups_of(observed), bool(observed.all())
    else:
        first = cells.columns[np.minimum(cells.starts[:-1], len(cells) - 1)]
        met = np.diff(cells.starts) > 0
        label = _joined_tasks([(cells.rows, cells.columns)], len(matrix.tasks))
        groups, complete = _numbered(label, np.where(met, first, -1)), False
    connections = Connections(matrix.agents, matrix.tasks, *groups, None)
    if connections.agent_group.max(initial=-1) != 0 or complete:
        return connections
    rows, columns = (
        np.flatnonzero(group == 0) for group in (connections.agent_group, connections.task_group)
    )
    whole = (len(rows), len(columns)) == matrix.shape
    return replace(
        connections,
        weakest=_weakest(matrix if whole else matrix.take(rows.tolist(), columns.tolist())),
    )


def connections_of_blocks(
    agents: tuple[str, ...], tasks: tuple[str, ...], blocks: Iterable[NDArray[np.number]]
) -> Connections:
    """Return groups of agents by the trials [agents, tasks] of one block of agents after the other.

    Every agent met at least one task, and every task an agent. No more agents are looked at than it takes
    to see that all hang together; the weakest link is not looked for.

    >>> trials = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [0, 1, 0, 0]])
    >>> connections_of_blocks(("a", "b", "c"), ("t", "u", "v", "w"), [trials[:2], trials[2:]]).separate
    (('a', 'c'), ('b',))
    """
    first: list[NDArray[np.intp]] = []

    def cells() -> Iterator[_Cells]:
        for trials in blocks:
            for start in range(0, len(trials), _ROWS):
                observed = trials[start : start + _ROWS] != 0
                first.append(observed.argmax(axis=1))
                yield np.nonzero(observed)

    label = _joined_tasks(cells(), len(tasks))
    if label.max() == 0:
        return Connections(agents, tasks, np.zeros(len(agents), dtype=np.int64), label, None)
    return Connections(agents, tasks, *_numbered(label, np.concatenate(first)), None)


def groups_of(observed: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the connected groups of agents and tasks; −1 where nothing was observed.

    >>> groups_of(np.array([[True, False], [False, True], [False, False]]))
    (array([ 0,  1, -1]), array([0, 1]))
    """
    starts = range(0, len(observed), _ROWS)
    blocks = (np.nonzero(observed[start : start + _ROWS]) for start in starts)
    first = np.where(observed.any(axis=1), observed.argmax(axis=1), -1)
    return _numbered(_joined_tasks(blocks, observed.shape[1]), first)


def _joined_tasks(blocks: Iterable[_Cells], tasks: int) -> NDArray[np.int64]:
    """Labels of tasks, alike where agents join them, by the observed cells of blocks of agents.

    It ends as soon as all tasks have one label.
    """
    from scipy.sparse import coo_array  # slow to import
    from scipy.sparse.csgraph import connected_components

    label = np.arange(tasks)
    for agent, task in blocks:
        if not len(agent):
            continue
        row = agent - agent.min() + label.max() + 1  # agents are nodes behind those of the labels
        edges = (np.ones(len(row), dtype=np.int32), (row, label[task]))
        graph = coo_array(edges, shape=(row.max() + 1, row.max() + 1)).tocsr()
        _, component = connected_components(graph, directed=False)
        label = np.unique(component[label], return_inverse=True)[1]
        if label.max() == 0:
            break
    return label


def _numbered(
    label: NDArray[np.int64], first: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Groups of agents, numbered in the order of agents, and of tasks; `first` is a task that each met."""
    met = first >= 0
    labels, place = np.unique(label[first[met]], return_index=True)
    number = np.full(int(label.max(initial=0)) + 1, -1, dtype=np.int64)
    number[labels[np.argsort(place)]] = np.arange(len(labels))
    return np.where(met, number[label[first]], -1), number[label]


def divided_sentence(groups: Sequence[Sequence[str]]) -> str:
    """Say which groups of agents share no task.

    >>> divided_sentence([["a"], ["b"]])
    "The agents fall in 2 groups that share no task: 'a'; and 'b'."
    """
    lines = [listed(group) for group in groups[:4]]
    more = [f"{len(groups) - 4:,} more"] if len(groups) > 4 else []
    *first, last = lines + more
    return (
        f"The agents fall in {len(groups):,} groups that share no task: "
        f"{'; '.join(first)}; and {last}."
    )


def check_undivided(groups: Sequence[Sequence[str]], what: str) -> None:
    """Refuse what compares agents across groups that share no task; `what` says it.

    >>> check_undivided([], "nothing is linked")
    >>> check_undivided([["a"], ["b"]], "abilities are not on one scale")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: The agents fall in 2 groups that share no task: 'a'; and 'b'. So \
abilities are not on one scale. Take one group at a time, or add tasks that agents of several have met.
    """
    if groups:
        raise InputError(
            f"{divided_sentence(groups)} So {what}. Take one group at a time, or add tasks that agents "
            f"of several have met."
        )


def _weakest(matrix: ResponseMatrix) -> WeakLink | None:
    """The weakest link of a connected table, None where it is strong."""
    if not 2 <= len(matrix.agents) <= MOST_AGENTS:
        return None
    observed = matrix.observed
    weights = observed.astype(np.float64)
    met = weights.sum(axis=1)
    shared = weights / np.sqrt(weights.sum(axis=0))
    information = np.diag(met) - shared @ shared.T
    if _surely_strong(information, met):
        return None
    values, vectors = np.linalg.eigh(information)
    side = vectors[:, 1] > 0
    if side.all() or not side.any():
        return None
    contrast = np.where(side, 1 / max(side.sum(), 1), -1 / max((~side).sum(), 1))
    squared = float(((vectors[:, 1:].T @ contrast) ** 2 / values[1:]).sum())
    even = 1 / met[side].sum() + 1 / met[~side].sum()
    ratio = float(np.sqrt(squared / even))
    if ratio < WEAK:
        return None
    names = np.array(matrix.agents, dtype=object)
    hangs_on = _cover(matrix, observed, side, vectors[:, 1])
    return WeakLink(tuple(names[side]), tuple(names[~side]), hangs_on, ratio)


def _surely_strong(information: Floats, met: Floats) -> bool:
    r"""Whether no division of the agents can be weak, by one factorisation in place of all eigenvectors.

    For the contrast c of any two sides, :math:`c^\top L^{+} c \le |c|^2 / \lambda_2`, and as many results
    on common tasks give at least :math:`|c|^2 / \max_a D_a`. So the ratio of errors stays below `WEAK`
    where :math:`\lambda_2 > \max_a D_a / \mathrm{WEAK}^2`: where L, less that and with its null vector
    lifted, is positive definite.
    """
    most = met.max()
    tested = information + most / len(met)
    tested[np.diag_indices_from(tested)] -= most / WEAK**2
    try:
        np.linalg.cholesky(tested)
    except np.linalg.LinAlgError:
        return False
    return True


def _cover(
    matrix: ResponseMatrix, observed: NDArray[np.bool_], side: NDArray[np.bool_], lean: Floats
) -> tuple[str, ...]:
    """The fewest agents and tasks that touch every cell in which an agent met the other side's task."""
    from scipy.sparse import csr_array  # slow to import
    from scipy.sparse.csgraph import maximum_bipartite_matching

    met = observed.sum(axis=0)
    sides = (observed.T @ lean) / np.maximum(met, 1) > 0
    across = observed & (side[:, None] != sides[None, :])
    task_of = maximum_bipartite_matching(csr_array(across.astype(np.int8)), perm_type="column")
    agent_of = np.full(across.shape[1], -1)
    agent_of[task_of[task_of >= 0]] = np.flatnonzero(task_of >= 0)
    agents = (task_of < 0) & across.any(
        axis=1
    )  # reached by alternating paths, as König's proof has it
    tasks = np.zeros(across.shape[1], dtype=np.bool_)
    while True:
        tasks |= across[agents].any(axis=0)
        more = agents.copy()
        more[agent_of[tasks & (agent_of >= 0)]] = True
        if (more == agents).all():
            break
        agents = more
    kept = ~agents & (task_of >= 0)
    return (
        *(matrix.tasks[task] for task in np.flatnonzero(tasks)),
        *(matrix.agents[agent] for agent in np.flatnonzero(kept)),
    )


def _weak_sentence(link: WeakLink) -> str:
    few, many = sorted((link.first, link.second), key=len)
    return (
        f"{counted(len(few), 'agent')} ({listed(few)}) and the other {len(many):,} are joined weakly, by "
        f"{listed(link.hangs_on)}: the error of their difference is {link.error_ratio:.1f} times that of "
        f"as many results on common tasks."
    )
