"""What was observed: the long table of results, the matrix made from it, and the border of both."""

from examiner.results.atari import atari_game, atari_games
from examiner.results.attributes import Attributes, Classification, Provenance
from examiner.results.display import Description
from examiner.results.matrix import ResponseMatrix
from examiner.results.scale import Scales, TaskScale
from examiner.results.table import Results
from examiner.results.writers import WRITERS, write

__all__ = [
    "WRITERS",
    "Attributes",
    "Classification",
    "Description",
    "Provenance",
    "ResponseMatrix",
    "Results",
    "Scales",
    "TaskScale",
    "atari_game",
    "atari_games",
    "write",
]
