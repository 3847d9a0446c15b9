"""The board of a page: tasks by number or by hand, and how well they predict held-out agents."""

from __future__ import annotations

from typing import Any

import numpy as np

from examiner import selection
from examiner.reporting.figures.chart import compact
from examiner.reporting.finding import Board, Record
from examiner.selection import NODES, SHRINKAGE
from examiner.validation import Floats


def board_of(
    material: selection.Benchmark, judgement: selection.MethodJudgement, begin: int
) -> Board:
    """Return what the page needs to show selected sets, and to judge others as `judge_tasks` does."""
    return Board(_content(material, judgement, begin), "Tasks to try")


def _figures(judgement: selection.MethodJudgement, method: str, size: int) -> Record:
    row = judgement.row(method, size)
    return {"error": row.mae, "r2": row.r2, "kendall": row.kendall, "cost": row.cost}


def _all_tasks(judgement: selection.MethodJudgement, tasks: int) -> Record:
    """The last step of the slider: all tasks leave nothing to predict, however they are drawn."""
    figures = _figures(judgement, "full", tasks)
    return figures | {"predicted": _rounded(judgement.truth), "random": figures}


def _content(
    material: selection.Benchmark, judgement: selection.MethodJudgement, begin: int
) -> Record:
    """What the page needs to show selected sets, and to judge others as `judge_tasks` does."""
    column = {task: place for place, task in enumerate(material.tasks)}
    terms = material.terms
    folds = selection.folds_by_hand(material, rng=judgement.seed)
    fold_values = sum(material.values.size for fold in folds if fold.values is not None)
    return {
        "agents": list(material.agents),
        "tasks": list(material.tasks),
        "values": _rounded(material.values),
        "truth": _rounded(judgement.truth),
        "cost": terms.cost.tolist() if terms.priced else None,
        "penalties": SHRINKAGE.tolist(),
        "nodes": NODES.tolist(),
        "weight": None if material.weights is None else material.weights.tolist(),
        # With more numbers than this, tasks are chosen on the page by their number alone.
        "folds": [_fold(fold) for fold in folds] if fold_values <= 200_000 else None,
        "protocol": judgement.folds,
        "sets": {
            str(size): [column[task] for task in tasks]
            for size, tasks in zip(judgement.sizes, judgement.sets[0], strict=True)
        }
        | {str(len(column)): list(column.values())},
        "judged": {
            str(size): _figures(judgement, judgement.names[0], size)
            | {"predicted": _rounded(judgement.predicted[0, place])}
            | {"random": _figures(judgement, "random", size)}
            for place, size in enumerate(judgement.sizes)
        }
        | {str(len(column)): _all_tasks(judgement, len(column))},
        "begin": begin,
        "target": judgement.target,
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


def _rounded(values: Floats) -> list[Any]:  # Any: nested lists
    largest = float(np.fmax.reduce(np.abs(values), axis=None, initial=0.0))
    # Six significant digits: sums on the page then agree with ours as printed.
    digits = 5 - int(np.floor(np.log10(max(largest, 1e-12))))
    return compact(np.round(values, digits), 15)
