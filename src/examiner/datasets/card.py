"""Card: what a bundled data set is, where it comes from, what was changed and how it may be used."""

from __future__ import annotations

import textwrap
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from examiner.results import html_table
from examiner.validation import from_record, to_record

PACKAGE = "examiner.datasets"
"""Data files are read as resources, so that they are also found in a wheel or a zip."""


@dataclass(frozen=True, slots=True, repr=False)
class Card:
    """Where a data set comes from and what a reader should know before using it.

    `returns` is the type that `load` gives. `changed` lists every departure from the printed source,
    `notes` the caveats that travel with the data. `columns` says what each column of `file` means.

    >>> from examiner.datasets import card
    >>> card("machado-2018-table1").returns
    'PublishedTable'
    """

    name: str
    title: str
    returns: str
    source: str
    year: int
    protocol: str
    changed: tuple[str, ...]
    notes: tuple[str, ...]
    licence: str
    file: str
    sha256: str
    columns: Mapping[str, str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", MappingProxyType(dict(self.columns)))

    def __hash__(self) -> int:
        return hash((self.name, self.sha256))

    def __reduce__(self) -> tuple[object, ...]:
        # a mapping proxy cannot be pickled, and cards travel to other processes with their data
        return from_record, (Card, self.to_dict())

    def to_dict(self) -> dict[str, Any]:  # Any: JSON values
        """Return the fields as plain values, for JSON.

        >>> from examiner.datasets import card
        >>> card("atari-human-random").to_dict()["columns"]["human"]
        'mean score of a professional human games tester, in points of the game'
        """
        record: dict[str, Any] = to_record(self)
        return record

    def __repr__(self) -> str:
        lines = [f"{self.name}: {self.title} ({self.returns}, {self.year})"]
        for label, text in self._paragraphs():
            lines += textwrap.wrap(
                f"{label}: {text}",
                96,
                initial_indent="  ",
                subsequent_indent="    ",
                break_on_hyphens=False,
            )
        lines += [f"  {name} = {meaning}" for name, meaning in self.columns.items()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        lines = [f"{label}: {text}" for label, text in self._paragraphs()]
        caption = f"{self.name}: {self.title} ({self.returns}, {self.year})"
        return html_table(caption, ["column", "meaning"], list(self.columns.items()), lines)

    def _paragraphs(self) -> list[tuple[str, str]]:
        return [
            ("Source", self.source),
            ("Protocol", self.protocol),
            *(("Changed", text) for text in self.changed),
            *(("Note", text) for text in self.notes),
            ("Licence", self.licence),
        ]


def read_card(name: str) -> Card:
    """Return the card of a data set that exists; `examiner.datasets.card` checks the name first.

    >>> read_card("gvgai-plays").file
    'gvgai-plays.csv'
    """
    return from_record(Card, {"name": name, **card_fields(name)}, strict=True)


def card_fields(name: str) -> dict[str, Any]:  # Any: TOML values, given a type by Card
    """Return the fields of a card as in its file.

    >>> card_fields("atari-typology")["year"]
    2021
    """
    text = files(PACKAGE).joinpath("cards", f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
