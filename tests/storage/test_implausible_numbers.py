"""Stored fits, selections and examinations with impossible numbers are refused in a sentence."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import examiner as ex
from examiner.cli import app

Change = Callable[[Any], None]


def swap(holder: dict[str, Any], low: str, high: str) -> None:
    holder[low], holder[high] = holder[high], holder[low]


def swap_first(holder: dict[str, Any], low: str, high: str) -> None:
    holder[low][0], holder[high][0] = holder[high][0], holder[low][0]


def negative_first(numbers: list[float]) -> None:
    numbers[0] = -abs(numbers[0])


CHANGES: dict[str, tuple[str, Change]] = {
    "error of a step": ("exam", lambda stored: stored["steps"][1].update(ability_error=-0.5)),
    "deviation of a step": ("exam", lambda stored: stored["steps"][0].update(posterior_sd=-0.5)),
    "error of all": ("exam", lambda stored: stored.update(error=-1.0)),
    "interval of a step": (
        "exam",
        lambda stored: swap(stored["steps"][1], "ability_low", "ability_high"),
    ),
    "ability of a step": ("exam", lambda stored: stored["steps"][1].update(ability=9.0)),
    "error of an ability": ("fit", lambda stored: negative_first(stored["abilities"]["error"])),
    "interval of a difficulty": (
        "fit",
        lambda stored: swap_first(stored["errors"], "difficulty_low", "difficulty_high"),
    ),
    "error of a predicted task": (
        "chosen",
        lambda stored: negative_first(stored["predictor"]["task_error"]),
    ),
}


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stored")
    rng = np.random.default_rng(0)
    logits = rng.normal(size=30)[:, None] - rng.normal(size=12)
    won = rng.random((30, 12)) < 1 / (1 + np.exp(-logits))
    ex.Results.from_numpy(won.astype(float)).save(folder / "results.parquet")
    source = str(folder / "results.parquet")
    run = CliRunner().invoke
    fit = ["--fit", str(folder / "fit.json"), "--oracle", source, "--agent", "agent 1"]
    for words in (
        ["fit", source, "-o", str(folder / "fit.json")],
        ["select", source, "--no-proof", "-o", str(folder / "chosen.json")],
        ["examine", *fit, "--most", "3", "-o", str(folder / "exam.json")],
    ):
        answer = run(app, words)
        assert answer.exit_code == 0, answer.output
    return folder


def opening(kind: str, folder: Path, altered: Path) -> list[str]:
    source = str(folder / "results.parquet")
    if kind == "exam":
        fit = ["--fit", str(folder / "fit.json"), "--oracle", source, "--agent", "agent 1"]
        return ["examine", *fit, "--resume", str(altered)]
    return ["place", source, "--fit" if kind == "fit" else "--with", str(altered)]


@pytest.mark.parametrize("change", CHANGES)
def test_impossible_numbers_are_refused(change: str, stored: Path, tmp_path: Path) -> None:
    kind, alter = CHANGES[change]
    content = json.loads((stored / f"{kind}.json").read_text())
    altered = tmp_path / "altered.json"
    altered.write_text(json.dumps(content))
    assert CliRunner().invoke(app, opening(kind, stored, altered)).exit_code == 0
    alter(content)
    altered.write_text(json.dumps(content))
    answer = CliRunner().invoke(app, opening(kind, stored, altered))
    assert answer.exit_code == 2
    impossible = ("negative number", "ends below its beginning", "outside its own interval")
    assert any(words in answer.output for words in impossible)
    assert json.loads(altered.read_text()) == content
