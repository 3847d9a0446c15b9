"""A value outside 0 to 1, where all others lie inside, is named and never decides the normaliser."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import examiner as ex
from examiner.cli import app
from examiner.scores import suggested_normaliser
from examiner.scores.normalise import isolated_notes

NAMED = "-2 (agent 'a03', task 't05')"


def win_rates(agents: int = 16, tasks: int = 12) -> np.ndarray:
    rng = np.random.default_rng(1)
    logits = rng.normal(size=agents)[:, None] - rng.normal(size=tasks)
    return rng.binomial(10, 1 / (1 + np.exp(-logits))) / 10


def write(path: Path, cells: np.ndarray, first: int = 0) -> Path:
    header = ",".join(["agent", *(f"t{task:02}" for task in range(cells.shape[1]))])
    rows = [
        ",".join([f"a{first + number:02}", *(f"{v:g}" for v in row)])
        for number, row in enumerate(cells)
    ]
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    cells = win_rates()
    write(Path("good.csv"), cells)
    write(Path("new.csv"), np.round(cells[:1, :9], 1), first=90)
    cells[3, 5] = -2
    return write(Path("bad.csv"), cells)


@pytest.mark.filterwarnings("ignore::examiner.ExaminerWarning")
def test_a_single_value_outside_never_changes_the_normaliser() -> None:
    cells = win_rates()
    for value in (-2.0, 1.01, 100.0, -999.0):
        for agent, task in ((0, 0), (3, 5), (15, 11)):
            changed = cells.copy()
            changed[agent, task] = value
            results = ex.Results.from_numpy(changed)
            assert suggested_normaliser(results) is None
            (note,) = isolated_notes(results)
            assert f"{value:g} (agent 'agent {agent + 1}', task 'task {task + 1}')" in note


def test_a_task_or_an_agent_in_another_unit_is_no_slip() -> None:
    task, agent = win_rates(), win_rates()
    task[:, 2] *= 1000
    agent[4] *= 1000
    for cells in (task, agent):
        results = ex.Results.from_numpy(cells)
        assert suggested_normaliser(results) == "z-score"
        assert isolated_notes(results) == ()


def test_two_agents_alone_have_no_range_that_others_share() -> None:
    results = ex.Results.from_numpy([[0.0, 0.5], [400.0, 0.5]])
    assert suggested_normaliser(results) is None and isolated_notes(results) == ()


def test_percentages_are_a_unit_as_shares_are() -> None:
    cells = 100 * win_rates()
    cells[3, 5] = 140
    results = ex.Results.from_numpy(cells)
    assert suggested_normaliser(results) is None
    assert (
        "outside 0 to 100, where all others lie: 140 (agent 'agent 4'" in isolated_notes(results)[0]
    )


def test_python_warns_of_the_value() -> None:
    cells = win_rates()
    cells[3, 5] = -2
    with pytest.warns(ex.ExaminerWarning, match="-2 "):
        normalised = ex.normalise(ex.Results.from_numpy(cells), "auto")
    assert np.nanmin(normalised.measure()) == -2  # never clipped


def test_distil_and_place_stay_in_win_rates_and_say_so(table: Path) -> None:
    run = CliRunner().invoke
    for name in ("good", "bad"):
        few = ["--size", "3", "--folds", "3", "--workers", "1", "-o", f"{name}.json"]
        distil = run(app, ["distil", f"{name}.csv", *few, "--all"])
        assert distil.exit_code == 0, distil.output
        assert "Scores: score as it was read" in distil.stdout
        assert (NAMED in distil.stderr) == (name == "bad")
        place = run(app, ["place", "new.csv", "--with", f"{name}.json", "--json"])
        told = json.loads(place.stdout)
        assert told["score_unit"] == "score as it was read"
        placed = told["agents"][0]
        observed = win_rates()[0].mean()
        assert placed["predicted_low"] <= observed <= placed["predicted_high"]
        assert abs(placed["predicted"] - observed) < 0.15


def test_a_fit_of_successes_names_the_cell_that_is_none(tmp_path: Path) -> None:
    cells = (win_rates() > 0.5).astype(float)
    cells[3, 5] = -2
    path = write(tmp_path / "wins.csv", cells)
    fit = CliRunner().invoke(app, ["fit", str(path)])
    assert fit.exit_code == 2
    assert NAMED in fit.output


# Every command that prints scores, and how it is called on a table of scores.
TELLING_SCORES = {
    "scores": ["scores", "bad.csv", "--reps", "20"],
    "compare": ["compare", "bad.csv", "a00", "a01", "--reps", "20"],
    "fit": ["fit", "bad.csv", "--model", "normal"],
    "audit": ["audit", "bad.csv"],
    "select": ["select", "bad.csv", "--no-proof"],
    "exactly": ["select", "bad.csv", "--exactly", "t00,t01"],
    "judge": [
        "select",
        "bad.csv",
        "--judge",
        "--sizes",
        "2",
        "--methods",
        "random",
        "--folds",
        "2",
    ],
    "adds": ["select", "bad.csv", "--adds", "t00", "--reps", "2"],
    "curves": ["curves", "atari-anchors"],
    "typology": ["typology", "atari-typology", "--results", "atari-dqn-family"],
    "success": ["fit", "bad.csv", "--success", "0.5"],
    "human": ["scores", "atari-dqn-family", "--normalise", "human", "--reps", "20"],
}


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=[pytest.mark.slow] * (case == "judge")) for case in TELLING_SCORES],
)
def test_text_and_json_state_the_unit_of_scores(case: str, table: Path) -> None:
    words = TELLING_SCORES[case]
    text = CliRunner().invoke(app, words)
    assert text.exit_code == 0, text.output
    told = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert told["score_unit"]
    assert f"Scores: {told['score_unit']}" in " ".join(text.stdout.split())


def test_the_unit_names_what_was_done_to_scores(table: Path) -> None:
    words = ["scores", "bad.csv", "--normalise", "min-max", "--reps", "20", "--json"]
    told = json.loads(CliRunner().invoke(app, words).stdout)
    assert told["score_unit"].startswith("score normalised by 'min-max' (0.0 = worst agent")
    fit = json.loads(CliRunner().invoke(app, [*TELLING_SCORES["success"], "--json"]).stdout)
    assert fit["score_unit"] == "share of successes: score as it was read, at least 0.5"


def test_tables_for_papers_come_with_the_unit_on_standard_error(table: Path) -> None:
    answer = CliRunner().invoke(app, ["scores", "bad.csv", "--reps", "20", "--to", "csv"])
    assert "Scores: score as it was read" in answer.stderr
    assert "Scores:" not in answer.stdout
