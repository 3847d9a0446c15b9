"""Docstrings as Markdown: doctests and equations become code blocks in the API reference.

Our docstrings are written for `help()` and for pytest. Left alone, Markdown reads `>>>` as a quotation,
leaves `.. math::` as it is, and takes shapes such as [names][columns] for links.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_EQUATION = re.compile(r"^( *)\.\. math::[ \t]*(.*(?:\n+(?:\1[ ]+.*))*)$", re.MULTILINE)
_CODE = re.compile(r"(^```.*?^```$|`[^`\n]*`)", re.MULTILINE | re.DOTALL)
_EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)


class MarkdownDocstrings(griffe.Extension):
    """Rewrite each docstring once, when its object has been read."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:  # Any: griffe's context
        """Fence what Markdown would misread."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text: str) -> str:
    """Put doctests and equations into fences, and take brackets for brackets.

    >>> as_markdown("Shape [names][columns].")
    'Shape \\\\[names]\\\\[columns].'
    """
    text = _EQUATION.sub(lambda found: f"```latex\n{_joined(found[2])}\n```", text)
    text = _EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", text)
    parts = _CODE.split(text)  # every second part is code
    return "".join(
        part if place % 2 else part.replace("[", r"\[") for place, part in enumerate(parts)
    )


def _joined(equation: str) -> str:
    return "\n".join(line.strip() for line in equation.splitlines() if line.strip())
