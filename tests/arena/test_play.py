"""Episodes of jobs: the same anywhere and at any time, and told to learners as the protocol says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from examiner.arena import PROTOCOLS, Job, Playing, Protocol
from examiner.messages import InputError

pytest.importorskip("ale_py")
pytest.importorskip("gymnasium")
SHORT = replace(Protocol(), max_episode_frames=400)
POLE = {"environment": "gymnasium", "game": "CartPole-v1", "protocol": PROTOCOLS["gymnasium"]}


def rows(playing):
    """Episodes without the time they took."""
    return [replace(episode, cpu_seconds=0.0) for episode in playing]


def learner(**changes):
    settings = POLE | {"episodes": 6} | changes
    return Job("learner", "arena.agents_for_tests:Learner", **settings)


def noting(job):
    playing = Playing(job)
    return list(playing), playing.agent


@pytest.mark.parametrize("entry", ["random", "arena.agents_for_tests:Bare"])
def test_equal_jobs_give_equal_episodes(entry):
    job = Job("a", entry, game="space_invaders", seed=3, protocol=SHORT, episodes=2)
    assert rows(Playing(job)) == rows(Playing(job))


def test_other_seeds_games_and_settings_have_other_random_numbers():
    job = Job("a", "random", game="pong")
    others = [
        replace(job, seed=1),
        replace(job, game="alien"),
        replace(job, mode=1),
        replace(job, entry="no-op"),
        replace(job, observation="ram"),
    ]
    drawn = {one.generator(0, "agent").integers(2**60) for one in (job, *others)}
    drawn |= {job.generator(1, "agent").integers(2**60)}
    drawn |= {job.generator(0, "environment").integers(2**60)}
    assert len(drawn) == 8


def test_every_part_of_a_job_is_in_its_key():
    job = Job("a", "random", {"x": 1}, game="pong")
    others = [
        replace(job, agent="b"),
        replace(job, entry="no-op"),
        replace(job, settings={"x": 2}),
        replace(job, observation="ram"),
        replace(job, environment="gymnasium"),
        replace(job, game="alien"),
        replace(job, mode=1),
        replace(job, difficulty=1),
        replace(job, seed=1),
        replace(job, protocol=PROTOCOLS["deterministic"]),
        replace(job, episodes=1),
        replace(job, frames=1),
    ]
    assert len({one.key for one in (job, *others)}) == 13


def test_a_game_under_another_name_is_the_same_job():
    assert Job("a", "random", game="ALE/SpaceInvaders-v5") == Job(
        "a", "random", game="space_invaders"
    )


def test_a_longer_job_begins_with_the_episodes_of_a_shorter_one():
    short = Job("a", "random", **POLE, episodes=3)
    long = replace(short, episodes=6, agent="b")
    assert rows(Playing(long))[:3] == rows(Playing(short))


def test_frames_add_up_lengths_and_end_the_job():
    job = Job("a", "random", **POLE, frames=100)
    episodes = list(Playing(job))
    total = 0
    for number, episode in enumerate(episodes):
        total += episode.length
        assert (episode.number, episode.frames) == (number, total)
    assert episodes[-2].frames < 100 <= episodes[-1].frames


def test_without_limits_the_protocol_decides():
    job = Job(
        "a", "random", **POLE | {"protocol": replace(PROTOCOLS["gymnasium"], training_frames=50)}
    )
    assert list(Playing(job))[-1].frames >= 50
    assert job.last_frame == 50


def test_the_cap_truncates_an_episode():
    (episode,) = Playing(Job("a", "no-op", game="pong", protocol=SHORT, episodes=1))
    assert (episode.length, episode.truncated) == (400, True)
    assert episode.cpu_seconds > 0


@pytest.mark.parametrize("done", [1, 4])
def test_a_stateless_agent_resumes_at_any_episode(done):
    job = Job("a", "random", **POLE, episodes=6)
    whole = rows(Playing(job))
    resumed = Playing(job, episodes=done, frames=whole[done - 1].frames)
    assert rows(resumed) == whole[done:]


@pytest.mark.parametrize("done", [1, 4])
def test_a_learner_resumes_from_what_it_saved(done):
    whole = rows(Playing(learner()))
    playing = Playing(learner())
    episodes = [next(playing) for _ in range(done)]
    saved = playing.checkpoint()
    resumed = Playing(learner(), episodes=done, frames=episodes[-1].frames, saved=saved)
    assert rows(resumed) == whole[done:]
    assert saved != Playing(learner(), episodes=0, frames=0).agent


def test_a_learner_without_its_checkpoint_is_not_resumed():
    with pytest.raises(InputError, match=r"nothing of it was saved after 3 episodes"):
        Playing(learner(), episodes=3, frames=60)


def test_an_action_that_is_not_there_is_refused():
    job = Job("wild", "arena.agents_for_tests:Wild", game="pong", protocol=SHORT, episodes=1)
    with pytest.raises(InputError, match=r"The agent 'wild' chose action 99. There are 18 actions"):
        next(Playing(job))


def test_learners_are_told_of_game_over_only():
    job = Job("n", "arena.agents_for_tests:Noting", game="breakout", observation="ram", episodes=1)
    (episode,), agent = noting(job)
    assert episode.lives == 0
    assert [told[2] for told in agent.told] == [False] * (len(agent.told) - 1) + [True]
    assert sum(told[1] for told in agent.told) == episode.score


def test_under_mnih_2015_learners_are_told_of_every_lost_life_and_episodes_stay_whole_games():
    protocol = replace(PROTOCOLS["mnih-2015"], evaluation_episodes=1)
    job = Job(
        "n",
        "arena.agents_for_tests:Noting",
        game="breakout",
        observation="ram",
        episodes=1,
        protocol=protocol,
    )
    (training, evaluation), agent = noting(job)
    assert sum(told[2] for told in agent.told) == 5  # breakout has five lives
    assert (training.phase, evaluation.phase) == ("training", "evaluation")
    assert [task.learning for task in agent.episodes] == [True, False]
    assert {told[0] for told in agent.told} == {0}  # nothing is learnt in evaluation
    assert (training.lives, evaluation.lives) == (0, 0)
    assert evaluation.frames == training.frames


def test_truncation_is_told_and_is_no_termination():
    job = Job(
        "n",
        "arena.agents_for_tests:Noting",
        game="pong",
        observation="ram",
        episodes=1,
        protocol=SHORT,
    )
    _, agent = noting(job)
    assert agent.told[-1][2:] == (False, True)


def evaluated(**changes):
    protocol = replace(
        PROTOCOLS["gymnasium"], evaluation_episodes=2, report_shares=(0.25, 1.0), **changes
    )
    return learner(protocol=protocol, episodes=None, frames=400)


def test_evaluation_follows_every_report_point_and_adds_no_frames():
    episodes = rows(Playing(evaluated()))
    phases = [episode.phase for episode in episodes]
    assert phases.count("evaluation") == 4
    assert phases[-2:] == ["evaluation", "evaluation"]
    first = phases.index("evaluation")
    assert episodes[first].frames >= 100 > episodes[first - 2].frames
    trained = [episode.length for episode in episodes if episode.phase == "training"]
    assert episodes[-1].frames == sum(trained)


def test_a_job_that_ends_between_report_points_is_evaluated_at_its_end():
    job = replace(evaluated(), frames=None, episodes=2)
    assert [one.phase for one in Playing(job)] == ["training"] * 2 + ["evaluation"] * 2


def test_resuming_within_an_evaluation_goes_on_with_it():
    whole = rows(Playing(evaluated()))
    playing = Playing(evaluated())
    done = [one.phase for one in whole].index("evaluation") + 1
    played = [next(playing) for _ in range(done)]
    resumed = Playing(
        evaluated(),
        episodes=done,
        frames=played[-1].frames,
        evaluated=1,
        saved=playing.checkpoint(),
    )
    assert rows(resumed) == whole[done:]


@pytest.mark.parametrize(
    "where", [POLE, {"game": "pong", "protocol": replace(SHORT, max_episode_frames=20)}]
)
def test_planners_get_a_model_and_its_count_of_frames(where):
    job = Job("p", "arena.agents_for_tests:Greedy", **where, episodes=2)
    playing = Playing(job)
    next(playing)
    simulated = playing.agent.simulated
    actions, skip = (2, 1) if where is POLE else (18, 5)
    assert simulated[0] == actions * skip
    assert simulated == sorted(simulated)
    assert rows(Playing(job))[1] == replace(next(playing), cpu_seconds=0.0)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"settings": {"net": object()}}, "settings of agent 'a' cannot be stored"),
        ({"settings": {"rate": float("nan")}}, "cannot be stored"),
        ({"episodes": 0}, "The job's episodes are 0"),
        ({"frames": 1.5}, "The job's frames are 1.5"),
    ],
)
def test_impossible_jobs_are_refused(changes, said):
    with pytest.raises(InputError, match=said):
        Job("a", "random", **{"game": "pong"} | changes)


@pytest.mark.parametrize("package", ["ale_py", "gymnasium"])
def test_a_missing_package_is_one_sentence_that_says_what_to_install(package, monkeypatch):
    import sys

    from examiner.arena.environments.games import ale_package
    from examiner.arena.environments.gymnasium import gymnasium_package

    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=r"needs .*: pip install 'examiner\[atari\]'"):
        (ale_package if package == "ale_py" else gymnasium_package)()


def says(what, **changes):
    settings = {"protocol": SHORT, "game": "pong", "episodes": 1} | changes
    return Job("says", "arena.agents_for_tests:Says", {"what": what}, **settings)


def test_an_agent_that_raises_stop_iteration_fails_and_is_not_taken_to_be_done():
    with pytest.raises(RuntimeError, match="the agent raised StopIteration"):
        list(Playing(says("StopIteration")))


@pytest.mark.parametrize("what", [1.5, 1.0, "FIRE", "many", "nothing", -1, 18])
@pytest.mark.parametrize("where", [{}, POLE])
def test_what_is_no_action_is_refused_in_words_and_with_its_value(what, where):
    with pytest.raises(InputError, match=r"The agent 'says' chose action .* whole numbers counted"):
        list(Playing(says(what, **where)))


def test_whole_numbers_of_any_kind_are_actions():
    kinds = [rows(Playing(says(what))) for what in (1, True, "numpy", "array")]
    assert all(one == kinds[0] for one in kinds)


def test_agents_whose_saving_cannot_work_are_refused_in_words():
    job = Job("a", "arena.agents_for_tests:Forgetful", **POLE, episodes=1)
    with pytest.raises(InputError, match=r"can save\(\) what it learnt but not load"):
        Playing(job)
    job = replace(job, entry="arena.agents_for_tests:SavesANumber")
    with pytest.raises(InputError, match="saved itself as a int"):
        Playing(job).checkpoint()
