"""A first look at results: which analyses they support, what the others lack, and what looks wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, flag, name, text
from examiner.messages import InputError, counted, listed
from examiner.results import TIMES, Results, reads_results
from examiner.scores.cells import cell_means, judged_runs
from examiner.scores.costs import usual_cost
from examiner.scores.normalise import in_shares, is_raw, suggested_normaliser
from examiner.scores.runs import run_scores, usual_unit
from examiner.validation import is_binary

FEWEST_TO_FIT, FEWEST_TO_SELECT, FEWEST_TO_CLUSTER = 3, 4, 3
"""Agents below which `irt.fit` and `selection.select` refuse, and correlations are 1 or −1."""
COVERAGE = 0.9
"""Share of the tasks on which `selection.select` requires an agent to be observed."""
USUAL_SIZE = 5
"""Tasks that `selection.select` selects unless told otherwise."""


class SupportedAnalyses(Table):
    """Analyses, with what they rest on or what the results lack for them."""

    analysis: tuple[str, ...] = name("Analysis", title="question")
    possible: NDArray[np.bool_] = flag("Whether the results support it")
    basis: tuple[str, ...] = text("What it rests on, or what is missing")
    call: tuple[str, ...] = text(
        "The call that answers it; empty where the results do not support it"
    )


class Suspicions(Table):
    """What looks wrong with the results."""

    what: tuple[str, ...] = name("What looks wrong")
    where: tuple[str, ...] = text("The agents or tasks concerned")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FirstLook(Answer):
    """Which analyses results support, and what looks wrong with them: `first_look`."""

    kind: ClassVar[str] = "first-look"

    supports: SupportedAnalyses
    suspicions: Suspicions

    @property
    def headline(self) -> str:
        """How many analyses are possible, and how much looks wrong."""
        possible, wrong = int(self.supports.possible.sum()), len(self.suspicions)
        looks = "nothing looks wrong" if not wrong else f"{counted(wrong, 'thing')} to check"
        return f"The results support {possible} of {len(self.supports)} analyses; {looks}."


class _Analysis(NamedTuple):
    """One line: the call is for results that support it, `missing` says why they do not."""

    question: str
    call: str
    basis: str
    missing: str = ""


@reads_results
def first_look(results: Results) -> FirstLook:
    """Return which analyses results support, with the call for each, and what looks wrong.

    >>> look = first_look({"a": [[1.0, 0.0, 1.0]], "b": [[0.0, 0.0, 1.0]]})
    >>> look.supports["difficulty and ability"].basis
    'needs 3 agents or more, and there are 2'
    >>> look.suspicions[0].where
    "'task 2', 'task 3'"
    """
    low, high = _ranges(results, results.task_codes, len(results.tasks))
    varying = int((high > low).sum())
    try:
        analyses = [*_analyses(judged_runs(results), varying), *_of_rows(results)]
    except InputError as problem:  # a log whose rows may be episodes or evaluations
        unclear = f"needs a rule to reduce runs. {str(problem).partition('. ')[0]}"
        analyses = [_Analysis("rank agents and fit", "", "", unclear), *_of_rows(results)]
    supports = SupportedAnalyses(
        analysis=[one.question for one in analyses],
        possible=[not one.missing for one in analyses],
        basis=[one.missing or one.basis for one in analyses],
        call=["" if one.missing else one.call for one in analyses],
    )
    wrong = list(_suspicions(results, [*low], [*high]))
    suspicions = Suspicions(what=[what for what, _ in wrong], where=[where for _, where in wrong])
    return FirstLook(supports, suspicions)


def _analyses(results: Results, varying_tasks: int) -> Iterator[_Analysis]:
    agents, tasks, counts = len(results.agents), len(results.tasks), results.counts()
    values = results.measure()
    binary = is_binary(values)
    raw = "" if binary or not is_raw(results) else suggested_normaliser(results) or ""
    yield _ranking(results)
    fit = "" if binary else ', model="beta"' if in_shares(results) else _success(results, raw)
    few = _too_few(agents, FEWEST_TO_FIT) or (
        "" if varying_tasks > 1 else "needs two tasks on which agents differ"
    )
    kind = (
        "successes and failures" if binary else "scores from 0 to 1" if "beta" in fit else "scores"
    )
    basis = f"{kind} of {counted(agents, 'agent')}"
    yield _Analysis("difficulty and ability", f"ex.irt.fit(results{fit})", basis, few)
    noisy = (
        "" if binary or counts["runs"] * counts["trials"] > 1 else "needs several trials per cell"
    )
    yield _Analysis(
        "information of tasks",
        "ex.information.analyse(results)",
        "how far agents vary between trials" if counts["runs"] * counts["trials"] > 1 else "a fit",
        _too_few(agents, 2) or noisy,
    )
    yield _Analysis(
        "similar tasks",
        "ex.information.similarity(results)",
        f"correlations over {counted(agents, 'agent')}",
        _too_few(agents, FEWEST_TO_CLUSTER),
    )
    complete = int((results.describe().plays.tasks >= COVERAGE * tasks).sum())
    few = _too_few(agents, FEWEST_TO_SELECT) or ("" if tasks > 1 else "needs several tasks")
    if not few and complete < FEWEST_TO_SELECT:
        few = f"needs {FEWEST_TO_SELECT} agents on {COVERAGE:.0%} of the tasks, and has {complete}"
    size = f"{counted(agents, 'agent')}, each held out in turn"
    half = "" if tasks > USUAL_SIZE else f", {tasks - 1}"
    yield _Analysis("select a few tasks", f"ex.selection.select(results{half})", size, few)


def _of_rows(results: Results) -> Iterator[_Analysis]:
    """Analyses of all rows, before runs are reduced to one value each."""
    counts = results.counts()
    times = [time for time in TIMES if time in results.attributes]
    log = results.provenance.training or (times and counts["trials"] > 1)
    missing = "" if log else "needs rows over time within runs"
    yield _Analysis("learning curves", "ex.scores.curves(results)", "a training log", missing)
    cost = usual_cost(results)
    missing = "" if cost else "needs a column cost, tokens_in and tokens_out, or seconds"
    yield _Analysis(
        "scores and costs", f'ex.scores.pareto(results, "{cost}")', f"the cost {cost}", missing
    )


def _ranking(results: Results) -> _Analysis:
    """Whether agents can be ranked, and what their intervals are over."""
    unit = usual_unit(run_scores(results))
    if unit == "tasks" and len(results.tasks) == 1:
        question, basis = "rank agents, no intervals", "one run of one task"
    else:
        question = f"rank agents, over {unit}"
        basis = "several runs per cell" if unit == "runs" else "not every cell has several runs"
    return _Analysis(question, "ex.scores.rank(results)", basis)


def _success(results: Results, normaliser: str) -> str:
    """Options of a fit of scores: successes where agents differ in them, else scores as they are."""
    if normaliser != "human":
        return ', model="normal", normalise="z-score"'
    scales = results.scales.aligned(results.task_names, results.measures[0], needs=["reference"])
    reached = scales.sign * (cell_means(results) - scales.reference) >= 0
    observed = ~np.isnan(cell_means(results))
    differ = (reached & observed).any(axis=0) & (~reached & observed).any(axis=0)
    if differ.sum() > 1:
        return ', normalise="human", success=1.0'
    return ', model="normal", normalise="human"'


def _too_few(agents: int, fewest: int) -> str:
    if agents >= fewest:
        return ""
    return f"needs {counted(fewest, 'agent')} or more, and there {'is' if agents == 1 else 'are'} {agents}"


def _ranges(
    results: Results, codes: NDArray[np.integer], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Smallest and largest value of each agent or task; ±inf where nothing was observed."""
    values = results.measure()
    observed = ~np.isnan(values)
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(low, codes[observed], values[observed])
    np.maximum.at(high, codes[observed], values[observed])
    return low, high


def _suspicions(
    results: Results, low: Sequence[float], high: Sequence[float]
) -> Iterator[tuple[str, str]]:
    agents, tasks = results.agents, results.tasks
    if len(agents) > 1:
        cells = np.unique(results.task_codes.astype(np.int64) * len(agents) + results.agent_codes)
        several = np.bincount(cells // len(agents), minlength=len(tasks)) > 1
        ends = zip(tasks, low, high, several, strict=True)
        constant = [task for task, least, most, compared in ends if least == most and compared]
        if constant:
            many = f"{counted(len(constant), 'task')} where agents do not differ"
            yield many, listed(constant)
    spans = zip(agents, *_ranges(results, results.agent_codes, len(agents)), strict=True)
    alike = [agent for agent, least, most in spans if least == most]
    if alike and len(tasks) > 1:
        yield f"{counted(len(alike), 'agent')} same on every task", listed(alike)
    for names in _repeated_agents(results):
        yield "same results", listed(names)
    for names in _names_of_one(agents):
        yield "perhaps one agent", listed(names)
    plays = results.describe().plays
    sparse = [row.agent for row in plays if row.tasks < len(tasks) / 2]
    if sparse:
        yield f"{counted(len(sparse), 'agent')} on under half of the tasks", listed(sparse)


def _repeated_agents(results: Results) -> Iterator[tuple[str, ...]]:
    """Groups of agents that have the same values on the same tasks, in any order of rows."""
    values, agent = results.measure(), results.agent_codes.astype(np.intp)
    order = np.lexsort((values, results.task_codes, agent))
    pairs = np.column_stack([results.task_codes[order], values[order]])
    starts = np.searchsorted(agent[order], np.arange(len(results.agents) + 1))
    groups: dict[bytes, list[str]] = {}
    for row, (first, last) in enumerate(pairwise(starts)):
        groups.setdefault(pairs[first:last].tobytes(), []).append(results.agents[row])
    # Results that never vary agree by chance.
    return (
        tuple(names)
        for rows, names in groups.items()
        if len(names) > 1 and len(np.unique(np.frombuffer(rows).reshape(-1, 2)[:, 1])) > 1
    )


def _names_of_one(agents: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Groups of names that differ only in capitals, spaces and punctuation."""
    groups: dict[str, list[str]] = {}
    for agent in agents:
        groups.setdefault(re.sub(r"[\W_]+", "", agent).casefold() or agent, []).append(agent)
    return (tuple(names) for names in groups.values() if len(names) > 1)
