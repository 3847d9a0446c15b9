"""Stopping a run by hand, by a batch system or by closing the terminal: cleanly, with a one-line note."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

import click

from examiner.cli.output import print_notes

_ENDINGS = ("SIGINT", "SIGTERM", "SIGHUP")


class _Stopped(KeyboardInterrupt):
    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


@contextmanager
def stopped_in_order(target: Path) -> Iterator[None]:
    """End what is played on Ctrl-C, SIGTERM or SIGHUP: with a note and the shells' exit code.

    The target is a folder of ledgers, or a table that is written row by row.

    A signal that is ignored, as `nohup` has it, stays ignored. Once one has come, all are ignored until the
    program ends: a second one must not interrupt the last commit of the ledger, or change the exit code.

    >>> with stopped_in_order(Path("pilot")):
    ...     print("playing")
    playing
    """
    try:
        with _answered():
            yield
    except KeyboardInterrupt as stopped:
        kept = (
            f"all {'games' if target.is_file() else 'episodes'} so far are kept. The same command goes on "
            f"with the rest."
            if target.is_file() or any(target.glob("*.sqlite"))
            else "nothing had been played yet."
        )
        with suppress(OSError):  # the terminal may be what went
            print_notes([f"stopped; {kept}"])
        number = stopped.number if isinstance(stopped, _Stopped) else signal.SIGINT
        # as shells have it: 130 after Ctrl-C
        raise click.exceptions.Exit(128 + number) from None


@contextmanager
def _answered() -> Iterator[None]:
    """Raise the signals that end a program as an interruption here; only the main thread can."""
    before = {}
    stopping = False
    if threading.current_thread() is threading.main_thread():
        for number in (getattr(signal, name) for name in _ENDINGS if hasattr(signal, name)):
            if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                before[number] = signal.getsignal(number)

    def stop(number: int, _: FrameType | None) -> None:
        nonlocal stopping
        stopping = True
        for other in before:
            signal.signal(other, signal.SIG_IGN)
        raise _Stopped(number)

    try:
        for number in before:
            signal.signal(number, stop)
        yield
    finally:
        if not stopping:
            for number, handler in before.items():
                signal.signal(number, handler)
