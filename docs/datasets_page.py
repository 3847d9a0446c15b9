"""Write `datasets.md` from the cards of the bundled data sets: `python docs/datasets_page.py`."""

from __future__ import annotations

from pathlib import Path

import examiner as ex

INTRODUCTION = """\
# Data sets

<!-- Written by docs/datasets_page.py from the cards; edit src/examiner/datasets/cards instead. -->

```console
$ examiner datasets
$ examiner datasets swebench-verified
```

These data sets come with the package. Each has a card with its source, protocol, changes, warnings,
columns and licence:
`examiner datasets NAME` prints it, and `ex.datasets.card(NAME)` returns it.

| name | returns | year | contents |
|---|---|---|---|
"""

CLOSING = """\

`Results` can be examined as they are: `examiner report NAME`. `Scales` are attached to results:
`--scales NAME`, or `results.with_scales(ex.load(NAME))`. A `PublishedTable` is a table of a paper as it was
printed, to compare your own figures with. A `Classification` describes tasks by features.
"""


def page() -> str:
    """Return the whole page.

    >>> page().startswith("# Data sets")
    True
    """
    cards = [ex.datasets.card(name) for name in ex.datasets.DATASETS]
    rows = [
        f"| `{card.name}` | `{card.returns}` | {card.year} | {card.title} |\n" for card in cards
    ]
    return INTRODUCTION + "".join(rows) + CLOSING


if __name__ == "__main__":
    (Path(__file__).parent / "datasets.md").write_text(page(), encoding="utf-8")
