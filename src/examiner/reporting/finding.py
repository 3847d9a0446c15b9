"""Finding: one analysis as a sentence with blocks: paragraphs, facts, notes, tables and figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from examiner.answers import Column, Table
from examiner.messages import InputError, shorten
from examiner.reporting.cells import column_numbers
from examiner.reporting.figures.chart import Drawing
from examiner.reporting.prose import named

if TYPE_CHECKING:
    from examiner.answers import Answer
    from examiner.reporting.failure import Failure
    from examiner.reporting.figures.printed import Columns

Record: TypeAlias = dict[str, Any]  # Any: JSON values


@dataclass(frozen=True, slots=True)
class ShownTable:
    """Some columns of an answer's table; `numbers` are what a spreadsheet gets where cells hold several."""

    table: Table
    names: tuple[str, ...]
    caption: str = ""
    numbers: Table | None = None

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that are shown."""
        return tuple(self.table.columns[name] for name in self.names)

    @property
    def rows(self) -> list[tuple[Any, ...]]:  # Any: as the column declares
        """The plain values that are shown, row by row."""
        values = self.table.to_dict()
        return list(zip(*(values[name] for name in self.names), strict=True))

    def __len__(self) -> int:
        return len(self.table)


def shown_table(
    table: Table, names: Sequence[str] | None = None, caption: str | None = None
) -> ShownTable:
    """Return a table of an answer as a block, by default with all its columns.

    >>> table = Table.of([Column("task", "name", "Task")], {"task": ["pong"]})
    >>> shown_table(table).rows
    [('pong',)]
    """
    return ShownTable(
        table,
        tuple(table.columns if names is None else names),
        table.caption if caption is None else caption,
    )


@dataclass(frozen=True, slots=True)
class RankedTable(ShownTable):
    """The agents, best first, with the comparisons of the best of them in pairs.

    On a page the mean of each agent is drawn with its interval in its row, and two agents that are ticked
    are compared, as `compared` has it; `test` says by which test. Rows at the positions in `doubtful` are
    not comparable with the others.
    """

    doubtful: frozenset[int] = frozenset()
    compared: Table | None = None
    test: str = ""


@dataclass(frozen=True, slots=True)
class TaskTable(ShownTable):
    """The tasks with their flags: on a page they can be filtered."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Pairs of what and how much."""

    pairs: tuple[tuple[str, str], ...]


WARNING = "Warning"
"""The title of notes that say what to doubt."""


@dataclass(frozen=True, slots=True)
class Notes:
    """Sentences a reader should not miss."""

    items: Sequence[str]
    title: str = WARNING

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True, slots=True)
class Board:
    """What a reader may try on the page: a number of tasks, or tasks picked by hand.

    `content` is what the page's script needs (see `board.board_of`); elsewhere it has nothing to show.
    """

    content: Record
    title: str


class SortableAxis(NamedTuple):
    """One side of a grid: what stands there, in full, and the orders a reader may choose from."""

    what: str
    names: tuple[str, ...]
    orders: Mapping[str, Sequence[int]]


class Grid(NamedTuple):
    """What a reader can do with a heat map: sort its sides, and read its details on hover.

    `details` names the entries of the cells' `customdata`, in their order.
    """

    rows: SortableAxis
    columns: SortableAxis
    details: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture: the data behind it, its drawing, and the finding in words.

    `rows` and `columns` say what stands along its sides, "agents", "tasks" or nothing: row or column k of
    the chart is then the k-th of these names in the data.
    """

    key: str
    data: Mapping[str, Any]  # Any: arrays, names and numbers
    drawing: Drawing
    caption: str
    description: str
    legend: str = ""
    narrowest: int = 0  # pixels; narrower screens scroll
    grid: Grid | None = None
    rows: str = ""
    columns: str = ""


Block: TypeAlias = str | ShownTable | Facts | Notes | Board | Figure | None
"""A paragraph, or another part of a finding; nothing, where there is none."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One analysis: its lead says what was found, its blocks show it, its data are JSON values.

    The lead is the headline of the answer where no other is given; empty blocks are left out. Names that
    users chose are marked in sentences (`prose.named`). `about` says what was looked at and with which
    settings, for readers who see this finding alone: a report says it once for all. A finding that does not
    apply to the results stands in a report only where it is asked for. `chapter` is where it stands there,
    and `reads` says how its first figure, or its table, is read. `failure` is the unexpected error that a
    section ended in, None of all others. `answer` holds the typed numbers that the finding shows, and
    `beside` further JSON values.

    >>> Finding("ranking", "Ranking", "Nobody leads.", ["", Notes([])]).blocks
    ()
    """

    key: str = ""
    title: str = ""
    lead: str = ""
    blocks: Sequence[Block] = ()
    beside: Record = field(default_factory=dict)
    applies: bool = True
    about: str = ""
    chapter: str = ""
    reads: str = ""
    failure: Failure | None = None
    answer: Answer | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "blocks", tuple(filter(None, self.blocks)))
        if not self.lead and self.answer is not None:
            object.__setattr__(self, "lead", self.answer.headline)

    @property
    def data(self) -> Record:
        """The JSON values: those of the answer, and what stands beside them."""
        return self.beside if self.answer is None else self.answer.to_dict() | self.beside


def finding_of(answer: Answer, title: str = "") -> Finding:
    """Return an answer as a finding, which the page, the terminal and Markdown show.

    >>> from examiner.answers import StoredAnswer
    >>> finding_of(StoredAnswer("examiner.example/1", "dqn leads.")).lead
    'dqn leads.'
    """
    facts = []
    for name, scalar in answer.scalars.items():
        value = scalar.value
        if isinstance(value, bool):
            value = "yes" if value else "no"
        if isinstance(value, float):
            (value,) = column_numbers([value])
        if value is not None:
            facts.append((name.replace("_", " "), named(f"{value} {scalar.unit}".rstrip())))
    blocks = (
        Facts(tuple(facts)) if facts else None,
        *map(shown_table, answer.tables.values()),
        Notes(answer.all_notes),
    )
    return Finding(answer.kind, title, blocks=blocks, answer=answer)


def save_figures(
    findings: Iterable[Finding], folder: str | Path, kind: str = "pdf", columns: Columns = "two"
) -> tuple[Path, ...]:
    """Write the figures of findings into a folder, which is made where there is none.

    >>> save_figures([Finding("ranking", "Ranking", "Nobody leads.")], "figures")
    ()
    """
    from examiner.reporting.figures.printed import ENDINGS, save_printed  # for papers only

    drawn = [block for finding in findings for block in finding.blocks if isinstance(block, Figure)]
    ending = f".{kind.lower().lstrip('.')}"
    if ending not in ENDINGS:
        raise InputError(
            f"Figures cannot be written as {kind!r}. Choose one of {', '.join(e[1:] for e in ENDINGS)}."
        )
    if not drawn:
        return ()
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(
            f"Cannot make the folder {shorten(folder, 200)}: {problem.strerror}. Name another."
        ) from None
    return tuple(
        save_printed(figure.drawing, folder / f"{figure.key}{ending}", columns) for figure in drawn
    )
