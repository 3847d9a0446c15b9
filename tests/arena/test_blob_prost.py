"""Blob-PROST: the same features as a plain implementation, on real screens and on random ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from examiner.arena import protocol as named_protocol
from examiner.messages import InputError

pytest.importorskip("numba")

from examiner.arena.learning.blob_prost import BlobProst
from examiner.arena.learning.traced_weights import FeatureRows


def plain_blobs(screen):
    """Set of (colour, tile row, tile column), by connecting every two pixels that are close."""
    colours = screen.astype(int) // 2
    number = np.arange(colours.size).reshape(colours.shape)
    rows, columns = colours.shape
    ones, others = [], []
    for down in range(4):
        for right in range(-3, 4):
            top = slice(0, max(rows - down, 0)), slice(max(0, -right), columns - max(0, right))
            bottom = slice(down, rows), slice(max(0, right), columns + min(0, right))
            if number[top].shape != number[bottom].shape or not number[top].size:
                continue
            same = colours[top] == colours[bottom]
            ones.append(number[top][same])
            others.append(number[bottom][same])
    edges = np.concatenate(ones), np.concatenate(others)
    graph = coo_array((np.ones(len(edges[0])), edges), shape=(colours.size, colours.size))
    label = connected_components(graph, directed=False)[1].reshape(colours.shape)
    blobs = set()
    pixels = np.split(
        np.argsort(label.ravel(), kind="stable"), np.cumsum(np.bincount(label.ravel()))[:-1]
    )
    for pixel in pixels:
        y, x = divmod(pixel, columns)
        middle = (y.min() + y.max()) // 2, (x.min() + x.max()) // 2
        blobs.add((int(colours[y[0], x[0]]), int(middle[0] // 7), int(middle[1] // 4)))
    return blobs


def plain_features(now, before, shape, *, basic_without_colour=False):
    """Set of named features, straight from the definition."""
    found = {("bias",)}
    for colour, y, x in now:
        found.add(("basic", y, x) if basic_without_colour else ("basic", colour, y, x))
        for other, v, u in now:
            if colour < other:
                found.add(("pros", colour, other, y - v, x - u))
            elif colour == other:
                found.add(("pros", colour, other, *max((y - v, x - u), (v - y, u - x))))
        for other, v, u in before:
            found.add(("prot", other, colour, v - y, u - x))
    return found


def named(number, shape, *, basic_without_colour=False):
    """The feature that a number stands for: BASIC, then B-PROS, then B-PROT, then the bias."""
    high, wide = -(-shape[0] // 7), -(-shape[1] // 4)
    offsets = (2 * high - 1) * (2 * wide - 1)
    if number < 128 * high * wide:
        colour, tile = divmod(number, high * wide)
        if basic_without_colour:
            assert colour == 0
            return ("basic", *divmod(tile, wide))
        return ("basic", colour, *divmod(tile, wide))
    number -= 128 * high * wide
    pair, offset = divmod(number, offsets)
    down, right = divmod(offset, 2 * wide - 1)
    apart = down - high + 1, right - wide + 1
    if pair < 128 * 129 // 2:
        colour = 0
        while pair >= 128 - colour:
            pair -= 128 - colour
            colour += 1
        return ("pros", colour, colour + pair, *apart)
    pair -= 128 * 129 // 2
    return ("prot", *divmod(pair, 128), *apart) if pair < 128 * 128 else ("bias",)


def check(screens, *, basic_without_colour=False):
    features = BlobProst(screens[0].shape, basic_without_colour=basic_without_colour)
    before = set()
    for screen in screens:
        active = features.active(screen).tolist()
        now = plain_blobs(screen)
        assert len(set(active)) == len(active)
        assert {
            named(one, screen.shape, basic_without_colour=basic_without_colour) for one in active
        } == plain_features(now, before, screen.shape, basic_without_colour=basic_without_colour)
        before = now


def real_screens(game, count=3):
    pytest.importorskip("ale_py")
    from examiner.arena.environments.ale import AtariEnvironment

    environment = AtariEnvironment(game, protocol=named_protocol("machado-2018"))
    rng = np.random.default_rng(1)
    environment.reset(rng)
    for _ in range(40):
        environment.step(environment.random_action(rng))
    screens = []
    for _ in range(count):
        environment.step(environment.random_action(rng))
        screens.append(environment.observe())
    return screens


@pytest.mark.parametrize(
    "game", ["asterix", "beam_rider", "freeway", "seaquest", "space_invaders", "air_raid"]
)
def test_features_of_real_screens_are_those_of_the_definition(game):
    screens = real_screens(game)
    check(screens)
    assert screens[0].shape[0] == (250 if game == "air_raid" else 210)


def test_the_slip_of_the_authors_program_can_be_had():
    check(real_screens("asterix", 2), basic_without_colour=True)


random_screens = st.integers(1, 2).flatmap(
    lambda count: st.tuples(st.integers(1, 30), st.integers(1, 20)).flatmap(
        lambda shape: st.lists(
            arrays(np.uint8, shape, elements=st.sampled_from([0, 1, 2, 254]), fill=st.just(0)),
            min_size=count, max_size=count,
        )
    )
)  # fmt: skip


@given(random_screens)
def test_features_of_random_screens_are_those_of_the_definition(screens):
    check(screens)


def test_an_episode_begins_without_a_screen_before():
    screen = np.zeros((210, 160), dtype=np.uint8)
    features = BlobProst((210, 160))
    first = set(features.active(screen).tolist())
    with_time = set(features.active(screen).tolist())
    features.begin()
    assert set(features.active(screen).tolist()) == first < with_time


def test_a_screen_of_the_console_has_115_million_features():
    tiles, offsets = 30 * 40, 59 * 79
    expected = 128 * tiles + 128 * 129 // 2 * offsets + 128**2 * offsets + 1
    assert BlobProst((210, 160)).count == expected == 115_000_641


def test_what_is_no_screen_is_refused_in_words():
    with pytest.raises(InputError, match=r"shape \(4, 84, 84\).*observation to 'raw'"):
        BlobProst((4, 84, 84))
    with pytest.raises(InputError, match="Shrink it"):
        BlobProst((4000, 4000))


@given(st.lists(st.lists(st.integers(0, 2**32 - 2), unique=True, max_size=50), max_size=20))
def test_rows_are_given_in_order_of_appearance(batches):
    table, known = FeatureRows(max_rows=200), {}
    for batch in batches:
        for feature in batch:
            if len(known) < 200:
                known.setdefault(feature, len(known))
        rows = table.rows(np.array(batch, dtype=np.uint32))
        assert rows.tolist() == [known.get(feature, -1) for feature in batch]
        assert table.rows(np.array([2**32 - 2], np.uint32), add=False)[0] == known.get(
            2**32 - 2, -1
        )
    assert table.features().tolist() == list(known)


def test_a_table_of_many_features_grows():
    features = np.random.default_rng(0).permutation(300_000).astype(np.uint32)
    table = FeatureRows(max_rows=10**6)
    for part in np.array_split(features, 100):
        table.rows(part)
    assert np.array_equal(table.features(), features)
