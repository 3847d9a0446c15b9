"""What users and files give, checked: names, arrays, and records of a declared shape."""

from examiner.checking.arrays import Floats, check_finite, is_binary, read_only, smallest_unsigned
from examiner.checking.names import check_known, check_names, known_name
from examiner.checking.randomness import Randomness, generator
from examiner.checking.records import (
    Axes,
    Bounds,
    ShapeError,
    Wanted,
    from_record,
    settle,
    to_record,
)

__all__ = [
    "Axes",
    "Bounds",
    "Floats",
    "Randomness",
    "ShapeError",
    "Wanted",
    "check_finite",
    "check_known",
    "check_names",
    "from_record",
    "generator",
    "is_binary",
    "known_name",
    "read_only",
    "settle",
    "smallest_unsigned",
    "to_record",
]
