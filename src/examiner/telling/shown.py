"""Whether agents are shown to differ: asked once for a whole report, before any section names one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from examiner.results import ResponseMatrix
from examiner.results.connections import Connections, divided_sentence
from examiner.scores import responses
from examiner.scores.significance import wilcoxon_holm

if TYPE_CHECKING:
    from examiner.irt import ChanceTest
    from examiner.telling.study import Study

FEWEST_TASKS, FEWEST_FOR_TWO = 3, 6
"""Tasks from which a test over tasks can show anything, of several agents and of two."""


def chance_of(study: Study) -> ChanceTest | None:
    """Test whether agents differ over tasks at all; None where too few agents or tasks can tell.

    It is the test of a fit's evidence (`irt.Evidence`), of the same responses where results are successes;
    two agents are compared by Wilcoxon's signed ranks.

    >>> from examiner.results import Results
    >>> from examiner.telling.study import Study
    >>> chance_of(Study.of(Results.from_numpy([[0.5, 1.0], [0.0, 0.5]])))
    """
    from examiner.irt.diagnostics.chance import agents_differ  # a room that few sections need
    from examiner.irt.evidence import ChanceTest

    agents, tasks = study.comparable.shape
    if agents < 2 or tasks < (FEWEST_FOR_TWO if agents == 2 else FEWEST_TASKS):
        return None
    if agents > 2:
        return agents_differ(_tested(study), study.seed)
    p = float(wilcoxon_holm(study.comparable)[0, 1])
    return ChanceTest(float("nan"), float("nan"), p, "Wilcoxon's signed ranks")


def reason_not_to_name(study: Study) -> str:
    """Say why no agent may be named as better than another; nothing where agents are shown to differ.

    One test at 5 % stands before everything a report says, so that of identical agents the whole report,
    and not each of its sections, names any in one table of twenty. What a section says beyond has tests
    of its own. Tables with fewer tasks than tests over tasks take are told as they are.

    References: Marcus, Peritz & Gabriel (1976), for tests behind a test of all.

    >>> from examiner.results import Results
    >>> from examiner.telling.study import Study
    >>> rng = np.random.default_rng(0)
    >>> reason_not_to_name(Study.of(Results.from_numpy(rng.random((4, 9)))))
    'Agents are not shown to differ over these tasks: chance gives as much in ... % of tables.'
    >>> able = rng.random((4, 9)) + np.arange(4)[:, None]
    >>> reason_not_to_name(Study.of(Results.from_numpy(able)))
    ''
    """
    seen = np.isfinite(study.comparable)
    groups = Connections.by_groups(study.results.agents, study.results.tasks, seen).separate
    if groups:
        return f"{divided_sentence(groups)} Agents of different groups cannot be compared."
    test = study.chance
    if test is None or test.shown:
        return ""
    return f"Agents are not shown to differ over these tasks: {test.often}."


def _tested(study: Study) -> ResponseMatrix:
    """Successes of trials where results are some, else comparable scores."""
    if study.normaliser is None and study.results.is_binary(study.measure):
        return responses(study.results, measure=study.measure)
    return ResponseMatrix.from_array(study.comparable)
