"""The floor of every measurement of games: the emulator alone, fed with actions drawn beforehand."""

from __future__ import annotations

import time

import numpy as np

from examiner.arena import Protocol
from examiner.arena.environments.games import ale_package


def new_emulator(game: str, seed: int, *, averaging: bool = False):
    """Return a console with its own sticky actions, a game in it, and colours averaged or not."""
    ale = ale_package()
    emulator = ale.ALEInterface()
    emulator.setInt("random_seed", seed)
    emulator.setFloat("repeat_action_probability", 0.25)
    emulator.setInt("frame_skip", 1)
    emulator.setBool("color_averaging", averaging)
    emulator.loadROM(ale.roms.get_rom_path(game))
    emulator.reset_game()
    return emulator


def bare_frames_a_second(game: str, frames: int, seed: int) -> float:
    """Return the frames a CPU second of `ALEInterface.act`, each action held for a frame skip."""
    emulator = new_emulator(game, seed)
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
