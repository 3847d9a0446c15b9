"""Claim: a change of the code changes no number of any command on any bundled data set, or says which.

`store` runs the default of every command, and the default report, on every bundled data set with the
examiner of this environment and writes every number of their JSON, one command per line; commands that are
stored already are not run again. `compare` lists the numbers of two such files that differ.

Run: python benchmarks/same_numbers.py store before.jsonl [--tree CHECKOUT]
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

DATA_SETS = (
    *(
        "atari-anchors",
        "atari-arena",
        "atari-arena-deterministic",
        "atari-dqn-family",
        "atari-flavours",
    ),
    *(
        "atari-table1",
        "atari-table1-deterministic",
        "gvgai-planners",
        "gvgai-plays",
        "swebench-verified",
    ),
)
COMMANDS = {
    "describe": (),
    "scores": (),
    "curves": (),
    "cost": (),
    "fit": (),
    "fit --check": (),
    "audit": (),
    "typology": (),
    "information": (),
    "cluster": (),
    "select": ("--size", "5"),
    "distil": ("--size", "5"),
    "report": (),
}
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


def store(path: Path, tree: Path) -> None:
    """Run what is not stored yet, and append it line by line."""
    stored = {json.loads(line)["words"] for line in path.open()} if path.exists() else set()
    with path.open("a", encoding="utf-8") as file:
        for name in DATA_SETS:
            for command, options in COMMANDS.items():
                verb, *mode = command.split()
                words = " ".join([verb, name, *mode, *options])
                if words not in stored:
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
    for words, one in old.items():
        two = new.get(words)
        if two is None or one["exit"] != two["exit"] or one["exit"] != 0:
            if two is None or (one["exit"], one.get("says")) != (two["exit"], two.get("says")):
                changed += 1
                print(f"{words}: exit {one['exit']} -> {'not run' if two is None else two['exit']}")
                print(f"    {one.get('says', '')}\n    -> {(two or {}).get('says', '')}")
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
    print(f"{changed} of {len(old)} commands differ")
    return changed


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("verb", choices=["store", "compare"])
    options.add_argument("files", nargs="+", type=Path)
    options.add_argument("--tree", type=Path, default=Path(__file__).parents[1])
    given = options.parse_args()
    if given.verb == "store":
        store(given.files[0], given.tree.resolve())
    else:
        compare(*given.files)


if __name__ == "__main__":
    main()
