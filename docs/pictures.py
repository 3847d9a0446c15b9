"""Take the pictures of the documentation from reports: `python docs/pictures.py` (needs chromium).

`python docs/pictures.py growth` draws only how fits grow, from benchmarks/growth.csv; `bars`, `drawings`
and `costs` draw only the charts of guides. All need matplotlib.
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
PICTURES = {"report": ("swebench-verified",)}  # the first screen of reports of bundled data
FIGURES = {  # reports, and which of their figures guides show under which name
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
BARS = {  # title, labels and shares: printed by the commands on the pages that show them, or by benchmarks
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
    "groups": (
        "Equal agents on tasks in groups: share of pairs called different, at most",
        ("tests over groups", "stated", "tests that treat tasks as independent"),
        (0.055, 0.05, 0.33),
    ),
    "tiny": (
        "SWE-bench Verified: share of drops between two agents that a tiny version misses",
        ("50 tasks, 1 point", "50 tasks, 2 points", "50 tasks, 5 points",
         "100 tasks, 1 point", "100 tasks, 2 points", "100 tasks, 5 points"),
        (0.46, 0.42, 0.30, 0.44, 0.39, 0.23),
    ),
    "typology": (
        "Two Atari games of one kind: probability that they are closer than two of different kinds",
        ("level of scores", "which agents do well", "difficulty", "chance"),
        (0.69, 0.52, 0.48, 0.5),
    ),
    "sticky": (
        "Five Atari games, a million frames: share of the score that is left with sticky actions",
        ("DQN", "Sarsa(λ)", "the Brute, which learns by heart"),
        (1.04, 0.88, 0.34),
    ),
}  # fmt: skip
DRAWINGS = {  # boxes of a drawing: lines of text, and where its upper left corner is
    "reading": (
        ("wide: one row per agent\n\nagent   pong  breakout\ndqn     18.9     401.2\n"
         "sarsa   11.2      22.0", (0, 1)),
        ("logs: one folder per run\n\ndqn/Pong_0/monitor.csv\ndqn/Pong_1/monitor.csv\n"
         "ppo/Pong_0/monitor.csv", (0, 0.42)),
        ("Results: one row per trial\n\nagent  task      run  trial  score\n"
         "dqn    pong      0    0       18.9\ndqn    breakout  0    0      401.2\n"
         "sarsa  pong      0    0       11.2\n…", (0.5, 0.75)),
    ),
    "logs": (
        ("--path '{agent}/{task}_{run}/'", (0, 1)),
        ("logs/dqn/Pong_0/0.monitor.csv", (0, 0.5)),
        ("agent  task  run\ndqn    Pong  0", (0.62, 0.85)),
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
        digits = [0 if share >= 0.1 else 1 for share in shares]
        labelled = [f"{100 * share:.{few}f} %" for share, few in zip(shares, digits, strict=True)]
        ax.bar_label(drawn, labelled, padding=4)
        ax.invert_yaxis()
        ax.set_xticks([])
        ax.spines[["top", "right", "bottom"]].set_visible(False)
        ax.set_title(title, loc="left", fontsize=10)
        figure.savefig(
            IMAGES / f"{name}.svg", metadata={"Date": None}, facecolor="white", bbox_inches="tight"
        )


def drawings() -> None:
    """Draw boxes of text, and arrows from all of them to the last."""
    import matplotlib.pyplot as plt

    for name, boxes in DRAWINGS.items():
        plt.rcParams.update({"svg.hashsalt": name, "svg.fonttype": "none"})
        figure, ax = plt.subplots(figsize=(8, 0.6 * len(boxes[-1][0].splitlines())))
        texts = [
            ax.text(*place, text.replace(" ", "\u00a0"), va="top", family="monospace", fontsize=9,
                    bbox={"boxstyle": "round", "facecolor": "#f3f4f6", "edgecolor": "#1f6feb"})
            for text, place in boxes
        ]  # fmt: skip
        *sources, target = [text.get_window_extent() for text in texts]
        across = ax.transData.inverted()
        for source in sources:
            ends = across.transform(
                [(source.x1 + 12, source.y0 + source.height / 2),
                 (target.x0 - 12, target.y0 + target.height / 2)]
            )  # fmt: skip
            ax.annotate("", ends[1], ends[0], arrowprops={"arrowstyle": "->", "color": "#1f6feb"})
        ax.set_axis_off()
        figure.savefig(
            IMAGES / f"{name}.svg", metadata={"Date": None}, facecolor="white", bbox_inches="tight"
        )


def costs() -> None:
    """Draw score against cost of the table in the guide."""
    import examiner as ex

    page = (Path(__file__).parent / "guides" / "cost.md").read_text(encoding="utf-8")
    rows = list(csv.DictReader(page.split('title="evals.csv"\n')[1].split("```")[0].splitlines()))
    table = {
        name: [
            float(row[name] or "nan") if name in ("score", "cost") else row[name] for row in rows
        ]
        for name in ("agent", "task", "score", "cost")
    }
    ex.plots.pareto(ex.read(table), cost="cost").save(IMAGES / "cost.svg")


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
    charts = {"growth": growth, "bars": bars, "drawings": drawings, "costs": costs}
    for draw in [charts[name] for name in sys.argv[1:]] or [main, *charts.values()]:
        draw()
