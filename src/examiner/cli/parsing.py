"""From groups of options to click's parameters, and back to groups when a command is called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import click

from examiner.cli.overwriting import check_outputs
from examiner.cli.pointless import check_effects

_PLAIN = {str: click.STRING, int: click.INT, float: click.FLOAT, Path: click.Path(path_type=Path)}


class Option(click.Option):
    """An option that knows the section of the help it is listed in."""

    def __init__(self, declared: list[str], section: str, **more: Any) -> None:  # Any: click's own
        super().__init__(declared, **more)
        self.section = section


class Argument(click.Argument):
    """An argument that says what it is, as options do."""

    def __init__(self, declared: list[str], meaning: str, **more: Any) -> None:  # Any: click's own
        super().__init__(declared, **more)
        self.meaning = meaning

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        """Its line in the help of the command."""
        required = "  [required]" if self.required else ""
        return self.make_metavar(ctx), f"{self.meaning}{required}"


def parameters_of(command: Callable[..., None]) -> list[click.Parameter]:
    """Spread a command's groups of options into single ones, those that must be given first.

    >>> from examiner.cli.options import Printing, SourceOptions
    >>> def count(options: SourceOptions, printing: Printing) -> None: ...
    >>> [parameter.name for parameter in parameters_of(count)][:3]
    ['source', 'format', 'layout']
    """
    parameters = [
        _parameter(field, hints[field.name], getattr(group, "section", "Options"))
        for group in _groups(command).values()
        for hints in [get_type_hints(group)]
        for field in fields(group)
    ]
    return sorted(parameters, key=lambda parameter: not parameter.required)


def gathered(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command be called with single options, which it takes in groups.

    >>> from examiner.cli.options import Printing
    >>> def say(printing: Printing) -> None: print("as JSON" if printing.json else "in words")
    >>> gathered(say)(json=True, everything=False)
    as JSON
    """
    groups = _groups(command)

    def call(**given: Any) -> None:  # Any: each option has its own type
        filled = {
            name: group(**{field.name: _plain(given[field.name]) for field in fields(group)})
            for name, group in groups.items()
        }
        check_effects(given)
        check_outputs(filled.values())
        command(**filled)

    return call


def given_words(*groups: object) -> list[str]:
    """Return the words that give these groups of options again: arguments, then all but defaults.

    >>> from examiner.cli.options import Seeded, SourceOptions
    >>> given_words(SourceOptions("runs.csv", strict=True, drop=["task:a*"]), Seeded(seed=3))
    ['runs.csv', '--strict', '--drop', 'task:a*', '--seed', '3']
    """
    arguments: list[str] = []
    options: list[str] = []
    for group in groups:
        for field in fields(group):  # type: ignore[arg-type]  # groups are dataclasses
            value, names = getattr(group, field.name), field.metadata.get("names")
            if value is None or value == field.default:
                continue
            values = [str(one) for one in (value if isinstance(value, list) else [value])]
            if names is None:
                arguments += values
                continue
            name = names[0] if names else "--" + field.name.replace("_", "-")
            options += [name] if value is True else [w for one in values for w in (name, one)]
    return [*arguments, *options]


def _groups(command: Callable[..., None]) -> dict[str, Any]:  # Any: a class of options
    return {name: kind for name, kind in get_type_hints(command).items() if kind is not NoneType}


def _plain(value: object) -> object:
    """Options that may be repeated, as a list; None where none was given."""
    return (list(value) or None) if isinstance(value, tuple) else value


def _parameter(each: Field[Any], kind: Any, section: str) -> click.Parameter:  # Any: an annotation
    """The option or argument that a field of a group is."""
    settings = {key: each.metadata[key] for key in each.metadata if key not in ("writes", "reads")}
    meaning, names = settings.pop("meaning"), settings.pop("names", None)
    section = settings.pop("section", section)
    text = meaning() if callable(meaning) else meaning
    required = each.default is MISSING
    # A default of None would stand in for an argument that must be given.
    settings |= {"required": True} if required else {"default": each.default}
    if get_origin(kind) in (Union, UnionType):
        (kind,) = (part for part in get_args(kind) if part is not NoneType)
    if names is None:
        if get_origin(kind) is list:  # as many as there are
            (kind,), settings["nargs"] = get_args(kind), -1
        return Argument([each.name], text, type=_type(kind, settings), **settings)
    declared = [each.name, *(names or ("--" + each.name.replace("_", "-"),))]
    settings = {"show_default": True, "help": text} | settings
    if kind is bool:
        return Option(declared, section, is_flag=True, **settings)
    if get_origin(kind) is list:
        (kind,), settings["multiple"] = get_args(kind), True
    return Option(declared, section, type=_type(kind, settings), **settings)


def _type(kind: Any, settings: dict[str, Any]) -> click.types.ParamType[Any]:  # Any: an annotation
    """The type that click converts a value to; the least and most are taken out of the settings."""
    if get_origin(kind) is Literal:
        return click.Choice(get_args(kind))
    ends = {name: settings.pop(name) for name in ("min", "max") if name in settings}
    if not ends:
        return _PLAIN[kind]
    between = click.IntRange(**ends) if kind is int else click.FloatRange(**ends)
    between.name = _PLAIN[kind].name  # "x is not a valid integer range" is nothing to tell a user
    return between
