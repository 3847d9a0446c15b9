"""What is said before long work: it grows with the work, names what is cheaper, and refuses no memory."""

import pytest

from examiner.cli.engine import EngineOptions, chosen_engine
from examiner.cli.options import SourceOptions
from examiner.engines.estimate import Size, estimate
from examiner.engines.expected import (
    expected_ability_bits,
    expected_audit,
    expected_bits,
    expected_likeness,
    expected_scores,
)
from examiner.messages import InputError


def _sizes() -> list[Size]:
    return [Size(agents, 4 * agents, 4 * agents**2) for agents in (500, 2000, 5000)]


def test_larger_tables_are_expected_to_take_longer_and_more_memory() -> None:
    for expected in (
        lambda size: expected_scores(size, reps=2000, unit="runs"),
        expected_likeness,
        expected_ability_bits,
        lambda size: expected_bits(size, 2, 10, 100),
    ):
        small, middle, large = (expected(size) for size in _sizes())
        assert small.seconds < middle.seconds < large.seconds
        assert small.gigabytes < middle.gigabytes < large.gigabytes
        assert "--keep" in large.cheaper


def test_clusters_of_tables_with_gaps_are_expected_to_take_longer() -> None:
    complete, gapped = Size(5000, 20_000, 100_000_000), Size(5000, 20_000, 40_000_000)
    assert expected_likeness(gapped).seconds > 1.3 * expected_likeness(complete).seconds
    scores = expected_likeness(gapped, two_valued=False)
    assert scores.seconds > expected_likeness(gapped).seconds


def test_audits_are_expected_to_take_longest_where_pairs_of_tasks_are_compared() -> None:
    paired, many, most = (
        expected_audit(Size(*size, size[0] * size[1]))
        for size in ((500, 2000), (500, 2100), (5000, 20_000))
    )
    assert paired.seconds > 5 * many.seconds
    assert most.seconds > 20 * many.seconds
    assert most.gigabytes > paired.gigabytes > many.gigabytes


def test_what_is_cheaper_is_named() -> None:
    few = Size(200, 2000, 3 * 400_000)
    assert "`--reps 200` takes" in expected_scores(few, reps=2000, unit="runs").cheaper
    assert "`--reps 0` takes" in expected_bits(few, 4, 10, 100).cheaper


@pytest.mark.parametrize("memory", [-1.0, 0.0, float("nan"), float("inf")])
def test_no_amount_of_memory_is_refused_in_one_sentence(memory: float) -> None:
    with pytest.raises(InputError, match=r"The memory is .* GB\. Give a number of GB above 0\."):
        estimate(Size(10, 10, 100), "shards", memory)
    with pytest.raises(InputError, match="Give a number of GB above 0"):
        chosen_engine(SourceOptions("atari-dqn-family"), EngineOptions(memory=memory))
