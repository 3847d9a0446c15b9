"""Which rows of a log were played while learning, which without, and which agents learn at all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.messages import InputError, counted, listed
from examiner.results import LEARNS, Results
from examiner.scores.training.checkpoints import (
    Checkpoints,
    checkpoint_runs,
    evaluation_rows,
    evaluations_of,
)
from examiner.scores.training.episodes import Curve, Episodes
from examiner.validation import Floats


class Phases(NamedTuple):
    """Rows logged while learning, and the evaluations without; whether those are all, or guessed.

    `points` tells which runs hold checkpoints in place of episodes; shape [runs].
    """

    training: Curve
    evaluated: Checkpoints | None
    points: NDArray[np.bool_]
    only_evaluations: bool = False
    guessed: bool = False

    @property
    def only_checkpoints(self) -> bool:
        """Whether no run holds episodes."""
        return bool(self.points.all())


def learners_of(results: Results) -> tuple[Results, tuple[str, ...]]:
    """Leave out agents that are known not to learn, and say which.

    >>> from examiner.results import Attributes
    >>> known = Attributes("agent", ("a", "b"), ("learns",), ((True,), (False,)))
    >>> table = Results.from_numpy([[1.0], [2.0]], agents=["a", "b"]).with_attributes(known)
    >>> learners_of(table)[1]
    ("1 agent did not learn, and is left out of learning curves: 'b'.",)
    """
    known = results.agent_attributes.aligned(results.agents, LEARNS)
    learn = np.array([str(value).lower() not in ("false", "0", "no") for value in known])
    if learn.all():
        return results, ()
    idle = [agent for agent, learns in zip(results.agents, learn, strict=True) if not learns]
    if not learn.any():
        raise InputError("No agent learnt: there are no learning curves. Look at scores instead.")
    verb = "is" if len(idle) == 1 else "are"
    note = f"{counted(len(idle), 'agent')} did not learn, and {verb} left out of learning curves: "
    return results.where(learn[results.agent_codes]), (f"{note}{listed(idle)}.",)


def phases_of(
    results: Results, measure: str, episodes: Episodes, column: str, sign: Floats
) -> Phases:
    """Return the curve of training, higher being better, and the evaluations where there are any.

    >>> from examiner.scores.training.episodes import episodes_of
    >>> table = Results.from_numpy([[1.0]])
    >>> phases_of(table, "score", episodes_of(table), "evaluation", np.ones(1)).evaluated is None
    True
    """
    values = results.measure(measure) * sign[results.task_codes]
    points = checkpoint_runs(results, episodes)
    judged = evaluation_rows(results, episodes, column)
    if judged is None or not judged.any():
        return Phases(episodes.observed(values), None, points)
    evaluated = evaluations_of(episodes.observed(np.where(judged, values, np.nan)))
    # A log of evaluations only: they are the learning curve as well.
    learning = values if judged.all() else np.where(judged, np.nan, values)
    guessed = column not in results.attributes
    return Phases(episodes.observed(learning), evaluated, points, bool(judged.all()), guessed)
