"""Who answers in an examination, besides a table of results: a person at the terminal, or a live agent."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from examiner.cli.modules import find_modules_here
from examiner.cli.output import printable
from examiner.results import ResponseMatrix, Results
from examiner.wording import InputError, listed, shorten

if TYPE_CHECKING:
    from examiner.arena import Job, Protocol
    from examiner.irt import IRTFit

Answering = Callable[[str], Any]
"""From a task to its answer: 0 or 1, (k, n), a score, or None where there is none."""


class TypedAnswers:
    """Answers typed by a person: a number, `k/n`, `?` for none, `q` to stop.

    `ended` says how they ended: nothing while they go on.
    """

    def __init__(self, response: str) -> None:
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
                    return checked(task, given, self._response)
            except InputError as problem:
                sys.stderr.write(f"{printable(problem, 1_000)}\n")
                continue
            except ValueError:
                pass
            sys.stderr.write(f"{printable(text)} is no answer. Give {self._wanted}.\n")


class ByHandError(Exception):
    """The person at the terminal has had enough; what is known stays, and which tasks were skipped."""

    def __init__(self, skipped: Sequence[str]) -> None:
        super().__init__("The person at the terminal has had enough.")
        self.skipped = tuple(skipped)


def checked(task: str, given: Any, response: str) -> Any:
    """Return an answer as it was given, after refusing one that the response cannot take."""
    from examiner.adaptive import Answer

    Answer.of(task, given, response)  # type: ignore[arg-type]  # a fit's response
    return given


def played_live(
    fit: IRTFit,
    entry: str,
    protocol: Protocol,
    *,
    episodes: int,
    environment: str,
    seed: int,
) -> Answering:
    """Return answers that are played: each task is a game, its episodes go through the fit's recipe.

    Where the protocol evaluates, `episodes` of evaluation are the answer; else they are training. The
    agent's module may stand in the current folder.
    """
    from examiner.arena import Job

    if fit.recipe is None:
        raise InputError(
            "This fit has no recipe, so that scores played live cannot be turned into its responses. "
            "Fit with `examiner fit … -o fit.json`."
        )
    recipe = fit.recipe
    if recipe.item:
        raise InputError(
            f"The fit's items are tasks with {listed(recipe.item)}, and only whole games are played live. "
            f"Fit with `--item task`."
        )

    find_modules_here(entry)
    if protocol.evaluation_episodes:
        protocol = replace(protocol, evaluation_episodes=episodes)

    def answer(task: str) -> Any:
        job = Job(
            entry,
            entry,
            game=task,
            seed=seed,
            protocol=protocol,
            episodes=episodes,
            environment=environment,
        )
        scores = _scores(job)
        table: dict[str, Any] = {
            "agent": [entry] * len(scores),
            "task": [task] * len(scores),
            "run": [0] * len(scores),
            "trial": list(range(len(scores))),
            recipe.measure or "score": scores,
        }
        matrix = recipe.responses(Results.from_dict(table))
        return _cell(matrix, 0, 0) if matrix.observed[0, 0] else None

    return answer


def _scores(job: Job) -> list[float]:
    """Play a job here; what the agent prints goes to standard error."""
    from examiner.arena import Playing
    from examiner.workers import reason_of

    try:
        with redirect_stdout(sys.stderr):
            episodes = list(Playing.begin(job))
    except (InputError, KeyboardInterrupt):
        raise
    except BaseException as problem:  # an agent may call sys.exit: no answer of ours
        raise InputError(
            f"The agent {shorten(job.agent)} failed on {shorten(job.game)}: {reason_of(problem)}. "
            f"Correct the agent."
        ) from problem
    evaluated = [episode.score for episode in episodes if episode.phase == "evaluation"]
    return evaluated or [episode.score for episode in episodes]


def _cell(matrix: ResponseMatrix, row: int, column: int) -> Any:
    if matrix.is_counts:
        return int(matrix.successes[row, column]), int(matrix.trials[row, column])
    return float(np.asarray(matrix.to_numpy())[row, column])
