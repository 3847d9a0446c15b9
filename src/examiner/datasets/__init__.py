"""Results that come along: published and measured tables, each with a card that says where from."""

from examiner.datasets.card import Card
from examiner.datasets.load import DATASETS, card, load
from examiner.datasets.published import PublishedTable

__all__ = ["DATASETS", "Card", "PublishedTable", "card", "load"]
