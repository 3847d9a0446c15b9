"""What polars raises, apart from all else: naming its errors loads polars, which starts threads.

Modules that workers import before they fork take these errors inside their functions.
"""

import polars as pl

PROBLEMS = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
"""What polars raises on what it cannot parse or write; a panic is not an Exception."""
