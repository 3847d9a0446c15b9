"""Names of a package for the other packages of the codebase: loaded when first used, not shown to users."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from typing import Any

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
            loader: Any = sys.modules[package].__loader__  # Any: of files or of a zip archive
            text = loader.get_source(package)
            homes.update({shown: (home, inner) for home, inner, shown in _IMPORTS.findall(text)})
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home, inner = homes[name]
        if home == package:
            return importlib.import_module(f"{package}.{inner}")
        return getattr(importlib.import_module(home), inner)

    return load
