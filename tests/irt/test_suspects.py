"""An audit finds planted faults, names nothing in noise, and says so in words."""

from __future__ import annotations

import numpy as np
import pytest

import examiner as ex
from examiner.irt.suspects.dependence import labelled_groups, pair_excess
from examiner.irt.suspects.rest_regressions import Responses, rest_regressions, rest_scores
from examiner.irt.suspects.task_tests import discrimination
from examiner.results import ResponseMatrix


def drawn(agents: int, tasks: int, seed: int, ability: float = 1.5) -> np.ndarray:
    rng = np.random.default_rng(seed)
    able, hard = rng.normal(0, ability, agents), rng.normal(0, 1.2, tasks)
    return (rng.random((agents, tasks)) < 1 / (1 + np.exp(hard - able[:, None]))).astype(float)


def test_planted_faults_are_found_with_their_agents_and_partners() -> None:
    table = drawn(60, 50, 1)
    table[:, 3] = 1 - table[:, 3]
    table[:, 7] = 0
    table[:, 8] = 1
    table[:, 12] = table[:, 11]
    table[:, 20] = np.arange(60) % 2
    found = ex.irt.audit(ex.Results.from_numpy(table), rng=0)
    assert found.of_kind("negative") == ("task 4",)
    assert found.of_kind("nobody") == ("task 8",) and found.of_kind("everybody") == ("task 9",)
    assert set(found.of_kind("repeat")) == {"task 12", "task 13"}
    assert "task 21" in found.of_kind("flat")
    assert found.flagged[0].task == "task 4"
    wrong = found.flagged[0]
    strong = np.argsort(-table.sum(axis=1))[:20]
    assert wrong.notable_agents[0] in {f"agent {row + 1}" for row in strong}
    repeat = found.flagged["task 12"]
    assert repeat.related_tasks == ("task 13",)
    assert "the same results of 60 of 60 agents" in repeat.reasons[0]
    assert "solved by every agent" not in found.headline


def test_a_broken_environment_is_found_and_named_where_the_table_of_tasks_names_it() -> None:
    table, rng = drawn(60, 60, 2), np.random.default_rng(0)
    broken = rng.random(60) < 0.4
    table[:, :8] = np.where(broken[:, None] & (rng.random((60, 8)) < 0.85), 0, table[:, :8])
    names = [f"t{n}" for n in range(60)]
    results = ex.Results.from_numpy(table, tasks=names)
    about = [
        {"task": name, "group": "docker" if n < 8 else "other"} for n, name in enumerate(names)
    ]
    held = results.with_attributes(ex.results.Attributes.from_dicts("task", about))
    found = ex.irt.audit(held, rng=0)
    named = [group for group in found.groups if group.group == "group docker"]
    assert len(named) == 1 and named[0].excess > named[0].cutoff
    own = [group for group in found.groups if group.group == "found"]
    assert own and len(set(own[0].members) & set(names[:8])) >= 5


def test_trials_that_flip_and_scorers_that_disagree_are_found() -> None:
    rng = np.random.default_rng(3)
    chance = np.clip(rng.normal(0.5, 0.35, (30, 20)), 0.02, 0.98)
    runs = (rng.random((30, 20, 1)) < chance[:, :, None]).astype(float).repeat(4, axis=2)
    runs[:, 5] = rng.random((30, 4)) < 0.5
    results = ex.Results.from_numpy(runs, measure="exact")
    found = ex.irt.audit(results, rng=0)
    assert found.of_kind("unsteady") == ("task 6",)
    other = results.measure().copy()
    swapped = (results.task_codes == 9) & (rng.random(len(results)) < 0.5)
    other[swapped] = 1 - other[swapped]
    two = results.with_measure("judge", other)
    assert ex.irt.audit(two, rng=0).of_kind("scorers") == ("task 10",)


def test_the_same_text_is_a_repeat_whatever_the_results() -> None:
    names = [f"t{n}" for n in range(10)]
    texts = [{"task": name, "text": f"What is the answer to question {name}?"} for name in names]
    texts[7]["text"] = "  what IS the answer to question t2? "
    results = ex.Results.from_numpy(drawn(8, 10, 4), tasks=names)
    held = results.with_attributes(ex.results.Attributes.from_dicts("task", texts))
    found = ex.irt.audit(held, rng=0)
    assert set(found.of_kind("repeat")) == {"t2", "t7"}
    assert found.flagged[0].text.strip().casefold().endswith("t2?")


@pytest.mark.parametrize(
    ("agents", "tasks", "tables"),
    [
        (12, 30, 8),
        pytest.param(7, 25, 40, marks=pytest.mark.slow),
        pytest.param(12, 60, 40, marks=pytest.mark.slow),
    ],
)
def test_identical_agents_and_healthy_tasks_are_rarely_suspected(
    agents: int, tasks: int, tables: int
) -> None:
    kinds = ("negative", "flat", "repeat")
    for ability in (0.0, 1.5):
        any_of = dict.fromkeys((*kinds, "group"), 0)
        for seed in range(tables):
            table = drawn(agents, tasks, 100 + seed, ability)
            found = ex.irt.audit(ResponseMatrix.from_array(table), rng=seed)
            for kind in kinds:
                any_of[kind] += bool(found.of_kind(kind))
            any_of["group"] += len(found.groups) > 0
        # 5 % of tables by design; binomial(8, 0.05) exceeds 2 in 0.6 % of cases, binomial(40, 0.05) 6
        assert max(any_of.values()) <= 1 + 0.125 * tables


def test_scores_of_any_unit_and_gaps_are_audited() -> None:
    rng = np.random.default_rng(5)
    able = rng.normal(size=40)
    scores = 100 * able[:, None] + rng.normal(0, 80, (40, 25))
    scores[:, 4] = -scores[:, 4] * 1e3
    scores[rng.random(scores.shape) < 0.1] = np.nan
    scores[:, 9] = scores[:, 8] + rng.normal(0, 1, 40)
    found = ex.irt.audit(ex.Results.from_numpy(scores), rng=0)
    assert found.of_kind("negative") == ("task 5",)
    assert set(found.of_kind("repeat")) == {"task 9", "task 10"}
    assert not found.of_kind("nobody")


def test_exchanging_agents_changes_nothing_of_slopes_and_pairs() -> None:
    table = drawn(30, 20, 6)
    order = np.random.default_rng(0).permutation(30)
    one, other = (Responses.of(ResponseMatrix.from_array(each)) for each in (table, table[order]))
    first, second = rest_regressions(one), rest_regressions(other)
    np.testing.assert_allclose(first.expected[order], second.expected, atol=1e-8)
    np.testing.assert_allclose(pair_excess(one, first), pair_excess(other, second), atol=1e-6)
    slopes = discrimination(one, first), discrimination(other, second)
    np.testing.assert_allclose(slopes[0].flat_p, slopes[1].flat_p, atol=1e-8)


def test_rest_scores_does_not_know_the_task_itself() -> None:
    table = drawn(20, 10, 7)
    changed = table.copy()
    changed[:, 0] = 1 - changed[:, 0]
    one, other = (
        rest_scores(Responses.of(ResponseMatrix.from_array(each)))[:, 0]
        for each in (table, changed)
    )
    np.testing.assert_allclose(one, other, atol=1e-12)


def test_labels_without_meaning_name_a_group_in_one_table_of_twenty() -> None:
    named = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        noise = rng.normal(size=(30, 30))
        excess = np.triu(noise, 1) + np.triu(noise, 1).T + 0.3  # all tasks share something
        labels = rng.integers(0, 5, 30).tolist()
        named += bool(labelled_groups(excess, {"kind": labels}, rng))
    assert named <= 5  # binomial(30, 0.05) exceeds it once in 300 times


def test_expected_correlations_are_correlations_and_those_of_tasks_that_discriminate_alike() -> (
    None
):
    rng = np.random.default_rng(0)
    able = rng.normal(0, 2, 60)
    share = 1 / (1 + np.exp(rng.normal(size=20) - able[:, None]))
    won = (rng.random((60, 20, 10)) < share[:, :, None]).astype(float)
    alike = ex.irt.audit(ex.Results.from_numpy(won), rng=0).tasks
    assert alike.expected_correlation == pytest.approx(alike.correlation, abs=0.1)
    won[:, 0] = np.arange(10) % 2  # each agent solves it every other time: results do not spread
    won[0, 0, 0] = 1.0
    flat = ex.irt.audit(ex.Results.from_numpy(won), rng=0).tasks
    assert (abs(flat.expected_correlation) <= 1).all()  # 22.3 where divided by the spread observed
    assert flat.expected_correlation[0] == pytest.approx(
        alike.expected_correlation.mean(), abs=0.15
    )


def test_few_agents_or_tasks_are_refused_in_words() -> None:
    with pytest.raises(ex.InputError, match="too few for an audit"):
        ex.irt.audit(ResponseMatrix.from_array([[1, 0, 1]]))
    with pytest.raises(ex.InputError, match="omit the recipe"):
        ex.irt.audit(ResponseMatrix.from_array(drawn(9, 9, 0)), recipe=ex.scores.Recipe())


def test_wrong_gold_patches_of_swe_bench_verified_are_among_the_least_discriminating() -> None:
    results = ex.load("swebench-verified")
    found = Responses.of(ex.responses(results))
    made = discrimination(found, rest_regressions(found))
    ratio = made.correlation / made.expected
    order = [results.tasks[task] for task in np.argsort(ratio)]
    failing = {  # as reported in issue 20 of SWE-bench/sb-cli
        *("astropy__astropy-7606", "astropy__astropy-8707", "astropy__astropy-8872"),
        *("django__django-10097", "psf__requests-1724", "psf__requests-2317"),
        *("pylint-dev__pylint-6528", "pylint-dev__pylint-7277"),
    }
    assert len(failing & set(order[:39])) >= 7
