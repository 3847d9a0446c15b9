"""Claim: `import examiner` costs at most 0.3 s of CPU and loads none of the heavy libraries.

The peers' imports are shown beside it where they are installed.
Run: python benchmarks/startup.py
"""

from __future__ import annotations

import resource
import subprocess
import sys

HEAVY = ("plotly", "torch", "numba", "ale_py", "ray")


def cpu_seconds(code: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        return float("nan")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    print("CPU seconds, least of five fresh processes")
    for name, code in {
        "python alone": "pass",
        "import examiner": "import examiner",
        "import numpy, polars": "import numpy, polars",
        "examiner, then ex.Results": "import examiner as ex; ex.Results",
        "examiner, then ex.report": "import examiner as ex; ex.report",
        "import rliable (peer)": "import rliable.library",
        "import girth (peer)": "import girth",
    }.items():
        print(f"{name:28} {min(cpu_seconds(code) for _ in range(5)):6.3f}")
    listing = subprocess.run(
        [sys.executable, "-c", "import sys, examiner; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    loaded = sorted(set(HEAVY).intersection(listing))
    print("heavy libraries loaded by `import examiner`:", ", ".join(loaded) or "none")


if __name__ == "__main__":
    main()
