"""Results that come along: published and measured tables, each with a card that says where from."""

from examiner.datasets.card import Card as Card
from examiner.datasets.load import DATASETS as DATASETS
from examiner.datasets.load import card as card
from examiner.datasets.load import load as load
from examiner.datasets.published import PublishedTable as PublishedTable
from examiner.validation import names_of as _names_of

__dir__ = _names_of(__name__)
