"""What users and files give, checked: names, arrays, and records of a declared shape."""

from examiner.checking.arrays import check_finite, read_only, smallest_unsigned
from examiner.checking.names import check_names

__all__ = ["check_finite", "check_names", "read_only", "smallest_unsigned"]
