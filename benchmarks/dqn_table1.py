"""DQN's cells of the data set atari-table1: the five training games at a frame skip of 4, on a GPU.

Needs `pip install 'examiner[atari,dqn]'`, and a graphics processor to be of use. Jobs go into a ledger,
which resumes, one process a job; run it twice, with `--sticky 0` and 0.25. On one H200 ten jobs at once
made 1,190 frames a second each with CUDA's multi-process service (`nvidia-cuda-mps-control -d`), and
twenty without it 312: processes that take turns on the card wait for each other (`dqn_speed.py`).
Settings are those of `dqn_curve.py`, for a small budget.
Run: python benchmarks/dqn_table1.py OUT.sqlite [--sticky 0.25] [--frames 1000000] [--seeds 0 …]
     [--workers 5] [--device cuda]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from dqn_curve import SETTINGS
from examiner.arena import TRAINING_GAMES, Job, protocol, run


def jobs(sticky: float, frames: int, seeds: Sequence[int], device: str) -> list[Job]:
    chosen = protocol(
        "machado-2018",
        frame_skip=4,
        sticky_probability=sticky,
        training_frames=1_000_000,
        report_shares=(1.0,),
    )
    settings = SETTINGS | {"device": device}
    return [
        Job("dqn", "dqn", settings, "dqn84x4", game=game, seed=seed, protocol=chosen, frames=frames)
        for seed in seeds
        for game in TRAINING_GAMES
    ]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("ledger", type=Path)
    options.add_argument("--sticky", type=float, default=0.25)
    options.add_argument("--frames", type=int, default=1_000_000)
    options.add_argument("--seeds", type=int, nargs="+", default=[0])
    options.add_argument("--workers", type=int, default=5)
    options.add_argument("--device", default="cuda")
    given = options.parse_args()
    todo = jobs(given.sticky, given.frames, given.seeds, given.device)
    print(run(todo, given.ledger, workers=given.workers))


if __name__ == "__main__":
    main()
