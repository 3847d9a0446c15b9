"""Standard scores across agents, squeezed into [0, 1] by the normal distribution function."""

from __future__ import annotations

import numpy as np

from examiner.scores.comparable import Normalised, TaskScores


def z_score(scores: TaskScores) -> Normalised:
    r"""Standardise each task over its agents, then apply Φ: 0.5 is the average agent.

    .. math:: x' = \Phi\!\left(\frac{x - \bar{x}_t}{s_t}\right)

    The mean and the *sample* standard deviation (n − 1) are taken over the agents' means on the
    task, and every trial is placed on that scale. The paper writes "error function"; the data its
    authors published are Φ(z), the normal distribution function.

    References: Martínez-Plumed & Hernández-Orallo (papers/002), section III-C.

    >>> from examiner.results import Results
    >>> from examiner.scores import normalise
    >>> normalise(Results.from_numpy([[1.0], [2.0], [3.0]]), "z-score").measure().round(4)
    array([0.1587, 0.5   , 0.8413])
    """
    from scipy.special import ndtr  # half a second to import: only where it is needed

    scores.needs_several_agents("z-score")
    constant, notes = scores.constant_tasks("z-score")
    varied = np.where(constant, np.nan, scores.agent_means)
    count = np.maximum((~np.isnan(varied)).sum(axis=0), 2)
    mean = np.nansum(varied, axis=0) / count
    deviation = np.sqrt(np.nansum((varied - mean) ** 2, axis=0) / (count - 1))
    deviation[constant] = np.nan
    z = (scores.values - mean[scores.task_codes]) / deviation[scores.task_codes]
    unit = "0.5 = average agent (Φ of the z-score, sample standard deviation over agents)"
    return Normalised(ndtr(z * scores.sign[scores.task_codes]), unit, notes)
