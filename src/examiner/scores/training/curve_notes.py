"""What a reader of summed-up learning curves should know: what was short, missing, guessed or left out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from examiner.messages import counted
from examiner.scores.training.episodes import AtPoints, Episodes
from examiner.scores.training.phases import Phases
from examiner.validation import Floats


def curve_notes(
    episodes: Episodes, phases: Phases, during: AtPoints, relative_drop: Floats
) -> tuple[str, ...]:
    """Return one sentence for each thing that a summary of learning curves could not use or tell.

    >>> from examiner.results import Results
    >>> from examiner.scores.training.curves import curves
    >>> curves(Results.from_numpy([[1.0]])).notes[0]
    "There is no column 'frames' or 'steps': time is counted in episodes."
    """
    notes = list(episodes.notes)
    if not episodes.is_timed and not notes:
        notes.append("There is no column 'frames' or 'steps': time is counted in episodes.")
    notes += _training_notes(during, phases.points)
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


def _training_notes(during: AtPoints, checkpoints: NDArray[np.bool_]) -> list[str]:
    """What report points could not use, each thing said once for all points."""
    here = ~np.isnan(during.mean)
    early = during.episodes == 0
    short = here & ~checkpoints[:, None] & (during.episodes < during.last)
    said = [
        (~here & ~early, "do not reach {}: they have no value there"),
        (
            early,
            "have no episode by {}: nothing is said there of their agents on these tasks, since runs whose "
            "episodes end early are not like the others",
        ),
        (
            short,
            f"have fewer than {during.last:,} episodes by {{}} and are averaged over all they have",
        ),
    ]
    return [
        _at_points(during.points, which.sum(axis=0), len(here), words)
        for which, words in said
        if which.any()
    ]


def _at_points(points: Floats, counts: NDArray[np.int64], runs: int, words: str) -> str:
    """One sentence for the points at which some runs are left out: how many of them, and at which."""
    some = [(int(count), point) for count, point in zip(counts, points, strict=True) if count]
    most, at = max(count for count, _ in some), [f"{point:,.15g}" for _, point in some]
    number = f"{most:,}" if len({count for count, _ in some}) == 1 else f"Up to {most:,}"
    listed_points = " and ".join([", ".join(at[:-1]), at[-1]] if len(at) > 1 else at)
    return f"{number} of {counted(runs, 'run')} {words.format(listed_points)}."


def _checkpoint_notes(phases: Phases, last: int) -> list[str]:
    training, evaluated = phases.training, phases.evaluated
    if evaluated is None and phases.only_checkpoints:
        return [
            "The runs hold checkpoints made while learning: there is no evaluation after it, and none of "
            "them can be judged again on other episodes."
        ]
    if evaluated is None:
        return [
            f"No episodes are marked as evaluation (a column 'evaluation'): there is no evaluation "
            f"after learning, and the best policy is sought among blocks of {last:,} training "
            f"episodes."
        ]
    if phases.guessed:
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
