"""Answers to tasks that a person types, for `examiner examine --interactive`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from examiner.adaptive import TaskResponse
from examiner.messages import InputError
from examiner.reporting import printable

Answering = Callable[[str], Any]
"""From a task to its answer: 0 or 1, (k, n), a score, or None where there is none."""


class ByHandError(Exception):
    """The person at the terminal stopped the examination; some tasks may have been skipped."""

    def __init__(self, skipped: Sequence[str]) -> None:
        super().__init__("The person at the terminal stopped the examination.")
        self.skipped = tuple(skipped)


class TypedAnswers:
    """Answers typed by a person: a number, `k/n`, `?` for none, `q` to stop.

    `ended` says how they ended: nothing while they go on.
    """

    def __init__(self, response: Any) -> None:  # Any: a fit's response
        self.ended: str | None = None
        self._skipped: list[str] = []
        self._response = response
        self._wanted = (
            "a score from 0 to 1" if response == "beta" else "0, 1, or successes/trials such as 3/5"
        )

    def __call__(self, task: str) -> Any:
        """Ask for one task until an answer is understood."""
        while True:
            sys.stderr.write(f"{printable(task)} ({self._wanted}; ? to skip, q to stop): ")
            sys.stderr.flush()
            line = sys.stdin.readline()
            text = line.strip()
            if not line or text == "q":
                self.ended = "It was stopped by hand." if line else "The answers ended."
                raise ByHandError(self._skipped)
            if text == "?":
                self._skipped.append(task)
                return None
            try:
                parts = [float(part) for part in text.split("/")]
                if len(parts) in (1, 2):
                    given = parts[0] if len(parts) == 1 else tuple(parts)
                    TaskResponse.of(task, given, self._response)
                    return given
            except InputError as problem:
                sys.stderr.write(f"{printable(problem, 1_000)}\n")
                continue
            except ValueError:
                pass
            sys.stderr.write(f"{printable(text)} is not an answer. Give {self._wanted}.\n")
