"""Claim: `import examiner` costs at most 0.3 s of CPU and loads none of the heavy libraries.

And: `examiner --help` costs at most 0.35 s, `examiner describe` of a bundled table at most 0.7 s. Peers'
imports are shown beside where they are installed.
Run: python benchmarks/startup.py
"""

from __future__ import annotations

import resource
import subprocess
import sys

HEAVY = ("plotly", "torch", "numba", "ale_py", "ray")
COMMANDS = {
    "examiner --help": (("--help",), 0.35),
    "examiner describe": (("describe", "atari-dqn-family"), 0.7),
    "examiner fit --help": (("fit", "--help"), None),
    "examiner scores": (("scores", "atari-dqn-family", "--unit", "tasks", "--reps", "50"), None),
}


def cpu_seconds(*arguments: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, *arguments], capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        return float("nan")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    print("CPU seconds, least of five fresh processes, of commands least of seven")
    for name, code in {
        "python alone": "pass",
        "import examiner": "import examiner",
        "import numpy, polars": "import numpy, polars",
        "examiner, then ex.Results": "import examiner as ex; ex.Results",
        "examiner, then ex.report": "import examiner as ex; ex.report",
        "import rliable (peer)": "import rliable.library",
        "import girth (peer)": "import girth",
    }.items():
        print(f"{name:28} {min(cpu_seconds('-c', code) for _ in range(5)):6.3f}")
    for name, (words, most) in COMMANDS.items():
        least = min(cpu_seconds("-m", "examiner", *words) for _ in range(7))
        wanted = "" if most is None else f"   (at most {most})"
        print(f"{name:28} {least:6.3f}{wanted}")
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
