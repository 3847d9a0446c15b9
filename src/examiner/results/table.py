"""Results: the immutable long table of what was observed, one row per agent, item, run and trial."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from examiner.messages import InputError, counted, listed, shorten
from examiner.results.attributes import Attributes, Provenance, announce
from examiner.results.border import (
    absent_names,
    arrow_from,
    as_measure,
    check_columns,
    frame_from,
    pandas_from,
    tidy_table,
)
from examiner.results.codes import (
    Codes,
    count_distinct,
    name_column,
    names_of,
    run_numbers,
)
from examiner.results.description import Description, description, html_table
from examiner.results.keys import (
    Chosen,
    item_labels,
    labels_like,
    numbered_names,
    parsed_pattern,
    trial_numbers,
)
from examiner.results.parquet import RESULTS_SCHEMA, ResultsNote, checked_note, loaded, save_frame
from examiner.results.scale import NO_SCALES, Scales, scale_notes
from examiner.validation import check_finite, check_known, is_binary, real_numbers

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Results:
    """What agents did on tasks: an immutable table with keys, measures, scales and provenance.

    A row is one trial. Its key is agent, task, the item columns (level, mode, difficulty, …), run
    (one training seed) and trial (an attempt within a run). `tasks` are the labels of the distinct
    items; `task_names` gives the task of each, under which its scale is looked up.

    >>> results = Results.from_dict({"agent": ["dqn", "random"], "task": ["pong"] * 2, "score": [18, -20]})
    >>> results
    Results: 2 agents × 1 task, 1 run, 1 trial; measures: score
    >>> results.measure("score")
    array([ 18., -20.])
    """

    _frame: pl.DataFrame
    _task_codes: Codes
    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    items: tuple[tuple[object, ...], ...]
    item: tuple[str, ...]
    measures: tuple[str, ...]
    scales: Scales
    provenance: Provenance
    task_attributes: Attributes
    agent_attributes: Attributes

    # ---------------------------------------------------------------- in

    @classmethod
    def from_frame(
        cls,
        source: object,
        *,
        measures: Sequence[str] | None = None,
        item: Sequence[str] | None = None,
        scales: Scales | None = None,
        provenance: Provenance | None = None,
    ) -> Results:
        """Build results from a tidy pandas, polars or arrow table, or a dictionary of columns.

        The table needs `agent`, `task` and a measure; `run`, `trial`, item columns and anything else
        are kept. Guesses are warned of and stand in `notes`.

        >>> frame = pl.DataFrame({"agent": ["a", "b"], "task": ["t", "t"], "win": [True, False]})
        >>> Results.from_frame(frame).measure("win")
        array([1., 0.])
        """
        frame = frame_from(source)
        provenance = provenance or Provenance(format=type(source).__module__.partition(".")[0])
        built = assemble(frame, measures, item, provenance, scales or NO_SCALES)
        announce(built.notes, already=provenance.notes)
        return built

    @classmethod
    def from_dict(cls, columns: Mapping[str, Sequence[Any]], **options: Any) -> Results:
        """Build results from a dictionary of columns; options are those of `from_frame`.

        >>> Results.from_dict({"agent": ["a"], "task": ["t"], "score": [1.0]}).tasks
        ('t',)
        """
        options.setdefault("provenance", Provenance(format="dict"))
        return cls.from_frame(columns, **options)

    @classmethod
    def from_numpy(
        cls,
        values: ArrayLike,
        agents: Sequence[str] | None = None,
        tasks: Sequence[str] | None = None,
        *,
        measure: str = "score",
        scales: Scales | None = None,
    ) -> Results:
        """Build results from an array [agents, tasks] or [agents, tasks, runs]; NaN is not observed.

        >>> Results.from_numpy([[1.0, 2.0], [3.0, np.nan]], agents=["a", "b"]).tasks
        ('task 1', 'task 2')
        """
        array = real_numbers(values, "array")
        if array.ndim not in (2, 3):
            raise InputError(
                f"The array has shape {array.shape}. Give [agents, tasks] or [agents, tasks, runs]."
            )
        array = array[..., None] if array.ndim == 2 else array
        agents = numbered_names(agents, array.shape[0], "agent")
        tasks = numbered_names(tasks, array.shape[1], "task")
        agent, task, run = np.nonzero(~np.isnan(array))
        frame = pl.DataFrame(
            {
                "agent": name_column("agent", agents, agent),
                "task": name_column("task", tasks, task),
                "run": run,
                "trial": np.zeros_like(run),
                measure: array[agent, task, run],
            }
        )
        provenance = Provenance(format="numpy").with_notes(*absent_names(frame))
        announce(provenance.notes)
        return cls.from_frame(frame, measures=[measure], scales=scales, provenance=provenance)

    @classmethod
    def from_runs(
        cls,
        arrays: Mapping[str, ArrayLike],
        tasks: Sequence[str] | None = None,
        *,
        measure: str = "score",
        scales: Scales | None = None,
    ) -> Results:
        """Build results from one array [runs, tasks] per agent; NaN is not observed.

        >>> Results.from_runs({"dqn": [[1.0, 2.0], [3.0, 4.0]], "random": [[0.0, 0.0]]}).counts()["runs"]
        2
        """
        blocks = {
            str(agent): real_numbers(runs, f"array of {shorten(agent)}")
            for agent, runs in arrays.items()
        }
        shapes = {agent: block.shape for agent, block in blocks.items()}
        if not blocks or any(block.ndim != 2 for block in blocks.values()):
            raise InputError(
                f"The arrays have the shapes {listed(shapes.items())}. Give each agent [runs, tasks]; of "
                "[runs, tasks, checkpoints] choose one checkpoint first."
            )
        if len({shape[1] for shape in shapes.values()}) > 1:
            raise InputError(
                f"The arrays have the shapes {listed(shapes.items())}. Give every agent the same tasks "
                "in the same order, NaN where one was not observed."
            )
        runs = max(len(block) for block in blocks.values())
        values = np.full((len(blocks), next(iter(shapes.values()))[1], runs), np.nan)
        for row, block in enumerate(blocks.values()):
            values[row, :, : len(block)] = block.T
        return cls.from_numpy(values, list(blocks), tasks, measure=measure, scales=scales)

    # ---------------------------------------------------------------- what is here

    def __len__(self) -> int:
        return len(self._frame)

    @property
    def task_names(self) -> tuple[str, ...]:
        """The task of each item: `("freeway", "freeway")` for two levels of one game."""
        return tuple(str(item[0]) for item in self.items)

    @property
    def agent_codes(self) -> Codes:
        """For each row, the position of its agent in `agents`."""
        return self._frame["agent"].to_physical().to_numpy()

    @property
    def task_codes(self) -> Codes:
        """For each row, the position of its item in `tasks`."""
        return self._task_codes

    @property
    def run_codes(self) -> NDArray[np.int64]:
        """For each row, a number for its run label; runs of the same label have the same number."""
        labels = self._frame["run"].to_physical().to_numpy().astype(np.int64, copy=False)
        shifted: NDArray[np.int64] = labels - labels.min()
        return shifted

    @property
    def trial_codes(self) -> NDArray[np.int64]:
        """For each row, its trial where trials are numbered, else a number for the trial's label."""
        return self._frame["trial"].to_physical().to_numpy().astype(np.int64, copy=False)

    @property
    def run_numbers(self) -> NDArray[np.int64]:
        """For each row, a number from zero for its run of its agent on its item, as they appear."""
        return run_numbers(self._frame, ["task", *self.item])[0]

    @property
    def attributes(self) -> tuple[str, ...]:
        """The columns that are neither key nor measure."""
        columns = {"agent", "task", *self.item, "run", "trial", *self.measures}
        return tuple(name for name in self._frame.columns if name not in columns)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know: guesses, drops and doubts, one sentence each."""
        return self.provenance.notes

    def measure(self, name: str | None = None) -> NDArray[np.float64]:
        """Return one measure for every row, NaN where it was not observed; the first by default.

        >>> Results.from_dict({"agent": ["a"], "task": ["t"], "score": [1]}).measure()
        array([1.])
        """
        return self._frame[self.measure_name(name)].fill_null(np.nan).to_numpy()

    def measure_name(self, name: str | None = None) -> str:
        """Return the measure's name after checking that it is one; the first by default.

        >>> Results.from_dict({"agent": ["a"], "task": ["t"], "score": [1]}).measure_name()
        'score'
        """
        name = self.measures[0] if name is None else name
        check_known("measure", name, self.measures)
        return name

    def is_binary(self, measure: str | None = None) -> bool:
        """Tell whether a measure is made of zeros and ones, wherever it was observed.

        >>> Results.from_dict({"agent": ["a"] * 2, "task": ["t"] * 2, "win": [1, 0]}).is_binary("win")
        True
        """
        return is_binary(self.measure(measure))

    # Any: attributes are whatever the user had
    def column(self, name: str, rows: NDArray[np.integer] | None = None) -> list[Any]:
        """Return any column as a plain list, or only some of its rows.

        >>> Results.from_dict({"agent": ["a"], "task": ["t"], "score": [1], "note": ["x"]}).column("note")
        ['x']
        """
        check_known("column", name, self._frame.columns)
        column = self._frame[name]
        return (column if rows is None else column.gather(rows)).to_list()

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Return any column of numbers for every row, NaN where it is empty.

        >>> table = {"agent": ["a"], "task": ["t"], "score": [1], "frames": [400]}
        >>> Results.from_dict(table).numbers("frames")
        array([400.])
        """
        check_known("column", name, self._frame.columns)
        column = self._frame[name]
        if column.null_count() == len(column):
            return np.full(len(column), np.nan)
        return as_measure(column).fill_null(np.nan).to_numpy()

    # ---------------------------------------------------------------- changed copies

    def where(self, rows: NDArray[np.bool_] | Sequence[bool], step: str = "") -> Results:
        """Keep the rows where the mask is true; agents and tasks left without rows go too.

        So do measures that are not observed in any of the rows, as long as another is.

        >>> results = Results.from_dict({"agent": ["a", "b"], "task": ["t"] * 2, "score": [1, 2]})
        >>> results.where(results.measure() > 1).agents
        ('b',)
        """
        rows = np.asarray(rows)
        if rows.dtype != np.bool_ or rows.shape != (len(self),):
            raise InputError(
                f"Rows are chosen by {len(self):,} times true or false, one per row, not by an array of "
                f"{rows.dtype} of shape {rows.shape}."
            )
        if not rows.any():
            raise InputError("No rows are left. Keep at least one.")
        frame = self._frame.filter(pl.Series(rows))
        empty = [name for name in self.measures if frame[name].null_count() == len(frame)]
        observed = tuple(name for name in self.measures if name not in empty)
        if not empty or not observed:
            return self._rebuilt(frame, step)
        note = f"No value of {listed(empty)} is observed in what is kept: the measure is {observed[0]!r}."
        origin = self.provenance.with_notes(note)
        return replace(self, measures=observed, provenance=origin)._rebuilt(frame.drop(empty), step)

    def keeping(self, *patterns: str) -> Results:
        """Keep the agents and tasks that are like patterns, `agent:GLOB`, `task:GLOB` or `split:test`.

        Patterns of agents add up, and so do those of tasks. A task's name stands for all its items,
        under any name of the same Atari game.

        >>> results = Results.from_numpy(np.ones((3, 2)), ["sac", "ppo", "dqn"], ["pong", "go"])
        >>> kept = results.keeping("agent:sac", "agent:ppo", "task:p*")
        >>> kept.agents, kept.tasks
        (('sac', 'ppo'), ('pong',))
        """
        globs: dict[Chosen, list[str]] = {}
        for kind, glob in map(parsed_pattern, patterns):
            globs.setdefault(kind, []).append(glob)
        results = self
        for kind, wanted in globs.items():
            results = results._chosen(kind, wanted, keep=True)
        return results

    def dropping(self, *patterns: str) -> Results:
        """Leave out the agents and tasks that are like any of the patterns of `keeping`.

        >>> results = Results.from_numpy(np.ones((3, 2)), ["sac", "ppo", "dqn"], ["pong", "go"])
        >>> results.dropping("agent:*o", "agent:dqn").agents
        ('sac',)
        """
        results = self
        for kind, glob in map(parsed_pattern, patterns):
            results = results._chosen(kind, [glob], keep=False)
        return results

    def _chosen(self, kind: Chosen, globs: Sequence[str], *, keep: bool) -> Results:
        codes: NDArray[np.integer]
        if kind == "agent":
            like, codes = labels_like(globs, self.agents), self.agent_codes
        elif kind == "split":
            check_columns(self._frame, ["split"])
            names, codes = np.unique(
                self._frame["split"].fill_null("").to_numpy(), return_inverse=True
            )
            like = labels_like(globs, [str(name) for name in names])
        else:
            like, codes = labels_like(globs, self.tasks, self.task_names), self.task_codes
        if not keep and like.all():
            raise InputError(f"Every {kind} is like {shorten(globs[0])}, and none would be left.")
        words = f"{'kept' if keep else 'dropped'} {kind}s like {', '.join(map(repr, globs))}"
        return self.where((like == keep)[codes], f"{words} ({int(like.sum())})")

    def with_measure(
        self, name: str, values: NDArray[np.float64], step: str = "", notes: Sequence[str] = ()
    ) -> Results:
        """Replace or add a measure; NaN is stored as not observed.

        >>> results = Results.from_dict({"agent": ["a"], "task": ["t"], "score": [2]})
        >>> results.with_measure("score", results.measure() / 2).measure()
        array([1.])
        """
        if len(values) != len(self):
            raise InputError(f"{len(values)} values for {len(self)} rows. Give one each.")
        check_finite(values, f"measure {shorten(name)}")
        column = pl.Series(name, values, dtype=pl.Float64).fill_nan(None)
        return replace(
            self,
            _frame=self._frame.with_columns(column),
            measures=tuple(dict.fromkeys((*self.measures, name))),
            provenance=self.provenance.with_step(step).with_notes(*notes),
        )

    def with_measures(self, *names: str) -> Results:
        """Choose which columns are measures, the first being the default; the rest become attributes.

        >>> results = Results.from_dict({"agent": ["a"], "task": ["t"], "score": [2], "ticks": [9]})
        >>> results.with_measures("ticks", "score").measures
        ('ticks', 'score')
        """
        return self if names == self.measures else replace(self, measures=names)._rebuilt()

    def with_items(self, *names: str) -> Results:
        """Choose which columns, beside `task`, make an item; trials are renumbered where they fold.

        >>> table = {"agent": ["a", "a"], "task": ["t", "t"], "level": [0, 1], "trial": [0, 0],
        ...          "run": [0, 0], "score": [1, 2]}
        >>> results = Results.from_dict(table)
        >>> results.tasks, results.with_items().tasks
        (('t.0', 't.1'), ('t',))
        """
        names = tuple(name for name in names if name != "task")
        if names == self.item:
            return self
        check_columns(self._frame, names)
        frame, step = self._frame, f"items made of {', '.join(('task', *names))}"
        folded = [name for name in self.item if name not in names]
        if folded:
            frame = frame.with_columns(
                trial=trial_numbers(frame, ["agent", "task", *names, "run"], [*folded, "trial"])
            )
            step += f"; {', '.join(folded)} folded into the trials of a run"
        return replace(self, item=names)._rebuilt(frame, step)

    def with_scales(self, scales: Scales, step: str = "") -> Results:
        """Attach scales, put before those already here; notes name the tasks that get none.

        >>> from examiner.results.scale import TaskScale
        >>> results = Results.from_dict({"agent": ["a"], "task": ["t"], "score": [2]})
        >>> results.with_scales(Scales([TaskScale("t", random=0.0)])).scales.tasks
        ('t',)
        """
        scales = scales + self.scales
        notes = scale_notes(scales, self.task_names, self.measures)
        announce(notes, already=self.notes)
        provenance = self.provenance.with_step(step).with_notes(*notes)
        return replace(self, scales=scales, provenance=provenance)

    def with_attributes(self, attributes: Attributes, step: str = "") -> Results:
        """Attach what is known of tasks or agents, put before what is already here.

        >>> results = Results.from_dict({"agent": ["a"], "task": ["t"], "score": [2]})
        >>> about = Attributes.from_dicts("agent", [{"agent": "a", "family": "value"}])
        >>> results.with_attributes(about).agent_attributes.aligned(results.agents, "family")
        ('value',)
        """
        names = self.task_names if attributes.kind == "task" else self.agents
        notes = attributes.unmatched(names)
        derived = replace(self, provenance=self.provenance.with_step(step).with_notes(*notes))
        if attributes.kind == "task":
            return replace(derived, task_attributes=attributes + self.task_attributes)
        return replace(derived, agent_attributes=attributes + self.agent_attributes)

    def with_runs_reduced(
        self,
        rows: NDArray[np.intp],
        measures: Mapping[str, NDArray[np.float64]],
        reduction: str,
        step: str,
        notes: Sequence[str] = (),
    ) -> Results:
        """Keep one row for each run, with these values in the place of its trials'.

        `rows` are the rows kept, `measures` a value for each. Trials are numbered 0; a column that
        changes within a run is dropped, but for `frames` and `steps`, then those of the row kept.

        >>> table = {"agent": ["a"] * 2, "task": ["t"] * 2, "run": [0, 0], "score": [1, 3]}
        >>> results = Results.from_dict(table | {"trial": [0, 1]})
        >>> results.with_runs_reduced(np.array([1]), {"score": np.array([2.0])}, "all", "mean").to_dict()
        {'agent': ['a'], 'task': ['t'], 'run': [0], 'trial': [0], 'score': [2.0]}
        """
        numbers = self.run_numbers
        row_of_run = np.zeros(int(numbers.max()) + 1, dtype=np.int64)
        row_of_run[numbers[rows]] = rows
        row_kept = pl.Series(row_of_run[numbers])
        dropped = [
            name
            for name in self.attributes
            if name not in ("frames", "steps")
            and not self._frame[name].eq_missing(self._frame[name].gather(row_kept)).all()
        ]
        columns = [
            pl.Series(name, values, dtype=pl.Float64).fill_nan(None)
            for name, values in measures.items()
        ]
        if dropped:
            step += f"; dropped, because they change within a run: {', '.join(dropped)}"
        history = replace(self.provenance.with_step(step), training=False, reduction=reduction)
        frame = self._frame.drop(dropped)[rows].with_columns(
            *columns, trial=pl.lit(0, dtype=pl.Int64)
        )
        return replace(self, provenance=history.with_notes(*notes))._rebuilt(frame)

    def with_notes(self, *notes: str) -> Results:
        """Add sentences that a reader should see.

        >>> Results.from_dict({"agent": ["a"], "task": ["t"], "score": [2]}).with_notes("Hm.").notes
        ('Hm.',)
        """
        return replace(self, provenance=self.provenance.with_notes(*notes))

    def _rebuilt(self, frame: pl.DataFrame | None = None, step: str = "") -> Results:
        """Check the table anew, as it is or another, under the measures and items that are here."""
        return assemble(
            self._frame if frame is None else frame,
            self.measures,
            self.item,
            self.provenance.with_step(step),
            self.scales,
            self.task_attributes,
            self.agent_attributes,
        )

    # ---------------------------------------------------------------- out

    def to_polars(self) -> pl.DataFrame:
        """Return the tidy table as a polars frame, names as text.

        >>> Results.from_dict({"agent": ["a"], "task": ["t"], "score": [1]}).to_polars().columns
        ['agent', 'task', 'run', 'trial', 'score']
        """
        whole = [name for name in ("run", "trial") if self._frame[name].dtype.is_integer()]
        return self._frame.with_columns(
            pl.col("agent", "task").cast(pl.String), pl.col(whole).cast(pl.Int64)
        )

    def coded(self) -> pl.DataFrame:
        """Return the tidy table as it is held: names and numbers in few bytes.

        >>> Results.from_dict({"agent": ["a"], "task": ["t"], "score": [1]}).coded()["agent"].to_list()
        ['a']
        """
        return self._frame

    def to_pandas(self) -> pd.DataFrame:
        """Return the tidy table as a pandas frame.

        >>> Results.from_dict({"agent": ["a"], "task": ["t"], "score": [1]}).to_pandas()["agent"][0]
        'a'
        """
        return pandas_from(self.to_polars())

    def to_arrow(self) -> pa.Table:
        """Return the tidy table as an arrow table.

        >>> Results.from_dict({"agent": ["a"], "task": ["t"], "score": [1]}).to_arrow().num_rows
        1
        """
        return arrow_from(self.to_polars())

    def to_dict(self) -> dict[str, list[Any]]:  # Any: attributes are whatever the user had
        """Return the tidy table as a dictionary of columns.

        >>> Results.from_dict({"agent": ["a"], "task": ["t"], "score": [1]}).to_dict()["score"]
        [1.0]
        """
        return self.to_polars().to_dict(as_series=False)

    def save(self, path: str | Path) -> Path:
        """Write everything to one Parquet file, scales and provenance included; `load` reads it back.

        >>> import tempfile
        >>> results = Results.from_dict({"agent": ["a"], "task": ["t"], "score": [1]})
        >>> path = results.save(Path(tempfile.mkdtemp()) / "results.parquet")
        >>> Results.load(path) == results
        True
        """
        note = ResultsNote(
            self.item,
            self.measures,
            self.scales.entries,
            self.provenance,
            self.task_attributes,
            self.agent_attributes,
        )
        return save_frame(self._frame, path, RESULTS_SCHEMA, note)

    @classmethod
    def load(cls, path: str | Path) -> Results:
        """Read what `save` wrote, unchanged."""
        other = "was not written by `Results.save`. Read it with `ex.read`"
        return loaded(path, RESULTS_SCHEMA, restored, other)

    # ---------------------------------------------------------------- told

    def __eq__(self, other: object) -> bool:
        """Same rows in the same order, keys, measures, scales, attributes; provenance may differ."""
        if not isinstance(other, Results):
            return NotImplemented
        parts = ("item", "measures", "scales", "task_attributes", "agent_attributes")
        same = all(getattr(self, part) == getattr(other, part) for part in parts)
        if not same or self._frame.schema != other._frame.schema:
            return False
        return self._frame.equals(other._frame, null_equal=True)

    __hash__ = None  # type: ignore[assignment]  # tables compare by content and are too large to hash

    def counts(self) -> dict[str, int]:
        """How many agents, tasks, runs, trials and rows there are, and cells without any observation.

        Runs are the most that any cell (agent, item) has, trials the most of any run of a cell.

        >>> Results.from_dict({"agent": ["a"], "task": ["t"], "score": [1]}).counts()["missing_cells"]
        0
        """
        observed = np.any([~np.isnan(self.measure(name)) for name in self.measures], axis=0)
        run, first = run_numbers(self._frame, ["task", *self.item])
        size = len(self.agents) * len(self.tasks)
        cells = self.agent_codes.astype(np.int64) * len(self.tasks) + self.task_codes
        return {
            "agents": len(self.agents),
            "tasks": len(self.tasks),
            "runs": int(pl.Series(cells[first]).value_counts()["count"].max()),  # type: ignore[arg-type]
            "trials": int(np.bincount(run).max()),  # no trial of a run comes twice
            "rows": len(self),
            "missing_cells": size - count_distinct(cells[observed], size),
        }

    def describe(self) -> Description:
        """Say what is here: counts, measures with their ranges, names, scales, steps and notes.

        >>> Results.from_dict({"agent": ["a"], "task": ["t"], "score": [1]}).describe().rows
        1
        """
        return description(self)

    def __repr__(self) -> str:
        counts = self.counts()
        shape = (
            f"Results: {counted(counts['agents'], 'agent')} × {counted(counts['tasks'], 'task')}, "
            f"{counted(counts['runs'], 'run')}, {counted(counts['trials'], 'trial')}"
        )
        details = [f"measures: {', '.join(self.measures)}"]
        if counts["missing_cells"]:
            details.append(counted(counts["missing_cells"], "missing cell"))
        if self.scales:
            details.append(f"scales of {counted(len(self.scales.tasks), 'task')}")
        if self.notes:
            details.append(counted(len(self.notes), "note"))
        return "; ".join([shape, *details])

    def _repr_html_(self) -> str:
        head = self._frame.head(8)
        more = len(self) - len(head)
        return html_table(repr(self), head.columns, head.rows(), self.notes, more=more)


def assemble(
    frame: pl.DataFrame,
    measures: Sequence[str] | None,
    item: Sequence[str] | None,
    provenance: Provenance,
    scales: Scales = NO_SCALES,
    task_attributes: Attributes | None = None,
    agent_attributes: Attributes | None = None,
) -> Results:
    """Check a tidy frame at the border and build results from it, without warning aloud.

    >>> frame = pl.DataFrame({"agent": ["a"], "task": ["t"], "score": [1]})
    >>> assemble(frame, None, None, Provenance()).measures
    ('score',)
    """
    tidy = tidy_table(frame, measures, item)
    return Results(
        _frame=tidy.frame,
        _task_codes=tidy.task_codes,
        agents=tuple(names_of(tidy.frame["agent"])),
        tasks=item_labels(tidy.items),
        items=tidy.items,
        item=tidy.item,
        measures=tidy.measures,
        scales=scales,
        provenance=provenance.with_notes(*tidy.notes),
        task_attributes=task_attributes or Attributes("task"),
        agent_attributes=agent_attributes or Attributes("agent"),
    )


def restored(frame: pl.DataFrame, stored: Mapping[str, Any]) -> Results:  # Any: JSON values
    """Build results from a stored frame and the note stored with it.

    >>> frame = pl.DataFrame({"agent": ["a"], "task": ["t"], "score": [1.0]})
    >>> note = {"measures": ["score"], "item": [], "scales": [], "provenance": {"source": "x"}}
    >>> restored(frame, note).provenance.source
    'x'
    """
    note = checked_note(ResultsNote, stored)
    # Earlier notes did not say whose attributes they hold.
    tasks, agents = replace(note.tasks, kind="task"), replace(note.agents, kind="agent")
    scales = Scales(note.scales)
    return assemble(frame, note.measures, note.item, note.provenance, scales, tasks, agents)


def check_results(given: object) -> Results:
    """Return results as they are, and read anything else that `ex.read` takes.

    >>> check_results({"dqn": [[1.0, 2.0], [3.0, 4.0]]}).agents
    ('dqn',)
    >>> check_results("atari-dqn-family")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Results are needed here, and the str 'atari-dqn-family' is neither a \
file nor a folder. Load bundled data sets by ex.load(NAME).
    """
    if isinstance(given, Results):
        return given
    if (
        isinstance(given, str)
        and not any(letter in given for letter in "*?[")
        and not Path(given).exists()
    ):
        raise InputError(
            f"Results are needed here, and the str {shorten(given)} is neither a file nor a folder. "
            "Load bundled data sets by ex.load(NAME)."
        )
    # Reading is above this package: the exception is made when a function is given a path or a frame.
    results: Results = import_module("examiner.importers").read(given)
    return results


def reads_results(
    verb: Callable[Concatenate[Results, Parameters], Returned],
) -> Callable[Concatenate[Any, Parameters], Returned]:  # Any: all that `ex.read` takes
    """Let a function whose first argument is results take anything that `ex.read` takes.

    >>> count = reads_results(lambda results: len(results.agents))
    >>> count({"dqn": [[1.0, 2.0]], "random": [[0.0, 0.0]]})
    2
    """

    @wraps(verb)
    def read_first(
        results: Any, /, *args: Parameters.args, **options: Parameters.kwargs
    ) -> Returned:
        return verb(check_results(results), *args, **options)

    return read_first
