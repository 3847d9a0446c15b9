"""Rank uncertainty: how probably each agent has each rank."""

from __future__ import annotations

import numpy as np

from examiner.scores import AGGREGATES, RankProbabilities, suggested_aggregate
from examiner.scores import ranks as probabilities
from examiner.telling.figures import ranks as picture
from examiner.telling.finding import Figure, Finding, Name, Prose, Text
from examiner.telling.resampled import noted, resampled, untold, what_varies
from examiner.telling.study import Study
from examiner.wording import InputError

KEY, TITLE = "rank_probabilities", "How sure the ranks are"


def rank_probabilities(study: Study) -> Finding:
    """Draw the probability of each rank, and say how sure the first place is.

    >>> from examiner.results import Results
    >>> from examiner.telling.finding import said
    >>> scores = [[[0.8, 0.9], [0.7, 0.9]], [[0.1, 0.2], [0.3, 0.2]]]
    >>> study = Study.of(Results.from_numpy(scores, agents=["dqn", "random"]))
    >>> said(rank_probabilities(study).lead)
    'dqn comes first in 100 % of the resamples.'
    """
    shown = resampled(study)
    if len(shown.agents) < 2:
        return untold(KEY, TITLE, "There are no two agents with comparable scores to rank.")
    try:
        made = probabilities(
            shown.results,
            suggested_aggregate(shown.results, study.measure),
            rng=np.random.default_rng(study.seed),
            reps=shown.reps,
            unit=shown.unit,
            measure=study.measure,
        )
    except InputError as problem:
        return untold(KEY, TITLE, f"No rank probabilities: {problem}")
    if np.isnan(made.probability).any():
        return untold(KEY, TITLE, made.notes[-1])
    text = Text(what_varies(shown, study))
    return Finding(KEY, TITLE, _lead(made), (text, _figure(made), *noted(made.notes)))


def _lead(made: RankProbabilities) -> Prose:
    first = made.probability[:, 0]
    order = np.argsort(-first, kind="stable")
    best = f" comes first in {_share(float(first[order[0]]))} of the resamples"
    parts: list[str | Name] = [Name(made.agents[order[0]]), best]
    if first[order[1]] >= 0.005:
        parts += [", ", Name(made.agents[order[1]]), f" in {_share(float(first[order[1]]))}"]
    return (*parts, ".")


def _share(share: float) -> str:
    return f"{100 * share:.0f} %"


def _figure(made: RankProbabilities) -> Figure:
    data = picture.data(made.agents, made.probability)
    sure = int((data.probability.max(axis=1) >= 0.95).sum())
    caption = f"{sure:,} of {len(data.agents):,} agents hold one rank in 95 % of the resamples."
    return Figure(
        key="rank-probabilities",
        data=data._asdict() | {"unit": made.unit, "reps": made.reps, "aggregate": made.aggregate},
        drawing=picture.draw(data),
        caption=(f"{caption} Ranks are by {AGGREGATES[made.aggregate].title}.",),
        description="Heat map: agents are rows, ranks are columns, colour is the probability.",
        narrowest=260 + 22 * len(data.agents),
    )
