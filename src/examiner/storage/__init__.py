"""What was found, kept: fits, selections and examinations to and from JSON."""

from examiner.storage.things import examination_content as examination_content
from examiner.storage.things import load_saved as load_saved
from examiner.storage.things import open_fit as open_fit
from examiner.storage.things import open_selection as open_selection
from examiner.storage.things import save as save
