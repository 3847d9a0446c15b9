"""From groups of options to click's parameters, and back to groups when a command is called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import click
from click.core import ParameterSource

from examiner.cli.effects import check_effects
from examiner.cli.overwriting import check_outputs

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

    def get_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Its word in the line of usage: in brackets where it may be left out."""
        metavar = self.make_metavar(ctx)
        return [metavar if self.required else f"[{metavar}]"]

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
        for group in groups_of(command).values()
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
    groups = groups_of(command)

    def call(**given: Any) -> None:  # Any: each option has its own type
        check_effects(given)
        filled = {
            name: group(**{field.name: _value(field, given[field.name]) for field in fields(group)})
            for name, group in groups.items()
        }
        check_outputs(filled.values())
        command(**filled)

    return call


def typed_words(context: click.Context) -> list[str]:
    """Return the arguments and options of a call, but those that say where and how the answer is written.

    >>> from examiner.cli import app
    >>> words = ["runs.csv", "--strict", "--drop", "task:a*", "--seed", "3", "--json"]
    >>> typed_words(app.get_command(click.Context(app), "describe").make_context("describe", words[:4]))
    ['runs.csv', '--strict', '--drop', 'task:a*']
    """
    arguments: list[str] = []
    options: list[str] = []
    for parameter in context.command.params:
        name, value = parameter.name or "", context.params.get(parameter.name or "")
        typed = context.get_parameter_source(name) == ParameterSource.COMMANDLINE
        is_output = getattr(parameter, "section", "") == "Output" and name != "seed"
        if not typed or is_output or "--output" in parameter.opts:
            continue
        values = [str(one) for one in (value if isinstance(value, tuple) else [value])]
        if isinstance(parameter, Argument):
            arguments += values
        else:
            word = parameter.opts[0]
            options += [word] if value is True else [w for one in values for w in (word, one)]
    return [*arguments, *options]


def groups_of(command: Callable[..., None]) -> dict[str, Any]:  # Any: a class of options
    """Return the groups of options that a command takes.

    >>> from examiner.cli.describe import describe
    >>> [group.__name__ for group in groups_of(describe).values()]
    ['SourceOptions', 'Tabled']
    """
    return {name: kind for name, kind in get_type_hints(command).items() if kind is not NoneType}


def _value(each: Field[Any], given: Any) -> Any:  # Any: as the field declares
    """The value of an option, read from its text where the field says how."""
    parse = each.metadata.get("parse")
    return given if parse is None or given is None else parse(given)


def _parameter(each: Field[Any], kind: Any, section: str) -> click.Parameter:  # Any: an annotation
    """The option or argument that a field of a group is."""
    own = ("writes", "reads", "parse")
    settings = {key: each.metadata[key] for key in each.metadata if key not in own}
    meaning, names = settings.pop("meaning"), settings.pop("names", None)
    section = settings.pop("section", section)
    text = meaning() if callable(meaning) else meaning
    required = each.default is MISSING
    # A default of None would stand in for an argument that must be given.
    settings |= {"required": True} if required else {"default": each.default}
    several = each.default == () or get_origin(kind) is tuple
    if "parse" in each.metadata:
        kind = str
    elif several or get_origin(kind) in (Union, UnionType):
        kind = next(part for part in get_args(kind) if part is not NoneType)
    if names is None:
        if several:  # as many as there are
            settings["nargs"] = -1
        return Argument([each.name], text, type=_type(kind, settings), **settings)
    declared = [each.name, *(names or ("--" + each.name.replace("_", "-"),))]
    settings = {"show_default": True, "help": text, "multiple": several} | settings
    if kind is bool:
        return Option(declared, section, is_flag=True, **settings)
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
