"""Figures of a fit that papers/002 and 003 draw, of the tasks and agents that are asked for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from examiner.irt import (
    Indicators,
    IRTFit,
    ItemParameters,
    agent_curves,
    curves,
    empirical_curves,
    interval,
    landmark_reached,
    probability,
    steepness,
)
from examiner.messages import InputError, counted, unknown_name
from examiner.reporting.figures.ability_rows import AbilityRowsData, draw_rows
from examiner.reporting.figures.agent_lines import AgentLinesData, draw_lines
from examiner.reporting.figures.agent_plane import AgentPlaneData, draw_plane
from examiner.reporting.figures.chart import Drawing, Floats
from examiner.reporting.figures.task_panels import TaskPanelsData, draw_panels
from examiner.reporting.findings.indicators import AgentCurvesData
from examiner.reporting.findings.indicators import draw_curves as draw_agent_curves
from examiner.reporting.findings.tasks import TaskCurvesData
from examiner.reporting.findings.tasks import draw_curves as draw_task_curves
from examiner.reporting.plots.plot import Plot, drawn_alone
from examiner.reporting.prose import enumerated
from examiner.results import ResponseMatrix

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
    made, at = curves(fit), fit.items.difficulty[places]
    steps = np.arange(len(places))
    middle = np.nan_to_num(at)
    drawn = TaskPanelsData(
        tuple(tasks),
        made.at,
        made.success[places],
        at,
        probability(fit.items, middle)[steps, places],
        steepness(fit.items, middle)[steps, places],
        *_agents_of(fit, places),
    )
    return drawn_alone(
        "task_panels",
        drawn,
        draw_panels(drawn),
        (f"Curves of {counted(len(tasks), 'task')}: ", *enumerated(tasks), "."),
    )


def _agents_of(fit: IRTFit, places: list[int]) -> tuple[tuple[str, ...], Floats, Floats]:
    """Agents, their abilities and results [agents, tasks] on these tasks; none without responses."""
    if fit.matrix is None:
        return (), np.zeros(0), np.zeros((0, len(places)))
    result = _responses(fit).to_numpy()[:, places]
    return fit.abilities.agents, fit.abilities.ability, result


def _responses(fit: IRTFit) -> ResponseMatrix:
    """The responses in the order of the fit; of scores, whether the landmark was reached."""
    assert fit.matrix is not None, "a fit without responses is drawn without agents"
    rows = [fit.matrix.agents.index(agent) for agent in fit.abilities.agents]
    columns = [fit.matrix.tasks.index(task) for task in fit.items.tasks]
    matrix = fit.matrix.take(rows, columns)
    if fit.items.landmark is None:
        return matrix
    reached = landmark_reached(fit.items, matrix.to_numpy())
    return ResponseMatrix.from_array(reached, matrix.agents, matrix.tasks)


def chosen_task_curves(fit: IRTFit, tasks: Sequence[str]) -> Plot:
    """Draw the curves of these tasks in colours, all others in grey (papers/002, Fig. 2 and 3).

    Hard tasks are blue and easy ones red, as in the paper; labels have difficulty b and discrimination a.
    Intervals are dotted, since bands of six tasks would hide each other.

    >>> from examiner.irt import ItemParameters, known
    >>> table = ItemParameters.of(["pong", "chess"], [2.0, 1.0], difficulty=[3.0, 0.0])
    >>> chosen_task_curves(known(table), ["chess"]).data.others.shape
    (1, 81)
    """
    places, made = _places("task", tasks, fit.items.tasks), curves(fit)
    others = np.setdiff1d(np.arange(len(made.names)), places)
    groups, means = np.zeros(0), np.zeros((len(places), 0))
    if fit.matrix is not None:
        observed = empirical_curves(_responses(fit), fit.abilities.ability)
        groups, means = observed.at, observed.mean[places]
    drawn = TaskCurvesData(
        tuple(tasks),
        made.at,
        made.success[places],
        made.low[places],
        made.high[places],
        groups,
        means,
        made.success[others],
    )
    caption = ("Curves of ", *enumerated(tasks), f" among {counted(len(made.names), 'task')}.")
    drawing = _with_parameters(draw_task_curves(drawn), fit.items, places)
    return drawn_alone("chosen_task_curves", drawn, drawing, caption)


def _with_parameters(drawing: Drawing, items: ItemParameters, places: Sequence[int]) -> Drawing:
    """Name each curve with its parameters, and colour it by its difficulty."""
    difficulty = items.difficulty[list(places)]
    hard = difficulty >= np.nanmedian(items.difficulty)
    colours = {True: _HARD, False: _EASY}
    for place, task in enumerate(places):
        alike = np.flatnonzero(hard == hard[place])
        rank = int((np.abs(difficulty[alike]) > abs(difficulty[place])).sum())
        colour = colours[bool(hard[place])][rank % len(_HARD)]
        words = f" (b {items.difficulty[task]:.1f}, a {items.slope[task]:.2f})"
        for trace in drawing["data"]:
            if trace.get("legendgroup") != str(place):
                continue
            trace["name"] += words
            if "fill" in trace:
                del trace["fill"], trace["fillcolor"]
                edge = len(trace["x"]) // 2  # of two edges, which are not joined
                for side in ("x", "y"):
                    trace[side] = [*trace[side][:edge], None, *trace[side][edge:]]
                trace["line"] |= {"width": 1, "dash": "dot", "color": colour}
            elif trace["mode"] == "markers":
                trace["marker"]["color"] = colour
            else:
                trace["line"]["color"] = colour
    return drawing


def chosen_agent_curves(fit: IRTFit, told: Indicators, agents: Sequence[str]) -> Plot:
    """Draw results of these agents over bins of difficulty, and what is expected (papers/002, Fig. 5).

    >>> from examiner.irt import ItemParameters, indicators, known
    >>> table = ItemParameters.of(list("tuvw"), np.ones(4), difficulty=[-2.0, -1.0, 1.0, 2.0])
    >>> fit = known(table, ResponseMatrix.from_array([[1, 1, 0, 0], [1, 0, 0, 0]], "ab", "tuvw"))
    >>> chosen_agent_curves(fit, indicators(fit, bins=2), ["b"]).data.mean
    array([[0.5, 0. ]])
    """
    if told.curves is None:
        raise InputError("These indicators have no bins of difficulty, so that no curve is drawn.")
    places = _places("agent", agents, told.agents)
    expected = agent_curves(fit.abilities, fit.items)
    drawn = AgentCurvesData(
        tuple(agents),
        told.curves.at,
        told.curves.mean[places],
        told.curves.variance[places],
        expected.at,
        expected.success[places],
    )
    caption = ("Mean results in bins of difficulty of ", *enumerated(agents), ".")
    return drawn_alone("chosen_agent_curves", drawn, draw_agent_curves(drawn), caption)


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
    made = agent_curves(fit.abilities, fit.items)
    lines = (part[places] for part in (made.success, made.low, made.high))
    drawn = AgentLinesData(tuple(agents), made.at, *lines)
    caption = ("Expected results over difficulty of ", *enumerated(agents), ".")
    return drawn_alone("expected_agent_curves", drawn, draw_lines(drawn), caption)


def abilities(fit: IRTFit) -> Plot:
    """Draw the ability of every agent with its 95 % interval, the highest on top (papers/003, Fig. 3).

    >>> from examiner.irt import ItemParameters, known
    >>> table = ItemParameters.of(list("tu"), np.ones(2), difficulty=[-1.0, 1.0])
    >>> fit = known(table, ResponseMatrix.from_array([[1, 0], [1, 1]], "ab", "tu"))
    >>> abilities(fit).data.agents
    ('b', 'a')
    """
    found = fit.abilities
    order = np.argsort(-found.ability, kind="stable")  # NaN comes last
    names, middle = tuple(found.agents[agent] for agent in order), found.ability[order]
    drawn = AbilityRowsData(names, middle, *interval(middle, found.error[order]))
    caption = f"Abilities of {counted(len(names), 'agent')}, with 95 % intervals."
    return drawn_alone("abilities", drawn, draw_rows(drawn), caption)


def variance_and_mean(told: Indicators, scores: ResponseMatrix, named: Sequence[str] = ()) -> Plot:
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
    places = _places("agent", told.agents, scores.agents)
    results = scores.to_numpy()[places]
    if np.nanmin(results) < 0 or np.nanmax(results) > 1:
        raise InputError(
            f"Scores run from {np.nanmin(results):.3g} to {np.nanmax(results):.3g}; only those "
            f"in [0, 1] have a bound. Normalise them with 'z-score' or 'min-max'."
        )
    share = np.linspace(0.0, 1.0, 101)
    drawn = AgentPlaneData(
        told.agents,
        np.nanmean(results, axis=1),
        np.nanvar(results, axis=1),
        told.ability,
        ("mean score", "variance"),
        _known_names(named, told),
        share,
        share * (1 - share),
    )
    caption = (
        "Variance of an agent's scores over their mean; zeros and ones lie on the dashed bound."
    )
    return drawn_alone("variance_and_mean", drawn, draw_plane(drawn), caption)


def slope_and_regularity(told: Indicators, named: Sequence[str] = ()) -> Plot:
    """Draw the slope of agents' empirical curves over their regularity (papers/002, Fig. 6).

    Agents whose curve does not fall through one half have no slope and are not drawn.

    >>> from examiner.irt import ItemParameters, indicators, known
    >>> table = ItemParameters.of(list("tu"), np.ones(2), difficulty=[-1.0, 1.0])
    >>> matrix = ResponseMatrix.from_array([[1, 0], [1, 1]], "ab", "tu")
    >>> slope_and_regularity(indicators(known(table, matrix), bins=2))
    Plot 'slope_and_regularity': Slope over regularity of the 1 of 2 agents that have both.
    """
    regularity = np.where(np.isfinite(told.regularity), told.regularity, np.nan)
    drawn = AgentPlaneData(
        told.agents,
        regularity,
        told.slope,
        told.ability,
        ("regularity", "slope where the curve falls through one half"),
        _known_names(named, told),
        np.zeros(0),
        np.zeros(0),
    )
    both = int((np.isfinite(regularity) & np.isfinite(told.slope)).sum())
    total = counted(len(told.agents), "agent")
    caption = f"Slope over regularity of the {both:,} of {total} that have both."
    return drawn_alone("slope_and_regularity", drawn, draw_plane(drawn), caption)


def _known_names(named: Sequence[str], told: Indicators) -> tuple[str, ...]:
    _places("agent", named, told.agents)
    return tuple(named)


def _places(what: str, names: Sequence[str], known: Sequence[str]) -> list[int]:
    where = {name: place for place, name in enumerate(known)}
    for name in names:
        if name not in where:
            raise unknown_name(what, name, known)
    return [where[name] for name in names]
