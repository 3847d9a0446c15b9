"""Atari games on a console: the emulator set up explicitly, its noise, its clock and its screens."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from examiner.arena.contract import Environment, ForwardModel, Seen
from examiner.arena.environments.games import (
    ale_package,
    chosen_variant,
    playable_game,
    variants_of,
)
from examiner.arena.environments.screens import OBSERVATIONS, STACK, Merger, Screen, shrink
from examiner.arena.protocol import START, Protocol
from examiner.messages import InputError, counted, listed, shorten
from examiner.validation import check_known

NO_OP = 0

# In these games a state of ale-py lacks something that only a reset sets and the first frame changes:
# their start is reached by a reset. Resetting all others leaves traces of the last game in fifteen of them
# (assault, beam_rider, …): their start is reached by restoring it. Checked for ale-py 0.12.1.
_START_BY_RESET = ("qbert", "tetris")


@dataclass(frozen=True, slots=True)
class ConsoleState:
    """Everything that decides what happens next, but for the random numbers."""

    system: Any  # an ale_py.ALEState, which comes only with an extra
    previous: Any  # the action that sticky actions repeat
    frames: int
    over: bool
    truncated: bool
    screens: tuple[Screen, ...]
    shown: Screen | None  # the last screen, where the next action is merged with it


class Console:
    """One game, played frame by frame as the protocol says.

    The emulator's own sticky actions, frame skip and frame cap are set to nothing, because they can
    be set only while a game is loaded (0.1 s) and their state is neither visible nor stored: the
    console does all three, per frame, with random numbers that belong to the episode.
    """

    def __init__(
        self,
        game: str,
        *,
        mode: int | None,
        difficulty: int | None,
        protocol: Protocol,
        observation: str,
    ) -> None:
        self.game, self.protocol, self.observation = game, protocol, observation
        self.emulator = emulator = _emulator(game)
        self.variant = chosen_variant(game, variants_of(emulator), mode, difficulty)
        emulator.setMode(self.variant.mode)
        emulator.setDifficulty(self.variant.difficulty)
        emulator.reset_game()
        full = protocol.action_set == "full"
        self.actions: tuple[Any, ...] = tuple(
            emulator.getLegalActionSet() if full else emulator.getMinimalActionSet()
        )
        self.watched = False  # whether screens are made
        self.watch(True)
        self.over, self.truncated, self.frames = False, False, 0
        self.previous = self.actions[NO_OP]
        rows, columns = emulator.getScreenDims()
        self._merger = Merger(protocol.screens, rows=rows)
        self._earlier = np.empty((rows, columns), dtype=np.uint8)
        self._later = np.empty_like(self._earlier)
        self._screens: tuple[Screen, ...] = ()
        emulator.getScreen(self._later)
        self._first = self._later.copy()
        self._start = emulator.cloneState()
        self._fresh = True  # no frame was played since the last reset

    @property
    def lives(self) -> int:
        """Lives left, where the game has any."""
        return int(self.emulator.lives())

    def watch(self, watched: bool) -> None:
        """Say whether anybody looks at screens: whoever is blind or sees the memory does not."""
        self.watched = watched and self.observation != "ram"

    def start(self) -> None:
        """Put the game back to its start, whatever was played before."""
        self._go_to(self._start, frames=0)
        self.previous = self.actions[NO_OP]
        self.over, self.truncated, self.frames = False, False, 0
        self._earlier[:] = self._first
        self._later[:] = self._first
        self._screens = ()
        if self.watched:
            self._look()

    def act(self, action: int, rng: np.random.Generator) -> float:
        """Take an action for the frames it lasts, each of them sticky; return the sum of rewards."""
        last = self._lasting(rng) - 1
        chosen, reward = self.actions[action], 0.0
        for number in range(last + 1):
            if self.watched and number == last:
                self._keep_earlier(only=last == 0)
            reward += self.frame(chosen, rng)
            if self.over:
                break
        if self.watched:
            self.emulator.getScreen(self._later)
            self._look()
        return reward

    def _lasting(self, rng: np.random.Generator) -> int:
        """How many frames the next action lasts: always the same, or drawn (Brockman et al. 2016)."""
        least, most = self.protocol.frame_skip, self.protocol.max_frame_skip
        return least if most is None else int(rng.integers(least, most + 1))

    def _keep_earlier(self, *, only: bool) -> None:
        """Keep the screen before the last frame of an action.

        With one frame an action that is the last of the action before; the emulator does not know it
        after a state was restored.
        """
        if only:
            self._earlier[:] = self._later
        else:
            self.emulator.getScreen(self._earlier)

    def frame(self, action: Any, rng: np.random.Generator) -> float:
        r"""Play one frame of an action; return the reward.

        .. math:: P(\text{previous action again}) = \varsigma

        at every frame, also between skipped ones (papers/001, section 4.2): once the action was
        executed, it is itself the previous one.
        """
        sticky = self.protocol.sticky_probability
        if not sticky or rng.random() >= sticky:
            self.previous = action
        reward = self.emulator.act(self.previous)
        self._fresh = False
        self.frames += 1
        if self.emulator.game_over():
            self.over = True
        elif self.frames == self.protocol.max_episode_frames:
            self.over = self.truncated = True
        return float(reward)

    def idle(self, frames: int, rng: np.random.Generator) -> None:
        """Do nothing for some frames."""
        for _ in range(frames):
            if not self.over:
                self.frame(self.actions[NO_OP], rng)
        if frames:
            self._arrive()

    def follow(self, recorded: Sequence[str]) -> None:
        """Play recorded actions, one a frame, as they were: without noise."""
        named = {action.name: action for action in self.emulator.getLegalActionSet()}
        for name in recorded:
            self.previous = named[name]
            self.emulator.act(self.previous)
            self._fresh = False
            self.frames += 1
            if self.emulator.game_over() or self.frames == self.protocol.max_episode_frames:
                raise InputError(
                    f"A recorded start of {self.game!r} ends the game after {self.frames:,} frames. "
                    f"Cut it before."
                )
        if recorded:
            self._arrive()

    def _arrive(self) -> None:
        """See where a start has led to, and nothing before it."""
        if self.watched:
            self.emulator.getScreen(self._later)
            self._earlier[:] = self._later
            self._screens = ()
            self._look()

    def observe(self) -> Seen:
        """Return what an agent sees: memory, merged screen, or the last four of them shrunk."""
        if self.observation == "ram":
            return np.asarray(self.emulator.getRAM())
        if not self._screens:
            raise InputError(
                "Nothing was seen in this state. Look at a state before it is stored, or advance first."
            )
        if self.observation == "raw":
            return self._screens[-1]
        return np.stack(self._screens)

    def clone(self) -> ConsoleState:
        """Return the state of the game."""
        merged = self.watched and self.protocol.frame_skip == 1
        return ConsoleState(
            self.emulator.cloneState(),
            self.previous,
            self.frames,
            self.over,
            self.truncated,
            self._screens,
            self._later.copy() if merged else None,
        )

    def restore(self, state: ConsoleState, rng: np.random.Generator) -> None:
        """Go back to a state, of this console or of another with the same game."""
        self._go_to(state.system, state.frames)
        self.previous, self.frames = state.previous, state.frames
        self.over, self.truncated, self._screens = state.over, state.truncated, state.screens
        if state.shown is not None:
            self._later[:] = state.shown

    def _go_to(self, system: Any, frames: int) -> None:
        if frames == 0 and self.game in _START_BY_RESET:
            self.emulator.reset_game()
            self._fresh = True
            return
        if self._fresh:
            # Restoring right after a reset what was stored in mid-game damages memory in tetris.
            self.emulator.act(self.actions[NO_OP])
            self._fresh = False
        self.emulator.restoreState(system)

    def _look(self) -> None:
        if self.observation == "raw":
            self._screens = (self._merger.colours(self._earlier, self._later),)
        elif self.observation == "dqn84x4":
            small = shrink(self._merger.greys(self._earlier, self._later))
            self._screens = (*(self._screens or (small,) * STACK)[1:], small)


class AtariEnvironment(Environment):
    """A game as the protocol wants it played.

    >>> environment = AtariEnvironment("pong", protocol=Protocol())
    >>> environment.reset(np.random.default_rng(0))
    >>> environment.step(0), environment.frames, environment.observe().shape
    (0.0, 5, (210, 160))
    >>> model = environment.model(np.random.default_rng(1))
    >>> model.restore(model.root())
    >>> model.advance(1), model.frames, environment.frames
    (0.0, 5, 5)
    """

    world: Console

    def __init__(
        self,
        game: str,
        *,
        protocol: Protocol,
        mode: int | None = None,
        difficulty: int | None = None,
        observation: str = "raw",
    ) -> None:
        check_known("observation", observation, OBSERVATIONS)
        self._new_console = partial(
            Console,
            playable_game(game),
            mode=protocol.mode if mode is None else mode,
            difficulty=protocol.difficulty if difficulty is None else difficulty,
            protocol=protocol,
            observation=observation,
        )
        super().__init__(self._new_console())
        self.game, self.protocol = self.world.game, protocol
        self.mode, self.difficulty = self.world.variant
        self._imagined: Console | None = None
        self.action_names = tuple(action.name for action in self.world.actions)
        legal = [action.name for action in self.world.emulator.getLegalActionSet()]
        self._starts = recorded_starts(protocol.starts, self.game, legal)
        self.world.start()
        self.observation_shape = self.observe().shape

    def watch(self, watched: bool) -> None:
        """Say whether anybody looks: for a blind agent no screens are merged."""
        self.world.watch(watched)

    def reset(self, rng: np.random.Generator) -> None:
        """Begin an episode whose noise comes from the generator."""
        self._rng = rng
        self.world.start()
        if self._starts:  # as in Nair et al. (2015): anywhere in somebody's game
            recorded = self._starts[int(rng.integers(len(self._starts)))]
            self.world.follow(recorded[: int(rng.integers(len(recorded) + 1))])
        most = self.protocol.max_start_no_ops
        if most:
            self.world.idle(int(rng.integers(most + 1)), rng)

    def model(self, rng: np.random.Generator) -> ForwardModel:
        """Return a forward model on a second console."""
        if self._imagined is None:
            self._imagined = self._new_console()
        self._imagined.watched = self.world.watched  # the blind do not look ahead either
        return ForwardModel(self.world, self._imagined, rng)


def _emulator(game: str) -> Any:  # ale_py comes only with an extra
    ale = ale_package()
    emulator = ale.ALEInterface()
    emulator.setInt("random_seed", 0)
    emulator.setFloat("repeat_action_probability", 0.0)
    emulator.setInt("frame_skip", 1)
    emulator.setInt("max_num_frames_per_episode", 0)
    emulator.setBool("color_averaging", False)
    emulator.setBool("truncate_on_loss_of_life", False)
    emulator.setInt("reward_min", -(2**31))  # rewards as the game gives them
    emulator.setInt("reward_max", 2**31 - 1)
    emulator.loadROM(ale.roms.get_rom_path(game))
    return emulator


_PART = re.compile(r"([A-Z]+)(?:\*(\d+))?")


def recorded_starts(
    starts: Sequence[str], game: str, actions: Collection[str]
) -> tuple[tuple[str, ...], ...]:
    """Return the starts of a game as names of actions, one a frame.

    >>> recorded_starts(["Pong: NOOP*2 FIRE", "breakout: FIRE"], "pong", ["NOOP", "FIRE"])
    (('NOOP', 'NOOP', 'FIRE'),)
    """
    names = []
    for start in starts:
        name, _, played = start.partition(":")
        if playable_game(name.strip()) == game:
            names.append(_frames(played, actions, start))
    if starts and not names:
        raise InputError(
            f"The protocol has {counted(len(starts), 'recorded start')}, none of {game!r}. "
            f"Record one of it: {START}."
        )
    return tuple(names)


def _frames(played: str, actions: Collection[str], start: str) -> tuple[str, ...]:
    frames: list[str] = []
    for action, times in _PART.findall(played):
        if action not in actions:
            raise InputError(
                f"The start {shorten(start, 60)} has the action {action!r}, which the console does "
                f"not know. It knows {listed(sorted(actions), limit=20)}."
            )
        frames += [action] * int(times or 1)
    return tuple(frames)
