"""Advice in messages, as options: `success=1.0` in Python is `--success 1.0` on the command line."""

from __future__ import annotations

import ast
import re
import shlex
from types import MappingProxyType

_OPTIONS = MappingProxyType(
    {
        name: f"--{name.replace('_', '-')}"
        for name in (
            *(
                "agent",
                "by",
                "choose_on",
                "cost",
                "coverage",
                "deviations",
                "folds",
                "group",
                "item",
                "measure",
            ),
            *("model", "must_not", "normalise", "reduce", "size", "success", "target", "time"),
        )
    }
    | {"dropping": "--drop", "keeping": "--keep", "normaliser": "--normalise", "to": "--set"}
    | {"with_scales": "--scales"}
)
"""Arguments, functions and methods → the option that does the same."""
_CODE = re.compile(r"`([^`]+)`")


def as_options(sentence: str) -> str:
    """Replace Python code in backticks by the options that do the same; other code stays.

    >>> as_options('Say what a success is (`recipe=Recipe(normaliser="human", success=1.0)`).')
    'Say what a success is (`--normalise human --success 1.0`).'
    >>> as_options('Look at fewer tasks (`results.keeping("task:NAME")`), or name points (`frames=[...]`).')
    'Look at fewer tasks (`--keep task:NAME`), or name points (`frames=[...]`).'
    """
    return _CODE.sub(lambda code: f"`{_options(code[1]) or code[1]}`", sentence)


def _options(code: str) -> str:
    try:
        tree = ast.parse(f"f({code})", mode="eval")
    except SyntaxError:
        return ""
    words: list[str] = []
    for node in ast.walk(tree):
        match node:
            case ast.keyword(arg=str(name), value=value):
                values = [value]
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), args=values):
                pass
            case _:
                continue
        if name in _OPTIONS:
            words += [_OPTIONS[name], *_words(values)]
    return " ".join(words)


def _words(values: list[ast.expr]) -> list[str]:
    """The values that are written out, as one word of a command; `...` stands for any."""
    constants = [value for value in values if isinstance(value, ast.Constant)] or [
        part for value in values for part in ast.walk(value) if isinstance(part, ast.Constant)
    ]
    values_given = [constant.value for constant in constants if constant.value is not ...]
    texts = ["none" if value is None else str(value) for value in values_given]
    return [shlex.quote(",".join(texts))] if texts else []
