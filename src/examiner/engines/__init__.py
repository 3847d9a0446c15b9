"""Fits of tables of any size: sources of responses on disk, on a GPU, or on a Ray cluster."""

from typing import TYPE_CHECKING

from examiner.engines.cluster import ray as ray
from examiner.engines.gpu import gpu as gpu
from examiner.engines.shards import sharded as sharded
from examiner.namespaces import names_on_demand as _names_on_demand
from examiner.validation import names_of as _names_of

__dir__ = _names_of(__name__)

if TYPE_CHECKING:  # for other packages of the codebase, loaded when first used
    from examiner.engines.memory import check_memory as check_memory
    from examiner.engines.memory import engine_for as engine_for
    from examiner.engines.shards import ParquetSource as ParquetSource
else:
    __getattr__ = _names_on_demand(__name__)
