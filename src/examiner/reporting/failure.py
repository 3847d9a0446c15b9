"""A section that ended in an unexpected error: what the report shows of it, and what to report."""

from __future__ import annotations

import os
import platform
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from examiner.messages import InputError, shorten
from examiner.reporting.finding import Block, Facts, Finding
from examiner.reporting.prose import named

if TYPE_CHECKING:
    from examiner.reporting.study import Study

RAISE_VARIABLE = "EXAMINER_RAISE_ERRORS"
"""Set to anything, errors of sections are raised with their traceback, as those of other code are."""
_PACKAGE = Path(__file__).parent.parent

Computed = TypeVar("Computed")


class Failure(NamedTuple):
    """An unexpected error: its type, its message, the calls that led to it, and the versions in use."""

    exception: str
    message: str
    calls: str
    examiner: str
    python: str

    @classmethod
    def of(cls, problem: Exception) -> Failure:
        """Describe an error that was raised, without the paths of this machine.

        >>> try:
        ...     1 / 0
        ... except ZeroDivisionError as problem:
        ...     Failure.of(problem)[:2]
        ('ZeroDivisionError', 'division by zero')
        """
        import examiner  # knows its version

        calls = [
            f"{_module(Path(frame.filename))}:{frame.lineno} {frame.name}"
            for frame in traceback.extract_tb(problem.__traceback__)
            if frame.filename != __file__  # which only catches it
        ]
        return cls(
            type(problem).__name__,
            str(problem),
            " → ".join(calls),
            examiner.__version__,
            platform.python_version(),
        )

    @property
    def sentence(self) -> str:
        """What happened, in one sentence."""
        return f"{self.exception}: {shorten(self.message, 400)}"


def attempt(compute: Callable[[], Computed]) -> Computed | Failure:
    """Return what a function computes, or how it failed; bad input is refused as everywhere.

    With the environment variable `EXAMINER_RAISE_ERRORS` all errors are raised.

    >>> attempt(lambda: 2)
    2
    """
    try:
        return compute()
    except InputError:
        raise
    except Exception as problem:
        if os.environ.get(RAISE_VARIABLE):
            raise
        return Failure.of(problem)


def failed_finding(key: str, title: str, chapter: str, failure: Failure) -> Finding:
    """Return the section that is shown in place of one that failed.

    >>> failure = Failure("ValueError", "no", "irt/items.py:1 f", "0.1.0", "3.11.0")
    >>> failed_finding("tasks", "Tasks", "", failure).lead
    'This section failed because of an unexpected error. Other sections are not affected.'
    """
    return Finding(
        key,
        title,
        "This section failed because of an unexpected error. Other sections are not affected.",
        _details(failure),
        {"failure": failure._asdict()},
        chapter=chapter,
        failure=failure,
    )


def failed_blocks(failure: Failure) -> tuple[Block, ...]:
    """Return what is shown in place of a figure or a table that failed.

    >>> failed_blocks(Failure("ValueError", "no", "irt/items.py:1 f", "0.1.0", "3.11.0"))[0]
    'This part of the section failed because of an unexpected error. The rest is not affected.'
    """
    sentence = (
        "This part of the section failed because of an unexpected error. The rest is not affected."
    )
    return (sentence, *_details(failure))


def _details(failure: Failure) -> tuple[Block, ...]:
    facts = tuple((name, named(value)) for name, value in failure._asdict().items())
    ask = "Please report this error with the details below and the command that made the report."
    return ask, Facts(facts)


def section_or_failure(key: str, section: Callable[[Study], Finding], study: Study) -> Finding:
    """Return what a section finds, or the section that says how it failed."""
    from examiner.reporting.findings import FINDINGS

    finding = attempt(lambda: section(study))
    if not isinstance(finding, Failure):
        return finding
    entry = FINDINGS.get(key)
    return failed_finding(
        key, key if entry is None else entry.title, "" if entry is None else entry.chapter, finding
    )


def _module(path: Path) -> str:
    """A file of the package by its place in it, any other by its name."""
    return str(path.relative_to(_PACKAGE)) if path.is_relative_to(_PACKAGE) else path.name
