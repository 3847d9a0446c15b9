"""plotly.js, the library that draws figures in a browser, as text to put into a page."""

from __future__ import annotations


def plotly_js() -> str:
    """Return plotly.js as the installed plotly package ships it.

    >>> "plotly.js" in plotly_js()[:200]
    True
    """
    from plotly.offline import get_plotlyjs  # a tenth of a second that only a page needs

    # Browsers read \r\n as \n: only with the same line ends do they find the same checksum.
    return str(get_plotlyjs()).replace("\r\n", "\n")
