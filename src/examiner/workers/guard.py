"""Ends worker processes with all that they started, also when whoever started them was killed.

The guard of a crew is this file, run as a program: it waits until its driver is gone, however that
ended, and then ends the crew's workers. So it imports nothing but what Python has at hand.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Collection

MARK = "EXAMINER_CREW"
"""Workers and all that they start bear their crew's mark in this variable."""
_DISMISSED = b"."
_PATIENCE_SECONDS = (
    10.0  # to be gone after SIGKILL where many wait; whoever is not then waits for a disk
)


def family(leaders: Collection[int], mark: str = "") -> set[int]:
    """Return the living processes of workers: these, their descendants, and who bears their mark.

    A child may leave its parent, its group and its session, or its variables, but seldom all of them.
    Only Linux tells; elsewhere there is nobody to return.

    >>> family([])
    set()
    """
    parents, members = {}, set()
    for pid, parent, session in _processes():
        parents[pid] = parent
        if pid in leaders or session in leaders or (mark and _bears(pid, mark)):
            members.add(pid)
    children = members
    while children:
        children = {pid for pid, parent in parents.items() if parent in children} - members
        members = members | children
    return members


def end_family(leaders: Collection[int], mark: str = "") -> None:
    """Kill workers, each the leader of its own group, with their families, and see them gone.

    None of the leaders may have been waited for: their numbers must still be theirs.

    >>> end_family([], "nobody bears this mark")
    """
    give_up = time.monotonic() + _PATIENCE_SECONDS
    while True:
        # Looked for before the leaders are killed: children of the dead are nobody's children.
        processes = family(leaders, mark)
        for leader in leaders:
            _kill_group(leader)
        _kill(processes)
        if not processes or time.monotonic() > give_up:
            return
        time.sleep(0.005)


def _kill(pids: Collection[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            continue


def _kill_group(leader: int) -> None:
    try:
        os.killpg(leader, signal.SIGKILL)
    except OSError:
        return


def _processes() -> list[tuple[int, int, int]]:
    """Every living process, its parent and its session; nothing where there is no /proc."""
    children = []
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else ():  # noqa: PTH112, PTH208
        if name.isdecimal():
            # The name of a program, in brackets, may hold anything.
            fields = _content(name, "stat").rpartition(b")")[2].split()
            if fields and fields[0] not in (b"Z", b"X"):
                children.append((int(name), int(fields[1]), int(fields[3])))
    return children


def _bears(pid: int, mark: str) -> bool:
    return mark.encode() in _content(str(pid), "environ")


def _content(pid: str, name: str) -> bytes:
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:  # noqa: PTH123  pathlib takes longer to import
            return file.read()
    except OSError:  # it has just ended, or is somebody else's
        return b""


class Guard:
    """The driver's end of a crew's guard, which is told who works and who has ended."""

    def __init__(self, mark: str) -> None:
        from subprocess import DEVNULL, PIPE, Popen  # not for the guard itself

        self._popen = Popen(
            # Alone: neither variables nor installed packages may change what a guard does.
            [sys.executable, "-I", "-S", __file__, mark],
            stdin=PIPE,
            stdout=DEVNULL,
            stderr=DEVNULL,
            cwd="/",
            start_new_session=True,
            bufsize=0,
        )

    def tell(self, pid: int, *, works: bool) -> None:
        """Say that a worker was started, or that it has ended and its number may be another's."""
        assert self._popen.stdin is not None
        try:
            self._popen.stdin.write(b"%c%d\n" % (b"+" if works else b"-", pid))
        except OSError:  # somebody killed the guard: workers end by themselves when their pipe does
            return

    def dismiss(self) -> None:
        """Let the guard end what is left, and go."""
        from contextlib import suppress
        from subprocess import TimeoutExpired

        assert self._popen.stdin is not None
        with suppress(OSError):
            self._popen.stdin.write(_DISMISSED)  # a fork of the driver may keep the pipe open
        self._popen.stdin.close()
        try:
            self._popen.wait(2 * _PATIENCE_SECONDS)
        except TimeoutExpired:  # somebody stopped it
            self._popen.kill()
            self._popen.wait()


def main(mark: str) -> None:
    """Wait until nobody is at the other end of standard input, then end all workers told of there."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # meant for the driver, whose end is waited for
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    driver, received = os.getppid(), b""
    while os.getppid() == driver:  # a fork of the driver may keep the pipe open
        if select.select([0], [], [], 0.5)[0]:  # twice a second: is its driver still there?
            news = os.read(0, 65_536)
            if not news:
                break
            received += news
            if received.endswith(_DISMISSED):
                break
    leaders: set[int] = set()
    for line in received.removesuffix(_DISMISSED).decode().splitlines():
        (leaders.add if line[0] == "+" else leaders.discard)(int(line[1:]))
    end_family(leaders, mark)


if __name__ == "__main__":
    main(sys.argv[1])
