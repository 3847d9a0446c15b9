"""What a reader of learning-curve summaries should know: what was short, missing or not told apart."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examiner.scores.training.checkpoints import Checkpoints
from examiner.scores.training.episodes import Curve, Episodes, Floats
from examiner.scores.training.report_points import AtPoints
from examiner.wording import counted


class Phases(NamedTuple):
    """Episodes played while learning, and the evaluations without; whether those are all, or guessed."""

    training: Curve
    evaluated: Checkpoints | None
    only_evaluations: bool = False
    guessed: bool = False


def curve_notes(
    episodes: Episodes, phases: Phases, during: AtPoints, relative_drop: Floats
) -> tuple[str, ...]:
    """Return one sentence for each thing that a summary could not use or tell.

    >>> from examiner.results import Results
    >>> from examiner.scores.training.episodes import episodes_of
    >>> from examiner.scores.training.report_points import at_points
    >>> results = Results.from_numpy([[1.0]])
    >>> episodes = episodes_of(results)
    >>> curve = episodes.observed(results.measure())
    >>> during = at_points(curve, np.array([1.0]), last=100)
    >>> curve_notes(episodes, Phases(curve, None), during, np.array([np.nan]))[0]
    "There is no column 'frames': time is counted in episodes."
    """
    notes = list(episodes.notes)
    if not episodes.in_frames and not notes:
        notes.append("There is no column 'frames': time is counted in episodes.")
    notes += _training_notes(during)
    notes += _checkpoint_notes(phases, during.last)
    unsaid = np.isnan(relative_drop) & (phases.training.lengths > 0)
    if unsaid.any():
        notes.append(
            f"The relative drop of {int(unsaid.sum()):,} of {counted(len(unsaid), 'run')} cannot be "
            f"told: they have a single checkpoint, or are flat within their noise."
        )
    cells = set(zip(episodes.agent.tolist(), episodes.task.tolist(), strict=True))
    missing = (int(episodes.agent.max()) + 1) * (int(episodes.task.max()) + 1) - len(cells)
    if missing:
        notes.append(
            f"{counted(missing, 'cell')} (agent and task) have no run: agents are compared on the "
            f"tasks they share."
        )
    return tuple(dict.fromkeys(notes))


def _training_notes(during: AtPoints) -> list[str]:
    notes = []
    runs = counted(len(during.mean), "run")
    for place, point in enumerate(during.points):
        here = ~np.isnan(during.mean[:, place])
        if not here.all():
            notes.append(
                f"{int((~here).sum()):,} of {runs} do not reach {point:,.15g} (or have no episode by "
                f"then): they have no value there."
            )
        short = here & (during.episodes[:, place] < during.last)
        if short.any():
            fewest = int(during.episodes[short, place].min())
            notes.append(
                f"At {point:,.15g}, {int(short.sum()):,} of {runs} have fewer than {during.last:,} "
                f"episodes and are averaged over all they have (the fewest: {fewest:,})."
            )
    return notes


def _checkpoint_notes(phases: Phases, last: int) -> list[str]:
    training, evaluated, _, guessed = phases
    if evaluated is None:
        return [
            f"No episodes are marked as evaluation (a column 'evaluation'): there is no evaluation "
            f"after learning, and the best policy is sought among blocks of {last:,} training "
            f"episodes."
        ]
    if guessed:
        return [
            "No episode of a run is alone on its frame: all are taken as evaluations without "
            "learning, those of one frame together."
        ]
    single = np.isnan(evaluated.first_half).all()
    if len(evaluated.first_half) and single:
        return [
            "Every evaluation is a single episode: the best policy cannot be evaluated again on "
            "other episodes."
        ]
    without = int(((evaluated.lengths == 0) & (training.lengths > 0)).sum())
    if without:
        return [f"{without:,} of {counted(len(training.lengths), 'run')} have no evaluation."]
    return []
