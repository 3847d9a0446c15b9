"""Progress on standard error: a bar on a terminal after a second, else a line every half a minute."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

ProgressCallback = Callable[[str, int, int], None]

PATIENCE_SECONDS = 1.0
SECONDS_BETWEEN_LINES = 30.0


@contextmanager
def progress_bar(stage: str) -> Iterator[ProgressCallback]:
    """Give a callback (stage, done, total) that shows how far the work is.

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

    timer = threading.Timer(PATIENCE_SECONDS, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield advance
    finally:
        timer.cancel()
        timer.join()  # or the bar could start after it was stopped
        bar.stop()


class _Lines:
    """Writes a line now and then: enough for the log of a batch job."""

    def __init__(self) -> None:
        self._stage, self._first = "", 0
        self._began = self._last = time.monotonic()

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if stage != self._stage:
            self._stage, self._first, self._began = stage, done, now
        if now - self._last >= SECONDS_BETWEEN_LINES:
            self._last = now
            since = done - self._first
            left = (now - self._began) * (total - done) / since if since > 0 else math.nan
            sys.stderr.write(progress_line(stage, done, total, left) + "\n")
            sys.stderr.flush()


def progress_line(stage: str, done: int, total: int, seconds_left: float) -> str:
    """Say how far a stage is, and how long the rest takes at the pace so far.

    >>> progress_line("judging folds", 5, 20, 90.0), progress_line("reading", 0, 0, math.nan)
    ('judging folds: 5 of 20   1:30 to go', 'reading')
    """
    if total <= 0:
        return stage
    left = "" if math.isnan(seconds_left) else f"   {clock(seconds_left)} to go"
    return f"{stage}: {done:,} of {total:,}{left}"


def clock(seconds: float) -> str:
    """Say a time as hours, minutes and seconds.

    >>> clock(5025.0), clock(float("nan"))
    ('1:23:45', '?')
    """
    if math.isnan(seconds) or math.isinf(seconds):
        return "?"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
