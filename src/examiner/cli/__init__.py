"""The command line: a command is options, one public call and one finding, loaded when it is called."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import wraps
from importlib import import_module
from types import MappingProxyType
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from examiner.wording import ExaminerWarning, InputError

BAD_INPUT = 2
"""Exit code for anything the user can put right."""

COMMANDS = MappingProxyType(
    {
        "describe": "Say what a table of results holds, and what is missing.",
        "convert": "Write results in another format, layout or unit.",
        "datasets": "List the bundled data sets, or show one's card.",
        "report": "Write a page about agents and tasks.",
        "run": "Play a plan of agents and games, and keep every episode.",
        "probe": "Say what an agent loses to sticky actions.",
        "curves": "Sum up training logs in several ways, side by side.",
        "scores": "Aggregate and compare agents, with intervals.",
        "fit": "Fit difficulty of tasks and ability of agents.",
        "place": "Place new agents on a stored fit or a few chosen tasks.",
        "typology": "Group tasks by kind, and say what is missing.",
        "information": "Tell what tasks tell about which agent is playing.",
        "cluster": "Gather tasks that are alike, and tell who could be crowned.",
        "examine": "Ask an agent the next best task until enough is known of it.",
        "select": "Choose a few tasks that tell what all of them would.",
        "compare": "Judge ways of choosing tasks on held-out agents.",
        "adds": "Say what a new task adds to those there are.",
    }
)
"""Name → help line. A command is the function of its name in the file of its name, and one line here."""

RENAMED = MappingProxyType(
    {
        ("report", "--classification"): "--typology",
        ("examine", "--save"): "--output",
        ("examine", "--costs"): "--cost",
        ("select", "--groups"): "--families",
        ("compare", "--groups"): "--families",
    }
)
"""Options of earlier versions, and what they are called today."""


class Command(TyperCommand):
    """A command that answers options of earlier versions with their names of today."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # Any: typer's own
        """Refuse a renamed option before any other mistake is looked for."""
        for word in args:
            option = word.partition("=")[0]
            new = RENAMED.get((self.name or "", option))
            if new is not None:
                _complain(f"`{option}` has another name now. Say `{new}`.")
                raise typer.Exit(BAD_INPUT)
        return super().parse_args(ctx, args)


class LazyCommands(Mapping[str, Any]):  # Any: typer's own class of commands
    """The commands by name, each made from its file when it is asked for.

    >>> list(LazyCommands())[:2]
    ['describe', 'convert']
    """

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            if name not in COMMANDS:
                raise KeyError(name)
            from examiner.cli.options import flattened

            function = getattr(import_module(f"{__name__}.{name}"), name)
            own = typer.Typer(add_completion=False, rich_markup_mode=None)
            own.command(name, cls=Command)(_guarded(flattened(function)))
            self._made[name] = get_command(own)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class Commands(TyperGroup):
    """The group of all commands; its help needs none of their files."""

    def __init__(self, **settings: Any) -> None:  # Any: typer's own
        super().__init__(**settings)
        self.commands = LazyCommands()  # type: ignore[assignment]  # nothing is ever added

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # Any: typer's own
        """List the commands from the table."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


app = typer.Typer(
    cls=Commands,
    help="Examine your agents, and your exam.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command line."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
        elif hasattr(getattr(sys, name), "reconfigure"):
            # A terminal without UTF-8 must not end the program.
            getattr(sys, name).reconfigure(errors="backslashreplace")
    app()


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # reads e-mail headers, for which help need not wait

        typer.echo(f"examiner {version('examiner')}")
        raise typer.Exit


@app.callback()
def _root(
    show_version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_print_version, help="Print the version and stop."
        ),
    ] = False,
) -> None: ...


def _guarded(command: Callable[..., None]) -> Callable[..., None]:
    """Turn bad input into one sentence and exit code 2; notes are printed, not warned."""

    @wraps(command)
    def run(**options: Any) -> None:  # Any: each option has its own type
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ExaminerWarning)
                # Overflow in scores near the largest number ends as "not known", which is printed.
                warnings.simplefilter("ignore", RuntimeWarning)
                command(**options)
                sys.stdout.flush()
        except InputError as problem:
            _complain(str(problem))
            raise typer.Exit(BAD_INPUT) from None
        except BrokenPipeError:
            # The reader of our output left, as `head` does; nothing more can be said to it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(1) from None
        except OSError as problem:
            _complain(
                f"Cannot print the answer: {problem.strerror or problem}. Print it elsewhere."
            )
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(BAD_INPUT) from None

    return run


def _complain(sentence: str) -> None:
    from examiner.telling.terminal import printable

    with suppress(OSError):  # nowhere to say it is no reason to end otherwise
        sys.stderr.write(f"examiner: {printable(sentence, limit=4_000)}\n")
        sys.stderr.flush()
