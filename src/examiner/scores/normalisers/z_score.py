"""Standard scores across agents, squeezed into [0, 1] by the normal distribution function."""

from __future__ import annotations

import numpy as np

from examiner.scores.comparable import LearntScale, TaskScores, column_size
from examiner.validation import Floats

FEW_AGENTS = 3


def learn(scores: TaskScores) -> LearntScale:
    """Keep the mean and the *sample* deviation (n − 1) of agents' means, in units of the largest."""
    scores.needs_several_agents("z-score")
    constant, notes = scores.constant_tasks("z-score")
    size = column_size(scores.agent_means)
    varied = np.where(constant, np.nan, scores.agent_means / size)
    count = np.maximum((~np.isnan(varied)).sum(axis=0), 2)
    mean = np.nansum(varied, axis=0) / count
    deviation = np.sqrt(np.nansum((varied - mean) ** 2, axis=0) / (count - 1))
    if len(scores.agent_means) <= FEW_AGENTS:
        notes += (
            f"With {len(scores.agent_means)} agents a z-score shows who is ahead on a task, but hardly "
            f"by how much: sizes of differences, and shares of variance, mean little.",
        )
    return scores.scale(size, mean, np.where(constant, np.nan, deviation), notes=notes)


def apply(scale: LearntScale, scores: TaskScores) -> Floats:
    r"""Standardise each task over its agents, then apply Φ: 0.5 is the average agent.

    .. math:: \bar{x}'_{at} = \Phi(z_{at}), \quad z_{at} = \frac{\bar{x}_{at} - \bar{x}_t}{s_t}

    The paper writes "error function"; the data its authors published are Φ(z), the normal
    distribution function.

    The paper has one score a cell. Where there are several, Φ of each trial and then the mean would
    put agents in another order than their means. So the cell's mean becomes Φ(z), and its trials
    keep their distance from it along the tangent, where they may leave [0, 1]:

    .. math:: x' = \Phi(z_{at}) + \varphi(z_{at}) \, \frac{x - \bar{x}_{at}}{s_t}

    References: Martínez-Plumed & Hernández-Orallo (papers/002), section III-C.

    >>> from examiner.results import Results
    >>> from examiner.scores import normalise
    >>> normalise(Results.from_numpy([[1.0], [2.0], [3.0]]), "z-score").measure().round(4)
    array([0.1587, 0.5   , 0.8413])
    """
    from scipy.special import ndtr  # half a second to import: only where it is needed

    size, mean, deviation = scale.marks
    means = scores.agent_means / size
    z = (means - mean) / deviation * scale.sign
    steepness = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi) * scale.sign / deviation
    cells = scores.agent_codes, scores.task_codes
    away = scores.values / size[scores.task_codes] - means[cells]
    return np.asarray(ndtr(z)[cells] + steepness[cells] * away)
