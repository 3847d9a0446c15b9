"""What was found, kept: fits, selections and examinations to and from JSON."""

from examiner.stored.examinations import read_examination, write_examination
from examiner.stored.fits import read_fit, write_fit
from examiner.stored.selections import read_selection, write_selection

__all__ = [
    "read_examination",
    "read_fit",
    "read_selection",
    "write_examination",
    "write_fit",
    "write_selection",
]
