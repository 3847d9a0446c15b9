"""The command line: parse, call the public API, print; one command a file."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from importlib.metadata import version
from typing import Annotated, Any

import typer

from examiner.cli.cluster import cluster
from examiner.cli.compare import compare
from examiner.cli.convert import convert
from examiner.cli.curves import curves
from examiner.cli.datasets import datasets
from examiner.cli.describe import describe
from examiner.cli.examine import examine
from examiner.cli.fit import fit
from examiner.cli.information import information
from examiner.cli.options import flattened
from examiner.cli.output import printable
from examiner.cli.place import place
from examiner.cli.probe import probe
from examiner.cli.report import report
from examiner.cli.run import run
from examiner.cli.scores import scores
from examiner.cli.select import select
from examiner.cli.typology import typology
from examiner.wording import ExaminerWarning, InputError

BAD_INPUT = 2
"""Exit code for anything the user can put right."""

app = typer.Typer(
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
    with suppress(OSError):  # nowhere to say it is no reason to end otherwise
        sys.stderr.write(f"examiner: {printable(sentence, limit=4_000)}\n")
        sys.stderr.flush()


for _command in (
    describe,
    convert,
    datasets,
    report,
    run,
    probe,
    curves,
    scores,
    fit,
    place,
    typology,
    information,
    cluster,
    examine,
    select,
    compare,
):
    app.command()(_guarded(flattened(_command)))
