"""Likelihoods of every possible outcome of every task, for choosing between tasks not yet answered."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examiner.adaptive.answers import Whole, log_density
from examiner.irt.items import Floats, ItemParameters, curves

MOST_OUTCOMES = 12
"""More outcomes than these are merged with their neighbours, which loses little information."""
_BINS = 16
_STEP = 1e-4
_LEAST = 1e-12


class OutcomeTables(NamedTuple):
    """Likelihood [outcomes, tasks, nodes], 0 where a task has fewer outcomes; information [tasks, nodes].

    `exact` says that outcome k of a task is k successes: nothing was merged.
    """

    likelihood: Floats
    information: Floats
    exact: bool


def outcome_tables(
    versions: tuple[ItemParameters, ...], nodes: Floats, trials: Whole
) -> OutcomeTables:
    """Return the likelihood of each outcome averaged over versions, and its information Σ L'² / L."""
    if versions[0].response == "beta":
        return _scores(versions, nodes)
    most = int(trials.max())
    if most == 1:
        likelihood, slope = _single_trials(versions, nodes)
    else:
        likelihood = _counts(versions, nodes, trials)
        above, below = (_counts(versions, nodes + step, trials) for step in (_STEP, -_STEP))
        slope = (above - below) / (2 * _STEP)
    found = np.divide(slope**2, likelihood, out=np.zeros_like(slope), where=likelihood > _LEAST)
    return OutcomeTables(likelihood, np.asarray(found.sum(axis=0)), most < MOST_OUTCOMES)


def _single_trials(versions: tuple[ItemParameters, ...], nodes: Floats) -> tuple[Floats, Floats]:
    failure, success, slope = (np.zeros((len(versions[0]), nodes.size)) for _ in range(3))
    for items in versions:
        shape = curves(items, nodes)
        failure += shape.failure
        success += shape.success
        steepness = items.slope * (items.ceiling - items.guessing)
        slope += steepness[:, None] * shape.rising * shape.falling
    count = len(versions)
    return np.stack([failure, success]) / count, np.stack([-slope, slope]) / count


def _counts(versions: tuple[ItemParameters, ...], nodes: Floats, trials: Whole) -> Floats:
    most = int(trials.max())
    table = np.zeros((min(most + 1, MOST_OUTCOMES), len(versions[0]), nodes.size))
    for won in range(most + 1):
        value = np.minimum(float(won), trials.astype(np.float64))
        place = won * len(table) // (most + 1)
        for items in versions:
            density = np.exp(log_density(items, nodes, value, trials))
            table[place] += density * (won <= trials)[:, None]
    table /= len(versions)
    return table


def _scores(versions: tuple[ItemParameters, ...], nodes: Floats) -> OutcomeTables:
    """Scores in bins, from the beta with the mean and variance of the average over versions.

    Var y = E[P (1 − P) / (φ + 1)] + Var(P), over versions; P̄ (1 − P̄) / Var y − 1 is its precision φ̄, and
    its information P̄'² φ̄² (ψ'(P̄φ̄) + ψ'((1 − P̄)φ̄)).
    """
    from scipy.special import betainc, polygamma

    mean, square, within, slope = (np.zeros((len(versions[0]), nodes.size)) for _ in range(4))
    for items in versions:
        shape = curves(items, nodes)
        phi = np.ones((len(items), 1)) if items.precision is None else items.precision[:, None]
        mean += shape.success
        square += shape.success**2
        within += shape.success * shape.failure / (phi + 1.0)
        steepness = items.slope * (items.ceiling - items.guessing)
        slope += steepness[:, None] * shape.rising * shape.falling
    mean, square, within, slope = (part / len(versions) for part in (mean, square, within, slope))
    inside = np.clip(mean, 1e-6, 1 - 1e-6)
    variance = np.maximum(within + square - mean**2, 1e-12)
    precision = np.clip(inside * (1 - inside) / variance - 1.0, 1e-3, 1e9)
    up, down = inside * precision, (1 - inside) * precision
    information = slope**2 * precision**2 * (polygamma(1, up) + polygamma(1, down))
    edges = 0.5 - 0.5 * np.cos(np.linspace(0, np.pi, _BINS + 1)[1:-1])
    below = np.stack([betainc(up, down, edge) for edge in edges])
    ends = np.zeros_like(below[:1]), np.ones_like(below[:1])
    bins = np.diff(np.concatenate([ends[0], below, ends[1]]), axis=0)
    return OutcomeTables(np.maximum(bins, 0.0), np.asarray(information), False)
