"""Flavours: what agents lose in modes and difficulties of a game in which they were not trained."""

from __future__ import annotations

from examiner.arena import Flavours
from examiner.messages import counted
from examiner.reporting.finding import Finding, Piece, shown_table
from examiner.reporting.prose import Sentence

_COLUMNS = (
    *("agent", "game", "trained_in", "evaluated_in", "score", "native"),
    *("gap", "gap_low", "gap_high", "random", "kept"),
)


def render_flavours(answer: Flavours) -> Finding:
    """Show a row for each agent, game and pair of flavours, and the failed jobs."""
    blocks: list[Piece] = []
    if len(answer.gaps):
        episodes = (
            "" if answer.episodes is None else f"{counted(answer.episodes, 'episode')} per run; "
        )
        blocks.append(shown_table(answer.gaps, _COLUMNS, f"{episodes}{answer.gaps.caption}"))
    if answer.failures:
        blocks.append(shown_table(answer.failed, caption="Failed jobs"))
    return Finding(
        "flavours",
        "Flavours",
        (Sentence(answer.headline),),
        tuple(blocks),
        answer=answer,
    )
