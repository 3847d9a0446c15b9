"""Reports from end to end: the page, the JSON, the choices and the refusals."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import examiner as ex
from examiner.messages import InputError
from examiner.reporting import Finding
from examiner.results import Results


class Outside(HTMLParser):
    """Collects what a page would load or run, scripts of our own aside."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.handlers: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        for name, value in attributes:
            if name in ("src", "href", "srcset", "action", "data", "poster"):
                self.links.append(value or "")
            if name.startswith("on"):
                self.handlers.append(value or "")


def text_of(report):
    return json.dumps(report.to_dict(), ensure_ascii=False)


def test_the_page_asks_for_nothing_from_outside(hostile_report):
    page = Outside(hostile_report.html)
    assert [link for link in page.links if not link.startswith("#")] == []
    assert not {"link", "img", "iframe", "object", "embed", "base", "form"} & set(page.tags)
    assert page.handlers == []


def test_the_page_runs_only_its_own_two_scripts_whatever_the_names(hostile_report):
    html = hostile_report.html
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html).group(1)
    assert "default-src 'none'" in policy
    assert policy.count("'sha256-") == 2
    assert "unsafe-eval" not in policy and "script-src 'unsafe-inline'" not in policy
    data = len(re.findall(r'<script type="application/json"', html))
    assert Outside(html).tags.count("script") == data + 2


def test_hostile_names_are_escaped_and_survive_in_the_json(hostile, hostile_report):
    report = hostile_report
    markup = re.sub(r"<script.*?</script>", "", report.html, flags=re.DOTALL)
    assert "<script>alert(1)" not in report.html
    assert "<img" not in markup and "<svg onload" not in markup
    assert "{{ 7*7 }}" in markup
    rows = report.to_dict()["sections"][0]["blocks"][1]["rows"]
    assert {row[0] for row in rows} == set(hostile.agents)


def test_figures_in_the_page_are_json_that_cannot_close_its_element(hostile_report):
    html = hostile_report.html
    blocks = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', html, re.DOTALL)
    assert set(json.loads(blocks.pop())["agents"]) == set(hostile_report.subjects.agents)
    assert len(blocks) >= 2
    for block in blocks:
        assert not set("<>&\u2028\u2029") & set(block)
        content = json.loads(block)
        assert content.get("figure", content).get("data") or content.keys() & {"values", "pairs"}


def test_a_notebook_shows_the_findings_with_names_escaped(hostile_report):
    shown = hostile_report._repr_html_()
    assert len(shown) < 50_000
    assert "<img" not in shown and "<script" not in shown


def test_the_same_results_give_the_same_bytes(scaled):
    assert ex.report(scaled).html == ex.report(scaled).html


def test_saving_returns_the_path_and_writes_the_page(scaled, tmp_path):
    report = ex.report(scaled)
    path = report.save(tmp_path / "report.html")
    assert path.read_text(encoding="utf-8") == report.html
    assert list(tmp_path.iterdir()) == [path]


def test_a_page_cannot_be_saved_into_a_folder_that_is_not_there(scaled, tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        ex.report(scaled).save(tmp_path / "nowhere" / "report.html")


def test_the_json_has_a_schema_its_recipe_and_no_nan(hostile_report):
    content = hostile_report.to_dict()
    assert content["schema"] == "examiner.report/1"
    assert (content["normaliser"], content["measure"], content["seed"]) == ("human", "score", 0)
    json.dumps(content, allow_nan=False)


@pytest.mark.parametrize("name", list(ex.reporting.FINDINGS))
def test_each_section_can_be_had_alone(scaled, name):
    report = ex.report(scaled, sections=[name])
    assert [section.key for section in report.sections] == [name]
    assert f'id="{name}"' in report.html


@pytest.mark.parametrize("name", list(ex.reporting.FINDINGS))
def test_every_section_says_its_finding_in_a_sentence(scaled, name):
    section = ex.report(scaled, sections=[name]).to_dict()["sections"][0]
    assert section["key"] == name and section["title"]
    assert section["finding"].endswith(".") and len(section["finding"]) > 20


def test_a_section_may_be_a_function(scaled):
    def own(study):
        return Finding("own", "Own", (f"{len(study.results.agents)} agents.",))

    assert ex.report(scaled, sections=[own, "ranking"]).sections[0].key == "own"


def test_contents_are_listed_from_four_sections_on(scaled):
    assert "<nav" not in ex.report(scaled, sections=["reading", "ranking", "heatmap"]).html
    assert (
        '<a href="#ranking">'
        in ex.report(scaled, sections=[*ex.reporting.FINDINGS, "ranking"]).html
    )


def test_a_page_without_figures_carries_no_plotly(scaled):
    assert len(ex.report(scaled, sections=["reading"]).html) < 80_000


def test_an_unknown_section_is_refused_and_the_known_are_listed(scaled):
    with pytest.raises(InputError, match=r"Unknown section 'rankin'\. Did you mean 'ranking'"):
        ex.report(scaled, sections=["rankin"])


def test_no_sections_at_all_are_refused(scaled):
    with pytest.raises(InputError, match=f"Name some of {', '.join([*ex.reporting.FINDINGS][:3])}"):
        ex.report(scaled, sections=[])


def test_an_unknown_normaliser_and_an_unknown_measure_are_refused(scaled):
    with pytest.raises(InputError, match="Unknown normaliser 'humn'"):
        ex.report(scaled, "humn")
    with pytest.raises(InputError, match="Unknown measure 'scor'"):
        ex.report(scaled, measure="scor")


def test_progress_is_told_before_each_section_and_at_the_end(scaled):
    told = []
    ex.report(scaled, progress=lambda *step: told.append(step))
    # What was read is told last: it warns of what the others have found.
    entries = ex.reporting.FINDINGS
    names = [name for name in entries if entries[name].default != "never"]
    steps = [(name, place, len(names)) for place, name in enumerate([*names, "done"])]
    assert told == steps


@pytest.mark.parametrize("normalise", [*ex.scores.NORMALISERS, None, "auto"])
def test_every_normaliser_makes_a_report(scaled, normalise):
    report = ex.report(scaled, normalise)
    assert len(report.sections) >= 3
    assert report.html.startswith("<!DOCTYPE html>")


def test_a_function_can_normalise_and_is_named(scaled):
    def halved(scores):
        return scores.values / 2

    assert "halved" in text_of(ex.report(scaled, halved))


@pytest.mark.parametrize("values", [[[0.5]], [[7.0]], [[7.0, 9.0]], [[3.0], [4.0]], [[3.0], [3.0]]])
@pytest.mark.filterwarnings("ignore::examiner.ExaminerWarning")
def test_one_agent_or_one_task_still_gives_a_report(values):
    report = ex.report(Results.from_numpy(values))
    assert all(section["finding"] for section in report.to_dict()["sections"])
    assert report.html


@pytest.mark.filterwarnings("ignore::examiner.ExaminerWarning")
def test_a_measure_nobody_has_on_a_task_still_gives_a_report():
    columns = {
        "agent": ["a", "b", "a", "b"],
        "task": ["t", "t", "u", "u"],
        "score": [1.0, 2.0, 3.0, 4.0],
        "win": [1.0, 0.0, None, None],
    }
    report = ex.report(Results.from_dict(columns), measure="win")
    assert "No agent was observed on u." in text_of(report)
    assert report.html


def test_large_tables_are_cut_and_that_is_said():
    rng = np.random.default_rng(0)
    sections = ["reading", "ranking", "heatmap"]
    report = ex.report(Results.from_numpy(rng.random((501, 401))), sections=sections)
    page, small = report.html, ex.report(Results.from_numpy([[0.5]])).html
    assert "Shown are the first 200 of 501 agents by rank." in page
    assert "Shown are the 400 of 401 tasks on which agents differ most." in page
    assert "The first 500 of 501 rows are shown;" in page
    assert len(page) - len(small) < 4_000_000
    assert len(report.to_dict()["sections"][1]["blocks"][1]["rows"]) == 501


def test_the_footer_says_how_to_make_the_report_again():
    report = ex.report(ex.load("atari-dqn-family"), title="It's mine")
    assert report.command == """ex.report(results, title="It's mine")"""
    assert "ex.report(results, title=" in report.html


def test_a_report_names_itself(scaled):
    sections = ["reading", "ranking", "heatmap"]
    named = repr(ex.report(scaled, title="T", sections=sections))
    assert named == "Report 'T': reading, ranking, heatmap"
