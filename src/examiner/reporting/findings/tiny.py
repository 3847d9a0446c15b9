"""A tiny version of a benchmark: how well it predicts, by its record on held-out agents."""

from __future__ import annotations

from examiner.messages import counted
from examiner.reporting.finding import Finding, Piece, Text, shown_table
from examiner.reporting.prose import Sentence, three_digits
from examiner.selection import Selection


def render_tiny(tiny: Selection) -> Finding:
    """Show the errors for held-out agents, and how often a regression is reported wrongly or missed.

    >>> import numpy as np
    >>> from examiner.results import Results
    >>> from examiner.selection import Holdout, distil
    >>> scores = np.random.default_rng(0).normal(size=(20, 6)) + np.arange(20)[:, None]
    >>> quick = Holdout(4, draws=5)
    >>> render_tiny(distil(Results.from_numpy(scores), 2, rng=0, holdout=quick)).data["agents"]
    20
    """
    record = tiny.record
    every = counted(len(tiny.predictor.all_tasks), "task")
    about = (
        f"{len(tiny)} of {every} by {tiny.method}, {tiny.target}; seed {tiny.seed}, input "
        f"{tiny.fingerprint}"
    )
    blocks: list[Piece] = []
    if record is not None:
        errors = (
            f"The 95 % interval of the mean absolute error is {three_digits(record.error_low)} to "
            f"{three_digits(record.error_high)}; random selections of the same size have "
            f"{three_digits(record.random_error)}. {record.coverage:.0%} of "
            f"{counted(record.agents, 'agent')} were inside their {tiny.level:.0%} intervals."
        )
        blocks = [
            Text(errors),
            shown_table(tiny.tables["alarms"], caption="Regressions"),
            Text(_RULE),
        ]
    blocks.append(shown_table(tiny.tasks, ["task", "gain"], "Tasks"))
    return Finding(
        lead=(Sentence(tiny.headline),),
        blocks=tuple(blocks),
        about=about,
        answer=tiny,
    )


_RULE = (
    "Shares are over pairs of held-out agents, each in both orders, as earlier and later. A drop is "
    "reported where the predicted one is at least half as large, so that as many are missed as are "
    "reported wrongly, except for ties. Newer agents, better than most of these, are more like the best "
    "third. Two versions of one agent share more of their errors than two agents do: both shares are lower "
    "for them."
)
