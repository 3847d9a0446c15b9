"""What sticky actions cost, replays, and the intervals around both."""

from __future__ import annotations

import math
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from examiner.arena import Job, Playing, contrasts, plan_from_toml, probe, probe_plan
from examiner.arena import protocol as named_protocol
from examiner.arena.means import difference_of_runs, mean_of_runs, ratio_of_runs
from examiner.arena.probe import play_recorded, play_replay, replay_job
from examiner.messages import InputError
from examiner.results import Results

gymnasium = pytest.importorskip("gymnasium")


class Combination(gymnasium.Env):
    """A lock: ten digits in the right order pay one each, the first wrong one ends it."""

    digits = (0, 1, 1, 0, 1, 0, 0, 1, 1, 0)
    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Discrete(11)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._place = 0
        return 0, {}

    def step(self, action):
        right = int(action) == self.digits[self._place]
        self._place += right
        return self._place, float(right), not right or self._place == 10, False, {}


class ByHeart:
    """Knows the combination of the lock, and does not look."""

    def begin(self, task, rng):
        self._steps = iter(Combination.digits)

    def act(self, observation):
        return next(self._steps, 0)


class Looking:
    """Knows the combination of the lock, and looks where it is."""

    def act(self, observation):
        return Combination.digits[min(int(observation), 9)]


@pytest.fixture
def lock():
    name = "ExaminerCombination-v0"
    gymnasium.register(name, entry_point=Combination)
    sys.modules["agents_of_the_lock"] = sys.modules[__name__]
    yield name
    del sys.modules["agents_of_the_lock"]
    del gymnasium.registry[name]


def lock_job(lock, agent="ByHeart"):
    return Job(
        agent,
        f"agents_of_the_lock:{agent}",
        environment="gymnasium",
        game=lock,
        protocol=named_protocol("gymnasium"),
    )


def test_an_agent_that_plays_by_heart_loses_to_sticky_actions_and_its_replays_do_too(lock):
    found = probe(lock_job(lock), seeds=30, replays=3)
    assert found["ByHeart"].deterministic == 10.0
    assert found["ByHeart"].loss_low > 3.0
    assert (found.replays, found.reproduced) == (90, 90)
    assert found.replayed["replays with sticky actions"].score_high < 8.0
    assert 0.0 < found.kept < 0.8
    assert found.headline == (
        f"ByHeart keeps {100 * found.kept:.0f} % of its advantage over random play on {lock} with "
        f"sticky actions (ς = 0.25)."
    )


@pytest.mark.parametrize(
    ("runs", "spreads"),
    [
        ((3, 4), (0.25, 0.2)),
        *(((2, 2), spreads) for spreads in ((0.05, 0.05), (0.2, 0.2), (0.2, 0.02), (0.02, 0.2))),
    ],
)
def test_fiellers_interval_covers_the_ratio_of_few_runs(runs, spreads):
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(2_000):
        above, below = (
            rng.normal(2.0, 2.0 * spreads[0], runs[0]),
            rng.normal(10.0, 10.0 * spreads[1], runs[1]),
        )
        found = ratio_of_runs(above, below)
        held += found.low <= 0.2 <= found.high if found.low == found.low else True
    assert 0.925 <= held / 2_000 <= 0.99


def test_the_share_of_a_score_that_may_be_nothing_has_no_ends():
    unsure = ratio_of_runs([1.0, 2.0, 3.0], [-1.0, 0.5, 2.0])
    assert unsure.mean == pytest.approx(4.0) and math.isnan(unsure.low) and math.isnan(unsure.high)
    assert math.isnan(ratio_of_runs([1.0], [0.0]).mean)
    assert ratio_of_runs([1.0], [4.0]).mean == 0.25


def test_the_loss_of_an_open_loop_player_is_what_the_protocol_says(lock):
    # A digit fails if the action sticks (0.25) and differs from the one before; the first cannot.
    changes = [a != b for a, b in zip(Combination.digits[1:], Combination.digits, strict=False)]
    survival = np.cumprod([1.0] + [0.75 if change else 1.0 for change in changes])
    found = probe(lock_job(lock), seeds=120, replays=1)
    # A stuck action ends the game here, so that the previous action is always the digit before.
    assert found["ByHeart"].sticky_low < survival.sum() < found["ByHeart"].sticky_high


def test_the_random_agent_has_no_advantage_to_keep(lock):
    job = Job(
        "random",
        "random",
        environment="gymnasium",
        game=lock,
        protocol=named_protocol("gymnasium"),
        seed=1,
        episodes=10,
    )
    found = probe(job, seeds=3)
    assert math.isnan(found.kept)
    assert found.headline.startswith("random is not significantly better than random play on")


def test_a_share_of_the_advantage_is_known_only_where_its_interval_lies_above_zero(lock):
    several, single = (probe(lock_job(lock), seeds=seeds) for seeds in (5, 1))
    assert several.advantage == pytest.approx(
        several["ByHeart"].deterministic - several["random play"].deterministic
    )
    assert several.advantage_low > 0
    left = several["ByHeart"].sticky - several["random play"].sticky
    assert several.kept == pytest.approx(left / several.advantage)
    assert single.advantage > 0 and math.isnan(single.advantage_low)
    assert math.isnan(single.kept)


def test_what_was_recorded_is_the_last_episode(lock):
    job = lock_job(lock)
    recorded = play_recorded(Job(**{**_fields(job), "episodes": 2}))
    assert recorded.last_actions == Combination.digits
    assert (recorded.performance, recorded.last_score) == (10.0, 10.0)
    again = replay_job(recorded, job, seed=5)
    assert (again.seed, again.entry, again.episodes) == (5, "periodic", 1)


def atari_job(preset, entry, **changes):
    pytest.importorskip("ale_py", reason="Atari games need ale-py")
    protocol = named_protocol(preset, **changes)
    return Job(entry, entry, game="space_invaders", protocol=protocol)


def test_a_replay_starts_after_as_many_frames_of_doing_nothing_as_the_recorded_episode():
    job = replace(atari_job("mnih-2015", "random", max_episode_frames=400), episodes=1)
    job = replace(job, protocol=replace(job.protocol, evaluation_episodes=0))
    recorded = [play_recorded(replace(job, seed=seed)) for seed in range(4)]
    assert len({one.last_start_frames for one in recorded}) > 1
    for seed, one in enumerate(recorded, start=100):
        assert play_replay(replay_job(one, job, seed=seed)) == one.last_score


@pytest.mark.slow
def test_replays_reproduce_the_score_under_a_protocol_that_draws_the_start():
    found = probe(atari_job("mnih-2015", "random", max_episode_frames=300), seeds=2, replays=1)
    assert (found.replays, found.reproduced) == (2, 2)


def test_an_episode_that_is_over_before_its_first_action_is_replayed():
    found = probe(atari_job("mnih-2015", "random", max_episode_frames=1), seeds=2, replays=1)
    assert (found.replays, found.reproduced) == (2, 2)


def jobs_of_probe(job):
    """The jobs that probing a job plays."""
    played = []

    def noting(function, jobs):
        played.extend(jobs)
        return [function(one) for one in jobs]

    probe(job, seeds=1, replays=1, map=noting)
    return played


def test_only_what_learns_is_evaluated_apart():
    changes = {"max_episode_frames": 60, "evaluation_episodes": 2}
    job = atari_job("atari-100k", "random", **changes)
    assert {one.protocol.evaluation_episodes for one in jobs_of_probe(job)} == {0}
    learner = replace(job, agent="learner", entry="arena.agents_for_tests:Learner", frames=100)
    evaluated = [one.agent for one in jobs_of_probe(learner) if one.protocol.evaluation_episodes]
    assert evaluated == ["learner", "learner"]


def test_the_performance_of_a_learner_is_its_last_evaluation_where_there_is_one():
    protocol = named_protocol(
        "gymnasium", max_episode_frames=30, evaluation_episodes=2, report_shares=[0.5, 1.0]
    )
    entry = "arena.agents_for_tests:Learner"
    job = Job(
        entry, entry, environment="gymnasium", game="CartPole-v1", protocol=protocol, frames=90
    )
    episodes = list(Playing(job))
    evaluation = [one.score for one in episodes if one.phase == "evaluation"]
    assert len(evaluation) == 4
    assert play_recorded(job).performance == np.mean(evaluation[-2:])
    assert play_recorded(job).last_score == evaluation[-1]


def test_an_environment_without_a_list_of_actions_is_refused():
    protocol = named_protocol("gymnasium")
    job = Job("random", "random", environment="gymnasium", game="Pendulum-v1", protocol=protocol)
    with pytest.raises(InputError, match="Cannot probe an agent on 'Pendulum-v1': it has no list"):
        probe(job)


def test_an_agent_without_an_answer_is_told_what_an_action_is(lock):
    job = replace(lock_job(lock), entry="arena.agents_for_tests:Says", settings={"what": "nothing"})
    with pytest.raises(InputError, match="chose action None"):
        probe(job)


def test_performance_is_the_mean_of_the_last_episodes_of_the_window():
    protocol = named_protocol("gymnasium", max_episode_frames=30, window_episodes=2)
    job = Job(
        "r", "random", environment="gymnasium", game="CartPole-v1", protocol=protocol, episodes=5
    )
    scores = [episode.score for episode in Playing(job)]
    assert play_recorded(job).performance == np.mean(scores[-2:])


def test_a_learner_must_be_told_how_long_it_may_learn():
    job = Job(
        "learner", "arena.agents_for_tests:Learner", environment="gymnasium", game="CartPole-v1"
    )
    with pytest.raises(InputError, match="The agent 'learner' learns"):
        probe(job)


def test_probing_without_seeds_is_refused():
    with pytest.raises(InputError, match="Cannot probe with 0 seeds and 2 replays"):
        probe(Job("random", "random", game="pong"), seeds=0)


def test_a_plan_is_probed_into_two_ledgers_and_resumes(tmp_path):
    plan = plan_from_toml(
        'environment = "gymnasium"\ngames = ["CartPole-v1"]\nseeds = 3\nepisodes = 4\n'
        'protocol = "gymnasium"\n[[agents]]\nentry = "random"\n[[agents]]\nentry = "no-op"'
    )
    found = probe_plan(plan, tmp_path)
    assert found.contrasts.agent == ("random", "no-op")
    assert set(found.contrasts.game) == {"CartPole-v1"} and found.contrasts.flavour is None
    random, no_op = found.contrasts
    assert random.deterministic_runs == random.sticky_runs == 3
    # Repeating the action before changes nothing where there is only one.
    assert no_op.loss == 0.0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["deterministic", "sticky"]
    assert probe_plan(plan, tmp_path).to_dict() == found.to_dict()
    assert found.settings["sticky_probability"] == 0.25
    assert "0 of 2 combinations of agent and game" in found.headline


DIES = """
class Dies:
    def begin(self, task, rng):
        if task.episode == 1:
            raise RuntimeError("no second game")

    def act(self, observation):
        return 0
"""


@pytest.mark.slow
def test_runs_that_failed_are_no_runs(tmp_path):
    (tmp_path / "short_lived_agents.py").write_text(DIES)
    plan = plan_from_toml(
        'environment = "gymnasium"\ngames = ["CartPole-v1"]\nseeds = 2\nepisodes = 5\n'
        'protocol = "gymnasium"\n[[agents]]\nname = "dies"\nentry = "short_lived_agents:Dies"\n'
        '[[agents]]\nentry = "no-op"',
        folder=tmp_path,
    )
    found = probe_plan(plan, tmp_path)
    dies, no_op = found.contrasts
    assert dies.deterministic_runs == dies.sticky_runs == 0
    assert math.isnan(dies.deterministic) and math.isnan(dies.loss)
    assert no_op.deterministic_runs == no_op.sticky_runs == 2
    assert found.failed.agent == ("dies",) * 4


@pytest.mark.slow
def test_every_variant_of_a_game_is_a_row_of_its_own(tmp_path):
    pytest.importorskip("ale_py", reason="Atari games need ale-py")
    plan = plan_from_toml(
        "seeds = 1\nepisodes = 1\n[protocol]\nmax_episode_frames = 500\n"
        '[[games]]\nname = "freeway"\nmodes = [0, 4]\ndifficulties = [0, 1]\n'
        '[[agents]]\nentry = "constant"\nsettings = { action = "UP" }'
    )
    found = probe_plan(plan, tmp_path)
    assert found.contrasts.flavour == ("0/0", "0/1", "4/0", "4/1")
    for job, contrast in zip(plan.jobs(), found.contrasts, strict=True):
        assert (contrast.sticky, contrast.sticky_runs) == (play_recorded(job).performance, 1)


def test_intervals_are_those_of_scipy():
    rng = np.random.default_rng(3)
    one, other = rng.normal(5, 2, size=7), rng.normal(1, 9, size=11)
    mean = mean_of_runs(one.tolist())
    low, high = stats.t.interval(0.95, 6, loc=one.mean(), scale=stats.sem(one))
    assert (mean.low, mean.high) == pytest.approx((low, high))
    welch = stats.ttest_ind(one, other, equal_var=False).confidence_interval(0.95)
    difference = difference_of_runs(one.tolist(), other.tolist())
    assert (difference.low, difference.high) == pytest.approx((welch.low, welch.high))


def test_one_run_has_no_interval_and_none_has_no_mean():
    assert math.isnan(mean_of_runs([4.0]).low)
    assert math.isnan(mean_of_runs([]).mean)
    assert math.isnan(difference_of_runs([4.0], [1.0, 2.0]).high)
    assert math.isnan(difference_of_runs([], [1.0]).mean)
    assert math.isnan(mean_of_runs([2.0, 2.0]).high)


def _fields(job):
    return {name: getattr(job, name) for name in job.__dataclass_fields__}


def test_recorded_starts_cannot_be_replayed():
    protocol = named_protocol("deterministic", starts=["pong: NOOP*10"])
    job = Job("random", "random", game="pong", episodes=1, protocol=protocol)
    with pytest.raises(InputError, match="Probe the agent with starts"):
        play_recorded(job)


def played(trials, scores, **columns):
    count = len(scores)
    rows = {"agent": ["a"] * count, "task": ["t"] * count, "run": [0] * count, "trial": trials}
    return Results.from_dict(rows | columns | {"score": scores})


def test_the_last_episodes_are_those_of_the_last_trials_whatever_their_rows():
    mixed = played([2, 0, 1], [1.0, 9.0, 5.0])
    (row,) = contrasts(mixed, mixed, window=2).contrasts
    assert row.sticky == 3.0


def test_equal_runs_have_a_mean_but_no_interval_and_no_significant_loss():
    rows = {"agent": ["a"] * 4, "task": ["t"] * 4, "run": [0, 1, 0, 1], "mode": [0, 0, 1, 1]}
    without = Results.from_dict(rows | {"score": [4.0, 4.0, 4.0, 5.0]})
    sticky = Results.from_dict(rows | {"score": [1.0, 1.0, 1.0, 2.0]})
    answer = contrasts(without, sticky)
    equal, other = answer.contrasts
    assert equal.loss == 3.0 and math.isnan(equal.loss_low) and math.isnan(equal.sticky_high)
    assert other.sticky_low < 1.5 < other.sticky_high
    assert answer.notes == (
        "2 means of several runs have no interval, because all their runs are equal.",
    )
    assert " of 1 combination of agent and game " in answer.headline


def test_one_run_is_too_few_for_an_interval_of_the_loss():
    answer = contrasts(played([0], [4.0]), played([0], [1.0]))
    assert answer["a", "t"].loss == 3.0
    assert answer.headline == (
        "There are too few runs for an interval of the score lost with sticky actions."
    )


def test_results_that_cannot_be_compared_are_refused_in_a_sentence():
    one, other = played([0], [1.0]), played([0], [1.0], mode=[3])
    with pytest.raises(InputError, match="No agent played the same variant"):
        contrasts(one, other)
    with pytest.raises(InputError, match="window is 0"):
        contrasts(one, one, window=0)
    wins = Results.from_numpy([[1.0]], measure="win")
    with pytest.raises(InputError, match="no measure 'score'"):
        contrasts(wins, wins)
