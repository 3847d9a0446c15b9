"""Agents that learn in one mode and difficulty of a game and are judged in others."""

from __future__ import annotations

import json
import sys

import pytest

from examiner.arena import Flavour, flavours, plan_from_toml
from examiner.cli import main
from examiner.wording import InputError

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
    pairs = {(gap.learnt, gap.judged) for gap in found.gaps}
    assert len(pairs) == len(found.gaps) == 2 * 3  # learnt in two, judged in the three others
    assert (Flavour(0, 0), Flavour(1, 1)) in pairs and not found.failed
    learnt = set((tmp_path / "loaded.txt").read_text(encoding="utf-8").split())
    assert learnt == {str(2 * 60 // 5)}  # the decisions of two episodes, and no more while judged
    native = {gap.judged: gap.native.runs for gap in found.gaps}
    assert native == {Flavour(0, 0): 1, Flavour(0, 1): 1, Flavour(1, 0): 0, Flavour(1, 1): 0}


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
    words = ["examiner", "flavours", "plan.toml", "--episodes", "1", "--workers", "1", "--json"]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        main()
    told = json.loads(capsys.readouterr().out)
    assert not ended.value.code and told["schema"] == "examiner.flavours/1"
    assert [row["judged"]["mode"] for row in told["rows"]] == [1, 0]
    assert [row["gap"]["mean"] for row in told["rows"]] == [0.0, 0.0]
