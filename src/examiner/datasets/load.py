"""The bundled data sets by name: the table of them, their data and their cards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias, overload

from examiner.datasets.card import Card, read_card
from examiner.datasets.loaders import (
    load_arena,
    load_atari_agents,
    load_human_random_scales,
    load_plays,
    load_published_table,
    load_typology,
)
from examiner.datasets.published import PublishedTable
from examiner.results import Classification, Results, Scales
from examiner.wording import unknown_name

Dataset: TypeAlias = Results | Scales | Classification | PublishedTable

# A new data set: its file in data/, its card in cards/, and one line here.
DATASETS: Mapping[str, Callable[[Card], Dataset]] = MappingProxyType(
    {
        "atari-arena": load_arena,
        "atari-arena-deterministic": load_arena,
        "atari-dqn-family": load_atari_agents,
        "atari-human-random": load_human_random_scales,
        "atari-irt-2017-table1": load_published_table,
        "atari-typology": load_typology,
        "gvgai-information-2019": load_published_table,
        "gvgai-plays": load_plays,
        "machado-2018-table1": load_published_table,
    }
)


# The overloads are for type checkers; a data set without one is still loaded.
@overload
def load(
    name: Literal["atari-arena", "atari-arena-deterministic", "atari-dqn-family", "gvgai-plays"],
) -> Results: ...
@overload
def load(name: Literal["atari-human-random"]) -> Scales: ...
@overload
def load(name: Literal["atari-typology"]) -> Classification: ...
@overload
def load(
    name: Literal["atari-irt-2017-table1", "gvgai-information-2019", "machado-2018-table1"],
) -> PublishedTable: ...
@overload
def load(name: str) -> Dataset: ...
def load(name: str) -> Dataset:
    """Return a bundled data set, as the type that its card names.

    >>> load("atari-dqn-family")
    Results: 7 agents × 55 tasks, 1 run, 1 trial; measures: score; 24 missing cells; scales of 55 ...
    >>> load("atari-human-random").lookup("pong").reference
    14.6
    >>> load("atari-dqm-family")
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: Unknown data set 'atari-dqm-family'. Did you mean \
'atari-dqn-family'? Known: ...
    """
    return DATASETS[_known(name)](read_card(name))


def card(name: str) -> Card:
    """Return the card of a bundled data set: source, changes, caveats, protocol and licence.

    >>> card("atari-typology").title
    'Game typology of 55 Atari games in 31 groups'
    """
    return read_card(_known(name))


def _known(name: object) -> str:
    if not isinstance(name, str) or name not in DATASETS:
        raise unknown_name("data set", name, DATASETS)
    return name
