"""The command line: a command is options, one public call and one finding, loaded when it is called."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from importlib import import_module
from inspect import getdoc
from types import MappingProxyType
from typing import Any

import click

from examiner.messages import ExaminerWarning, InputError, nearest

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
        "flavours": "Judge agents in modes and difficulties they did not learn in.",
        "profile": "Measure what games are to an agent, by simple play.",
        "curves": "Sum up training logs in several ways, side by side.",
        "scores": "Aggregate and compare agents, with intervals.",
        "difference": "Compare two agents, or one with several, task by task.",
        "cost": "Set scores against what they cost, with the Pareto front.",
        "fit": "Fit difficulty of tasks and ability of agents.",
        "diagnose": "Say how well a fit describes tasks and agents.",
        "audit": "List the tasks that deserve a look, with why.",
        "place": "Place new agents on a stored fit or a few chosen tasks.",
        "typology": "Group tasks by kind, and say what is missing.",
        "information": "Tell what tasks tell about which agent is playing.",
        "cluster": "Gather tasks that are alike, and tell who could be crowned.",
        "examine": "Ask an agent the next best task until enough is known of it.",
        "select": "Choose a few tasks that tell what all of them would.",
        "distil": "Make a tiny version of a benchmark, with its record.",
        "compare": "Judge ways of choosing tasks on held-out agents.",
        "adds": "Say what a new task adds to those there are.",
    }
)
"""Name → help line. A command is the function of its name in the file of its name, and one line here."""


class Command(click.Command):
    """A command whose help describes its arguments."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List arguments before options."""
        from examiner.cli.parsing import Argument

        said = [each.get_help_record(ctx) for each in self.params if isinstance(each, Argument)]
        if said:
            with formatter.section("Arguments"):
                formatter.write_dl(said)
        super().format_options(ctx, formatter)


class Commands(click.Group):
    """The group of all commands, each made from its file when it is asked for.

    >>> Commands("examiner").list_commands(click.Context(click.Command("examiner")))[:2]
    ['describe', 'convert']
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name, None where there is none."""
        if cmd_name not in self.commands and cmd_name in COMMANDS:
            from examiner.cli.parsing import gathered, parameters_of

            function = getattr(import_module(f"{__name__}.{cmd_name}"), cmd_name)
            self.commands[cmd_name] = Command(
                cmd_name,
                params=parameters_of(function),
                callback=_guarded(gathered(function)),
                help=getdoc(function),
            )
        return self.commands.get(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or name a near one: click knows only those that were made already."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"No such command {args[0]!r}. {nearest(args[0], COMMANDS)}".rstrip())
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the table, which needs none of their files."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from importlib.metadata import version  # reads e-mail headers, for which help need not wait

        click.echo(f"examiner {version('examiner')}")
        ctx.exit()


app = Commands(
    "examiner",
    help="Examine your agents, and your exam.",
    no_args_is_help=True,
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_print_version,
            help="Print the version and stop.",
        )
    ],
)


def main() -> None:
    """Run the command line."""
    # Most matrices here are small: where others compute too, threads for them cost four times as much.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
        elif hasattr(getattr(sys, name), "reconfigure"):
            # A terminal without UTF-8 must not end the program.
            getattr(sys, name).reconfigure(errors="backslashreplace")
    app(prog_name="examiner")


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
            raise click.exceptions.Exit(BAD_INPUT) from None
        except BrokenPipeError:
            # The reader of our output left, as `head` does; nothing more can be said to it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise click.exceptions.Exit(1) from None
        except OSError as problem:
            _complain(
                f"Cannot print the answer: {problem.strerror or problem}. Print it elsewhere."
            )
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise click.exceptions.Exit(BAD_INPUT) from None

    return run


def _complain(sentence: str) -> None:
    from examiner.cli.advice import as_options
    from examiner.reporting.terminal import printable

    with suppress(OSError):  # nowhere to say it is no reason to end otherwise
        sys.stderr.write(f"examiner: {printable(as_options(sentence), limit=4_000)}\n")
        sys.stderr.flush()
