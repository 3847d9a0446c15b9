"""Returns brought to one scale: games count in ones or in thousands, exploration does not."""

from __future__ import annotations

import math


class Returns:
    """The least and the greatest return met in a search.

    >>> returns = Returns()
    >>> for one in (10.0, 30.0):
    ...     returns.meet(one)
    >>> returns.share(15.0)
    0.25
    """

    def __init__(self) -> None:
        self._least, self._greatest = math.inf, -math.inf

    def meet(self, value: float) -> None:
        """Take note of a return."""
        self._least, self._greatest = min(self._least, value), max(self._greatest, value)

    def share(self, value: float) -> float:
        """Return where a return lies between the least (0) and the greatest (1)."""
        spread = self._greatest - self._least
        return (value - self._least) / spread if spread > 0.0 else 0.0
