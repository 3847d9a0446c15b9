"""Agents that learn in one mode and difficulty of a game and are judged in others."""

from __future__ import annotations

import json
import sys

import pytest
from scipy import stats

import examiner as ex
from examiner.arena import flavours, plan_from_toml
from examiner.cli import main
from examiner.ledger import ledger_results, ledger_state
from examiner.messages import InputError

pytest.importorskip("ale_py")

RULES = "protocol = { max_episode_frames = 60, sticky_probability = 0.0 }\nepisodes = 2\n"

AGENT = '''
"""Learns which flavour it is in by the number of training episodes it had, and holds an action."""
import json

class Counting:
    blind = True
    learnt = 0
    def begin(self, task, rng):
        self.last = task.learning
    def act(self, observation):
        return 0
    def learn(self, reward, observation, terminated, truncated):
        self.learnt += 1
    def save(self):
        return json.dumps(self.learnt).encode()
    def load(self, data):
        self.learnt = json.loads(data)
        with open("loaded.txt", "a") as file:
            file.write(f"{self.learnt} ")

class Forgetful:
    blind = True
    def act(self, observation):
        return 0
    def learn(self, *seen):
        pass
'''


def played(text, folder):
    return flavours(plan_from_toml(text, folder=folder), folder / "run", episodes=2)


def test_an_agent_is_judged_where_it_did_not_learn_with_what_it_learnt(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "counting.py").write_text(AGENT, encoding="utf-8")
    games = (
        '\ngames = [{ name = "freeway", difficulties = [0, 1] }]\nevaluated = { modes = [0, 1] }\n'
    )
    text = RULES + games + '[[agents]]\nentry = "counting:Counting"\n'
    found = played(text, tmp_path)
    pairs = set(zip(found.gaps.trained_in, found.gaps.evaluated_in, strict=True))
    assert len(pairs) == len(found.gaps) == 2 * 3  # learnt in two, judged in the three others
    assert ("0/0", "1/1") in pairs and not len(found.failed)
    learnt = set((tmp_path / "loaded.txt").read_text(encoding="utf-8").split())
    assert learnt == {str(2 * 60 // 5)}  # the decisions of two episodes, and no more while judged
    native = {gap.evaluated_in: gap.native_runs for gap in found.gaps}
    assert native == {"0/0": 1, "0/1": 1, "1/0": 0, "1/1": 0}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('games = ["pong"]\n[[agents]]\nentry = "no-op"', "one mode and difficulty of 'pong'"),
        (
            'games = ["pong"]\nevaluated = { modes = [7] }\n[[agents]]\nentry = "no-op"',
            "'pong' has no mode 7",
        ),
        (
            'games = ["pong"]\nevaluated = { modes = "all" }\n[[agents]]\nentry = "forgets:Forgetful"',
            "learns but cannot save",
        ),
    ],
)
def test_what_cannot_be_judged_is_refused_before_anything_is_played(
    text, said, tmp_path, monkeypatch
):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "forgets.py").write_text(AGENT, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        played(text, tmp_path)
    assert not (tmp_path / "run").exists()


def test_an_agent_that_learnt_nothing_has_no_gap_which_is_told_as_json(
    tmp_path, monkeypatch, capsys
):
    """It plays the same wherever it is said to have learnt, without noise to tell runs apart."""
    text = RULES + '\ngames = [{ name = "freeway", modes = [0, 1] }]\n[[agents]]\nentry = "no-op"\n'
    (tmp_path / "plan.toml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    words = [
        "examiner",
        "arena",
        "flavours",
        "plan.toml",
        "--episodes",
        "1",
        "--workers",
        "1",
        "--json",
    ]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        main()
    told = json.loads(capsys.readouterr().out)
    assert not ended.value.code and told["schema"] == "examiner.flavours/1"
    assert [row["evaluated_in"] for row in told["gaps"]] == ["1/0", "0/0"]
    assert [row["gap"] for row in told["gaps"]] == [0.0, 0.0]
    judged = ex.read(tmp_path / "plan" / "judged.parquet")
    assert ex.arena.gaps(judged).to_dict()["gaps"] == told["gaps"]
    assert set(judged.agents) == {"no-op (0/0)", "no-op (1/0)", "random play"}


def test_what_was_judged_is_not_judged_again(tmp_path):
    text = (
        RULES + '\ngames = [{ name = "freeway", modes = [0, 1] }]\n[[agents]]\nentry = "random"\n'
    )
    first = played(text, tmp_path)
    ledger = tmp_path / "run" / ".judged" / "ledger.sqlite"
    assert ledger_state(ledger).jobs == 2 * 2 + 2  # two agents and random play, in two flavours
    before = ledger_results(ledger).to_dict()
    assert played(text, tmp_path).to_dict() == first.to_dict()
    assert ledger_results(ledger).to_dict() == before


def test_gaps_and_shares_are_those_of_runs_by_hand():
    def rows(agent, learner, learnt, judged, runs):
        for run, score in enumerate(runs):
            yield agent, "t", judged, 0, run, score, learner, learnt, None if learner is None else 0

    table = [
        *rows("a (0/0)", "a", 0, 1, [4.0, 6.0, 5.0]),
        *rows("a (1/0)", "a", 1, 1, [10.0, 12.0, 11.0]),
        *rows("random play", None, None, 1, [1.0, 3.0, 2.0]),
    ]
    learner = ("learner", "learnt_mode", "learnt_difficulty")
    names = ("agent", "task", "mode", "difficulty", "run", "score", *learner)
    columns = {name: [row[at] for row in table] for at, name in enumerate(names)}
    results = ex.Results.from_dict(columns)
    answer = ex.arena.gaps(results)
    (gap,) = answer.gaps
    assert (gap.agent, gap.trained_in, gap.evaluated_in) == ("a", "0/0", "1/0")
    assert (gap.gap, gap.kept) == (6.0, pytest.approx(3 / 9))
    assert answer.headline == (
        "In 1 of 1 pair of flavours an agent is significantly worse than the same agent trained in the "
        "flavour of evaluation (95 % intervals over runs)."
    )
    low, high = stats.ttest_ind([10, 12, 11], [4, 6, 5], equal_var=False).confidence_interval()
    assert (gap.gap_low, gap.gap_high) == (pytest.approx(low), pytest.approx(high))
    del columns["learner"]
    with pytest.raises(InputError, match="no column 'learner'"):
        ex.arena.gaps(ex.Results.from_dict(columns))


@pytest.mark.parametrize(
    ("agents", "learnt", "said"),
    [
        (["a", "b"], [0, 0], "Two agents are the learner 'x' that learnt in mode 0"),
        (["a", "a"], [0, 1], "The agent 'a' has several learners, modes or difficulties"),
    ],
)
def test_agents_whose_origin_is_not_clear_are_refused(agents, learnt, said):
    columns = {"agent": agents, "task": ["t"] * 2, "mode": [1] * 2, "difficulty": [0] * 2}
    columns |= {"run": [0, 1], "score": [1.0, 2.0], "learner": ["x"] * 2, "learnt_mode": learnt}
    results = ex.Results.from_dict(columns | {"learnt_difficulty": [0] * 2})
    with pytest.raises(InputError, match=said):
        ex.arena.gaps(results)
