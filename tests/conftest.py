"""How the tests run: hypothesis without deadlines, since machines are shared and noisy."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A section of a report that fails is an error of ours: no test may take the page for a whole one.
os.environ["EXAMINER_RAISE_ERRORS"] = "1"

settings.register_profile(
    "quick",
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,  # what lands is judged on the same examples every time
)
settings.register_profile("usual", settings.get_profile("quick"), max_examples=60)
settings.register_profile(
    "thorough", max_examples=500, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

ROOT = Path(__file__).parents[1]
OUTPUTS = {"build", "dist", "site", "report.html"}
"""What `make` leaves in the checkout; hidden files are caches."""


@pytest.fixture(scope="session", autouse=True)
def _nothing_is_written_to_the_checkout() -> Iterator[None]:
    """Fail at the end of a session that left a file in the root of the checkout."""
    before = {path.name for path in ROOT.iterdir()}
    yield
    after = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    strays = sorted(after - before - OUTPUTS)
    assert not strays, f"tests wrote {', '.join(strays)} to the checkout; write to tmp_path instead"
