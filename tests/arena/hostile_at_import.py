"""A module that changes numpy when it is imported."""

import numpy as np

np.hostile = True  # type: ignore[attr-defined]
