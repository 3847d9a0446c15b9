"""The key of a row (agent, task, item columns, run, trial): completed, coded, unique, and its labels."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from examiner.messages import InputError, RepeatedKeyError, counted, listed, shorten
from examiner.results.atari import atari_game
from examiner.results.codes import (
    Codes,
    by_first_appearance,
    compact_names,
    count_distinct,
    names_of,
    number_within,
    packed_keys,
)
from examiner.validation import check_names

ITEM_COLUMNS = ("level", "mode", "difficulty")
"""Columns that, where present, say which item of a task was played."""
JUDGES = ("judge", "grader", "rater", "annotator")
"""Columns that say who rated an attempt: another rating is no other attempt."""
LEARNS = "learns"
"""What is known of agents: whether they learn. Runs of those that do not are no learning curves."""
CHECKPOINT = "checkpoint"
"""The column that numbers the points of a log that holds no episodes: means of iterations, evaluations."""
EVALUATION = "evaluation"
"""The column that tells: true or false, or the number of the evaluation and empty while learning."""
TIMES = ("frames", "steps")
"""Columns that tell when in its run a row was observed: emulator frames, or steps of the agent."""
BESIDE_RESULTS = (*ITEM_COLUMNS, *TIMES, "run", "trial", "seed", "length", "cost")
"""Columns of numbers that say how a result came about, and are none themselves."""


class Completed(NamedTuple):
    """A frame whose key columns are all there, and what had to be guessed to get there.

    Where trials were `numbered` here, no key can stand twice.
    """

    frame: pl.DataFrame
    notes: tuple[str, ...]
    numbered: bool


def complete_keys(
    frame: pl.DataFrame, item: Sequence[str], measures: Sequence[str] = ()
) -> Completed:
    """Give every row a run and a trial, and the names their compact types.

    `run` defaults to `seed`, else to `trial`. Without a `trial` column, repeated rows of one run are
    numbered in the order they stand. Without a run either, each is a run of its own: runs that nobody
    numbered have no order, and are numbered by their measures and then their other columns, whatever
    order the rows have. Ratings by several judges are trials of one run. Whatever was guessed is said in
    the notes.

    >>> frame = pl.DataFrame({"agent": ["a", "a"], "task": ["t", "t"], "score": [1.0, 2.0]})
    >>> completed = complete_keys(frame, [])
    >>> completed.frame["trial"].to_list()
    [0, 1]
    >>> completed.notes
    ("There is no 'run' column: each repeated row of one agent and task is taken as one run, up to 2.",)
    """
    notes: list[str] = []
    frame = _named(frame)
    has_run = "run" in frame.columns or "seed" in frame.columns
    if "run" not in frame.columns and "seed" in frame.columns:
        notes.append("There is no 'run' column: each 'seed' is taken as one run.")
        frame = frame.with_columns(run=pl.col("seed"))
    keys = ["agent", "task", *item, *(["run"] if has_run else [])]
    frame = _with_keys(frame, keys[2:])
    numbered = "trial" not in frame.columns
    judge = _judge_column(frame, keys)
    if numbered and judge is not None:
        return _judged(frame, keys, judge, measures, notes)
    if not numbered:
        frame = _with_keys(frame, ["trial"])
        guessed = "There is no 'run' column: each trial is taken as one run."
    else:
        numbers = trial_numbers(
            frame, keys, () if has_run else content_columns(frame, keys, measures)
        )
        frame = frame.with_columns(trial=numbers)
        most = int(numbers.max()) + 1 if len(numbers) else 0  # type: ignore[arg-type]
        if most > 1 and has_run:
            notes.append(
                f"There is no 'trial' column: repeated rows of one agent, task and run are numbered "
                f"as trials, up to {most:,}."
            )
        guessed = (
            f"There is no 'run' column: each repeated row of one agent and task is taken as one run, "
            f"up to {most:,}."
        )
    if not has_run:
        frame = frame.with_columns(run=pl.col("trial"))
        if frame["trial"].min() != frame["trial"].max():
            notes.append(guessed)
    return Completed(frame, tuple(notes), numbered)


def _judged(
    frame: pl.DataFrame,
    keys: Sequence[str],
    judge: str,
    measures: Sequence[str],
    notes: Sequence[str],
) -> Completed:
    """Ratings of the same attempts: a judge's first ratings are one run, whose trials are the judges."""
    names = frame[judge].cast(pl.String).fill_null("").alias("trial")
    frame = compact_names(frame.with_columns(names), ["trial"])
    sentence = f"Rows that differ in the column {judge!r} are ratings of one run: they are trials, no runs."
    content = content_columns(frame, [*keys, "trial"], measures)
    if "run" in keys:
        frame = frame.with_columns(trial_numbers(frame, keys, ("trial", *content)))
    else:
        frame = frame.with_columns(run=trial_numbers(frame, [*keys, "trial"], content))
    return Completed(frame, (*notes, sentence), True)


def _judge_column(frame: pl.DataFrame, keys: Sequence[str]) -> str | None:
    """The column of judges, where there are several and it is no key."""
    names = (name for name in JUDGES if name in frame.columns and name not in keys)
    return next((name for name in names if frame[name].n_unique() > 1), None)


def content_columns(
    frame: pl.DataFrame, keys: Sequence[str], measures: Sequence[str]
) -> tuple[str, ...]:
    """Return what tells rows of one key apart, whatever their order: measures, then all other columns.

    >>> table = pl.DataFrame({"agent": ["a"], "cost": [1.0], "score": [2.0]})
    >>> content_columns(table, ["agent"], ["score"])
    ('score', 'cost')
    """
    others = [name for name in frame.columns if name not in {*keys, *measures}]
    return tuple(name for name in (*measures, *others) if is_sortable(frame[name]))


def is_sortable(column: pl.Series) -> bool:
    """Tell whether rows can be sorted by a column.

    >>> is_sortable(pl.Series([1.0])), is_sortable(pl.Series([[1.0]]))
    (True, False)
    """
    return not column.dtype.is_nested() and column.dtype != pl.Object


def trial_numbers(frame: pl.DataFrame, keys: Sequence[str], by: Sequence[str] = ()) -> pl.Series:
    """Number the rows of each key from zero, sorted by columns, and then in the order they stand.

    >>> trial_numbers(pl.DataFrame({"run": [4, 4, 5]}), ["run"]).to_list()
    [0, 1, 0]
    >>> trial_numbers(pl.DataFrame({"run": [4, 4, 5], "score": [2, 1, 0]}), ["run"], ["score"]).to_list()
    [1, 0, 0]
    """
    packed = packed_keys(frame, keys)
    if packed is None:
        ranks = frame.select(pl.struct(keys).rank("dense")).to_series().to_numpy()
        packed = ranks, int(ranks.max(initial=0)) + 1
    if count_distinct(*packed) == len(frame):
        return pl.Series("trial", np.zeros(len(frame), dtype=np.uint8))
    return pl.Series("trial", number_within(packed[0], (frame[name] for name in by)))


def item_codes(
    frame: pl.DataFrame, item: Sequence[str]
) -> tuple[Codes, tuple[tuple[object, ...], ...]]:
    """Code the (task, item columns) of each row, in order of first appearance, and list them.

    >>> frame = pl.DataFrame({"agent": ["a"] * 3, "task": ["t", "t", "u"], "level": [1, 0, 1]})
    >>> codes, items = item_codes(complete_keys(frame, ["level"]).frame, ["level"])
    >>> codes.tolist(), items
    ([0, 1, 2], (('t', 1), ('t', 0), ('u', 1)))
    """
    if not item:
        names = names_of(frame["task"])
        return frame["task"].to_physical().to_numpy(), tuple((name,) for name in names)
    packed = packed_keys(frame, ["task", *item])
    if packed is None:
        raise InputError(f"Too many different values of {listed(item)}. Choose fewer item columns.")
    codes, first_rows = by_first_appearance(*packed)
    return codes, tuple(frame.select("task", *item)[first_rows].rows())


def check_unique(frame: pl.DataFrame, item: Sequence[str]) -> None:
    """Refuse a key that stands twice, naming both rows.

    >>> frame = pl.DataFrame({"agent": ["a", "a"], "task": ["t", "t"], "trial": [0, 0]})
    >>> check_unique(complete_keys(frame, []).frame, [])
    Traceback (most recent call last):
    ...
    examiner.messages.RepeatedKeyError: Row 2 repeats the key of row 1: agent 'a', task 't', \
run '0', trial '0'. Give each attempt its own trial, or leave the trial column out to have repeats numbered.
    """
    keys = ["agent", "task", *item, "run", "trial"]
    packed = packed_keys(frame, keys)
    if packed is not None and count_distinct(*packed) == len(frame):
        return
    repeated = frame.select(keys).is_duplicated()
    if not repeated.any():
        return
    # The first row of the pair is any repeated one whose key comes again.
    rows = frame.select(keys).with_row_index("row").filter(repeated)
    again = rows.filter(~pl.struct(keys).is_first_distinct()).row(0, named=True)
    same = rows.filter(pl.all_horizontal(pl.col(key) == again[key] for key in keys))
    described = ", ".join(f"{key} {shorten(again[key])}" for key in keys)
    raise RepeatedKeyError(
        f"Row {again['row'] + 1} repeats the key of row {same['row'][0] + 1}: {described}. Give each "
        f"attempt its own trial, or leave the trial column out to have repeats numbered.",
        row=again["row"],
        other_row=same["row"][0],
        key=described,
    )


def _named(frame: pl.DataFrame) -> pl.DataFrame:
    for name in ("agent", "task"):
        many = f"{counted(frame[name].null_count(), 'row')} without one"
        fault = f"has no {name} ({many}). Every row needs an agent and a task."
        refuse_row(frame[name].is_null(), fault)
    frame = compact_names(frame, ["agent", "task"])
    for name in ("agent", "task"):
        if "" in names_of(frame[name]):
            refuse_row(frame[name] == "", f"has an empty {name} name. Give every {name} a name.")
    return frame


def refuse_row(wrong: pl.Series, said: str) -> None:
    """Refuse a table by the first of its rows that are wrong, where any is.

    >>> refuse_row(pl.Series([False, True]), "has no name. Name it.")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Row 2 has no name. Name it.
    """
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        raise InputError(f"Row {row + 1} {said}", row=row)


def _with_keys(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Key columns as whole numbers where they hold them, else as compact names; never missing."""
    fit_in_64_bits = (pl.UInt8, pl.UInt16, pl.UInt32, pl.Int8, pl.Int16, pl.Int32)
    for name in names:
        column = frame[name]
        fault = f"has no {name}. Every row needs a value there, or drop the column."
        refuse_row(column.is_null(), fault)
        if column.dtype.is_float():
            whole = column.cast(pl.Int64, strict=False)
            if (
                whole.null_count() == 0
                and (whole.cast(pl.Float64) == column.cast(pl.Float64)).all()
            ):
                frame = frame.with_columns(whole)
        elif column.dtype.is_integer() and column.dtype not in fit_in_64_bits:
            whole = column.cast(pl.Int64, strict=False)  # longer numbers stay names
            frame = frame.with_columns(column.cast(pl.String) if whole.null_count() else whole)
    return compact_names(frame, [name for name in names if not frame[name].dtype.is_integer()])


def item_labels(items: Sequence[tuple[object, ...]]) -> tuple[str, ...]:
    """Label each item `task.level…`; where that is ambiguous, with the whole tuple as JSON.

    >>> item_labels([("freeway", 0), ("freeway", 1)])
    ('freeway.0', 'freeway.1')
    >>> item_labels([("a", "1.2"), ("a.1", "2")])
    ('["a", "1.2"]', '["a.1", "2"]')
    """
    labels = tuple(".".join(str(part) for part in item) for item in items)
    if len(set(labels)) == len(labels):
        return labels
    return tuple(json.dumps([str(part) for part in item], ensure_ascii=False) for item in items)


def numbered_names(names: Sequence[str] | None, count: int, what: str) -> tuple[str, ...]:
    """Return the names given, checked, or `what 1`, `what 2`, … where there are none.

    >>> numbered_names(None, 2, "agent")
    ('agent 1', 'agent 2')
    """
    if names is None:
        return tuple(f"{what} {number}" for number in range(1, count + 1))
    if len(names) != count:
        raise InputError(f"{len(names)} {what} names for {count} {what}s. Give one each.")
    return check_names([str(name) for name in names], what)


Chosen = Literal["agent", "task", "split"]
"""What rows can be chosen by: `split` is the column that tells games for tuning from those for testing."""


def parsed_pattern(text: str) -> tuple[Chosen, str]:
    """Understand a pattern of agents, tasks or splits: what it is of, and the glob.

    >>> parsed_pattern("task:space_*")
    ('task', 'space_*')
    """
    kind, _, glob = text.partition(":")
    if kind not in ("agent", "task", "split") or not glob:
        raise InputError(
            f"Cannot tell what {shorten(text)} means. Write `agent:GLOB`, `task:GLOB` or `split:test`, "
            f"for example `task:space_*`."
        )
    return kind, glob  # type: ignore[return-value]  # mypy does not narrow by `in`


def labels_like(
    globs: Sequence[str], labels: Sequence[str], games: Sequence[str] = ()
) -> NDArray[np.bool_]:
    """Tell which labels are like any of some globs; a game's name stands for all its items.

    `games` are the tasks of labels that are items: they match under any name of the same Atari game.
    Each glob must be like some label.

    >>> labels_like(["pong"], ["pong.0", "go.0", "pong.1"], ["ALE/Pong-v5", "go", "ALE/Pong-v5"])
    array([ True, False,  True])
    """
    chosen = np.zeros(len(labels), dtype=bool)
    for glob in globs:
        like = np.array([label == glob or fnmatchcase(label, glob) for label in labels])
        if games:
            like |= [
                fnmatchcase(game, glob) or fnmatchcase(atari_game(game) or "", glob)
                for game in games
            ]
        if not like.any():
            kind = "task" if games else "agent"
            raise InputError(f"No {kind} is like {shorten(glob)}. There are {listed(labels)}.")
        chosen |= like
    return chosen
