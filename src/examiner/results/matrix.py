"""ResponseMatrix: agents are rows, tasks are columns; counts kept small, floats only where needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from examiner.messages import InputError, counted, shorten
from examiner.results.border import arrow_from, check_columns, frame_from, pandas_from
from examiner.results.codes import name_column
from examiner.results.description import html_table
from examiner.results.keys import numbered_names
from examiner.results.observed_cells import ObservedCells, few_observed
from examiner.results.parquet import MATRIX_SCHEMA, MatrixNote, checked_note, loaded, save_frame
from examiner.validation import check_finite, is_binary, read_only, smallest_unsigned

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Counts = NDArray[np.unsignedinteger]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ResponseMatrix:
    """How each agent responded to each task: k successes of n trials, or a continuous value.

    Counts are small unsigned integers, and 0 trials mean "not observed". Continuous values are
    floats, and NaN means "not observed". Exactly one of the two kinds is held. Of a large table of which
    less than one cell in eight was observed the observed cells alone are held; `successes`, `trials`,
    `observed` and `to_numpy` then lay all cells out whenever they are asked for.

    >>> matrix = ResponseMatrix.from_array([[1, 0], [1, np.nan]], agents=["a", "b"], tasks=["t", "u"])
    >>> matrix
    ResponseMatrix: 2 agents × 2 tasks, successes of 1 trial; 1 missing cell
    >>> matrix.to_numpy()
    array([[ 1.,  0.],
           [ 1., nan]])
    """

    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    # Any: successes and trials, or the values alone
    _cells: tuple[NDArray[Any], ...] | ObservedCells

    # ---------------------------------------------------------------- in

    @classmethod
    def from_array(
        cls,
        values: ArrayLike,
        agents: Sequence[str] | None = None,
        tasks: Sequence[str] | None = None,
    ) -> ResponseMatrix:
        """Build a matrix from an array [agents, tasks]; NaN is not observed.

        Values that are all 0, 1 or NaN become counts of one trial; anything else is continuous.

        >>> ResponseMatrix.from_array([[0.25, 0.5]]).is_counts
        False
        """
        array = np.asarray(values)
        if array.ndim != 2 or array.dtype.kind not in "biuf":
            raise InputError(
                f"The responses have shape {array.shape} and type {array.dtype}. "
                f"Give a table of numbers, agents as rows and tasks as columns."
            )
        if array.dtype.kind == "b" or is_binary(array):
            observed = np.broadcast_to(np.uint8(1), array.shape)
            if array.dtype.kind == "f":
                observed = _compact_trials((~np.isnan(array)).astype(np.uint8))
            won = (array == 1).astype(np.uint8)
            return cls._checked(_stored((won, observed)), agents, tasks)
        array = array.astype(np.float64)
        check_finite(array, "response matrix")
        return cls._checked(_stored((array,)), agents, tasks)

    @classmethod
    def from_counts(
        cls,
        successes: ArrayLike,
        trials: ArrayLike,
        agents: Sequence[str] | None = None,
        tasks: Sequence[str] | None = None,
    ) -> ResponseMatrix:
        """Build a matrix of k successes of n trials; n may be one number for every cell.

        >>> ResponseMatrix.from_counts([[3, 0]], [[5, 0]]).to_numpy()
        array([[0.6, nan]])
        """
        k, n = np.asarray(successes), np.asarray(trials)
        if k.ndim != 2 or k.dtype.kind not in "biu" or n.dtype.kind not in "biu":
            raise InputError(
                f"Successes have shape {k.shape} and type {k.dtype}, trials type {n.dtype}. "
                f"Give tables of whole numbers, agents as rows and tasks as columns."
            )
        try:
            n = np.broadcast_to(n, k.shape)
        except ValueError:
            raise InputError(
                f"Successes have shape {k.shape} but trials have {n.shape}. Give one count each."
            ) from None
        wrong = (k > n) | (k < 0)
        if wrong.any():
            agent, task = (int(indices[0]) for indices in np.nonzero(wrong))
            raise InputError(
                f"Row {agent + 1}, column {task + 1} counts {k[agent, task]} successes of "
                f"{n[agent, task]} trials. Successes must lie between 0 and the trials."
            )
        kind = smallest_unsigned(int(n.max(initial=0)))
        cells = k.astype(kind), _compact_trials(n.astype(kind))
        return cls._checked(_stored(cells), agents, tasks)

    @classmethod
    def from_cells(
        cls,
        agent: ArrayLike,
        task: ArrayLike,
        successes: ArrayLike,
        trials: ArrayLike = 1,
        *,
        agents: Sequence[str],
        tasks: Sequence[str],
    ) -> ResponseMatrix:
        """Build a matrix of k successes of n trials in the cells that were observed, each named once.

        `agent` and `task` are positions in the names; cells that are not named were not observed, and
        where they are many, they take no memory.

        >>> names = {"agents": ["a", "b"], "tasks": ["t", "u"]}
        >>> ResponseMatrix.from_cells([0, 1], [1, 0], [1, 2], 2, **names).to_dict()
        {'a': {'u': 0.5}, 'b': {'t': 1.0}}
        """
        row, column, won = (np.asarray(part) for part in (agent, task, successes))
        tried = np.broadcast_to(np.asarray(trials), won.shape)
        if {part.dtype.kind for part in (row, column, won, tried)} - set("biu") or not (
            row.shape == column.shape == won.shape == (won.size,)
        ):
            raise InputError(
                "Cells are no lists of whole numbers. Give one of each for every cell."
            )
        wrong = (won > tried) | (won < 0) | (tried < 1)
        wrong |= (row < 0) | (row >= len(agents)) | (column < 0) | (column >= len(tasks))
        if wrong.any():
            at = int(wrong.argmax())
            raise InputError(
                f"Cell {at + 1} counts {won[at]} successes of {tried[at]} trials, of agent {row[at]} and "
                f"task {column[at]}. Name agents and tasks by position, from 0 on, and successes of at "
                f"least 1 trial."
            )
        kind = smallest_unsigned(int(tried.max(initial=0)))
        cells = ObservedCells.of(
            (len(agents), len(tasks)), row, column, won.astype(kind), tried.astype(kind)
        )
        _refuse_twice(cells, agents, tasks)
        return cls.from_observed(cells, agents, tasks)

    @classmethod
    def from_observed(
        cls, cells: ObservedCells, agents: Sequence[str], tasks: Sequence[str]
    ) -> ResponseMatrix:
        """Hold observed cells as they are where they are few, else lay them out.

        >>> cells = ObservedCells.of((1, 2), np.array([0]), np.array([1]), np.array([0.5]))
        >>> ResponseMatrix.from_observed(cells, ["a"], ["t", "u"]).to_dict()
        {'a': {'u': 0.5}}
        """
        if few_observed(len(cells), cells.shape):
            return cls._checked(cells, agents, tasks)
        if len(cells.parts) == 1:
            return cls.from_array(cells.laid_out(0, np.nan), agents, tasks)
        return cls.from_counts(cells.laid_out(0), cells.laid_out(1), agents, tasks)

    @classmethod
    def from_frame(cls, source: object) -> ResponseMatrix:
        """Build a matrix from a wide pandas, polars or arrow table: first column agents, then tasks.

        >>> ResponseMatrix.from_frame({"agent": ["a", "b"], "pong": [0.5, 0.75]}).tasks
        ('pong',)
        """
        frame = frame_from(source)
        if frame.width < 2:
            raise InputError(
                f"The table has {counted(frame.width, 'column')}. Give the agents' names first, "
                f"then a column for each task."
            )
        for column in frame[:, 1:]:
            if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
                raise InputError(
                    f"The column {shorten(column.name)} holds {column.dtype}, not numbers. "
                    f"A wide table has agents in its first column and numbers in all others."
                )
        values = np.column_stack([column.cast(pl.Float64).to_numpy() for column in frame[:, 1:]])
        return cls.from_array(values, frame[:, 0].cast(pl.String).to_list(), frame.columns[1:])

    @classmethod
    def from_dict(cls, responses: Mapping[str, Mapping[str, float | None]]) -> ResponseMatrix:
        """Build a matrix from `{agent: {task: value}}`; tasks an agent lacks are not observed.

        >>> ResponseMatrix.from_dict({"a": {"t": 1, "u": 0}, "b": {"t": 0}}).to_numpy()
        array([[ 1.,  0.],
               [ 0., nan]])
        """
        tasks = tuple(dict.fromkeys(task for row in responses.values() for task in row))
        values = np.full((len(responses), len(tasks)), np.nan)
        column = {task: position for position, task in enumerate(tasks)}
        for position, row in enumerate(responses.values()):
            for task, value in row.items():
                values[position, column[task]] = np.nan if value is None else value
        return cls.from_array(values, tuple(responses), tasks)

    @classmethod
    def _checked(
        cls,
        cells: tuple[NDArray[Any], ...] | ObservedCells,  # Any: see `_cells`
        agents: Sequence[str] | None,
        tasks: Sequence[str] | None,
    ) -> ResponseMatrix:
        if isinstance(cells, ObservedCells):
            n_agents, n_tasks = cells.frozen().shape
        else:
            read_only(*cells)
            n_agents, n_tasks = cells[0].shape
        if not n_agents or not n_tasks:
            raise InputError(
                f"The matrix has {counted(n_agents, 'agent')} and {counted(n_tasks, 'task')}. "
                f"Give at least one of each."
            )
        agents = numbered_names(agents, n_agents, "agent")
        return cls(agents, numbered_names(tasks, n_tasks, "task"), cells)

    # ---------------------------------------------------------------- what is here

    @property
    def shape(self) -> tuple[int, int]:
        """Number of agents and of tasks."""
        return len(self.agents), len(self.tasks)

    @property
    def is_counts(self) -> bool:
        """Whether cells hold successes of trials rather than continuous values."""
        return len(self._parts) == 2

    @property
    def _parts(self) -> tuple[NDArray[Any], ...]:  # Any: see `_cells`
        return self._cells.parts if isinstance(self._cells, ObservedCells) else self._cells

    @property
    def observed_cells(self) -> ObservedCells | None:
        """The observed cells where they alone are held, else None."""
        return self._cells if isinstance(self._cells, ObservedCells) else None

    @property
    def successes(self) -> Counts:
        """Successes k of each cell, shape [agents, tasks]; 0 where nothing was observed."""
        self._check_counts()
        return self._laid_out(0)

    @property
    def trials(self) -> Counts:
        """Trials n of each cell, shape [agents, tasks]; 0 means not observed."""
        self._check_counts()
        return self._laid_out(1)

    def _laid_out(self, part: int) -> NDArray[Any]:  # Any: see `_cells`
        if not isinstance(self._cells, ObservedCells):
            return self._cells[part]
        whole = self._cells.laid_out(part, 0 if self.is_counts else np.nan)
        read_only(whole)
        return whole

    @property
    def most_trials(self) -> int:
        """The most trials of a cell, told without laying cells out."""
        self._check_counts()
        trials = self._parts[1]
        return int(
            trials.flat[0] if trials.size and not any(trials.strides) else trials.max(initial=0)
        )

    def _check_counts(self) -> None:
        if not self.is_counts:
            raise InputError(
                "These responses are continuous and have no successes. Say what success is: "
                "`responses(results, success=…)`."
            )

    @property
    def observed(self) -> NDArray[np.bool_]:
        """Which cells were observed, shape [agents, tasks]."""
        if isinstance(self._cells, ObservedCells):
            return self._cells.observed()
        return self.trials > 0 if self.is_counts else ~np.isnan(self._cells[0])

    def to_numpy(self) -> NDArray[np.float64]:
        """Return values, or shares of successes, as floats with NaN where nothing was observed.

        >>> ResponseMatrix.from_counts([[1, 2]], 2).to_numpy()
        array([[0.5, 1. ]])
        """
        if not self.is_counts:
            return self._laid_out(0)
        shares = np.full(self.shape, np.nan)
        if isinstance(self._cells, ObservedCells):
            shares[self._cells.rows, self._cells.columns] = np.divide(*self._cells.parts)
            return shares
        np.divide(self.successes, self.trials, out=shares, where=self.observed)
        return shares

    # Any: numpy's protocol
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Let numpy functions take the matrix as it is."""
        return np.array(self.to_numpy(), dtype=dtype, copy=True if copy is None else copy)

    def take(
        self, agents: Sequence[int] | None = None, tasks: Sequence[int] | None = None
    ) -> ResponseMatrix:
        """Return the matrix of some agents and tasks, by position, in the order given.

        >>> ResponseMatrix.from_array([[1, 0], [0, 1]]).take(tasks=[1]).to_numpy().ravel()
        array([0., 1.])
        """
        rows = list(range(len(self.agents)) if agents is None else agents)
        columns = list(range(len(self.tasks)) if tasks is None else tasks)
        names = [self.agents[row] for row in rows], [self.tasks[column] for column in columns]
        if isinstance(self._cells, ObservedCells):
            cells = self._cells.take(
                None if agents is None else rows, None if tasks is None else columns
            )
            return ResponseMatrix._checked(cells, *names)
        chosen = np.ix_(rows, columns)
        return ResponseMatrix._checked(tuple(cells[chosen] for cells in self._cells), *names)

    def as_sparse(self) -> ResponseMatrix:
        """Return the same matrix held by its observed cells alone, however many these are.

        >>> matrix = ResponseMatrix.from_array([[1, np.nan], [0, 1]])
        >>> matrix.as_sparse() == matrix, len(matrix.as_sparse().observed_cells)
        (True, 3)
        """
        return ResponseMatrix(self.agents, self.tasks, self._sparse_cells.frozen())

    @property
    def _sparse_cells(self) -> ObservedCells:
        if isinstance(self._cells, ObservedCells):
            return self._cells
        return ObservedCells.within(self.observed, *self._cells)

    def as_values(self) -> ResponseMatrix:
        """Return shares of successes as continuous values.

        >>> ResponseMatrix.from_array([[1, 0]]).as_values().is_counts
        False
        """
        if isinstance(self._cells, ObservedCells) and self.is_counts:
            shares = replace(self._cells, parts=(np.divide(*self._cells.parts),))
            return ResponseMatrix(self.agents, self.tasks, shares)
        return ResponseMatrix(self.agents, self.tasks, (self.to_numpy(),))

    # ---------------------------------------------------------------- out

    def to_polars(self) -> pl.DataFrame:
        """Return a wide polars frame: `agent`, then a column of values or shares for each task.

        >>> ResponseMatrix.from_array([[1, 0]], tasks=["t", "u"]).to_polars().columns
        ['agent', 't', 'u']
        """
        first = "agent"
        while first in self.tasks:  # a task may be called anything, "agent" too
            first += "_"
        values = pl.from_numpy(self.to_numpy(), schema=list(self.tasks)).fill_nan(None)
        return values.insert_column(0, pl.Series(first, self.agents))

    def to_pandas(self) -> pd.DataFrame:
        """Return a wide pandas frame indexed by agent.

        >>> ResponseMatrix.from_array([[1, 0]], tasks=["t", "u"]).to_pandas().shape
        (1, 2)
        """
        frame = pandas_from(self.to_polars())
        return frame.set_index(frame.columns[0])

    def to_arrow(self) -> pa.Table:
        """Return a wide arrow table: `agent`, then a column for each task.

        >>> ResponseMatrix.from_array([[1, 0]]).to_arrow().num_columns
        3
        """
        return arrow_from(self.to_polars())

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return `{agent: {task: value}}` of the observed cells.

        >>> ResponseMatrix.from_array([[1, np.nan]], ["a"], ["t", "u"]).to_dict()
        {'a': {'t': 1.0}}
        """
        cells = self._sparse_cells
        values = np.divide(*cells.parts) if self.is_counts else cells.parts[0]
        responses: dict[str, dict[str, float]] = {agent: {} for agent in self.agents}
        for row, column, value in zip(
            cells.rows.tolist(), cells.columns.tolist(), values.tolist(), strict=True
        ):
            responses[self.agents[row]][self.tasks[column]] = value
        return responses

    def save(self, path: str | Path) -> Path:
        """Write the matrix to one Parquet file, which `load` reads back unchanged.

        >>> import tempfile
        >>> matrix = ResponseMatrix.from_array([[1, np.nan]])
        >>> ResponseMatrix.load(matrix.save(Path(tempfile.mkdtemp()) / "m.parquet")) == matrix
        True
        """
        cells = self._sparse_cells
        kinds = ["successes", "trials"] if self.is_counts else ["value"]
        columns = [
            name_column("agent", self.agents, cells.rows),
            name_column("task", self.tasks, cells.columns),
            *(pl.Series(kind, part) for kind, part in zip(kinds, cells.parts, strict=True)),
        ]
        note = MatrixNote(self.agents, self.tasks)
        return save_frame(pl.DataFrame(columns), path, MATRIX_SCHEMA, note)

    @classmethod
    def load(cls, path: str | Path) -> ResponseMatrix:
        """Read what `save` wrote, unchanged."""
        other = "was not written by `ResponseMatrix.save`"
        return loaded(path, MATRIX_SCHEMA, cls._restored, other)

    @classmethod
    def _restored(cls, frame: pl.DataFrame, stored: Mapping[str, Any]) -> ResponseMatrix:
        note = checked_note(MatrixNote, stored)
        kinds = ["value"] if "value" in frame.columns else ["successes", "trials"]
        check_columns(frame, ["agent", "task", *kinds])
        for key, names in (("agent", note.agents), ("task", note.tasks)):
            kind = frame[key].dtype
            if not isinstance(kind, pl.Enum) or kind.categories.to_list() != list(names):
                raise InputError(f"It holds other {key}s than its note names. Write it again.")
        row, column = (frame[key].to_physical().to_numpy() for key in ("agent", "task"))
        for part in frame.select(kinds):
            if not part.dtype.is_numeric():
                raise InputError(f"Its column {part.name!r} holds no numbers. Write it again.")
        if frame.select("agent", "task", *kinds).null_count().sum_horizontal().item():
            raise InputError("It has cells without agent, task or number. Write it again.")
        parts = [part.to_numpy() for part in frame.select(kinds)]
        if kinds != ["value"]:
            return cls.from_cells(row, column, *parts, agents=note.agents, tasks=note.tasks)
        values = parts[0].astype(np.float64)
        check_finite(values, "response matrix")
        observed = ~np.isnan(values)
        shape = len(note.agents), len(note.tasks)
        cells = ObservedCells.of(shape, row[observed], column[observed], values[observed])
        _refuse_twice(cells, note.agents, note.tasks)
        few = few_observed(len(cells), cells.shape)
        return cls._checked(cells if few else (cells.laid_out(0, np.nan),), note.agents, note.tasks)

    # ---------------------------------------------------------------- told

    def __eq__(self, other: object) -> bool:
        """Same names in the same order, same kind, same cells."""
        if not isinstance(other, ResponseMatrix):
            return NotImplemented
        if (self.agents, self.tasks) != (other.agents, other.tasks):
            return False
        if self.is_counts != other.is_counts:
            return False
        return self._sparse_cells.equal(other._sparse_cells)

    __hash__ = None  # type: ignore[assignment]  # matrices compare by content and are too large to hash

    def __repr__(self) -> str:
        cells = self.observed_cells
        count = len(cells) if cells is not None else int(np.count_nonzero(self.observed))
        missing = len(self.agents) * len(self.tasks) - count
        kind = "continuous values"
        if self.is_counts:
            high, trials = self.most_trials, self._parts[1]
            low = int(trials[trials > 0].min()) if high else 0
            kind = f"successes of {counted(high, 'trial') if low == high else f'{low} to {high} trials'}"
        gaps = f"; {counted(missing, 'missing cell')}" if missing else ""
        agents, tasks = counted(len(self.agents), "agent"), counted(len(self.tasks), "task")
        return f"ResponseMatrix: {agents} × {tasks}, {kind}{gaps}"

    def _repr_html_(self) -> str:
        part = self.take(range(min(8, len(self.agents))), range(min(8, len(self.tasks))))
        rows = [
            [agent, *row] for agent, row in zip(part.agents, part.to_numpy().tolist(), strict=True)
        ]
        header = ["agent", *part.tasks, *(["…"] if len(self.tasks) > 8 else [])]
        return html_table(repr(self), header, rows, more=len(self.agents) - len(part.agents))


# Any: counts, or values
def _stored(cells: tuple[NDArray[Any], ...]) -> tuple[NDArray[Any], ...] | ObservedCells:
    """All cells, or the observed ones alone where a table is large and these are few."""
    last = cells[-1]
    if last.size and not any(last.strides):  # one number of trials for all
        return cells
    observed = last > 0 if len(cells) == 2 else ~np.isnan(last)
    if not few_observed(int(np.count_nonzero(observed)), last.shape):
        return cells
    return ObservedCells.within(observed, *cells)


def _compact_trials(trials: Counts) -> Counts:
    """One shared number where every cell has as many trials: a complete table then costs nothing."""
    if trials.size and bool((trials == trials.flat[0]).all()):
        return np.broadcast_to(trials.flat[0], trials.shape)
    return trials


def _refuse_twice(cells: ObservedCells, agents: Sequence[str], tasks: Sequence[str]) -> None:
    """Refuse a cell that is named more than once."""
    twice = np.flatnonzero((np.diff(cells.rows) == 0) & (np.diff(cells.columns) == 0))
    if len(twice):
        agent, task = agents[cells.rows[twice[0]]], tasks[cells.columns[twice[0]]]
        raise InputError(
            f"The cell of agent {agent!r} and task {task!r} is named twice. Add its trials up."
        )
