"""Performance profiles: the share of scores above each value, agent by agent."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examiner.scores import Profiles
from examiner.scores import profiles as performance_profiles
from examiner.telling.figures import chart
from examiner.telling.figures.chart import Floats
from examiner.telling.figures.stretch import Stretch, stretch_for
from examiner.telling.finding import (
    Figure,
    Finding,
    Name,
    Prose,
    Text,
    noted,
    untold,
)
from examiner.telling.numbers import three_digits
from examiner.telling.study import Study
from examiner.wording import InputError

KEY, TITLE = "profiles", "Performance profiles"


def finding(study: Study) -> Finding:
    """Draw the share of runs above each score, with bands, and say who is ahead everywhere.

    >>> from examiner.results import Results
    >>> from examiner.telling.finding import said
    >>> scores = [[[0.8, 0.9], [0.7, 0.9]], [[0.1, 0.2], [0.3, 0.2]]]
    >>> study = Study.of(Results.from_numpy(scores, agents=["dqn", "random"]))
    >>> said(finding(study).lead)
    'dqn is at or above every other agent drawn, at every score.'
    """
    shown = study.resampled
    drawn = shown.agents[: chart.MOST_LINES]
    if not drawn or len(np.unique(study.comparable[np.isfinite(study.comparable)])) < 2:
        return untold(KEY, TITLE, "There are no two unlike scores, so there is no profile to draw.")
    chosen = np.isin(np.array(shown.results.agents), np.array(drawn))
    results = shown.results.where(chosen[shown.results.agent_codes])
    try:
        made = performance_profiles(results, **shown.how)
    except InputError as problem:
        return untold(KEY, TITLE, f"No profiles: {problem}")
    shown = shown._replace(agents=drawn)
    figure = _figure(study, made, shown.rows(made.agents))
    return Finding(KEY, TITLE, _lead(made), (Text(shown.what_varies), figure, *noted(made.notes)))


def _lead(made: Profiles) -> Prose:
    if len(made.agents) == 1:
        half = made.thresholds[made.share[0] >= 0.5]
        level = three_digits(float(half[-1])) if len(half) else "none"
        return ("Half of the scores of ", Name(made.agents[0]), f" lie above {level}.")
    front = made.share >= made.share.max(axis=0) - 1e-12
    ahead = np.flatnonzero(front.all(axis=1))
    if len(ahead) == 1:
        told = " is at or above every other agent drawn, at every score."
        return (Name(made.agents[int(ahead[0])]), told)
    crossing = "Profiles cross: which agent is ahead depends on the score that is asked for."
    return (crossing if not len(ahead) else "Several agents have the same profile at the front.",)


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


def draw(data: ProfileData, title: str = "score") -> chart.Drawing:
    """Draw one line an agent over its band; at most as many as there are colours.

    >>> line = np.array([[1.0, 0.0]])
    >>> figure = draw(ProfileData(("<a>",), np.array([0.0, 1.0]), line, line, line, Stretch()))
    >>> [trace["name"] for trace in figure["data"]]
    ['&lt;a&gt;', '&lt;a&gt;']
    """
    at = data.axis.positions(data.thresholds)
    hover = "%{fullData.name}: %{y:.3~g} above %{customdata:.3~g}"
    told = chart.compact(data.thresholds)
    # The share above a threshold falls in steps, at the scores themselves.
    bands = data.low, data.high
    lines = chart.banded(data.agents, at, data.share, *bands, hover, stepped=True, customdata=told)
    x = data.axis.axis(title, data.thresholds, room=0.08)
    return chart.figure(lines, 420, x, chart.axis("share above", range=[-0.02, 1.02]))


def _figure(study: Study, made: Profiles, rows: list[int]) -> Figure:
    agents = tuple(made.agents[row] for row in rows)
    stretch = stretch_for(made.thresholds, study.centre or 0.0)
    share, low, high = (part[rows] for part in (made.share, made.low, made.high))
    data = ProfileData(agents, made.thresholds, share, low, high, stretch, made.unit, made.reps)
    stretched = " The axis is stretched: far out, equal steps are equal ratios."
    return Figure(
        key="profiles",
        drawn=data,
        drawing=draw(data, study.axis_title),
        caption=("The share of runs, every task weighing the same, that score above each value.",),
        description="One falling line an agent, with its band.",
        legend=(
            "Bands hold at each value by itself, not at all together."
            + (stretched if stretch.width is not None else ""),
        ),
        narrowest=360,
    )
