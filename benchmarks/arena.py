"""Claim: the random agent plays at least 85 % as many frames a CPU second as bare `ALEInterface.act`.

Bare means: the emulator's own sticky actions, one call of `act` a frame with an action drawn beforehand, a
reset at game over, and nothing else. Ours is a whole job: protocol, agent, episodes. Both play in turns in
one process, so that the load of the machine meets both; the middle ratio counts. The last three columns are
the random agent made to look, which merges screens.
Run: python benchmarks/arena.py speed [--turns 5] [--frames 20000]
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np

from examiner.arena import Job, Playing, Protocol
from examiner.arena.extras import ale_package

GAMES = ("asterix", "pong", "space_invaders", "seaquest", "beam_rider", "breakout", "freeway")


class Looking:
    """The random agent, made to look."""

    def begin(self, task, rng):
        self._draw, self._rng = task.draw, rng

    def act(self, observation):
        return self._draw(self._rng)


def bare_frames_a_second(game: str, frames: int, seed: int) -> float:
    ale = ale_package()
    emulator = ale.ALEInterface()
    emulator.setInt("random_seed", seed)
    emulator.setFloat("repeat_action_probability", 0.25)
    emulator.setInt("frame_skip", 1)
    emulator.loadROM(ale.roms.get_rom_path(game))
    emulator.reset_game()
    skip = Protocol().frame_skip
    legal = emulator.getLegalActionSet()
    drawn = np.random.default_rng(seed).integers(len(legal), size=frames // skip)
    actions = [legal[one] for one in np.repeat(drawn, skip).tolist()]
    begun = time.process_time()
    for action in actions:
        emulator.act(action)
        if emulator.game_over():
            emulator.reset_game()
    return len(actions) / (time.process_time() - begun)


def our_frames_a_second(game: str, frames: int, seed: int, looking: str | None = None) -> float:
    entry = "random" if looking is None else f"{__name__}:Looking"
    job = Job("random", entry, game=game, seed=seed, frames=frames, observation=looking or "raw")
    playing = Playing.begin(job)
    begun, played = time.process_time(), 0
    for episode in playing:
        played = episode.frames
    return played / (time.process_time() - begun)


def measure_speed(turns: int, frames: int) -> None:
    print("frames a CPU second, middle of the turns; ours ÷ bare, middle of the turns")
    print(f"{'game':<16}{'bare':>9}{'random':>9}{'ratio':>8}{'raw':>8}{'dqn84x4':>9}{'ram':>8}")
    ratios = []
    for game in GAMES:
        rows = []
        for seed in range(turns):
            bare = bare_frames_a_second(game, frames, seed)
            ours = our_frames_a_second(game, frames, seed)
            seen = [
                our_frames_a_second(game, frames, seed, looking) / bare
                for looking in ("raw", "dqn84x4", "ram")
            ]
            rows.append((bare, ours, ours / bare, *seen))
        middle = [statistics.median(column) for column in zip(*rows, strict=True)]
        ratios.append(middle[2])
        print(
            f"{game:<16}{middle[0]:>9,.0f}{middle[1]:>9,.0f}"
            f"{middle[2]:>8.0%}{middle[3]:>8.0%}{middle[4]:>9.0%}{middle[5]:>8.0%}",
            flush=True,
        )
    worst = min(ratios)
    print(
        f"worst game: {worst:.0%} of bare; claimed: at least 85 %: {'holds' if worst >= 0.85 else 'FAILS'}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["speed"])
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--frames", type=int, default=20_000)
    options = parser.parse_args()
    measure_speed(options.turns, options.frames)


if __name__ == "__main__":
    main()
