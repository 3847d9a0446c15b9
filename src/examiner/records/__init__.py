"""What was found, kept: fits, selections and examinations to and from JSON."""

from examiner.records.examinations import read_examination, write_examination
from examiner.records.fits import read_fit, write_fit
from examiner.records.selections import read_selection, write_selection

__all__ = [
    "read_examination",
    "read_fit",
    "read_selection",
    "write_examination",
    "write_fit",
    "write_selection",
]
