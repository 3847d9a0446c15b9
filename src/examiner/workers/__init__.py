"""Many jobs at once, on threads, processes or a Ray cluster; knows no other room.

`map`, `map_processes` and `map_ray` are for plain functions. Jobs that say something on the way, fail
or outlive their process are run by `crew.oversee` on a crew: `processes.ProcessCrew` or
`cluster.RayCrew`.
"""

from examiner.workers.crew import JobError as JobError
from examiner.workers.crew import Limits as Limits
from examiner.workers.crew import reason_of as reason_of
from examiner.workers.mapping import Progress as Progress
from examiner.workers.mapping import map as map
from examiner.workers.mapping import map_processes as map_processes
from examiner.workers.mapping import map_ray as map_ray
from examiner.workers.programs import available_cores as available_cores
