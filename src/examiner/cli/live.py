"""How a run stands, on standard error: a live table on a terminal, else a line every minute."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from examiner.arena.running.standing import Standing, Watcher
from examiner.cli.output import printable
from examiner.cli.progress import clock

if TYPE_CHECKING:
    from rich.console import Group

_JOBS_SHOWN = 20
SECONDS_BETWEEN_LINES = 60.0


@contextmanager
def live_table() -> Iterator[Watcher]:
    """Give a watcher that shows how a run stands.

    >>> with live_table() as watcher:
    ...     watcher(Standing(10, 3, 1, (), 40, 80_000, 5_000.0, 0.3, 90.0))
    """
    if not sys.stderr.isatty():
        yield _Lines()
        return
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), auto_refresh=False, transient=True) as live:
        yield lambda standing: live.update(drawn(standing), refresh=True)


class _Lines:
    """Writes a line every minute: enough for the log of a batch job."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def __call__(self, standing: Standing) -> None:
        if time.monotonic() - self._last >= SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            sys.stderr.write(line(standing) + "\n")
            sys.stderr.flush()


def line(standing: Standing) -> str:
    """Say how a run stands in one line.

    >>> line(Standing(10, 3, 1, (), 40, 80_000, 5_000.0, 0.3, 90.0))
    '3 of 10 jobs done, 1 failed   40 episodes   80,000 frames   5,000 frames/s   30 %   1:30 to go'
    """
    failed = f", {standing.failed:,} failed" if standing.failed else ""
    return (
        f"{standing.done:,} of {standing.jobs:,} jobs done{failed}   {standing.episodes:,} episodes   "
        f"{standing.frames:,} frames   {standing.frames_per_second:,.0f} frames/s   "
        f"{100 * standing.share:.0f} %   {clock(standing.seconds_left)} to go"
    )


def drawn(standing: Standing) -> Group:
    """Return the table and the line above it.

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
    for one in standing.playing[:_JOBS_SHOWN]:
        table.add_row(
            Text(printable(one.agent)),
            Text(printable(one.game)),
            *(f"{one.seed:,}", f"{one.episodes:,}", f"{one.frames:,}", f"{one.share:.0%}"),
            printable(one.score),
        )
    more = len(standing.playing) - _JOBS_SHOWN
    return Group(Text(line(standing)), table, *([Text(f"… and {more:,} more")] if more > 0 else []))
