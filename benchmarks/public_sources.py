"""Claims: published result files of public repositories are read as plain Python reads them.

Takes a folder with one checkout of each repository, called by the repository's name, and skips those
that are absent. For each source: the options a user adds after what the first command says, then agents,
tasks, runs, values, and each agent's mean of all values, by examiner and by json, csv and numpy alone.
Run: python benchmarks/public_sources.py FOLDER
"""

from __future__ import annotations

import csv
import gzip
import json
import math
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import examiner as ex

Row = tuple[str, str, object, float]  # agent, task, run, value


class Source(NamedTuple):
    """Where results lie in a checkout, how they are read, and the same rows by plain Python."""

    repository: str
    place: str
    options: dict[str, Any]  # Any: options of ex.read
    rows: Callable[[Path], Iterable[Row]]


def records(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file by their header."""
    with path.open(newline="") as lines:
        return list(csv.DictReader(lines))


def curves(path: Path, value: str = "ys") -> Iterator[Row]:
    """Give the points of a list of curves: task, method, seed, xs, ys."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    for curve in json.loads(data):
        for point in curve[value]:
            yield curve["method"], curve["task"], curve["seed"], point


def folder_of_curves(folder: Path) -> Iterator[Row]:
    """Give the points of all curves in a folder."""
    for path in sorted(folder.glob("*.json*")):
        yield from curves(path, "reward")


def tdmpc2(folder: Path) -> Iterator[Row]:
    """A folder per agent, a CSV per task; reward or success; a run begun again replaces its rows."""
    for path in sorted(folder.glob("*/*.csv")):
        last = {
            (row["seed"], row["step"]): row["reward"] for row in records(path) if "reward" in row
        }
        for (seed, _), reward in last.items():
            yield path.parent.name, path.stem, seed, float(reward)


def tdmpc(folder: Path) -> Iterator[Row]:
    """A CSV per task of one agent, which is called by the folder."""
    for path in sorted(folder.glob("results/*.csv")):
        for row in records(path):
            yield "results", path.stem, row["seed"], float(row["return"])


def drqv2(folder: Path) -> Iterator[Row]:
    """A CSV per task, with agent, task and seed."""
    for path in sorted(folder.glob("*.csv")):
        for row in records(path):
            yield row["agent"], row["task"], row["seed"], float(row["episode_reward"])


def pytorch_sac(path: Path) -> Iterator[Row]:
    """One CSV with agent, env and seed."""
    for row in records(path):
        yield row["agent"], row["env"], row["seed"], float(row["episode_reward"])


def simba(path: Path) -> Iterator[Row]:
    """One CSV of one agent with a column of metrics."""
    for row in records(path):
        task = f"{row['env_name']}.{row['metric']}"
        yield path.stem, task, row["seed"], float(row["value"] or "nan")


def tianshou(folder: Path) -> Iterator[Row]:
    """Records of evaluations in a folder per task, with an interval as a list in each."""
    for path in folder.glob("*/results.json"):
        for record in json.loads(path.read_bytes()):
            yield record["agent"], path.parent.name, 0, record["rew"]


def dopamine(path: Path) -> Iterator[Row]:
    """Iterations of agents on one game; repeated iterations are runs."""
    seen: dict[tuple[str, int], int] = defaultdict(int)
    for record in json.loads(path.read_bytes()):
        key = record["Agent"], record["Iteration"]
        yield record["Agent"], path.stem, seen[key], record["Value"]
        seen[key] += 1


def td3(folder: Path) -> Iterator[Row]:
    """An array of evaluations per run, called AGENT_TASK_RUN."""
    for path in folder.glob("learning_curves/*/*.npy"):
        agent, task, run = path.stem.split("_")
        for value in np.load(path).ravel():
            yield agent, task, run, float(value)


def procgen(folder: Path) -> Iterator[Row]:
    """A progress log per game and run."""
    for path in folder.glob("*-run*/progress-*.csv"):
        agent, _, run = path.parent.name.rpartition("-run")
        for row in records(path):
            yield agent, path.stem.removeprefix("progress-"), run, float(row["eprewmean"])


def zoo(folder: Path) -> Iterator[Row]:
    """A folder per agent and environment, with monitor logs."""
    for path in folder.glob("benchmark/*/*.monitor.csv"):
        first, _, body = path.read_text().partition("\n")
        task, agent = json.loads(first[1:])["env_id"], path.parent.name.partition("-")[0]
        written = path.parent.name.removeprefix(f"{agent}-")
        task = task if task == written else written
        for row in csv.DictReader(body.splitlines()):
            yield agent, task, 0, float(row["r"])


LOG = {"time": "misc/total_timesteps", "measure": "eprewmean"}
SOURCES = (
    Source("tdmpc2", "results", {"path": "{agent}/{task}", "measure": "reward"}, tdmpc2),
    Source("tdmpc", ".", {"path": "{agent}/{task}"}, tdmpc),
    Source("dreamerv2", "scores/atari-dreamerv2.json", {}, curves),
    Source("dreamerv3", "scores/atari57-dreamerv3.json.gz", {}, curves),
    Source("crafter", "scores", {}, folder_of_curves),
    Source("drqv2", "curves", {}, drqv2),
    Source("pytorch_sac", "data/sac.csv", {}, pytorch_sac),
    Source("simba", "results/bro.csv", {"path": "{agent}", "item": ("task", "metric")}, simba),
    Source(
        "tianshou",
        "docs/_static/js/mujoco/benchmark",
        {"path": "{task}/", "measure": "rew"},
        tianshou,
    ),
    Source("dopamine", "baselines/atari/data/alien.json", {}, dopamine),
    Source("TD3", ".", {}, td3),
    Source(
        "procgen",
        "train_procgen/results",
        {"path": "{agent}-run{run}/progress-{task}"} | LOG,
        procgen,
    ),
    Source("zoo", "logs", {"path": "benchmark/{agent}-{task}/"}, zoo),
)


def summed_up(rows: Iterable[Row]) -> tuple[int, int, int, int, dict[str, float]]:
    """Return the numbers of agents, tasks, runs and values, and each agent's mean."""
    known = [row for row in rows if row[3] is not None and not math.isnan(row[3])]
    values = defaultdict(list)
    for agent, _, _, value in known:
        values[agent].append(value)
    counts = (len(set(column)) for column in zip(*[row[:2] for row in known], strict=True))
    runs = len({row[:3] for row in known})
    means = {agent: math.fsum(each) / len(each) for agent, each in sorted(values.items())}
    return (*counts, runs, len(known), means)  # type: ignore[return-value]


def ours(place: Path, options: dict[str, Any]) -> Iterator[Row]:
    """Give the rows of results that examiner read."""
    results = ex.read(place, **options)
    names = (results.agents[code] for code in results.agent_codes)
    tasks = (results.tasks[code] for code in results.task_codes)
    yield from zip(names, tasks, results.column("run"), results.measure().tolist(), strict=True)


def main(folder: Path) -> int:
    """Print one line per source, and return how many differ."""
    different = 0
    for source in SOURCES:
        place = folder / source.repository / source.place
        if not place.exists():
            print(f"{source.repository}: absent")
            continue
        plain = summed_up(source.rows(place))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                read = summed_up(ours(place, source.options))
        except ex.InputError as problem:
            print(f"{source.repository}: stopped: {problem}")
            continue
        close = read[4].keys() == plain[4].keys() and all(
            math.isclose(read[4][agent], plain[4][agent], rel_tol=1e-9) for agent in plain[4]
        )
        same = read[:4] == plain[:4] and close
        different += not same
        agent = next(iter(plain[4]))
        print(
            f"{source.repository}: {'equal' if same else 'DIFFERENT'}: agents × tasks, runs, values "
            f"{read[:4]} and {plain[:4]}; mean of {agent!r} {read[4].get(agent)} and {plain[4][agent]}"
        )
    return different


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
