"""What a crew is: something that runs jobs elsewhere and tells what becomes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Literal, Protocol

Kind = Literal["begun", "heard", "done", "failed", "died"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What a job may use: seconds in one go, seconds without a word, and bytes of memory; None is no limit.

    >>> Limits(seconds=60).memory_bytes is None
    True
    """

    seconds: float | None = None
    silent_seconds: float | None = None
    memory_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """What happened to a job: it began, said something, ended well, failed, or its process died.

    `failed` is the job's own doing and would happen again; `died` may be nobody's fault.
    """

    ticket: int
    kind: Kind
    value: object = None

    @property
    def reason(self) -> str:
        """Why the job failed or died."""
        return str(self.value)


class Crew(Protocol):
    """Runs one function on arguments, each under a ticket; the function yields what it has to say."""

    def free(self) -> int:
        """How many more jobs could begin now."""
        ...

    def start(self, ticket: int, argument: object) -> None:
        """Begin a job."""
        ...

    def events(self, seconds: float) -> Sequence[Event]:
        """What happened since, waiting so long for the first news."""
        ...

    def stop(self, ticket: int) -> None:
        """End a job at once; nothing more is heard of it."""
        ...

    def close(self) -> None:
        """End all jobs and processes."""
        ...

    def __enter__(self) -> Crew: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...
