"""One attack: a command or a call on damaged input, which must answer or refuse, in words and in time."""

from __future__ import annotations

import contextlib
import io
import os
import random
import resource
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import examiner as ex
from examiner.cli import main

MOST_CPU_SECONDS = 20.0  # of a small input, on a machine that does other things too
MOST_MIB = 500  # that one series of attacks may add to the memory once taken
LONG_SECONDS = 25.0
"""How long each series goes on in `make test-all`; more than ten minutes in all."""

both = pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.slow)])
"""A few attacks in `make test`, the same and many more in `make test-all`."""


def attacks(
    name: str, long: bool, few: int, seconds: float = LONG_SECONDS, first: int = 0
) -> Iterator[random.Random]:
    """Sources of damage, the same ones every time: a few, or as many as there is time for."""
    began, memory, number = time.monotonic(), _peak_mib(), first
    while number < few or (long and time.monotonic() - began < seconds):
        with _told(f"{name}, seed {number}"):
            yield random.Random(f"{name} {number}")
        number += 1
    assert _peak_mib() - memory < MOST_MIB


def survives(call: Callable[[], object]) -> object:
    """Return what a call gives, or None where it refuses in a sentence; anything else is a fault."""
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ex.ExaminerWarning)
        # Numbers near the largest overflow on their way to "not known"; commands say nothing of it either.
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            made = call()
        except ex.InputError as problem:
            made = None
            assert "was not foreseen" not in str(problem), problem
            assert len(str(problem)) < 3000
    assert time.process_time() - began < MOST_CPU_SECONDS
    return made


def command(folder: Path, *arguments: object) -> int:
    """Run a command in a folder and return its exit code: 0, or 2 with one sentence; never a traceback."""
    out, err, before, argv = io.StringIO(), io.StringIO(), Path.cwd(), sys.argv
    began = time.process_time()
    os.chdir(folder)
    sys.argv = ["examiner", *map(str, arguments)]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as ended:
        code = int(ended.code or 0)
    finally:
        os.chdir(before)
        sys.argv = argv
    said = err.getvalue()
    assert code in (0, 2), said
    if code == 2 and not said.startswith("Usage"):
        assert said.startswith("examiner: ") and said.count("\n") == 1, said
        assert "was not foreseen" not in said, said
    steering = {letter for letter in out.getvalue() + said if not letter.isprintable()} - {"\n"}
    assert not steering, arguments
    assert time.process_time() - began < MOST_CPU_SECONDS, arguments
    return code


@contextlib.contextmanager
def _told(what: str) -> Iterator[None]:
    try:
        yield
    except GeneratorExit:  # the loop that asked for sources of damage failed: say with which
        sys.stderr.write(f"fault found with {what}\n")
        raise


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
