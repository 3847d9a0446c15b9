"""The command line: a command is options, one public call and one answer, imported when it is called."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from enum import IntEnum
from functools import wraps
from importlib import import_module
from inspect import getdoc
from types import MappingProxyType
from typing import Any

import click

from examiner.messages import ExaminerWarning, InputError, nearest


class ExitStatus(IntEnum):
    """What the exit status of a command says; 0 is success."""

    SOME_JOBS_FAILED = 1
    BAD_INPUT = 2
    CONDITION_MET = 3  # set by the user, as with `compare --fail-if worse`


Listing = Mapping[str, Mapping[str, str]]
"""Heading → command → its help line."""

GROUPS: Listing = MappingProxyType(
    {
        "Look": {
            "describe": "Show what a table of results contains and what is missing.",
            "report": "Write a page about agents and tasks.",
            "datasets": "List the bundled data sets, or show one in detail.",
            "convert": "Write results in another format, layout or unit.",
        },
        "Agents": {
            "scores": "Aggregate and rank agents, with intervals.",
            "compare": "Compare one agent with others, task by task.",
            "curves": "Summarise training logs in several ways, side by side.",
            "cost": "Compare scores with costs, and show the Pareto front.",
        },
        "Tasks": {
            "fit": "Fit the difficulty of tasks and the ability of agents.",
            "information": "Show how much each task reveals about which agent is playing.",
            "audit": "List the flagged tasks, with the reasons.",
            "cluster": "Cluster similar tasks, and show who wins on which.",
            "typology": "Group tasks by kind, and list the kinds that are missing.",
        },
        "New agent": {
            "place": "Place new agents on a stored fit or on a few selected tasks.",
            "examine": "Give an agent the best next task until its ability is known.",
        },
        "Shorten": {
            "select": "Select a few tasks that predict the score on all tasks.",
            "distil": "Make a tiny version of a benchmark, with its validation.",
        },
        "Play": {
            "arena": "Play games under a stated protocol: run, probe and more.",
        },
    }
)
"""A command is the function of its name in the file of its name, and one line here."""

COMMANDS = MappingProxyType(
    {name: line for group in GROUPS.values() for name, line in group.items()}
)

ARENA: Listing = MappingProxyType(
    {
        "Commands": {
            "run": "Play a plan of agents and games, and store every episode.",
            "probe": "Measure what an agent loses to sticky actions.",
            "flavours": "Evaluate agents in modes and difficulties not trained in.",
            "profile": "Measure the properties of games by simple play.",
            "design": "Search variants of tasks for one that adds information.",
        }
    }
)

_OTHER_NAMES = MappingProxyType(
    {
        "difference": "compare",
        "rank": "scores",
        "adds": "select --adds",
        "judge": "select --judge",
        "validate": "select --judge",
        "diagnose": "fit --check",
        **{name: f"arena {name}" for name in ARENA["Commands"]},
    }
)
"""What somebody may type → the command that does it."""


class Command(click.Command):
    """A command whose help shows its arguments and its own options before the shared ones."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List arguments, then options by section: those of output and of reading come last."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            is_argument = isinstance(parameter, click.Argument)
            section = "Arguments" if is_argument else getattr(parameter, "section", "Output")
            if record is not None:
                sections.setdefault(section, []).append(record)
        last = [name for name in ("Output", "Reading") if name in sections]
        for name in [*(name for name in sections if name not in last), *last]:
            if sections[name]:
                with formatter.section(name):
                    formatter.write_dl(sections[name])


class Commands(click.Group):
    """A group of commands, each built from its file when it is called.

    >>> Commands("examiner", GROUPS).list_commands(click.Context(click.Command("examiner")))[:2]
    ['describe', 'report']
    """

    def __init__(
        self, name: str, listing: Listing, package: str = __name__, **settings: Any
    ) -> None:  # Any: click's own
        super().__init__(name, no_args_is_help=True, **settings)
        self.listing, self.package = listing, package

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names, in the order of the listing."""
        return [name for group in self.listing.values() for name in group]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name, None where there is none."""
        if cmd_name not in self.commands and cmd_name in self.list_commands(ctx):
            module = f"{self.package}.{cmd_name}"
            if cmd_name == "arena":
                help_text = "Play games under a stated protocol, and store every episode."
                self.commands[cmd_name] = Commands(cmd_name, ARENA, module, help=help_text)
            else:
                self.commands[cmd_name] = _built(getattr(import_module(module), cmd_name))
        return self.commands.get(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or suggest one: click knows only those that were built already."""
        name, names = args[0], self.list_commands(ctx)
        if name not in names and not name.startswith("-"):
            if self.package == __name__ and name in _OTHER_NAMES:
                ctx.fail(f"No such command {name!r}. Use `examiner {_OTHER_NAMES[name]}`.")
            ctx.fail(f"No such command {name!r}. {nearest(name, names)}".rstrip())
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands before the options."""
        self.format_commands(ctx, formatter)
        click.Command.format_options(self, ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by group, which needs none of their files."""
        widest = max(map(len, self.list_commands(ctx)))
        for title, group in self.listing.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), line) for name, line in group.items()])


def _built(function: Callable[..., None]) -> click.Command:
    from examiner.cli.parsing import gathered, parameters_of

    return Command(
        function.__name__,
        params=parameters_of(function),
        callback=_guarded(gathered(function)),
        help=getdoc(function),
    )


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from importlib.metadata import version  # reads e-mail headers, for which help need not wait

        click.echo(f"examiner {version('examiner')}")
        ctx.exit()


app = Commands(
    "examiner",
    GROUPS,
    help="Examine your agents, and your exam.",
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_print_version,
            help="Print the version and exit.",
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
            raise click.exceptions.Exit(ExitStatus.BAD_INPUT) from None
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
            raise click.exceptions.Exit(ExitStatus.BAD_INPUT) from None

    return run


def _complain(sentence: str) -> None:
    from examiner.cli.advice import as_options
    from examiner.reporting import printable

    with suppress(OSError):  # nowhere to say it is no reason to end otherwise
        sys.stderr.write(f"examiner: {printable(as_options(sentence), limit=4_000)}\n")
        sys.stderr.flush()
