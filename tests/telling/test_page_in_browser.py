"""The page in a real browser: figures are drawn, and no name runs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import examiner as ex

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--virtual-time-budget=10000",
    "--dump-dom",
)


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_figures_are_drawn_and_no_name_runs(hostile, tmp_path: Path):
    page = ex.report(hostile, title="untouched").save(tmp_path / "report.html")
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    drawn = done.stdout
    assert "<title>untouched</title>" in drawn
    assert drawn.count('class="main-svg"') >= 2
    assert 'class="controls" hidden' not in drawn
    assert "<img" not in drawn.partition("<body>")[2].partition("<footer>")[0]
