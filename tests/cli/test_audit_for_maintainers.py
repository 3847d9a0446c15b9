"""An audit for maintainers: constant among the best, answers against the key, and a checklist."""

from pathlib import Path

import numpy as np
import pytest

import examiner as ex


def answered() -> ex.Results:
    """14 agents on 12 questions; on question 3 twelve of them answer B, and the key says C."""
    rng = np.random.default_rng(0)
    able = np.linspace(0.35, 0.9, 14)
    rows = []
    for question in range(12):
        key = "ABCD"[question % 4]
        for agent in range(14):
            answer = (
                key if rng.random() < able[agent] else rng.choice([c for c in "ABCD" if c != key])
            )
            if question == 2:
                key, answer = "C", "B" if agent < 12 else "C"
            rows.append((f"agent {agent:02d}", f"q{question + 1}", answer, key))
    columns = dict(zip(("agent", "task", "answer", "key"), zip(*rows, strict=True), strict=True))
    score = [float(answer == key) for _, _, answer, key in rows]
    return ex.Results.from_dict(
        {name: list(part) for name, part in columns.items()} | {"score": score}
    )


def test_agents_that_agree_on_another_answer_flag_the_task() -> None:
    found = ex.irt.audit(answered(), rng=0)
    assert found.of_kind("key") == ("q3",)
    row = found.flagged[0]
    assert row.task == "q3" and row.rank == 1
    assert row.reasons[0] == "12 of 14 agents answered B, the key says C"
    assert row.notable_agents[:2] == ("agent 12", "agent 13")


def test_answers_that_solve_a_task_are_the_key_in_other_letters() -> None:
    columns = answered().to_dict()
    for answers in (
        [str("ABCD".index(answer)) for answer in columns["answer"]],
        [f" {answer} " for answer in columns["answer"]],
    ):
        recoded = ex.Results.from_dict(columns | {"answer": answers}, measures=["score"])
        assert ex.irt.audit(recoded, rng=0).of_kind("key") == ("q3",)


def test_a_key_of_zero_is_a_key() -> None:
    columns = answered().to_dict()
    numbers = {name: ["CBDA".index(part) for part in columns[name]] for name in ("answer", "key")}
    audited = ex.irt.audit(ex.Results.from_dict(columns | numbers, measures=["score"]), rng=0)
    assert audited.of_kind("key") == ("q3",)
    assert audited["q3"].reasons[0] == "12 of 14 agents answered 1, the key says 0"


def test_missing_columns_of_answers_are_refused_only_where_they_were_named() -> None:
    plain = ex.Results.from_numpy(np.triu(np.ones((6, 6))))
    assert ex.irt.audit(plain).of_kind("key") == ()
    with pytest.raises(ex.InputError, match="no column 'said' of answers"):
        ex.irt.audit(plain, answers="said")
    with pytest.raises(ex.InputError, match="no column 'right' of right answers"):
        ex.irt.audit(answered(), key="right")


def test_tasks_constant_among_the_best_agents_are_counted_as_by_hand() -> None:
    rng = np.random.default_rng(1)
    table = (rng.random((20, 40)) < np.linspace(0.2, 0.95, 20)[:, None]).astype(float)
    found = ex.irt.audit(ex.Results.from_numpy(table), top=5)
    best = table[np.argsort(-table.mean(axis=1), kind="stable")[:5]]
    assert len(found.constant) == int((best == best[0]).all(axis=0).sum())
    assert (
        f"{len(found.constant)} of 40 tasks are constant among the best 5 agents." in found.headline
    )
    with pytest.raises(ex.InputError, match="best 30 of 20 agents"):
        ex.irt.audit(ex.Results.from_numpy(table), top=30)


def test_published_counts_of_swe_bench_verified() -> None:
    """Among the best 25 of the public submissions 270 of 500 tasks have one result."""
    assert len(ex.irt.audit(ex.load("swebench-verified"), top=25).constant) == 270


@pytest.mark.parametrize("name", ["tasks.md", "tasks.csv"])
def test_flagged_tasks_are_written_for_triage(examiner, tmp_path: Path, name: str) -> None:
    source = ex.write(answered(), tmp_path / "answers.csv")
    done = examiner("audit", source, "--triage", tmp_path / name)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / name).read_text()
    assert "12 of 14 agents answered B, the key says C" in text
    if name == "tasks.md":
        assert "- [ ] `q3`: 12 of 14" in text and "## agents agree on another answer" in text


def test_clean_tables_with_guessing_or_families_have_no_low_discrimination() -> None:
    named = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        slope, difficulty = np.exp(rng.normal(0.2, 0.3, 40)), rng.normal(size=40)
        chance = 0.25 + 0.75 / (1 + np.exp(-slope * (rng.normal(size=(80, 1)) - difficulty)))
        won = (rng.random(chance.shape) < chance).astype(float)
        named.append(bool(ex.irt.audit(ex.ResponseMatrix.from_array(won), rng=0).of_kind("flat")))
    assert sum(named) <= 3  # 5 to 7 % of tables; 33 to 68 % without a chance of guessing
