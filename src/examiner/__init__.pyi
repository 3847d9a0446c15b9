"""The public API: every name that `import examiner as ex` shows, and the package it comes from."""

from examiner import adaptive as adaptive
from examiner import answers as answers
from examiner import arena as arena
from examiner import datasets as datasets
from examiner import engines as engines
from examiner import importers as importers
from examiner import information as information
from examiner import irt as irt
from examiner import reporting as reporting
from examiner import results as results
from examiner import scores as scores
from examiner import selection as selection
from examiner import typology as typology
from examiner.answers import Answer as Answer
from examiner.datasets import load as load
from examiner.importers import read as read
from examiner.messages import ExaminerWarning as ExaminerWarning
from examiner.messages import InputError as InputError
from examiner.reporting import plots as plots
from examiner.reporting import report as report
from examiner.results import ResponseMatrix as ResponseMatrix
from examiner.results import Results as Results
from examiner.results import write as write
from examiner.scores import Recipe as Recipe
from examiner.scores import normalise as normalise
from examiner.scores import reduce as reduce
from examiner.scores import responses as responses
from examiner.storage import load_saved as load_saved
from examiner.storage import save as save

__version__: str
