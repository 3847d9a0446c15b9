"""`examiner datasets`: what comes with the package, and what each returns."""

from __future__ import annotations

from dataclasses import dataclass

from examiner.cli.options import Tabled, argument
from examiner.cli.output import show
from examiner.datasets import DATASETS, Card, card
from examiner.reporting.finding import Finding, Text
from examiner.reporting.prose import Name
from examiner.reporting.table import Column, Piece, Table


@dataclass(frozen=True, slots=True)
class DatasetOptions:
    """Which data set is shown."""

    name: str | None = argument(
        "NAME", "Show the card of this data set; without it, list all.", None
    )


def datasets(options: DatasetOptions, told: Tabled) -> None:
    """List the bundled data sets with what each returns, or show one's card."""
    if options.name is not None:
        show(_shown(card(options.name)), "examiner.dataset/1", told)
        return
    rows = [card(known).to_dict() for known in DATASETS]
    columns = (
        Column("name", "name"),
        Column("returns", "text"),
        Column("year", "text"),
        Column("what", "name", key="title"),
    )
    table = Table.of(
        [row | {"year": str(row["year"])} for row in rows], columns, "Bundled data sets"
    )
    hint = "Show one's card with `examiner datasets NAME`; load it with `ex.load(NAME)`."
    listed = Finding("datasets", "Data sets", (), (table, Text(hint)), {"datasets": rows})
    show(listed, "examiner.datasets/1", told)


def _shown(chosen: Card) -> Finding:
    blocks: list[Piece] = []
    for field, value in chosen.to_dict().items():
        lines = value if isinstance(value, list) else [value]
        if isinstance(value, dict):
            lines = [f"{key}: {meaning}" for key, meaning in value.items()]
        blocks += [Text(f"{field}:"), *(Text(("  ", Name(str(line)))) for line in lines)]
    return Finding("dataset", chosen.name, (), tuple(blocks), chosen.to_dict())
