"""Interruptions anywhere, checkpoints anywhere: the ledger ends as if nothing had happened."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.runs import cart_pole, rows
from examiner.arena import Episode, Job, Ledger, Playing, perform_job
from examiner.arena import episodes as module
from examiner.arena.episodes import Saved
from examiner.arena.runner import resumed

EPISODES = 6


def interrupted(job: Job, ledger: Path, cuts: list[int], lost: list[bool]) -> int:
    """Play a job in pieces of so many messages, the last message of some pieces lost before its commit.

    Returns how many episodes were played in all.
    """
    played = 0
    for cut, lose in [*zip(cuts, lost, strict=True), (10_000, False)]:
        with Ledger(ledger) as book:
            (account,) = book.enter([job.record()])
            start = resumed(job, account, book.checkpoint_data(account))
            for number, message in enumerate(perform_job(start)):
                played += isinstance(message, Episode)
                if number == cut and lose:
                    break
                if isinstance(message, bool):
                    book.note_stateless(account, message)
                elif isinstance(message, Episode):
                    book.record(account, message)
                elif isinstance(message, Saved):
                    book.keep_checkpoint(account, message.checkpoint, message.data)
                if number == cut:
                    break
    return played


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    "agent", ["Learner", *(pytest.param(agent, marks=SLOW) for agent in ("Stateless", "Unsaved"))]
)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_any_interruptions_leave_the_same_rows(agent: str, data: st.DataObject) -> None:
    cuts = data.draw(st.lists(st.integers(0, 2 * EPISODES), max_size=6))
    lost = data.draw(st.lists(st.booleans(), min_size=len(cuts), max_size=len(cuts)))
    patch = pytest.MonkeyPatch()
    if data.draw(st.booleans()):  # a checkpoint after every episode, or only at the end
        patch.setattr(module, "_LEAST_SECONDS", 0.0)
        patch.setattr(module, "_COST_SHARE", float("inf"))
    job = cart_pole(agent, episodes=EPISODES)
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "ledger.sqlite"
        try:
            played = interrupted(job, ledger, cuts, lost)
        finally:
            patch.undo()
        assert rows(ledger) == [
            (job.key, e.number, e.phase, e.frames, e.length, e.score, e.lives, int(e.truncated))
            for e in Playing(job)
        ]
    assert played >= EPISODES
