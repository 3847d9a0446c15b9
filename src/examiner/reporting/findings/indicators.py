"""Indicators of agents: their results over difficulty, and whether more able agents are more general."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from examiner.answers import Row
from examiner.irt import EmpiricalCurves, Indicators, IRTFit, dominance
from examiner.irt import agent_curves as expected_curves
from examiner.messages import counted
from examiner.reporting.figures import chart
from examiner.reporting.figures.chart import Floats
from examiner.reporting.finding import (
    Figure,
    Finding,
    NothingToTellError,
    Piece,
    ShownTable,
    Text,
    noted,
    shown_table,
)
from examiner.reporting.prose import Name, Parts, Prose, enumerated, labels, parts_of, three_digits
from examiner.reporting.study import Study
from examiner.results import ResponseMatrix, divided_sentence

MOST_COMPARED = 500
LABEL_SIZE = (0.3, 0.07)
"""The share of the chart's width and height that a name takes."""
MOST_NAMED = 25
MOST_NEAR = 6


def agent_curves(study: Study) -> Finding:
    """Draw results of agents from the highest ability to the lowest over bins of difficulty."""
    made = study.fitted
    told = made.told
    if told.curves is None or len(told.curves.at) < 2:
        why = told.notes[0] if told.notes else "There is one bin of difficulty only."
        raise NothingToTellError(f"No curve of an agent can be drawn: {why}")
    blocks = (_curves(made.fit, told, told.curves), *noted(told.notes))
    lead = _steepest(told) if told.leading else not_shown(made.fit)
    return Finding(lead=lead, blocks=blocks)


def not_shown(fit: IRTFit) -> str:
    """Say that agents are not shown to differ, and how often chance gives as much.

    >>> from examiner.irt import ItemParameters, known
    >>> not_shown(known(ItemParameters.of(["t"], [1.0], [0.0])))
    'Agents are not shown to differ in ability.'
    """
    if fit.evidence is None or fit.evidence.abilities_differ:
        return "Agents are not shown to differ in ability."
    return fit.evidence.sentences()[0]


def _steepest(told: Indicators) -> Prose:
    falling = int(np.isfinite(told.slope).sum())
    total = counted(len(told.slope), "agent")
    if not falling:
        return f"No curve of {total} falls through one half: no agent has a slope."
    agent = int(np.nanargmax(told.slope))
    return (
        f"The results of {falling:,} of {total} fall through one half as tasks get harder; those of ",
        Name(told.agents[agent]),
        f" most steeply, by {three_digits(float(told.slope[agent]))} per unit of difficulty.",
    )


class AgentCurvesData(NamedTuple):
    """Empirical means and variances [agents, bins], and expected chances [agents, difficulties]."""

    agents: tuple[str, ...]
    bins: Floats
    mean: Floats
    variance: Floats
    difficulty: Floats
    expected: Floats


def draw_curves(data: AgentCurvesData) -> chart.Drawing:
    """Draw what was as a line with a ribbon of ± half its variance, what was expected dotted.

    >>> one = np.array([[0.9, 0.1]])
    >>> at = np.array([-1.0, 1.0])
    >>> len(draw_curves(AgentCurvesData(("a",), at, one, one * 0, at, one))["data"])
    3
    """
    low, high = data.mean - data.variance / 2, data.mean + data.variance / 2
    hover = "%{fullData.name}: %{y:.2f} at difficulty %{x:.2f}"
    marked: chart.Part = {"mode": "lines+markers", "connectgaps": True}
    traces = chart.banded(
        data.agents, data.bins, data.mean, low, high, hover, of="agents", **marked
    )
    for agent, (success, colour) in enumerate(zip(data.expected, chart.QUALITATIVE, strict=False)):
        dotted = chart.line(data.difficulty, success, "expected", colour, width=1, dash="dot")
        group = {"showlegend": False, "legendgroup": str(agent)}
        traces.append(dotted | group | chart.linked("agents", data.agents[agent]))
    bins = [chart.across(x=middle, width=1) for middle in chart.compact(data.bins)]
    y = chart.axis("mean result", range=[-0.08, 1.08])
    return chart.figure(traces, 300, chart.axis("difficulty"), y, shapes=bins)


def _curves(fit: IRTFit, told: Indicators, curves: EmpiricalCurves) -> Figure:
    order = np.argsort(-told.ability, kind="stable")  # NaN comes last
    spread = np.unique(np.linspace(0, len(order) - 1, chart.MOST_LINES).round().astype(int))
    chosen = order[spread]
    expected = expected_curves(fit.abilities, fit.items)
    data = AgentCurvesData(
        tuple(curves.names[agent] for agent in chosen),
        curves.at,
        curves.mean[chosen],
        curves.variance[chosen],
        expected.at,
        expected.success[chosen],
    )
    drawn = f" {len(chosen)} of {len(order):,} agents are drawn, from the highest ability to the lowest."
    return Figure(
        key="agent-curves",
        drawn=data,
        drawing=draw_curves(data),
        caption=(
            "Mean results in bins of difficulty; a general agent is good up to its ability and fails "
            "beyond it."
        ),
        description="Falling lines of mean results over difficulty, one for each agent drawn.",
        legend=(
            "Ribbons are ± half the variance within a bin: the narrower, the more general (papers/002, "
            "Fig. 5). Dotted curves are what the model expects on a typical task; vertical lines "
            f"are the bins' median difficulties.{drawn if len(chosen) < len(order) else ''}"
        ),
        narrowest=460,
    )


def ability_generality(study: Study) -> Finding:
    """Say whether more able agents are more general, and list the indicators."""
    made = study.fitted
    told = made.told
    blocks: list[Piece] = [] if np.isnan(told.generality).all() else [_generality(told)]
    blocks += [_agents(told, made.fit.groups), _correlations(told)]
    if told.leading and len(made.matrix.agents) <= MOST_COMPARED:
        blocks.append(Text(_dominance(made.matrix)))
    lead = _lead(told) if told.leading else not_shown(made.fit)
    agents = len(study.results.agents)
    if len(told.agents) < agents:
        lead = (f"Of {len(told.agents):,} of {agents:,} agents, ", *parts_of(lead))
    if made.fit.groups:
        lead = divided_sentence(made.fit.groups)
    return Finding(lead=lead, blocks=tuple(blocks), answer=told)


def _first(told: Indicators) -> Parts:
    """The agent with the highest ability, and those not significantly below it."""
    name, *near = told.leading
    row = told.agents.index(name)
    size = (
        f"{three_digits(float(told.ability[row]))} ± {three_digits(float(told.ability_error[row]))}"
    )
    if not near:
        return (Name(name), f" has the highest ability, {size}")
    if 2 * len(near) >= len(told.agents):
        many = f"{len(near) + 1:,} of {counted(len(told.agents), 'agent')}"
        return (f"{many} do not differ significantly from the highest ability, {size}",)
    start = (Name(name), f" has the highest ability, {size}, not significantly different from ")
    return (*start, *enumerated(near, MOST_NEAR))


def _lead(told: Indicators) -> Prose:
    start = _first(told)
    found = _between(told, "ability", "generality")
    if found is None or np.isnan(found.pearson):
        return (*start, ".")
    ends = f"{three_digits(found.pearson_low)} to {three_digits(found.pearson_high)}"
    verdict = "ability does not correlate significantly with generality"
    if found.pearson_low > 0 or found.pearson_high < 0:
        verdict = f"more able agents are {'more' if found.pearson > 0 else 'less'} general"
    return (*start, f"; {verdict} (correlation {three_digits(found.pearson)}, 95 %: {ends}).")


def _between(told: Indicators, a: str, b: str) -> Row | None:
    return next((row for row in told.correlations if (row.first, row.second) == (a, b)), None)


def _dominance(matrix: ResponseMatrix) -> Prose:
    found = dominance(matrix)
    if np.isnan(found.transitive_share):
        return "No two agents differ on a task they share."
    start = (
        f"In {100 * found.transitive_share:.0f} % of the pairs of agents that differ, one does at least as "
        f"well as the other on every task they share. "
    )
    names = found.undominated
    if len(names) == 1:
        return (start, "Only ", Name(names[0]), " is not dominated.")
    return (start, "Not dominated: ", *enumerated(names, 12), ".")


class AbilityGeneralityData(NamedTuple):
    """What is drawn, each [agents]: agents with a finite generality."""

    agents: tuple[str, ...]
    ability: Floats
    error: Floats
    generality: Floats


def data(
    agents: Sequence[str], ability: Floats, error: Floats, generality: Floats
) -> AbilityGeneralityData:
    """Prepare the points; agents without a finite generality, such as one that does nothing, are left out.

    >>> one = np.zeros(2)
    >>> data(["a", "b"], one, one, np.array([2.0, np.inf])).agents
    ('a',)
    """
    rows = np.flatnonzero(np.isfinite(generality) & np.isfinite(ability)).tolist()
    named = tuple(agents[row] for row in rows)
    return AbilityGeneralityData(named, ability[rows], error[rows], generality[rows])


def draw(data: AbilityGeneralityData) -> chart.Drawing:
    """Draw one point an agent with the error of its ability.

    >>> one = np.zeros(2)
    >>> figure = draw(data(["a", "b"], one, one, np.array([2.0, 3.0])))
    >>> [trace["name"] for trace in figure["data"]]
    ['agents']
    """
    names = labels(data.agents, 60)
    shown = np.minimum(data.generality, _edge(data))
    clear = chart.with_room(data.ability, shown, *LABEL_SIZE)
    hover = "%{customdata[0]}: ability %{x:.2f}, generality %{customdata[1]}"
    beyond = data.generality > shown
    traces = []
    for title, symbol, chosen in (
        ("agents", "circle", ~beyond),
        ("agents beyond the edge", "triangle-up", beyond),
    ):
        rows = np.flatnonzero(chosen).tolist()
        if not rows:
            continue
        at = data.ability[rows], shown[rows]
        points = chart.dots(*at, title, chart.DOTS, hover, symbol=symbol)
        if len(names) <= MOST_NAMED:
            labelled = [names[row] if clear[row] else "" for row in rows]
            points |= {"mode": "markers+text", "textposition": "top center", "text": labelled}
        told = [[names[row], three_digits(float(data.generality[row]))] for row in rows]
        errors = np.nan_to_num(data.error[rows])
        points |= {"error_x": chart.error_bars(errors, chart.DOTS + chart.LIGHT)}
        points |= {"customdata": told, "textfont": {"size": 10}}
        traces.append(points | chart.linked("agents", [data.agents[row] for row in rows]))
    y = chart.axis("generality", rangemode="tozero")
    return chart.figure(traces, 310, chart.axis("ability"), y, legend=False, top=20)


def _edge(data: AbilityGeneralityData) -> float:
    """Tukey's outer fence: what lies far beyond the upper quartile would squeeze all the others."""
    if not len(data.generality):
        return np.inf
    low, high = np.percentile(data.generality, (25, 75)).tolist()
    return float(high + 3 * (high - low)) if high > low else np.inf


def _generality(told: Indicators) -> Figure:
    drawn = data(told.agents, told.ability, told.ability_error, told.generality)
    infinite = int(np.isinf(told.generality).sum())
    left_out = (
        f" {counted(infinite, 'agent')} without variance in any bin: not drawn." if infinite else ""
    )
    beyond = drawn.generality[drawn.generality > _edge(drawn)]
    if len(beyond):
        left_out += (
            f" {counted(len(beyond), 'agent')} beyond the edge, up to "
            f"{three_digits(float(beyond.max()))}, drawn as triangles on it."
        )
    return Figure(
        key="ability-generality",
        drawn=drawn,
        drawing=draw(drawn),
        caption=(
            "Generality over ability: a general agent is good at all that is easy for it, and only that."
        ),
        description="One point an agent: ability to the right, generality upwards.",
        legend=(
            "Agents that fail, or succeed, at nearly everything vary little and so count as general, "
            f"whatever they are. Lines are one standard error of ability.{left_out}"
        ),
        narrowest=420,
    )


def _agents(told: Indicators, groups: Sequence[Sequence[str]]) -> ShownTable:
    agents = told.tables["agents"]
    columns = ["agent", "mean", "ability", "ability_error", "regularity", "generality", "slope"]
    columns.append("flags")
    if not groups:
        return shown_table(agents, columns, "The highest ability first.")
    group = {agent: number for number, names in enumerate(groups) for agent in names}
    rows = [row for row, agent in enumerate(agents.values("agent")) if agent in group]
    rows.sort(key=lambda row: group[agents.values("agent")[row]])
    title = (
        "One group after the other, the highest ability of each first: groups cannot be compared."
    )
    return shown_table(agents.take(rows), columns, title)


def _correlations(told: Indicators) -> ShownTable:
    return shown_table(told.tables["correlations"], caption="Correlations between indicators.")
