"""Agents as points of a plane: one number of each over another, coloured by ability or by choice."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examiner.reporting.figures import chart
from examiner.reporting.figures.chart import Floats
from examiner.reporting.prose import labels


class AgentPlaneData(NamedTuple):
    """Two numbers and the ability of each agent [agents]; a bound [points] that none can cross, or none."""

    agents: tuple[str, ...]
    across: Floats
    up: Floats
    ability: Floats
    titles: tuple[str, str]
    named: tuple[str, ...]
    bound_across: Floats
    bound_up: Floats


def draw_plane(data: AgentPlaneData) -> chart.Drawing:
    """Draw agents as dots in the colours of their abilities, with a bar of these; the bound is dashed.

    >>> two, none = np.array([0.2, 0.5]), np.zeros(0)
    >>> plane = AgentPlaneData(("a", "b"), two, two, two, ("mean", "variance"), ("b",), none, none)
    >>> [trace["name"] for trace in draw_plane(plane)["data"]]
    ['agents', 'b']
    """
    traces = []
    if len(data.bound_across):
        traces.append(
            chart.line(data.bound_across, data.bound_up, "at most", chart.GREY, dash="dash")
        )
    known = np.flatnonzero(np.isfinite(data.across) & np.isfinite(data.up))
    texts = labels(data.agents, 40)
    hover = "%{text}: %{x:.3~g}, %{y:.3~g}"
    placed = np.isfinite(data.ability[known])
    bar = {"thickness": 10, "title": {"text": "ability"}}
    scale = {"colorscale": chart.colour_scale(chart.SEQUENTIAL), "showscale": True, "colorbar": bar}
    for name, agents in (("agents", known[placed]), ("agents without ability", known[~placed])):
        if not len(agents):
            continue
        dots = chart.dots(data.across[agents], data.up[agents], name, chart.GREY, hover, size=8)
        if name == "agents":
            dots["marker"] |= {"color": chart.compact(data.ability[agents])} | scale
        traces.append(dots | {"text": [texts[agent] for agent in agents]})
    for place, name in enumerate(data.named[: chart.MOST_LINES]):
        agent = data.agents.index(name)
        if agent in known:
            at = data.across[[agent]], data.up[[agent]]
            traces.append(
                chart.dots(*at, texts[agent], chart.QUALITATIVE[place], hover, size=12)
                | {"text": [texts[agent]]}
            )
    across, up = data.titles
    return chart.figure(traces, 440, chart.axis(across), chart.axis(up))
