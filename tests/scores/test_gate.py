"""A gate between a new agent and an old one, plans, and the leader of two halves."""

import numpy as np
import pytest
from scipy import stats

import examiner as ex
from examiner.messages import InputError
from examiner.scores import gate, plan, rank


def pair(new: np.ndarray, old: np.ndarray) -> ex.Results:
    return ex.Results.from_numpy(np.stack([new, old]).astype(float), agents=["new", "old"])


def test_a_worse_agent_fails_and_a_better_one_passes() -> None:
    old = np.repeat([0.0, 1.0], 50)
    worse = np.where(np.arange(100) >= 85, 0.0, old)
    assert gate(pair(worse, old), "new", "old").verdict == "fail"
    assert gate(pair(old, worse), "new", "old").verdict == "pass"
    assert gate(pair(old, old), "new", "old").verdict == "undecided"
    assert gate(pair(old, old), "new", "old", margin=0.05).verdict == "pass"


def test_the_verdict_is_that_of_one_sided_t_tests() -> None:
    rng = np.random.default_rng(0)
    for shift in np.linspace(-0.6, 0.4, 21):
        new, old = rng.normal(shift, 1, 40), rng.normal(0, 1, 40)
        made = gate(pair(new, old), "new", "old", margin=0.5)
        worse = stats.ttest_rel(new, old, alternative="less").pvalue < 0.05
        fine = stats.ttest_rel(new + 0.5, old, alternative="greater").pvalue < 0.05
        assert made.verdict == ("pass" if fine else "fail" if worse else "undecided")


def test_undecided_gates_say_how_many_more_tasks_would_decide() -> None:
    rng = np.random.default_rng(1)
    made = gate(pair(rng.normal(-0.2, 1, 40), rng.normal(0, 1, 40)), "new", "old")
    assert made.verdict == "undecided" and "more tasks would decide" in made.headline
    gap = made.agents[0]
    error = (gap.difference_high - gap.difference_low) / 2 / stats.t.ppf(0.95, 39)
    needed = 40 * ((1.645 + 0.842) * error / gap.difference) ** 2
    assert gap.more_tasks == pytest.approx(needed - 40, rel=0.02)


def test_a_sequential_gate_needs_stronger_evidence_early_and_names_the_next_tasks() -> None:
    rng = np.random.default_rng(2)
    old, new = rng.normal(0, 1, 200), rng.normal(-0.45, 1, 200)
    given = np.where(np.arange(200) < 50, new, np.nan)
    early = gate(pair(given, old), "new", "old", sequential=True)
    assert early.verdict == "undecided" and len(early.next_tasks) == 150
    assert gate(pair(given, old), "new", "old").verdict == "fail"  # as if nobody looked again
    late = gate(pair(new, old), "new", "old", sequential=True)
    assert late.verdict == "fail" and not late.next_tasks
    assert late.agents.difference_high[0] - late.agents.difference[0] == pytest.approx(
        stats.t.ppf(0.975, 199) * np.std(new - old, ddof=1) / np.sqrt(200)
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [({"margin": -0.1}, "The margin is -0.1"), ({"error_rate": 0.7}, "The error rate is 0.7")],
)
def test_odd_margins_and_rates_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        gate(pair(np.ones(4), np.zeros(4)), "new", "old", **options)


def test_a_summary_is_markdown_with_the_verdict_first() -> None:
    made = gate(pair(np.r_[np.zeros(15), np.ones(5)], np.ones(20)), "new", "old")
    assert made.summary.startswith("### FAIL: new is significantly worse than old\n\n| new | old |")


@pytest.mark.parametrize("attempts", [1, 4])
def test_planned_tasks_detect_the_difference_four_times_in_five(attempts: int) -> None:
    rng = np.random.default_rng(3)

    def won(tasks: int, runs: int, shift: float) -> np.ndarray:
        chance = rng.uniform(0.2, 0.7, (2, tasks)) * [[0.8], [0.8]] + [[0.1 + shift], [0.1]]
        return (rng.random((2, tasks, runs)) < chance[:, :, None]).astype(float)

    pilot = ex.Results.from_numpy(won(4000, 4, 0.0), agents=["new", "old"])
    made = plan(pilot, "new", "old", 0.1, attempts=[attempts]).designs
    tasks = int(made.tasks[0])
    found = [
        stats.ttest_1samp(np.subtract(*won(tasks, attempts, 0.1).mean(axis=2)), 0).pvalue < 0.05
        for _ in range(600)
    ]
    assert np.mean(found) == pytest.approx(0.8, abs=0.05)


def test_single_attempts_are_planned_as_single_attempts() -> None:
    rng = np.random.default_rng(4)
    made = plan(pair(rng.random(50) < 0.5, rng.random(50) < 0.5), "new", "old", 0.1)
    assert made.designs.attempts.tolist() == [1] and "single attempt" in made.notes[-1]
    with pytest.raises(InputError, match="The difference is 0"):
        plan(pair(np.ones(3), np.zeros(3)), "new", "old", 0)


@pytest.mark.parametrize(
    ("new", "difference", "message"),
    [
        ([1.0], 0.1, "do not vary over 1 common task"),
        ([0.0, 0.0, 0.0], 0.1, "do not vary over 3 common tasks"),
        ([1.0, 0.0, 1.0], 1e-300, "No benchmark has enough tasks"),
        ([1e300, 0.0, 5e299], 0.1, "No benchmark has enough tasks"),
    ],
)
def test_plans_without_a_finite_number_of_tasks_are_refused(
    new: list[float], difference: float, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        plan(pair(np.array(new), np.zeros(len(new))), "new", "old", difference)


@pytest.mark.parametrize("tasks", [1, 5])
def test_equal_differences_do_not_show_how_many_more_tasks_decide(tasks: int) -> None:
    made = gate(pair(np.ones(tasks), np.ones(tasks)), "new", "old", margin=0.1)
    assert made.verdict == "undecided" and np.isnan(made.agents.more_tasks[0])
    assert "do not show how many more" in made.headline


def test_a_clear_leader_is_first_on_both_halves_and_equals_share_the_place() -> None:
    rng = np.random.default_rng(5)
    noise = rng.normal(size=(4, 60))
    clear = rank(ex.Results.from_numpy(noise + np.array([[3.0], [0], [0], [0]])), reps=50)
    assert clear.ranks.same_leader == 1.0
    assert "first on the other in 100 % of splits" in clear.ranks.halves
    many = [rank(ex.Results.from_numpy(rng.normal(size=(4, 60))), reps=20) for _ in range(40)]
    assert np.mean([one.ranks.same_leader for one in many]) < 0.35
    same = rank(ex.Results.from_numpy(noise[:, ::-1]), reps=50)
    assert same.ranks.same_leader == rank(ex.Results.from_numpy(noise), reps=50).ranks.same_leader


def test_the_order_of_tasks_does_not_change_how_groups_are_split() -> None:
    rng = np.random.default_rng(6)
    scores, group = rng.normal(size=(4, 60)), np.repeat(np.arange(12), 5)

    def table(order: np.ndarray) -> ex.Results:
        columns = {"agent": [], "task": [], "repo": [], "score": []}
        for agent in range(4):
            for task in order:
                columns["agent"].append(f"a{agent}")
                columns["task"].append(f"t{task}")
                columns["repo"].append(f"g{group[task]}")
                columns["score"].append(scores[agent, task])
        return ex.Results.from_dict(columns)

    leaders = {
        rank(table(order), reps=20).ranks.same_leader
        for order in (np.arange(60), rng.permutation(60))
    }
    assert len(leaders) == 1


def test_tasks_without_a_result_of_one_agent_are_reported() -> None:
    new, old = np.r_[np.nan, np.nan, np.ones(18)], np.ones(20)
    gated = gate(pair(new, old), "new", "old", margin=0.1)
    warning = "'new' has no result on 2 of 20 tasks, which are excluded"
    assert gated.agents.tasks[0] == 18 and any(warning in note for note in gated.notes)
    assert warning in gated.summary
    assert not any("excluded" in note for note in gate(pair(old, old), "new", "old").notes)


def test_an_agent_is_not_compared_with_itself() -> None:
    with pytest.raises(InputError, match="'new' is compared with itself"):
        gate(pair(np.ones(4), np.zeros(4)), "new", "new")
