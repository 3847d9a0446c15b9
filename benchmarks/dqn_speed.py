"""How many frames a second DQN learns from, with one and with many games at once, and where time goes.

Needs `pip install 'examiner[atari,dqn]'`. Each game is a process of its own, as `examiner arena run` plays
them; the five games of Table 1 come in turn. A process first plays `--before` frames, which fill its
memory and warm up the device; then all wait for each other, and the next `--frames` count. "Alone" is one
process timed part by part, the device waited for after each, which costs it some frames. For many
processes on one card start CUDA's multi-process service first (`nvidia-cuda-mps-control -d`); without it
they take turns.
Run: python benchmarks/dqn_speed.py [--games 1,5,10] [--frames 40000] [--before 12000] [--device cuda]
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from dqn_curve import SETTINGS
from examiner.arena import TRAINING_GAMES, Job, Playing, protocol

PARTS = {
    "emulator and screens": ("environment", "step"),
    "stack of screens": ("environment", "observe"),
    "best action": ("network", "best_action"),
    "keeping": ("network", "follow"),
    "drawing a batch": ("drawing", "sample"),
    "training": ("algorithm", "train"),
}


class EnoughError(Exception):
    """So many frames were wanted."""


class Counted:
    """DQN that is told how many frames it played, and is stopped in the midst of an episode."""

    def __init__(self, agent: Any, at: dict[int, Callable[[], None]], skip: int) -> None:
        self._agent, self._at, self._skip, self._frames = agent, at, skip, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._agent, name)

    def act(self, observation: Any) -> int:
        self._frames += self._skip
        for frames in [frames for frames in self._at if frames <= self._frames]:
            self._at.pop(frames)()
        return self._agent.act(observation)


def timed(
    spent: Counter[str], part: str, thing: Any, method: str, wait: Callable[[], None]
) -> None:
    inner = getattr(thing, method)

    def outer(*given: Any, **named: Any) -> Any:
        begun = time.perf_counter()
        found = inner(*given, **named)
        wait()
        spent[part] += time.perf_counter() - begun
        return found

    setattr(thing, method, outer)


def play(number: int, options: argparse.Namespace, together: Any, told: Any, split: bool) -> None:
    """Play one game, and tell how many seconds its counted frames took, and in what."""
    import torch

    wait = torch.cuda.synchronize if options.device.startswith("cuda") else lambda: None
    chosen = protocol("machado-2018", frame_skip=4)
    early = dict.fromkeys(("random_decisions", "explore_decisions"), options.before // 8)
    settings = SETTINGS | early | {"device": options.device}
    game = TRAINING_GAMES[number % len(TRAINING_GAMES)]
    job = Job(
        "dqn", "dqn", settings, "dqn84x4", game=game, seed=number, protocol=chosen, frames=10**9
    )
    playing, spent, begun = Playing(job), Counter(), [0.0]
    agent = playing.agent

    def begin() -> None:
        network = agent._network
        if split:
            of = {
                "environment": playing.environment,
                "network": network,
                "drawing": network._drawing,
                "algorithm": network._algorithm,
            }
            for part, (thing, method) in PARTS.items():
                timed(spent, part, of[thing], method, wait)
        together.wait()
        wait()
        begun[0] = time.perf_counter()

    def end() -> None:
        wait()
        raise EnoughError

    playing.agent = Counted(agent, {options.before: begin, options.before + options.frames: end}, 4)
    try:
        for _ in playing:
            pass
    except EnoughError:
        seconds = time.perf_counter() - begun[0]
    spent["training"] -= spent["drawing a batch"]
    told.put((game, seconds, dict(spent)))


def played(count: int, options: argparse.Namespace, *, split: bool = False) -> list[Any]:
    fresh = multiprocessing.get_context("spawn")
    together, told = fresh.Barrier(count), fresh.Queue()
    given = ((number, options, together, told, split) for number in range(count))
    players = [fresh.Process(target=play, args=arguments) for arguments in given]
    for player in players:
        player.start()
    found = [told.get(timeout=500) for _ in players]
    for player in players:
        player.join()
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--games", default="1,5,10")
    options.add_argument("--frames", type=int, default=40_000)
    options.add_argument("--before", type=int, default=12_000)
    options.add_argument("--device", default="cuda")
    given = options.parse_args()
    for count in map(int, given.games.split(",")):
        each = [given.frames / seconds for _, seconds, _ in played(count, given)]
        least, most, together = min(each), max(each), sum(each)
        print(
            f"{count:3} at once: {least:,.0f} to {most:,.0f} frames/s each, {together:,.0f} together"
        )
    ((game, seconds, spent),) = played(1, given, split=True)
    spent["the rest"] = seconds - sum(spent.values())
    print(f"alone, {game}, timed part by part: {given.frames / seconds:,.0f} frames/s")
    for part, took in sorted(spent.items(), key=lambda found: -found[1]):
        print(
            f"  {part:22} {took / seconds:5.0%}  {1e6 * took * 4 / given.frames:7,.0f} µs a decision"
        )
    print(json.dumps({"seconds": seconds, "parts": spent}))


if __name__ == "__main__":
    main()
