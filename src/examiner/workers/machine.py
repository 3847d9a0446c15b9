"""How much memory this machine, its container and its limits leave."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_GROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)
"""What a container may use and uses, in the second and the first version of control groups."""


def available_gigabytes() -> float:
    """Return how much memory is free: here, in this container, and within limits set by `ulimit`.

    Infinite where nothing says so.

    >>> available_gigabytes() > 0
    True
    """
    return min(_free_bytes(), default=float("inf")) / 1e9


def _free_bytes() -> Iterator[float]:
    with suppress(OSError, ValueError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                yield int(line.split()[1]) * 1024
    for limit, taken in _GROUPS:
        with suppress(OSError, ValueError):  # "max" is no limit
            yield max(int(Path(limit).read_text()) - int(Path(taken).read_text()), 0)
    with suppress(ImportError, OSError, ValueError):
        import resource

        size, _, _, _, _, data, _ = map(int, Path("/proc/self/statm").read_text().split())
        for kind, pages in ((resource.RLIMIT_AS, size), (resource.RLIMIT_DATA, data)):
            most, _ = resource.getrlimit(kind)
            if most != resource.RLIM_INFINITY:
                yield max(most - pages * resource.getpagesize(), 0)
