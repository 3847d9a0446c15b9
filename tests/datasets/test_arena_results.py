"""What was played for the package: complete, under its plan, and far enough above chance to be of use."""

from __future__ import annotations

from importlib import metadata

import numpy as np
import pytest
from scipy import stats

from examiner.datasets import card, load

SIZES = {
    "atari-arena": (12, 27, 5),
    "atari-arena-deterministic": (12, 9, 1),
}  # agents, games, seeds
NAMES = sorted(SIZES)


@pytest.fixture(scope="module", params=NAMES)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def results(name):
    return load(name)


def planned(name):
    pytest.importorskip("ale_py", reason="Atari games need ale-py")
    from examiner.arena import plan

    return plan(name)


def run_means(results):
    """The score of each run that counts: the mean of its last 100 episodes, by agent, game and seed."""
    scores = {}
    keys = zip(results.column("agent"), results.column("task"), results.column("run"), strict=True)
    for key, score in zip(keys, results.measure(), strict=True):
        scores.setdefault(key, []).append(score)
    return {key: float(np.mean(values[-100:])) for key, values in scores.items()}


def test_every_agent_played_every_game_with_every_seed(name, results):
    agents, games, seeds = SIZES[name]
    means = run_means(results)
    assert (len(results.agents), len(results.tasks)) == (agents, games)
    assert len(means) == agents * games * seeds
    assert {run for _, _, run in means} == set(range(seeds))


@pytest.mark.slow
def test_it_holds_the_jobs_of_the_plan_that_comes_with_it_and_no_others(name, results):
    jobs = planned(name).jobs()
    assert {job.key for job in jobs} == set(results.column("job"))
    by_key = {job.key: (job.agent, job.game, job.seed) for job in jobs}
    rows = zip(*(results.column(one) for one in ("job", "agent", "task", "run")), strict=True)
    assert all(by_key[key] == tuple(rest) for key, *rest in rows)


def test_episodes_keep_to_the_protocol(results):
    length, truncated = np.array(results.column("length")), np.array(results.column("truncated"))
    assert length.max() == 4_500
    assert np.array_equal(truncated, length == 4_500)
    families = results.agent_attributes.aligned(results.agents, "family")
    learners = [
        agent
        for agent, family in zip(results.agents, families, strict=True)
        if family == "learning"
    ]
    assert learners == ["brute", "sarsa-blob-prost"]
    frames = {}
    rows = zip(*(results.column(one) for one in ("agent", "task", "run", "frames")), strict=True)
    for agent, game, run, played in rows:
        frames[agent, game, run] = max(played, frames.get((agent, game, run), 0))
    trained = [played for (agent, _, _), played in frames.items() if agent in learners]
    assert 50_000 <= min(trained) <= max(trained) < 54_500


def test_the_scale_of_a_game_is_the_random_agent_of_the_same_set(results):
    rows = np.array(results.column("agent")) == "random"
    games = np.array(results.column("task"))
    for scale in results.scales:
        chance = results.measure()[rows & (games == scale.task)]
        assert scale.random == pytest.approx(chance.mean())
        assert scale.reference > scale.random


def beats(ours, chance):
    """Whether the interval of Hodges and Lehmann for the shift between five runs and five lies above 0.

    It inverts the exact test of Mann and Whitney: of 25 differences, the third smallest is its lower end.
    """
    return np.sort(np.subtract.outer(ours, chance), axis=None)[2] > 0


def test_the_third_smallest_of_25_differences_is_the_end_of_a_95_percent_interval():
    """Ranks with two inversions are rejected at 2.5 % on one side, with three they are not."""
    above = np.array([5.0, 6.0, 7.0, 8.0, 9.0])
    for inversions, expected in ((2, True), (3, False)):
        ours, chance = above.copy(), np.array([0.0, 1.0, 2.0, 3.0, 4.0])
        ours[0] -= inversions + 0.5  # below so many of the others
        p = stats.mannwhitneyu(ours, chance, alternative="greater", method="exact").pvalue
        assert (p <= 0.025) == beats(ours, chance) == expected


def test_at_least_half_of_the_agents_beat_random_play_on_half_of_the_games():
    means = run_means(load("atari-arena"))
    agents, games, runs = (sorted({key[place] for key in means}) for place in range(3))
    won = {
        agent: sum(
            beats(
                [means[agent, game, run] for run in runs],
                [means["random", game, run] for run in runs],
            )
            for game in games
        )
        for agent in agents
    }
    enough = [agent for agent, count in won.items() if 2 * count >= len(games)]
    assert 2 * len(enough) >= len(agents), won
    assert won["random"] == 0


@pytest.mark.parametrize(
    "name",
    ["atari-arena-deterministic", pytest.param("atari-arena", marks=pytest.mark.slow)],
    indirect=True,
    scope="module",
)
def test_an_episode_played_again_is_the_same_episode(name, results):
    """Where the same emulator and generators are installed: one blind, one learning, one planning agent."""
    from examiner.arena import Playing

    for package in ("ale-py", "numpy"):
        if metadata.version(package) != results.column(f"version_{package}")[0]:
            pytest.skip(f"played with another version of {package}")
    rows = list(zip(*(results.column(one) for one in ("job", "trial", "length")), strict=True))
    kept = {row[:2]: (row[2], score) for row, score in zip(rows, results.measure(), strict=True)}
    for agent in ("random", "brute", "uct"):
        job = next(
            one for one in planned(name).jobs() if (one.agent, one.game) == (agent, "asterix")
        )
        again = next(Playing(job))
        assert kept[job.key, 0] == (again.length, again.score)


def test_the_card_says_what_was_not_as_the_protocol_has_it(name):
    told = card(name).protocol + " ".join(card(name).notes)
    assert "4,500 frames" in told
    assert "50,000 frames" in told
