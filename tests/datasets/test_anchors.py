"""Agents with a dial: all were played, and known orders come out where the dial does something."""

from __future__ import annotations

import numpy as np
import pytest

import examiner as ex

CHAINS = (
    ("uct-40", "uct-120", "uct-360", "uct-1080"),
    ("iw1-40", "iw1-120", "iw1-360", "iw1-1080"),
    ("random", "uct-360-random-75", "uct-360-random-50", "uct-360-random-25", "uct-360"),
)
TOLD = (
    ("uct-120", "uct-360"),
    ("uct-360", "uct-1080"),
    ("iw1-120", "iw1-360"),
    ("iw1-360", "iw1-1080"),
    ("uct-360-random-75", "uct-360-random-50"),
    ("uct-360-random-50", "uct-360-random-25"),
    ("uct-360-random-25", "uct-360"),
)
"""The weaker and the stronger of neighbours that are not both like random play."""


@pytest.fixture(scope="module")
def runs():
    with pytest.warns(ex.ExaminerWarning):  # planners have one episode
        return ex.reduce(ex.load("atari-anchors"), "last:20")


def test_every_agent_played_every_game_with_five_seeds(runs):
    agents = {agent for chain in CHAINS for agent in chain} | {"sarsa-blob-prost"}
    cells = set(zip(runs.column("agent"), runs.column("task"), runs.column("run"), strict=True))
    games = set(runs.tasks)
    assert len(games) == 14
    assert cells == {(agent, game, run) for agent in agents for game in games for run in range(5)}


def test_jobs_are_those_of_the_plan():
    pytest.importorskip("ale_py", reason="Atari games need ale-py")
    from examiner.arena import plan

    planned = {job.key for job in plan("atari-anchors").jobs()}
    assert set(ex.load("atari-anchors").to_dict()["job"]) == planned


def test_a_learner_played_all_its_frames():
    rows = ex.load("atari-anchors").to_dict()
    reached = {}
    for agent, game, run, frames in zip(
        *(rows[name] for name in ("agent", "task", "run", "frames")), strict=True
    ):
        if agent == "sarsa-blob-prost":
            reached[game, run] = max(frames, reached.get((game, run), 0))
    assert len(reached) == 70
    assert all(250_000 <= frames < 255_000 for frames in reached.values())


@pytest.mark.parametrize(("weak", "strong"), TOLD)
def test_games_agree_with_the_known_order(runs, weak, strong):
    scores = ex.responses(runs)
    by_agent = dict(zip(scores.agents, scores.to_numpy(), strict=True))
    right = (by_agent[strong] > by_agent[weak]).sum() + (
        by_agent[strong] == by_agent[weak]
    ).sum() / 2
    assert right >= 10  # of 14, which chance exceeds once in eleven tables


def test_ability_finds_the_known_orders_in_every_seed(runs):
    seed = np.array(runs.column("run"))
    for one in range(5):
        scores = ex.normalise(runs.where(seed == one), "human")
        found = ex.irt.fit(scores, model="normal", starts=1, errors=False).abilities
        ability = dict(zip(found.agents, found.ability, strict=True))
        assert all(ability[weak] < ability[strong] for weak, strong in TOLD)


def test_a_report_draws_the_learner_though_planners_lead():
    from examiner.reporting import Figure, Study

    told = ex.reporting.FINDINGS["learning"](Study.of(ex.load("atari-anchors")))
    assert "learning-curves" in [block.key for block in told.blocks if isinstance(block, Figure)]
