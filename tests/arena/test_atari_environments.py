"""The default Atari environment is the protocol, setting by setting, held against ale-py itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from examiner.arena import PROTOCOLS, Protocol, game_variants, playable_games
from examiner.arena.environments.ale import AtariEnvironment
from examiner.arena.environments.screens import grey
from examiner.messages import InputError

ale_py = pytest.importorskip("ale_py")
QUIET = replace(Protocol(), sticky_probability=0.0, screens="last")


def emulator(game, *, sticky=0.0, seed=0, skip=1, cap=0, averaging=False):
    """An ALEInterface that uses its own settings for everything."""
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    made = ale_py.ALEInterface()
    made.setInt("random_seed", seed)
    made.setFloat("repeat_action_probability", sticky)
    made.setInt("frame_skip", skip)
    made.setInt("max_num_frames_per_episode", cap)
    made.setBool("color_averaging", averaging)
    made.loadROM(ale_py.roms.get_rom_path(game))
    made.setDifficulty(game_variants(game).default_difficulty)
    made.reset_game()
    return made


def choices(count, actions=18, seed=0):
    return np.random.default_rng(seed).integers(actions, size=count).tolist()


def started(game, protocol=QUIET, seed=0, **settings):
    environment = AtariEnvironment(game, protocol=protocol, **settings)
    environment.reset(np.random.default_rng(seed))
    return environment


class Recorded:
    """An emulator that notes which actions it is given."""

    def __init__(self, played):
        self._played, self.executed = played, []

    def act(self, action):
        self.executed.append(action)
        return self._played.act(action)

    def __getattr__(self, name):
        return getattr(self._played, name)


class EmulatorsOwnNoise:
    """The random numbers with which ale-py decides on stickiness: two a frame, the first for player one."""

    def __init__(self, seed):
        self._source = np.random.MT19937()
        self._source._legacy_seeding(seed)  # the seeding of std::mt19937

    def random(self):
        first, _ = self._source.random_raw(2)
        return int(first) / 2**32


# ---------------------------------------------------------------- setting by setting


def test_everything_is_set_on_the_emulator_and_nothing_left_to_its_defaults():
    played = started("pong").world.emulator
    assert (
        played.getFloat("repeat_action_probability") == 0.0
    )  # the console does it, frame by frame
    assert played.getInt("frame_skip") == 1
    assert played.getInt("max_num_frames_per_episode") == 0
    assert played.getInt("random_seed") == 0
    assert played.getBool("color_averaging") is False
    assert played.getBool("truncate_on_loss_of_life") is False
    assert (played.getInt("reward_min"), played.getInt("reward_max")) == (-(2**31), 2**31 - 1)


def test_sticky_actions_are_those_of_the_emulator_given_the_same_random_numbers():
    protocol = PROTOCOLS["machado-2018"]
    reference = emulator("seaquest", sticky=0.25, seed=7, skip=protocol.frame_skip)
    legal = reference.getLegalActionSet()
    environment = started("seaquest", protocol, observation="ram")
    environment._rng = EmulatorsOwnNoise(7)
    for action in choices(300):
        assert environment.step(action) == reference.act(legal[action])
        assert np.array_equal(environment.observe(), reference.getRAM())
        if environment.over:
            break
    assert environment.frames > 500


def test_sticky_actions_have_their_frequency_at_every_skipped_frame():
    protocol = Protocol(frame_skip=5, max_episode_frames=None)
    environment = started("breakout", protocol, observation="ram")
    played = environment.world.emulator = Recorded(environment.world.emulator)
    rng, waiting = np.random.default_rng(3), np.zeros(5)
    steps = 0
    while steps < 1500:
        if environment.over:
            environment.reset(rng)
        before, played.executed = environment.world.previous, []
        chosen = (environment.world.actions.index(before) + 1 + int(rng.integers(17))) % 18
        environment.step(chosen)
        if len(played.executed) < 5:
            continue
        steps += 1
        still = [action == before for action in played.executed]
        assert still == sorted(still, reverse=True)  # once executed, the new action stays
        waiting += still
    # P(the previous action still at frame j) = ς^j, in its binomial interval of 4 standard deviations
    for position, count in enumerate(waiting, start=1):
        chance = 0.25**position
        assert abs(count - 1500 * chance) <= 4 * np.sqrt(1500 * chance * (1 - chance))


@pytest.mark.parametrize("sticky", [0.0, 1.0])
def test_stickiness_of_zero_executes_every_action_and_of_one_none(sticky):
    protocol = replace(Protocol(), sticky_probability=sticky)
    environment = started("pong", protocol, observation="ram")
    played = environment.world.emulator = Recorded(environment.world.emulator)
    environment.step(3)
    assert {action.value for action in played.executed} == ({3} if sticky == 0 else {0})


@pytest.mark.parametrize("skip", [1, 4])
def test_frame_skip_is_that_of_the_emulator_and_counted_in_frames(skip):
    reference = emulator("space_invaders", skip=skip)
    legal = reference.getLegalActionSet()
    environment = started("space_invaders", replace(QUIET, frame_skip=skip))
    for action in choices(200):
        assert environment.step(action) == reference.act(legal[action])
        assert np.array_equal(environment.observe(), reference.getScreen())
        assert environment.frames == reference.getEpisodeFrameNumber()


def test_the_cap_is_in_frames_and_cuts_within_skipped_frames():
    reference = emulator("pong", skip=5, cap=103)
    environment = started("pong", replace(QUIET, max_episode_frames=103))
    while not environment.over:
        environment.step(0)
        reference.act(0)
    assert (environment.frames, environment.truncated) == (103, True)
    assert (reference.getEpisodeFrameNumber(), reference.game_truncated()) == (103, True)


def test_the_full_action_set_has_all_legal_actions_and_the_minimal_those_of_the_game():
    reference = emulator("breakout")
    full = started("breakout")
    few = started("breakout", replace(QUIET, action_set="minimal"))
    assert full.action_names == tuple(one.name for one in reference.getLegalActionSet())
    assert few.action_names == tuple(one.name for one in reference.getMinimalActionSet())
    assert (len(full.action_names), len(few.action_names)) == (18, 4)


def test_mode_and_difficulty_are_those_asked_for_also_after_a_reset():
    environment = started("freeway", mode=3, difficulty=1)
    environment.reset(np.random.default_rng(1))
    state = environment.world.emulator.cloneState()
    assert (state.getCurrentMode(), state.getDifficulty()) == (3, 1)
    by_protocol = started("freeway", replace(QUIET, mode=3))
    assert by_protocol.mode == 3


def test_losing_a_life_does_not_end_an_episode():
    environment = started("breakout", observation="ram")
    full, lives = environment.lives, set()
    while not environment.over:
        environment.step(1)  # fire, and never move
        lives.add(environment.lives)
    assert full == 5
    assert lives == {0, 1, 2, 3, 4, 5}


def test_random_no_ops_at_the_start_are_drawn_in_frames_up_to_the_most():
    environment = started("pong", replace(QUIET, max_start_no_ops=30), observation="ram")
    drawn = set()
    for seed in range(200):
        environment.reset(np.random.default_rng(seed))
        drawn.add(environment.frames)
    assert drawn == set(range(31))


# ---------------------------------------------------------------- the same again


def trajectory(environment, steps, seed):
    trace = []
    for action in choices(steps, len(environment.action_names), seed):
        reward = environment.step(action)
        trace.append((reward, environment.observe().tobytes()))
        if environment.over:
            break
    return trace


# reset_game leaves traces of the last game in the first two, and states lack something in the others.
@pytest.mark.parametrize("game", ["assault", "beam_rider", "qbert", "tetris"])
def test_an_episode_depends_on_its_seed_and_not_on_what_was_played_before(game):
    environment = started(game, PROTOCOLS["machado-2018"], observation="ram")
    first = trajectory(environment, 250, seed=1)
    environment.reset(np.random.default_rng(5))
    trajectory(environment, 400, seed=2)
    environment.reset(np.random.default_rng(0))
    assert trajectory(environment, 250, seed=1) == first


def test_other_seeds_give_other_noise():
    environment = started("seaquest", PROTOCOLS["machado-2018"], observation="ram")
    first = trajectory(environment, 100, seed=1)
    environment.reset(np.random.default_rng(6))
    assert trajectory(environment, 100, seed=1) != first


@pytest.mark.parametrize("game", ["assault", "tetris"])
def test_the_start_is_that_of_a_freshly_loaded_game(game):
    environment = started(game, QUIET, observation="ram")
    trajectory(environment, 300, seed=2)
    environment.reset(np.random.default_rng(0))
    reference = emulator(game, skip=QUIET.frame_skip)
    legal = reference.getLegalActionSet()
    for action in choices(200):
        environment.step(action)
        reference.act(legal[action])
        assert np.array_equal(environment.observe(), reference.getRAM())


@pytest.mark.slow
@pytest.mark.parametrize("game", playable_games())
def test_every_game_starts_as_freshly_loaded_and_its_model_tells_the_truth(game):
    environment = started(game, QUIET, observation="ram")
    fresh = trajectory(environment, 300, seed=1)
    for seed in range(2):
        environment.reset(np.random.default_rng(seed))
        trajectory(environment, 200, seed=2 + seed)
    environment.reset(np.random.default_rng(0))
    assert trajectory(environment, 300, seed=1) == fresh
    model = environment.model(np.random.default_rng(0))
    for played in (0, 7, 100):
        environment.reset(np.random.default_rng(0))
        trajectory(environment, played, seed=3)
        for _ in range(2):
            model.restore(model.root())
            imagined = [
                (model.advance(a), model.observe().tobytes())
                for a in choices(60, len(environment.action_names), 4)
                if not model.over
            ]
        if environment.over:
            continue
        assert trajectory(environment, 60, seed=4) == imagined


# ---------------------------------------------------------------- what is seen


def merged_screens(game, screens, steps):
    environment = started(game, replace(QUIET, screens=screens))
    for action in choices(steps, len(environment.action_names)):
        environment.step(action)
        if environment.over:
            return
        yield action, environment.observe()


def check_averaging(game, steps):
    # Frame by frame: with a frame skip of its own the emulator also selects modes in longer strides.
    reference = emulator(game, averaging=True)
    legal = reference.getLegalActionSet()
    for action, seen in merged_screens(game, "averaged", steps):
        for _ in range(QUIET.frame_skip):
            reference.act(legal[action])
        assert np.array_equal(seen, reference.getScreen())


# two with the colours of NTSC, one with those of PAL
@pytest.mark.parametrize("game", ["asterix", "turmoil", "keystone_kapers"])
def test_averaged_screens_are_those_of_the_emulator(game):
    check_averaging(game, 60)


# In air_raid there are odd colours, which the emulator's averaging turns black. In tic_tac_toe_3d some
# frames draw two screens, of which only the emulator sees the first.
_OTHERWISE_AVERAGED = ("air_raid", "tic_tac_toe_3d")


@pytest.mark.slow
@pytest.mark.parametrize(
    "game", [game for game in playable_games() if game not in _OTHERWISE_AVERAGED]
)
def test_averaged_screens_are_those_of_the_emulator_in_every_game(game):
    check_averaging(game, 120)


@pytest.mark.parametrize("game", ["seaquest", "king_kong"])
def test_pooled_screens_are_the_brighter_of_the_last_two(game):
    reference = emulator(game)
    legal = reference.getLegalActionSet()
    norm = "pal" if game == "king_kong" else "ntsc"
    for action, seen in merged_screens(game, "pooled", 60):
        for _ in range(QUIET.frame_skip):
            earlier = reference.getScreenGrayscale()
            reference.act(legal[action])
        brightest = np.maximum(earlier, reference.getScreenGrayscale())
        assert np.array_equal(grey(norm)[seen >> 1], brightest)


def plain_area_mean(greys):
    """Each of 84 × 84 pixels is the mean of its area: 420 rows and 3,360 columns divide without rest."""
    fine = np.repeat(np.repeat(greys.astype(float), 2, axis=0), 21, axis=1)
    return fine.reshape(84, 5, 84, 40).mean(axis=(1, 3))


def test_what_dqn_sees_is_the_last_four_grey_screens_shrunk():
    environment = started("space_invaders", observation="dqn84x4")
    reference = emulator("space_invaders", skip=QUIET.frame_skip)
    legal, expected = reference.getLegalActionSet(), []
    assert environment.observation_shape == (4, 84, 84)
    assert np.ptp(environment.observe(), axis=0).max() == 0  # the first screen four times
    for action in choices(6):
        environment.step(action)
        reference.act(legal[action])
        expected.append(plain_area_mean(reference.getScreenGrayscale()))
    seen = environment.observe()
    assert seen.dtype == np.uint8
    assert np.abs(seen - np.array(expected[-4:])).max() <= 0.5 + 1e-3


def test_an_unknown_observation_is_refused_with_those_there_are():
    with pytest.raises(
        InputError, match=r"Unknown observation 'rgb'. Known: 'dqn84x4', 'ram', 'raw'"
    ):
        AtariEnvironment("pong", protocol=QUIET, observation="rgb")


# ---------------------------------------------------------------- the forward model


def test_the_model_tells_what_will_happen_and_leaves_the_game_alone():
    environment = started("seaquest")
    trajectory(environment, 50, seed=1)
    model = environment.model(np.random.default_rng(0))
    model.restore(model.root())
    imagined = [(model.advance(a), model.observe().tobytes()) for a in choices(40, seed=9)]
    assert model.frames == 200
    assert trajectory(environment, 40, seed=9) == imagined


def test_a_state_of_the_model_can_be_gone_back_to_any_number_of_times():
    environment = started("asterix", observation="dqn84x4")
    model = environment.model(np.random.default_rng(0))
    model.restore(model.root())
    model.advance(2)
    state = model.clone()
    ways = []
    for _ in range(3):
        model.restore(state)
        ways.append([(model.advance(a), model.observe().tobytes()) for a in (3, 4, 5)])
    assert ways[0] == ways[1] == ways[2]


def test_the_model_draws_sticky_actions_anew_and_knows_the_previous_action():
    environment = started("seaquest", replace(QUIET, sticky_probability=0.5, frame_skip=1))
    environment.step(3)
    previous = environment.world.previous
    model = environment.model(np.random.default_rng(0))
    root, executed = model.root(), []
    for _ in range(400):
        model.restore(root)
        model.advance(4)
        executed.append(model.world.previous == previous)
    assert abs(np.mean(executed) - 0.5) < 4 * 0.5 / np.sqrt(400)


def test_the_model_ends_where_the_cap_cuts():
    environment = started("pong", replace(QUIET, max_episode_frames=20))
    environment.step(0)
    model = environment.model(np.random.default_rng(0))
    model.restore(model.root())
    while not model.over:
        model.advance(0)
    assert model.frames == 15
    assert not environment.over


def test_doing_nothing_at_the_start_ends_at_the_cap():
    protocol = Protocol(max_start_no_ops=30, max_episode_frames=3)
    environment = AtariEnvironment("pong", protocol=protocol)
    for seed in range(10):
        environment.reset(np.random.default_rng(seed))
        assert environment.frames <= 3


def test_random_frame_skips_last_as_long_as_they_may_and_are_drawn_by_episode():
    protocol = replace(QUIET, frame_skip=2, max_frame_skip=4)

    def lasting(seed):
        environment, ends = started("seaquest", protocol, seed), [0]
        for action in choices(90):
            environment.step(action)
            ends.append(environment.frames)
        return np.diff(ends)

    first = lasting(0)
    assert set(first) == {2, 3, 4}
    assert min(np.bincount(first)[2:]) >= 15 and max(np.bincount(first)[2:]) <= 48
    assert (first == lasting(0)).all() and (first != lasting(1)).any()


def test_a_random_skip_sees_the_last_two_frames_whatever_it_lasts():
    protocol = replace(QUIET, frame_skip=1, max_frame_skip=3, screens="pooled")
    environment = started("breakout", protocol)
    reference = emulator("breakout")
    for action in choices(40, seed=3):
        before = environment.frames
        environment.step(action)
        screens = []
        for _ in range(environment.frames - before):
            screens.append(np.array(reference.getScreen()))
            reference.act(environment.world.actions[action])
        screens.append(np.array(reference.getScreen()))
        merged = environment.world._merger.colours(screens[-2], screens[-1])
        assert (environment.observe() == merged).all()


def test_a_recorded_start_leads_where_the_emulator_goes_without_noise():
    sticky = replace(Protocol(), starts=("Seaquest: NOOP*40 RIGHTFIRE*60 DOWN*30",))
    names = ["NOOP"] * 40 + ["RIGHTFIRE"] * 60 + ["DOWN"] * 30
    environment, reference = AtariEnvironment("seaquest", protocol=sticky), emulator("seaquest")
    begun, lengths = reference.cloneState(), set()  # a reset leaves traces of the last game
    for seed in range(6):
        environment.reset(np.random.default_rng(seed))
        reference.restoreState(begun)
        for name in names[: environment.frames]:
            reference.act(ale_py.Action[name])
        assert (environment.world.emulator.getRAM() == reference.getRAM()).all()
        lengths.add(environment.frames)
    assert len(lengths) > 3 and max(lengths) <= 130


@pytest.mark.parametrize(
    ("start", "said"),
    [
        ("breakout: FIRE", "none of 'pong'"),
        ("pong: JUMP", "the action 'JUMP', which the console does not know"),
    ],
)
def test_starts_of_other_games_and_unknown_actions_are_refused(start, said):
    with pytest.raises(InputError, match=said):
        started("pong", replace(QUIET, starts=(start,)))


def test_a_start_that_ends_the_game_is_refused():
    protocol = replace(QUIET, starts=("pong: NOOP*60",), max_episode_frames=1)
    with pytest.raises(InputError, match="ends the game after 1 frames"):
        for seed in range(50):
            started("pong", protocol, seed)
