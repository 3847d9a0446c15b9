"""Answers: what a task gave, checked against the fit's response, and how likely it is at an ability."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, SupportsFloat, TypeAlias

import numpy as np
from numpy.typing import NDArray

from examiner.irt import (
    IRTFit,
    ItemParameters,
    Response,
    chances_of_ends,
    information_of_scores,
    known,
    known_tasks,
    log_density,
    rise,
)
from examiner.irt import item_curves as curves
from examiner.messages import InputError, counted, listed, shorten, unknown_name
from examiner.results import ResponseMatrix, Results
from examiner.scores import responses

Floats: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]
Indices: TypeAlias = NDArray[np.intp]
Flags: TypeAlias = NDArray[np.bool_]

MOST_OUTCOMES = 12
"""More outcomes than these are merged with their neighbours, which loses little information."""


@dataclass(frozen=True, slots=True)
class TaskResponse:
    """What an agent did on a task: k successes of n trials, or one score from 0 to 1.

    >>> TaskResponse.of("pong", (3, 5), "binomial")
    TaskResponse(task='pong', value=3.0, trials=5)
    >>> TaskResponse.of("pong", True, "binomial")
    TaskResponse(task='pong', value=1.0, trials=1)
    """

    task: str
    value: float
    trials: int = 1

    @classmethod
    def of(
        cls, task: str, given: Any, response: Response
    ) -> TaskResponse:  # Any: whatever a user returns
        """Understand what `answer(task)` returned: 0 or 1, (k, n), or a score for the beta model.

        >>> TaskResponse.of("pong", 0.4, "binomial")
        Traceback (most recent call last):
        ...
        examiner.messages.InputError: The answer to 'pong' is 0.4. Give 0 or 1, or successes and \
trials: (3, 5).
        """
        if isinstance(given, TaskResponse):
            return cls.of(task, (given.value, given.trials), response)
        pair = given if isinstance(given, (tuple, list)) else (given, 1)
        if len(pair) != 2:
            raise _refused(task, given, response)
        value, trials = (_number(task, part, response) for part in pair)
        if response == "beta":
            right = trials == 1 and 0 <= value <= 1
        else:
            right = value.is_integer() and trials.is_integer() and 0 <= value <= trials >= 1
        if not right:
            raise _refused(task, given, response)
        return cls(task, value, int(trials))


def _number(task: str, part: object, response: Response) -> float:
    try:
        if isinstance(part, (str, bytes)) or not isinstance(part, (SupportsFloat, np.bool_)):
            raise TypeError
        number = float(part)
    except (TypeError, ValueError, OverflowError):
        raise _refused(task, part, response) from None
    if not np.isfinite(number):
        raise _refused(task, number, response)
    return number


def _refused(task: str, given: object, response: Response) -> InputError:
    wanted = "0 or 1, or successes and trials: (3, 5)"
    if response == "beta":
        wanted = "a score from 0 to 1, normalised as the fit's scores were"
    return InputError(f"The answer to {shorten(task)} is {given!r}. Give {wanted}.")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TableAnswers:
    """What one agent did on tasks of a fit: something to examine.

    `known` has successes and trials of each task it was seen on, or its score.

    >>> TableAnswers("dqn", {"pong": (3, 5)})("pong")
    (3, 5)
    """

    agent: str
    known: Mapping[str, tuple[int, int] | float]
    notes: tuple[str, ...] = ()

    def __call__(self, task: str) -> tuple[int, int] | float | None:
        """Return what the agent did on a task, None where it was not seen on it."""
        return self.known.get(task)

    def __repr__(self) -> str:
        return f"TableAnswers: {self.agent} on {counted(len(self.known), 'task')}"


def answers_from(
    results: Results | ResponseMatrix, fit: IRTFit | ItemParameters, agent: str | None = None
) -> TableAnswers:
    """Return what an agent did on the tasks of a fit; raw results go through the fit's recipe.

    `agent` may be left out where there is one. Atari games are found under any of their names.

    >>> items = ItemParameters.of(["t", "u"], [1.0, 1.0], [0.0, 0.0])
    >>> answers = answers_from(Results.from_numpy([[1.0, 0.0]], agents=["a"], tasks=["t", "u"]), items)
    >>> answers("t"), answers("strange")
    ((1, 1), None)
    """
    fit = known(fit) if isinstance(fit, ItemParameters) else fit
    notes: tuple[str, ...] = ()
    if isinstance(results, Results) and fit.recipe is not None:
        notes = fit.recipe.protocol_notes(results)
        results = fit.recipe.responses(results)
    matrix, items, more = known_tasks(
        fit, responses(results) if isinstance(results, Results) else results
    )
    if agent is None and len(matrix.agents) > 1:
        raise InputError(
            f"The results hold {listed(matrix.agents)}. Say which of them is examined: "
            f'`agent="NAME"`.'
        )
    if agent is not None and agent not in matrix.agents:
        raise unknown_name("agent", agent, matrix.agents)
    row = 0 if agent is None else matrix.agents.index(agent)
    values = matrix.to_numpy()[row]
    observed = {
        task: (int(matrix.successes[row, column]), int(matrix.trials[row, column]))
        if matrix.is_counts
        else float(values[column])
        for column, task in enumerate(items.tasks)
        if matrix.observed[row, column]
    }
    if not observed:
        raise InputError(
            f"The agent {shorten(matrix.agents[row])} has no result on a task of the fit. Examine another."
        )
    return TableAnswers(matrix.agents[row], observed, (*notes, *more))


def answers_played(play: Callable[[str], Results], fit: IRTFit) -> Callable[[str], Any]:
    """Return answers that are played when they are asked for: `play` gives the results of one task.

    They go through the fit's recipe. With `ex.arena.results_of` an agent is examined while it plays.

    >>> from examiner.scores import Recipe
    >>> items = ItemParameters.of(["t", "u"], [1.0, 1.0], [0.0, 0.0])
    >>> fit = known(items).with_recipe(Recipe(success=10.0))
    >>> answers_played(lambda task: Results.from_numpy([[12.0]], tasks=[task]), fit)("u")
    (1, 1)
    """
    if fit.recipe is None:
        raise InputError(
            "This fit has no recipe, so that scores played live cannot be turned into its responses. "
            "Fit with `examiner fit … -o fit.json`."
        )
    if fit.recipe.item:
        raise InputError(
            f"The fit's items are tasks with {listed(fit.recipe.item)}, and only whole games are played "
            f'live. Fit with `item=["task"]`.'
        )
    return lambda task: answers_from(play(task), fit)(task)


class OutcomeTables(NamedTuple):
    """Likelihood [outcomes, tasks, nodes], 0 where a task has fewer outcomes; information [tasks, nodes].

    `exact` says that outcome k of a task is k successes: nothing was merged.
    """

    likelihood: Floats
    information: Floats
    exact: bool


def outcome_tables(items: ItemParameters, nodes: Floats, trials: Whole) -> OutcomeTables:
    """Return the likelihood of each outcome, and the Fisher information Σ L'² / L."""
    if items.response == "beta":
        return _scores(items, nodes)
    most = int(trials.max())
    if most == 1:
        shape = curves(items, nodes)
        up = rise(items, shape)
        likelihood, slope = np.stack([shape.failure, shape.success]), np.stack([-up, up])
    else:
        likelihood = _counts(items, nodes, trials)
        step = 1e-4  # the quotient errs by its square, and keeps eight digits of the likelihood
        above, below = (_counts(items, nodes + by, trials) for by in (step, -step))
        slope = (above - below) / (2 * step)
    information = np.divide(
        slope**2, likelihood, out=np.zeros_like(slope), where=likelihood > 1e-12
    )
    return OutcomeTables(likelihood, np.asarray(information.sum(axis=0)), most < MOST_OUTCOMES)


def _counts(items: ItemParameters, nodes: Floats, trials: Whole) -> Floats:
    most = int(trials.max())
    table = np.zeros((min(most + 1, MOST_OUTCOMES), len(items), nodes.size))
    for won in range(most + 1):
        value = np.minimum(float(won), trials.astype(np.float64))
        density = np.exp(log_density(items, nodes, value, trials))
        table[won * len(table) // (most + 1)] += density * (won <= trials)[:, None]
    return table


def _scores(items: ItemParameters, nodes: Floats) -> OutcomeTables:
    """Scores in 16 bins; exact zeros and ones are in the outermost, and count as scores inside would.

    What is lost between the bins is far below the information of a task.
    """
    from scipy.special import betainc

    shape = curves(items, nodes)
    inside = np.clip(shape.success, 1e-6, 1 - 1e-6)
    precision = np.ones(len(items)) if items.precision is None else items.precision
    phi = np.clip(precision, 1e-3, 1e9)[:, None]
    information = information_of_scores(rise(items, shape), inside, 1 - inside, phi)
    edges = 0.5 - 0.5 * np.cos(np.linspace(0, np.pi, 17)[1:-1])
    below = np.stack([betainc(inside * phi, (1 - inside) * phi, edge) for edge in edges])
    ends = np.zeros_like(below[:1]), np.ones_like(below[:1])
    bins = np.diff(np.concatenate([ends[0], below, ends[1]]), axis=0)
    zero, one = chances_of_ends(shape)
    bins *= 1 - zero - one
    bins[0] += zero
    bins[-1] += one
    return OutcomeTables(np.maximum(bins, 0.0), information, False)
