"""The verdict: sentences from numbers, each with its doubt, and nothing said of noise."""

from __future__ import annotations

import numpy as np
import pytest

import examiner as ex
from examiner.messages import joined
from examiner.reporting import Report
from examiner.reporting.finding import Board
from examiner.reporting.prose import plain_text, three_digits
from examiner.reporting.ranked import grouped_agents
from examiner.results import Results

AGENTS = ("best", "good", "fair", "poor", "weak", "last", "other", "more", "least", "most")

SECTIONS = [
    *("significance", "rank_probabilities", "intervals", "information", "suspects", "similarity"),
    *("decision", "reading"),
]


def scores(differ: float, seed: int = 0, tasks: int = 20, runs: int = 3) -> Results:
    """Agents that differ by so many deviations of their strengths on single tasks."""
    rng = np.random.default_rng(seed)
    level = differ * np.arange(len(AGENTS))[::-1, None, None]
    own = rng.normal(size=(len(AGENTS), tasks, 1))
    noise = 0.2 * rng.normal(size=(len(AGENTS), tasks, runs))
    return Results.from_numpy(level + own + noise, agents=AGENTS)


@pytest.fixture(scope="module")
def told() -> Report:
    return ex.report(scores(0.5), None, sections=SECTIONS)


def claims(report: Report) -> list[str]:
    return [plain_text(each.claim) for each in report.verdict.judgements]


def test_five_sentences_each_with_a_doubt_and_a_section_that_is_there(told):
    judgements = told.verdict.judgements
    assert len(judgements) == 5
    keys = {section.key for section in told.sections}
    for each in judgements:
        assert plain_text(each.claim).endswith(".") and plain_text(each.doubt).endswith(".")
        assert each.section in keys
        assert f'href="#{each.section}"' in told.html


@pytest.mark.parametrize("runs", [1, 3])
def test_shuffled_scores_say_nothing_and_name_nobody(runs):
    rng = np.random.default_rng(1)
    able = np.arange(10.0)[:, None, None] + rng.normal(size=(10, 20, runs))
    mixed = rng.permuted(np.moveaxis(able, 1, 0).reshape(20, -1), axis=1)  # runs within each task
    table = np.moveaxis(mixed.reshape(20, 10, runs), 0, 1)
    report = ex.report(Results.from_numpy(table, agents=AGENTS), None, sections=SECTIONS)
    assert claims(report)[0].startswith("No agent is significantly better: means lie between ")
    words = {word.strip(".,;") for claim in claims(report) for word in claim.split()}
    assert not words & set(AGENTS[:6])
    assert "do not differ significantly: p = " in plain_text(report.verdict.judgements[0].doubt)


def test_an_order_that_holds_on_these_tasks_alone_is_not_told_of_others():
    rng = np.random.default_rng(1)
    own = rng.normal(size=(10, 12, 1)) + 0.01 * rng.normal(size=(10, 12, 3))
    report = ex.report(Results.from_numpy(own, agents=AGENTS), None, sections=SECTIONS)
    first, second = report.verdict.judgements
    assert "significantly" in first.claim and "over runs of 12 tasks" in first.doubt
    assert plain_text(second.claim).endswith("on others like them it may be different.")
    assert "permutation test over 12 tasks" in plain_text(second.doubt)


def test_the_leader_is_told_from_those_that_tests_tell_it_from():
    results = scores(0.5, runs=1)
    told = ex.report(results, None, sections=SECTIONS)
    tests = ex.scores.significance(results, normalise=None)
    first = results.agents.index("best")
    alike = [
        agent
        for row, agent in enumerate(results.agents)
        if row != first and not tests.p[first, row] < 0.05
    ]
    assert 0 < len(alike) <= 3
    assert claims(told)[0] == (
        f"best has the best mean; {joined(alike)} {'is' if len(alike) == 1 else 'are'} not significantly "
        f"different from it."
    )
    groups = grouped_agents(ex.scores.rank(results, normalise=None))
    first_group = [row.agent for row in groups if row.group == 1]
    assert sorted(first_group) == sorted(["best", *alike])


def test_a_mean_that_one_task_carries_does_not_lead_unquestioned():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(3, 20)) * 0.1 + np.array([[0.0], [1.0], [0.5]])
    table[0, 0] = 100.0
    report = ex.report(Results.from_numpy(table, agents=["lucky", "steady", "middling"]), None)
    doubt = plain_text(report.verdict.judgements[0].doubt)
    assert doubt.startswith("steady and middling do better on most tasks.")


def test_what_would_help_has_the_numbers_of_the_decision_study(told):
    made = ex.scores.decision(scores(0.5), normalise=None)
    judged = next(each for each in told.verdict.judgements if each.section == "decision")
    assert (
        plain_text(judged.claim)
        == "More tasks would make comparisons more precise; more runs would not."
    )
    now, tasks = three_digits(made.now), three_digits(made.twice_tasks)
    assert f"from {now} to " in judged.doubt and f"twice the tasks to {tasks}" in judged.doubt


def test_runs_that_vary_most_are_what_more_of_would_help():
    rng = np.random.default_rng(0)
    level = np.arange(8.0)[:, None, None]
    table = level + rng.normal(size=(1, 60, 1)) + 9 * rng.normal(size=(8, 60, 3))
    report = ex.report(Results.from_numpy(table), None, sections=["decision", "significance"])
    assert (
        claims(report)[-1]
        == "More runs would make comparisons as much more precise as more tasks would."
    )


def test_a_single_run_is_not_to_be_trusted_with_other_runs():
    report = ex.report(scores(0.5, runs=1), None, sections=["significance", "decision"])
    assert any("single runs" in plain_text(each) for each in report.verdict.distrust)
    assert "the effect of more runs is unknown" in claims(report)[-1]


def test_sections_left_out_are_nothing_to_beware_of():
    shares = np.linspace(0.9, 0.1, 6)[:, None]
    table = (np.random.default_rng(0).random((6, 30)) < shares).astype(float)
    report = ex.report(Results.from_numpy(table), None)
    assert "Left out" in report.html
    assert not any("learning" in plain_text(each) for each in report.verdict.distrust)


def test_agents_that_tie_lead_together_and_each_has_its_share_of_first_places():
    table = np.tile(np.linspace(0.9, 0.1, 6)[:, None], (1, 12))
    table[0] = table[0] + np.linspace(-0.05, 0.05, 12)
    table[1] = table[0][::-1]
    results = Results.from_numpy(table, agents=AGENTS[:6])
    told = ex.report(results, None, sections=["significance", "rank_probabilities", "intervals"])
    assert claims(told)[0].startswith("best and good have the best mean")
    assert "ranks first in " in told.verdict.judgements[0].doubt
    assert told.sections[-1].lead.startswith("best has the best mean")


def test_the_json_has_the_verdict_and_the_chapters(told):
    content = told.to_dict()
    assert [each["claim"] for each in content["verdict"]["sentences"]] == claims(told)
    found = [section["chapter"] for section in content["sections"]]
    assert set(found) == {"evidence", "end"}
    assert content["sections"][-1]["key"] == "reading"


def test_a_report_of_one_agent_has_no_verdict():
    report = ex.report(Results.from_numpy([[0.5, 1.0, 0.2]]))
    assert not report.verdict
    assert 'id="verdict"' not in report.html


def test_human_scores_of_weak_agents_have_intervals():
    values = np.random.default_rng(0).random((3, 9, 4)) * np.logspace(-4, 1, 9)[:, None]
    scales = ex.results.Scales(
        ex.results.TaskScale(f"task {task + 1}", random=0.0, reference=1.0) for task in range(9)
    )
    report = ex.report(Results.from_numpy(values, scales=scales), sections=["intervals"])
    assert report.sections[0].applies, report.sections[0].lead


@pytest.mark.parametrize("noise", [0.0, 10.0])
def test_agents_far_apart_on_five_tasks_are_said_to_differ(noise):
    table = np.array([[400.0], [300.0], [200.0], [100.0]]) + noise * np.random.default_rng(
        0
    ).normal(size=(4, 5))
    told = ex.report(Results.from_numpy(table, agents=AGENTS[:4]), None)
    assert (
        claims(told)[0]
        == "best has the best mean, and is significantly better than every other agent."
    )
    assert told.verdict.judgements[0].doubt.endswith("best ranks first in 100 % of the resamples.")


def test_the_leader_and_how_often_it_leads_are_by_the_same_mean():
    """One run of one task is far above all others: the interquartile mean does not see it."""
    rng = np.random.default_rng(0)
    table = rng.normal(scale=0.1, size=(3, 5, 4)) + np.array([0.0, 0.5, 0.4])[:, None, None]
    table[0, 0] += 20
    sections = ["significance", "rank_probabilities", "intervals"]
    results = Results.from_numpy(table, agents=["high", "even", "low"])
    told = ex.report(results, None, sections=sections)
    sections = {section.key: section for section in told.sections}
    tests, probable = (sections[key].answer for key in ("significance", "rank_probabilities"))
    often = dict(zip(probable.agent_names, probable.probability[:, 0], strict=True))
    assert tests.agent_names[0] == "high" == max(often, key=often.__getitem__)
    assert probable.unit == tests.unit == "runs"
    assert sections["intervals"].lead.startswith("high has the best mean")
    assert "high ranks first in 100 %" in sections["rank_probabilities"].lead


def test_too_few_single_trials_are_said_to_be_too_few():
    solved = (np.arange(5)[None, :] < np.array([[5], [3], [1], [0]])).astype(float)
    told = ex.report(Results.from_numpy(solved, agents=AGENTS[:4]), None)
    first = told.verdict.judgements[0]
    assert first.claim.startswith("No agent is significantly better")
    assert "needs 8." in first.doubt or "do not differ significantly" in first.doubt


def test_the_test_of_the_page_is_the_test_of_the_commands():
    """Verdict, section, `scores` and `difference` ask one question and give one p-value."""
    results = scores(0.3, tasks=6, runs=3).where(np.arange(10 * 6 * 3) < 4 * 6 * 3)
    tests = ex.scores.significance(results, normalise=None)
    ranking = ex.scores.rank(results, rng=0, reps=100, normalise=None)
    np.testing.assert_allclose(ranking.tests.p, tests.p)
    (pair,) = ex.scores.compare(results, "best", "good", rng=0, reps=100, normalise=None).pairs
    table = ex.report(results, None, sections=["significance"]).sections[0]
    compared = table.blocks[2].table["best", "good"]
    assert pair.p == pytest.approx(compared.p)
    assert table.answer.unit == tests.unit == pair.unit == "runs"


def test_the_page_has_one_r2_of_the_chosen_tasks():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(12, 9)) + np.arange(12)[:, None] / 2
    told = ex.report(Results.from_numpy(table), None, sections=["selection"])
    (chosen,) = told.sections
    assert "R²" in plain_text(chosen.lead)
    rows = {row["size"]: row for row in chosen.data["methods"] if row["method"] == "covariance"}
    assert chosen.data["r2"] == rows[5]["r2"]
    board = next(block for block in chosen.blocks if isinstance(block, Board))
    assert board.content["judged"]["5"]["r2"] == rows[5]["r2"]
    shown = f"R² {rows[5]['r2']:.3g}"
    assert shown in plain_text(chosen.lead)
    assert any(shown in each.claim for each in told.verdict.judgements)


def test_a_task_that_nobody_solves_is_not_praised_for_discriminating():
    """Scores on one task separate the agents, though none reaches the success threshold there."""
    rng = np.random.default_rng(0)
    table = np.linspace(0.2, 1.0, 8)[:, None, None] + rng.normal(scale=0.2, size=(8, 6, 4))
    table[:, 0] = np.linspace(-2.0, 0.0, 8)[:, None] + rng.normal(scale=0.1, size=(8, 4))
    names = ["low", *(f"t{task}" for task in range(5))]
    results = Results.from_numpy(table, tasks=names)
    sections = ["significance", "information", "suspects"]
    told = ex.report(results, None, success=0.5, sections=sections)
    judged = {each.section: each for each in told.verdict.judgements}
    assert "low" in judged["suspects"].doubt
    data = {section.key: section.data for section in told.sections}
    chosen = [row["task"] for row in data["information"]["chosen"]]
    assert "low" in chosen[: data["information"]["enough"]]
    doubt = plain_text(judged["information"].doubt)
    assert doubt.endswith("Scores on low differ too, though no agent succeeds on it.")


@pytest.mark.parametrize(
    "shape",
    [
        (4, 5, 1),
        *(
            pytest.param(shape, marks=pytest.mark.slow)
            for shape in [
                *((4, 10, 1), (4, 27, 1), (4, 5, 5), (4, 10, 5), (4, 27, 5)),
                *((12, 5, 1), (12, 10, 1), (12, 27, 1), (12, 5, 5), (12, 10, 5), (12, 27, 5)),
                *((2, 3, 1), (2, 5, 5), (4, 5, 2), (3, 2, 1)),
            ]
        ),
    ],
)
@pytest.mark.parametrize("binary", [False, True])
def test_a_verdict_on_identical_agents_names_one_as_better_in_one_table_of_twenty(shape, binary):
    rng, named, tables = np.random.default_rng(7), 0, 60 if shape == (4, 5, 1) else 200
    for _ in range(tables):
        level = rng.normal(size=(1, shape[1], 1))
        noise = rng.normal(size=shape)
        values = (level + noise > 0).astype(float) if binary else level + noise
        report = ex.report(Results.from_numpy(values), None, sections=["significance"])
        claim = claims(report)[0]
        named += " has the best mean" in claim or " have the best mean" in claim
    assert named / tables <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / tables)


def test_the_better_of_two_agents_is_compared_with_the_other_by_name():
    table = np.array([[4.0], [1.0]]) + np.random.default_rng(0).normal(size=(2, 9)) / 9
    report = ex.report(Results.from_numpy(table, agents=AGENTS[:2]), None, sections=["ranking"])
    assert report.sections[0].lead.startswith(
        "best has the best mean, and is significantly better than good."
    )


def test_tasks_without_a_flag_have_no_empty_columns_and_few_agents_say_why():
    table = Results.from_numpy(np.random.default_rng(0).normal(size=(2, 9)), agents=AGENTS[:2])
    (tasks,) = ex.report(table, None, sections=["tasks"]).sections
    assert "flags" not in tasks.answer.tasks.columns
    assert "too few for an audit" in plain_text(tasks.lead)
