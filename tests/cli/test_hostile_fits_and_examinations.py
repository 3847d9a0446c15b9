"""Options, files and names that nobody means well: one sentence, exit code 2, no control characters."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest


def table(path: Path, agents: int = 12, tasks: int = 6, prefix: str = "t") -> Path:
    rng = np.random.default_rng(4)
    wins = rng.random((agents, tasks)) < 1 / (1 + np.exp(-rng.normal(size=(agents, 1))))
    lines = [",".join(["agent", *(f"{prefix}{n}" for n in range(tasks))])]
    lines += [",".join([f"a{n}", *(f"{int(x)}" for x in row)]) for n, row in enumerate(wins)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("bins", ["nan", "inf", "2.5", "two"])
def test_bins_that_are_no_whole_number_are_refused_in_a_sentence(examiner, tmp_path, bins):
    done = examiner("fit", table(tmp_path / "wins.csv"), "--bins", bins, "--json")
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith(f"examiner: The bins are '{bins}'")
