"""Claim: the house is small, and an everyday call walks through few of its files.

Counts code lines by room (without blanks, comments and docstrings), files, names at the door, functions of
more than eight parameters, lines that stand twice, and the files and rooms in which `report`, `fit`, one
episode of `run` and `select` execute anything: a function, or the body of a class when the file is loaded.
Run: python benchmarks/house.py [--tree CHECKOUT]     (twice, for a before and an after)
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import subprocess
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

WINDOW = 6
"""So many lines alike, names and values apart, are lines that stand twice."""
MANY_PARAMETERS = 8
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)

NEW = "hasattr(ex, 'open')"
"""Whether the tree has the door of today; the house before it is walked through the old one."""
WALKS = {
    "report": """
results = ex.load("atari-dqn-family")
def walk():
    str(ex.report(results).html)
""",
    "fit": f"""
matrix = ex.responses(ex.normalise(ex.load("atari-dqn-family"), "human"), success=1.0)
fit = ex.irt.fit if {NEW} else ex.fit_irt
def walk():
    fit(matrix)
""",
    # The driver's side by the command, the worker's by what a worker calls.
    "one episode of run": f"""
import importlib, os, tempfile
from examiner.cli import main
playing = importlib.import_module(
    "examiner.arena.play.episodes" if {NEW} else "examiner.arena.performance"
)
arena = importlib.import_module("examiner.arena")
job = arena.Job("random", "random", game="pong", episodes=1)
folder = tempfile.mkdtemp()
with open(folder + "/plan.toml", "w") as file:
    file.write('games = ["pong"]\\nepisodes = 1\\n[[agents]]\\nentry = "random"\\n')
sys.argv = ["examiner", "arena", "run", folder + "/plan.toml", "--output", folder + "/run", "--json"]
sys.stdout, shown = open(os.devnull, "w"), sys.stdout
def walk():
    try:
        main()
    except SystemExit:
        pass
    sys.stdout = shown
    list(playing.perform_job(playing.Start(job)))
""",
    "select": f"""
import numpy as np
results = ex.load("atari-dqn-family")
if {NEW}:
    def walk():
        ex.selection.select(results, 5, rng=0)
else:
    def walk():
        material = ex.gather_material(results, normalise="human")
        ex.select(material, 5, rng=np.random.default_rng(0))
""",
}
_TRACED = """
import inspect, json, sys, warnings
warnings.simplefilter("ignore")
import examiner as ex
{setting}
visited, at_work = set(), set()
def seen(frame, event, _):
    if event == "call" and frame.f_code.co_name != "<module>":
        visited.add(frame.f_code.co_filename)
        # Only functions are optimised: the body of a class runs when its file is first loaded.
        if frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            at_work.add(frame.f_code.co_filename)
sys.setprofile(seen)
walk()
sys.setprofile(None)
root = ex.__path__[0]
print(json.dumps([
    sorted(name[len(root) + 1:] for name in names if name.startswith(root))
    for names in (visited, at_work)
]))
"""


def code_lines(text: str) -> list[str]:
    """The lines that hold code: no blanks, comments or docstrings."""
    tree = ast.parse(text)
    spoken: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
            said = node.body[0]
            spoken.update(range(said.lineno, (said.end_lineno or said.lineno) + 1))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip():
            spoken.add(token.start[0])
    return [
        line
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and number not in spoken
    ]


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    given = node.args
    names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return len([name for name in names if name not in ("self", "cls")])


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


def repeated_lines(files: dict[Path, str]) -> int:
    """Code lines inside runs of `WINDOW` that stand elsewhere too, imports left out."""
    windows: dict[str, list[tuple[Path, int]]] = defaultdict(list)
    for path, text in files.items():
        lines = [" ".join(line.split()) for line in code_lines(text)]
        lines = [
            line for line in lines if not line.startswith(("import ", "from ")) and len(line) > 2
        ]
        for start in range(len(lines) - WINDOW + 1):
            windows["\n".join(lines[start : start + WINDOW])].append((path, start))
    twice = {
        (path, start + step)
        for places in windows.values()
        if len(places) > 1
        for path, start in places
        for step in range(WINDOW)
    }
    return len(twice)


def walk(tree: Path, setting: str) -> tuple[list[str], list[str]]:
    done = subprocess.run(
        [sys.executable, "-c", _TRACED.format(setting=setting)],
        env={"PYTHONPATH": str(tree / "src"), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"A walk failed:\n{done.stderr}")
    visited, at_work = json.loads(done.stdout.splitlines()[-1])
    return visited, at_work


def door(tree: Path) -> int:
    code = "import examiner; print(len([n for n in dir(examiner) if not n.startswith('_')]))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(tree / "src"), "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tree", type=Path, default=Path(__file__).parents[1])
    tree = options.parse_args().tree.resolve()
    root = tree / "src" / "examiner"
    files = {path: path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.py"))}
    lines: Counter[str] = Counter()
    count: Counter[str] = Counter()
    wide: list[str] = []
    for path, text in files.items():
        room = path.relative_to(root).parts[0] if path.parent != root else "the door"
        lines[room] += len(code_lines(text))
        count[room] += 1
        wide += [
            f"{path.relative_to(root)}:{node.lineno} {node.name} ({parameters(node)})"
            for node in functions(ast.parse(text))
            if parameters(node) > MANY_PARAMETERS
        ]
    for room in sorted(lines, key=lambda name: -lines[name]):
        print(f"{room:12} {lines[room]:7,} lines {count[room]:4} files")
    print(f"{'all':12} {sum(lines.values()):7,} lines {len(files):4} files")
    print(f"names at the door: {door(tree)}")
    outside = [one for one in wide if not one.startswith("cli")]
    print(f"functions over {MANY_PARAMETERS} parameters: {len(wide)}, {len(outside)} outside cli/")
    for one in outside:
        print("   ", one)
    print(f"lines that stand twice: {repeated_lines(files):,}")
    for name, setting in WALKS.items():
        visited, at_work = walk(tree, setting)
        rooms = {path.split("/")[0] for path in visited}
        print(
            f"{name}: {len(visited)} files in {len(rooms)} rooms, with those loaded on the way; "
            f"functions of {len(at_work)} files run"
        )


if __name__ == "__main__":
    main()
