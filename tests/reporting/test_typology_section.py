"""The section on kinds of task, and its coverage grid."""

from __future__ import annotations

import numpy as np
import pytest

import examiner as ex
from examiner.results import Classification, Results


def section_of(results, kinds):
    report = ex.report(results, typology=kinds, sections=["typology"])
    return report.to_dict()["sections"][0], report


def blocks(section, kind):
    return [block for block in section["blocks"] if block["kind"] == kind]


def test_the_section_is_there_only_with_a_classification(scaled):
    kinds = Classification(tuple("tuvw"), ("genre",), (("x",), ("x",), ("y",), ("y",)))
    assert "typology" not in [one.key for one in ex.report(scaled).sections]
    made = ex.report(scaled, typology=kinds)
    assert "typology" in [one.key for one in made.sections]
    assert 'id="figure-typology-coverage"' in made.html


def test_the_bundled_games_are_told_with_groups_coverage_and_tests():
    section, _ = section_of(ex.load("atari-dqn-family"), ex.load("atari-typology"))
    claim = "55 tasks are of 31 kinds: keeping one of each excludes 44 % of the tasks. "
    assert section["finding"].startswith(claim)
    assert len(blocks(section, "table")[1]["rows"]) == 31
    (figure,) = blocks(section, "figure")
    assert len(figure["data"]["values"]) == 26 and len(figure["data"]["missing"]) == 22
    assert "does not mean that they are similar" in " ".join(blocks(section, "notes")[1]["notes"])


def test_too_few_agents_leave_the_groups_without_a_test():
    kinds = Classification(("t", "u"), ("genre",), (("x",), ("x",)))
    section, _ = section_of(Results.from_numpy([[0.5, 1.0]], tasks="tu"), kinds)
    assert "Hypothesis tests need at least 3" in blocks(section, "notes")[-1]["notes"][0]


def test_hostile_names_are_escaped(hostile):
    names = hostile.tasks
    rows = tuple((name if name.strip() else "blank",) for name in names)
    kinds = Classification(names, (names[0],), rows)
    section, report = section_of(hostile, kinds)
    assert section["finding"].startswith("23 tasks are of 22 kinds")
    assert "<img" not in report.html.split("</style>")[1].split("<script")[0]
    assert "<script>alert(1)" not in report.html


def test_the_grid_marks_pairs_that_no_task_has_and_leaves_impossible_ones_blank():
    kinds = Classification(
        tuple("tuvw"), ("a", "b"), (("x", "u"), ("x", "v"), ("y", "u"), ("x", "u"))
    )
    results = Results.from_numpy(np.random.default_rng(0).random((4, 4)), tasks="tuvw")
    drawn = ex.plots.coverage(results, typology=kinds)
    assert list(zip(drawn.data.dimensions, drawn.data.values, strict=True)) == [
        *(("a", "x"), ("a", "y"), ("b", "u"), ("b", "v"))
    ]
    assert drawn.data.missing == ((1, 3), (3, 1))
    assert np.isnan(drawn.data.joint[0, 1]) and np.isnan(drawn.data.joint[3, 2])
    graph_objects = pytest.importorskip("plotly.graph_objects")
    graph_objects.Figure(drawn.figure.drawing)
