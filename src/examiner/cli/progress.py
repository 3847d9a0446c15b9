"""A progress bar on standard error for work that takes longer than a second."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

ProgressCallback = Callable[[str, int, int], None]

PATIENCE_SECONDS = 1.0


@contextmanager
def progress_bar(stage: str) -> Iterator[ProgressCallback]:
    """Give a callback (stage, done, total); the bar appears after a second, on a terminal only.

    >>> with progress_bar("reading") as progress:
    ...     progress("reading", 1, 2)
    """
    if not sys.stderr.isatty():
        yield lambda stage, done, total: None
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
