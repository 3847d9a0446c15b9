"""Whether agents differ significantly: asked once for a whole report, before any section names one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from examiner.messages import InputError, counted
from examiner.results import ResponseMatrix, divided_sentence
from examiner.scores import Unit, exchange_runs, responses, run_scores, significance

if TYPE_CHECKING:
    from examiner.irt import ChanceTest
    from examiner.reporting.study import Study

FEWEST_TASKS = 3
"""Tasks from which exchanges of agents within tasks can show anything."""


def chance_of(study: Study) -> ChanceTest | None:
    """Test whether agents differ in their mean; None where too few agents, tasks or runs can tell.

    With several runs in every cell, runs are exchanged between agents (`exchange_runs`), with these tasks
    held fixed; else agents are exchanged within tasks (`chance_over_tasks`).

    >>> from examiner.results import Results
    >>> from examiner.reporting.study import Study
    >>> chance_of(Study.of(Results.from_numpy([[0.5], [0.0]])))
    """
    from examiner.irt import ChanceTest

    if study.resampled.unit == "tasks":
        return study.chance_over_tasks
    if len(study.results.agents) < 3:
        return _of_pairs(study)
    found = exchange_runs(run_scores(study.scores, study.measure, study.total), study.seed)
    method = f"{counted(found.draws, 'exchange')} of runs within each task"
    return ChanceTest(found.statistic, found.by_chance, found.p_value, method)


def chance_over_tasks(study: Study) -> ChanceTest | None:
    """Test whether agents differ over other tasks like these; None where too few can tell.

    It is the test of a fit's evidence (`irt.Evidence`), of the same responses where results are successes.
    With fewer agents or tasks than that takes, it is the least p-value of pairs (`significance`).

    >>> from examiner.results import Results
    >>> from examiner.reporting.study import Study
    >>> chance_over_tasks(Study.of(Results.from_numpy([[0.5], [0.0]])))
    """
    from examiner.irt import agents_differ  # a package that few sections need

    agents, tasks = study.comparable.shape
    if agents < 3 or tasks < FEWEST_TASKS:
        return _of_pairs(study, "tasks")
    return agents_differ(_tested(study), study.seed)


def _of_pairs(study: Study, unit: Unit | None = None) -> ChanceTest | None:
    """The least p-value of pairs of agents, after Holm; None where they have too little in common."""
    from examiner.irt import ChanceTest

    shown, nothing = study.resampled.shown_results, float("nan")
    try:
        made = significance(shown, measure=study.measure, total=study.total, unit=unit)
    except InputError:
        return None
    p = float(made.p[np.triu_indices(len(made.agent_names), 1)].min())
    return ChanceTest(nothing, nothing, p, made.test)


def reason_not_to_name(study: Study) -> str:
    """Say why no agent may be named as better than another; nothing where agents differ significantly.

    One test at 5 % stands before everything a report says, so that of identical agents the whole report,
    and not each of its sections, names any in one table of twenty. What a section says beyond has tests
    of its own. Tables too small for the test are told as they are.

    References: Marcus, Peritz & Gabriel (1976), for tests behind a test of all.

    >>> from examiner.results import Results
    >>> from examiner.reporting.study import Study
    >>> rng = np.random.default_rng(0)
    >>> reason_not_to_name(Study.of(Results.from_numpy(rng.random((4, 9)))))
    'Agents do not differ significantly: p = ... (permutation test over 9 tasks).'
    >>> able = rng.random((4, 9)) + np.arange(4)[:, None]
    >>> reason_not_to_name(Study.of(Results.from_numpy(able)))
    ''
    """
    if study.groups:
        return f"{divided_sentence(study.groups)} Agents of different groups cannot be compared."
    return _not_significant(study, study.chance, study.resampled.unit)


def reason_not_to_generalise(study: Study) -> str:
    """Say why agents may not differ over other tasks like these; nothing where they do significantly.

    >>> from examiner.results import Results
    >>> from examiner.reporting.study import Study
    >>> rng = np.random.default_rng(0)
    >>> own = rng.normal(size=(4, 5, 1)) + 0.01 * rng.normal(size=(4, 5, 3))
    >>> study = Study.of(Results.from_numpy(own))
    >>> reason_not_to_name(study), reason_not_to_generalise(study)
    ('', 'Agents do not differ significantly: p = ... (permutation test over 5 tasks).')
    """
    return reason_not_to_name(study) or _not_significant(study, study.chance_over_tasks, "tasks")


def _not_significant(study: Study, test: ChanceTest | None, unit: Unit) -> str:
    if test is None or test.shown:
        return ""
    over = f"permutation test over {'runs of ' if unit == 'runs' else ''}"
    by = f"{over}{counted(study.comparable.shape[1], 'task')}"
    if np.isnan(test.statistic):  # of pairs
        by = test.method
    return f"Agents do not differ significantly: {test.p} ({by})."


def _tested(study: Study) -> ResponseMatrix:
    """Successes of trials where results are some, else comparable scores."""
    if study.normaliser is None and study.results.is_binary(study.measure):
        return responses(study.results, measure=study.measure)
    return ResponseMatrix.from_array(study.comparable)
