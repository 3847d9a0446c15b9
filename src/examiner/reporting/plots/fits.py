"""Figures of a fit that papers/002 and 003 draw, of the tasks and agents that are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from examiner.irt import (
    Indicators,
    IRTFit,
    ItemParameters,
    agent_curves,
    curves,
    interval,
    probability,
    steepness,
)
from examiner.messages import InputError, counted, unknown_name
from examiner.reporting.figures import chart
from examiner.reporting.figures.estimates import EstimatesData, draw_estimates
from examiner.reporting.figures.panels import Panel, panelled
from examiner.reporting.findings.indicators import curves_figure as agent_curves_figure
from examiner.reporting.findings.tasks import curves_figure, curves_of, fitted_responses
from examiner.reporting.plots.plot import Plot, drawn_alone, plot_of
from examiner.reporting.prose import enumerated, labels
from examiner.results import ResponseMatrix
from examiner.validation import Floats

_HARD, _EASY = ("#08306b", "#2171b5", "#9ecae1"), ("#67000d", "#cb181d", "#fc9272")
"""The hardest and the easiest tasks are darkest."""


def task_panels(fit: IRTFit, tasks: Sequence[str]) -> Plot:
    """Draw a panel for each of these tasks: its curve, difficulty, slope, and agents as dots.

    A dot is an agent at its ability, as high as its mean result on the task (papers/003, Fig. 4 to 6). A
    fit without responses, as of a printed table, has curves only.

    >>> from examiner.irt import ItemParameters, known
    >>> table = ItemParameters.of(["pong", "chess"], [2.0, 1.0], difficulty=[3.0, 0.0])
    >>> task_panels(known(table), ["chess"])
    Plot 'task_panels': Curves of 1 task: chess.
    """
    places = _places("task", tasks, fit.items.tasks)
    expected, difficulty = curves(fit), fit.items.difficulty[places]
    steps, middle = np.arange(len(places)), np.nan_to_num(difficulty)
    chance = probability(fit.items, middle)[steps, places]
    slope = steepness(fit.items, middle)[steps, places]
    agents, ability, result = _agents_of(fit, places)
    names, success = labels(agents, 40), expected.success[places]
    green, red = chart.QUALITATIVE[2], chart.QUALITATIVE[3]
    panels = []
    for row, task in enumerate(tasks):
        hover = "%{y:.2f} at %{x:.2f}"
        traces = [chart.line(expected.at, success[row], "chance of success", "#000000", hover)]
        at = difficulty[row]
        if np.isfinite(at):
            upright = [at, at], [0.0, chance[row]], "difficulty", green
            # the line covers a third of the height to each side, and at most two logits
            reach = min(0.35 / max(abs(float(slope[row])), 1e-9), 2.0)
            ends = np.array([-reach, reach])
            rising = at + ends, chance[row] + slope[row] * ends, "discrimination", red
            traces += [chart.line(*part, dash="dash") for part in (upright, rising)]
        if names:
            colour = chart.DOTS + "aa"
            dots = chart.dots(ability, result[:, row], "agents", colour, "%{text}", size=5)
            traces.append(dots | {"text": names})
        group = [{"showlegend": row == 0, "legendgroup": str(at)} for at in range(len(traces))]
        panels.append(Panel(task, [a | b for a, b in zip(traces, group, strict=True)]))
    x = chart.axis("ability", range=[float(expected.at[0]), float(expected.at[-1])])
    drawn = {
        "tasks": tuple(tasks),
        "ability": expected.at,
        "success": success,
        "difficulty": difficulty,
        "chance": chance,
        "slope": slope,
        "agents": agents,
        "agent_ability": ability,
        "result": result,
    }
    drawing = panelled(panels, x, chart.axis("success", range=[-0.06, 1.06]))
    caption = f"Curves of {counted(len(tasks), 'task')}: {enumerated(tasks)}."
    return drawn_alone("task_panels", drawn, drawing, caption)


def _agents_of(fit: IRTFit, places: list[int]) -> tuple[tuple[str, ...], Floats, Floats]:
    """Agents, their abilities and results [agents, tasks] on these tasks; none without responses."""
    if fit.matrix is None:
        return (), np.zeros(0), np.zeros((0, len(places)))
    result = fitted_responses(fit).to_numpy()[:, places]
    return fit.abilities.agents, fit.abilities.ability, result


def chosen_task_curves(fit: IRTFit, tasks: Sequence[str]) -> Plot:
    """Draw the curves of these tasks in colours, all others in grey (papers/002, Fig. 2 and 3).

    Hard tasks are blue and easy ones red, as in the paper; labels have difficulty b and discrimination a.
    Intervals are dotted, since bands of six tasks would hide each other.

    >>> from examiner.irt import ItemParameters, known
    >>> table = ItemParameters.of(["pong", "chess"], [2.0, 1.0], difficulty=[3.0, 0.0])
    >>> chosen_task_curves(known(table), ["chess"]).data.others.shape
    (1, 81)
    """
    places = _places("task", tasks, fit.items.tasks)
    figure = curves_figure(curves_of(fit), "chosen-task-curves", places, "Curves of ")
    among = f" among {counted(len(fit.items), 'task')}."
    figure = replace(figure, caption=figure.caption.removesuffix(".") + among, legend="")
    _with_parameters(figure.drawing, fit.items, places)
    return plot_of("chosen_task_curves", figure)


def _with_parameters(drawing: chart.Drawing, items: ItemParameters, places: list[int]) -> None:
    """Name each curve with its parameters, and colour it by its difficulty."""
    difficulty = items.difficulty[places]
    hard = difficulty >= np.nanmedian(items.difficulty)
    for place, task in enumerate(places):
        alike = np.flatnonzero(hard == hard[place])
        rank = int((np.abs(difficulty[alike]) > abs(difficulty[place])).sum())
        colour = (_HARD if hard[place] else _EASY)[rank % len(_HARD)]
        for trace in drawing["data"]:
            if trace.get("legendgroup") != str(place):
                continue
            trace["name"] += f" (b {items.difficulty[task]:.1f}, a {items.slope[task]:.2f})"
            if "fill" in trace:
                del trace["fill"], trace["fillcolor"]
                edge = len(trace["x"]) // 2  # of two edges, which are not joined
                for side in ("x", "y"):
                    trace[side] = [*trace[side][:edge], None, *trace[side][edge:]]
                trace["line"] |= {"width": 1, "dash": "dot", "color": colour}
            else:
                trace["marker" if trace["mode"] == "markers" else "line"]["color"] = colour


def chosen_agent_curves(fit: IRTFit, agent_indicators: Indicators, agents: Sequence[str]) -> Plot:
    """Draw results of these agents over bins of difficulty, and what is expected (papers/002, Fig. 5).

    >>> from examiner.irt import ItemParameters, indicators, known
    >>> table = ItemParameters.of(list("tuvw"), np.ones(4), difficulty=[-2.0, -1.0, 1.0, 2.0])
    >>> fit = known(table, ResponseMatrix.from_array([[1, 1, 0, 0], [1, 0, 0, 0]], "ab", "tuvw"))
    >>> chosen_agent_curves(fit, indicators(fit, bins=2), ["b"]).data.mean
    array([[0.5, 0. ]])
    """
    if agent_indicators.curves is None:
        raise InputError("These indicators have no bins of difficulty, so that no curve is drawn.")
    places = _places("agent", agents, agent_indicators.agents)
    figure = agent_curves_figure(fit, agent_indicators, places)
    caption = f"Mean results in bins of difficulty of {enumerated(agents)}."
    figure = replace(figure, key="chosen-agent-curves", caption=caption, legend="")
    return plot_of("chosen_agent_curves", figure)


def expected_agent_curves(fit: IRTFit, agents: Sequence[str]) -> Plot:
    """Draw what the model expects of these agents on a typical task of every difficulty.

    Curves differ in place only (papers/002, Fig. 1 right and Fig. 5 top): what makes an agent general
    shows in `chosen_agent_curves`.

    >>> from examiner.irt import ItemParameters, known
    >>> table = ItemParameters.of(list("tu"), np.ones(2), difficulty=[-1.0, 1.0])
    >>> fit = known(table, ResponseMatrix.from_array([[1, 0], [1, 1]], "ab", "tu"))
    >>> drawn = expected_agent_curves(fit, ["b", "a"]).data
    >>> bool((drawn.success[0] > drawn.success[1]).all())
    True
    """
    places = _places("agent", agents, fit.abilities.agents)
    expected = agent_curves(fit.abilities, fit.items)
    success, low, high = (part[places] for part in (expected.success, expected.low, expected.high))
    hover = "%{fullData.name}: %{y:.2f} at difficulty %{x:.2f}"
    lines = chart.banded(agents, expected.at, success, low, high, hover)
    y = chart.axis("chance of success", range=[-0.02, 1.02])
    drawing = chart.figure(lines, 400, chart.axis("difficulty"), y)
    drawn = {"difficulty": expected.at, "success": success, "low": low, "high": high}
    caption = f"Expected results over difficulty of {enumerated(agents)}."
    return drawn_alone("expected_agent_curves", {"agents": tuple(agents)} | drawn, drawing, caption)


def abilities(fit: IRTFit) -> Plot:
    """Draw the ability of every agent with its 95 % interval, the highest on top (papers/003, Fig. 3).

    >>> from examiner.irt import ItemParameters, known
    >>> table = ItemParameters.of(list("tu"), np.ones(2), difficulty=[-1.0, 1.0])
    >>> fit = known(table, ResponseMatrix.from_array([[1, 0], [1, 1]], "ab", "tu"))
    >>> abilities(fit).data.agents
    ('b', 'a')
    """
    posterior = fit.abilities
    order = np.argsort(-posterior.ability, kind="stable")  # NaN comes last
    names, middle = tuple(posterior.agents[agent] for agent in order), posterior.ability[order]
    low, high = interval(middle, posterior.error[order])
    drawing = draw_estimates(EstimatesData(names, middle, low, high, "ability"))
    caption = f"Abilities of {counted(len(names), 'agent')}, with 95 % intervals."
    drawn = {"agents": names, "ability": middle, "low": low, "high": high}
    return drawn_alone("abilities", drawn, drawing, caption)


def variance_and_mean(
    agent_indicators: Indicators, scores: ResponseMatrix, named: Sequence[str] = ()
) -> Plot:
    r"""Draw the variance of each agent's scores in [0, 1] over their mean (papers/002, Fig. 4).

    .. math:: \sigma^2 \le \bar R (1 - \bar R)

    is the dashed bound: zeros and ones have as much, and no scores more.

    >>> from examiner.irt import ItemParameters, indicators, known
    >>> table = ItemParameters.of(list("tu"), np.ones(2), difficulty=[-1.0, 1.0])
    >>> matrix = ResponseMatrix.from_array([[1, 0], [1, 1]], "ab", "tu")
    >>> drawn = variance_and_mean(indicators(known(table, matrix)), matrix).data
    >>> drawn.across, drawn.up
    (array([0.5, 1. ]), array([0.25, 0.  ]))
    """
    places = _places("agent", agent_indicators.agents, scores.agents)
    results = scores.to_numpy()[places]
    if np.nanmin(results) < 0 or np.nanmax(results) > 1:
        raise InputError(
            f"Scores run from {np.nanmin(results):.3g} to {np.nanmax(results):.3g}; only those "
            f"in [0, 1] have a bound. Normalise them with 'z-score' or 'min-max'."
        )
    share = np.linspace(0.0, 1.0, 101)
    bound = chart.line(share, share * (1 - share), "at most", chart.GREY, dash="dash")
    return _plane(
        "variance_and_mean",
        agent_indicators,
        {"mean score": np.nanmean(results, axis=1), "variance": np.nanvar(results, axis=1)},
        named,
        "Variance of an agent's scores over their mean; zeros and ones lie on the dashed bound.",
        bound,
    )


def slope_and_regularity(agent_indicators: Indicators, named: Sequence[str] = ()) -> Plot:
    """Draw the slope of agents' empirical curves over their regularity (papers/002, Fig. 6).

    Agents whose curve does not fall through one half have no slope and are not drawn.

    >>> from examiner.irt import ItemParameters, indicators, known
    >>> table = ItemParameters.of(list("tu"), np.ones(2), difficulty=[-1.0, 1.0])
    >>> matrix = ResponseMatrix.from_array([[1, 0], [1, 1]], "ab", "tu")
    >>> slope_and_regularity(indicators(known(table, matrix), bins=2))
    Plot 'slope_and_regularity': Slope over regularity of the 1 of 2 agents that have both.
    """
    regularity, slope = agent_indicators.regularity, agent_indicators.slope
    both = int((np.isfinite(regularity) & np.isfinite(slope)).sum())
    total = counted(len(agent_indicators.agents), "agent")
    sides = {
        "regularity": np.where(np.isfinite(regularity), regularity, np.nan),
        "slope where the curve falls through one half": slope,
    }
    caption = f"Slope over regularity of the {both:,} of {total} that have both."
    return _plane("slope_and_regularity", agent_indicators, sides, named, caption)


def _plane(
    name: str,
    agent_indicators: Indicators,
    sides: dict[str, Floats],
    named: Sequence[str],
    caption: str,
    bound: chart.Part | None = None,
) -> Plot:
    """Agents by two numbers, as dots in the colours of their abilities; the named ones stand out."""
    chosen = _places("agent", named, agent_indicators.agents)
    (across_title, up_title), (across, up) = sides, sides.values()
    ability, texts = agent_indicators.ability, labels(agent_indicators.agents, 40)
    drawn, placed = np.isfinite(across) & np.isfinite(up), np.isfinite(ability)
    hover = "%{text}: %{x:.3~g}, %{y:.3~g}"
    bar = {"thickness": 10, "title": {"text": "ability"}}
    scale = {"colorscale": chart.colour_scale(chart.SEQUENTIAL), "showscale": True, "colorbar": bar}
    traces = [] if bound is None else [bound]
    for title, rows, colour, size in (
        ("agents", np.flatnonzero(drawn & placed), chart.GREY, 8),
        ("agents without ability", np.flatnonzero(drawn & ~placed), chart.GREY, 8),
        *(
            (texts[row], np.array([row]), chart.QUALITATIVE[place], 12)
            for place, row in enumerate(chosen[: chart.MOST_LINES])
            if drawn[row]
        ),
    ):
        if len(rows):
            dots = chart.dots(across[rows], up[rows], title, colour, hover, size=size)
            if title == "agents":
                dots["marker"] |= {"color": chart.compact(ability[rows])} | scale
            traces.append(dots | {"text": [texts[row] for row in rows]})
    drawing = chart.figure(traces, 440, chart.axis(across_title), chart.axis(up_title))
    data = {"agents": agent_indicators.agents, "across": across, "up": up, "ability": ability}
    return drawn_alone(name, data | {"named": tuple(named)}, drawing, caption)


def _places(what: str, names: Sequence[str], names_of: Sequence[str]) -> list[int]:
    place_of = {name: place for place, name in enumerate(names_of)}
    for name in names:
        if name not in place_of:
            raise unknown_name(what, name, names_of)
    return [place_of[name] for name in names]
