"""What a report takes: CPU seconds to make, bytes, height of the page, and CPU seconds to open it.

    python benchmarks/report.py            # all five sizes
    python benchmarks/report.py 7x55       # some of them

The page is opened in Debian's chromium (`playwright` drives it) at 1,280 × 900 pixels. Opening is counted
from navigation until the page is loaded and the figure on the first screen is painted: CPU seconds of the
process that renders it, and, where nothing else runs, the seconds one waits.
"""

from __future__ import annotations

import shutil
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import examiner as ex
from examiner.results import Results

PAINTED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
FIRST_FIGURE = "() => document.querySelector('#ranking .mark')"
SCROLLED = "(top) => window.scrollTo({ top, behavior: 'instant' })"
HEIGHT = "document.documentElement.scrollHeight"


def simulated(agents: int, tasks: int) -> Results:
    """Zeros and ones of a two-parameter model."""
    rng = np.random.default_rng(0)
    slope, difficulty = rng.lognormal(0, 0.4, tasks), rng.normal(size=tasks)
    chance = 1 / (1 + np.exp(-slope * (rng.normal(size=(agents, 1)) - difficulty)))
    return Results.from_numpy((rng.random((agents, tasks)) < chance).astype(float))


def with_runs(agents: int, tasks: int, runs: int) -> Results:
    """Scores of agents that differ, with several runs per cell."""
    rng = np.random.default_rng(0)
    return Results.from_numpy(
        rng.normal(size=(agents, tasks, runs)) + rng.normal(size=(agents, 1, 1))
    )


SIZES: dict[str, tuple[Callable[[], Results], float | None]] = {
    "12x27": (lambda: ex.load("atari-arena"), 0.05),
    "7x55": (lambda: ex.load("atari-dqn-family"), None),
    "134x500": (lambda: ex.load("swebench-verified"), None),
    "18x58": (lambda: with_runs(18, 58, 20), None),
    "500x4000": (lambda: simulated(500, 4000), None),
}
"""Agents × tasks → results, and from which score on success is counted."""


@dataclass(frozen=True)
class Opening:
    """How a page opens: CPU seconds, seconds waited, and its height when all is drawn."""

    cpu: float
    waited: float
    height: int


def made(results: Results, success: float | None, page: Path) -> tuple[float, int]:
    """Make a report; return CPU seconds and bytes."""
    began = time.process_time()
    ex.report(results, success=success).save(page)
    return time.process_time() - began, page.stat().st_size


def opened(browser: Any, page: Path) -> Opening:
    """Open a page and look at all of it."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    tab = context.new_page()
    measured = context.new_cdp_session(tab)
    measured.send("Performance.enable")
    began = time.perf_counter()
    tab.goto(page.as_uri())
    tab.wait_for_function(FIRST_FIGURE)
    tab.evaluate(PAINTED)
    waited = time.perf_counter() - began
    found = {
        each["name"]: each["value"] for each in measured.send("Performance.getMetrics")["metrics"]
    }
    for top in range(0, int(tab.evaluate(HEIGHT)), 600):
        tab.evaluate(SCROLLED, top)
        tab.evaluate(PAINTED)
    height = int(tab.evaluate(HEIGHT))
    context.close()
    return Opening(found["ProcessTime"], waited, height)


def main(sizes: list[str]) -> None:
    """Print a table of Markdown, a row a size."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    warnings.simplefilter("ignore", ex.ExaminerWarning)
    print("| agents × tasks | made, CPU s | MB | px high | opened, CPU s | waited, s |")
    print("|---|---:|---:|---:|---:|---:|")
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for size in sizes:
            load, success = SIZES[size]
            page = Path(folder) / f"{size}.html"
            cpu, length = made(load(), success, page)
            shown = opened(browser, page)
            name = " × ".join(f"{int(side):,}" for side in size.split("x"))
            print(
                f"| {name} | {cpu:.1f} | {length / 1e6:.1f} | {shown.height:,} | {shown.cpu:.1f} "
                f"| {shown.waited:.1f} |",
                flush=True,
            )
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:] or list(SIZES))
