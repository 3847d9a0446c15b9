"""Columns that divide rows, though not in the same way for all agents, are never averaged in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

import examiner as ex

SETTINGS = """algo,env,quality,score
A,hopper,medium,1
A,hopper,expert,2
B,hopper,medium,3
B,hopper,random,4
"""
MODES = """agent,task,mode,score
A,x,docker,1
B,x,local,2
A,y,docker,1
B,y,docker,2
A,z,local,3
B,z,docker,1
"""


def test_a_setting_that_one_agent_lacks_does_not_number_runs(tmp_path: Path) -> None:
    (tmp_path / "d4rl.csv").write_text(SETTINGS)
    with pytest.raises(ex.InputError, match=r"differ in 'quality' .*`--item task,quality`"):
        ex.read(tmp_path / "d4rl.csv")
    assert len(ex.read(tmp_path / "d4rl.csv", item=["task", "quality"]).tasks) == 3


def test_words_of_an_item_column_that_some_agents_lack_are_asked_about(tmp_path: Path) -> None:
    (tmp_path / "modes.csv").write_text(MODES)
    with pytest.raises(
        ex.InputError, match=r"same values of 'mode' .*`--item task`.*`--item task,mode`"
    ):
        ex.read(tmp_path / "modes.csv")
    assert ex.read(tmp_path / "modes.csv", item=["task"]).tasks == ("x", "y", "z")


def test_words_that_never_recur_are_no_setting(tmp_path: Path) -> None:
    rows = [f"{agent},t,{agent}{run},{run}" for agent in "ab" for run in range(3)]
    (tmp_path / "files.csv").write_text("agent,task,file,score\n" + "\n".join(rows))
    assert ex.read(tmp_path / "files.csv").counts()["runs"] == 3
