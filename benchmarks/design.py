"""What a designed task adds beyond the present ones on fresh seeds, next to random variants: two suites.

Plays the bundled plans `design-gymnasium` and `design-atari` (or others) in this process, which is quicker
than a process per play where plays are short and agents are our own, and prints the answers. The budget of
plays, runs and the seed can be raised; every play is kept in the folder, and the same command goes on.
Run: python benchmarks/design.py FOLDER [--plans design-gymnasium design-atari] [--plays N] [--runs N]
     [--confirming-runs N] [--random-variants N] [--seed 0]
"""

from __future__ import annotations

import argparse
from collections import deque
from dataclasses import replace
from pathlib import Path
from typing import Any

from examiner.arena import design, perform_job, plan
from examiner.workers import Crew
from examiner.workers.crew import Event


class InThisProcess(Crew):
    """Performs one job after the other here: no job is clean, and none can be ended early."""

    def __init__(self) -> None:
        super().__init__()
        self._events: deque[Event] = deque()

    def size(self) -> int:
        return 1

    def start(self, ticket: int, argument: Any) -> None:
        self.running[ticket] = argument
        said = (Event(ticket, "heard", value) for value in perform_job(argument))
        self._events += [Event(ticket, "begun"), *said, Event(ticket, "done")]

    def events(self, seconds: float) -> list[Event]:
        events = list(self._events)
        self._events.clear()
        self.running.clear()
        return events

    def end(self, running: Any) -> None:
        return


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("--plans", nargs="+", default=["design-gymnasium", "design-atari"])
    options.add_argument("--seed", type=int, default=0)
    for name in ("plays", "runs", "confirming-runs", "random-variants"):
        options.add_argument(f"--{name}", type=int, default=None)
    given = vars(options.parse_args())
    changed = ("plays", "runs", "confirming_runs", "random_variants")
    for name in given["plans"]:
        planned = plan(name)
        changes = {key: given[key] for key in changed if given[key] is not None}
        planned = replace(planned, design=replace(planned.design, **changes))
        answer = design(planned, given["folder"] / name, rng=given["seed"], workers=InThisProcess)
        print(name, answer, *answer.notes, sep="\n", flush=True)
        for table in ("advantages", "confirmed", "searched"):
            print(getattr(answer, table), flush=True)


if __name__ == "__main__":
    main()
