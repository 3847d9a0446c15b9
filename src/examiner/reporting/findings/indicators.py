"""Indicators of agents: their results over difficulty, and whether more able agents are more general."""

from __future__ import annotations

import numpy as np

from examiner.irt import Indicators, IRTFit, dominance
from examiner.irt import agent_curves as expected_curves
from examiner.messages import InputError, counted
from examiner.reporting.ability_scale import agents_by_group
from examiner.reporting.figures import chart
from examiner.reporting.finding import Figure, Finding, Notes, shown_table
from examiner.reporting.prose import enumerated, labels, named, three_digits
from examiner.reporting.study import Study
from examiner.results import ResponseMatrix, divided_sentence


def agent_curves(study: Study) -> Finding:
    """Draw results of agents from the highest ability to the lowest over bins of difficulty."""
    fit, indicators = study.fitted.fit, study.fitted.indicators
    if indicators.curves is None or len(indicators.curves.at) < 2:
        why = indicators.notes[0] if indicators.notes else "There is one bin of difficulty only."
        raise InputError(f"No curve of an agent can be drawn: {why}")
    order = np.argsort(-indicators.ability, kind="stable")  # NaN comes last
    spread = np.unique(np.linspace(0, len(order) - 1, chart.MOST_LINES).round().astype(int))
    blocks = (curves_figure(fit, indicators, order[spread].tolist()), Notes(indicators.notes))
    lead = _steepest(indicators) if indicators.leading else indicators.headline
    return Finding(lead=lead, blocks=blocks)


def _steepest(indicators: Indicators) -> str:
    falling = int(np.isfinite(indicators.slope).sum())
    total = counted(len(indicators.slope), "agent")
    if not falling:
        return f"No curve of {total} falls through one half: no agent has a slope."
    agent = int(np.nanargmax(indicators.slope))
    return (
        f"The results of {falling:,} of {total} fall through one half as tasks get harder; those of "
        f"{named(indicators.agents[agent])} most steeply, by "
        f"{three_digits(float(indicators.slope[agent]))} per unit of difficulty."
    )


def curves_figure(fit: IRTFit, indicators: Indicators, rows: list[int]) -> Figure:
    """Draw what was as a line with a ribbon of ± half its variance, what was expected dotted.

    >>> from examiner.irt import ItemParameters, indicators, known
    >>> table = ItemParameters.of(list("tuvw"), np.ones(4), difficulty=[-2.0, -1.0, 1.0, 2.0])
    >>> fit = known(table, ResponseMatrix.from_array([[1, 1, 0, 0], [1, 0, 0, 0]], "ab", "tuvw"))
    >>> curves_figure(fit, indicators(fit, bins=2), [1]).data["mean"]
    array([[0.5, 0. ]])
    """
    curves, expected = indicators.curves, expected_curves(fit.abilities, fit.items)
    assert curves is not None, "there are bins of difficulty"
    agents = tuple(curves.names[row] for row in rows)
    mean, variance, success = curves.mean[rows], curves.variance[rows], expected.success[rows]
    hover = "%{fullData.name}: %{y:.2f} at difficulty %{x:.2f}"
    ends = mean - variance / 2, mean + variance / 2
    traces = chart.banded(
        agents, curves.at, mean, *ends, hover, of="agents", mode="lines+markers", connectgaps=True
    )
    for row, (line, colour) in enumerate(zip(success, chart.QUALITATIVE, strict=False)):
        dotted = chart.line(expected.at, line, "expected", colour, width=1, dash="dot")
        group = {"showlegend": False, "legendgroup": str(row)}
        traces.append(dotted | group | chart.linked("agents", agents[row]))
    bins = [chart.across(x=middle, width=1) for middle in chart.compact(curves.at)]
    y, total = chart.axis("mean result", range=[-0.08, 1.08]), len(indicators.agents)
    drawn = f" {len(rows)} of {total:,} agents are drawn, from the highest ability to the lowest."
    return Figure(
        key="agent-curves",
        data={
            "agents": agents,
            "bins": curves.at,
            "mean": mean,
            "variance": variance,
            "difficulty": expected.at,
            "expected": success,
        },
        drawing=chart.figure(traces, 300, chart.axis("difficulty"), y, shapes=bins),
        caption=(
            "Mean results in bins of difficulty; a general agent is good up to its ability and fails "
            "beyond it."
        ),
        description="Falling lines of mean results over difficulty, one for each agent drawn.",
        legend=(
            "Ribbons are ± half the variance within a bin: the narrower, the more general (papers/002, "
            "Fig. 5). Dotted curves are what the model expects on a typical task; vertical lines "
            f"are the bins' median difficulties.{drawn if len(rows) < total else ''}"
        ),
        narrowest=460,
    )


def ability_generality(study: Study) -> Finding:
    """Say whether more able agents are more general, and list the indicators."""
    fitted, indicators = study.fitted, study.fitted.indicators
    caption, lead = "The highest ability first.", _lead(indicators)
    if fitted.fit.groups:
        caption, lead = "One group after the other.", divided_sentence(fitted.fit.groups)
    columns = ["mean", "ability", "ability_error", "regularity", "generality", "slope", "flags"]
    compared = indicators.leading and len(fitted.matrix.agents) <= 500  # of more it takes seconds
    blocks = (
        None if np.isnan(indicators.generality).all() else generality_figure(indicators),
        agents_by_group(fitted.fit, indicators, columns, caption),
        shown_table(indicators.tables["correlations"], caption="Correlations between indicators."),
        _dominance(fitted.matrix) if compared else "",
    )
    if len(indicators.agents) < len(study.results.agents):
        lead = f"Of {len(indicators.agents):,} of {len(study.results.agents):,} agents, {lead}"
    return Finding(lead=lead, blocks=blocks, answer=indicators)


def _lead(indicators: Indicators) -> str:
    """Who has the highest ability, and whether ability correlates with generality."""
    rows = indicators.correlations
    pairs = [row for row in rows if (row.first, row.second) == ("ability", "generality")]
    if not indicators.leading or not pairs or np.isnan(pairs[0].pearson):
        return indicators.headline
    value, low, high = pairs[0].pearson, pairs[0].pearson_low, pairs[0].pearson_high
    verdict = "Ability does not correlate significantly with generality"
    if low > 0 or high < 0:
        verdict = f"More able agents are {'more' if value > 0 else 'less'} general"
    ends = f"{three_digits(low)} to {three_digits(high)}"
    return f"{indicators.headline} {verdict} (correlation {three_digits(value)}, 95 %: {ends})."


def _dominance(matrix: ResponseMatrix) -> str:
    pairs = dominance(matrix)
    if np.isnan(pairs.transitive_share):
        return "No two agents differ on a task they share."
    return (
        f"In {100 * pairs.transitive_share:.0f} % of the pairs of agents that differ, one does at least as "
        f"well as the other on every task they share. Not dominated: {enumerated(pairs.undominated)}."
    )


def generality_figure(indicators: Indicators) -> Figure:
    """One point an agent with the error of its ability; those far beyond the others at the edge."""
    # Agents without a finite generality, such as one that does nothing, are left out.
    drawn = np.flatnonzero(np.isfinite(indicators.generality) & np.isfinite(indicators.ability))
    agents = [indicators.agents[row] for row in drawn]
    ability, error, generality = (
        part[drawn]
        for part in (indicators.ability, indicators.ability_error, indicators.generality)
    )
    edge = np.inf
    if len(drawn):
        # Tukey's outer fence: what lies far beyond the upper quartile would squeeze all the others.
        low, high = np.percentile(generality, (25, 75)).tolist()
        edge = high + 3 * (high - low) if high > low else np.inf
    names, shown, beyond = labels(agents, 60), np.minimum(generality, edge), generality > edge
    hover = "%{customdata[0]}: ability %{x:.2f}, generality %{customdata[1]}"
    above = chart.named_above(names, ability, shown)
    traces = []
    for title, symbol, chosen in (
        ("agents", "circle", ~beyond),
        ("agents beyond the edge", "triangle-up", beyond),
    ):
        rows = np.flatnonzero(chosen).tolist()
        if not rows:
            continue
        points = chart.dots(ability[rows], shown[rows], title, chart.DOTS, hover, symbol=symbol)
        if len(names) <= 25:  # more names would cover each other
            points |= above | {"text": [above["text"][row] for row in rows]}
        details = [[names[row], three_digits(float(generality[row]))] for row in rows]
        bars = chart.error_bars(np.nan_to_num(error[rows]), chart.DOTS + chart.LIGHT)
        points |= {"customdata": details, "error_x": bars}
        traces.append(points | chart.linked("agents", [agents[row] for row in rows]))
    y = chart.axis("generality", rangemode="tozero")
    left_out = ""
    if infinite := int(np.isinf(indicators.generality).sum()):
        left_out = f" {counted(infinite, 'agent')} without variance in any bin: not drawn."
    if beyond.any():
        left_out += (
            f" {counted(int(beyond.sum()), 'agent')} beyond the edge, up to "
            f"{three_digits(float(generality.max()))}, drawn as triangles on it."
        )
    return Figure(
        key="ability-generality",
        data={
            "agents": tuple(agents),
            "ability": ability,
            "error": error,
            "generality": generality,
        },
        drawing=chart.figure(traces, 310, chart.axis("ability"), y, legend=False, top=20),
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
