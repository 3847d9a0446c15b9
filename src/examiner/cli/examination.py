"""What an examination is made of: the bank of tasks, the way to choose and to stop, and who answers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from examiner.adaptive import RULES, Answer, Choosing, Stop, TaskBank, answers_from, balance_of
from examiner.adaptive import exposure as exposure_shares
from examiner.cli.options import find_modules_here, option, parsed
from examiner.cli.source import classification_from
from examiner.importers import read_tasks
from examiner.irt import IRTFit
from examiner.results import Results, atari_game
from examiner.selection.constraints import task_costs
from examiner.telling.terminal import printable
from examiner.typology import kinds as task_kinds
from examiner.wording import InputError, listed, shorten

if TYPE_CHECKING:
    from examiner.arena import Job, Protocol

Answering = Callable[[str], Any]
"""From a task to its answer: 0 or 1, (k, n), a score, or None where there is none."""


@dataclass(frozen=True, slots=True)
class ChoosingOptions:
    """How the next task is chosen."""

    rule: str = option("information", f"{', '.join(RULES)}.", metavar="NAME")
    among: int = option(1, "Choose at random among the N best tasks.", metavar="N")
    exposure: float | None = option(
        None, "Give no task to more than this share of agents.", metavar="SHARE"
    )
    costs: str | None = option(
        None,
        "What tasks cost: a table with task and cost, or a column of the oracle's results.",
        metavar="COLUMN|FILE",
    )
    balance: str | None = option(
        None,
        "Balance kinds of task: a column of --tasks, or a classification.",
        metavar="COLUMN|SOURCE",
    )
    trials: int = option(1, "Trials that one asking of a task takes.", min=1)
    uncertainty: Literal["all", "tasks", "none"] = option(
        "all", "Errors of the fit that are counted."
    )


@dataclass(frozen=True, slots=True)
class StopOptions:
    """When the examination ends."""

    standard_error: float | None = option(None, "End at this standard error of the ability.")
    budget: float | None = option(None, "The most that all tasks may cost.")
    most: int | None = option(None, "The most tasks to give.", metavar="N")
    least: int = option(1, "The fewest tasks to give.", metavar="N")
    better_than: str | None = option(
        None, "End when it is clear whether the agent is better.", metavar="AGENT|ABILITY"
    )
    certainty: float = option(0.95, "The probability that makes a decision clear.")


def bank_from(
    fit: IRTFit, chosen: ChoosingOptions, tasks: str | None, results: Results | None
) -> TaskBank:
    """Return the fit's tasks with their costs and groups; `tasks` is the table of `--tasks`."""
    names = fit.items.tasks
    return TaskBank.of(
        fit,
        costs=None if chosen.costs is None else _costs(names, chosen.costs, results),
        groups=None if chosen.balance is None else _groups(names, chosen.balance, tasks),
        trials=chosen.trials,
        uncertainty=chosen.uncertainty,
    )


def _costs(tasks: tuple[str, ...], named: str, results: Results | None) -> dict[str, float]:
    if Path(named).is_file():
        values = read_tasks(named).attributes.numbers(tasks, "cost")
        found = dict(zip(tasks, values.tolist(), strict=True))
    elif results is not None:
        costs = task_costs(results, named)
        assert costs is not None, "a column was named"
        known = dict(zip(results.tasks, costs.tolist(), strict=True))
        found = _by_any_name(tasks, known, np.nan)
    else:
        raise InputError(f"Cannot find the costs {shorten(named)}: there is no such file.")
    return {task: cost for task, cost in found.items() if np.isfinite(cost)}


def _groups(tasks: tuple[str, ...], named: str, table: str | None) -> dict[str, str]:
    if table is not None:
        about = read_tasks(table).attributes
        if named in about.columns:
            values = about.aligned(tasks, named)
            return {task: str(value) for task, value in zip(tasks, values, strict=True)}
    kinds = task_kinds(classification_from(named), rng=np.random.default_rng(0))
    found = {
        task: ", ".join(value for _, value in group.features)
        for group in kinds.groups
        for task in group.tasks
    }
    return _by_any_name(tasks, found, "of no known kind")


def _by_any_name(tasks: Sequence[str], known: dict[str, Any], otherwise: Any) -> dict[str, Any]:
    """What is known of tasks, by their own names or those of their games."""
    games = known | {atari_game(task) or task: value for task, value in known.items()}
    return {task: games.get(task, games.get(atari_game(task) or task, otherwise)) for task in tasks}


def choosing_from(
    bank: TaskBank, options: ChoosingOptions, stop: Stop | None, rng: np.random.Generator
) -> Choosing:
    """Return how tasks are chosen; limits on exposure are found by simulation."""
    balance = None if bank.groups is None else balance_of(bank)
    chosen = Choosing(options.rule, options.among, balance=balance)
    if options.exposure is None:
        return chosen
    shares = exposure_shares(bank, options.exposure, rng=rng, choosing=chosen, stop=stop)
    return Choosing(options.rule, options.among, shares, balance)


def stop_from(options: StopOptions, bank: TaskBank, resumed: bool) -> Stop | None:
    """Return when to stop; None goes on with what a stored examination says."""
    given = (options.standard_error, options.budget, options.most, options.better_than)
    if all(limit is None for limit in given):
        if resumed:
            return None
        # As precise as is usual, or as the fit's own agents allow.
        return Stop(error=max(0.3, round(1.25 * bank.least_error, 2)), least=options.least)
    better: str | float | None = options.better_than
    if options.better_than is not None and better not in bank.landmarks:
        known = f"The fit has {listed(bank.landmarks)}. Name one of them, or give an ability."
        complaint = f"Unknown agent {shorten(better)}. {known}"
        better = parsed(float, options.better_than, complaint)
    limits = options.standard_error, options.budget, options.most, options.least
    return Stop(*limits, better, options.certainty).checked(bank)


class ByHandError(Exception):
    """The person at the terminal has had enough; what is known stays, and which tasks were skipped."""

    def __init__(self, skipped: Sequence[str]) -> None:
        super().__init__("The person at the terminal has had enough.")
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
                    Answer.of(task, given, self._response)
                    return given
            except InputError as problem:
                sys.stderr.write(f"{printable(problem, 1_000)}\n")
                continue
            except ValueError:
                pass
            sys.stderr.write(f"{printable(text)} is no answer. Give {self._wanted}.\n")


def played_live(
    fit: IRTFit, entry: str, protocol: Protocol, *, episodes: int, environment: str, seed: int
) -> Answering:
    """Return answers that are played: each task is a game, its episodes go through the fit's recipe.

    Where the protocol evaluates, `episodes` of evaluation are the answer; else they are training. The
    agent's module may stand in the current folder.
    """
    from examiner.arena import Job  # only live play needs the arena

    recipe = fit.recipe
    if recipe is None:
        raise InputError(
            "This fit has no recipe, so that scores played live cannot be turned into its responses. "
            "Fit with `examiner fit … -o fit.json`."
        )
    if recipe.item:
        raise InputError(
            f"The fit's items are tasks with {listed(recipe.item)}, and only whole games are played live. "
            f"Fit with `--item task`."
        )
    find_modules_here(entry)
    if protocol.evaluation_episodes:
        protocol = replace(protocol, evaluation_episodes=episodes)
    same = {"seed": seed, "protocol": protocol, "episodes": episodes, "environment": environment}

    def answer(task: str) -> Any:
        scores = _scores(Job(entry, entry, game=task, **same))  # type: ignore[arg-type]
        table: dict[str, Any] = {
            "agent": [entry] * len(scores),
            "task": [task] * len(scores),
            "run": [0] * len(scores),
            "trial": list(range(len(scores))),
            recipe.measure or "score": scores,
        }
        return answers_from(Results.from_dict(table), fit)(task)

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
