"""Results that reports are made of, among them names that would like to be something else."""

from __future__ import annotations

import numpy as np
import pytest

import examiner as ex
from examiner.reporting import Report
from examiner.results import Results, Scales, TaskScale

HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=document.title='pwned'>",
    "</script><script>document.title='pwned'</script>",
    "\"><svg onload=document.title='pwned'>",
    "'\"&amp;",
    "{{ 7*7 }}{% raw %}",
    "%{z} %{customdata[0]}",
    "$x^2$",
    "مرحبا بالعالم",
    "\u202enoisreveR",
    "🎮",
    "x" * 10_000,
    "y" * 5_000 + "1",
    "y" * 5_000 + "2",
    "2020-01-01",
    "1e5",
    "nan",
    "<b>bold</b><br><a href='https://example.invalid/'>here</a>",
    "two\nlines",
    "\u2028\u2029",
    "__proto__",
    "<!--",
    " ",
)


@pytest.fixture(scope="session")
def hostile() -> Results:
    """Every hostile name as an agent and as a task; a tenth of the cells is missing."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(len(HOSTILE), len(HOSTILE))) * 10
    values[rng.random(values.shape) < 0.1] = np.nan
    scales = Scales(
        TaskScale(name, random=0.0, reference=5.0, source=HOSTILE[0]) for name in HOSTILE
    )
    return Results.from_numpy(values, agents=HOSTILE, tasks=HOSTILE, scales=scales)


@pytest.fixture(scope="session")
def hostile_report(hostile: Results) -> Report:
    """The page of it, made once: it takes seconds."""
    return ex.report(hostile, title=hostile.agents[0])


@pytest.fixture
def scaled() -> Results:
    """Three agents on four tasks with human scales; `late` was not observed on one task."""
    values = np.array([[2.0, 0.5, 3.0, 0.1], [1.0, 0.9, 1.5, 0.2], [4.0, 0.1, np.nan, 0.0]])
    scales = Scales(
        TaskScale(name, random=0.0, reference=10.0, source="a study") for name in "tuvw"
    )
    return Results.from_numpy(
        values * 10, agents=["best", "even", "late"], tasks="tuvw", scales=scales
    )
