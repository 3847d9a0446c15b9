"""What resampling shows beyond intervals: the share of scores above each value, and chances of ranks."""

from __future__ import annotations

import numpy as np

from examiner.messages import InputError, counted
from examiner.reporting.figures import chart
from examiner.reporting.figures.stretch import stretch_for
from examiner.reporting.finding import Figure, Finding, Notes
from examiner.reporting.prose import three_digits
from examiner.reporting.study import Study
from examiner.scores import AGGREGATES, Profiles, RankProbabilities
from examiner.scores import profiles as performance_profiles

TAIL = 0.1
"""Where every agent has fewer of its scores than this, curves lie on one another: an axis may end there."""


def profiles(study: Study) -> Finding:
    """Draw the share of runs above each score, with bands, and say who is ahead everywhere.

    >>> from examiner.results import Results
    >>> scores = [[[0.8, 0.9], [0.7, 0.9]], [[0.1, 0.2], [0.3, 0.2]]]
    >>> study = Study.of(Results.from_numpy(scores, agents=["dqn", "random"]))
    >>> profiles(study).lead
    'dqn is at or above every other agent at every threshold.'
    """
    shown = study.resampled
    drawn = shown.agents[: chart.MOST_LINES]
    if not drawn or len(np.unique(study.comparable[np.isfinite(study.comparable)])) < 2:
        raise InputError("There are no two unlike scores, so there is no profile to draw.")
    chosen = np.isin(np.array(shown.results.agents), np.array(drawn))
    results = shown.results.where(chosen[shown.results.agent_codes])
    options = {name: value for name, value in shown.how.items() if name != "total"}
    curves = performance_profiles(results, **options)
    blocks = (
        shown._replace(agents=drawn).what_varies,
        _profiles(study, curves, drawn),
        Notes(curves.notes),
    )
    lead = study.none_better or curves.headline
    if study.binary and not study.none_better:
        flat = "Results are 0 or 1, so that a profile is as high at every score: the share of tasks solved."
        lead = f"{flat} {lead}"
    return Finding(lead=lead, blocks=blocks, answer=curves)


def _profiles(study: Study, curves: Profiles, agents: tuple[str, ...]) -> Figure:
    """One line an agent over its band; its share above a threshold falls in steps, at the scores."""
    rows = [curves.agent_names.index(agent) for agent in agents]
    share, low, high = (part[rows] for part in (curves.share, curves.low, curves.high))
    thresholds, stretch = curves.thresholds, stretch_for(curves.thresholds, study.centre or 0.0)
    hover = "%{fullData.name}: %{y:.3~g} above %{customdata:.3~g}"
    details = {"customdata": chart.compact(thresholds)}
    at = stretch.positions(thresholds)
    lines = chart.banded(agents, at, share, low, high, hover, of="agents", stepped=True, **details)
    x = stretch.axis(study.axis_title, thresholds, room=0.08)
    legend = "Bands hold at each value by itself, not at all together."
    if stretch.width is not None:
        legend += " The axis is stretched: far out, equal steps are equal ratios."
    # Where the curves begin to fall, and where the last of them is nearly at nothing
    first, last = float(thresholds.min()), float(thresholds.max())
    start = float(thresholds[(share >= 1 - TAIL).all(axis=0)].max(initial=first))
    end = float(thresholds[(share <= TAIL).all(axis=0)].min(initial=last))
    notes = []
    # Tails would take a third of an even axis: they are left out, and their ends named.
    if stretch.width is None and end > start and end - start <= (last - first) * 2 / 3:
        x["range"] = [start, end]
        # Curves are high on the left and low on the right: notes stand in the other two corners.
        for side, height, words, score, cut in (
            ("left", "bottom", "← {}", first, start),
            ("right", "top", "{} →", last, end),
        ):
            if score != cut:
                corner = {"x": int(side == "right"), "y": int(height == "top")}
                anchors = {"xanchor": side, "yanchor": height, "xref": "paper", "yref": "paper"}
                text = words.format(three_digits(score))
                notes.append(corner | anchors | {"showarrow": False, "text": text})
        ends = [three_digits(score) for score, cut in ((first, start), (last, end)) if score != cut]
        legend += (
            f" The axis leaves out tails of at most {TAIL:.0%} of each agent's scores, to "
            f"{' and '.join(ends)}."
        )
    y = chart.axis("share above", range=[-0.02, 1.02])
    return Figure(
        key="profiles",
        data={
            "agents": agents,
            "thresholds": thresholds,
            "share": share,
            "low": low,
            "high": high,
            "axis": stretch,
            "unit": curves.unit,
            "reps": curves.reps,
        },
        drawing=chart.figure(lines, 290, x, y, annotations=notes),
        caption="The share of runs, every task weighing the same, that score above each value.",
        description="One falling line an agent, with its band.",
        legend=legend,
        narrowest=360,
    )


def rank_probabilities(study: Study) -> Finding:
    """Draw the probability of each rank, and say how certain the first place is.

    >>> from examiner.results import Results
    >>> scores = [[[0.8, 0.9], [0.7, 0.9]], [[0.1, 0.2], [0.3, 0.2]]]
    >>> study = Study.of(Results.from_numpy(scores, agents=["dqn", "random"]))
    >>> rank_probabilities(study).lead
    'dqn ranks first in 100 % of the resamples.'
    """
    shown = study.resampled
    if len(shown.agents) < 2:
        raise InputError("There are no two agents with comparable scores to rank.")
    ranks = study.ranking.ranks
    if ranks is None:
        why = study.none_better or "they are the same in all resamples."
        raise InputError(f"Ranks have no probabilities: {why}")
    blocks = (
        ranks.halves,
        shown.what_varies,
        _ranks(ranks, len(shown.agents)),
        Notes(ranks.notes),
    )
    return Finding(lead=study.none_better or ranks.headline, blocks=blocks, answer=ranks)


def _ranks(ranks: RankProbabilities, most: int) -> Figure:
    """The first agents from top to bottom, and ranks from left to right."""
    agents, probability = ranks.agent_names[:most], ranks.probability[:most, :most]
    expected = ranks.probability @ np.arange(1.0, ranks.probability.shape[1] + 1)
    count = len(agents)
    bar = {"thickness": 10, "title": {"text": "probability"}}
    trace = chart.cells(probability, "sequential", "rank %{x}: %{z:.3~g}", colorbar=bar)
    trace |= {"x": list(range(1, count + 1)), "zmin": 0, "zmax": 1, "xgap": 1, "ygap": 1}
    if count <= 12:  # per cent; nothing where a rank hardly ever came
        texts = [
            [f"{100 * share:.0f}" if share >= 0.005 else "" for share in row]
            for row in probability.tolist()
        ]
        trace |= {"text": texts, "texttemplate": "%{text}"}
    x = chart.axis("rank", showgrid=False, tick0=1, dtick=max(1, count // 20))
    y = chart.rows_axis(agents, range=[count - 0.5, -0.5])
    certain = int((probability.max(axis=1) >= 0.95).sum())
    hold = "holds" if certain == 1 else "hold"
    return Figure(
        key="rank-probabilities",
        data={
            "agents": agents,
            "probability": probability,
            "expected": expected[:most],
            "unit": ranks.unit,
            "reps": ranks.reps,
            "aggregate": ranks.aggregate,
        },
        drawing=chart.figure([trace], 90 + 21 * count, x, y, legend=False, top=10),
        caption=(
            f"{certain:,} of {counted(count, 'agent')} {hold} one rank in 95 % of the resamples. "
            f"Ranks are by {AGGREGATES[ranks.aggregate].title}."
        ),
        description="Heat map: agents are rows, ranks are columns, colour is the probability.",
        legend="Numbers are per cent.",
        narrowest=200 + 20 * count,
        rows="agents",
    )
