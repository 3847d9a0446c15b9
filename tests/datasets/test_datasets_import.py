"""The room is light and portable: few imports, quick loads, and data found inside a zip."""

import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

import examiner
from examiner.datasets import DATASETS, load

PACKAGE = Path(examiner.__file__).parent


def run_python(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_the_room_imports_no_analysis_and_no_drawing():
    code = "import sys, examiner.datasets; print(*sorted(sys.modules))"
    modules = set(run_python(code).split())
    heavy = {"plotly", "click", "rich", "jinja2", "pandas", "pyarrow", "torch", "scipy"}
    rooms = {f"examiner.{room}" for room in ("scores", "reporting", "cli")}
    assert not modules & (heavy | rooms)


def test_data_are_found_inside_a_zip(tmp_path):
    archive = tmp_path / "examiner.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for file in ("messages.py", "namespaces.py"):
            packed.write(PACKAGE / file, f"examiner/{file}")
        for room in ("validation", "answers", "results", "datasets"):
            for file in (PACKAGE / room).rglob("*.*"):
                packed.write(file, file.relative_to(PACKAGE.parent))
        packed.writestr("examiner/__init__.py", "")
    code = (
        "import examiner.datasets as d; print(d.__file__);"
        "print(*(len(repr(d.load(n))) > 0 and n for n in d.DATASETS))"
    )
    path, loaded = run_python(code, PYTHONPATH=str(archive)).splitlines()
    assert str(archive) in path
    assert loaded.split() == list(DATASETS)


@pytest.mark.parametrize("name", sorted(DATASETS))
def test_a_data_set_is_loaded_in_less_than_50_milliseconds_of_processor_time(name):
    load(name)
    seconds = []
    for _ in range(5):
        start = time.process_time()
        load(name)
        seconds.append(time.process_time() - start)
    assert min(seconds) < 0.05
