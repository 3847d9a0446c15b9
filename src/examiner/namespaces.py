"""Names of a package for the other packages of the codebase: loaded when first used, not shown to users."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from pathlib import Path

_IMPORTS = re.compile(r"^    from ([\w.]+) import \(?\s*(\w+) as (\w+)", re.MULTILINE)


def names_on_demand(package: str) -> Callable[[str], object]:
    """Return the `__getattr__` of a package: it loads what its `__init__` imports for type checkers only.

    Users' names are imported at once and shown by `dir`; the others cost nothing until another package
    needs them.

    >>> names_on_demand("examiner.results")("write_text").__module__
    'examiner.results.storage'
    """
    homes: dict[str, tuple[str, str]] = {}

    def load(name: str) -> object:
        if not homes:
            text = Path(sys.modules[package].__file__ or "").read_text(encoding="utf-8")
            homes.update({shown: (home, inner) for home, inner, shown in _IMPORTS.findall(text)})
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home, inner = homes[name]
        if home == package:
            return importlib.import_module(f"{package}.{inner}")
        return getattr(importlib.import_module(home), inner)

    return load
