"""Results come in: files and frames of every layout become one table."""

from examiner.importers.formats import FORMATS as FORMATS
from examiner.importers.read import read as read
from examiner.importers.side_tables import TaskTable as TaskTable
from examiner.importers.side_tables import attach as attach
from examiner.importers.side_tables import read_agents as read_agents
from examiner.importers.side_tables import read_classification as read_classification
from examiner.importers.side_tables import read_numbers as read_numbers
from examiner.importers.side_tables import read_scales as read_scales
from examiner.importers.side_tables import read_tasks as read_tasks
from examiner.validation import names_of as _names_of

__dir__ = _names_of(__name__)
