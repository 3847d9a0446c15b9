"""What users and files give, checked: names, arrays, and records of a declared shape."""

from examiner.checking.records import (
    Axes,
    Bounds,
    ShapeError,
    Wanted,
    from_record,
    settle,
    to_record,
)
from examiner.checking.values import (
    Floats,
    Randomness,
    check_finite,
    check_names,
    check_number,
    check_numbers,
    generator,
    is_binary,
    read_only,
    smallest_unsigned,
)

__all__ = [
    "Axes",
    "Bounds",
    "Floats",
    "Randomness",
    "ShapeError",
    "Wanted",
    "check_finite",
    "check_names",
    "check_number",
    "check_numbers",
    "from_record",
    "generator",
    "is_binary",
    "read_only",
    "settle",
    "smallest_unsigned",
    "to_record",
]
