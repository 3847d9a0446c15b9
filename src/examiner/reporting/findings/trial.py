"""Tasks picked by hand, judged as chosen ones are; on a page, a board on which they are picked."""

from __future__ import annotations

import numpy as np

from examiner import selection
from examiner.messages import counted
from examiner.reporting.finding import Board, Finding, noted
from examiner.reporting.prose import Name, Parts, enumerated, three_digits
from examiner.reporting.study import Study
from examiner.reporting.table import Column, Record, Table, records
from examiner.scores import shared_ranks
from examiner.selection.curves import NODES
from examiner.selection.ridge import SHRINKAGE
from examiner.validation import Floats

MOST_NUMBERS = 200_000
"""On a page: with more, tasks are chosen by their number alone."""
DIGITS = 6
"""Of scores on the page, so that its sums have the printed digits of ours."""


def finding(study: Study) -> Finding:
    """Put up a board on which tasks are picked: a number of them, or each by hand."""
    material, chosen, found, note = study.selected
    sizes = [
        {"tasks": list(tasks), "size": size} | _figures(found, chosen.method, size)
        for size, tasks in zip(found.sizes, found.sets[0], strict=True)
    ]
    board = Board(_board(material, found, study.selected.size), "Tasks to try")
    notes = noted((note,) if note else ())
    begin = next(row for row in sizes if row["size"] == study.selected.size)
    lead = _lead(begin, found, again=True)
    if study.not_shown:
        lead = (Name(study.not_shown), " ", *lead)
    data = begin | {"sizes": sizes, "target": found.target, "folds": found.folds}
    return Finding(lead=lead, blocks=(board, _sizes(sizes, found), *notes), data=data)


def tell(found: selection.Comparison, tasks: tuple[str, ...]) -> Finding:
    """Tell what given tasks predict of every held-out agent, and how far off that is.

    >>> from examiner.results import Results
    >>> scores = np.random.default_rng(0).normal(size=(9, 6)) + np.arange(9)[:, None]
    >>> found = selection.judge_tasks(Results.from_numpy(scores), ["task 1"])
    >>> tell(found, ("task 1",)).data["cost"]
    1.0
    """
    predicted = found.predicted[0, 0]
    agents = records(
        agent=found.agents,
        predicted=predicted,
        rank=_ranks(predicted),
        truth=found.truth,
        true_rank=_ranks(found.truth),
    )
    agents = [row for row in agents if np.isfinite(row["predicted"])]
    agents.sort(key=lambda row: row["rank"])
    columns = (
        Column("rank", "count", "by prediction"),
        Column("agent", "name"),
        Column("predicted", "number", "from these tasks, while the agent is held out"),
        Column("in truth", "number", f"the {found.target} over all tasks", "truth"),
        Column("true rank", "count", key="true_rank"),
    )
    table = Table.of(
        agents, columns, f"Every agent, predicted while it is held out ({found.folds})"
    )
    size = found.sizes[0]
    data = {"tasks": list(tasks), "size": size} | _figures(found, found.methods[0], size)
    beside = {"agents": agents, "target": found.target, "folds": found.folds, "seed": found.seed}
    return Finding(lead=_lead(data, found), blocks=(table,), data=data | beside)


def _figures(found: selection.Comparison, method: str, size: int) -> Record:
    row = found.row(method, size)
    figures = {"error": row.mae.value, "r2": row.r2.value, "kendall": row.kendall.value}
    return figures | {"cost": row.cost}


def _ranks(values: Floats) -> list[int]:
    return [int(rank) if np.isfinite(rank) else 0 for rank in shared_ranks(values)]


def _lead(row: Record, found: selection.Comparison, *, again: bool = False) -> Parts:
    """How well tasks predict, and by which protocol."""
    few = "predicts" if row["size"] == 1 else "predict"
    protocol = f"{found.folds}, tasks {'chosen again in each fold' if again else 'taken as given'}"
    start = (
        f"{counted(row['size'], 'task')} {few} the {found.target} of held-out agents with R² "
        f"{three_digits(row['r2'])} and a mean absolute error of {three_digits(row['error'])} "
        f"({protocol}): "
    )
    return (start, *enumerated(row["tasks"], 8), ".")


def _board(material: selection.Benchmark, found: selection.Comparison, begin: int) -> Record:
    """What the page needs to show chosen sets, and to judge others as `judge_tasks` does."""
    column = {task: place for place, task in enumerate(material.tasks)}
    terms = material.terms
    folds = selection.folds_by_hand(material, rng=found.seed)
    own = sum(material.values.size for fold in folds if fold.values is not None)
    return {
        "agents": list(material.agents),
        "tasks": list(material.tasks),
        "values": _rounded(material.values),
        "truth": _rounded(found.truth),
        "cost": terms.cost.tolist() if terms.priced else None,
        "penalties": SHRINKAGE.tolist(),
        "nodes": NODES.tolist(),
        "weight": None if material.weights is None else material.weights.tolist(),
        "folds": [_fold(fold) for fold in folds] if own <= MOST_NUMBERS else None,
        "protocol": found.folds,
        "sets": {
            str(size): [column[task] for task in tasks]
            for size, tasks in zip(found.sizes, found.sets[0], strict=True)
        },
        "judged": {
            str(size): _figures(found, found.methods[0], size)
            | {"predicted": _rounded(found.predicted[0, place])}
            for place, size in enumerate(found.sizes)
        },
        "begin": begin,
        "target": found.target,
    }


def _fold(fold: selection.FoldByHand) -> Record:
    curves = fold.curves
    return {
        "train": fold.train.tolist(),
        "test": fold.test.tolist(),
        "values": None if fold.values is None else _rounded(fold.values),
        "target": _rounded(fold.target),
        "curves": None
        if curves is None
        else {
            "slope": _rounded(curves.slope),
            "intercept": _rounded(curves.intercept),
            "dispersion": curves.dispersion,
            "usual": list(curves.usual),
            "ends": list(curves.ends),
        },
    }


def _rounded(values: Floats) -> Floats:
    largest = float(np.fmax.reduce(np.abs(values), axis=None, initial=0.0))
    digits = DIGITS - 1 - int(np.floor(np.log10(max(largest, 1e-12))))
    return np.round(values, digits)


def _sizes(sizes: list[Record], found: selection.Comparison) -> Table:
    columns = (
        Column("tasks", "count", key="size"),
        Column("R²", "number", "of held-out agents", "r2"),
        Column("error", "number", "mean absolute, of held-out agents"),
        Column("cost", "number"),
        Column("which", "name", key="tasks"),
    )
    caption = (
        f"Tasks as `examiner select` chooses them. R² and error are those of *How few tasks are enough*: "
        f"tasks are chosen again in each fold ({found.folds}). Tasks that are ticked by hand are taken as "
        f"given in the same folds, as `examiner select --exactly` does."
    )
    return Table.of(sizes, columns, caption)
