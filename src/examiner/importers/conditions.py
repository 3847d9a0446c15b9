"""Conditions that divide the rows of one agent and task, such as shots or a split, and are no repeats."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from itertools import combinations

import polars as pl

from examiner.importers.vocabulary import KEY, OTHER_MEASURES, RUN_NAME, TIME_COLUMNS
from examiner.messages import InputError, listed, shorten
from examiner.results import BESIDE_RESULTS, ITEM_COLUMNS, JUDGES, MEASURES

_REPEATS = frozenset(
    {
        *("fold", "rep", "repeat", "repetition", "replicate", "attempt", "sample", "id", "index"),
        *("episode", "epoch", "iteration", "metric", "metric_name", "measure"),
    }
)
"""Columns that number repeats; and metrics, which are refused by themselves."""


def refuse_conditions(frame: pl.DataFrame, keys: Sequence[str], measures: Sequence[str]) -> None:
    """Refuse rows of one key that a column, or two together, divide in the same way for all keys.

    Such a column has as many values in the table as a key has rows at most, and no two rows of a key have
    the same: rows differ by a setting, and their mean would answer no question. What counts from 0 or 1
    numbers repeats. Of a column of words it is enough that most keys have most of its values, and that no
    two rows of a key have the same: an agent may lack a setting.

    >>> table = {"agent": ["a", "a", "b", "b"], "shots": [0, 5, 0, 5], "acc": [0.1, 0.2, 0.3, 0.4]}
    >>> refuse_conditions(pl.DataFrame(table), ["agent"], ["acc"])
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Rows of one agent differ in 'shots' (0, 5), which is no repeat. Make ...
    """
    _refuse_names_of_records(frame, keys)
    sizes = frame.group_by(keys).len()["len"]
    if not {"run", "seed"} & set(keys) and 2 * int((sizes > 1).sum()) < len(sizes):
        _refuse_equal_names(frame, keys, measures)
    names = dividing_columns(frame, keys, measures)
    if names:
        raise _divided(frame, keys, names)


def dividing_columns(
    frame: pl.DataFrame, keys: Sequence[str], measures: Sequence[str] = ()
) -> list[str]:
    """Return the columns, one or two together, that divide the rows of all keys in the same way.

    >>> wide = pl.DataFrame({"model": ["a", "a", "b", "b"], "shots": [0, 5, 0, 5], "arc": [1, 2, 3, 4]})
    >>> dividing_columns(wide, ["model"])
    ['shots']
    """
    sizes = frame.group_by(keys).len()["len"]
    most = max(sizes, default=0)
    if most < 2 or int((sizes == most).sum()) < 2:
        return []
    counts = {
        name: frame[name].n_unique()
        for name in frame.columns
        if name not in {*keys, *measures} and _may_divide(frame[name])
    }
    repeats = [name for name in frame.columns if name.lower() in _REPEATS and name not in keys]
    for name, count in counts.items():
        if count > 1 and _is_words(frame[name]):
            for within in ([], repeats) if repeats else ([],):
                if _divides(frame, [*keys, *within], name):
                    return [name]
    names = [name for name, count in counts.items() if 1 < count <= most]
    for size in (1, 2):
        for chosen in combinations(names, size):
            product = counts[chosen[0]] * (counts[chosen[1]] if size == 2 else 1)
            if product == most and not frame.select(*keys, *chosen).is_duplicated().any():
                return [name for name in chosen if not _counts(frame[name])]
    return []


def _refuse_names_of_records(frame: pl.DataFrame, keys: Sequence[str]) -> None:
    """Refuse records of one agent and task that an object keeps under different names: no repeats."""
    if KEY not in frame.columns or KEY in keys or not _is_words(frame[KEY]):
        return
    names = frame[KEY].cast(pl.String).unique()
    if RUN_NAME.fullmatch(str(names[0])) is None and frame.select(keys).is_duplicated().any():
        raise _divided(frame, keys, [KEY])


def _refuse_equal_names(frame: pl.DataFrame, keys: Sequence[str], measures: Sequence[str]) -> None:
    """Refuse a second row of one agent and task where most have one, and a column tells the rows apart.

    It holds words, or numbers that recur as those of a setting do.
    """
    repeated = frame.filter(pl.struct(keys).is_duplicated())
    for name in repeated.columns if len(repeated) else ():
        if name in {*keys, *measures} or not (_is_words(frame[name]) or _is_setting(frame[name])):
            continue
        if (
            name not in {*_REPEATS, *JUDGES}
            and not repeated.select(*keys, name).is_duplicated().any()
        ):
            first = ", ".join(f"{key} {shorten(repeated[key][0])}" for key in keys)
            raise InputError(
                f"{len(repeated):,} of {len(frame):,} rows have the same agent and task as another row "
                f"({first}), and differ in {shorten(name)} ({_examples(repeated[name])}). If these are "
                f"repeats: `--run {shlex.quote(name)}`; if they are different tasks: `--item task,{name}`; "
                f"if they are different agents, give them different names, or keep the rows of one value "
                f"(`--where {shlex.quote(f'{name}={repeated[name][0]}')}`)."
            )


def _is_words(column: pl.Series) -> bool:
    """Whether a column holds words that are not numbers."""
    if column.dtype not in (pl.String, pl.Categorical, pl.Enum):
        return False
    values = column.cast(pl.String).unique().drop_nulls()
    return bool(values.cast(pl.Float64, strict=False).is_null().any())


def _is_setting(column: pl.Series) -> bool:
    """Whether numbers recur as those of a setting: each in as many rows as there are values, on average."""
    known = {*MEASURES, *OTHER_MEASURES, *TIME_COLUMNS}
    if column.name.lower() in known or not _may_divide(column) or _counts(column):
        return False
    return 1 < column.n_unique() <= len(column) / column.n_unique()


def _divides(frame: pl.DataFrame, keys: Sequence[str], name: str) -> bool:
    """Whether words differ within every key, recur, and most keys have most: others differ by chance."""
    rows = frame.select(*keys, name)
    if rows.is_duplicated().any() or not rows[name].is_duplicated().any():
        return False
    return len(rows) / rows.select(*keys).n_unique() >= rows[name].n_unique() / 2


def refuse_items_of_agents(frame: pl.DataFrame) -> None:
    """Refuse an item column that is of agents, and would leave agents without common tasks.

    It has one value for each agent, or words of which some agents lack some on some tasks.

    >>> table = {"agent": ["a", "b"], "task": ["t", "t"], "mode": ["open", "closed"], "score": [1, 2]}
    >>> refuse_items_of_agents(pl.DataFrame(table))
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Each agent has one value of 'mode' (open, closed): with it, agents of ...
    """
    for name in (name for name in ITEM_COLUMNS if name in frame.columns):
        values = frame.group_by("agent").agg(pl.col(name).unique())[name]
        if (values.list.len() == 1).all() and frame[name].n_unique() > 1:
            raise InputError(
                f"Each agent has one value of {name!r} ({_examples(frame[name])}): with it, agents of "
                f"different values would have no task in common. If it is of agents, leave it out of "
                f"tasks (`--item task`); if it is of tasks, say so (`--item task,{name}`)."
            )
        if _is_words(frame[name]) and _unbalanced(frame, name):
            raise InputError(
                f"Agents do not have the same values of {name!r} ({_examples(frame[name])}) on every task, "
                f"so that it may not be part of the task. If it is a setting of agents, leave it out "
                f"(`--item task`); if it is part of the task, say so (`--item task,{name}`)."
            )


def _unbalanced(frame: pl.DataFrame, name: str) -> bool:
    """Whether a task has values of a column with some agents that it does not have with others."""
    if "task" not in frame.columns or frame[name].n_unique() < 2:
        return False
    of_agent = frame.group_by("task", "agent").agg(pl.col(name).n_unique())
    of_task = frame.group_by("task").agg(pl.col(name).n_unique().alias("all"))
    both = of_agent.join(of_task, on="task")
    return bool((both[name] < both["all"]).any())


def _examples(column: pl.Series) -> str:
    values = column.unique(maintain_order=True).to_list()
    shown = ", ".join(shorten(value, 20).strip("'") for value in values[:3])
    return shown + (", …" if len(values) > 3 else "")


def _may_divide(column: pl.Series) -> bool:
    name, kind = column.name.lower(), column.dtype
    if name in {*_REPEATS, *JUDGES, *MEASURES, *BESIDE_RESULTS}:
        return False
    return not kind.is_nested() and kind != pl.Boolean and not column.null_count()


def _counts(column: pl.Series) -> bool:
    """Whether a column counts from 0 or 1."""
    if not column.dtype.is_numeric():
        return False
    values = column.unique().sort().to_list()
    return values in (list(range(len(values))), list(range(1, len(values) + 1)))


def _divided(frame: pl.DataFrame, keys: Sequence[str], names: Sequence[str]) -> InputError:
    key = " and ".join(name for name in keys if name in ("agent", "task"))
    return InputError(
        f"Rows of one {key} differ in {listed(names, limit=3)} ({_examples(frame[names[0]])}), which is no "
        f"repeat. Make each a task of its own (`--item task,{','.join(names)}`), say that it numbers runs "
        f"(`--run {shlex.quote(names[0])}`), or keep the rows of one value (`--where "
        f"{shlex.quote(f'{names[0]}={frame[names[0]][0]}')}`)."
    )
