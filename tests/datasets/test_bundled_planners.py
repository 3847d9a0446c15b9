"""The plays of nine planners: every controller on every game and level, and how plays ended."""

from examiner.arena import plan
from examiner.datasets import card, load


def test_every_controller_played_every_level_once():
    plays = load("gvgai-planners")
    assert len(plays.agents) == 9
    assert len(set(plays.task_names)) == 122
    assert len(plays) == 9 * len(plays.tasks)
    assert plays.counts()["missing_cells"] == 0


def test_controllers_are_those_of_the_plan():
    planned = plan("gvgai-planners")
    assert set(load("gvgai-planners").agents) == {agent.name for agent in planned.agents}


def test_capped_plays_are_kept_and_not_won():
    plays = load("gvgai-planners")
    status = plays.column("status")
    capped = [win for win, how in zip(plays.measure("win"), status, strict=True) if how == "capped"]
    assert 0 < len(capped) < len(plays) / 20
    assert not any(capped)
    assert f"{len(capped):,} capped" in card("gvgai-planners").notes[0]


def test_planners_win_more_than_those_that_do_not_look_ahead():
    plays = load("gvgai-planners")
    wins = {
        agent: sum(
            win
            for win, who in zip(plays.measure("win"), plays.column("agent"), strict=True)
            if who == agent and win == win
        )
        for agent in plays.agents
    }
    assert min(wins["olets"], wins["mcts"], wins["rhea"]) > max(wins["random"], wins["doNothing"])
