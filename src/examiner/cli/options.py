"""The options commands share, each said once; a command takes whole groups of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from examiner.importers import FORMATS
from examiner.messages import InputError, shorten
from examiner.reporting.finding import Finding, save_figures

if TYPE_CHECKING:
    from examiner.scores import Success

NORMALISE = ("--normalise", "--normalize")
SUCCESS_SHARE = "Share of trials that must succeed for the cell to."
SUCCESS = (
    "What counts as success: a number in units of the normaliser you name, else of the scores as read; "
    "'reference' or 'random'."
)
TYPOLOGY = "Kinds of the tasks: a table with a column 'task' or 'game' and one a feature, or a bundled one."
REPS = "Resamples to draw, for intervals and for chance."
USUAL_REPS = "[default: 2000, fewer for very large tables]"
Parsed = TypeVar("Parsed")
OUTPUT = ("--output", "-o")
UPDATED = "updated in place"
"""Says of an option that the file it names may also be the output."""


# Any: a field
def option(default: object, meaning: str | Callable[[], str], *names: str, **more: Any) -> Any:
    """Say an option as a field of a group: its default, what it is, and its names if not the field's.

    What it is may be a function, where the table it lists is not to be loaded for every command.

    >>> option(5, "Tasks to choose.").default
    5
    """
    return field(default=default, metadata={"meaning": meaning, "names": names, **more})


def argument(
    metavar: str, meaning: str, default: object = MISSING, *, writes: str | None = None
) -> Any:  # Any: a field
    """Say an argument as a field of a group.

    >>> argument("GAME", "The game to play.", None).default is None
    True
    """
    said = {"meaning": meaning, "metavar": metavar, "writes": writes}
    return field(default=default, metadata=said)


def other_source(name: str, what: str) -> Any:  # Any: a field
    """Say results as an option of this name, where the argument of a command is something else.

    >>> other_source("--oracle", "Results that answer").default
    ''
    """
    meaning = f"{what}: a file, folder, pattern or bundled data set."
    return option("", meaning, name, metavar="SOURCE", show_default=False)


def normaliser_names() -> str:
    """List what `--normalise` takes.

    >>> normaliser_names()
    'human, random-only, ... auto or none.'
    """
    from examiner.scores import NORMALISERS

    return f"{', '.join(NORMALISERS)}, auto or none."


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """What is read, and how it is understood."""

    source: str = argument(
        "SOURCE", "A results file, folder or pattern, or the name of a bundled data set."
    )
    format: str | None = option(
        None, f"Format of the files, told from their content: {', '.join(FORMATS)}.", metavar="NAME"
    )
    layout: Literal["tidy", "wide"] | None = option(
        None, "Layout of a plain table; told from its header."
    )
    tasks_are: Literal["rows", "columns"] | None = option(
        None, "Which way a wide table lies: tasks as rows or columns."
    )
    rename: list[str] | None = option(
        None,
        "Call a column of a plain table agent, task or run: framework=agent; may be repeated.",
        metavar="COLUMN=NAME",
    )
    path: str | None = option(
        None, "Names from folders, for example '{agent}/{task}_{run}/'.", metavar="TEMPLATE"
    )
    strict: bool = option(
        False,
        "Refuse a folder with a file that cannot be read, instead of skipping it.",
        "--strict",
    )
    time: str | None = option(
        None,
        "Column that is time in a run, times a number for frames: global_step*4; or none.",
        metavar="COLUMN[*FACTOR]",
    )
    measure: list[str] | None = option(
        None,
        "Column to use as a measure; may be repeated, first is main. Of logs of evaluations: a measure, or "
        "BENCHMARK=MEASURE.",
        metavar="COLUMN",
    )
    item: str | None = option(
        None, "What makes an item: task[,level,…]; others fold into trials.", metavar="COLUMNS"
    )
    items: str | None = option(
        None,
        "List of a benchmark's items, for logs that name only what was solved.",
        metavar="FILE",
    )
    item_text: bool = option(
        False, "Keep the first 300 letters of each item, of logs that hold them.", "--item-text"
    )
    scales: list[str] | None = option(
        None, "Bundled scales, or a table of task, random, reference.", metavar="NAME|FILE"
    )
    tasks: str | None = option(
        None, "Table of tasks: task, random, reference, direction, cost, group, ….", metavar="FILE"
    )
    agents: str | None = option(None, "Table of agents: agent, family, ….", metavar="FILE")
    keep: list[str] | None = option(
        None, "Keep only agents or tasks like this: agent:GLOB or task:GLOB.", metavar="PATTERN"
    )
    drop: list[str] | None = option(
        None, "Leave out agents or tasks like this: agent:GLOB or task:GLOB.", metavar="PATTERN"
    )
    reduce: str | None = option(
        None,
        "One value a run: last:K episodes, 'last:N checkpoints', final, final:FRAMES, auc or all [default: "
        "last:100 for logs of episodes, final for checkpoints, else all].",
        metavar="HOW",
    )


@dataclass(frozen=True, slots=True)
class ComparisonOptions:
    """How scores are made comparable, and what counts as success."""

    normalise: str | None = option(None, normaliser_names, *NORMALISE, metavar="NAME")
    success: str | None = option(None, SUCCESS, metavar="WHAT")
    success_share: float | None = option(None, SUCCESS_SHARE, metavar="SHARE")


@dataclass(frozen=True, slots=True)
class Printing:
    """How the answer is printed."""

    json: bool = option(
        False, "Print one JSON object on standard output, and nothing else.", "--json"
    )


@dataclass(frozen=True, slots=True)
class Tabled(Printing):
    """How the answer is printed: for people, or its tables for a paper or a spreadsheet."""

    to: Literal["latex", "markdown", "csv"] | None = option(
        None, "Print the tables alone, all rows: latex (booktabs), markdown or csv."
    )

    @property
    def for_people(self) -> bool:
        """Whether people read the answer: what was written is then told beside it."""
        return not self.json and self.to is None


@dataclass(frozen=True, slots=True)
class FigureOptions:
    """Where figures are written, and for which page."""

    figures: Path | None = option(
        None, "Folder to write every figure into, for papers.", metavar="DIR", writes="figures"
    )
    figures_as: Literal["pdf", "svg", "png"] = option("pdf", "What figures are written as.")
    columns: Literal["one", "two"] = option("two", "How wide they are: as one column or two.")

    def write(self, findings: Sequence[Finding]) -> list[str]:
        """Write the figures of findings where a folder is named, and return where they are."""
        if self.figures is None:
            return []
        paths = save_figures(findings, self.figures, self.figures_as, self.columns)
        if not paths:
            raise InputError("There is no figure to write. Leave `--figures` out.")
        return [str(path) for path in paths]


@dataclass(frozen=True, slots=True)
class Seeded(Tabled):
    """How the answer is printed, and where everything random starts."""

    seed: int = option(0, "Seed of everything random; printed.", min=0)


def success_of(text: str | None) -> Success | None:
    """Understand `--success`: a number, or a player of the task's scale.

    >>> success_of("1.5"), success_of("reference"), success_of(None)
    (1.5, 'reference', None)
    """
    if text is None or text in ("reference", "human", "random"):
        return cast("Success | None", text)
    return parsed(
        float, text, f"Success is {shorten(text)}. Give a number, 'reference' or 'random'."
    )


def parsed(kind: Callable[[str], Parsed], text: str, complaint: str) -> Parsed:
    """Read a value from an option, or complain.

    >>> parsed(int, "few", "The size is 'few'. Give a whole number.")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: The size is 'few'. Give a whole number.
    """
    try:
        return kind(text)
    except ValueError:
        raise InputError(complaint) from None


def words_of(text: str | None) -> list[str] | None:
    """Understand a list with commas.

    >>> words_of("iqm, mean"), words_of(None)
    (['iqm', 'mean'], None)
    """
    return None if text is None else [word.strip() for word in text.split(",")]


def find_modules_here(entry: str) -> None:
    """Let `module:factory` be found in the current folder, as a plan's are found beside the plan.

    >>> find_modules_here("my_agents:Cautious")
    >>> str(Path.cwd()) in sys.path
    True
    """
    here = str(Path.cwd())
    if ":" in entry and here not in sys.path:
        sys.path.insert(0, here)
