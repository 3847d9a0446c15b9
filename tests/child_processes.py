"""Processes that tests start: where they find the code under test, and whether they have ended."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

GONE_WITHIN_SECONDS = 2.0
TESTS = str(Path(__file__).parent)


def environment(**variables: str) -> dict[str, str]:
    """This process's variables, with modules found where this process finds them."""
    return os.environ | {"PYTHONPATH": os.pathsep.join([TESTS, *sys.path])} | variables


def alive(pid: int) -> bool:
    """Whether a process is there and not merely waits to be counted as dead."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def left(folder: Path) -> list[int]:
    """The processes that noted their number in a folder, those that live on."""
    return [
        int(one.name) for one in folder.iterdir() if one.name.isdecimal() and alive(int(one.name))
    ]


def assert_gone(pids: list[int]) -> None:
    give_up = time.monotonic() + GONE_WITHIN_SECONDS
    while any(map(alive, pids)):
        if time.monotonic() > give_up:
            for pid in filter(alive, pids):
                os.kill(pid, signal.SIGKILL)
            pytest.fail("a process lives on")
        time.sleep(0.02)
