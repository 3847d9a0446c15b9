"""Notes of the analysis of information: what a reader should know about the bits."""

from __future__ import annotations

import numpy as np

from examiner.information.channels import Channels
from examiner.information.observations import Observations, moments
from examiner.information.sets import SCREENED, SCREENING_ROWS, InformativeSet, is_large
from examiner.information.share_draws import with_single_trials
from examiner.information.uncertainty import BitsByChance
from examiner.messages import counted

NEARLY_ALL = 1e-6


def notes_of(
    observations: Observations,
    channels: Channels,
    best: InformativeSet,
    chance: BitsByChance | None,
    reps: int,
) -> list[str]:
    """Return what a reader should know about these bits."""
    notes = []
    missing = int(np.isnan(channels.mean).all(axis=0).sum())
    if missing:
        notes.append(
            f"{counted(missing, 'cell')} of {channels.mean[0].size:,} {'has' if missing == 1 else 'have'} "
            f"no result: bits of tasks with gaps are too low rather than too high."
        )
    unsteady = _tasks_with_single_wins(observations) if reps and observations.repeated else 0
    if unsteady:
        notes.append(
            f"On {counted(unsteady, 'task')} an agent has a single trial of 0 or 1, which does not show "
            f"how it varies: corrected bits there, like those counted, are of shares (k + ½) / (n + 1)."
        )
    if reps and not observations.repeated:
        notes.append(
            "Every cell is a single trial: bits have no intervals and cannot be compared with chance."
        )
    if is_large(*observations.shape):
        notes.append(_of_large(chance))
    if all(observations.shares) and not observations.repeated:
        notes.append(
            "Single trials of 0 or 1 do not show how an agent varies, and give hardly any information "
            "about which agent is playing. Use `irt.ability_information` for information about ability."
        )
    full = int((best.tasks.bits > channels.max_bits - NEARLY_ALL).sum())
    if full > 1:
        enough = len(best.tasks) - full + 1
        first = "task chosen identifies" if enough == 1 else f"{enough:,} tasks chosen identify"
        notes.append(
            f"The first {first} the agent up to {NEARLY_ALL:g} bits: those after add nothing."
        )
    high = np.inf if chance is None else chance.chosen["chance_high"][-1]
    if chance is not None and best.bits <= high:
        few = "" if chance.test.significant else " More trials, or other tasks, are needed."
        notes.append(
            f"With this number of trials, 5 % of permuted results reach {high:.3g} bits; "
            f"the chosen tasks have {best.bits:.3g} together.{few}"
        )
    return notes


def _tasks_with_single_wins(observations: Observations) -> int:
    """Return on how many tasks an agent has a single trial of a measure of zeros and ones."""
    trials = moments(observations).trials[np.array(observations.shares)]
    return (
        int(np.any([with_single_trials(part) for part in trials], axis=0).sum())
        if len(trials)
        else 0
    )


def _of_large(chance: BitsByChance | None) -> str:
    screened = (
        f"The table is large: tasks of the set were screened by the rows of {SCREENING_ROWS} agents, and "
        f"the best {SCREENED} compared by all agents"
    )
    if chance is None:
        return screened + "."
    permutations = counted(chance.test.permutations, "permutation")
    return f"{screened}; there are {permutations}, and only the chosen tasks have intervals."
