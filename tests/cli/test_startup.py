"""Commands start quickly: what is not needed is not imported."""

from __future__ import annotations

import subprocess
import sys

import pytest

from examiner.cli import ARENA, COMMANDS, GROUPS

HEAVY = ("numpy", "polars", "plotly", "scipy", "rich", "jinja2", "torch", "ale_py", "gymnasium")
ANALYSES = ("arena", "irt", "information", "typology", "selection", "adaptive")


READING = set(COMMANDS) - {"datasets", "arena"}
"""Commands that read results."""


def modules_after(*arguments: str) -> set[str]:
    """The modules that a fresh interpreter holds when the command has ended."""
    code = (
        "import sys\nfrom examiner.cli import main\n"
        f"sys.argv = ['examiner', *{list(arguments)!r}]\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print('=====', *sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout
    return set(done.stderr.partition("===== ")[2].split())


@pytest.mark.parametrize("arguments", [("--help",), ("--version",)])
def test_help_imports_nothing_heavy_and_no_command(arguments: tuple[str, ...]) -> None:
    loaded = modules_after(*arguments)
    assert not set(HEAVY) & loaded
    packages = {name.split(".")[1] for name in loaded if name.startswith("examiner.")}
    assert packages == {"cli", "messages"}
    assert not any(name.startswith("examiner.cli.") for name in loaded)


def test_describing_imports_no_package_that_analyses_and_draws_nothing() -> None:
    loaded = modules_after("describe", "atari-dqn-family")
    assert not {"plotly", "jinja2", "torch", "ale_py", "gymnasium"} & loaded
    packages = {name.split(".")[1] for name in loaded if name.startswith("examiner.")}
    assert not set(ANALYSES) & packages


LINES = dict(COMMANDS) | {f"arena {name}": line for name, line in ARENA["Commands"].items()}


@pytest.mark.parametrize("name", LINES)
def test_every_command_has_a_file_a_function_and_help(examiner, name: str) -> None:
    done = examiner(*name.split(), "--help")
    assert done.returncode == 0 and f"examiner {name}" in done.stdout
    assert LINES[name].endswith(".") and len(LINES[name]) <= 64


def test_the_list_of_commands_is_grouped_and_fits_a_screen(examiner) -> None:
    lines = examiner("--help").stdout.splitlines()
    assert len(lines) <= 40 and max(map(len, lines)) <= 80
    assert [line for line in lines if line.endswith(":")] == [
        *(f"{group}:" for group in GROUPS),
        "Options:",
    ]


@pytest.mark.parametrize("name", [name for name in LINES if name != "arena"])
def test_help_shows_own_options_first_and_reading_last(examiner, name: str) -> None:
    lines = examiner(*name.split(), "--help").stdout.splitlines()
    sections = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert max(map(len, lines)) <= 80
    reads = "Reading:" in sections
    assert sections[-2 if reads else -1] == "Output:"
    assert reads == (name in READING) and (not reads or sections[-1] == "Reading:")
    if reads:
        assert sum(line.startswith("  --") for line in lines[lines.index("Reading:") :]) >= 16


def test_an_unknown_command_is_answered_with_a_near_one(examiner) -> None:
    done = examiner("descrbe")
    assert done.returncode == 2 and "Did you mean 'describe'?" in done.stderr


@pytest.mark.parametrize(
    ("words", "instead"),
    [
        (("difference", "a", "b"), "compare"),
        (("diagnose", "a"), "fit --check"),
        (("adds", "a"), "select --adds"),
        (("run", "plan.toml"), "arena run"),
        (("profile",), "arena profile"),
    ],
)
def test_what_another_command_does_is_answered_with_that_command(
    examiner, words: tuple[str, ...], instead: str
) -> None:
    done = examiner(*words)
    assert done.returncode == 2
    assert f"No such command {words[0]!r}. Use `examiner {instead}`." in done.stderr
