"""How DQN learns a game under the protocol of Machado et al. (2018), as a curve: one row an episode.

Needs `pip install 'examiner[atari,dqn]'` (or a checkout with `PYTHONPATH=src`), and a graphics processor
to be of use: about 170 frames a second on a processor core, some thousands with one. Seeds play at the
same time, each in a process of its own; after `--minutes` they stop where they are. Settings are for a
small budget, not the paper's (`docs/agents.md` lists both). The last lines give the mean score of the
first and of the last 20 episodes of every seed, beside the random agent's.
Run: python benchmarks/dqn_curve.py [--game freeway] [--frames 2000000] [--minutes 60] [--seeds 3]
     [--device auto] [--csv dqn_curve.csv]
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
import time
from pathlib import Path

SETTINGS = {
    "optimiser": "adam",
    "learning_rate": 0.0001,
    "batch": 32,
    "memory": 200_000,
    "train_every": 4,
    "target_every": 1_000,
    "random_decisions": 2_000,
    "explore_decisions": 20_000,
    "explore": 0.01,
}
COLUMNS = ("agent", "game", "seed", "episode", "frames", "score", "seconds")


def play(options: argparse.Namespace, agent: str, seed: int, frames: int) -> None:
    from examiner.arena import Job, Playing

    looking = {"settings": SETTINGS | {"device": device(options)}, "observation": "dqn84x4"}
    job = Job(
        agent,
        agent,
        game=options.game,
        seed=seed,
        frames=frames,
        **(looking if agent == "dqn" else {}),
    )
    begun = time.monotonic()
    with part(options, agent, seed).open("w", newline="") as file:
        rows = csv.writer(file)
        for episode in Playing(job):
            seconds = time.monotonic() - begun
            rows.writerow(
                (
                    agent,
                    options.game,
                    seed,
                    episode.number,
                    episode.frames,
                    episode.score,
                    round(seconds, 1),
                )
            )
            file.flush()
            if seconds > 60 * options.minutes:
                break


def device(options: argparse.Namespace) -> str:
    import torch

    if options.device != "auto":
        return options.device
    return "cuda" if torch.cuda.is_available() else "cpu"


def part(options: argparse.Namespace, agent: str, seed: int) -> Path:
    return Path(f"{options.csv}.{agent}-{seed}.part")


def collect(options: argparse.Namespace) -> None:
    played = []
    for agent, seed in [("random", 0), *(("dqn", seed) for seed in range(options.seeds))]:
        path = part(options, agent, seed)
        with path.open(newline="") as file:
            rows = list(csv.reader(file))
        path.unlink()
        played += rows
        scores = [float(row[5]) for row in rows]
        if scores:
            first, last = scores[:20], scores[-20:]
            print(
                f"{agent} seed {seed}: {rows[-1][4]} frames in {rows[-1][6]} s, first 20 episodes "
                f"{sum(first) / len(first):.2f}, last 20 {sum(last) / len(last):.2f}"
            )
    with Path(options.csv).open("w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *played])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--game", default="freeway")
    parser.add_argument("--frames", type=int, default=2_000_000)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--csv", default="dqn_curve.csv")
    parser.add_argument("--only", type=int, help=argparse.SUPPRESS)  # one seed, in this process
    options = parser.parse_args()
    if options.only is not None:
        play(options, "dqn", options.only, options.frames)
        return
    seeds = [
        subprocess.Popen([sys.executable, *sys.argv, "--only", str(seed)])
        for seed in range(options.seeds)
    ]
    play(options, "random", 0, min(options.frames, 100_000))
    codes = [seed.wait() for seed in seeds]
    collect(options)
    sys.exit(max(codes))


if __name__ == "__main__":
    main()
