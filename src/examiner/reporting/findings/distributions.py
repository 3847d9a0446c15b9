"""What resampling tells beyond intervals: the share of scores above each value, and how sure ranks are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from examiner.messages import counted
from examiner.reporting.figures import chart
from examiner.reporting.figures.chart import Floats
from examiner.reporting.figures.stretch import Stretch, stretch_for
from examiner.reporting.finding import Figure, Finding, NothingToTellError, Sides, Text, noted
from examiner.reporting.prose import Name, Prose, Sentence, percent, three_digits
from examiner.reporting.study import Study
from examiner.scores import AGGREGATES, Profiles, RankProbabilities
from examiner.scores import profiles as performance_profiles

FEW = 12
"""Up to this many ranks the probabilities are written into the cells."""
TAIL = 0.1
"""Where every agent has fewer of its scores than this, curves lie on one another: an axis may end there."""


def profiles(study: Study) -> Finding:
    """Draw the share of runs above each score, with bands, and say who is ahead everywhere.

    >>> from examiner.results import Results
    >>> from examiner.reporting.prose import said
    >>> scores = [[[0.8, 0.9], [0.7, 0.9]], [[0.1, 0.2], [0.3, 0.2]]]
    >>> study = Study.of(Results.from_numpy(scores, agents=["dqn", "random"]))
    >>> said(profiles(study).lead)
    'dqn is at or above every other agent drawn, at every score.'
    """
    shown = study.resampled
    drawn = shown.agents[: chart.MOST_LINES]
    if not drawn or len(np.unique(study.comparable[np.isfinite(study.comparable)])) < 2:
        raise NothingToTellError("There are no two unlike scores, so there is no profile to draw.")
    chosen = np.isin(np.array(shown.results.agents), np.array(drawn))
    results = shown.results.where(chosen[shown.results.agent_codes])
    how = {name: value for name, value in shown.how.items() if name != "total"}
    made = performance_profiles(results, **how)
    shown = shown._replace(agents=drawn)
    figure = _profiles(study, made, shown.rows(made.agent_names))
    blocks = (Text(shown.what_varies), figure, *noted(made.notes))
    lead = (Sentence(study.none_better),) if study.none_better else _ahead(made)
    if study.binary and not study.none_better:
        flat = "Results are 0 or 1, so that a profile is as high at every score: the share of tasks solved."
        lead = (flat, " ", *lead) if isinstance(lead, tuple) else (flat, " ", lead)
    return Finding(lead=lead, blocks=blocks, answer=made)


def _ahead(made: Profiles) -> Prose:
    if len(made.agent_names) == 1:
        half = made.thresholds[made.share[0] >= 0.5]
        level = three_digits(float(half[-1])) if len(half) else "none"
        return ("Half of the scores of ", Name(made.agent_names[0]), f" lie above {level}.")
    front = made.share >= made.share.max(axis=0) - 1e-12
    ahead = np.flatnonzero(front.all(axis=1))
    if len(ahead) == 1:
        told = " is at or above every other agent drawn, at every score."
        return (Name(made.agent_names[int(ahead[0])]), told)
    crossing = "Profiles cross: which agent is ahead depends on the threshold."
    return crossing if not len(ahead) else "Several agents have the same profile at the front."


class ProfileData(NamedTuple):
    """What the profiles draw; arrays of shape [agents, thresholds], NaN where there is no band."""

    agents: tuple[str, ...]
    thresholds: Floats
    share: Floats
    low: Floats
    high: Floats
    axis: Stretch
    unit: str = "runs"
    reps: int = 0


def draw_profiles(data: ProfileData, title: str = "score") -> chart.Drawing:
    """Draw one line an agent over its band; at most as many as there are colours.

    >>> line = np.array([[1.0, 0.0]])
    >>> data = ProfileData(("<a>",), np.array([0.0, 1.0]), line, line, line, Stretch())
    >>> [trace["name"] for trace in draw_profiles(data)["data"]]
    ['&lt;a&gt;', '&lt;a&gt;']
    """
    at = data.axis.positions(data.thresholds)
    hover = "%{fullData.name}: %{y:.3~g} above %{customdata:.3~g}"
    told = chart.compact(data.thresholds)
    # The share above a threshold falls in steps, at the scores themselves.
    bands = data.low, data.high
    lines = chart.banded(
        data.agents, at, data.share, *bands, hover, of="agents", stepped=True, customdata=told
    )
    x = data.axis.axis(title, data.thresholds, room=0.08)
    notes = []
    if beyond := scores_beyond(data):
        x["range"] = _ends(data)
        # Curves are high on the left and low on the right: notes stand in the other two corners.
        corners = {"left": (0, "bottom", "← {}"), "right": (1, "top", "{} →")}
        for side, score in beyond.items():
            end, height, words = corners[side]
            note: chart.Part = {"xref": "paper", "x": end, "xanchor": side, "yref": "paper"}
            note |= {"y": int(height == "top"), "yanchor": height, "showarrow": False}
            notes.append(note | {"text": words.format(three_digits(score))})
    y = chart.axis("share above", range=[-0.02, 1.02])
    return chart.figure(lines, 290, x, y, annotations=notes)


def _ends(data: ProfileData) -> list[float]:
    """Where the curves begin to fall, and where the last of them is nearly at nothing."""
    start = data.thresholds[(data.share >= 1 - TAIL).all(axis=0)]
    end = data.thresholds[(data.share <= TAIL).all(axis=0)]
    ends = float(start.max(initial=-np.inf)), float(end.min(initial=np.inf))
    return list(np.clip(ends, data.thresholds.min(), data.thresholds.max()).tolist())


def scores_beyond(data: ProfileData) -> dict[str, float]:
    """Return the lowest and the highest score, where tails would take a third of an even axis.

    >>> falls = np.array([[1.0, 0.5, 0.05, 0.0]])
    >>> at = np.array([0.0, 1.0, 2.0, 9.0])
    >>> scores_beyond(ProfileData(("a",), at, falls, falls, falls, Stretch()))
    {'right': 9.0}
    """
    low, high = _ends(data)
    first, last = float(data.thresholds.min()), float(data.thresholds.max())
    if data.axis.width is not None or not high > low or high - low > (last - first) * 2 / 3:
        return {}
    return {
        side: end for side, end, cut in (("left", first, low), ("right", last, high)) if end != cut
    }


def _profiles(study: Study, made: Profiles, rows: list[int]) -> Figure:
    agents = tuple(made.agent_names[row] for row in rows)
    stretch = stretch_for(made.thresholds, study.centre or 0.0)
    share, low, high = (part[rows] for part in (made.share, made.low, made.high))
    data = ProfileData(agents, made.thresholds, share, low, high, stretch, made.unit, made.reps)
    stretched = " The axis is stretched: far out, equal steps are equal ratios."
    return Figure(
        key="profiles",
        drawn=data,
        drawing=draw_profiles(data, study.axis_title),
        caption="The share of runs, every task weighing the same, that score above each value.",
        description="One falling line an agent, with its band.",
        legend=(
            "Bands hold at each value by itself, not at all together."
            + (stretched if stretch.width is not None else "")
            + _beyond(data)
        ),
        narrowest=360,
    )


def _beyond(data: ProfileData) -> str:
    if not (beyond := scores_beyond(data)):
        return ""
    ends = " and ".join(three_digits(score) for score in beyond.values())
    return f" The axis leaves out tails of at most {TAIL:.0%} of each agent's scores, to {ends}."


def rank_probabilities(study: Study) -> Finding:
    """Draw the probability of each rank, and say how sure the first place is.

    >>> from examiner.results import Results
    >>> from examiner.reporting.prose import said
    >>> scores = [[[0.8, 0.9], [0.7, 0.9]], [[0.1, 0.2], [0.3, 0.2]]]
    >>> study = Study.of(Results.from_numpy(scores, agents=["dqn", "random"]))
    >>> said(rank_probabilities(study).lead)
    'dqn comes first in more than 99 % of the resamples.'
    """
    shown = study.resampled
    if len(shown.agents) < 2:
        raise NothingToTellError("There are no two agents with comparable scores to rank.")
    made = study.ranking.ranks
    if made is None:
        why = study.none_better or "they are the same in all resamples."
        raise NothingToTellError(f"Ranks have no probabilities: {why}")
    halves = (Text(made.halves),) if made.halves else ()
    blocks = (*halves, Text(shown.what_varies), _ranks(made, len(shown.agents)), *noted(made.notes))
    return Finding(lead=_first(made, study.none_better), blocks=blocks, answer=made)


def _first(made: RankProbabilities, not_shown: str) -> Prose:
    first = made.probability[:, 0]
    if not_shown:
        most = f"comes first in {percent(float(first.max()))} of the resamples"
        return (Sentence(not_shown), f" The most frequent winner {most}.")
    best, second = np.argsort(-first, kind="stable")[:2].tolist()
    told = f" comes first in {percent(first[best])} of the resamples"
    lead = (Name(made.agent_names[best]), told)
    if first[second] < 0.005:
        return (*lead, ".")
    return (*lead, ", ", Name(made.agent_names[second]), f" in {percent(first[second])}.")


class RankData(NamedTuple):
    """What the map draws, the first agents and ranks; `probability` has shape [agents, ranks]."""

    agents: tuple[str, ...]
    probability: Floats
    expected: Floats
    unit: str = "runs"
    reps: int = 0
    aggregate: str = "mean"


def rank_data(agents: Sequence[str], probability: Floats, most: int | None = None) -> RankData:
    """Prepare the map of at most so many agents and ranks.

    >>> rank_data(["b", "a"], np.array([[0.9, 0.1], [0.1, 0.9]])).expected
    array([1.1, 1.9])
    """
    expected: Floats = probability @ np.arange(1.0, probability.shape[1] + 1)
    return RankData(tuple(agents[:most]), probability[:most, :most], expected[:most])


def draw_ranks(data: RankData) -> chart.Drawing:
    """Draw agents from top to bottom and ranks from left to right.

    >>> draw_ranks(rank_data(["a", "b"], np.eye(2)))["data"][0]["text"]
    [['100', ''], ['', '100']]
    """
    agents, ranks = data.probability.shape
    bar = {"thickness": 10, "title": {"text": "probability"}}
    trace = chart.cells(data.probability, "sequential", "rank %{x}: %{z:.3~g}", colorbar=bar)
    trace |= {"x": list(range(1, ranks + 1)), "zmin": 0, "zmax": 1, "xgap": 1, "ygap": 1}
    if ranks <= FEW:  # per cent; nothing where a rank hardly ever came
        texts = [
            [f"{100 * share:.0f}" if share >= 0.005 else "" for share in row]
            for row in data.probability.tolist()
        ]
        trace |= {"text": texts, "texttemplate": "%{text}"}
    x = chart.axis("rank", showgrid=False, tick0=1, dtick=max(1, ranks // 20))
    y = chart.rows_axis(data.agents, range=[agents - 0.5, -0.5])
    return chart.figure([trace], 90 + 21 * agents, x, y, legend=False, top=10)


def _ranks(made: RankProbabilities, most: int) -> Figure:
    drawn = rank_data(made.agent_names, made.probability, most)
    sure = int((drawn.probability.max(axis=1) >= 0.95).sum())
    hold = "holds" if sure == 1 else "hold"
    caption = f"{sure:,} of {counted(len(drawn.agents), 'agent')} {hold} one rank in 95 % of the resamples."
    return Figure(
        key="rank-probabilities",
        drawn=drawn._replace(unit=made.unit, reps=made.reps, aggregate=made.aggregate),
        drawing=draw_ranks(drawn),
        caption=f"{caption} Ranks are by {AGGREGATES[made.aggregate].title}.",
        description="Heat map: agents are rows, ranks are columns, colour is the probability.",
        legend="Numbers are per cent.",
        narrowest=200 + 20 * len(drawn.agents),
        sides=Sides(rows="agents"),
    )
