"""Claim: planners simulate at least 85 % as many frames a CPU second as bare `ALEInterface.act` plays.

Bare means: the emulator's own sticky actions, one call of `act` a frame with actions drawn beforehand, a
reset at game over, and nothing else. Ours is all that a planner does to decide: simulating, storing and
restoring states, novelty, trees, sequences. Both run in turns in one process, so that the load of the
machine meets both; the middle ratio of the turns counts.
Run: python benchmarks/agents.py planners [--turns 3] [--frames 20000] [--hold 1] [--games asterix,pong]
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np

from examiner.arena import AGENTS, Job, Playing, Protocol
from examiner.arena.extras import ale_package

GAMES = ("asterix", "pong", "space_invaders", "seaquest", "freeway")
PLANNERS = [name for name, made in AGENTS.items() if getattr(made, "plans", False)]
BUDGET = 1_000


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


def simulated_frames_a_second(agent: str, game: str, frames: int, seed: int, hold: int) -> float:
    all_actions_once = 18 * Protocol().frame_skip
    a_decision = all_actions_once if agent == "one-step-lookahead" else BUDGET
    decisions = max(1, frames // a_decision)
    protocol = Protocol(max_episode_frames=decisions * hold * Protocol().frame_skip)
    settings = {"budget": BUDGET * hold, "hold": hold}
    job = Job(
        agent,
        agent,
        settings,
        observation="ram",
        game=game,
        seed=seed,
        protocol=protocol,
        episodes=1,
    )
    playing = Playing.begin(job)
    planning = playing._agent = Timed(playing._agent)
    next(playing)
    return planning.simulated / planning.seconds


class Timed:
    """A planner whose decisions are timed."""

    def __init__(self, agent):
        self._agent, self.seconds, self.simulated = agent, 0.0, 0

    def begin(self, task, rng):
        self._model = task.model
        self._agent.begin(task, rng)

    def act(self, observation):
        frames, begun = self._model.frames, time.process_time()
        action = self._agent.act(observation)
        self.seconds += time.process_time() - begun
        self.simulated += self._model.frames - frames
        return action

    def __getattr__(self, name):
        return getattr(self._agent, name)


def measure_planners(games: list[str], turns: int, frames: int, hold: int) -> None:
    print("frames a CPU second, middle of the turns; simulated ÷ bare, middle of the turns")
    print(f"{'game':<16}{'agent':<22}{'bare':>9}{'simulated':>11}{'ratio':>8}")
    ratios = {}
    for game in games:
        for agent in PLANNERS:
            rows = []
            for seed in range(turns):
                bare = bare_frames_a_second(game, frames, seed)
                ours = simulated_frames_a_second(agent, game, frames, seed, hold)
                rows.append((bare, ours, ours / bare))
            middle = [statistics.median(column) for column in zip(*rows, strict=True)]
            ratios[agent, game] = middle[2]
            numbers = f"{middle[0]:>9,.0f}{middle[1]:>11,.0f}{middle[2]:>8.0%}"
            print(f"{game:<16}{agent:<22}{numbers}", flush=True)
    (agent, game), worst = min(ratios.items(), key=lambda one: one[1])
    print(
        f"worst: {agent} on {game}, {worst:.0%} of bare; claimed: at least 85 %: "
        f"{'holds' if worst >= 0.85 else 'FAILS'}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["planners"])
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--frames", type=int, default=20_000)
    parser.add_argument("--hold", type=int, default=1)
    parser.add_argument("--games", default=",".join(GAMES))
    options = parser.parse_args()
    measure_planners(options.games.split(","), options.turns, options.frames, options.hold)


if __name__ == "__main__":
    main()
