"""Results come in: files and frames of every layout become one table."""

from examiner.importers.formats import FORMATS
from examiner.importers.read import read
from examiner.importers.side_tables import (
    TaskTable,
    attach,
    read_agents,
    read_classification,
    read_scales,
    read_tasks,
)

__all__ = [
    "FORMATS",
    "TaskTable",
    "attach",
    "read",
    "read_agents",
    "read_classification",
    "read_scales",
    "read_tasks",
]
