"""Tasks picked by hand, judged as selected ones are; on a page, a board on which they are picked."""

from __future__ import annotations

import numpy as np

from examiner import selection
from examiner.messages import counted
from examiner.reporting.finding import Board, Finding, Record, ShownTable, Text, noted, shown_table
from examiner.reporting.prose import Parts, Sentence, enumerated, three_digits
from examiner.reporting.study import Study
from examiner.selection import NODES, SHRINKAGE
from examiner.validation import Floats

MOST_NUMBERS = 200_000
"""On a page: with more, tasks are chosen by their number alone."""
DIGITS = 6
"""Of scores on the page, so that its sums have the printed digits of ours."""


def finding(study: Study) -> Finding:
    """Show a board on which tasks are picked: a number of them, or each by hand."""
    material, chosen, judgement, note = study.selected
    board = Board(_board(material, judgement, len(chosen)), "Tasks to try")
    notes = noted((note,) if note else ())
    best = chosen.figures
    assert best is not None
    lead: Parts = (
        f"{counted(len(chosen), 'task')} {'predicts' if len(chosen) == 1 else 'predict'} the "
        f"{chosen.target} of held-out agents with R² {three_digits(best.r2)} and a mean absolute error of "
        f"{three_digits(best.mae)} ({judgement.folds}, tasks selected again in each fold): ",
        *enumerated(chosen.tasks.task, 8),
        ".",
    )
    if study.not_shown:
        lead = (Sentence(study.not_shown), " ", *lead)
    blocks = (board, _sizes(judgement), *notes)
    return Finding(lead=lead, blocks=blocks, answer=judgement)


def render_task_trial(judgement: selection.MethodJudgement) -> Finding:
    """Show what given tasks predict of every held-out agent, and the errors.

    >>> from examiner.results import Results
    >>> scores = np.random.default_rng(0).normal(size=(9, 6)) + np.arange(9)[:, None]
    >>> judgement = selection.judge_tasks(Results.from_numpy(scores), ["task 1"])
    >>> render_task_trial(judgement).data["methods"][0]["cost"]
    1.0
    """
    columns = ["rank", "agent", "predicted", "truth", "true_rank"]
    caption = f"Agents, each predicted while it was held out ({judgement.folds})"
    limits = (Text(judgement.limits),) if judgement.limits else ()
    return Finding(
        lead=(Sentence(judgement.headline),),
        blocks=(*limits, shown_table(judgement.predictions(), columns, caption)),
        about=("Tasks: ", Sentence(", ".join(judgement.sets[0][0]))),
        answer=judgement,
    )


def _figures(judgement: selection.MethodJudgement, size: int) -> Record:
    row = judgement.row(judgement.names[0], size)
    return {"error": row.mae, "r2": row.r2, "kendall": row.kendall, "cost": row.cost}


def _board(
    material: selection.Benchmark, judgement: selection.MethodJudgement, begin: int
) -> Record:
    """What the page needs to show selected sets, and to judge others as `judge_tasks` does."""
    column = {task: place for place, task in enumerate(material.tasks)}
    terms = material.terms
    folds = selection.folds_by_hand(material, rng=judgement.seed)
    own = sum(material.values.size for fold in folds if fold.values is not None)
    return {
        "agents": list(material.agents),
        "tasks": list(material.tasks),
        "values": _rounded(material.values),
        "truth": _rounded(judgement.truth),
        "cost": terms.cost.tolist() if terms.priced else None,
        "penalties": SHRINKAGE.tolist(),
        "nodes": NODES.tolist(),
        "weight": None if material.weights is None else material.weights.tolist(),
        "folds": [_fold(fold) for fold in folds] if own <= MOST_NUMBERS else None,
        "protocol": judgement.folds,
        "sets": {
            str(size): [column[task] for task in tasks]
            for size, tasks in zip(judgement.sizes, judgement.sets[0], strict=True)
        },
        "judged": {
            str(size): _figures(judgement, size)
            | {"predicted": _rounded(judgement.predicted[0, place])}
            for place, size in enumerate(judgement.sizes)
        },
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


def _rounded(values: Floats) -> Floats:
    largest = float(np.fmax.reduce(np.abs(values), axis=None, initial=0.0))
    digits = DIGITS - 1 - int(np.floor(np.log10(max(largest, 1e-12))))
    return np.round(values, digits)


def _sizes(judgement: selection.MethodJudgement) -> ShownTable:
    rows = [at for at, name in enumerate(judgement.methods.method) if name == judgement.names[0]]
    caption = (
        f"Tasks as `examiner select` selects them. R² and error are those of *How few tasks suffice*: "
        f"tasks are selected again in each fold ({judgement.folds}). Tasks that are picked by hand are the "
        f"same in all folds, as with `examiner select --exactly`."
    )
    columns = ["size", "r2", "mae", "cost", "tasks"]
    return shown_table(judgement.methods.take(rows), columns, caption)
