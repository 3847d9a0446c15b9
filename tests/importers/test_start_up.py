"""Reading one small table loads what reading needs, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HEAVY = {
    "scipy",
    "pandas",
    "pyarrow",
    "plotly",
    "rich",
    "click",
    "tensorboard",
    "multiprocessing",
    "torch",
}


def loaded_by(code: str) -> set[str]:
    words = [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_results_are_loaded_without_any_other_room() -> None:
    loaded = loaded_by("import examiner.results")
    assert not HEAVY & loaded
    rooms = {name.split(".")[1] for name in loaded if name.startswith("examiner.")}
    assert rooms == {"results", "answers", "validation", "messages", "namespaces"}


def test_a_table_is_read_without_workers_and_analysis(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("agent,task,score\na,t,1\nb,t,2\n")
    loaded = loaded_by(f"import examiner as ex\nex.read({str(path)!r}).describe()")
    assert not HEAVY & loaded
    rooms = {name.split(".")[1] for name in loaded if name.startswith("examiner.")}
    assert not rooms & {"scores", "irt", "workers", "reporting", "cli", "arena"}
