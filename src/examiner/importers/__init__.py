"""Results come in: files and frames of every layout become one table."""

from typing import TYPE_CHECKING

from examiner.importers.formats import FORMATS as FORMATS
from examiner.importers.read import read as read
from examiner.importers.side_tables import TaskFile as TaskFile
from examiner.importers.side_tables import attach as attach
from examiner.importers.side_tables import read_agents as read_agents
from examiner.importers.side_tables import read_classification as read_classification
from examiner.importers.side_tables import read_numbers as read_numbers
from examiner.importers.side_tables import read_scales as read_scales
from examiner.importers.side_tables import read_tasks as read_tasks
from examiner.namespaces import names_on_demand as _names_on_demand
from examiner.validation import names_of as _names_of

__dir__ = _names_of(__name__)

if TYPE_CHECKING:  # for other packages of the codebase, loaded when first used
    from examiner.importers.formats.inspect_ai import inspect_sample_ids as inspect_sample_ids
    from examiner.importers.formats.lm_eval import lm_eval_samples as lm_eval_samples
    from examiner.importers.formats.parquet import gigabytes_of as gigabytes_of
    from examiner.importers.pairs import paired as paired
    from examiner.importers.paths import bundled_data_sets as bundled_data_sets
    from examiner.importers.paths import is_many as is_many
    from examiner.importers.paths import would_include as would_include
    from examiner.importers.readings import Reading as Reading
    from examiner.importers.readings import joined as joined
else:
    __getattr__ = _names_on_demand(__name__)
