"""Results come in: files and frames of every layout become one table."""

from examiner.importers.classifications import read_classification
from examiner.importers.formats import FORMATS
from examiner.importers.read import read
from examiner.importers.side_tables import TaskTable, read_agents, read_scales, read_tasks

__all__ = [
    "FORMATS",
    "TaskTable",
    "read",
    "read_agents",
    "read_classification",
    "read_scales",
    "read_tasks",
]
