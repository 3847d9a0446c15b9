"""The versions of everything that decides what an episode looks like."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("examiner", "ale-py", "gymnasium", "numpy", "numba", "torch")


def versions() -> dict[str, str]:
    """Return the installed versions by name; absent packages are left out.

    >>> "python" in versions(), "examiner" in versions()
    (True, True)
    """
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return dict(sorted(found.items()))
