"""Public APIs: few names at the top, each found; packages use each other only through them."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import examiner as ex

MOST_NAMES = 45
ROOT = Path(__file__).parents[2]
PACKAGES = [name for name in ex.__all__ if getattr(ex, name).__class__.__name__ == "module"]


def test_the_top_level_shows_few_names_and_all_of_them_are_there() -> None:
    assert len(ex.__all__) <= MOST_NAMES
    assert set(dir(ex)) == {*ex.__all__, "__version__"}
    assert all(hasattr(ex, name) for name in ex.__all__)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_shows_its_names_and_not_its_files(package: str) -> None:
    shown = getattr(ex, package)
    assert dir(shown)
    for name in dir(shown):
        assert not name.startswith("_")
        assert not inspect.ismodule(getattr(shown, name)), name


def test_what_a_package_shows_are_its_verbs_types_and_tables() -> None:
    assert {"fit", "place", "diagnose", "IRTFit", "MODELS"} <= set(dir(ex.irt))
    assert {"select", "judge", "place", "Constraints", "METHODS"} <= set(dir(ex.selection))
    assert "heatmap" in dir(ex.plots)


def test_a_name_that_never_was_is_refused_without_a_guess() -> None:
    with pytest.raises(AttributeError) as refused:
        ex.no_such_name  # noqa: B018
    assert str(refused.value) == "module 'examiner' has no attribute 'no_such_name'."


def test_the_top_level_loads_no_package_before_it_is_used() -> None:
    code = "import sys, examiner; print(*[name for name in sys.modules if name.startswith('examiner.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def names_for_other_packages() -> Iterator[tuple[str, str]]:
    """Names that a package's `__init__` imports for type checkers, and loads on demand."""
    for path in sorted((ROOT / "src" / "examiner").glob("*/__init__.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            for inner in node.body if isinstance(node, ast.If) else ():
                for alias in inner.names if isinstance(inner, ast.ImportFrom) else ():
                    yield path.parent.name, alias.asname or alias.name


@pytest.mark.parametrize(("package", "name"), list(names_for_other_packages()))
def test_names_for_other_packages_are_loaded_and_not_shown_to_users(
    package: str, name: str
) -> None:
    module = importlib.import_module(f"examiner.{package}")
    assert getattr(module, name) is not None
    assert package == "reporting" or name not in dir(module)


def imports_past_a_public_api(path: Path, package: str) -> Iterator[str]:
    """Imports from a module inside another package, instead of from that package."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            modules = [node.module]
        elif isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        else:
            continue
        for module in modules:
            root, *parts = module.split(".")
            if root == "examiner" and len(parts) > 1 and parts[0] != package:
                yield f"{path.relative_to(ROOT)}:{node.lineno} {module}"


def test_packages_import_each_other_through_their_public_apis() -> None:
    source = ROOT / "src" / "examiner"
    hidden = [
        place
        for path in sorted(source.glob("*/**/*.py"))
        for place in imports_past_a_public_api(path, path.relative_to(source).parts[0])
    ]
    assert not hidden, "\n".join(hidden)


def test_tests_import_other_packages_through_their_public_apis() -> None:
    tests = ROOT / "tests"
    hidden = [
        place
        for path in sorted(tests.glob("*/**/*.py"))
        for place in imports_past_a_public_api(path, path.relative_to(tests).parts[0])
    ]
    assert not hidden, "\n".join(hidden)
