"""Every selection method keeps the contract: size, demands, seeds, names not places, clear errors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import examiner as ex
from examiner.selection import METHODS, Constraints, benchmark, fold_of
from examiner.selection.evidence import SelectionEvidence

NEEDS = ("channels", "items", "ability", "target", "groups", "shrinkage")
TASKS = [f"game{place // 2}.{place % 2}" for place in range(14)]


def made_results(seed: int = 0, agents: int = 18) -> ex.Results:
    rng = np.random.default_rng(seed)
    ability = rng.normal(size=(agents, 1, 1))
    slope, level = rng.uniform(0.3, 1.5, (1, 14, 1)), rng.normal(size=(1, 14, 1))
    scores = ability * slope + level + rng.normal(0, 0.4, size=(agents, 14, 1))
    scores = scores + rng.normal(0, 0.3, size=(agents, 14, 3))
    table = {"agent": [], "task": [], "level": [], "run": [], "trial": [], "score": []}
    for agent, task, run in np.ndindex(scores.shape):
        game, stage = TASKS[task].split(".")
        row = (f"a{agent}", game, int(stage), run, 0, float(scores[agent, task, run]))
        for name, value in zip(table, row, strict=True):
            table[name].append(value)
    return ex.Results.from_dict(table)


GROUPS = {task: f"kind {place % 4}" for place, task in enumerate(TASKS)}


def made_evidence(constraints: Constraints | None = None, **options: object) -> SelectionEvidence:
    demands = replace(constraints or Constraints(), groups=GROUPS, **options)
    material = benchmark(made_results(), ex.Recipe(), constraints=demands)
    return fold_of(material, np.arange(len(material.agents)), NEEDS).evidence


@pytest.fixture(scope="module")
def evidence() -> SelectionEvidence:
    return made_evidence()


def chosen(name: str, evidence: SelectionEvidence, size: int, seed: int = 0) -> tuple[str, ...]:
    return METHODS[name].select(evidence, size, np.random.default_rng(seed)).tasks


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("size", [1, 3, 6, 14])
def test_a_set_has_the_size_asked_for_and_no_task_twice(
    name: str, size: int, evidence: SelectionEvidence
) -> None:
    found = METHODS[name].select(evidence, size, np.random.default_rng(0))
    assert len(found.tasks) == len(set(found.tasks)) == len(found.gain) == size
    assert [evidence.tasks[place] for place in found.columns] == list(found.tasks)
    assert found.method == name


@pytest.mark.parametrize("name", METHODS)
def test_the_same_seed_chooses_the_same_tasks(name: str, evidence: SelectionEvidence) -> None:
    assert chosen(name, evidence, 5, seed=3) == chosen(name, evidence, 5, seed=3)


def test_only_random_depends_on_the_seed(evidence: SelectionEvidence) -> None:
    vary = {
        name for name in METHODS if len({chosen(name, evidence, 5, seed) for seed in range(5)}) > 1
    }
    assert vary == {"random"}


@pytest.mark.parametrize("name", METHODS)
def test_tasks_that_must_be_there_are_and_those_that_must_not_are_not(name: str) -> None:
    demands = Constraints(must=("game3.1", "game6.0"), must_not=("game0", "game1.0"))
    evidence = made_evidence(demands)
    for size in (2, 5, 11):
        tasks = set(chosen(name, evidence, size))
        assert {"game3.1", "game6.0"} <= tasks
        assert not tasks & {"game0.0", "game0.1", "game1.0"}
        assert len(tasks) == size


@pytest.mark.parametrize("name", METHODS)
def test_no_group_gives_more_tasks_than_allowed(name: str) -> None:
    tasks = chosen(name, made_evidence(Constraints(at_most=1)), 4)
    assert sorted(GROUPS[task] for task in tasks) == [f"kind {place}" for place in range(4)]


@pytest.mark.parametrize("name", METHODS)
def test_levels_of_a_game_stay_apart_or_together(name: str) -> None:
    apart = chosen(name, made_evidence(Constraints(levels="apart")), 6)
    assert len({task.split(".")[0] for task in apart}) == 6
    together = chosen(name, made_evidence(Constraints(levels="together")), 6)
    assert len(together) == 6
    assert len({task.split(".")[0] for task in together}) == 3


@pytest.mark.parametrize("name", METHODS)
def test_a_budget_is_kept_and_used(name: str) -> None:
    cost = np.array([1.0, 9.0] * 7)
    evidence = made_evidence(Constraints(budget=12.0), cost=cost)
    found = METHODS[name].select(evidence, 14, np.random.default_rng(0))
    assert found.cost == cost[list(found.columns)].sum() <= 12.0
    left = np.setdiff1d(np.arange(14), found.columns)
    assert (cost[left] > 12.0 - found.cost).all(), "something affordable was left"


@pytest.mark.parametrize("name", METHODS)
def test_the_order_of_tasks_and_agents_means_nothing(
    name: str, evidence: SelectionEvidence
) -> None:
    order = np.random.default_rng(1).permutation(14)
    rows = np.random.default_rng(2).permutation(len(evidence.agents))
    results = made_results()
    # Results keep the order in which names first appear, so the rows of the table are turned round.
    place = {task: number for number, task in enumerate(results.tasks)}
    columns = [results.tasks[number] for number in order]
    table = results.to_dict()
    key = {f"a{agent}": number for number, agent in enumerate(rows)}
    turned = sorted(
        range(len(results)),
        key=lambda row: (
            key[table["agent"][row]],
            columns.index(f"{table['task'][row]}.{table['level'][row]}"),
        ),
    )
    other = ex.Results.from_dict({name: [table[name][row] for row in turned] for name in table})
    assert other.tasks != results.tasks or other.agents != results.agents
    material = benchmark(other, ex.Recipe(), constraints=Constraints(groups=GROUPS))
    moved = fold_of(material, np.arange(len(material.agents)), NEEDS).evidence
    assert place.keys() == set(moved.tasks)
    assert set(chosen(name, moved, 5)) == set(chosen(name, evidence, 5))


@pytest.mark.parametrize(
    ("name", "piece", "said"),
    [
        ("covariance", "target", "covariance needs a target"),
        ("covariance", "shrinkage", "covariance needs to know how far covariances are shrunk"),
        ("information_gain", "channels", "information_gain needs repeated trials"),
        ("information_swap", "channels", "information_swap needs repeated trials"),
        ("fisher", "items", "fisher needs a fit: the difficulty and discrimination"),
        ("fisher", "ability", "fisher needs a fit: the abilities"),
        ("discrimination", "items", "discrimination needs a fit"),
        ("regression", "target", "regression needs a target"),
        ("typology", "groups", "typology needs groups of tasks"),
    ],
)
def test_missing_evidence_is_named_with_a_way_out(
    name: str, piece: str, said: str, evidence: SelectionEvidence
) -> None:
    with pytest.raises(ex.InputError, match=said):
        chosen(name, replace(evidence, **{piece: None}), 3)


def test_every_need_of_a_method_is_tested_above(evidence: SelectionEvidence) -> None:
    for name, method in METHODS.items():
        for need in method.needs:
            with pytest.raises(ex.InputError, match=f"{name} needs "):
                chosen(name, replace(evidence, **{need: None}), 3)


@pytest.mark.parametrize("name", METHODS)
def test_impossible_sizes_are_refused(name: str, evidence: SelectionEvidence) -> None:
    for size in (0, 15):
        with pytest.raises(ex.InputError, match="between 1 and 14"):
            chosen(name, evidence, size)
    with pytest.raises(ex.InputError, match="must be chosen, and the size is 1"):
        chosen(name, made_evidence(Constraints(must=("game0.0", "game1.0"))), 1)
    with pytest.raises(ex.InputError, match="Only 4 tasks of 5"):
        chosen(name, made_evidence(Constraints(at_most=1)), 5)


@pytest.mark.parametrize("name", [name for name in METHODS if METHODS[name].nested])
def test_nested_methods_begin_larger_sets_with_smaller_ones(
    name: str, evidence: SelectionEvidence
) -> None:
    assert chosen(name, evidence, 7)[:4] == chosen(name, evidence, 4)


@pytest.mark.parametrize("name", [name for name in METHODS if METHODS[name].path])
def test_a_path_chooses_what_each_size_alone_would(name: str, evidence: SelectionEvidence) -> None:
    path = METHODS[name].path
    assert path is not None
    found = path(evidence, [2, 3, 6], np.random.default_rng(0))
    names = [{evidence.tasks[place] for place in places} for places in found]
    assert names == [set(chosen(name, evidence, size)) for size in (2, 3, 6)]


def test_demands_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ex.InputError, match="must and must not"):
        made_evidence(Constraints(must=("game0.0",), must_not=("game0",)))
    with pytest.raises(ex.InputError, match=r"break another demand at 'game0.1'"):
        made_evidence(Constraints(must=("game0",), levels="apart"))
    with pytest.raises(ex.InputError, match="is not there"):
        made_evidence(Constraints(must=("pong",)))
    with pytest.raises(ex.InputError, match="no task has a cost"):
        made_evidence(Constraints(budget=3.0))
    with pytest.raises(ex.InputError, match="The budget is -1"):
        Constraints(budget=-1.0)
    with pytest.raises(ex.InputError, match="leaves none"):
        Constraints(at_most=0)
    with pytest.raises(ex.InputError, match=r"1 task without a cost above 0: 'game0.1'"):
        made_evidence(Constraints(budget=3.0), cost=np.array([1.0, 0.0] + [1.0] * 12))
    with pytest.raises(ex.InputError, match="no task has a group"):
        benchmark(made_results(), constraints=Constraints(at_most=2))


def test_a_function_may_stand_for_a_method() -> None:
    def last(
        evidence: SelectionEvidence, size: int, rng: np.random.Generator
    ) -> ex.selection.TaskSet:
        places = tuple(range(len(evidence.tasks)))[-size:]
        names = tuple(evidence.tasks[place] for place in places)
        return ex.selection.TaskSet("last", names, places, np.zeros(size), "nothing", float(size))

    assert (
        ex.selection.select(made_results(), 2, last, rng=np.random.default_rng(0)).tasks.task[1]
        == "game6.1"
    )
    with pytest.raises(ex.InputError, match=r"Unknown selection method 'regresion'. Did you mean"):
        ex.selection.select(made_results(), 2, "regresion", rng=np.random.default_rng(0))
    with pytest.raises(ex.InputError, match="Neither a size nor a budget"):
        ex.selection.select(made_results(), rng=np.random.default_rng(0))
