"""What was observed: the long table of results, the matrix made from it, and the border of both."""

from examiner.results.atari import atari_game as atari_game
from examiner.results.atari import atari_games as atari_games
from examiner.results.attributes import Attributes as Attributes
from examiner.results.attributes import Classification as Classification
from examiner.results.attributes import Provenance as Provenance
from examiner.results.connections import Connections as Connections
from examiner.results.connections import WeakLink as WeakLink
from examiner.results.connections import check_undivided as check_undivided
from examiner.results.connections import connections as connections
from examiner.results.description import Description as Description
from examiner.results.matrix import ResponseMatrix as ResponseMatrix
from examiner.results.scale import Scales as Scales
from examiner.results.scale import TaskScale as TaskScale
from examiner.results.table import Results as Results
from examiner.results.table import check_results as check_results
from examiner.results.table import reads_results as reads_results
from examiner.results.writers import WRITERS as WRITERS
from examiner.results.writers import write as write
from examiner.validation import names_of as _names_of

__dir__ = _names_of(__name__)
