"""Many jobs at once, on threads, processes or a Ray cluster; knows no other room."""

from examiner.workers.crew import Crew, Event, Limits
from examiner.workers.mapping import Progress, map, map_processes
from examiner.workers.processes import ProcessCrew
from examiner.workers.streaming import JobError, Overseer, oversee

__all__ = [
    "Crew",
    "Event",
    "JobError",
    "Limits",
    "Overseer",
    "ProcessCrew",
    "Progress",
    "map",
    "map_processes",
    "oversee",
]
