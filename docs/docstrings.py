"""Docstrings as Markdown: doctests and equations become code blocks, commands get tables of options.

Our docstrings are written for `help()` and for pytest. Left alone, Markdown reads `>>>` as a quotation,
leaves `.. math::` as it is, and reads shapes such as [names][columns] as links.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from html import escape
from types import FunctionType, ModuleType
from typing import Any

import click
import griffe

import examiner as ex
from examiner.cli import ARENA, COMMANDS, app

_EQUATION = re.compile(r"^( *)\.\. math::[ \t]*(.*(?:\n+(?:\1[ ]+.*))*)$", re.MULTILINE)
_CODE = re.compile(r"(^```.*?^```$|`[^`\n]*`)", re.MULTILINE | re.DOTALL)
_EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)


_SHARED = ("Reading", "Output")
"""Sections of options that every command has; the page lists them once."""


class MarkdownDocstrings(griffe.Extension):
    """Rewrite each docstring once, when its object has been read."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:  # Any: griffe's context
        """Fence what Markdown would misread; add the public name of an object, or a command's options."""
        if obj.docstring is None:
            return
        text = as_markdown(obj.docstring.value)
        if obj.path == "examiner.cli.main":
            text = options_table("describe", _SHARED)
        elif command := commands().get(obj.path):
            text += options_table(command)
        elif name := public_names().get(obj.path):
            text = f"`{name}`\n\n{text}"  # searches find it, which look at no signatures
        obj.docstring.value = text


@cache
def public_names() -> dict[str, str]:
    """Where users find what a file defines.

    >>> public_names()["examiner.irt.place.place"]
    'examiner.irt.place'
    """
    found = {}
    for package in [ex, *(getattr(ex, name) for name in dir(ex))]:
        if not isinstance(package, ModuleType):
            continue
        for name in dir(package):
            thing = getattr(package, name)
            if isinstance(thing, type | FunctionType) and name[0] != "_":
                path = f"{thing.__module__}.{thing.__qualname__}"
                found.setdefault(path, f"{package.__name__}.{name}")
    return found


def commands() -> dict[str, str]:
    """The function of each command, and the words that call it.

    >>> commands()["examiner.cli.arena.run.run"]
    'arena run'
    """
    plain = {f"examiner.cli.{name}.{name}": name for name in COMMANDS if name != "arena"}
    games = (name for group in ARENA.values() for name in group)
    return plain | {f"examiner.cli.arena.{name}.{name}": f"arena {name}" for name in games}


def options_table(command: str, sections: Iterable[str] | None = None) -> str:
    """List the options of a command as a table; of these sections, or all but the shared ones.

    >>> "| <code>--size NUMBER</code> |" in options_table("information")
    True
    """
    found: click.Command | None = app
    context = click.Context(app)
    for name in command.split():
        assert isinstance(found, click.Group)
        found = found.get_command(context, name)
    assert found is not None
    rows = []
    for parameter in found.params:
        section, record = getattr(parameter, "section", None), parameter.get_help_record(context)
        listed = section not in _SHARED if sections is None else section in sections
        if section is not None and listed and record is not None:
            names, meaning = (" ".join(escape(text).split()) for text in record)
            row = f"<code>{names}</code> | {meaning}".replace("|", "&#124;")
            rows.append(f"| {row.replace(' &#124; ', ' | ', 1)} |")
    return "\n\n| option | meaning |\n|---|---|\n" + "\n".join(rows) + "\n"


def as_markdown(text: str) -> str:
    """Put doctests and equations into fences, and take brackets for brackets.

    >>> as_markdown("Shape [names][columns].")
    'Shape \\\\[names]\\\\[columns].'
    """
    text = _EQUATION.sub(lambda found: f"```latex\n{_joined(found[2])}\n```", text)
    text = _EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", text)
    parts = _CODE.split(text)  # every second part is code
    return "".join(
        part if place % 2 else part.replace("[", r"\[") for place, part in enumerate(parts)
    )


def _joined(equation: str) -> str:
    return "\n".join(line.strip() for line in equation.splitlines() if line.strip())
