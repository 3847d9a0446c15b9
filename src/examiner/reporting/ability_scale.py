"""The fit that several findings tell of: small enough for a report, or the reason why there is none."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from examiner.messages import InputError, counted
from examiner.results import ResponseMatrix
from examiner.scores import NORMALISERS, responses

if TYPE_CHECKING:
    from examiner.irt import Indicators, IRTFit
    from examiner.reporting.study import Study

FEWEST_AGENTS, FEWEST_TASKS = 10, 4
"""An ability scale of fewer agents, or of fewer tasks on which results differ, says little."""
SMALL = 5_000
"""Tables with at most so many cells get three starts, others one."""


class Fitted(NamedTuple):
    """A fit of a study's responses, what its agents are like, and what the responses are."""

    fit: IRTFit
    told: Indicators
    matrix: ResponseMatrix
    what: str
    note: str = ""  # which agents and tasks it is of, where not of all


def fit_of(study: Study) -> Fitted | str:
    """Return a fit of the study's responses, or the sentence that says why there is none.

    >>> from examiner.results import Results
    >>> from examiner.reporting.study import Study
    >>> fit_of(Study.of(Results.from_numpy([[0.5, 1.0], [0.0, 0.5]])))[:24]
    'With 2 agents an ability'
    """
    try:
        return _fitted(study)
    except InputError as problem:
        return f"No model can be fitted: {problem}"


def _fitted(study: Study) -> Fitted | str:
    agents = len(study.results.agents)
    if agents < FEWEST_AGENTS:
        return (
            f"With {counted(agents, 'agent')} an ability scale says little: the report makes one from "
            f"{FEWEST_AGENTS} on (`examiner fit` at any number)."
        )
    whole = study
    study, note = study.for_models
    found = _responses(study)
    if isinstance(found, str):
        return found
    matrix, model, what, landmark = found
    values = matrix.to_numpy()
    varied = int((np.fmax.reduce(values, axis=0) > np.fmin.reduce(values, axis=0)).sum())
    if varied < FEWEST_TASKS:
        return f"Results differ on {counted(varied, 'task')}: too few for an ability scale."
    trials = int(matrix.trials.max()) if matrix.is_counts else 10
    slow = model == "beta" or (model != "normal" and trials > 1)
    if slow and study is not (smaller := whole.for_pairs)[0]:
        study, note = smaller
        again = _responses(study)
        if isinstance(again, str):
            return again
        matrix = again.matrix
    from examiner.irt import fit as fit_irt  # only findings about ability need this package
    from examiner.irt import indicators, standard_scores, with_evidence

    starts = 3 if values.size <= SMALL else 1
    drawing = np.random.default_rng(study.seed)
    fit = fit_irt(matrix, model, starts=starts, landmark=landmark, rng=drawing)
    chance = whole.chance
    if chance is not None and not chance.shown and fit.evidence is not None:
        # what the whole report does not show, the fit of some of its responses does not either
        fit = with_evidence(fit, replace(fit.evidence, abilities=chance))
    # Regularity of successes only repeats their mean.
    scores = (
        None
        if (study.success, study.share) == (None, None)
        else standard_scores(study.results, study.measure)
    )
    return Fitted(fit, indicators(fit, scores), matrix, what, note)


class _Responses(NamedTuple):
    """The responses, the model that takes them, what they are in words, and where difficulty is told."""

    matrix: ResponseMatrix
    model: str
    what: str
    landmark: float | None = None


def _successes(study: Study) -> str:
    """What counts as success, in words."""
    reached = "" if study.success is None else f"{study.judged_measure} reaches {study.success}"
    if study.share is None:
        return f"successes ({reached})"
    most = f"in at least {study.share:g} of a cell's trials"
    return f"successes ({reached} {most})" if reached else f"successes ({most})"


def _responses(study: Study) -> _Responses | str:
    """Successes where there are any, else scores in [0, 1], else scores against a reference.

    Normalisers that only compare the agents at hand centre every task, so that no difficulty is left.
    """
    if study.success is not None or study.share is not None:
        assert study.recipe is not None, "a study that knows successes has a recipe"
        return _Responses(study.recipe.responses(study.results), "2pl", _successes(study))
    matrix = responses(study.results, measure=study.measure)
    if matrix.is_counts:
        return _Responses(matrix, "2pl", "successes")
    values = study.results.measure(study.measure)
    if study.normaliser is None and np.nanmin(values) >= 0 and np.nanmax(values) <= 1:
        return _Responses(matrix, "beta", "scores between 0 and 1")
    known = NORMALISERS.get(study.normaliser or "")
    if known is not None and not known.relative and known.landmark is not None:
        value, meaning = known.landmark
        what = f"{study.measure} normalised by {study.normaliser} ({value:g} is {meaning})"
        return _Responses(responses(study.scores, measure=study.measure), "normal", what, value)
    return (
        "There are no responses to fit: results are neither zeros and ones nor scores between 0 and 1, nor "
        "scores against a human or random player. Say what a success is (`--success 1.0`)."
    )
