"""What was once taken in silence, or ended in a traceback."""

from __future__ import annotations

import json

import pytest

import examiner as ex


@pytest.fixture
def fit(tmp_path):
    plays = ex.load("gvgai-plays").with_items()
    return ex.save(ex.irt.fit(plays, rng=0), tmp_path / "fit.json")


def test_an_examination_goes_on_with_the_agent_it_began_with(examiner, fit) -> None:
    asked = ("examine", "--fit", fit, "--oracle", "gvgai-plays", "--item", "task")
    begun = examiner(*asked, "--agent", "OLETS", "--most", 2, "-o", "sitting.json")
    assert begun.returncode == 0, begun.stderr
    before = (fit.parent / "sitting.json").read_bytes()
    other = examiner(*asked, "--agent", "CatLinux", "--most", 4, "--resume", "sitting.json")
    assert other.returncode == 2
    assert "the examination of 'OLETS', and the answers are those of 'CatLinux'" in other.stderr
    assert (fit.parent / "sitting.json").read_bytes() == before
    assert examiner(*asked, "--agent", "OLETS", "--resume", "sitting.json", "--most", 4)[0] == 0


def test_a_selection_whose_recipe_learnt_nothing_is_damaged(tmp_path) -> None:
    results = ex.load("atari-dqn-family")
    path = ex.save(ex.selection.select(results, 3, "spread", rng=0), tmp_path / "few.json")
    stored = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(stored | {"recipe": {}}), encoding="utf-8")
    with pytest.raises(ex.InputError, match=r"its recipe.learnt is missing"):
        ex.load_saved(path)


@pytest.mark.parametrize("entry", ["../x:y", ".x:y"])
def test_an_agent_of_a_relative_module_is_refused_in_words(examiner, entry: str) -> None:
    done = examiner("arena", "probe", entry, "pong", "--cap", 50)
    assert done.returncode == 2
    assert "Cannot find the agent" in done.stderr


def test_a_plan_nested_without_end_is_refused_in_words(examiner, tmp_path) -> None:
    (tmp_path / "deep.toml").write_text(f"x = {'[' * 3000}{']' * 3000}\n", encoding="utf-8")
    done = examiner("arena", "run", "deep.toml", "--explain")
    assert done.returncode == 2
    assert "nested too deeply" in done.stderr


def test_what_is_no_fit_is_refused_in_words() -> None:
    results = ex.load("atari-dqn-family")
    with pytest.raises(ex.InputError, match=r"A NoneType is given as the fit"):
        ex.irt.place(results, None)  # type: ignore[arg-type]
    with pytest.raises(ex.InputError):
        ex.selection.select(None, 5, rng=0)  # type: ignore[arg-type]
