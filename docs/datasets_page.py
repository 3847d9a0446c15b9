"""Write `datasets.md` from the cards of the bundled data sets: `python docs/datasets_page.py`."""

from __future__ import annotations

from pathlib import Path

import examiner as ex

INTRODUCTION = """\
# Data sets

<!-- Written by docs/datasets_page.py from the cards; edit src/examiner/datasets/cards instead. -->

These come with the package. Each has a card that says where the figures come from, under which protocol
they were measured, what was changed and what to beware of. `examiner datasets NAME` prints it, and
`ex.datasets.card(NAME)` returns it.

```console
$ examiner datasets
```

| name | returns | year | what |
|---|---|---|---|
"""

OPENING = """\
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
        f"| [`{card.name}`](#{card.name}) | `{card.returns}` | {card.year} | {card.title} |"
        for card in cards
    ]
    sections = [_section(card.name) for card in cards]
    return INTRODUCTION + "\n".join(rows) + "\n\n" + OPENING + "".join(sections)


def _section(name: str) -> str:
    card = ex.datasets.card(name)
    lines = [
        f"\n## {name}\n",
        f"{card.title}. Returns `{card.returns}`.\n",
        f'```python\nimport examiner as ex\n\nprint(ex.load("{name}"))\n```\n',
        f"```text\n{ex.load(name)}\n```\n",
        f"**Source.** {_escaped(card.source)}\n",
        f"**Protocol.** {card.protocol}\n",
    ]
    for title, sentences in (("Notes", card.notes), ("Changed", card.changed)):
        lines += [f"**{title}.**\n", *(f"- {text}" for text in sentences), ""]
    lines += ["| column | meaning |", "|---|---|"]
    lines += [f"| `{column}` | {meaning} |" for column, meaning in card.columns.items()]
    lines.append(f"\n**Licence.** {card.licence}\n")
    return "\n".join(lines)


def _escaped(text: str) -> str:
    return text.replace("*", r"\*")


if __name__ == "__main__":
    (Path(__file__).parent / "datasets.md").write_text(page(), encoding="utf-8")
