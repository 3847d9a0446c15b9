"""A worker process: `main` performs jobs that come through its pipes.

It is no child in the sense of `multiprocessing`: the user's script is not run again, unless the
function stands in it.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
from contextlib import suppress
from typing import IO, NamedTuple, cast

from examiner.workers.performing import Function, perform
from examiner.workers.pipes import of_script, packed, receive, send, unpacked


class Orders(NamedTuple):
    """What a worker is told first: the function, the script it may stand in, and the limit of memory."""

    function: bytes
    script: str | None
    memory_bytes: int | None


def serve(orders_in: IO[bytes], news_out: IO[bytes]) -> None:
    """Perform jobs until one fails or the other side is gone."""
    jobs: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    first = receive(orders_in)
    if first is None:
        return
    orders = cast("Orders", unpacked(first))
    function = cast("Function", _found(orders.function, orders.script))
    threading.Thread(target=_listen, args=(orders_in, jobs), daemon=True).start()
    while True:
        argument = _found(jobs.get(), orders.script)
        for kind, value in perform(function, argument, orders.memory_bytes):
            send(news_out, packed((kind, value)))
        if kind == "failed":
            return  # who knows what it left behind: the next job gets a fresh process


def _found(data: bytes, script: str | None) -> object:
    if script is not None and of_script(data):
        from multiprocessing.spawn import import_main_path

        import_main_path(script)  # does nothing the second time
    return unpacked(data)


def _listen(orders_in: IO[bytes], jobs: queue.SimpleQueue[bytes]) -> None:
    while True:
        data = receive(orders_in)
        if data is None:
            # Whoever started us is gone, perhaps killed: a job that never ends must end with it.
            os._exit(0)
        jobs.put(data)


def main() -> None:
    """Serve on standard input and output; what jobs print goes to standard error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's to answer
    orders_in = os.fdopen(os.dup(0), "rb")
    news_out = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.dup2(2, 1)
    with suppress(BrokenPipeError):
        serve(orders_in, news_out)
    sys.stderr.flush()
    os._exit(0)  # threads that a job left behind do not keep the process
