"""Formats of answers and their tables, each derived by one renderer that is loaded when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from examiner.answers.table import Table


class Rendered:
    """What has tables can be shown and taken along in every format.

    Renderers are in `reporting`, above this package: importing them when called is the one exception to
    the order of packages.
    """

    __slots__ = ()

    def _table(self, name: str | None) -> Table:
        """Return the table of this name, by default the first."""
        raise NotImplementedError

    def to_pandas(self, table: str | None = None) -> Any:  # Any: pandas is optional
        """Return a table as a pandas data frame.

        >>> from examiner.answers import Column, Table
        >>> table = Table.of([Column("task", "name", "Task")], {"task": ["pong"]})
        >>> table.to_pandas()["task"][0]
        'pong'
        """
        return frames().pandas_frame(self._table(table))

    def to_polars(self, table: str | None = None) -> Any:  # Any: polars is loaded when asked for
        """Return a table as a polars data frame.

        >>> from examiner.answers import Column, Table
        >>> table = Table.of([Column("task", "name", "Task")], {"task": ["pong"]})
        >>> table.to_polars()["task"][0]
        'pong'
        """
        return frames().polars_frame(self._table(table))

    def to_csv(self, table: str | None = None) -> str:
        """Return a table as CSV, with all digits.

        >>> from examiner.answers import Column, Table
        >>> table = Table.of([Column("task", "name", "Task")], {"task": ["pong"]})
        >>> table.to_csv()
        'task\\npong'
        """
        return str(renderers().written_text(self._table(table), "csv"))

    def to_latex(self, table: str | None = None) -> str:
        """Return a table as LaTeX (booktabs).

        >>> from examiner.answers import Column, Table
        >>> table = Table.of([Column("task", "name", "Task")], {"task": ["pong"]})
        >>> "toprule" in table.to_latex()
        True
        """
        return str(renderers().written_text(self._table(table), "latex"))

    def to_markdown(self, table: str | None = None) -> str:
        """Return a table as Markdown.

        >>> from examiner.answers import Column, Table
        >>> table = Table.of([Column("task", "name", "Task")], {"task": ["pong"]})
        >>> table.to_markdown()
        '| task |\\n|:--|\\n| pong |'
        """
        return str(renderers().written_text(self._table(table), "markdown"))

    def __repr__(self) -> str:
        return str(renderers().short_text(self))

    def _repr_html_(self) -> str:
        return str(renderers().notebook_html(self))


def renderers() -> Any:  # Any: a module above this package
    """Return the renderers, which are above this package."""
    return import_module("examiner.reporting.renderers")


def frames() -> Any:  # Any: a module that loads libraries of data frames when called
    """Return the conversions to data frames."""
    return import_module("examiner.answers.frames")
