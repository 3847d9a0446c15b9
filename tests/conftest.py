"""How the tests run: hypothesis without deadlines, since machines are shared and noisy."""

import os

from hypothesis import HealthCheck, settings

# A section of a report that fails is an error of ours: no test may take the page for a whole one.
os.environ["EXAMINER_RAISE_ERRORS"] = "1"

settings.register_profile(
    "quick",
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,  # what lands is judged on the same examples every time
)
settings.register_profile(
    "thorough", max_examples=500, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))
