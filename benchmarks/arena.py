"""Claim: the random agent plays at least 85 % as many frames a CPU second as bare `ALEInterface.act`.

Bare means: the emulator's own sticky actions, one call of `act` a frame with an action drawn beforehand, a
reset at game over, and nothing else. Ours is a whole job: protocol, agent, episodes. They take turns in one
process, each turn of ours between two of the bare emulator, since the load of a machine changes all the
time. With --looking also the random agent made to look at each kind of observation, which merges screens.
Run: python benchmarks/arena.py speed [--turns 9] [--frames 10000] [--looking]
"""

from __future__ import annotations

import argparse
import statistics
import time

from bare_emulator import bare_frames_a_second
from examiner.arena import Job, Playing

GAMES = ("asterix", "pong", "space_invaders", "seaquest", "beam_rider", "breakout", "freeway")


class Looking:
    """The random agent, made to look."""

    def begin(self, task, rng):
        self._draw, self._rng = task.draw, rng

    def act(self, observation):
        return self._draw(self._rng)


def our_frames_a_second(game: str, frames: int, seed: int, looking: str | None = None) -> float:
    entry = "random" if looking is None else f"{__name__}:Looking"
    job = Job("random", entry, game=game, seed=seed, frames=frames, observation=looking or "raw")
    playing = Playing(job)
    begun, played = time.process_time(), 0
    for episode in playing:
        played = episode.frames
    return played / (time.process_time() - begun)


def measure_speed(turns: int, frames: int, looking: bool) -> None:
    seen = ("raw", "dqn84x4", "ram") if looking else ()
    print(
        "frames a CPU second of the bare emulator, and others as a share of it; middle of the turns"
    )
    print(f"{'game':<16}{'bare':>9}" + "".join(f"{name:>9}" for name in ("random", *seen)))
    worst = 1.0
    for game in GAMES:
        rows = []
        before = bare_frames_a_second(game, frames, 0)
        for seed in range(turns):
            ours = [our_frames_a_second(game, frames, seed, one) for one in (None, *seen)]
            after = bare_frames_a_second(game, frames, seed + 1)
            bare = (before + after) / 2  # what the machine gave just before and just after
            rows.append([bare, *(one / bare for one in ours)])
            before = after
        middle = [statistics.median(column) for column in zip(*rows, strict=True)]
        worst = min(worst, middle[1])
        shares = "".join(f"{share:>9.0%}" for share in middle[1:])
        print(f"{game:<16}{middle[0]:>9,.0f}{shares}", flush=True)
    verdict = "holds" if worst >= 0.85 else "FAILS"
    print(f"worst game: {worst:.0%} of bare; claimed: at least 85 %: {verdict}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["speed"])
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--frames", type=int, default=10_000)
    parser.add_argument("--looking", action="store_true")
    options = parser.parse_args()
    measure_speed(options.turns, options.frames, options.looking)


if __name__ == "__main__":
    main()
