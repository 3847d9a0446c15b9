"""Table 1 of Machado et al. (2018) as it was played for the package: complete, with the paper's pattern."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from examiner.arena import contrasts
from examiner.datasets import load

GAMES = ("asterix", "beam_rider", "freeway", "seaquest", "space_invaders")
RUNS = {"brute": 3, "sarsa-blob-prost": 3, "dqn": 2, "random": 3}
NAMES = ("atari-table1", "atari-table1-deterministic")


def columns(name):
    return load(name).to_dict()


@pytest.mark.parametrize("name", NAMES)
def test_every_cell_has_its_runs_and_its_frames(name):
    rows = columns(name)
    frames = {}
    for agent, game, run, reached in zip(
        *(rows[one] for one in ("agent", "task", "run", "frames")), strict=True
    ):
        frames[agent, game, run] = max(reached, frames.get((agent, game, run), 0))
    assert {key[:2] for key in frames} == {(agent, game) for agent in RUNS for game in GAMES}
    for agent, runs in RUNS.items():
        for game in GAMES:
            assert sorted(run for who, what, run in frames if (who, what) == (agent, game)) == list(
                range(runs)
            )
    short = {key for key, reached in frames.items() if reached < 1_000_000 and key[0] != "random"}
    assert short == {("dqn", "freeway", 0)}  # the time on the GPU was over
    assert frames["dqn", "freeway", 0] >= 920_000


@pytest.mark.parametrize(("name", "chance"), list(zip(NAMES, (0.25, 0.0), strict=True)))
def test_jobs_are_those_of_the_plan(name, chance):
    pytest.importorskip("ale_py", reason="Atari games need ale-py")
    from examiner.arena import plan

    planned = plan("atari-table1")
    played = replace(planned, protocol=replace(planned.protocol, sticky_probability=chance))
    keys = {job.key for job in played.jobs()}
    rows = columns(name)
    stored = {job for job, agent in zip(rows["job"], rows["agent"], strict=True) if agent != "dqn"}
    assert stored == keys


@pytest.mark.parametrize(("name", "chance"), list(zip(NAMES, (0.25, 0.0), strict=True)))
def test_dqns_jobs_are_those_of_its_script(name, chance, monkeypatch):
    pytest.importorskip("ale_py", reason="Atari games need ale-py")
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    from dqn_table1 import jobs

    made = {
        (job.key, job.game, job.seed, job.protocol.hash)
        for job in jobs(chance, 1_000_000, range(RUNS["dqn"]), "cuda")
    }
    rows = columns(name)
    of_dqn = np.array(rows["agent"]) == "dqn"
    stored = (np.array(rows[one])[of_dqn] for one in ("job", "task", "run", "protocol"))
    assert set(zip(*(one.tolist() for one in stored), strict=True)) == made


def test_the_brute_falls_to_random_play_and_learners_do_not():
    cells = contrasts(load("atari-table1-deterministic"), load("atari-table1")).contrasts
    scoring = [game for game in GAMES if game != "freeway"]  # there the Brute never scores
    for game in scoring:
        brute, random = cells["brute", game], cells["random", game]
        assert brute.left_high < 0.8
        assert brute.deterministic > 1.3 * random.deterministic
        assert brute.sticky < 1.25 * random.sticky
    for learner in ("sarsa-blob-prost", "dqn"):
        kept = [np.log(cells[learner, game].left) for game in scoring]
        lost = [np.log(cells["brute", game].left) for game in scoring]
        assert all(cells[learner, game].left_high > 1.0 for game in scoring)
        assert all(np.greater(kept, lost))
        assert np.exp(np.mean(kept)) > 0.8 > np.exp(np.mean(lost))


def test_sticky_scores_of_the_brute_are_the_papers():
    table = load("machado-2018-table1").columns
    printed = dict(
        zip(zip(table["agent"], table["game"], strict=True), table["sticky_mean"], strict=True)
    )
    for row in contrasts(load("atari-table1-deterministic"), load("atari-table1")).contrasts:
        if row.agent == "brute" and row.game != "freeway":
            assert row.sticky == pytest.approx(printed["brute", row.game], rel=0.15)
