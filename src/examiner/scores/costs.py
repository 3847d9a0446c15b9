"""What attempts and tasks cost: money, tokens, seconds or frames, from columns of the results."""

from __future__ import annotations

from contextlib import suppress
from typing import Literal

import numpy as np

from examiner.messages import InputError, counted, listed, shorten
from examiner.results import Results, reads_results
from examiner.scores.cells import group_means, ratio
from examiner.validation import Floats, check_known

USUAL_COSTS = ("cost", "tokens_in+tokens_out", "seconds")
"""What is looked for where no cost is named, money first: the columns that readers of logs make."""
Per = Literal["run", "attempt"]
CUMULATIVE = "frames"
"""The column that counts on within a run, so that its last value is what the run took."""


def usual_cost(results: Results) -> str | None:
    """Return the cost that these results have among those of `USUAL_COSTS`; None where they have none.

    A column of that name that is no cost, negative or a text, and one that is the score itself, is none.

    >>> table = {"agent": ["a"], "task": ["t"], "score": [1], "seconds": [2.5]}
    >>> usual_cost(Results.from_dict(table))
    'seconds'
    """
    columns = {*results.attributes, *results.measures[1:]}
    for cost in USUAL_COSTS:
        with suppress(InputError):
            if set(cost.split("+")) <= columns and np.isfinite(attempt_costs(results, cost)).any():
                return cost
    return None


def needed_cost(results: Results, cost: str | None) -> str:
    """Return the cost that is named, or the usual one; refuse results that have none.

    >>> needed_cost(Results.from_numpy([[1.0]]), None)
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Nothing says what attempts cost. Name a column (`cost="COLUMN"`).
    """
    column = usual_cost(results) if cost is None else cost
    if column is None:
        raise InputError('Nothing says what attempts cost. Name a column (`cost="COLUMN"`).')
    return column


@reads_results
def attempt_costs(results: Results, cost: str) -> Floats:
    r"""Return what each attempt cost, shape [rows], NaN where that is not known.

    `cost` is a column, or a sum of columns times prices, `tokens_in*3e-6+tokens_out*15e-6`; a price is a
    number, or a column of the agents' table. Frames count on within a run: each of its attempts is
    given the same share of the last.

    >>> table = {"agent": ["a", "a"], "task": ["t", "u"], "score": [1, 0], "tokens": [10, 20]}
    >>> attempt_costs(Results.from_dict(table), "tokens*0.5")
    array([ 5., 10.])
    """
    columns = (*results.attributes, *results.measures)
    if cost == CUMULATIVE and cost in columns:
        return _of_runs_as_a_whole(results)
    if cost in columns:
        return _checked(results, results.numbers(cost), cost)
    total = np.zeros(len(results))
    for term in cost.split("+"):
        column, _, price = (part.strip() for part in term.partition("*"))
        if column not in columns:
            raise InputError(
                f"No column {shorten(column)} says what a task costs. Columns of the results: "
                f"{listed(columns)}."
            )
        total = total + results.numbers(column) * _prices(results, price)
    return _checked(results, total, cost)


@reads_results
def task_costs(
    results: Results, cost: str, agent: str | None = None, *, per: Per = "run"
) -> Floats:
    r"""Return what each task costs, shape [tasks], NaN where that is not known.

    A column of the table of tasks says it outright. A column of the results (money, tokens, seconds,
    frames; see `attempt_costs`) is what a run costs, all its attempts together, averaged over an agent's
    runs and then over agents, or of one `agent` alone:

    .. math:: c_j = \frac{1}{A_j} \sum_a \frac{1}{R_{aj}} \sum_r n_{ajr} \bar c_{ajr}

    A run with n attempts, the costs of some of which are not known, costs n times the mean of the others:
    what is not known is never zero. `per` "attempt" is the mean of one attempt instead.

    >>> table = {"agent": ["a", "a", "b"], "task": ["t"] * 3, "run": [0, 0, 0], "trial": [0, 1, 0]}
    >>> results = Results.from_dict(table | {"score": [1, 2, 3], "seconds": [1, 2, 5]})
    >>> task_costs(results, "seconds"), task_costs(results, "seconds", "a")
    (array([4.]), array([3.]))
    """
    if cost in results.task_attributes.columns and agent is None:
        return results.task_attributes.numbers(results.task_names, cost)
    if agent is not None:
        check_known("agent", agent, results.agents)
    cells = _cells(results, cost, per)
    if agent is not None:
        return np.asarray(cells[results.agents.index(agent)])
    costed = np.isfinite(cells)
    return ratio(np.where(costed, cells, 0.0).sum(axis=0), costed.sum(axis=0))


def task_cost_notes(
    results: Results, cost: str, agent: str | None = None, *, per: Per = "run"
) -> tuple[str, ...]:
    """Say what the cost of a task is made of, and whose costs are not known.

    >>> table = {"agent": ["a", "b"], "task": ["t", "t"], "score": [1, 0], "seconds": [1, None]}
    >>> for note in task_cost_notes(Results.from_dict(table), "seconds"):
    ...     print(note)
    A task costs what a run of it takes in 'seconds', on average over 1 agent.
    1 of 2 agents has no known cost, and no part in it: 'b'.
    """
    once = "a run of it" if per == "run" else "one attempt"
    what = f"A task costs what {once} takes in {shorten(cost)}"
    if agent is not None:
        return (f"{what}, by the agent {shorten(agent)}.",)
    if cost in results.task_attributes.columns:
        return ()
    costed = np.isfinite(_cells(results, cost, per))
    has_cost = np.asarray(costed.any(axis=1))
    notes = [f"{what}, on average over {counted(int(has_cost.sum()), 'agent')}."]
    without = [name for name, costs in zip(results.agents, has_cost, strict=True) if not costs]
    if without:
        verb = "has" if len(without) == 1 else "have"
        notes.append(
            f"{len(without):,} of {counted(len(has_cost), 'agent')} {verb} no known cost, and no part in "
            f"it: {listed(without)}."
        )
    incomplete = int((costed[has_cost].sum(axis=0) < has_cost.sum()).sum())
    if incomplete:
        notes.append(
            f"{counted(incomplete, 'task')} of {costed.shape[1]:,} lack the costs of some of these agents, "
            f"and cost what the others paid: dear agents that are missing make a task look cheap."
        )
    return tuple(notes)


def _cells(results: Results, cost: str, per: Per) -> Floats:
    """What a run costs, all its attempts together or one of them, averaged over runs: [agents, tasks]."""
    values, run = attempt_costs(results, cost), results.run_numbers
    observed = np.isfinite(values)
    attempts = np.bincount(run)
    with_cost = np.bincount(run[observed], minlength=len(attempts))
    total = np.bincount(run[observed], weights=values[observed], minlength=len(attempts))
    runs = ratio(total, with_cost) * (attempts if per == "run" else 1)
    first = np.unique(run, return_index=True)[1]
    cell = results.agent_codes[first].astype(np.int64) * len(results.tasks)
    cell += results.task_codes[first]
    shape, there = (len(results.agents), len(results.tasks)), with_cost > 0
    return group_means(runs[there], cell[there], shape[0] * shape[1]).reshape(shape)


def _of_runs_as_a_whole(results: Results) -> Floats:
    values, run = results.numbers(CUMULATIVE), results.run_numbers
    attempts = np.bincount(run)
    last = np.full(len(attempts), np.nan)
    np.fmax.at(last, run, values)
    return (last / attempts)[run]


def _prices(results: Results, price: str) -> Floats | float:
    """What a unit costs: a number, or one for each row from a column of the agents' table."""
    if not price:
        return 1.0
    if price in results.agent_attributes.columns:
        return results.agent_attributes.numbers(results.agents, price)[results.agent_codes]
    try:
        return float(price)
    except ValueError:
        columns = results.agent_attributes.columns
        raise InputError(
            f"The price {shorten(price)} is no number and no column of the agents' table, "
            f"which has {listed(columns) if columns else 'none'}. Give one of the two."
        ) from None


def _checked(results: Results, values: Floats, cost: str) -> Floats:
    wrong = np.flatnonzero((values < 0) | np.isinf(values))  # NaN, an unknown one, is neither
    if len(wrong):
        row = int(wrong[0])
        agent, task = (
            results.agents[results.agent_codes[row]],
            results.tasks[results.task_codes[row]],
        )
        raise InputError(
            f"An attempt of {shorten(agent)} on {shorten(task)} has the cost {values[row]:g} "
            f"({shorten(cost)}). Give a number of at least 0, or leave it empty where it is not known."
        )
    return values
