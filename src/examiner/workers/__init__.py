"""Many jobs at once, on threads, processes or a Ray cluster; imports no other package.

`map`, `map_processes` and `map_ray` are for plain functions. Jobs that say something on the way, fail
or outlive their process are run by `crew.oversee` on a crew: `programs.ProcessCrew` or
`cluster.RayCrew`.
"""

from typing import TYPE_CHECKING

from examiner.namespaces import names_on_demand as _names_on_demand
from examiner.workers.crew import JobError as JobError
from examiner.workers.crew import Limits as Limits
from examiner.workers.crew import reason_of as reason_of
from examiner.workers.machine import available_gigabytes as available_gigabytes
from examiner.workers.mapping import Progress as Progress
from examiner.workers.mapping import map as map
from examiner.workers.mapping import map_processes as map_processes
from examiner.workers.mapping import map_ray as map_ray
from examiner.workers.mapping import map_where_it_pays as map_where_it_pays
from examiner.workers.programs import available_cores as available_cores

if TYPE_CHECKING:  # for other packages of the codebase, loaded when first used
    from examiner.workers.cluster import RayCrew as RayCrew
    from examiner.workers.cluster import connected as connected
    from examiner.workers.crew import Crew as Crew
    from examiner.workers.crew import Kind as Kind
    from examiner.workers.crew import oversee as oversee
    from examiner.workers.programs import ProcessCrew as ProcessCrew
    from examiner.workers.programs import ProgramCrew as ProgramCrew
    from examiner.workers.programs import worker_environment as worker_environment
else:
    __getattr__ = _names_on_demand(__name__)
