"""Commands start quickly: what is not needed is not imported."""

from __future__ import annotations

import subprocess
import sys

import pytest

from examiner.cli import COMMANDS

HEAVY = ("numpy", "polars", "plotly", "scipy", "rich", "jinja2", "torch", "ale_py", "gymnasium")
ROOMS = ("arena", "irt", "information", "typology", "selection", "adaptive")


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
    rooms = {name.split(".")[1] for name in loaded if name.startswith("examiner.")}
    assert rooms == {"cli", "messages"}
    assert not any(name.startswith("examiner.cli.") for name in loaded)


def test_describing_imports_no_room_that_analyses_and_draws_nothing() -> None:
    loaded = modules_after("describe", "atari-dqn-family")
    assert not {"plotly", "jinja2", "torch", "ale_py", "gymnasium"} & loaded
    rooms = {name.split(".")[1] for name in loaded if name.startswith("examiner.")}
    assert not set(ROOMS) & rooms


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_file_a_function_and_help(examiner, name: str) -> None:
    done = examiner(name, "--help")
    assert done.returncode == 0 and f"examiner {name}" in done.stdout
    assert COMMANDS[name].endswith(".") and len(COMMANDS[name]) <= 64


def test_an_unknown_command_is_answered_with_a_near_one(examiner) -> None:
    done = examiner("descrbe")
    assert done.returncode == 2 and "describe" in done.stderr
