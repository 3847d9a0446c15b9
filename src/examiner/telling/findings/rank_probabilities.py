"""Rank uncertainty: how probably each agent has each rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from examiner.scores import AGGREGATES, RankProbabilities, suggested_aggregate
from examiner.scores import ranks as probabilities
from examiner.telling.figures import chart
from examiner.telling.figures.chart import Floats
from examiner.telling.finding import (
    Figure,
    Finding,
    Name,
    Prose,
    Text,
    noted,
    untold,
)
from examiner.telling.study import Study
from examiner.wording import InputError

KEY, TITLE = "rank_probabilities", "How sure the ranks are"
FEW = 12
"""Up to this many ranks the probabilities are written into the cells."""


def finding(study: Study) -> Finding:
    """Draw the probability of each rank, and say how sure the first place is.

    >>> from examiner.results import Results
    >>> from examiner.telling.finding import said
    >>> scores = [[[0.8, 0.9], [0.7, 0.9]], [[0.1, 0.2], [0.3, 0.2]]]
    >>> study = Study.of(Results.from_numpy(scores, agents=["dqn", "random"]))
    >>> said(finding(study).lead)
    'dqn comes first in 100 % of the resamples.'
    """
    shown = study.resampled
    if len(shown.agents) < 2:
        return untold(KEY, TITLE, "There are no two agents with comparable scores to rank.")
    by = suggested_aggregate(shown.results, study.measure)
    try:
        made = probabilities(shown.results, by, **shown.how)
    except InputError as problem:
        return untold(KEY, TITLE, f"No rank probabilities: {problem}")
    if np.isnan(made.probability).any():
        return untold(KEY, TITLE, made.notes[-1])
    blocks = (Text(shown.what_varies), _figure(made), *noted(made.notes))
    return Finding(KEY, TITLE, _lead(made), blocks)


def _lead(made: RankProbabilities) -> Prose:
    first = made.probability[:, 0]
    best, second = np.argsort(-first, kind="stable")[:2].tolist()
    told = f" comes first in {100 * first[best]:.0f} % of the resamples"
    lead = (Name(made.agents[best]), told)
    if first[second] < 0.005:
        return (*lead, ".")
    return (*lead, ", ", Name(made.agents[second]), f" in {100 * first[second]:.0f} %.")


class RankData(NamedTuple):
    """What the map draws: agents in the order of their expected rank; `probability` [agents, ranks]."""

    agents: tuple[str, ...]
    probability: Floats
    expected: Floats
    unit: str = "runs"
    reps: int = 0
    aggregate: str = "mean"


def data(agents: Sequence[str], probability: Floats, *how: object) -> RankData:
    """Sort the agents by their expected rank.

    >>> data(["b", "a"], np.array([[0.1, 0.9], [0.9, 0.1]])).agents
    ('a', 'b')
    """
    expected: Floats = probability @ np.arange(1.0, probability.shape[1] + 1)
    order = np.argsort(expected, kind="stable")
    named = tuple(agents[row] for row in order.tolist())
    return RankData(named, probability[order], expected[order], *how)  # type: ignore[arg-type]


def draw(data: RankData) -> chart.Drawing:
    """Draw agents from top to bottom and ranks from left to right.

    >>> draw(data(["a", "b"], np.eye(2)))["data"][0]["text"]
    [['1', ''], ['', '1']]
    """
    agents, ranks = data.probability.shape
    bar = {"thickness": 10, "title": {"text": "probability"}}
    trace = chart.cells(data.probability, "sequential", "rank %{x}: %{z:.3~g}", colorbar=bar)
    trace |= {"x": list(range(1, ranks + 1)), "zmin": 0, "zmax": 1, "xgap": 1, "ygap": 1}
    if ranks <= FEW:  # two digits; nothing where a rank hardly ever came
        texts = [
            [f"{share:.2g}" if share >= 0.005 else "" for share in row]
            for row in data.probability.tolist()
        ]
        trace |= {"text": texts, "texttemplate": "%{text}"}
    x = chart.axis("rank", showgrid=False, tick0=1, dtick=max(1, ranks // 20))
    y = chart.rows_axis(data.agents, range=[agents - 0.5, -0.5])
    return chart.figure([trace], 110 + 26 * agents, x, y, legend=False, top=10)


def _figure(made: RankProbabilities) -> Figure:
    drawn = data(made.agents, made.probability, made.unit, made.reps, made.aggregate)
    sure = int((drawn.probability.max(axis=1) >= 0.95).sum())
    caption = f"{sure:,} of {len(drawn.agents):,} agents hold one rank in 95 % of the resamples."
    return Figure(
        key="rank-probabilities",
        drawn=drawn,
        drawing=draw(drawn),
        caption=(f"{caption} Ranks are by {AGGREGATES[made.aggregate].title}.",),
        description="Heat map: agents are rows, ranks are columns, colour is the probability.",
        narrowest=260 + 22 * len(drawn.agents),
    )
