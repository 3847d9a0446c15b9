"""Tables beside the results: scales, costs and kinds of tasks, families of agents; read and attached."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

from examiner.importers.files import open_source
from examiner.importers.text_tables import TextTable
from examiner.importers.vocabulary import AGENT_COLUMNS, TASK_COLUMNS
from examiner.messages import InputError, listed, shorten
from examiner.results import Attributes, Classification, Results, Scales

SCALE_COLUMNS = ("measure", "random", "reference", "human", "direction", "source")
"""Columns of a table of tasks that make scales; all others are attributes."""
ATTRIBUTE_COLUMNS = ("group", "paper_group", "source", "note", "notes", "comment")
"""Columns of a classification that describe tasks but are no features."""


class TaskFile(NamedTuple):
    """What a table of tasks holds: scales where it gives scores or directions, and the rest."""

    scales: Scales
    attributes: Attributes


def attach(
    results: Results,
    *,
    scales: Sequence[str | Path] | Mapping[str, Scales] = (),
    tasks: str | Path | None = None,
    agents: str | Path | None = None,
) -> Results:
    r"""Attach what tables beside the results say of their tasks and agents.

    `scales` are files, or scales under the names that are kept in the results' steps; later ones go
    before earlier ones, and those of the table of `tasks` before all. Scales are of the first measure
    where they name none.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "tasks.csv"
    >>> _ = path.write_text("task,random,human,cost\npong,-20.7,14.6,2\n")
    >>> results = attach(Results.from_numpy([[18.0]], ["dqn"], ["pong"]), tasks=path)
    >>> results.scales.lookup("pong").reference, results.task_attributes.numbers(["pong"], "cost")
    (14.6, array([2.]))
    """
    measure = results.measures[0]
    if not isinstance(scales, Mapping):
        scales = {str(path): read_scales(path, measure) for path in scales}
    found = Scales()
    for known in scales.values():
        found = known + found
    if tasks is not None:
        table = read_tasks(tasks, measure)
        results = results.with_attributes(table.attributes, step=f"tasks from {tasks}")
        found = table.scales + found
    if len(found):  # all at once, so that only tasks without any scale are named
        step = f"scales from {', '.join(scales)}" if scales else ""
        results = results.with_scales(found, step=step)
    if agents is not None:
        results = results.with_attributes(read_agents(agents), step=f"agents from {agents}")
    return results


def read_tasks(path: str | Path, measure: str = "score") -> TaskFile:
    r"""Read a table with `task` and any of random, reference (or human), direction, cost, group, ….

    Rows that name no measure are of the one given. A task may stand in several rows, one for each
    measure; what they say of it otherwise must agree.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "tasks.csv"
    >>> _ = path.write_text("task,random,human,cost,group\npong,-20.7,14.6,2,paddle\nchess,,,5,board\n")
    >>> table = read_tasks(path)
    >>> table.scales.lookup("pong").reference, table.scales.lookup("chess") is None
    (14.6, True)
    >>> table.attributes.aligned(["chess", "pong"], "group")
    ('board', 'paddle')
    """
    rows = _rows(path, "task")
    scaled = [row for row in rows if any(row.get(name) for name in SCALE_COLUMNS[1:-1])]
    with _named(path, "tasks"):
        scales = _scales(scaled, str(path), measure)
        attributes = Attributes.from_dicts("task", _merged(rows), what="table")
        _check_cost(attributes)
    return TaskFile(scales, attributes)


def read_agents(path: str | Path) -> Attributes:
    r"""Read a table with `agent` (or algorithm, model, …) and anything known of each: family, ….

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "agents.csv"
    >>> _ = path.write_text("algorithm,family\ndqn,value\nppo,policy\n")
    >>> read_agents(path).aligned(["ppo"], "family")
    ('policy',)
    """
    rows = _rows(path, "agent")
    with _named(path, "agents"):
        return Attributes.from_dicts("agent", rows, what="table")


def read_scales(path: str | Path, measure: str = "score") -> Scales:
    r"""Read scales from a table with `task`, `random`, `reference` (or `human`), `direction`, `measure`.

    Rows that name no measure are of the one given.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "scales.csv"
    >>> _ = path.write_text("task,random,human\npong,-20.7,14.6\n")
    >>> read_scales(path).lookup("pong").reference
    14.6
    """
    rows = _rows(path, "task")
    with _named(path, "scales"):
        return _scales(rows, str(path), measure)


def read_numbers(path: str | Path, what: str, levels: Sequence[str] = ()) -> dict[str, float]:
    r"""Read one number (`what`: weight, chance) for each task, or for each group of these `levels`.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "weights.csv"
    >>> _ = path.write_text("subtask,weight\nlaw,2\nart,1\n")
    >>> read_numbers(path, "weight", ["subtask"])
    {'law': 2.0, 'art': 1.0}
    """
    text, header = _opened(path)
    number = next((name for name in (what, f"{what}s") if name in header), None)
    grouped = [name for name in map(str.lower, levels) if name in header]
    names = grouped or [name for name in ("group", *TASK_COLUMNS) if name in header][:1]
    if number is None or not names:
        wanted = " or ".join(dict.fromkeys((*levels, "task")))
        raise InputError(
            f"{shorten(path, 200)} is no table of names and numbers: its columns are {listed(header)}. "
            f"Give a column {wanted} and a column {what!r}."
        )
    found: dict[str, float] = {}
    for row in _records(text, header):
        name = "/".join(row[level] for level in names)
        if name in found:
            raise InputError(f"{shorten(name)} stands twice in {shorten(path, 200)}. Keep one.")
        try:
            found[name] = float(row[number])
        except ValueError:
            raise InputError(
                f"The {what} of {shorten(name)} is {shorten(row[number])}. Give a number."
            ) from None
    return found


def read_classification(path: str | Path) -> Classification:
    r"""Read a table of kinds, with `task` (or `game`, …) and one column a feature.

    Columns named group, paper_group, source, note, notes or comment are kept beside, as attributes, and
    so is whatever begins with `measured.`, as in the tables of `examiner arena profile`.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "kinds.csv"
    >>> _ = path.write_text("game,genre,note\npong,paddle,the first\n")
    >>> kinds = read_classification(path)
    >>> kinds.tasks, kinds.features, kinds.attributes["note"]
    (('pong',), ('genre',), ('the first',))
    """
    rows = _rows(path, "task")
    attributes = [
        column
        for column in rows[0]
        if column in ATTRIBUTE_COLUMNS or column.startswith("measured.")
    ]
    if len(rows[0]) == 1 + len(attributes):
        raise InputError(
            f"{shorten(path, 200)} says nothing of its tasks. Give a column for each feature, beside "
            f"{listed(rows[0])}."
        )
    with _named(path, "classification"):
        columns = {column: [row[column] for row in rows] for column in rows[0]}
        return Classification.from_dict(columns, attributes=attributes, source=str(path))


@contextmanager
def _named(path: str | Path, what: str) -> Iterator[None]:
    """Let errors about what a table holds name the table."""
    try:
        yield
    except InputError as problem:
        raise InputError(f"Cannot use the {what} in {shorten(path, 200)}: {problem}") from None


def _rows(path: str | Path, kind: Literal["task", "agent"]) -> list[dict[str, str]]:
    """The rows of a table whose key column may go by several names."""
    text, header = _opened(path)
    quoted = shorten(path, 200)
    known = TASK_COLUMNS if kind == "task" else AGENT_COLUMNS
    key = next((name for name in known if name in header), None)
    if key is None:
        raise InputError(
            f"{quoted} has no column {kind!r}; found {listed(header, limit=20)}. Name the {kind} of "
            f"each row in a column {kind!r}."
        )
    # Only one column names the task: `env` beside `game` says something of it.
    names = [kind if column == key else column for column in header]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"{quoted} has two columns {shorten(twice)}. Give each its own name.")
    rows = _records(text, names)
    if not rows:
        raise InputError(f"{quoted} holds no {kind}s. Give a row for each {kind}.")
    return rows


def _opened(path: str | Path) -> tuple[TextTable, list[str]]:
    """A table whose lines are of one width, and its header in small letters."""
    text = TextTable.of(open_source(path))
    text.check_widths()
    return text, [column.strip().lower() for column in text.header]


def _records(text: TextTable, names: Sequence[str]) -> list[dict[str, str]]:
    records = [record for _, record in list(text.records())[1:] if record]
    return [dict(zip(names, map(str.strip, record), strict=True)) for record in records]


def _scales(rows: Sequence[Mapping[str, str]], source: str, measure: str) -> Scales:
    scales = Scales.from_dicts(
        {"source": source, "measure": measure}
        | {name: value for name, value in row.items() if value}
        for row in rows
    )
    seen: set[tuple[str, str]] = set()
    for scale in scales:
        if (scale.task, scale.measure) in seen:
            raise InputError(
                f"The task {shorten(scale.task)} has two scales for the measure "
                f"{shorten(scale.measure)}. Keep one of them."
            )
        seen.add((scale.task, scale.measure))
    return scales


def _merged(rows: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """One row for each task, without what belongs to its scale."""
    merged: dict[str, dict[str, str]] = {}
    for row in rows:
        rest = {name: value for name, value in row.items() if name not in SCALE_COLUMNS}
        known = merged.setdefault(row["task"], rest)
        for name, value in rest.items():
            if value and known.get(name) and known[name] != value:
                raise InputError(
                    f"The {name} of the task {shorten(row['task'])} is {shorten(known[name])} in one "
                    f"row and {shorten(value)} in another. Keep one of them."
                )
            known[name] = known.get(name) or value
    return list(merged.values())


def _check_cost(attributes: Attributes) -> None:
    costs = attributes.numbers(attributes.names, "cost")
    for name, cost in zip(attributes.names, costs, strict=True):
        if cost < 0:  # NaN, an unknown one, is not
            raise InputError(
                f"The cost of the task {shorten(name)} is {cost:g}. Give a number of at least 0."
            )
