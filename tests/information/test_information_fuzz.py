"""Any table ends with numbers or with a sentence: never with a traceback, a warning or a wrong bound."""

import numpy as np
import pytest
from hypothesis import given

from examiner import information
from examiner.information import ChannelModel, Noise
from examiner.messages import InputError
from strategies import results


@pytest.mark.parametrize("deviations", ["own", "pooled", 0.3])
@given(table=results())
def test_any_table_has_bits_within_bounds_or_a_sentence(deviations, table) -> None:
    for noise in (Noise("trial", deviations), Noise("mean", deviations)):
        try:
            found = information.analyse(
                *(table, table.measures), rng=0, model=ChannelModel(noise), reps=2
            )
        except InputError as problem:
            assert str(problem).endswith(".")
            continue
        bits = found.tasks.bits[np.isfinite(found.tasks.bits)]
        assert (bits >= 0).all() and (bits <= found.max_bits).all()
        assert (found.chosen.bits <= found.max_bits).all()


@given(table=results())
def test_any_table_has_similarity_or_a_sentence(table) -> None:
    try:
        found = information.similarity(table)
    except InputError as problem:
        assert str(problem).endswith(".")
        return
    assert sorted(found.main.order) == list(range(len(table.tasks)))
    assert len(found.favourable.winners) <= len(table.agents)


@given(table=results())
def test_correlated_measures_of_any_table_have_bits_or_a_sentence(table) -> None:
    try:
        channels = information.channels(
            table, table.measures, ChannelModel(Noise(deviations="pooled"), correlated=True)
        )
    except InputError as problem:
        assert str(problem).endswith(".")
        return
    bits = information.gain(channels).tasks.bits
    assert (bits[np.isfinite(bits)] <= channels.max_bits).all()
