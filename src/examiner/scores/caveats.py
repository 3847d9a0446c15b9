"""What to know before scores are averaged: directions, units, and results not missing at random."""

from __future__ import annotations

import re

import numpy as np

from examiner.messages import shorten
from examiner.results import Results, atari_game, reads_results
from examiner.scores.cells import cell_means, ratio
from examiner.scores.normalise import (
    FAR_APART,
    is_normalised,
    shared_range,
    suggested_normaliser,
    task_ranges_apart,
)
from examiner.scores.signed_ranks import midranks
from examiner.validation import Floats

LOWER_IS_BETTER = re.compile(
    "time|runtime|duration|latency|seconds|sec|milliseconds?|ms|minutes|cost|price|loss|errors?|regret|"
    "perplexity|ppl|nll|wer|cer|mae|mse|rmse|par2|par10"
)
"""Words in names of measures of which less is better."""


@reads_results
def direction_notes(results: Results) -> tuple[str, ...]:
    """Say where higher is taken as better, and the measure is named like one of which less is better.

    >>> direction_notes(Results.from_numpy([[0.1]]))
    ()
    """
    measure = results.measure_name(None)
    if is_normalised(results, measure):
        return ()
    words = re.split(r"[\W_]+", measure.lower())
    stated = results.scales.aligned(results.task_names, measure).sign
    if not any(map(LOWER_IS_BETTER.fullmatch, words)) or (stated < 0).any():
        return ()
    return (
        f"Higher is taken as better, though {shorten(measure)} is named like a cost or an error. If lower "
        f"is better, say so in a table of tasks (a column 'direction' with the word lower), and normalise.",
    )


@reads_results
def averaging_notes(results: Results) -> tuple[str, ...]:
    """Warn where raw scores are averaged over tasks with units of their own.

    >>> averaging_notes(Results.from_numpy([[0.1, 0.9], [0.4, 0.5]]))
    ()
    """
    measure = results.measure_name(None)
    apart = task_ranges_apart(results)
    if is_normalised(results, measure) or shared_range(results) is not None:
        return ()
    method = suggested_normaliser(results)
    if method != "human" and apart < FAR_APART:
        return ()
    if method == "human":
        why = "though every task has a random and a reference score"
    else:
        why = f"over tasks whose ranges lie {apart:,.0f}-fold apart, so that few tasks decide"
    atari = method != "human" and any(atari_game(name) is not None for name in results.task_names)
    scales = 'results.with_scales(ex.load("atari-human-random"))' if atari else "results"
    advised = "human" if atari or method is None else method
    where = "" if atari or method is not None else ", with scales of the tasks"
    return (
        f'Raw scores are averaged {why}: consider `ex.normalise({scales}, "{advised}")`{where}.',
    )


def missing_notes(results: Results, measure: str | None = None) -> tuple[str, ...]:
    r"""Warn where results are not missing at random, with the size of the bias that this may cause.

    Effects of agents and tasks are fitted by least squares to the cells observed, x = a + b. Where tasks
    with fewer results are harder or easier (rank correlation of b with the share observed), the mean of an
    agent over its own tasks is off by the mean b of these tasks. Where agents with fewer results are better
    or worse, results may be missing because of what they would have been: the note says by how much means
    would change if all of them were the lowest score.

    References: Rubin (1976), "Inference and missing data".

    >>> missing_notes(Results.from_numpy([[1.0, 2.0], [2.0, 4.0]]))
    ()
    """
    cells = cell_means(results, measure)
    observed = np.isfinite(cells)
    if observed.all() or not observed.any():
        return ()
    agent, task = _effects(cells, observed)
    notes = []
    by_task, p_task = _rank_correlation(observed.mean(axis=0), task)
    bias = ratio(np.where(observed, task, 0.0).sum(axis=1), observed.sum(axis=1)) - task.mean()
    error_rate = 0.01  # how often results that are missing at random may be called otherwise
    if p_task < error_rate:
        worst = int(np.nanargmax(np.abs(bias)))
        word = "lower" if by_task > 0 else "higher"
        notes.append(
            f"Results are not missing at random: tasks with fewer results have {word} scores (rank "
            f"correlation {by_task:.2f}, p = {p_task:.1g}). Means over an agent's own tasks are off by up "
            f"to {abs(bias[worst]):.2g} ({shorten(results.agents[worst])}), if effects of agents and tasks "
            f"add up. Compare agents on common tasks."
        )
    by_agent, p_agent = _rank_correlation(observed.mean(axis=1), agent)
    if p_agent < error_rate:
        missing = 1 - observed.mean(axis=1)
        means = ratio(np.where(observed, cells, 0.0).sum(axis=1), observed.sum(axis=1))
        fall = missing * (means - np.nanmin(cells))
        worst = int(np.nanargmax(fall))
        word = "lower" if by_agent > 0 else "higher"
        notes.append(
            f"Results are not missing at random: agents with fewer results have {word} scores (rank "
            f"correlation {by_agent:.2f}, p = {p_agent:.1g}). If all missing results were failures, means "
            f"would fall by up to {fall[worst]:.2g} ({shorten(results.agents[worst])})."
        )
    return tuple(notes)


def _effects(cells: Floats, observed: np.ndarray) -> tuple[Floats, Floats]:
    """Effects of agents and of tasks, [agents] and [tasks], by alternating least squares."""
    values = np.where(observed, cells, 0.0)
    agent, task = np.zeros(len(cells)), np.zeros(cells.shape[1])
    for _ in range(100):
        before = task
        agent = np.nan_to_num(ratio((values - observed * task).sum(axis=1), observed.sum(axis=1)))
        task = np.nan_to_num(
            ratio((values - observed * agent[:, None]).sum(axis=0), observed.sum(axis=0))
        )
        if np.abs(task - before).max() <= 1e-9 * np.abs(task).max(initial=1e-300):
            break
    return agent, task


def _rank_correlation(share: Floats, effect: Floats) -> tuple[float, float]:
    """Spearman's correlation and its p-value; none where either does not vary."""
    from scipy.special import stdtr  # slow to import

    used = share > 0
    x, y = midranks(np.stack([share[used], effect[used]]))
    if len(x) < 4 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return 0.0, 1.0
    r = float(np.clip(np.corrcoef(x, y)[0, 1], -1 + 1e-12, 1 - 1e-12))
    degrees = len(x) - 2
    return r, float(2 * stdtr(degrees, -abs(r) * np.sqrt(degrees / (1 - r**2))))
