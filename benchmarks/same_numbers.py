"""Claim: a change of the code changes no number of any command on any bundled data set, or says which.

`store` runs commands, with their defaults and with options that take other paths, on every bundled data set
and writes every number of their JSON, one command per line; commands that are stored already are not run
again. `compare` lists the numbers of two such files that differ, of the commands in both.

Run: python benchmarks/same_numbers.py store before.jsonl [--tree CHECKOUT] [--only VERBS] [--data NAMES]
     python benchmarks/same_numbers.py compare before.jsonl after.jsonl
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

DATA_SETS = """
atari-anchors
atari-arena
atari-arena-deterministic
atari-dqn-family
atari-flavours
atari-table1
atari-table1-deterministic
gvgai-planners
gvgai-plays
swebench-verified
""".strip().splitlines()
COMMANDS = """
describe
scores
scores --normalise none --aggregate all --reps 500
scores --attempts
scores --unit tasks --posthoc wilcoxon-holm --interval bca
scores --unit tasks --group subtask
scores --qualify generality>=0.5
scores --tuned-on task:*a*
curves
cost
fit
fit --check
fit --model 1pl --estimator ml
fit --model 3pl --starts 1
fit --model normal
fit --model beta --normalise min-max
fit --group subtask
fit --editions date
fit --generality
fit --compound 0.5
fit --over date
fit --explain subtask
audit
audit --normalise z-score --success 0
typology
information
cluster
select --size 5
select --size 5 --method fisher
select --size 5 --for newer
select --size 4 --target rank-points --folds 3
select --judge --sizes 2,4 --draws 5
distil --size 5
report
report --normalise z-score --success 0
""".strip().splitlines()
NAMES = ("agent", "task", "name", "key", "method", "size", "title", "kind", "step", "checkpoint")
DIGITS = 1e-9
LONGEST_COMMAND_SECONDS = 900
SHOWN = 6


def numbers(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Every number, truth value and name below a JSON value, under a path that uses names, not places."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from numbers(part, f"{path}/{key}")
    elif isinstance(value, list):
        seen: dict[str, int] = {}
        for place, part in enumerate(value):
            named = (
                [str(part[name]) for name in NAMES if name in part]
                if isinstance(part, dict)
                else []
            )
            label = ":".join(named) or str(place)
            seen[label] = seen.get(label, 0) + 1
            yield from numbers(
                part, f"{path}/{label}" + (f"#{seen[label]}" if seen[label] > 1 else "")
            )
    elif isinstance(value, int | float) or value is None:
        yield path, value


def run(tree: Path, words: list[str]) -> dict[str, object]:
    """One command's numbers, or how it ended."""
    environment = os.environ | {"PYTHONPATH": str(tree / "src"), "OPENBLAS_NUM_THREADS": "1"}
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "examiner", *words, "--json"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            cwd=tempfile.gettempdir(),
            timeout=LONGEST_COMMAND_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return {"exit": "time"}
    if ended.returncode:
        return {"exit": ended.returncode, "says": ended.stderr.strip()[-300:]}
    return {"exit": 0, "numbers": dict(numbers(json.loads(ended.stdout)))}


def store(path: Path, tree: Path, data_sets: list[str], verbs: list[str]) -> None:
    """Run what is not stored yet, and append it line by line."""
    stored = {json.loads(line)["words"] for line in path.open()} if path.exists() else set()
    with path.open("a", encoding="utf-8") as file:
        for name in data_sets:
            for command in COMMANDS:
                verb, *options = command.split()
                words = " ".join([verb, name, *options])
                if words not in stored and verb in verbs:
                    print(words, flush=True)
                    record = {"words": words, **run(tree, words.split())}
                    file.write(json.dumps(record) + "\n")
                    file.flush()


def same(before: object, after: object) -> bool:
    """Whether two stored values are one number, up to rounding."""
    if isinstance(before, float) and isinstance(after, int | float):
        return math.isclose(before, after, rel_tol=DIGITS, abs_tol=DIGITS)
    return before == after


def compare(before: Path, after: Path) -> int:
    """Print, per command, how many numbers differ, are new or have gone; return how many commands do."""
    old, new = (
        {record["words"]: record for record in map(json.loads, path.open())}
        for path in (before, after)
    )
    changed = 0
    both = [words for words in old if words in new]
    for words in both:
        one, two = old[words], new[words]
        if one["exit"] != two["exit"] or one["exit"] != 0:
            if (one["exit"], one.get("says")) != (two["exit"], two.get("says")):
                changed += 1
                print(f"{words}: exit {one['exit']} -> {two['exit']}")
                print(f"    {one.get('says', '')}\n    -> {two.get('says', '')}")
            continue
        first, second = one["numbers"], two["numbers"]
        differ = [key for key in first if key in second and not same(first[key], second[key])]
        gone, added = first.keys() - second.keys(), second.keys() - first.keys()
        changed += bool(differ or gone or added)
        if differ or gone or added:
            print(
                f"{words}: {len(differ)} of {len(first)} differ, {len(gone)} gone, {len(added)} new"
            )
            for key in differ[:SHOWN]:
                print(f"    {key}: {first[key]} -> {second[key]}")
            for sign, keys in (("-", gone), ("+", added)):
                print("".join(f"    {sign} {key}\n" for key in sorted(keys)[:SHOWN]), end="")
    print(
        f"{changed} of {len(both)} commands differ; {len(old) - len(both)} of the first file were not run"
    )
    return changed


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("verb", choices=["store", "compare"])
    options.add_argument("files", nargs="+", type=Path)
    options.add_argument("--tree", type=Path, default=Path(__file__).parents[1])
    options.add_argument("--data", default=",".join(DATA_SETS), help="data sets, comma-separated")
    options.add_argument(
        "--only", default=",".join({line.split()[0] for line in COMMANDS}), help="verbs"
    )
    given = options.parse_args()
    if given.verb == "store":
        store(given.files[0], given.tree.resolve(), given.data.split(","), given.only.split(","))
    else:
        compare(*given.files)


if __name__ == "__main__":
    main()
