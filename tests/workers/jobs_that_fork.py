"""Jobs that leave processes behind, close what is not theirs, or write where they should not."""

import ctypes
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


def odd(told: tuple[str, str]) -> Iterator[object]:
    """Say a word twice; in between, do what `how` says. Children write their number to a file."""
    how, word = told
    yield word
    BEHAVIOURS[how.partition(":")[0]](how.partition(":")[2])
    yield word


def _note(folder: str, pid: int) -> None:
    (Path(folder) / str(pid)).touch()


def _forks_and_plays_on(folder: str) -> None:
    """The child sleeps a moment, so that it speaks while the next job is under way."""
    if not os.fork():
        _note(folder, os.getpid())
        time.sleep(0.5)


def _forks_without_python(folder: str) -> None:
    """No hook of Python hears of this fork."""
    if not ctypes.CDLL(None).fork():
        _note(folder, os.getpid())
        time.sleep(0.5)


def _forks_and_raises(folder: str) -> None:
    if not os.fork():
        _note(folder, os.getpid())
        time.sleep(0.3)
        raise RuntimeError("the child's own error")


def _forks_and_exits(folder: str) -> None:
    if not os.fork():
        _note(folder, os.getpid())
        time.sleep(0.3)
        sys.exit("the child has had enough")


def _leaves_a_sleeper(folder: str) -> None:
    pid = os.fork()
    if not pid:
        time.sleep(60)
        os._exit(0)
    _note(folder, pid)


def _leaves_a_program(folder: str) -> None:
    _note(folder, subprocess.Popen(SLEEP).pid)


def _leaves_a_pool(folder: str) -> None:
    for _ in range(2):
        process = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,))
        process.start()
        assert process.pid is not None
        _note(folder, process.pid)


def _leaves_a_daemon(folder: str) -> None:
    """In a session of its own, and nobody's child: as daemons do it."""
    if not os.fork():
        os.setsid()
        if not os.fork():
            _note(folder, os.getpid())
            time.sleep(60)
        os._exit(0)
    os.wait()
    while not os.listdir(folder):  # noqa: PTH208
        time.sleep(0.01)


def _leaves_a_program_without_our_variables(folder: str) -> None:
    _note(folder, subprocess.Popen(SLEEP, env={}, start_new_session=True).pid)


def _leaves_a_child_and_hangs(folder: str) -> None:
    _leaves_a_daemon(folder)
    _leaves_a_sleeper(folder)
    time.sleep(60)


def _leaves_a_child_and_dies(folder: str) -> None:
    _leaves_a_daemon(folder)
    _leaves_a_sleeper(folder)
    os._exit(3)


def _closes_everything(_: str) -> None:
    os.closerange(3, 4096)


def _closes_everything_and_opens_files(folder: str) -> None:
    os.closerange(3, 4096)
    for number in range(40):
        (Path(folder) / f"own-{number}").open("w+")


def _prints_junk(_: str) -> None:
    sys.stdout.write("junk" * 10_000)
    os.write(1, b"\x00\xff" * 10_000)
    sys.__stdout__.write("more junk\n")  # type: ignore[union-attr]
    subprocess.run(["echo", "junk of a program"], check=True)


BEHAVIOURS = {
    "nothing": lambda _: None,
    "forks and plays on": _forks_and_plays_on,
    "forks without python": _forks_without_python,
    "forks and raises": _forks_and_raises,
    "forks and exits": _forks_and_exits,
    "leaves a sleeper": _leaves_a_sleeper,
    "leaves a program": _leaves_a_program,
    "leaves a pool": _leaves_a_pool,
    "leaves a daemon": _leaves_a_daemon,
    "leaves a program without our variables": _leaves_a_program_without_our_variables,
    "leaves a child and hangs": _leaves_a_child_and_hangs,
    "leaves a child and dies": _leaves_a_child_and_dies,
    "closes everything": _closes_everything,
    "closes everything and opens files": _closes_everything_and_opens_files,
    "prints junk": _prints_junk,
}


def slow(word: str) -> Iterator[str]:
    """A job that lasts longer than any child sleeps."""
    for _ in range(10):
        time.sleep(0.1)
        yield word


def either(told: object) -> Iterator[object]:
    yield from slow(told) if isinstance(told, str) else odd(told)  # type: ignore[arg-type]


def says_a_lambda(_: object) -> Iterator[object]:
    yield 1
    yield lambda: None


class Homeless:
    """Travels, but nobody can unpack it."""

    def __reduce__(self) -> tuple[object, ...]:
        return (_arrives_nowhere, (os.getpid(),))


def _arrives_nowhere(pid: int) -> int:
    if os.getpid() != pid:
        raise ValueError("not at home")
    return pid


def says_what_nobody_understands(_: object) -> Iterator[object]:
    yield 1
    yield Homeless()
    yield 2
