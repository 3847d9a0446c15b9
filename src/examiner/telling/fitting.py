"""The fit that several sections tell of: made once for a study, and small enough for a report."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from examiner.irt import Indicators, IRTFit, indicators, standard_scores
from examiner.irt import fit as fit_irt
from examiner.results import ResponseMatrix
from examiner.scores import responses
from examiner.telling.study import Study
from examiner.wording import InputError, counted

FEWEST_AGENTS = 10
FEWEST_TASKS = 4
MOST_CELLS = 600_000
MOST_SLOW_CELLS = 30_000
"""Cells times trials that a beta or beta-binomial may have in a report: some seconds."""
SMALL = 5_000
"""Tables with at most so many cells get three starts, others one."""


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """A fit of the study's responses, what its agents are like, and what the responses are."""

    fit: IRTFit
    told: Indicators
    matrix: ResponseMatrix
    what: str


_MADE: WeakKeyDictionary[Study, Fitted | str] = WeakKeyDictionary()


def fitted(study: Study) -> Fitted | str:
    """Return the fit of a study, or the sentence that says why there is none.

    >>> from examiner.results import Results
    >>> fitted(Study.of(Results.from_numpy([[0.5, 1.0], [0.0, 0.5]])))[:24]
    'With 2 agents an ability'
    """
    if study not in _MADE:
        try:
            _MADE[study] = _fitted(study)
        except InputError as problem:
            _MADE[study] = f"No model can be fitted: {problem}"
    return _MADE[study]


def already_fitted(study: Study) -> Fitted | None:
    """Return the fit of a study where another section has made it, and make none.

    >>> from examiner.results import Results
    >>> already_fitted(Study.of(Results.from_numpy([[0.5, 1.0], [0.0, 0.5]]))) is None
    True
    """
    made = _MADE.get(study)
    return made if isinstance(made, Fitted) else None


def _fitted(study: Study) -> Fitted | str:
    agents = len(study.results.agents)
    if agents < FEWEST_AGENTS:
        return (
            f"With {counted(agents, 'agent')} an ability scale says little: the report makes one from "
            f"{FEWEST_AGENTS} on (`examiner fit` at any number)."
        )
    found = _responses(study)
    if isinstance(found, str):
        return found
    matrix, model, what = found
    values = matrix.to_numpy()
    varied = int((np.fmax.reduce(values, axis=0) > np.fmin.reduce(values, axis=0)).sum())
    if varied < FEWEST_TASKS:
        return f"Results differ on {counted(varied, 'task')}: too few for an ability scale."
    trials = int(matrix.trials.max()) if matrix.is_counts else 10
    slow = model == "beta" or trials > 1
    if values.size > MOST_CELLS or (slow and values.size * trials > MOST_SLOW_CELLS):
        return (
            f"{agents:,} agents on {len(matrix.tasks):,} tasks are too many for a report: run "
            f"`examiner fit`."
        )
    fit = fit_irt(
        matrix,
        model,
        starts=3 if values.size <= SMALL else 1,
        rng=np.random.default_rng(study.seed),
    )
    # Regularity of successes only repeats their mean.
    scores = None if study.success is None else standard_scores(study.results, study.measure)
    return Fitted(fit, indicators(fit, scores), matrix, what)


def _responses(study: Study) -> tuple[ResponseMatrix, str, str] | str:
    """The responses, the model that takes them, and what they are in words."""
    if study.success is not None:
        matrix = responses(study.scores, study.success, measure=study.measure)
        return matrix, "2pl", f"successes ({study.measure} reaches {study.success})"
    if study.results.is_binary(study.measure):
        return responses(study.results, measure=study.measure), "2pl", "successes"
    values = study.results.measure(study.measure)
    seen = values[~np.isnan(values)]
    if study.normaliser is None and len(seen) and seen.min() >= 0 and seen.max() <= 1:
        matrix = ResponseMatrix.from_array(study.raw, study.results.agents, study.results.tasks)
        return matrix, "beta", "scores between 0 and 1"
    return (
        "There are no responses to fit: results are neither zeros and ones nor scores between 0 and 1. "
        "Say what a success is (`--success 1.0`)."
    )
