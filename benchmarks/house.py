"""Claim: the codebase is small, and an everyday call runs few of its files.

Counts, per checkout:
- code lines (without blanks, comments and docstrings) and files of each package;
- names of the public API, functions with more than eight parameters, duplicated lines;
- numeric constants of modules, hand-written reprs and serialisers, class names used more than once;
- imports that go past another package's public API, command-line options named in numeric packages,
  assignments to names that say nothing;
- the files that `report`, `fit`, one episode of `run` and `select` execute: a function, or the body of a
  class when the file is loaded.

Run: python benchmarks/house.py [--tree CHECKOUT] [--list]     (once per checkout to compare)
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import re
import subprocess
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

WINDOW = 6
"""Lines are duplicated if a sequence of this many occurs elsewhere too."""
MANY_PARAMETERS = 8
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
NUMERIC_PACKAGES = ("scores", "irt", "information", "typology", "selection", "adaptive")
REPRS = ("__repr__", "__str__", "_repr_html_", "_repr_markdown_", "__rich__")
SERIALISERS = re.compile(
    r"(to|as)_(dict|frame|record|records|json|row|rows|table|text|plain|pandas|polars)$"
)
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
UNINFORMATIVE = (
    *("found", "known", "told", "made", "seen", "said", "done", "some", "rest"),
    *("own", "held", "laid", "begun", "how", "where", "asked", "each"),
)

RUNS = {
    "report atari-dqn-family": """
results = ex.load("atari-dqn-family")
def call():
    str(ex.report(results).html)
""",
    "report swebench-verified": """
results = ex.load("swebench-verified")
def call():
    str(ex.report(results).html)
""",
    "fit": """
matrix = ex.responses(ex.normalise(ex.load("atari-dqn-family"), "human"), success=1.0)
def call():
    ex.irt.fit(matrix)
""",
    # The driver's side by the command, the worker's by what a worker calls.
    "one episode of run": """
import os, tempfile
from examiner import arena
try:
    from examiner.arena import episodes
except ImportError:
    from examiner.arena.play import episodes
from examiner.cli import COMMANDS, main
job = arena.Job("random", "random", game="pong", episodes=1)
folder = tempfile.mkdtemp()
with open(folder + "/plan.toml", "w") as file:
    file.write('games = ["pong"]\\nepisodes = 1\\n[[agents]]\\nentry = "random"\\n')
command = ["arena", "run"] if "arena" in COMMANDS else ["run"]
sys.argv = ["examiner", *command, folder + "/plan.toml", "--output", folder + "/run", "--json"]
sys.stdout, terminal = open(os.devnull, "w"), sys.stdout
def call():
    try:
        main()
    except SystemExit:
        pass
    sys.stdout = terminal
    list(episodes.perform_job(episodes.Start(job)))
""",
    "select": """
results = ex.load("atari-dqn-family")
def call():
    ex.selection.select(results, 5, rng=0)
""",
}
_TRACED = """
import inspect, json, sys, warnings
warnings.simplefilter("ignore")
import examiner as ex
{setting}
visited, at_work = set(), set()
def trace(frame, event, _):
    if event == "call" and frame.f_code.co_name != "<module>":
        visited.add(frame.f_code.co_filename)
        # Only functions are optimised: the body of a class runs when its file is first loaded.
        if frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            at_work.add(frame.f_code.co_filename)
sys.setprofile(trace)
call()
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
    excluded: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
            docstring = node.body[0]
            excluded.update(range(docstring.lineno, (docstring.end_lineno or docstring.lineno) + 1))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip():
            excluded.add(token.start[0])
    return [
        line
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and number not in excluded
    ]


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    arguments = node.args
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return len([name for name in names if name not in ("self", "cls")])


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


def duplicated_lines(files: dict[Path, str]) -> int:
    """Code lines inside sequences of `WINDOW` that occur elsewhere too, imports excluded."""
    windows: dict[str, list[tuple[Path, int]]] = defaultdict(list)
    for path, text in files.items():
        lines = [" ".join(line.split()) for line in code_lines(text)]
        lines = [
            line for line in lines if not line.startswith(("import ", "from ")) and len(line) > 2
        ]
        for start in range(len(lines) - WINDOW + 1):
            windows["\n".join(lines[start : start + WINDOW])].append((path, start))
    duplicates = {
        (path, start + step)
        for places in windows.values()
        if len(places) > 1
        for path, start in places
        for step in range(WINDOW)
    }
    return len(duplicates)


def is_numeric(node: ast.expr | None) -> bool:
    """Whether an expression is a number, a tuple, list or set of numbers, or arithmetic of numbers."""
    match node:
        case ast.Constant(value=value):
            return isinstance(value, int | float | complex) and not isinstance(value, bool)
        case ast.UnaryOp(operand=operand):
            return is_numeric(operand)
        case ast.BinOp(left=left, right=right):
            return is_numeric(left) and is_numeric(right)
        case ast.Tuple(elts=values) | ast.List(elts=values) | ast.Set(elts=values):
            return bool(values) and all(map(is_numeric, values))
    return False


def targets(node: ast.AST) -> Iterator[ast.Name]:
    """The names that a statement or expression assigns to."""
    match node:
        case ast.Assign(targets=assigned):
            expressions: list[ast.expr] = assigned
        case (
            ast.AnnAssign(target=target)
            | ast.AugAssign(target=target)
            | ast.NamedExpr(target=target)
        ):
            expressions = [target]
        case ast.For(target=target) | ast.comprehension(target=target):
            expressions = [target]
        case ast.withitem(optional_vars=ast.expr() as variable):
            expressions = [variable]
        case _:
            expressions = []
    for expression in expressions:
        for name in ast.walk(expression):
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                yield name


def numeric_constants(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and is_numeric(node.value):
            for name in targets(node):
                if name.id.isupper():
                    yield node.lineno, name.id


def hidden_imports(tree: ast.Module, package: str, root: Path) -> Iterator[tuple[int, str]]:
    """Imports from a module inside another package, instead of from that package."""
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(module), names=names) if module.count(".") == 1:
                modules = [
                    f"{module}.{name.name}" for name in names if is_hidden(module, name.name, root)
                ]
            case ast.ImportFrom(module=str(module)):
                modules = [module]
            case ast.Import(names=names):
                modules = [name.name for name in names]
            case _:
                continue
        for module in modules:
            parts = module.split(".")
            if len(parts) > 2 and parts[0] == "examiner" and parts[1] != package:
                yield node.lineno, module


def is_hidden(package: str, name: str, root: Path) -> bool:
    """Whether a name is a module of a package that the package's public API does not show."""
    folder = root / package.partition(".")[2]
    if not (folder / name).is_dir() and not (folder / f"{name}.py").is_file():
        return False
    return re.search(rf"\b(as {name}|\"{name}\")", (folder / "__init__.py").read_text()) is None


def execute(tree: Path, code: str) -> str:
    process = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(tree / "src"), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode:
        raise SystemExit(f"A measured call failed:\n{process.stderr}")
    return process.stdout


def public_names(tree: Path) -> int:
    code = "import examiner; print(len([n for n in dir(examiner) if not n.startswith('_')]))"
    return int(execute(tree, code))


def package_of(path: Path, root: Path) -> str:
    parts = path.relative_to(root).parts
    return parts[0] if len(parts) > 1 else "top level"


class Tally:
    """Named lists of places, printed as counts or, on request, one by one."""

    def __init__(self) -> None:
        self.places: dict[str, list[str]] = {}

    def add(self, name: str, places: list[str]) -> None:
        self.places.setdefault(name, []).extend(places)


def inspect_source(files: dict[Path, str], root: Path, tree: Path) -> Tally:
    tally = Tally()
    classes: dict[str, list[str]] = defaultdict(list)
    for path, text in files.items():
        parsed, package = ast.parse(text), package_of(path, root)
        place = str(path.relative_to(root))
        tally.add(
            f"functions with more than {MANY_PARAMETERS} parameters, outside cli",
            [
                f"{place}:{node.lineno} {node.name} ({parameters(node)})"
                for node in functions(parsed)
                if parameters(node) > MANY_PARAMETERS and package != "cli"
            ],
        )
        tally.add(
            "numeric constants of modules",
            [f"{place}:{line} {name}" for line, name in numeric_constants(parsed)],
        )
        methods = [
            (node.lineno, owner.name, node.name)
            for owner in ast.walk(parsed)
            if isinstance(owner, ast.ClassDef)
            for node in owner.body
            if isinstance(node, ast.FunctionDef)
        ]
        for title, matches in (
            ("hand-written reprs", REPRS.__contains__),
            ("hand-written serialisers", SERIALISERS.match),
        ):
            tally.add(
                title,
                [
                    f"{place}:{line} {owner}.{name}"
                    for line, owner, name in methods
                    if matches(name)
                ],
            )
        tally.add(
            "imports past a public API, in src",
            [f"{place}:{line} {module}" for line, module in hidden_imports(parsed, package, root)],
        )
        tally.add(
            "lines of numeric packages that name a command-line option",
            [
                f"{place}:{number} {line.strip()}"
                for number, line in enumerate(text.splitlines(), 1)
                if package in NUMERIC_PACKAGES and OPTION.search(line)
            ],
        )
        tally.add(
            "assignments to uninformative names",
            [
                f"{place}:{name.lineno} {name.id}"
                for node in ast.walk(parsed)
                for name in targets(node)
                if name.id in UNINFORMATIVE
            ],
        )
        for node in ast.walk(parsed):
            if isinstance(node, ast.ClassDef):
                classes[node.name].append(f"{place}:{node.lineno}")
    tally.add(
        "class names used more than once",
        [f"{name}: {', '.join(places)}" for name, places in classes.items() if len(places) > 1],
    )
    for path in sorted((tree / "tests").rglob("*.py")):
        parsed = ast.parse(path.read_text(encoding="utf-8"))
        tally.add(
            "imports past a public API, in tests",
            [
                f"{path.relative_to(tree)}:{line} {module}"
                for line, module in hidden_imports(parsed, "", root)
            ],
        )
    return tally


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tree", type=Path, default=Path(__file__).parents[1])
    options.add_argument("--list", action="store_true", help="name every place that is counted")
    options.add_argument("--static", action="store_true", help="run nothing, only read the files")
    chosen = options.parse_args()
    tree = chosen.tree.resolve()
    root = tree / "src" / "examiner"
    files = {path: path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.py"))}
    lines: Counter[str] = Counter()
    count: Counter[str] = Counter()
    for path, text in files.items():
        lines[package_of(path, root)] += len(code_lines(text))
        count[package_of(path, root)] += 1
    for package in sorted(lines, key=lambda name: -lines[name]):
        print(f"{package:12} {lines[package]:7,} lines {count[package]:4} files")
    print(f"{'all':12} {sum(lines.values()):7,} lines {len(files):4} files")
    print(f"duplicated lines: {duplicated_lines(files):,}")
    for name, places in inspect_source(files, root, tree).places.items():
        print(f"{name}: {len(places)}")
        if chosen.list:
            print(*(f"    {place}" for place in places), sep="\n")
    if chosen.static:
        return
    print(f"names of the public API: {public_names(tree)}")
    for name, setting in RUNS.items():
        output = execute(tree, _TRACED.format(setting=setting))
        visited, at_work = json.loads(output.splitlines()[-1])
        packages = {path.split("/")[0] for path in visited}
        print(
            f"{name}: {len(visited)} files in {len(packages)} packages, including those loaded on the way; "
            f"functions of {len(at_work)} files run"
        )


if __name__ == "__main__":
    main()
