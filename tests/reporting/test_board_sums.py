"""The board of a page judges ticked tasks as the library does: its script, run on the data of a report."""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

import examiner as ex
from examiner.reporting import Study
from examiner.reporting.finding import Board
from examiner.reporting.findings import selection
from examiner.reporting.page import script_json

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="needs Node.js")


def shares(gaps: bool) -> np.ndarray:
    rng = np.random.default_rng(5)
    logits = np.linspace(-2, 2, 16)[:, None] - rng.normal(size=12)
    values = (rng.random(logits.shape) < 1 / (1 + np.exp(-logits))).astype(float)
    if gaps:
        values[3, 2] = values[5, [1, 7]] = values[9, :9] = np.nan
    return values


def scores() -> np.ndarray:
    rng = np.random.default_rng(6)
    return 50 * rng.normal(size=(14, 9)) + np.linspace(0, 100, 14)[:, None]


TABLES = {
    "successes": (shares(False), None),
    "with gaps": (shares(True), None),
    "scores": (scores(), None),
    "normalised in each fold": (scores(), "z-score"),
}


@cache
def study_of(table: str) -> tuple[Study, Board]:
    """A table under study, and the board of its comparison."""
    values, normalise = TABLES[table]
    study = Study.of(ex.Results.from_numpy(values), normalise)
    board = next(block for block in selection.finding(study).blocks if isinstance(block, Board))
    return study, board


def on_the_page(board: Board, picked: list[int], folder: Path) -> dict[str, object]:
    """What the page's script computes for the ticked tasks."""
    script = files("examiner.reporting.page").joinpath("scripts/board.js").read_text("utf-8")
    script = script[: script.index("// Three significant digits")]
    program = f"{script}\nconst board = {script_json(board.content)};\n"
    program += f"console.log(JSON.stringify(outcomeOf(board, {json.dumps(picked)})));\n"
    (folder / "board.js").write_text(program)
    assert NODE is not None
    done = subprocess.run([NODE, folder / "board.js"], capture_output=True, text=True, check=True)
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("picked", [[4], [1, 2, 7], [0, 1, 2, 3, 4, 5, 6, 7, 8]])
def test_ticked_tasks_are_judged_as_the_library_judges_them(
    table: str, picked: list[int], tmp_path: Path
) -> None:
    study, board = study_of(table)
    shown = on_the_page(board, picked, tmp_path)
    material = study.selected.material
    found = ex.selection.judge_tasks(material, [material.tasks[task] for task in picked])
    row = found.row("given", len(picked))
    if len(picked) == len(material.tasks):  # nothing is left to predict
        assert (shown["r2"], shown["error"]) == (1, 0)
        return
    assert shown["r2"] == pytest.approx(row.r2, abs=2e-4)
    assert shown["error"] == pytest.approx(row.mae, rel=1e-3)
    predicted = [np.nan if one is None else one for one in shown["predicted"]]  # type: ignore[attr-defined]
    size = float(np.nanmax(np.abs(found.predicted)))
    assert predicted == pytest.approx(found.predicted[0, 0], abs=1e-4 * size, nan_ok=True)


def test_chosen_tasks_show_the_figures_of_the_report(tmp_path: Path) -> None:
    study, board = study_of("successes")
    for row in study.selected.judgement.methods:
        if row.method != ex.selection.DEFAULT:
            continue
        picked = board.content["sets"][str(row.size)]
        shown = on_the_page(board, picked[::-1], tmp_path)
        assert shown["r2"] == pytest.approx(row.r2)
        assert shown["how"] == "chosen again in each fold"
