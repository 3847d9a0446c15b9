"""What was found, kept: fits, selections and examinations to and from JSON."""

from examiner.stored.things import examination_content as examination_content
from examiner.stored.things import open as open
from examiner.stored.things import open_fit as open_fit
from examiner.stored.things import open_selection as open_selection
from examiner.stored.things import save as save
