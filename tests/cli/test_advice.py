"""Advice of the numeric packages is Python; the command line shows it as options."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import click
import pytest

import examiner
from examiner.cli import COMMANDS, app
from examiner.cli.advice import _OPTIONS, as_options

NUMERIC_PACKAGES = ("scores", "irt", "information", "typology", "selection", "adaptive")
SOURCES = [
    path
    for package in NUMERIC_PACKAGES
    for path in (Path(examiner.__path__[0]) / package).rglob("*.py")
]


@pytest.mark.parametrize(
    ("advice", "shown"),
    [
        ('Fit with `item=["task"]`.', "Fit with `--item task`."),
        ('`folds="loo"` takes longer.', "`--folds loo` takes longer."),
        ("Allow less (`coverage=...`).", "Allow less (`--coverage`)."),
        ('Use `ex.reduce(results, "last:1 checkpoints")`.', "Use `--reduce 'last:1 checkpoints'`."),
        (
            'Try `ex.normalise(results.with_scales(ex.load("atari-human-random")), "human")`.',
            "Try `--normalise human --scales atari-human-random`.",
        ),
        ("Other code (`fold_of(benchmark, rows)`, `not code`) stays.", None),
    ],
)
def test_python_in_backticks_is_shown_as_options(advice: str, shown: str | None) -> None:
    assert as_options(advice) == (shown or advice)


def test_advice_names_options_that_exist() -> None:
    context = click.Context(app)
    commands = [app.get_command(context, name) for name in COMMANDS]
    options = {option for command in commands for each in command.params for option in each.opts}
    assert set(_OPTIONS.values()) <= options


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: "/".join(path.parts[-3:]))
def test_no_command_line_option_is_named_in_a_numeric_package(path: Path) -> None:
    texts = [
        node.value
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    assert not [text for text in texts if re.search(r"(?<![\w-])--[a-z]", text)]
