"""The codebase: light import, contracts that break when violated, examples on every public function."""

import importlib
import inspect
import pkgutil
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import examiner as ex

ROOT = Path(__file__).parents[2]
HEAVY = ("plotly", "torch", "numba", "ale_py", "ray", "polars", "numpy", "scipy")


def run_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def test_importing_examiner_imports_nothing_heavy() -> None:
    loaded = run_python("import sys, examiner; print(*sys.modules)").split()
    assert not set(HEAVY).intersection(loaded)


def test_importing_examiner_costs_little_more_than_starting_python() -> None:
    code = "import time{}; print(time.process_time())"
    with_it = min(float(run_python(code.format(", examiner"))) for _ in range(3))
    assert with_it < 0.3


def test_every_public_name_exists_and_is_listed_once() -> None:
    assert len(set(ex.__all__)) == len(ex.__all__)
    for name in ex.__all__:
        assert getattr(ex, name) is not None
    assert set(ex.__all__) <= set(dir(ex))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        ex.nothing  # noqa: B018


def public_functions() -> list[tuple[str, object]]:
    """Functions that the public API of a package or the top level offers, and methods of its classes."""
    found: dict[str, object] = {}
    for module in pkgutil.iter_modules(importlib.import_module("examiner").__path__, "examiner."):
        if module.name in ("examiner.__main__", "examiner.cli"):
            continue
        package = importlib.import_module(module.name)
        names = getattr(package, "__all__", vars(package))
        for name in (name for name in names if not name.startswith("_")):
            value = getattr(package, name)
            if inspect.isfunction(value):
                found[f"{module.name}.{name}"] = value
            elif inspect.isclass(value) and value.__module__.startswith("examiner"):
                for method, body in vars(value).items():
                    plain = getattr(body, "__func__", body)
                    if not method.startswith("_") and inspect.isfunction(plain):
                        found[f"{module.name}.{name}.{method}"] = plain
    return sorted(found.items())


@pytest.mark.parametrize(("name", "function"), public_functions())
def test_public_functions_have_a_docstring_with_an_example(name: str, function: object) -> None:
    text = inspect.getdoc(function) or ""
    assert text, f"{name} has no docstring"
    # Reading back what `save` wrote is shown where it is written.
    if not name.endswith(".load"):
        assert ">>>" in text, f"{name} has no example"


VIOLATIONS = {
    "results/upstairs.py": "from examiner.scores import normalise",  # a package above
    "scores/frames.py": "import polars",  # a data frame in a numeric package
    "scores/lazily.py": "def f():\n    import plotly",  # inside a function too
    "importers/analysis.py": "from examiner.scores import responses",  # an importer that analyses
    "scores/normalisers/friend.py": "from examiner.scores.normalisers.rank import rank",
    "information/frames.py": "import polars",  # a data frame in another numeric package
    "scores/normalisers/doorway.py": "from examiner.scores import normalise",  # its own public API
    "selection/methods/friend.py": "from examiner.selection.methods.spread import spread",
    "utils.py": "",  # a module without a package
}


def broken_contracts(copy: Path) -> str:
    """What import-linter says of a copy of the codebase, where it finds fault."""
    done = subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"],
        cwd=copy,
        env={"PYTHONPATH": str(copy), "PATH": ""},
        capture_output=True,
        text=True,
    )
    return done.stdout if done.returncode else ""


@pytest.mark.parametrize("path", [None, *VIOLATIONS])
def test_contracts_hold_and_break_when_violated(path: str | None, tmp_path: Path) -> None:
    copy = tmp_path / "codebase"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src" / "examiner", copy / "examiner", ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", copy)

    if path is not None:
        (copy / "examiner" / path).write_text(f'"""A violation."""\n{VIOLATIONS[path]}\n')
    said = broken_contracts(copy)
    assert bool(said) == (path is not None), said
    if path is not None:
        assert "BROKEN" in said or "utils" in said


def test_nothing_outside_the_library_is_run_or_read_from_pickles() -> None:
    for path in (ROOT / "src").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for word in ("pickle.load", "allow_pickle=True", "eval(", "exec(", "urllib", "requests."):
            assert word not in text, f"{path.name} has {word}"
