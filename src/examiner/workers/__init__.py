"""Many jobs at once, on threads, processes or a Ray cluster; knows no other room.

`map`, `map_processes` and `map_ray` are for plain functions. Jobs that say something on the way, fail
or outlive their process are run by `crew.oversee` on a crew: `processes.ProcessCrew` or
`cluster.RayCrew`.
"""

from examiner.workers.crew import JobError, Limits, reason_of
from examiner.workers.mapping import Progress, map, map_processes, map_ray
from examiner.workers.processes import available_cores

__all__ = [
    "JobError",
    "Limits",
    "Progress",
    "available_cores",
    "map",
    "map_processes",
    "map_ray",
    "reason_of",
]
