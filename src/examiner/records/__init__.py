"""What was found, kept: fits to and from JSON."""

from examiner.records.fits import read_fit, write_fit

__all__ = ["read_fit", "write_fit"]
