"""Agents of one's own on the command line: modules in the current folder are found."""

from __future__ import annotations

import sys
from pathlib import Path


def find_modules_here(entry: str) -> None:
    """Let `module:factory` be found in the current folder, as a plan's are found beside the plan.

    >>> find_modules_here("my_agents:Cautious")
    >>> str(Path.cwd()) in sys.path
    True
    """
    here = str(Path.cwd())
    if ":" in entry and here not in sys.path:
        sys.path.insert(0, here)
