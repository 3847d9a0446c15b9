"""The options commands share, each said once; a command takes whole groups of them."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, get_type_hints

import typer

from examiner.importers import FORMATS


class Layout(StrEnum):
    """How a plain table is laid out."""

    tidy = "tidy"
    wide = "wide"


class Orientation(StrEnum):
    """Whether the tasks of a wide table are its rows or its columns."""

    rows = "rows"
    columns = "columns"


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """What is read, and how it is understood."""

    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="A results file, folder or pattern, or the name of a bundled data set.",
        ),
    ]
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="NAME",
            help=f"Format of the files, told from their content: {', '.join(FORMATS)}.",
        ),
    ] = None
    layout: Annotated[
        Layout | None,
        typer.Option("--layout", help="Layout of a plain table; told from its header."),
    ] = None
    tasks_are: Annotated[
        Orientation | None,
        typer.Option("--tasks-are", help="Which way a wide table lies: tasks as rows or columns."),
    ] = None
    path: Annotated[
        str | None,
        typer.Option(
            "--path",
            metavar="TEMPLATE",
            help="Names from folders, for example '{agent}/{task}_{run}/'.",
        ),
    ] = None
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            metavar="COLUMN",
            help="Column to use as a measure; may be repeated, first is main.",
        ),
    ] = None
    item: Annotated[
        str | None,
        typer.Option(
            "--item",
            metavar="COLUMNS",
            help="What makes an item: task[,level,…]; others fold into trials.",
        ),
    ] = None
    scales: Annotated[
        list[str] | None,
        typer.Option(
            "--scales",
            metavar="NAME|FILE",
            help="Bundled scales, or a table of task, random, reference.",
        ),
    ] = None
    tasks: Annotated[
        str | None,
        typer.Option(
            "--tasks",
            metavar="FILE",
            help="Table of tasks: task, random, reference, direction, cost, group, ….",
        ),
    ] = None
    agents: Annotated[
        str | None,
        typer.Option("--agents", metavar="FILE", help="Table of agents: agent, family, …."),
    ] = None
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            metavar="PATTERN",
            help="Keep only agents or tasks like this: agent:GLOB or task:GLOB.",
        ),
    ] = None
    drop: Annotated[
        list[str] | None,
        typer.Option(
            "--drop",
            metavar="PATTERN",
            help="Leave out agents or tasks like this: agent:GLOB or task:GLOB.",
        ),
    ] = None
    reduce: Annotated[
        str | None,
        typer.Option(
            "--reduce",
            metavar="HOW",
            help="One value a run: last:K episodes, final:FRAMES, auc or all "
            "[default: last:100 for training logs, else all].",
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class ComparisonOptions:
    """How scores are made comparable, and what counts as success."""

    normalise: Annotated[
        str | None,
        typer.Option(
            "--normalise",
            "--normalize",
            metavar="NAME",
            help="human, random-only, z-score, min-max, rank, log, or none.",
        ),
    ] = None
    success: Annotated[
        str | None,
        typer.Option(
            "--success",
            metavar="WHAT",
            help="What counts as success, after --normalise: a number or 'reference'.",
        ),
    ] = None
    success_share: Annotated[
        float | None,
        typer.Option(
            "--success-share",
            metavar="SHARE",
            help="Share of trials that must succeed for the cell to.",
        ),
    ] = None


JsonFlag = Annotated[
    bool, typer.Option("--json", help="Print one JSON object on standard output, and nothing else.")
]
SeedOption = Annotated[
    int, typer.Option("--seed", min=0, help="Seed of everything random; printed.")
]


def flattened(command: Callable[..., None]) -> Callable[..., None]:
    """Spread a command's option groups into single options, and gather them again when it is called.

    >>> def count(options: SourceOptions, json: JsonFlag = False) -> None: ...
    >>> list(inspect.signature(flattened(count)).parameters)[:3]
    ['source', 'format', 'layout']
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {  # Any: a class of options
        name: kind for name, kind in hints.items() if dataclasses.is_dataclass(kind)
    }
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name in groups:
            parameters += _options_of(groups[name])
        else:
            parameters.append(parameter.replace(annotation=hints[name], kind=_KEYWORD))

    @functools.wraps(command)
    def call(**given: Any) -> None:  # Any: each option has its own type
        for name, group in groups.items():
            fields = [field.name for field in dataclasses.fields(group)]
            given[name] = group(**{field: given.pop(field) for field in fields})
        command(**given)

    # Arguments without a default come first, as Python wants them.
    parameters.sort(key=lambda parameter: parameter.default is not inspect.Parameter.empty)
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call


_KEYWORD = inspect.Parameter.KEYWORD_ONLY


def _options_of(group: Any) -> list[inspect.Parameter]:  # Any: a dataclass
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            _KEYWORD,
            annotation=hints[field.name],
            default=(
                inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default
            ),
        )
        for field in dataclasses.fields(group)
    ]
