"""Claims: published result files of public repositories are read as plain Python reads them.

Takes a folder with one checkout of each repository, called by the repository's name, and skips those
that are absent. For each source, a row of the table in docs/guides/sources.md: the command, whether it is
read at once or with options that the first command proposes, agents × tasks × runs, and each agent's mean
of all values, by examiner and by json, csv and numpy alone; the row shows the mean of the first agent.
Run: python benchmarks/public_sources.py FOLDER [REPOSITORY …]
"""

from __future__ import annotations

import csv
import gzip
import itertools
import json
import math
import shlex
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
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


def mteb(folder: Path) -> Iterator[Row]:
    """A file per task of each revision of a model: the main score of every subset of every split."""
    rows, revisions = [], defaultdict(set)
    for path in sorted(folder.rglob("*.json")):
        about = json.loads(path.read_bytes())
        model, revision = (
            name.replace("__", "/")
            for name in (path.relative_to(folder).parts[0], path.parent.name)
        )
        scores = defaultdict(set)
        for split, entries in (about.get("scores") or {}).items():
            for entry in entries:
                task = f"{about['task_name']}/{split}/{entry['hf_subset']}"
                scores[task].add(entry["main_score"])
        if all(len(values) == 1 for values in scores.values()):  # else two scores of one subset
            rows += [(model, revision, task, values.pop()) for task, values in scores.items()]
            revisions[model, about.get("task_name")].update([revision] if scores else [])
    several = {model for (model, _), of_task in revisions.items() if len(of_task) > 1}
    for model, revision, task, score in rows:
        yield f"{model} (revision={revision})" if model in several else model, task, 0, score


def records_of(agent: str, task: str, value: str, run: str = "") -> Callable[[Path], Iterator[Row]]:
    """Records of a JSON list, or of the one list in a document."""

    def rows(path: Path) -> Iterator[Row]:
        content = json.loads(path.read_bytes())
        records = content if isinstance(content, list) else content["performances"]
        counts: dict[tuple[object, object], int] = defaultdict(int)
        for record in records:
            name = record[agent] if agent else path.stem
            number = record[run] if run else counts[name, record[task]]
            counts[name, record[task]] += 1
            yield name, str(record[task]), number, float(record[value])

    return rows


def polyglot(path: Path) -> Iterator[Row]:
    """A list of records in YAML, a row a benchmark run."""
    import yaml  # type: ignore[import-untyped,unused-ignore]

    for record in yaml.safe_load(path.read_text()):
        yield record["model"], path.stem, record["dirname"], float(record["pass_rate_2"])


def bash_only(path: Path) -> Iterator[Row]:
    """Models, each with an object of instances."""
    for model, instances in json.loads(path.read_bytes()).items():
        for instance, outcome in instances.items():
            yield model, instance, 0, float(outcome["resolved"])


def click_bench(folder: Path) -> Iterator[Row]:
    """A matrix [queries, runs] of seconds per system."""
    for path in sorted(folder.glob("*.json")):
        about = json.loads(path.read_bytes())
        for query, times in enumerate(about["result"], start=1):
            for run, seconds in enumerate(times):
                value = math.nan if seconds is None else float(seconds)
                yield path.stem, f"task {query}", run, value


def marl_eval(path: Path) -> Iterator[Row]:
    """Nested objects: environment, task, algorithm, run, step, then lists of returns."""
    for tasks in json.loads(path.read_bytes()).values():
        for task, agents in tasks.items():
            for agent, runs in agents.items():
                for run, steps in runs.items():
                    for step, measures in steps.items():
                        if step != "absolute_metrics":
                            yield from ((agent, task, run, value) for value in measures["return"])


def big_bench_hard(folder: Path) -> Iterator[Row]:
    """A file per task with its accuracy."""
    for path in sorted(folder.glob("*/*_eval_metrics.jsonl")):
        task = path.name.partition("_few_shot")[0]
        agent = path.parent.name.removeprefix("code-davinci-002-")
        yield agent, task, 0, json.loads(path.read_text())["accuracy"]


def evalperf(pattern: Path) -> Iterator[Row]:
    """A document per model with an object of tasks."""
    for path in sorted(pattern.parent.glob(pattern.name)):
        for task, outcome in json.loads(path.read_bytes())["eval"].items():
            if outcome.get("pass@1") is not None:
                yield path.name.removesuffix(".json"), task, 0, outcome["pass@1"]


def lm_eval_samples(folder: Path) -> Iterator[Row]:
    """Samples of lm-evaluation-harness, a line each."""
    for path in sorted(folder.parent.glob(folder.name)):
        task = path.name.removeprefix("samples_").rpartition("_20")[0]
        for line in path.read_text().splitlines():
            record = json.loads(line)
            yield (
                path.parent.name.replace("__", "/"),
                f"{task}/{record['doc_id']}",
                0,
                record["acc"],
            )


def helm_stats(folder: Path) -> Iterator[Row]:
    """Statistics of instances in a folder per run."""
    for path in sorted(folder.glob("*/per_instance_stats.json")):
        specification = json.loads(path.with_name("run_spec.json").read_bytes())
        model = specification["adapter_spec"]["model"]
        for instance in json.loads(path.read_bytes()):
            for stat in instance["stats"]:
                if stat["name"]["name"] == "exact_match":
                    yield model, f"{path.parent.name}/{instance['instance_id']}", 0, stat["mean"]


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
        {"path": "{task}", "measure": "win_rate", "agent": "Unnamed: 0", "item": ()},
        board("win_rate", ""),
    ),
    Source("drq", "data", {"path": "dmc_{set}_bench", "item": ("set",)}, drq),
    Source(
        "automlbenchmark",
        "reports/old/input/results_medium-8c4h_ref.csv",
        {"measure": "result", "item": ("mode",)},
        automl,
    ),
    Source("openrlbenchmark", "static/td3_vs_cleanrl.csv", {}, openrlbenchmark),
    Source("MWM", "scores/score.json", {"measure": "success_rates"}, mwm),
    Source("mteb-results", "results", {}, mteb),
    Source(
        "tau-bench",
        "historical_trajectories/gpt-4o-airline.json",
        {"path": "{agent}"},
        records_of("", "task_id", "reward", "trial"),
    ),
    Source(
        "livecodebench.github.io",
        "src/mocks/2024_02_26.json",
        {},
        records_of("model", "question_id", "pass@1"),
    ),
    Source(
        "aider",
        "aider/website/_data/polyglot_leaderboard.yml",
        {"path": "{task}", "measure": "pass_rate_2", "run": "dirname"},
        polyglot,
    ),
    Source(
        "swe-bench.github.io",
        "data/info_for_leaderboard.json",
        {"measure": "resolved", "tasks_are": "columns"},
        bash_only,
    ),
    Source(
        "ClickBench",
        "duckdb/results/20221115",
        {"axes": "tasks,runs", "measure": "result", "path": "{agent}"},
        click_bench,
    ),
    Source(
        "marl-eval",
        "tests/mock_data_test.json",
        {"axes": "environment,tasks,agents,runs,checkpoints", "measure": "return"},
        marl_eval,
    ),
    Source(
        "BIG-Bench-Hard",
        "code-davinci-002-outputs",
        {
            "measure": "accuracy",
            "path": "code-davinci-002-{agent}/{task}_few_shot_template_0-255000_eval_metrics",
        },
        big_bench_hard,
    ),
    Source(
        "evalplus.github.io",
        "results/evalperf/*brief.json",
        {"measure": "pass@1", "task": "key", "path": "{agent}"},
        evalperf,
    ),
    Source(
        "metabench",
        "harness-results/EleutherAI__pythia-14m/samples_metabench_arc*.jsonl",
        {"measure": "acc"},
        lm_eval_samples,
    ),
    Source("every_eval_ever", "tests/data/helm", {"measure": "exact_match"}, helm_stats),
    Source(
        "SimbaV2",
        "results/simbaV2_utd1.csv",
        {"item": ("metric",), "time": "env_step"},
        simba_v2,
    ),
)


def cells_of(agent: str, task: str, value: str) -> Callable[[Path], Iterator[Row]]:
    """The rows of a CSV file."""

    def rows(path: Path) -> Iterator[Row]:
        for number, row in enumerate(records(path)):
            yield row[agent], row.get(task, path.stem), number, float(row[value] or "nan")

    return rows


def page(agent: int, task: int | None, value: int) -> Callable[[Path], Iterator[Row]]:
    """The first table of a Markdown page: the columns of names and values."""

    def rows(path: Path) -> Iterator[Row]:
        lines = iter(path.read_text().splitlines())
        next(line for line in lines if line.startswith("|--"))
        for line in itertools.takewhile(lambda line: line.startswith("|"), lines):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            name = path.stem if task is None else cells[task]
            yield cells[agent], name, 0, float(cells[value].rstrip(" %"))

    return rows


def swe_bench_fork(folder: Path) -> Iterator[Row]:
    """Reports of a harness: ids that were resolved, that were not, and without a patch."""
    for path in sorted(folder.glob("*/results/results.json")):
        report = json.loads(path.read_bytes())
        for name in ("resolved", "unresolved_ids", "empty_patch_ids"):
            for instance in report[name]:
                yield path.parent.parent.name, instance, 0, float(name == "resolved")


SOURCES += (
    Source(
        "dl-4-tsc",
        "results/results-uea.csv",
        {},
        cells_of("classifier_name", "dataset_name", "accuracy"),
    ),
    Source(
        "dl-4-tsc",
        "results/results-mts.csv",
        {},
        cells_of("classifier_name", "dataset_name", "accuracy"),
    ),
    Source("rl-baselines-zoo", "benchmark.md", {}, page(0, 1, 2)),
    Source(
        "hallucination-leaderboard",
        "README.md",
        {"measure": "Hallucination Rate", "path": "{task}"},
        page(0, None, 1),
    ),
    Source("experiments", "evaluation/java/verified", {}, swe_bench_fork),
    Source("diamond", "results/data/DIAMOND.json", {"path": "{agent}"}, objects),
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


def command(source: Source) -> str:
    """Return the command that reads a source."""
    words = ["examiner", "describe", source.place]
    for name, value in source.options.items():
        text = value if isinstance(value, str) else ",".join(dict.fromkeys(("task", *value)))
        words += [f"--{name.replace('_', '-')}", text]
    return shlex.join(words)


def read_at_once(place: Path) -> bool:
    """Whether the first command, without options, reads a source."""
    try:
        ex.read(place)
    except ex.InputError:
        return False
    return True


def main(folder: Path, chosen: Sequence[str]) -> int:
    """Print a row per source, and return how many differ."""
    different = 0
    warnings.simplefilter("ignore")
    for source in SOURCES:
        place = folder / source.repository / source.place
        if chosen and source.repository not in chosen:
            continue
        if not (folder / source.repository).exists():
            print(f"{source.repository}: absent", file=sys.stderr)
            continue
        plain = summed_up(source.rows(place))
        at_once = not source.options or read_at_once(place)
        try:
            read = summed_up(ours(place, source.options))
        except ex.InputError as problem:
            print(f"{source.repository}: stopped: {problem}", file=sys.stderr)
            different += 1
            continue
        close = read[4].keys() == plain[4].keys() and all(
            math.isclose(read[4][agent], plain[4][agent], rel_tol=1e-9) for agent in plain[4]
        )
        same = read[:4] == plain[:4] and close
        different += not same
        agent = next(iter(plain[4]))
        ways = "at once" if at_once else "with the options"
        print(
            f"| {source.repository} | `{command(source)}` | {ways} | {read[0]:,} × {read[1]:,}, "
            f"{read[2]:,} runs, {read[3]:,} values | {read[4].get(agent, math.nan):.6g} "
            f"{'=' if same else f'≠ (plain: {plain[:4]})'} {plain[4][agent]:.6g} |",
            flush=True,
        )
    return different


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
