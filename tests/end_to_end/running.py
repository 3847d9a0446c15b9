"""Commands run as a user runs them, and what must be true of every answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from click.testing import CliRunner, Result

from examiner.cli import COMMANDS, app

DATA_ARGUMENTS = ("source", "name", "classification")
"""Arguments by which commands take a data set."""


def parameters(command: str) -> list[click.Parameter]:
    """Return the arguments and options of a command."""
    built = app.get_command(click.Context(app), command.split()[0])
    assert built is not None
    return built.params


def takes_data(command: str) -> bool:
    """Tell whether the first argument of a command is a data set."""
    arguments = [each for each in parameters(command) if isinstance(each, click.Argument)]
    return bool(arguments) and arguments[0].name in DATA_ARGUMENTS


DATA_COMMANDS = [
    *(command for command in COMMANDS if takes_data(command)),
    *("fit --check", "select --judge", "select --adds"),
]


def words_of(command: str, source: object, agents: list[str], tasks: list[str]) -> list[str]:
    """Return a command with its data set and what it needs besides: a new need must be added here."""
    name, *mode = command.split()
    words = [name, str(source), *mode, *([tasks[-1]] if command == "select --adds" else [])]
    needed = {"target": ["written.csv"], "names": [agents[0], agents[-1]]}
    for each in parameters(command):
        if not each.required or each.name in DATA_ARGUMENTS:
            continue
        assert each.name in needed, f"say here what `{command}` gets as its required {each.name!r}"
        words += needed[each.name]
    return words


def run(*words: object) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(app, [str(word) for word in words])


def checked(done: Result, folder: Path, *, as_json: bool) -> dict[str, Any] | None:
    """Return the JSON of an answer; None of one for people, and where the command says why it has none."""
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code in (0, 2), (done.exit_code, done.stderr)
    if done.exit_code == 2:
        complaint = [line for line in done.stderr.splitlines() if not line.startswith("note: ")]
        assert len(complaint) == 1 and complaint[0].startswith("examiner: "), done.stderr
        assert complaint[0].rstrip().endswith((".", "?", "`")), complaint
        assert done.stdout == "" and not list(folder.iterdir())
        return None
    assert "Traceback" not in done.stderr and "Warning: " not in done.stderr, done.stderr
    if not as_json:
        assert done.stdout.strip()
        return None
    content = json.loads(done.stdout, parse_constant=_no_such_number)
    assert isinstance(content, dict) and "schema" in content
    assert content.get("failed_sections", []) == []
    return content


def _no_such_number(text: str) -> None:
    raise AssertionError(f"{text} is no JSON")
