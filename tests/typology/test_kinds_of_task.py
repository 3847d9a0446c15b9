"""Schemas, classifications by them, groups, the tasks kept and what they cover."""

from __future__ import annotations

import json
import math
import pickle
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import examiner as ex
from examiner.importers import read_classification
from examiner.messages import InputError
from examiner.results import Classification
from examiner.typology import (
    SCHEMAS,
    Dimension,
    Schema,
    conform,
    fitting_schema,
)
from examiner.typology import (
    coverage as task_coverage,
)
from examiner.typology import (
    kinds as task_kinds,
)

ATARI = ex.load("atari-typology")


@st.composite
def classifications(draw):
    features = draw(st.integers(1, 4))
    tasks = draw(st.integers(1, 12))
    cell = st.sampled_from(["none", "temporal", "finite"])
    rows = draw(st.lists(st.tuples(*[cell] * features), min_size=tasks, max_size=tasks))
    names = [f"t{n}" for n in range(tasks)]
    return Classification(tuple(names), tuple(f"f{n}" for n in range(features)), tuple(rows))


def rng(seed=0):
    return np.random.default_rng(seed)


# ---------------------------------------------------------------- schemas


def test_elverdam_and_aarseth_have_eight_categories_and_seventeen_dimensions():
    schema = SCHEMAS["elverdam-aarseth"]
    assert (len(schema.categories), len(schema.dimensions)) == (8, 17)
    assert schema.dimension("internal_time.internal_control").values == ("present", "absent")
    assert len(schema.dimension("player_composition.composition").values) == 6


def test_the_agent_centric_schema_has_ordered_bands_that_a_number_falls_into():
    schema = SCHEMAS["agent-centric"]
    assert len(schema.dimensions) == 8
    assert all(one.ordered for one in schema.dimensions)
    actions = schema.dimension("actions")
    bands = [actions.value(str(n)) for n in (4, 5, 18, 19)]
    assert bands == ["up to 4", "5 to 9", "10 to 18", "more than 18"]
    assert schema.dimension("reward.density").value("0.005") == "up to 1.2 %"


@pytest.mark.parametrize("name", list(SCHEMAS))
def test_every_value_and_name_of_a_schema_is_found_in_any_spelling(name):
    schema = SCHEMAS[name]
    assert schema.name == name and schema.title and schema.source
    for one in schema.dimensions:
        assert one.meaning and one.category
        assert schema.dimension(one.name.replace(".", ": ").replace("_", " ").title()) == one
        assert len(one.values) == len({one.value(value.upper()) for value in one.values})
        assert not one.limits or list(one.limits) == sorted(one.limits)
    assert pickle.loads(pickle.dumps(schema)) == schema


def test_the_table_of_schemas_cannot_be_changed():
    with pytest.raises(TypeError):
        SCHEMAS["mine"] = SCHEMAS["agent-centric"]


def test_the_bundled_classification_conforms_as_it_is():
    assert fitting_schema(ATARI) == SCHEMAS["elverdam-aarseth"]
    assert conform(ATARI, "elverdam-aarseth") == ATARI


def test_the_papers_own_spelling_conforms_too():
    header = (
        "Virtual space: Perspective",
        "Virtual space: Env",
        "Haste",
        "Sync",
        "Mutability",
        "Players",
    )
    printed = Classification(
        ("skiing",), header, (("Omni", "None", "None", "None", "Absent", "1P"),)
    )
    assert conform(printed, "elverdam-aarseth").to_dict() == {
        "task": ["skiing"],
        "virtual_space.perspective": ["omnipresent"],
        "virtual_space.environment_dynamics": ["none"],
        "internal_time.haste": ["absent"],
        "internal_time.synchronicity": ["absent"],
        "game_state.mutability": ["none"],
        "player_composition.composition": ["1p"],
    }


def one_feature(name, value):
    return Classification(("pong",), (name,), ((value,),))


@pytest.mark.parametrize(
    ("given_table", "said"),
    [
        (
            one_feature("internal_time.hast", "absent"),
            "'internal_time.hast'. Did you mean 'internal_time.haste'? Known: 'external_time",
        ),
        (one_feature("hast", "absent"), "'virtual_space.perspective'"),
        (one_feature("haste", "often"), "'pong': Unknown value of internal_time.haste 'often'"),
        (one_feature("haste", "often"), "Known: 'absent', 'present'"),
        (one_feature("haste", " "), "no value of 'internal_time.haste'"),
        (one_feature("positioning", "relative"), "Give the whole name"),
        (
            Classification(("pong",), ("haste", "internal_time.haste"), (("absent", "absent"),)),
            "both the dimension 'internal_time.haste'",
        ),
    ],
)
def test_what_a_schema_does_not_know_is_refused_with_what_it_knows(given_table, said):
    with pytest.raises(InputError) as refused:
        conform(given_table, "elverdam-aarseth")
    assert said in str(refused.value)


@pytest.mark.parametrize("number", ["-1", "nan", "inf"])
def test_a_number_outside_every_band_is_refused(number):
    with pytest.raises(InputError, match="not below 0"):
        conform(one_feature("actions", number), "agent-centric")


def test_an_unknown_schema_is_refused_with_the_known_ones():
    with pytest.raises(InputError, match="Known: 'agent-centric', 'elverdam-aarseth'"):
        conform(ATARI, "aarseth")


def test_a_dimension_that_is_not_well_made_is_refused():
    with pytest.raises(InputError, match="one value more than limits"):
        Dimension("size", "", "", ("small",), True, (4,))
    with pytest.raises(InputError, match="Unknown value of size 'huge'"):
        Dimension("size", "", "", ("small",), value_synonyms=(("giant", "huge"),))
    with pytest.raises(InputError, match="appears twice"):
        Schema("s", "", "", (Dimension("a", "", "", ("x",)),) * 2)


WHOLE = {
    "name": "mine",
    "title": "My kinds",
    "dimensions": [
        {
            "name": "board.size",
            "category": "Board",
            "values": ["small", "large"],
            "ordered": True,
            "limits": [64],
            "synonyms": ["size"],
            "value_synonyms": {"tiny": "small"},
        }
    ],
}


def test_a_schema_of_ones_own_is_read_from_the_fields_of_its_file():
    schema = Schema.from_dict(WHOLE)
    assert (schema.title, schema.dimension("size").value("tiny")) == ("My kinds", "small")
    assert Schema.from_dict({"name": "bare", "dimensions": []}).title == "bare"


@given(
    part=st.sampled_from(
        [("name",), ("dimensions",), ("dimensions", 0)]
        + [("dimensions", 0, key) for key in WHOLE["dimensions"][0]]
        + [("dimensions", 0, "values", 0), ("dimensions", 0, "limits", 0)]
    ),
    value=st.one_of(
        st.none(), st.booleans(), st.integers(-3, 3), st.text(max_size=3), st.just([]), st.just({})
    ),
)
@example(part=("name",), value="")
def test_a_schema_file_with_any_part_wrong_is_refused_in_a_sentence(part, value):
    fields = json.loads(json.dumps(WHOLE))
    inside = fields
    for key in part[:-1]:
        inside = inside[key]
    inside[part[-1]] = value
    try:
        assert Schema.from_dict(fields).name
    except InputError as problem:
        assert str(problem).endswith(".")


def test_the_part_of_a_schema_file_that_is_wrong_is_named():
    wrong = {**WHOLE, "dimensions": [{**WHOLE["dimensions"][0], "limits": ["sixty"]}]}
    with pytest.raises(InputError, match=r"dimensions\[0\]\.limits\[0\] is 'sixty'. Give a number"):
        Schema.from_dict(wrong)
    with pytest.raises(InputError, match="The dimension 'size' has no values"):
        Schema.from_dict({"name": "s", "dimensions": [{"name": "size"}]})


def test_kinds_and_coverage_are_answers_with_tables():
    kinds = task_kinds(ATARI)
    assert kinds.coverage.headline == (
        "55 tasks lack 8 of 26 values and 11 of 144 pairs of values of 'elverdam-aarseth'."
    )
    assert [len(table) for table in kinds.tables.values()] == [31, 9, 26, 11]
    content = kinds.to_dict()
    assert content["schema"] == "examiner.typology/1" and content["settings"]["seed"] == 0
    assert content["groups"][0]["size"] == 9 and content["groups"][0]["kept"] == "time_pilot"
    assert kinds.groups["pong"].tasks == ("pong",)
    assert kinds.coverage.to_dict()["missing_pair_count"] == 11


# ---------------------------------------------------------------- groups


def test_the_bundled_games_fall_into_the_papers_31_groups():
    groups = task_kinds(ATARI).members
    assert (len(ATARI.tasks), len(groups)) == (55, 31)
    printed = dict(zip(ATARI.tasks, ATARI.attributes["paper_group"], strict=True))
    assert {frozenset(group.tasks) for group in groups} == {
        frozenset(task for task in ATARI.tasks if printed[task] == number)
        for number in set(printed.values())
    }


def test_one_of_each_is_31_games_and_excludes_about_45_percent():
    kinds = task_kinds(ATARI, rng=rng())
    assert len(kinds.kept) == 31
    assert kinds.saved == pytest.approx(0.45, abs=0.015)  # 24 of 55; the paper rounds up


def test_the_reduced_set_depends_on_the_seed_alone():
    assert task_kinds(ATARI, rng=rng(1)).kept == task_kinds(ATARI, rng=rng(1)).kept
    assert len({task_kinds(ATARI, rng=rng(seed)).kept for seed in range(5)}) > 1


@given(classifications())
def test_groups_hold_every_task_once_and_only_identical_tasks(table):
    groups = task_kinds(table, None).members
    assert sorted(task for group in groups for task in group.tasks) == sorted(table.tasks)
    values = dict(zip(table.tasks, table.values, strict=True))
    kinds = [{values[task] for task in group.tasks} for group in groups]
    assert all(len(kind) == 1 for kind in kinds)
    assert len(set().union(*kinds)) == len(groups)


@given(classifications())
def test_the_reduced_set_has_every_value_and_every_pair_that_the_whole_has(table):
    kinds = task_kinds(table, None, rng=rng())
    assert ((kinds.coverage.joint > 0) == (kinds.kept_coverage.joint > 0)).all()
    assert kinds.kept_coverage.joint.max() <= len(kinds.members)


def test_grouping_by_fewer_features_gives_fewer_groups():
    kinds = task_kinds(ATARI, features=["Virtual space perspective"], rng=rng())
    assert len(kinds.groups) == 2


def test_grouping_says_what_it_cannot_use():
    with pytest.raises(InputError, match=r"Unknown feature 'genre'. Known: 'external_time"):
        task_kinds(ATARI, features=["genre"], rng=rng())
    with pytest.raises(InputError, match="0 features to group by"):
        task_kinds(ATARI, features=[], rng=rng())
    blank = Classification(("pong",), ("genre",), (("",),))
    with pytest.raises(InputError, match="'pong' has no value of 'genre'"):
        task_kinds(blank, rng=rng())


def test_one_task_and_tasks_all_alike_are_one_group():
    one = task_kinds(one_feature("genre", "paddle"), rng=rng())
    assert (one.kept, one.saved) == (("pong",), 0.0)
    assert "There is one task only" in one.notes[-1]
    alike = Classification(("a", "b", "c"), ("genre",), (("x",),) * 3)
    assert len(task_kinds(alike, rng=rng()).groups) == 1


# ---------------------------------------------------------------- coverage


def test_the_bundled_games_lack_values_that_the_schema_has():
    held = task_coverage(ATARI, "elverdam-aarseth")
    missing = set(held.missing_values)
    assert ("struggle.challenge", "agent") in missing
    assert ("player_composition.composition", "multiplayer") in missing
    assert len(missing) == 8
    assert "physical_space.perspective" in held.unclassified and len(held.unclassified) == 8


@given(classifications())
def test_missing_pairs_are_those_that_a_plain_search_does_not_find(table):
    held = task_coverage(table)
    had = {
        pair
        for row in table.values
        for pair in combinations(tuple(zip(table.features, row, strict=True)), 2)
    }
    values = [(name, value) for name in table.features for value in set(table.feature(name))]
    possible = {frozenset(pair) for pair in combinations(values, 2) if pair[0][0] != pair[1][0]}
    missing = {frozenset(pair) for pair in held.missing_pairs}
    assert missing == possible - {frozenset(pair) for pair in had}
    assert held.pairs == len(possible)


@given(classifications())
def test_evenness_is_the_normalised_entropy_of_the_shares(table):
    for use in task_coverage(table).dimensions:
        counts = Counter(table.feature(use.dimension))
        shares = [count / len(table.tasks) for count in counts.values()]
        assert use.largest_share == max(shares)
        if len(counts) == 1:
            assert math.isnan(use.evenness)
        else:
            entropy = -sum(share * math.log(share) for share in shares)
            assert use.evenness == pytest.approx(entropy / math.log(len(counts)))


def test_evenness_is_one_for_equal_shares_and_zero_for_one_value_of_several():
    even = Classification(("a", "b"), ("haste",), (("present",), ("absent",)))
    assert task_coverage(even, "elverdam-aarseth").dimensions[0].evenness == pytest.approx(1)
    assert (
        task_coverage(one_feature("haste", "absent"), "elverdam-aarseth").dimensions[0].evenness
        == 0
    )


def test_coverage_says_what_it_cannot_use():
    with pytest.raises(InputError, match="Unknown task 'chess'"):
        task_coverage(ATARI, tasks=["chess"])
    with pytest.raises(InputError, match="0 tasks"):
        task_coverage(ATARI, tasks=[])
    names = tuple(f"t{n}" for n in range(201))
    with pytest.raises(InputError, match="has 201 values"):
        task_coverage(Classification(names, ("name",), tuple((name,) for name in names)))


# ---------------------------------------------------------------- reading


def test_a_table_of_kinds_is_read_with_its_task_column_under_several_names(tmp_path):
    path = tmp_path / "kinds.csv"
    path.write_text("Game,paper_group,env,Genre\npong,1,none,paddle\nalien,2, fixed ,maze\n")
    kinds = read_classification(path)
    assert kinds.tasks == ("pong", "alien")
    assert kinds.features == ("env", "genre")
    assert kinds.feature("env") == ("none", "fixed")
    assert kinds.attributes["paper_group"] == ("1", "2")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("level,genre\n1,x\n", "has no column 'task'; found 'level', 'genre'"),
        ("task,genre\n", "holds no tasks"),
        ("task,note\npong,x\n", "says nothing of its tasks"),
        ("task,a,A\npong,x,y\n", "two columns 'a'"),
        ("task,genre\npong,x\npong,y\n", "'pong' appears twice"),
    ],
)
def test_a_bad_table_of_kinds_is_refused_in_a_sentence(tmp_path, text, said):
    path = tmp_path / "kinds.csv"
    path.write_text(text)
    with pytest.raises(InputError) as refused:
        read_classification(path)
    assert said in str(refused.value)
