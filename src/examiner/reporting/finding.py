"""Finding: one analysis as a sentence with blocks of text, facts, notes, tables and figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from examiner.answers import Column, Table
from examiner.messages import InputError, shorten
from examiner.reporting.figures.chart import Drawing
from examiner.reporting.prose import Prose, Sentence

if TYPE_CHECKING:
    from examiner.answers import Answer
    from examiner.reporting.failure import Failure
    from examiner.reporting.figures.printed import Columns

Record: TypeAlias = dict[str, Any]  # Any: JSON values


class Piece:
    """A block of a finding."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class ShownTable(Piece):
    """Some columns of an answer's table; rows at the positions in `doubtful` are not comparable.

    A folded table is opened on the page by a click on its caption, and left out of a report's JSON: it
    holds the numbers of a figure, whose data are there. `numbers` are what a spreadsheet gets instead,
    where cells hold more than one number.
    """

    table: Table
    names: tuple[str, ...]
    caption: Prose = ""
    doubtful: frozenset[int] = frozenset()
    folded: bool = False
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
    table: Table, names: Sequence[str] | None = None, caption: Prose | None = None
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
    are compared, as `compared` has it; `test` says by which test.
    """

    compared: Table | None = None
    test: str = ""


@dataclass(frozen=True, slots=True)
class TaskTable(ShownTable):
    """The tasks with their flags: on a page they can be filtered."""


@dataclass(frozen=True, slots=True)
class Text(Piece):
    """A paragraph."""

    prose: Prose


@dataclass(frozen=True, slots=True)
class Facts(Piece):
    """Pairs of what and how much."""

    pairs: tuple[tuple[str, Prose], ...]


@dataclass(frozen=True, slots=True)
class Notes(Piece):
    """Sentences a reader should not miss."""

    title: str
    items: tuple[Prose, ...]


@dataclass(frozen=True, slots=True)
class Board(Piece):
    """What a reader may try on the page: a number of tasks, or tasks picked by hand.

    `content` is what the page's script needs (see `findings.trial`); elsewhere it has nothing to show.
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


class Sides(NamedTuple):
    """What stands along the upright and the level side of a figure: "agents", "tasks" or nothing.

    Where something does, row or column k of the chart is the k-th of these names in the figure's data.
    """

    rows: str = ""
    columns: str = ""


class Drawn(Protocol):
    """The data of a figure: a named tuple."""

    def _asdict(self) -> dict[str, Any]: ...  # Any: arrays, names and numbers


@dataclass(frozen=True, slots=True)
class Figure(Piece):
    """A picture: the data behind it, its drawing, and the finding in words."""

    key: str
    drawn: Drawn
    drawing: Drawing
    caption: Prose
    description: str
    legend: Prose = ""
    narrowest: int = 0  # pixels; narrower screens scroll
    grid: Grid | None = None
    sides: Sides = field(default_factory=Sides)

    @property
    def data(self) -> dict[str, Any]:  # Any: arrays, names and numbers
        """What is drawn, by name."""
        return self.drawn._asdict()


@dataclass(frozen=True, slots=True)
class Finding:
    """One analysis: its lead says what was found, its blocks show it, its data are JSON values.

    `about` says what was looked at and with which settings, for readers who see this finding alone: a
    report says it once for all. A finding that does not apply to the results stands in a report only
    where it is asked for. `chapter` is where it stands there, and `reads` says how its first figure, or its
    table, is read. `failure` is the unexpected error that a section ended in, None of all others.
    `answer` holds the typed numbers that the finding shows, and `beside` further JSON values.

    >>> from examiner.reporting.prose import Name
    >>> Finding("ranking", "Ranking", (Name("dqn"), " leads.")).key
    'ranking'
    """

    key: str = ""
    title: str = ""
    lead: Prose = ""
    blocks: tuple[Piece, ...] = ()
    beside: Record = field(default_factory=dict)
    applies: bool = True
    about: Prose = ""
    chapter: str = ""
    reads: str = ""
    failure: Failure | None = None
    answer: Answer | None = None

    @property
    def data(self) -> Record:
        """The JSON values: those of the answer, and what stands beside them."""
        return self.beside if self.answer is None else self.answer.to_dict() | self.beside

    @property
    def folded_tables(self) -> tuple[ShownTable, ...]:
        """Its tables, to be opened by a click: the numbers behind its figures."""
        tables = (block for block in self.blocks if isinstance(block, ShownTable))
        return tuple(replace(table, folded=True) for table in tables)


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


BEWARE = "Warning"
"""The title of notes that say what to doubt."""


def noted(notes: Sequence[str], title: str = BEWARE) -> tuple[Notes, ...]:
    """Return the notes as a block, or nothing where there are none.

    >>> noted([])
    ()
    """
    return (Notes(title, tuple((Sentence(note),) for note in notes)),) if notes else ()


class NothingToTellError(InputError):
    """These results say nothing here; the message says why."""
