"""Many jobs at once; knows no other room."""

from examiner.workers.mapping import Progress, map

__all__ = ["Progress", "map"]
