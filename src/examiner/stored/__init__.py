"""What was found, kept: fits, selections and examinations to and from JSON."""

from examiner.stored.things import examination_content, open, open_fit, open_selection, save

__all__ = ["examination_content", "open", "open_fit", "open_selection", "save"]
