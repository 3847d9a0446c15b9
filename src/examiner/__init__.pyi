"""The door: every name that `import examiner as ex` shows, and the room it comes from."""

from examiner import adaptive as adaptive
from examiner import arena as arena
from examiner import datasets as datasets
from examiner import engines as engines
from examiner import importers as importers
from examiner import information as information
from examiner import irt as irt
from examiner import plots as plots
from examiner import results as results
from examiner import scores as scores
from examiner import selection as selection
from examiner import telling as telling
from examiner import typology as typology
from examiner.datasets import load as load
from examiner.importers import read as read
from examiner.results import ResponseMatrix as ResponseMatrix
from examiner.results import Results as Results
from examiner.results import write as write
from examiner.scores import Recipe as Recipe
from examiner.scores import normalise as normalise
from examiner.scores import reduce as reduce
from examiner.scores import responses as responses
from examiner.stored import open as open
from examiner.stored import save as save
from examiner.telling import report as report
from examiner.wording import ExaminerWarning as ExaminerWarning
from examiner.wording import InputError as InputError

__version__: str
