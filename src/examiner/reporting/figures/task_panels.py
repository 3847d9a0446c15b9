"""A panel a task: its curve over ability, where it is difficult, how steep it is, and every agent."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examiner.reporting.figures import chart
from examiner.reporting.figures.chart import Floats
from examiner.reporting.figures.panels import Panel, panelled
from examiner.reporting.prose import labels

STEEPNESS = 0.35
"""How much of the height the line of the slope covers to each side of the difficulty."""


class TaskPanelsData(NamedTuple):
    """Curves [tasks, points], chance and slope at their difficulty [tasks]; results [agents, tasks]."""

    tasks: tuple[str, ...]
    ability: Floats
    success: Floats
    difficulty: Floats
    chance: Floats
    slope: Floats
    agents: tuple[str, ...]
    agent_ability: Floats
    result: Floats


def draw_panels(data: TaskPanelsData) -> chart.Drawing:
    """Draw curves in panels; dashed are difficulty (upright) and slope, dots are agents.

    >>> at, one = np.array([-1.0, 1.0]), np.array([0.0])
    >>> drawn = TaskPanelsData(
    ...     ("t",), at, np.array([[0.3, 0.7]]), one, one + 0.5, one + 0.25, ("a",), one, one[None] + 1
    ... )
    >>> [trace["name"] for trace in draw_panels(drawn)["data"]]
    ['chance of success', 'difficulty', 'discrimination', 'agents']
    """
    names = labels(data.agents, 40)
    panels = [
        Panel(task, _traces(data, place, names, first=place == 0))
        for place, task in enumerate(data.tasks)
    ]
    ends = [float(data.ability[0]), float(data.ability[-1])]
    x = chart.axis("ability", range=ends)
    return panelled(panels, x, chart.axis("success", range=[-0.06, 1.06]))


def _traces(data: TaskPanelsData, place: int, names: list[str], *, first: bool) -> list[chart.Part]:
    at, chance, slope = (part[place] for part in (data.difficulty, data.chance, data.slope))
    hover = "%{y:.2f} at %{x:.2f}"
    traces = [chart.line(data.ability, data.success[place], "chance of success", "#000000", hover)]
    if np.isfinite(at):
        green, red = chart.QUALITATIVE[2], chart.QUALITATIVE[3]
        traces.append(chart.line([at, at], [0.0, chance], "difficulty", green, dash="dash"))
        reach = STEEPNESS / max(abs(float(slope)), STEEPNESS / 2)
        ends = np.array([-reach, reach])
        traces.append(
            chart.line(at + ends, chance + slope * ends, "discrimination", red, dash="dash")
        )
    if len(names):
        dots = chart.dots(
            data.agent_ability, data.result[:, place], "agents", chart.DOTS + "aa", "%{text}"
        )
        traces.append(dots | {"text": names} | {"marker": dots["marker"] | {"size": 5}})
    return [
        trace | {"showlegend": first, "legendgroup": str(number)}
        for number, trace in enumerate(traces)
    ]
