"""Many jobs at once, on threads, processes or a Ray cluster; knows no other room.

`map` and `map_processes` are for plain functions. Jobs that say something on the way, fail or outlive
their process are run by `streaming.oversee` on a crew: `processes.ProcessCrew`, `cluster.RayCrew`.
"""

from examiner.workers.crew import Limits
from examiner.workers.mapping import Progress, map, map_processes
from examiner.workers.streaming import JobError

__all__ = ["JobError", "Limits", "Progress", "map", "map_processes"]
