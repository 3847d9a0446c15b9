"""`examiner datasets`: what comes with the package, and what each returns."""

from __future__ import annotations

from typing import Annotated

import typer

from examiner.cli.options import JsonFlag
from examiner.cli.output import print_json, print_line, print_table, printable
from examiner.datasets import DATASETS, card


def datasets(
    name: Annotated[
        str | None, typer.Argument(help="Show the card of this data set; without it, list all.")
    ] = None,
    json: JsonFlag = False,
) -> None:
    """List the bundled data sets with what each returns, or show one's card."""
    if name is not None:
        _show(name, json=json)
        return
    cards = [card(known) for known in DATASETS]
    if json:
        rows = [one.to_dict() for one in cards]
        print_json("examiner.datasets/1", {"datasets": rows})
        return
    rows_shown = [[one.name, one.returns, str(one.year), one.title] for one in cards]
    print_table("Bundled data sets", ["name", "returns", "year", "what"], rows_shown)
    print_line("\nShow one's card with `examiner datasets NAME`; load it with `ex.load(NAME)`.")


def _show(name: str, *, json: bool) -> None:
    chosen = card(name)
    if json:
        print_json("examiner.dataset/1", chosen.to_dict())
        return
    for field, value in chosen.to_dict().items():
        lines = value if isinstance(value, list) else [value]
        if isinstance(value, dict):
            lines = [f"{key}: {meaning}" for key, meaning in value.items()]
        print_line(f"{field}:")
        for line in lines:
            print_line(f"  {printable(line if isinstance(line, str) else str(line), 2_000)}")
