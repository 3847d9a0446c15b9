"""Jobs that worker processes can find by module and name: well-behaved ones and the other sort."""

import ctypes
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path


def square(number: int) -> int:
    return number * number


def slow_for_small(number: int) -> int:
    time.sleep(0.05 * (5 - number))
    return number


def fails_on_odd(number: int) -> int:
    if number % 2:
        time.sleep(0.3 if number == 1 else 0.0)  # the earliest error comes last
        raise ValueError(f"odd: {number}")
    return number


def raises_what_cannot_travel(number: int) -> None:
    class HomelessError(Exception):
        pass

    raise HomelessError(f"number {number}")


def thread_setting(_: int) -> str:
    return os.environ["OMP_NUM_THREADS"] + os.environ["OPENBLAS_NUM_THREADS"]


def dies_once(path: str) -> int:
    """Kill the process on the first call; the file tells the calls apart."""
    if not Path(path).exists():
        Path(path).touch()
        os.kill(os.getpid(), 9)
    return 5


def always_dies(_: object) -> Iterator[int]:
    os._exit(3)
    yield 1


def dies_unless_zero(number: int) -> Iterator[int]:
    if number:
        os._exit(4)
    yield number


def count_to(number: int) -> Iterator[int]:
    yield from range(number)


def slow_count_to(number: int) -> Iterator[int]:
    for one in range(number):
        time.sleep(0.01)
        yield one


class SpeechlessError(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


def behave(how: str) -> Iterator[str]:
    yield "here"
    if how == "crash":
        raise RuntimeError("the agent's own error\nwith a second line")
    if how == "exit":
        sys.exit("I have had enough")
    if how == "half character":
        raise RuntimeError("no such file: \udcff.rom")
    if how == "speechless":
        raise SpeechlessError
    if how == "leaves a child":
        if not os.fork():
            time.sleep(30)  # it has the pipe too
        os._exit(6)
    if how == "moves":
        os.chdir("/")
    if how == "where":
        yield str(Path.cwd())
    if how == "hang":
        time.sleep(3600)
    if how == "busy":
        while True:
            pass
    if how == "hoard":
        hoard = []
        while True:
            hoard.append(bytearray(10_000_000))
    if how == "segfault":
        ctypes.string_at(0)
    if how == "print":
        print("chatter that must not disturb the pipe" * 100)
        os.write(1, b"more of it")
    yield "well"


def process(number: int) -> int:
    """The process that did the job."""
    return os.getpid()
