"""Take the pictures of the documentation from reports: `python docs/pictures.py` (needs chromium).

`python docs/pictures.py growth` draws only how fits grow, from benchmarks/growth.csv, and `bars` only the
charts of guides (both need matplotlib).
"""

from __future__ import annotations

import csv
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

IMAGES = Path(__file__).parent / "images"
PICTURES = {  # the first screen of reports of bundled data
    "report": ("atari-arena",),
    "report-dqn-family": ("atari-dqn-family",),
    "report-swebench": ("swebench-verified",),
}
FIGURES = {  # reports, and which of their figures stand in guides under which name
    ("atari-anchors",): {
        "intervals": "intervals",
        "heatmap": "heatmap",
        "information-bars": "information-bars",
        "cost-quality": "selected-tasks",
    },
    ("gvgai-plays", "--item", "task", "--measure", "win"): {
        "wright-map": "wright-map",
        "adaptive-trace": "adaptive-trace",
    },
    ("atari-arena",): {"learning-curves": "learning-curves"},
}
WIDTH, HEIGHT = 1280, 900
GROWTH = Path(__file__).parents[1] / "benchmarks" / "growth.csv"
PANELS = {
    "agents": "agents (1,000 tasks)",
    "tasks": "tasks (1,000 agents)",
    "missing": "share missing (1,000 × 1,000)",
    "workers": "workers (8,000 × 2,000)",
}
COLOURS = {"memory": "#1f6feb", "shards": "#c2410c", "ray": "#15803d"}
BARS = {  # title, labels and shares: printed by the commands on the pages that show them
    "leader": (
        "SWE-bench Verified, 134 agents: how often is an agent first?",
        ("livesweagent, in resamples", "Sonar, in resamples", "TRAE, in resamples",
         "first on both halves of the tasks"),
        (0.353, 0.324, 0.267, 0.014),
    ),
    "audit": (
        "MMLU-Redux, 14 agents: share of faulty items",
        ("first 25 flagged", "first 50 flagged", "first 100 flagged", "first 200 flagged", "all items"),
        (0.56, 0.50, 0.56, 0.405, 338 / 5700),
    ),
}  # fmt: skip


def main() -> None:
    """Write every picture."""
    with tempfile.TemporaryDirectory() as folder:
        for name, words in PICTURES.items():
            page = Path(folder) / f"{name}.html"
            command = [sys.executable, "-m", "examiner", "report", *words, "--output", str(page)]
            subprocess.run(command, check=True)
            browser = ["chromium", "--headless", "--no-sandbox", "--hide-scrollbars"]
            browser += [f"--window-size={WIDTH},{HEIGHT}", "--virtual-time-budget=8000"]
            browser += [f"--screenshot={IMAGES / name}.png", page.as_uri()]
            subprocess.run(browser, check=True, capture_output=True)
        for number, (words, figures) in enumerate(FIGURES.items()):
            written = Path(folder) / str(number)
            command = [
                sys.executable,
                "-m",
                "examiner",
                "report",
                *words,
                "--output",
                f"{written}.html",
            ]
            subprocess.run([*command, "--figures", str(written), "--figures-as", "svg"], check=True)
            for figure, name in figures.items():
                shutil.copy(written / f"{figure}.svg", IMAGES / f"{name}.svg")


def bars() -> None:
    """Draw charts of a few shares, one bar each."""
    import matplotlib.pyplot as plt

    for name, (title, labels, shares) in BARS.items():
        # the same bytes from the same numbers
        plt.rcParams.update({"svg.hashsalt": name, "svg.fonttype": "none", "font.size": 10})
        figure, ax = plt.subplots(figsize=(7, 0.8 + 0.36 * len(labels)))
        drawn = ax.barh(labels, shares, color=["#1f6feb"] * (len(labels) - 1) + ["#c2410c"])
        ax.bar_label(drawn, [f"{100 * share:.0f} %" for share in shares], padding=4)
        ax.invert_yaxis()
        ax.set_xticks([])
        ax.spines[["top", "right", "bottom"]].set_visible(False)
        ax.set_title(title, loc="left", fontsize=10)
        figure.tight_layout()
        figure.savefig(IMAGES / f"{name}.svg", metadata={"Date": None}, facecolor="white")


def growth() -> None:
    """Draw how CPU seconds and memory of fits grow with agents, tasks, density and workers."""
    import matplotlib.pyplot as plt

    with GROWTH.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    # the same bytes from the same numbers
    plt.rcParams.update({"svg.hashsalt": "growth", "svg.fonttype": "none", "font.size": 9})
    figure, axes = plt.subplots(2, len(PANELS), figsize=(11, 4.6), sharex="col")
    for column, (name, title) in enumerate(PANELS.items()):
        for engine, lines in grown(rows, name).items():
            _draw(
                axes[:, column],
                engine,
                lines,
                "busiest_seconds" if name == "workers" else "cpu_seconds",
            )
        axes[1, column].set_xlabel(title)
        axes[1, column].xaxis.set_major_formatter("{x:,g}")
    axes[0, 0].set_ylabel("CPU seconds")
    axes[1, 0].set_ylabel("GB")
    axes[0, 3].set_title("of the busiest worker", fontsize=9)
    for ax in axes.flat:
        ax.set_ylim(bottom=0)
        ax.grid(alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
    handles = {h.get_label(): h for ax in axes.flat for h in ax.get_lines()}
    figure.legend(handles.values(), handles.keys(), loc="upper center", ncols=3, frameon=False)
    figure.tight_layout(rect=(0, 0, 1, 0.93))
    figure.savefig(IMAGES / "growth.svg", metadata={"Date": None}, facecolor="white")


def grown(rows: list[dict[str, str]], name: str) -> dict[str, list[dict[str, str]]]:
    """Rows of each engine in which one number grows and the others are as in the smallest table."""
    if name == "workers":
        kept = [row for row in rows if row["workers"]]
    else:
        base = rows[0]
        others = {"agents", "tasks", "missing"} - {name}
        kept = [
            row
            for row in rows
            if not row["workers"] and all(row[other] == base[other] for other in others)
        ]
    found: dict[str, list[dict[str, str]]] = {}
    for row in sorted(kept, key=lambda row: float(row[name])):
        found.setdefault(row["engine"], []).append(row | {"at": row[name]})
    return found


def _draw(axes: list[Axes], engine: str, lines: list[dict[str, str]], seconds: str) -> None:
    at = [float(row["at"]) for row in lines]
    for ax, what in zip(axes, (seconds, "gigabytes"), strict=True):
        values = [float(row[what]) for row in lines]
        ax.plot(at, values, "o-", label=engine, color=COLOURS[engine], markersize=4)


if __name__ == "__main__":
    charts = {"growth": growth, "bars": bars}
    for draw in [charts[name] for name in sys.argv[1:]] or [main, *charts.values()]:
        draw()
