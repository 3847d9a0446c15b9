"""Results told: findings, and the page, JSON and terminal that show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from examiner.telling.findings import FINDINGS

if TYPE_CHECKING:
    from examiner.telling.document import Report, report

__all__ = ["FINDINGS", "Report", "report"]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> object:
    """Load the report when it is asked for: commands that tell one finding need no other."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from examiner.telling import document

    return getattr(document, name)
