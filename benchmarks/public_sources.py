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


def objects(folder: Path) -> Iterator[Row]:
    """An object per agent, called by the file: lists of runs by task."""
    for path in sorted(folder.parent.glob(folder.name)) if "*" in folder.name else [folder]:
        for task, runs in json.loads(path.read_bytes()).items():
            for run, value in enumerate(runs):
                yield path.stem, task, run, value


def of_objects(measure: str) -> Callable[[Path], Iterator[Row]]:
    """Agents by name, each with an object of scores by task among other things."""

    def rows(path: Path) -> Iterator[Row]:
        for agent, record in json.loads(path.read_bytes()).items():
            for task, value in record.get(measure, {}).items():
                yield agent, task, 0, math.nan if value is None else float(value)

    return rows


def robustbench(folder: Path) -> Iterator[Row]:
    """One record per file, called by the agent; scores are text."""
    for path in sorted(folder.glob("*.json")):
        record = json.loads(path.read_bytes())
        yield path.stem, record["dataset"], 0, float(record["autoattack_acc"])


def pythia_shots(folder: Path) -> Iterator[Row]:
    """A CSV per model: checkpoints of tasks at several numbers of shots."""
    for path in sorted(folder.glob("*/*.csv")):
        for row in records(path):
            yield row["model"], f"{row['task']}.{row['fewshot']}", 0, float(row["acc"])


def pythia(pattern: Path) -> Iterator[Row]:
    """Results of lm-evaluation-harness from before filters, a file per model."""
    for path in sorted(pattern.parent.parent.parent.glob("*/zero-shot/*_step143000.json")):
        about = json.loads(path.read_bytes())
        arguments = dict(part.split("=") for part in about["config"]["model_args"].split(","))
        for task, scores in about["results"].items():
            if "acc" in scores:
                yield arguments["pretrained"], task, 0, scores["acc"]


def board(measure: str, agent: str) -> Callable[[Path], Iterator[Row]]:
    """A leaderboard of one task, called by the file."""

    def rows(path: Path) -> Iterator[Row]:
        for row in records(path):
            yield row[agent], path.stem, 0, float(row[measure] or "nan")

    return rows


def drq(folder: Path) -> Iterator[Row]:
    """A CSV per benchmark, with the same tasks and seeds."""
    for path in sorted(folder.glob("*.csv")):
        kind = path.stem.split("_")[1]
        for row in records(path):
            yield row["agent"], f"{row['env']}.{kind}", row["seed"], float(row["episode_reward"])


def automl(path: Path) -> Iterator[Row]:
    """Frameworks on tasks, a seed for each fold."""
    for row in records(path):
        yield (
            row["framework"],
            f"{row['task']}.{row['mode']}",
            row["seed"],
            float(row["result"] or "nan"),
        )


def openrlbenchmark(path: Path) -> Iterator[Row]:
    """A printed table of means and deviations, tasks as rows."""
    with path.open(newline="") as lines:
        (_, *agents), *rows = csv.reader(lines)
    for task, *cells in rows:
        for agent, cell in zip(agents, cells, strict=True):
            yield agent, task, 0, float(cell.split("±")[0])


def mwm(path: Path) -> Iterator[Row]:
    """A list of curves."""
    for curve in json.loads(path.read_bytes()):
        for value in curve["success_rates"]:
            yield curve["method"], curve["task"], curve["seed"], value


def simba_v2(path: Path) -> Iterator[Row]:
    """Metrics of one agent along steps; some seeds stand twice, of which the later counts."""
    last = {
        (row["exp_name"], f"{row['env_name']}.{row['metric']}", row["seed"], row["env_step"]): row
        for row in records(path)
    }
    for (agent, task, seed, _), row in last.items():
        yield agent, task, seed, float(row["value"] or "nan")


LOG = {"time": "misc/total_timesteps", "measure": "eprewmean"}
WIDE = {"tasks_are": "columns"}
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
    Source("iris", "results/data/[!C]*.json", {"path": "{agent}"}, objects),
    Source("twm", "results/scores.json", {"path": "{agent}"}, objects),
    Source("delta-iris", "results/atari.json", {"path": "{agent}"}, objects),
    Source("STORM", "results/storm.json", {"path": "{agent}"}, objects),
    Source(
        "evalplus.github.io", "results.json", {"measure": "pass@1"} | WIDE, of_objects("pass@1")
    ),
    Source(
        "evalchemy",
        "eval/chat_benchmarks/WildBench/leaderboard/data_dir/score.json",
        {"measure": "task_categorized_scores"} | WIDE,
        of_objects("task_categorized_scores"),
    ),
    Source(
        "robustbench",
        "model_info/cifar10/Linf",
        {"path": "{agent}", "measure": "autoattack_acc"},
        robustbench,
    ),
    Source("pythia", "evals/csv", {"measure": "acc", "item": ("fewshot",)}, pythia_shots),
    Source("pythia", "evals/pythia-v1/*/zero-shot/*_step143000.json", {"measure": "acc"}, pythia),
    Source(
        "arena-hard-auto",
        "leaderboard/arena_hard_leaderboard_20240731.csv",
        {"path": "{task}"},
        board("score", "model"),
    ),
    Source(
        "alpaca_eval",
        "src/alpaca_eval/leaderboards/data_AlpacaEval_2/weighted_alpaca_eval_gpt4_turbo_leaderboard.csv",
        {"path": "{task}", "measure": "win_rate", "rename": {"Unnamed: 0": "agent"}, "item": ()},
        board("win_rate", ""),
    ),
    Source("drq", "data", {"path": "dmc_{set}_bench", "item": ("set",)}, drq),
    Source(
        "automlbenchmark",
        "reports/old/input/results_medium-8c4h_ref.csv",
        {"rename": {"framework": "agent"}, "measure": "result"},
        automl,
    ),
    Source("openrlbenchmark", "static/td3_vs_cleanrl.csv", {}, openrlbenchmark),
    Source("MWM", "scores/score.json", {"measure": "success_rates"}, mwm),
    Source(
        "SimbaV2",
        "results/simbaV2_utd1.csv",
        {"rename": {"exp_name": "agent"}, "item": ("metric",), "time": "env_step"},
        simba_v2,
    ),
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
        if not (folder / source.repository).exists():
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
