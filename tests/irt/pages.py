"""What pages about papers say: their text, and numbers as they are written there."""

from __future__ import annotations

from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def text_of(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def said(value: float, digits: int = 2) -> str:
    return f"{value:.{digits}f}".replace("-", "−")
