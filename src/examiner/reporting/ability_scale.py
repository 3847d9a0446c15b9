"""The fit that several findings show, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from examiner.answers import Column
from examiner.messages import InputError, counted
from examiner.reporting.finding import ShownTable, shown_table
from examiner.results import ResponseMatrix
from examiner.scores import NORMALISERS, responses

if TYPE_CHECKING:
    from examiner.irt import Indicators, IRTFit
    from examiner.reporting.study import Study


class Fitted(NamedTuple):
    """A fit of a study's responses, indicators of its agents, and what the responses are in words."""

    fit: IRTFit
    indicators: Indicators
    matrix: ResponseMatrix
    what: str
    note: str = ""  # the agents and tasks it is based on, if not all


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
    if agents < 10:
        return (
            f"With {counted(agents, 'agent')} an ability scale says little: the report makes one from "
            f"10 on (`examiner fit` at any number)."
        )
    whole = study
    study, note = study.for_models
    chosen = _responses(study)
    if not isinstance(chosen, str) and chosen.model == "beta":  # ten times as slow as successes
        study, note = whole.for_pairs
        chosen = _responses(study)
    if isinstance(chosen, str):
        return chosen
    matrix, model, what, landmark = chosen
    values = matrix.to_numpy()
    varied = int((np.fmax.reduce(values, axis=0) > np.fmin.reduce(values, axis=0)).sum())
    if varied < 4:
        return f"Results differ on {counted(varied, 'task')}: too few for an ability scale."
    from examiner.irt import fit as fit_irt  # only findings about ability need this package
    from examiner.irt import indicators, standard_scores, with_evidence

    starts = 3 if values.size <= 5_000 else 1  # large tables have one optimum, and take long
    drawing = np.random.default_rng(study.seed)
    fit = fit_irt(matrix, model, starts=starts, landmark=landmark, rng=drawing)
    chance = whole.chance
    if chance is not None and not chance.shown and fit.evidence is not None:
        # one verdict on whether agents differ, for the whole report
        fit = with_evidence(fit, replace(fit.evidence, abilities=chance))
    # Regularity of successes only repeats their mean.
    scores = (
        None
        if (study.success, study.share) == (None, None)
        else standard_scores(study.results, study.measure)
    )
    return Fitted(fit, indicators(fit, scores), matrix, what, note)


def agents_by_group(
    fit: IRTFit, indicators: Indicators, columns: Sequence[str], caption: str
) -> ShownTable:
    """Show the agents of a fit, the highest ability first: of agents without a common task, by group."""
    agents = indicators.tables["agents"]
    if not fit.groups:
        return shown_table(agents, ["agent", *columns], caption)
    group = {agent: number for number, names in enumerate(fit.groups, 1) for agent in names}
    numbers = np.array([group.get(agent, 0) for agent in agents.values("agent")])
    column = Column("group", "count", "Agents of different groups have no task in common")
    grouped = agents.with_column(column, numbers).take(np.argsort(numbers, kind="stable"))
    return shown_table(
        grouped, ["agent", "group", *columns], f"{caption} Groups cannot be compared."
    )


class _Responses(NamedTuple):
    """The responses, their model, what they are in words, and the score at which difficulty is stated."""

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
    normaliser = NORMALISERS.get(study.normaliser or "")
    if normaliser is not None and not normaliser.relative and normaliser.landmark is not None:
        value, meaning = normaliser.landmark
        what = f"{study.measure} normalised by {study.normaliser} ({value:g} is {meaning})"
        return _Responses(responses(study.scores, measure=study.measure), "normal", what, value)
    return (
        "There are no responses to fit: results are neither zeros and ones nor scores between 0 and 1, nor "
        "scores against a human or random player. Say what a success is (`--success 1.0`)."
    )
