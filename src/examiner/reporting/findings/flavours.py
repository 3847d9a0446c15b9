"""Flavours: what agents lose where a game has another mode or difficulty than they learnt in."""

from __future__ import annotations

import math
from dataclasses import asdict

from examiner.arena import Flavours
from examiner.arena.play.means import RunsMean
from examiner.messages import counted
from examiner.reporting.finding import Finding
from examiner.reporting.table import Column, Table

_COLUMNS = (
    Column("agent", "name"),
    Column("game", "name"),
    Column("learnt", "text", "mode and difficulty it learnt in"),
    Column("judged", "text", "mode and difficulty it was judged in, without learning further"),
    Column("score", "text"),
    Column("native", "text", "score of the same agent where it learnt there"),
    Column("gap", "text", "how much higher native is"),
    Column("random", "text", "random play there"),
    Column("kept", "text", "share of native's advantage over random play that is left"),
)


def tell(found: Flavours) -> Finding:
    """Tell a row for each agent, game and pair of flavours, and what failed.

    >>> tell(Flavours((), (), 10)).data["rows"]
    []
    """
    rows = [
        {
            "agent": gap.agent,
            "game": gap.game,
            "learnt": gap.learnt.short,
            "judged": gap.judged.short,
            "score": _shown(gap.score),
            "native": _shown(gap.native),
            "gap": _shown(gap.gap),
            "random": _shown(gap.random),
            "kept": "–" if math.isnan(gap.kept) else f"{100 * gap.kept:.0f} %",
        }
        for gap in found.gaps
    ]
    lower = sum(gap.gap.low > 0 for gap in found.gaps)
    known = sum(not math.isnan(gap.gap.mean) for gap in found.gaps)
    lead = (
        f"In {lower} of {counted(known, 'pair')} of flavours an agent is clearly worse than one that "
        f"learnt there (95 % intervals)."
        if known
        else "No agent learnt in a flavour that others were judged in: there are scores, but no gaps."
    )
    caption = f"{counted(found.episodes, 'episode')} a run, without learning further"
    data = {
        "rows": [
            asdict(gap) | {"learnt": gap.learnt._asdict(), "judged": gap.judged._asdict()}
            for gap in found.gaps
        ],
        "failed": [
            {"agent": each.job.agent, "game": each.job.game, "reason": each.reason}
            for each in found.failed
        ],
        "episodes": found.episodes,
    }
    return Finding(
        "flavours", "Flavours", lead, (Table.of(rows, _COLUMNS, caption),) if rows else (), data
    )


def _shown(runs: RunsMean) -> str:
    if math.isnan(runs.mean):
        return "–"
    ends = "" if math.isnan(runs.low) else f" [{runs.low:.4g}, {runs.high:.4g}]"
    return f"{runs.mean:.4g}{ends}"
