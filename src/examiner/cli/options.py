"""The options that commands share, each declared once; a command takes whole groups of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

from examiner.cli.values import item_columns, success_of, words_of
from examiner.importers import FORMATS
from examiner.messages import InputError
from examiner.reporting import Finding, save_figures

NORMALISE = ("--normalise", "--normalize")
SUCCESS_SHARE = "Count a cell as a success if this share of its trials succeeds."
SUCCESS = (
    "Smallest score that counts as a success, in units of the normaliser you name, else of the scores as "
    "read; or 'reference' or 'random'."
)
TYPOLOGY = (
    "Kinds of tasks: a bundled classification, or a table of tasks with a column per feature."
)
REPS = "Number of resamples, for intervals and permutation tests."
USUAL_REPS = "[default: 2000, fewer for very large tables]"
COST = "Cost of an attempt: a column, or tokens_in*PRICE+tokens_out*PRICE"
LEVEL = "Level of the intervals."
GROUP = (
    "Column of groups of tasks (repository, passage, game) that are resampled as a whole; none treats "
    "tasks as independent [default: groups that are found, which a note names]."
)
WORKERS = "Number of local processes [default: one per core]."
OUTPUT = ("--output", "-o")
UPDATED = "updated in place"
"""Marks an option whose file may also be the output."""


# Any: a field
def option(default: object, meaning: str | Callable[[], str], *names: str, **more: Any) -> Any:
    """Declare an option as a field of a group: default, meaning, and its names if not the field's.

    The meaning may be a function, so that the table it lists is not imported for every command. `parse`
    reads the value from the text; `writes` and `reads` say what a path is for.

    >>> option(5, "Tasks to choose.").default
    5
    """
    return field(default=default, metadata={"meaning": meaning, "names": names, **more})


def argument(
    metavar: str, meaning: str, default: object = MISSING, *, writes: str | None = None
) -> Any:  # Any: a field
    """Declare an argument as a field of a group.

    >>> argument("GAME", "The game to play.", None).default is None
    True
    """
    return field(
        default=default, metadata={"meaning": meaning, "metavar": metavar, "writes": writes}
    )


def other_source(name: str, what: str) -> Any:  # Any: a field
    """Declare results as an option of this name, for commands whose argument is something else.

    >>> other_source("--oracle", "Results that answer").default
    ''
    """
    meaning = f"{what}: a file, folder, pattern or bundled data set."
    return option("", meaning, name, metavar="SOURCE", show_default=False, section="Options")


def normaliser_names() -> str:
    """List what `--normalise` takes.

    >>> normaliser_names()
    'human, random-only, ... auto or none.'
    """
    from examiner.scores import NORMALISERS

    return f"{', '.join(NORMALISERS)}, auto or none."


@dataclass(frozen=True)
class SourceOptions:
    """Which results are read, and how they are interpreted."""

    section: ClassVar[str] = "Reading"
    source: str = argument(
        "SOURCE", "A file, folder or pattern of results, or the name of a bundled data set."
    )
    format: str | None = option(
        None,
        f"Format of the files [default: detected from their content]: {', '.join(FORMATS)}.",
        metavar="NAME",
    )
    layout: Literal["tidy", "wide"] | None = option(
        None, "Layout of a plain table [default: detected from its header]."
    )
    tasks_are: Literal["rows", "columns"] | None = option(
        None, "Whether the tasks of a wide table are its rows or its columns."
    )
    agent: str | None = option(
        None,
        "Column of a plain table that names the agent; or =NAME if all rows are of one agent.",
        metavar="COLUMN|=NAME",
    )
    task: str | None = option(None, "Column that names the task, or =NAME.", metavar="COLUMN|=NAME")
    run: str | None = option(None, "Column that names the run, or =NAME.", metavar="COLUMN|=NAME")
    trial: str | None = option(
        None, "Column that numbers the trials of a run.", metavar="COLUMN|=NAME"
    )
    where: tuple[str, ...] = option(
        (),
        "Keep the rows of a comparison: 'split=test', 'shots>=5', 'subject=law|history', 'error=null'; "
        "may be repeated.",
        metavar="COMPARISON",
    )
    axes: str | None = option(
        None,
        "What the axes of arrays or levels of nested JSON are: checkpoints,runs; agents, tasks, episodes.",
        metavar="NAMES",
    )
    path: str | None = option(
        None, "Take names from folders, for example '{agent}/{task}_{run}/'.", metavar="TEMPLATE"
    )
    strict: bool = option(
        False, "Refuse a folder with an unreadable file instead of skipping that file."
    )
    time: str | None = option(
        None,
        "Column with the time within a run, with a factor for frames: global_step*4; or none.",
        metavar="COLUMN[*FACTOR]",
    )
    measure: tuple[str, ...] = option(
        (),
        "Column to use as a measure; may be repeated, the first is the main one. For evaluation logs: "
        "a measure, or BENCHMARK=MEASURE.",
        metavar="COLUMN",
    )
    item: tuple[str, ...] | None = option(
        None,
        "Columns that identify an item: task[,level,…]; rows that differ in others become trials.",
        metavar="COLUMNS",
        parse=item_columns,
    )
    items: str | None = option(
        None, "List of a benchmark's items, for logs that name only solved ones.", metavar="FILE"
    )
    item_text: bool = option(
        False, "Keep the first 300 characters of each item, if the logs contain it."
    )
    scales: tuple[str, ...] = option(
        (), "Bundled scales, or a table of task, random, reference.", metavar="NAME|FILE"
    )
    tasks: str | None = option(
        None, "Table of tasks: task, random, reference, direction, cost, group, ….", metavar="FILE"
    )
    agents: str | None = option(None, "Table of agents: agent, family, ….", metavar="FILE")
    keep: tuple[str, ...] = option(
        (), "Keep only matching agents or tasks: agent:GLOB or task:GLOB.", metavar="PATTERN"
    )
    drop: tuple[str, ...] = option(
        (), "Exclude matching agents or tasks: agent:GLOB or task:GLOB.", metavar="PATTERN"
    )
    memory: float | None = option(
        None,
        "GB that results may take [default: half of what is free]. Of Parquet files that need more, `fit` "
        "reads blocks of agents, and other commands a sample of agents and tasks.",
        metavar="GB",
    )
    reduce: str | None = option(
        None,
        "One value per run: last:K episodes, 'last:N checkpoints', final, final:FRAMES, at:FRAMES, auc or "
        "all [default: last:100 for logs of episodes, final for checkpoints, else all].",
        metavar="RULE",
    )
    distinct: float | None = option(
        None,
        "Drop agents that correlate above this with a better one, such as 0.99.",
        metavar="R",
    )


TUNED_ON = "Tasks that settings were tuned on, such as split:train; only the others are reported."


@dataclass(frozen=True)
class ComparisonOptions:
    """How scores are made comparable, and what counts as a success."""

    normalise: str | None = option(None, normaliser_names, *NORMALISE, metavar="NAME")
    # Any: a number or a word
    success: Any = option(None, SUCCESS, metavar="SCORE", parse=success_of)
    share: float | None = option(None, SUCCESS_SHARE, "--success-share", metavar="SHARE")


@dataclass(frozen=True)
class ScaledOptions(ComparisonOptions):
    """How the scores of agents are made comparable across tasks, and what counts as a success."""

    normalise: str | None = option("auto", normaliser_names, *NORMALISE, metavar="NAME")


@dataclass(frozen=True)
class LevelOptions:
    """How tasks are averaged to a total."""

    section: ClassVar[str] = "Averaging tasks"
    by: list[str] | None = option(
        None,
        "Columns that group tasks, outermost first: subtask, or benchmark,subtask.",
        metavar="COLUMNS",
        parse=words_of,
    )
    average: Literal["micro", "macro"] | None = option(
        None, "Equal weights for groups (macro, the default with --by) or for tasks (micro)."
    )
    weights: str | None = option(
        None,
        "Weights of tasks or groups: a table of names and weights, or a column of tasks.",
        metavar="FILE|COLUMN",
    )
    chance: str | None = option(
        None,
        "Score expected by guessing: a table of tasks or groups with their chance, or a column of tasks; "
        "scores become (x - chance) / (1 - chance).",
        metavar="FILE|COLUMN",
    )


@dataclass(frozen=True)
class Printing:
    """How the answer is printed."""

    section: ClassVar[str] = "Output"
    json: bool = option(
        False, "Print one JSON object on standard output, and nothing else.", "--json"
    )
    everything: bool = option(
        False, "Show all rows, columns and notes instead of one screen.", "--all"
    )


@dataclass(frozen=True)
class Tabled(Printing):
    """How the answer is printed: for people, or its tables for a paper or a spreadsheet."""

    to: Literal["latex", "markdown", "csv"] | None = option(
        None, "Print only the tables, with all rows: latex (booktabs), markdown or csv."
    )

    @property
    def for_people(self) -> bool:
        """Whether the answer is printed for people, with the names of the files written."""
        return not self.json and self.to is None


@dataclass(frozen=True)
class FigureOptions:
    """Where figures are written, and for which page."""

    section: ClassVar[str] = "Output"
    figures: Path | None = option(
        None, "Write every figure into this folder, for papers.", metavar="DIR", writes="figures"
    )
    figures_as: Literal["pdf", "svg", "png"] = option("pdf", "File format of the figures.")
    columns: Literal["one", "two"] = option("two", "Width of the figures, in columns of a page.")

    def write(self, findings: Sequence[Finding]) -> list[str]:
        """Write the figures of findings if a folder is given, and return their paths."""
        if self.figures is None:
            return []
        paths = save_figures(findings, self.figures, self.figures_as, self.columns)
        if not paths:
            raise InputError("There is no figure to write. Leave `--figures` out.")
        return [str(path) for path in paths]


@dataclass(frozen=True)
class Seeded(Tabled):
    """How the answer is printed, and the seed of everything random."""

    seed: int = option(0, "Seed of all random numbers; printed with the answer.", min=0)


def find_modules_here(entry: str) -> None:
    """Let `module:factory` be imported from the current folder, as modules of a plan are from its folder.

    >>> find_modules_here("my_agents:Cautious")
    >>> str(Path.cwd()) in sys.path
    True
    """
    here = str(Path.cwd())
    if ":" in entry and here not in sys.path:
        sys.path.insert(0, here)
