"""Fits of tables of any size: sources of responses on disk, on a GPU, or on a Ray cluster."""

from examiner.engines.cluster import ray as ray
from examiner.engines.gpu import gpu as gpu
from examiner.engines.shards import sharded as sharded
from examiner.validation import names_of as _names_of

__dir__ = _names_of(__name__)
