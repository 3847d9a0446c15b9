"""Examine your agents, and your exam.

A table of results (agents × tasks × trials) says as much about the tasks as about the agents.

>>> import examiner as ex
>>> results = ex.load("atari-dqn-family")
>>> scores = ex.normalise(results, "human")  # 1.0 is human

The top level has the verbs and types everyone needs, and the packages as namespaces: `ex.irt.fit`,
`ex.selection.select`. What is here stands in one list, `__init__.pyi`; each name is loaded when first
used, so that `import examiner` costs next to nothing.
"""

from __future__ import annotations

import importlib
import re
from importlib.resources import files

__version__ = "0.1.0"

_LINE = re.compile(r"^from (?P<home>[\w.]+) import (?P<name>\w+) as (?P=name)$", re.MULTILINE)
_HOMES = {
    line["name"]: line["home"]
    for line in _LINE.finditer(files(__name__).joinpath("__init__.pyi").read_text(encoding="utf-8"))
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'examiner' has no attribute {name!r}.")
    home = _HOMES[name]
    if home == __name__:
        return importlib.import_module(f"{__name__}.{name}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
