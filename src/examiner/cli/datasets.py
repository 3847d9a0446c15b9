"""`examiner datasets`: the bundled data sets, and what each returns."""

from __future__ import annotations

from dataclasses import dataclass

from examiner.answers import Column, Table
from examiner.cli.options import Tabled, argument
from examiner.cli.output import show
from examiner.datasets import DATASETS, Card, card
from examiner.reporting import Facts, Finding, named, shown_table


@dataclass(frozen=True)
class DatasetOptions:
    """Which data set is shown."""

    name: str | None = argument(
        "NAME", "Data set to show in detail; without it, all are listed.", None
    )


def datasets(options: DatasetOptions, printing: Tabled) -> None:
    """List the bundled data sets, or show one in detail: source, licence, columns, notes."""
    if options.name is not None:
        show(_shown(card(options.name)), printing, "dataset")
        return
    rows = [card(name).to_dict() for name in DATASETS]
    columns = [
        Column("name", "name", "name"),
        Column("returns", "text", "returns"),
        Column("title", "name", "what", title="what"),
    ]
    values = {column.name: [row[column.name] for row in rows] for column in columns}
    table = shown_table(Table.of(columns, values), caption="Bundled data sets")
    hint = "Details: `examiner datasets NAME`. In Python: `ex.load(NAME)`."
    listed = Finding("datasets", "Data sets", "", (table, hint), {"datasets": rows})
    show(listed, printing, "datasets")


def _shown(chosen: Card) -> Finding:
    pairs: list[tuple[str, str]] = []
    for field, value in chosen.to_dict().items():
        lines = value if isinstance(value, list) else [value]
        if isinstance(value, dict):
            lines = [f"{key}: {meaning}" for key, meaning in value.items()]
        labels = (field, *[""] * len(lines))
        pairs += [(label, named(str(line))) for label, line in zip(labels, lines, strict=False)]
    return Finding("dataset", chosen.name, "", (Facts(tuple(pairs)),), chosen.to_dict())
