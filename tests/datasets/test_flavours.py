"""An agent in other flavours than it learnt in: all were judged, and gaps are those of runs."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy import stats

import examiner as ex


def test_every_agent_was_judged_in_both_flavours_of_its_game_ten_times_a_run():
    judged = ex.load("atari-flavours").to_dict()
    names = ("agent", "task", "mode", "difficulty", "run")
    plays = Counter(zip(*(judged[name] for name in names), strict=True))
    assert set(plays.values()) == {10}
    cells = Counter(cell[:4] for cell in plays)
    assert set(cells.values()) == {5}
    assert len(cells) == 6 * 2 * 3  # two that learnt and random play, in two flavours of six games


def test_flavours_are_those_of_the_plan():
    pytest.importorskip("ale_py", reason="Atari games need ale-py")
    planned = {
        (job.game, job.mode, job.difficulty) for job in ex.arena.plan("atari-flavours").jobs()
    }
    judged = ex.load("atari-flavours").to_dict()
    names = ("task", "learnt_mode", "learnt_difficulty")
    rows = zip(judged["learner"], zip(*(judged[name] for name in names), strict=True), strict=True)
    assert {where for learner, where in rows if learner is not None} == planned


def test_a_gap_is_welchs_of_the_means_of_runs():
    judged = ex.load("atari-flavours").to_dict()

    def runs(agent, game, mode):
        rows = zip(*(judged[n] for n in ("agent", "task", "mode", "run", "score")), strict=True)
        kept = [
            (run, score)
            for who, task, at, run, score in rows
            if (who, task, at) == (agent, game, mode)
        ]
        return [np.mean([score for run, score in kept if run == one]) for one in range(5)]

    native, here = (runs(f"sarsa-blob-prost ({learnt}/0)", "hero", 1) for learnt in (1, 0))
    gap = ex.arena.gaps(ex.load("atari-flavours"))["sarsa-blob-prost", "hero", "0/0", "1/0"]
    ends = stats.ttest_ind(native, here, equal_var=False).confidence_interval()
    assert gap.gap == pytest.approx(np.mean(native) - np.mean(here))
    assert (gap.gap_low, gap.gap_high) == pytest.approx((ends.low, ends.high))
