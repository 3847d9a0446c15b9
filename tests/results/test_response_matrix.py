"""ResponseMatrix: counts kept small, missing cells, names, refusals."""

import numpy as np
import pytest

import examiner as ex

Matrix = ex.ResponseMatrix


def test_zeros_and_ones_become_counts_of_one_trial() -> None:
    for values in ([[1, 0]], [[1.0, 0.0]], np.array([[True, False]])):
        matrix = Matrix.from_array(values)
        assert matrix.is_counts
        assert matrix.successes.dtype == np.uint8
        assert matrix.trials.tolist() == [[1, 1]]


def test_a_complete_table_spends_nothing_on_its_trials() -> None:
    matrix = Matrix.from_array(np.zeros((1000, 1000), dtype=np.uint8))
    assert matrix.trials.strides == (0, 0)


def test_missing_cells_have_no_trials() -> None:
    matrix = Matrix.from_array([[1, np.nan], [0, 1]])
    assert matrix.trials.tolist() == [[1, 0], [1, 1]]
    assert matrix.observed.tolist() == [[True, False], [True, True]]
    np.testing.assert_array_equal(matrix.to_numpy(), [[1, np.nan], [0, 1]])


@pytest.mark.parametrize(("most", "kind"), [(255, np.uint8), (256, np.uint16), (70_000, np.uint32)])
def test_counts_take_as_few_bytes_as_they_need(most: int, kind: type) -> None:
    assert Matrix.from_counts([[1]], [[most]]).successes.dtype == kind


def test_other_values_are_continuous() -> None:
    matrix = Matrix.from_array([[0.5, 3.0, np.nan]])
    assert not matrix.is_counts
    with pytest.raises(ex.InputError, match="Say what success is"):
        matrix.successes  # noqa: B018


def test_arrays_cannot_be_written_and_the_source_stays_the_users() -> None:
    source = np.array([[0.5, 3.0]])
    matrix = Matrix.from_array(source)
    with pytest.raises(ValueError, match="read-only"):
        matrix.to_numpy()[0, 0] = 1
    source[0, 0] = 9.0
    assert matrix.to_numpy()[0, 0] == 0.5


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Matrix.from_array([1.0, 2.0]), r"shape \(2,\)"),
        (lambda: Matrix.from_array([["a"]]), "Give a table of numbers"),
        (lambda: Matrix.from_array([[np.inf]]), "is inf at position 1"),
        (lambda: Matrix.from_array([[1, 0]], agents=["a", "b"]), "2 agent names for 1 agents"),
        (lambda: Matrix.from_array([[1, 0]], tasks=["t", "t"]), "'t' appears twice"),
        (lambda: Matrix.from_array(np.empty((0, 2))), "0 agents and 2 tasks"),
        (lambda: Matrix.from_counts([[3]], [[2]]), "counts 3 successes of 2 trials"),
        (lambda: Matrix.from_counts([[-1]], [[2]]), "counts -1 successes of 2 trials"),
        (lambda: Matrix.from_counts([[1.5]], [[2]]), "whole numbers"),
        (lambda: Matrix.from_counts([[1, 2]], [[1], [2], [3]]), r"but trials have \(3, 1\)"),
        (lambda: Matrix.from_frame({"agent": ["a"]}), "1 column"),
        (lambda: Matrix.from_frame({"agent": ["a"], "t": ["x"]}), "not numbers"),
    ],
)
def test_bad_matrices_are_refused_in_words(make, message: str) -> None:
    with pytest.raises(ex.InputError, match=message):
        make()


def test_names_default_to_numbers() -> None:
    matrix = Matrix.from_array([[1, 0]])
    assert (matrix.agents, matrix.tasks) == (("agent 1",), ("task 1", "task 2"))


def test_numpy_takes_the_matrix_as_it_is() -> None:
    assert np.asarray(Matrix.from_array([[1, 0]])).sum() == 1.0


def test_from_dict_leaves_absent_tasks_unobserved() -> None:
    matrix = Matrix.from_dict({"a": {"t": 0.5, "u": 2.0}, "b": {"u": None}})
    assert int(matrix.observed.sum()) == 2
    assert matrix.to_dict() == {"a": {"t": 0.5, "u": 2.0}, "b": {}}


def test_taking_a_part_keeps_counts_and_names() -> None:
    matrix = Matrix.from_counts([[1, 2], [3, 4]], 5).take(agents=[1], tasks=[1, 0])
    assert matrix.agents == ("agent 2",)
    assert matrix.successes.tolist() == [[4, 3]]
    assert matrix.trials.tolist() == [[5, 5]]


def test_equality_minds_kind_names_and_cells() -> None:
    one = Matrix.from_array([[1, 0]])
    assert one == Matrix.from_counts([[1, 0]], 1)
    assert one != Matrix.from_counts([[1, 0]], 2)
    assert one != Matrix.from_array([[1, 0]], agents=["x"])
    assert one != 1
