"""What commands print: a finding or one JSON object, notes, and progress."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from examiner.cli.advice import as_options
from examiner.cli.options import Printing, Seeded, Tabled
from examiner.datasets import DATASETS, card
from examiner.messages import NO_VALUE_AT, InputError
from examiner.reporting import (
    Finding,
    everything,
    one_object,
    print_line,
    printable,
    screen,
)

if TYPE_CHECKING:
    from rich.console import Group

    from examiner.arena import Standing, Watcher
    from examiner.results import Results

ProgressCallback = Callable[[str, int, int], None]

SECONDS_BETWEEN_STANDINGS = 60.0
"""Enough for the log of a batch job."""
JOBS_SHOWN = 20


def show(
    finding: Finding,
    printing: Printing,
    kind: str = "",
    *,
    read: Results | None = None,
    notes: Sequence[str] = (),
    **beside: object,
) -> None:
    """Print an answer: one screen for people, its tables for a paper, or its data as one JSON object.

    `kind` names the JSON object of a finding without an answer. `read` are the results that were analysed:
    their source and notes are part of the JSON. `score_unit` is the unit of scores, printed above the
    tables. Notes from the card of a bundled data set are in the JSON, and are printed by `describe` only.

    >>> answer = Finding("f", "F", ("Found.",), beside={"mean": float("nan")})
    >>> show(answer, Printing(json=True), "f", size=2)
    {"schema": "examiner.f/1", "mean": null, "notes": [], "size": 2}
    """
    answer = finding.answer
    all_notes = dict.fromkeys(
        (
            *(() if read is None else read.notes),
            *notes,
            *(() if answer is None else answer.all_notes),
        )
    )
    unit, to = beside.get("score_unit"), printing.to if isinstance(printing, Tabled) else None
    if printing.json:
        about: dict[str, Any] = {"seed": printing.seed} if isinstance(printing, Seeded) else {}
        about |= {} if read is None else {"source": read.provenance.source}
        about["notes"] = [as_options(note) for note in all_notes]
        schema = f"examiner.{kind}/1" if answer is None or kind else answer.schema
        print_json(schema, finding.data | about | beside)
        return
    cards = _card_notes()
    for_people = [as_options(note) for note in all_notes if note not in cards]
    if to is not None:
        from examiner.reporting import written_tables  # for papers only

        text = written_tables(finding, to)
        if not text:
            raise InputError("There is no table in this answer to print. Leave `--to` out.")
        sys.stdout.write(text + "\n")
        print_notes((*(() if unit is None else (f"Scores: {unit}",)), *for_people))
        return
    if unit is not None:
        finding = replace(finding, blocks=(f"Scores: {unit}", *finding.blocks))
    print_notes([note for note in for_people if note.startswith(NO_VALUE_AT)])
    for_people = [note for note in for_people if not note.startswith(NO_VALUE_AT)]
    if printing.everything:
        lines = everything(finding)
        shown_notes = [f"note: {printable(note, limit=2_000)}" for note in for_people]
    else:
        lines, shown_notes = screen(finding, for_people)
    for line in lines:
        print_line(line)
    for line in shown_notes:
        sys.stderr.write(line + "\n")


def _card_notes() -> set[str]:
    """The notes from the cards of the bundled data sets that a command other than `describe` reads."""
    context = click.get_current_context(silent=True)
    if context is None or context.info_name == "describe":
        return set()
    names = context.params.values()
    given = {name for name in names if isinstance(name, str) and name in DATASETS}
    return {note for name in given for note in card(name).notes}


def print_json(schema: str, content: dict[str, Any]) -> None:  # Any: JSON values
    """Print one JSON object that begins with its schema.

    >>> print_json("examiner.example/1", {"mean": float("nan")})
    {"schema": "examiner.example/1", "mean": null}
    """
    sys.stdout.write(one_object(schema, content) + "\n")


def print_notes(notes: Sequence[str]) -> None:
    """Print notes on standard error, one a line.

    >>> print_notes([])
    """
    for note in notes:
        sys.stderr.write(f"note: {printable(as_options(note), limit=2_000)}\n")


def print_warning(sentence: str) -> None:
    """Print a warning about an answer that is incomplete on standard error.

    >>> print_warning("The section tasks failed.")
    """
    sys.stderr.write(f"examiner: warning: {printable(sentence, limit=2_000)}\n")


@contextmanager
def progress_bar(stage: str) -> Iterator[ProgressCallback]:
    """Give a callback (stage, done, total) that shows how far the work is, on standard error.

    A terminal gets a bar after a second, anything else a line every half a minute.

    >>> with progress_bar("reading") as progress:
    ...     progress("reading", 1, 2)
    """
    if not sys.stderr.isatty():
        yield _Lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(stage, total=None)

    def advance(stage: str, done: int, total: int) -> None:
        bar.update(task, description=stage, completed=done, total=total)

    timer = threading.Timer(1.0, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield advance
    finally:
        timer.cancel()
        timer.join()  # or the bar could start after it was stopped
        bar.stop()


class _Lines:
    """Writes a line every 30 seconds: enough for the log of a batch job."""

    def __init__(self) -> None:
        self._stage, self._first = "", 0
        self._began = self._last = time.monotonic()

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if stage != self._stage:
            self._stage, self._first, self._began = stage, done, now
        if now - self._last >= 30.0:
            self._last = now
            since = done - self._first
            left = (now - self._began) * (total - done) / since if since > 0 else math.nan
            sys.stderr.write(progress_line(stage, done, total, left) + "\n")
            sys.stderr.flush()


def progress_line(stage: str, done: int, total: int, seconds_left: float) -> str:
    """Return the progress of a stage, and the time left at the pace so far.

    >>> progress_line("judging folds", 5, 20, 90.0), progress_line("reading", 0, 0, math.nan)
    ('judging folds: 5 of 20   1:30 to go', 'reading')
    """
    if total <= 0:
        return stage
    left = "" if math.isnan(seconds_left) else f"   {clock(seconds_left)} to go"
    return f"{stage}: {done:,} of {total:,}{left}"


def clock(seconds: float) -> str:
    """Return a time as hours, minutes and seconds.

    >>> clock(5025.0), clock(float("nan"))
    ('1:23:45', '?')
    """
    if math.isnan(seconds) or math.isinf(seconds):
        return "?"
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


@contextmanager
def live_table() -> Iterator[Watcher]:
    """Give a watcher that shows the progress of a run: a table on a terminal, else a line every minute.

    A run continues if its terminal is closed: output that cannot be written is dropped.

    >>> from examiner.arena.runner import Standing
    >>> with live_table() as watcher:
    ...     watcher(Standing(10, 3, 1, (), 40, 80_000, 5_000.0, 0.3, 90.0))
    """
    if not sys.stderr.isatty():
        last = time.monotonic()

        def write(standing: Standing) -> None:
            nonlocal last
            if time.monotonic() - last >= SECONDS_BETWEEN_STANDINGS:
                last = time.monotonic()
                with suppress(OSError):
                    sys.stderr.write(standing_line(standing) + "\n")
                    sys.stderr.flush()

        yield write
        return
    from rich.console import Console
    from rich.live import Live

    live = Live(console=Console(stderr=True), auto_refresh=False, transient=True)

    def draw(standing: Standing) -> None:
        with suppress(OSError):
            live.update(drawn(standing), refresh=True)

    with suppress(OSError):
        live.start()
    try:
        yield draw
    finally:
        with suppress(OSError):
            live.stop()


def standing_line(standing: Standing) -> str:
    """Return the progress of a run in one line.

    >>> from examiner.arena.runner import Standing
    >>> standing_line(Standing(10, 3, 1, (), 40, 80_000, 5_000.0, 0.3, 90.0))
    '3 of 10 jobs done, 1 failed   40 episodes   80,000 frames   5,000 frames/s   30 %   1:30 to go'
    """
    failed = f", {standing.failed:,} failed" if standing.failed else ""
    return (
        f"{standing.done:,} of {standing.jobs:,} jobs done{failed}   {standing.episodes:,} episodes   "
        f"{standing.frames:,} frames   {standing.frames_per_second:,.0f} frames/s   "
        f"{100 * standing.share:.0f} %   {clock(standing.seconds_left)} to go"
    )


def drawn(standing: Standing) -> Group:
    """Return the table of jobs being played and the line above it.

    >>> from examiner.arena.runner import Standing
    >>> from rich.console import Console
    >>> Console(width=100).print(drawn(Standing(10, 3, 1, (), 40, 80_000, 5_000.0, 0.3, 90.0)))
    3 of 10 jobs done, 1 failed   40 episodes   80,000 frames   5,000 frames/s   30 %   1:30 to go
    <BLANKLINE>
    """
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    if standing.playing:
        for name in ("agent", "game"):
            table.add_column(name)
        for name in ("seed", "episodes", "frames", "done", "score"):
            table.add_column(name, justify="right")
    for job in standing.playing[:JOBS_SHOWN]:
        table.add_row(
            Text(printable(job.agent)),
            Text(printable(job.game)),
            *(f"{job.seed:,}", f"{job.episodes:,}", f"{job.frames:,}", f"{job.share:.0%}"),
            printable(job.score),
        )
    more = len(standing.playing) - JOBS_SHOWN
    last_line = [Text(f"… and {more:,} more")] if more > 0 else []
    return Group(Text(standing_line(standing)), table, *last_line)
