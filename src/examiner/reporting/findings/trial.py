"""Tasks picked by hand: what they say of agents that are left out; on a page, a board to try them."""

from __future__ import annotations

import numpy as np

from examiner import selection
from examiner.messages import counted
from examiner.reporting.finding import Board, Finding, noted
from examiner.reporting.prose import Name, Prose, enumerated, three_digits
from examiner.reporting.study import Study
from examiner.reporting.table import Column, Record, Table, records
from examiner.scores import NORMALISERS, Recipe, shared_ranks
from examiner.selection.evidence import SelectionEvidence
from examiner.selection.given import evidence_of, sets_of, trial_of
from examiner.selection.ridge import SHRINKAGE
from examiner.validation import Floats

SIZES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 50)
"""Numbers of tasks that a reader may slide through, as far as there are tasks."""
BEGINS_WITH = 5
MOST_AGENTS, MOST_TASKS = 150, 500
"""On a page: more would make it slow to move."""
MOST_WORK = 3e7
"""Agents · tasks · tasks chosen that a report may spend on choosing for the slider: about a second."""
DIGITS = 6
"""Of scores on the page, so that its sums have the printed digits of ours."""


def finding(study: Study) -> Finding:
    """Put up a board on which tasks are picked: a number of them, or each by hand."""
    small, note = study.thinned(MOST_AGENTS, MOST_TASKS)
    known = study.normaliser if study.normaliser in NORMALISERS else None
    total = None if study.total is None else study.total.on(small.results.tasks)
    recipe = Recipe(measure=study.measure, normaliser=known, total=total)
    whole = selection.benchmark(small.results, recipe)
    evidence = evidence_of(whole)
    sets = _sets(whole, study.seed)
    tried = {size: trial_of(evidence, tasks, whole.target) for size, tasks in sets.items()}
    begin = max(size for size in sets if size <= BEGINS_WITH)
    board = Board(_board(evidence, whole.target, sets, begin), "Tasks to try")
    sizes = [_summary(each) for each in tried.values()]
    for (
        row
    ) in sizes:  # R² and Kendall of the same agents that chose would contradict the held-out ones
        del row["r2"], row["kendall"]
    told = tell(tried[begin])
    data = told.data | {"sizes": sizes}
    del data["r2"], data["kendall"]
    blocks = (board, _sizes(sizes), *noted((note,) if note else ()))
    lead = _lead(tried[begin], study.not_shown, chosen_here=True)
    return Finding(lead=lead, blocks=blocks, data=data)


def tell(made: selection.Trial, *, about: str = "") -> Finding:
    """Tell what tasks say of every agent that is left out, and how far off that is.

    >>> from examiner.results import Results
    >>> scores = np.random.default_rng(0).normal(size=(9, 6)) + np.arange(9)[:, None]
    >>> tell(selection.trial(Results.from_numpy(scores), ["task 1"])).data["cost"]
    1.0
    """
    agents = records(
        agent=made.agents,
        predicted=made.predicted,
        rank=made.ranks.astype(int),
        truth=made.truth,
        true_rank=shared_ranks(made.truth).astype(int),
    )
    agents.sort(key=lambda row: row["rank"])
    columns = (
        Column("rank", "count", "by prediction"),
        Column("agent", "name"),
        Column("predicted", "number", "from these tasks, by the other agents"),
        Column("in truth", "number", f"the {made.target} over all tasks", "truth"),
        Column("true rank", "count", key="true_rank"),
    )
    table = Table.of(agents, columns, "Every agent, predicted while it is left out")
    data = _summary(made) | {"agents": agents, "target": made.target}
    return Finding(lead=_lead(made, ""), blocks=(table,), data=data, about=about)


def _lead(made: selection.Trial, not_shown: str, *, chosen_here: bool = False) -> Prose:
    """How well tasks predict; R² of tasks chosen on the same agents is left to those held out."""
    few = "predicts" if len(made.tasks) == 1 else "predict"
    r2 = (
        ""
        if chosen_here
        else f" (R² {three_digits(made.r2)}, Kendall {three_digits(made.kendall)})"
    )
    start = (
        f"{counted(len(made.tasks), 'task')} {few} the {made.target} of an agent that is left out with a "
        f"mean absolute error of {three_digits(made.error)}{r2}: "
    )
    if not_shown:
        return (Name(not_shown), f" {start}", *enumerated(made.tasks, 8), ".")
    return (start, *enumerated(made.tasks, 8), ".")


def _summary(made: selection.Trial) -> Record:
    parts = ("error", "r2", "kendall", "cost")
    numbers = {name: getattr(made, name) for name in parts}
    return {"tasks": list(made.tasks), "size": len(made.tasks)} | numbers


def _sets(whole: selection.Benchmark, seed: int) -> dict[int, tuple[str, ...]]:
    """The tasks that `examiner select` would take, for each size that there is time for."""
    agents, tasks = len(whole.agents), len(whole.tasks)
    sizes = [size for size in SIZES if size < tasks and agents * tasks * size**2 <= MOST_WORK]
    return sets_of(whole, sizes or [1], rng=seed)


def _board(
    known: SelectionEvidence, target: str, sets: dict[int, tuple[str, ...]], begin: int
) -> Record:
    """What the page needs to do the sum of `trial` itself."""
    column = {task: place for place, task in enumerate(known.tasks)}
    assert known.target is not None
    return {
        "agents": list(known.agents),
        "tasks": list(known.tasks),
        "values": _rounded(known.values),
        "truth": _rounded(known.target),
        "cost": known.terms.cost.tolist() if known.terms.priced else None,
        "penalties": SHRINKAGE.tolist(),
        "sets": {str(size): [column[task] for task in tasks] for size, tasks in sets.items()},
        "begin": begin,
        "target": target,
    }


def _rounded(values: Floats) -> Floats:
    digits = DIGITS - 1 - int(np.floor(np.log10(max(float(np.abs(values).max(initial=0)), 1e-12))))
    return np.round(values, digits)


def _sizes(sizes: list[Record]) -> Table:
    columns = (
        Column("tasks", "count", key="size"),
        Column("error", "number", "mean absolute, of agents left out"),
        Column("cost", "number"),
        Column("which", "name", key="tasks"),
    )
    caption = (
        "Tasks as `examiner select` chooses them. They were chosen on the same agents: errors are too "
        "small; *How few tasks suffice* has R² of held-out agents. `examiner select --exactly` computes "
        "the same."
    )
    return Table.of(sizes, columns, caption)
