"""Storing answers: fits, selections and examinations to and from JSON."""

from examiner.storage.documents import examination_content as examination_content
from examiner.storage.documents import load_saved as load_saved
from examiner.storage.documents import open_fit as open_fit
from examiner.storage.documents import open_selection as open_selection
from examiner.storage.documents import save as save
