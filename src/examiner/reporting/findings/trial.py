"""Tasks picked by hand, judged as selected ones are."""

from __future__ import annotations

from examiner import selection
from examiner.reporting.finding import Finding, Text, shown_table
from examiner.reporting.prose import Sentence


def render_task_trial(judgement: selection.MethodJudgement) -> Finding:
    """Show what given tasks predict of every held-out agent, and the errors.

    >>> import numpy as np
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
