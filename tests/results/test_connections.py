"""Groups of agents that share no task are named, and weak links come with numbers."""

import numpy as np
import pytest

import examiner as ex
from examiner.results import ResponseMatrix, connections, groups_of

AGENTS, TASKS = 12, 15


def blocks(shared: int = 0, bridging: int = 0, seed: int = 0) -> ResponseMatrix:
    """Two groups on tasks of their own, `shared` tasks met by all, `bridging` agents that met all."""
    rng = np.random.default_rng(seed)
    wins = (rng.random((2 * AGENTS, 2 * TASKS)) < 0.5).astype(float)
    wins[:AGENTS, TASKS:] = wins[AGENTS:, :TASKS] = np.nan
    wins[:, :shared] = (rng.random((2 * AGENTS, shared)) < 0.5).astype(float)
    wins[:bridging] = (rng.random((bridging, 2 * TASKS)) < 0.5).astype(float)
    names = [f"{side}{n}" for side in "sw" for n in range(AGENTS)]
    return ResponseMatrix.from_array(wins, agents=names)


def two_way_error(seen: np.ndarray, side: np.ndarray) -> float:
    """The error of the difference of two sides' means by least squares, agent + task, cells of error 1."""
    agent, task = np.nonzero(seen)
    columns = np.zeros((len(agent), sum(seen.shape)))
    columns[np.arange(len(agent)), agent] = 1
    columns[np.arange(len(agent)), seen.shape[0] + task] = 1
    contrast = np.zeros(sum(seen.shape))
    contrast[: seen.shape[0]] = np.where(side, 1 / side.sum(), -1 / (~side).sum())
    return float(np.sqrt(contrast @ np.linalg.pinv(columns.T @ columns) @ contrast))


def test_groups_that_share_nothing_are_named() -> None:
    found = connections(blocks())
    assert [len(group) for group in found.groups] == [AGENTS, AGENTS]
    assert set(found.groups[0]) == {f"s{n}" for n in range(AGENTS)}
    assert "2 groups that share no task" in found.warnings[0]


def test_groups_are_those_of_scipy() -> None:
    from scipy.sparse import bmat, csr_array
    from scipy.sparse.csgraph import connected_components

    rng = np.random.default_rng(1)
    for share in (0.01, 0.03, 0.1):
        seen = rng.random((40, 60)) < share
        agents, tasks = groups_of(seen)
        edges = csr_array(seen.astype(float))
        _, labels = connected_components(bmat([[None, edges], [edges.T, None]]), directed=False)
        ours = np.concatenate([agents, tasks])
        known = ours >= 0
        assert (known == np.concatenate([seen.any(axis=1), seen.any(axis=0)])).all()
        same_ours = ours[known][:, None] == ours[known][None, :]
        assert (same_ours == (labels[known][:, None] == labels[known][None, :])).all()


def test_one_shared_task_is_a_weak_link_with_its_number() -> None:
    matrix = blocks(shared=1)
    found = connections(matrix).weakest
    assert found is not None
    assert found.hangs_on == (matrix.tasks[0],)
    side = np.array([agent in found.first for agent in matrix.agents])
    assert {agent[0] for agent in found.first} in ({"s"}, {"w"})
    cells = matrix.observed.sum(axis=1)
    even = np.sqrt(1 / cells[side].sum() + 1 / cells[~side].sum())
    assert found.error_ratio == pytest.approx(two_way_error(matrix.observed, side) / even)
    said = connections(matrix).warnings[0]
    assert "joined weakly" in said and f"{found.error_ratio:.1f} times" in said


def test_one_agent_that_met_all_is_a_weak_link() -> None:
    found = connections(blocks(bridging=1)).weakest
    assert found is not None
    assert found.hangs_on == ("s0",)


@pytest.mark.parametrize("share", [0.5, 0.2])
def test_tables_with_gaps_at_random_have_no_weak_link(share: float) -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        wins = np.where(rng.random((24, 60)) < share, rng.random((24, 60)) < 0.5, np.nan)
        wins[rng.integers(24), 1:] = (
            np.nan
        )  # one agent met a task at most, and that is no weak link
        wins[:, 0] = 1.0
        assert connections(ResponseMatrix.from_array(wins)).weakest is None


def test_a_weak_link_is_told_wherever_the_division_by_the_second_eigenvector_has_twice_the_error() -> (
    None
):
    rng = np.random.default_rng(4)
    told = []
    for share in np.linspace(0.15, 0.6, 60):
        seen = rng.random((9, 14)) < share
        seen[:5, 7:] &= rng.random((5, 7)) < share
        if groups_of(seen)[0].tolist() != [0] * 9:
            continue
        seen = seen[:, seen.any(axis=0)]
        met = seen.sum(axis=1)
        information = np.diag(met) - (seen / seen.sum(axis=0)) @ seen.T
        side = np.linalg.eigh(information)[1][:, 1] > 0
        ratio = two_way_error(seen, side) / np.sqrt(1 / met[side].sum() + 1 / met[~side].sum())
        found = connections(ResponseMatrix.from_array(np.where(seen, 1.0, np.nan))).weakest
        assert (found is not None) == (ratio >= 2), ratio
        told.append(ratio >= 2)
    assert 0 < sum(told) < len(told)


def test_many_shared_tasks_are_no_weak_link() -> None:
    assert connections(blocks(shared=8)).weakest is None
    assert connections(ResponseMatrix.from_array(np.eye(5))).warnings == ()


def test_a_fit_of_groups_that_share_nothing_names_them_and_is_not_compared_across() -> None:
    fit = ex.irt.fit(blocks(), starts=1)
    assert fit.outcome is ex.irt.FitOutcome.DISCONNECTED
    assert [len(group) for group in fit.groups] == [AGENTS, AGENTS]
    assert "share no task" in fit.notes[0]
    with pytest.raises(ex.InputError, match="no scale of its own to be linked"):
        ex.irt.link(fit, fit)
    with pytest.raises(ex.InputError, match="one examination cannot place"):
        ex.adaptive.TaskBank.of(fit)


def test_a_weakly_linked_fit_says_so_and_others_say_nothing() -> None:
    weak = ex.irt.fit(blocks(shared=1), starts=1, errors=False)
    assert not weak.groups
    assert any("joined weakly" in told for told in weak.notes)
    strong = ex.irt.fit(blocks(shared=TASKS), starts=1, errors=False)
    assert not any("joined" in told or "groups" in told for told in strong.notes)


def test_a_report_of_groups_that_share_nothing_says_so_and_names_no_ablest() -> None:
    wins = blocks().to_numpy()
    results = ex.Results.from_numpy(wins, agents=[f"a{n}" for n in range(2 * AGENTS)])
    told = ex.report(results, sections=["intervals", "wright_map", "ability_generality"]).to_dict()
    said = str(told)
    assert said.count("2 groups that share no task") >= 3
    assert "is the ablest agent" not in said
