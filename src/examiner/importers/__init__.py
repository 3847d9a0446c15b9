"""Results come in: files and frames of every layout become one table."""

from examiner.importers.formats import FORMATS
from examiner.importers.read import read
from examiner.importers.scales import read_scales

__all__ = ["FORMATS", "read", "read_scales"]
