"""The page in a real browser: what is drawn, chosen, sorted, found, tried and taken away."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest

import examiner as ex
from browser import PHONE, WIDE, Opened, started
from examiner.reporting.cells import column_numbers
from examiner.reporting.prose import three_digits
from examiner.results import Results

AGENTS = ("uct", "dqn", "random", "brute", "a2c", "ppo", "iw1", "sarsa", "no-op")
TASKS = ("pong", "boxing", "freeway", "alien", "krull", "qbert", "hero", "amidar")
SECTIONS = [
    *("ranking", "tasks", "selection", "heatmap", "intervals", "strips", "profiles", "suspects"),
    *("similarity", "decision", "reading"),
]


@pytest.fixture(scope="module")
def browser():
    with started() as browser:
        yield browser


@pytest.fixture(scope="module")
def results() -> Results:
    rng = np.random.default_rng(0)
    level = np.linspace(2, 0, len(AGENTS))[:, None, None]
    own = 0.5 * rng.normal(size=(len(AGENTS), len(TASKS), 1))
    noise = 0.2 * rng.normal(size=(len(AGENTS), len(TASKS), 3))
    return Results.from_numpy(level + own + noise, agents=AGENTS, tasks=TASKS)


@pytest.fixture(scope="module")
def report(results):
    return ex.report(results, None, sections=SECTIONS, title="nine agents")


@pytest.fixture(scope="module")
def saved(browser, report, tmp_path_factory) -> Path:
    return report.save(tmp_path_factory.mktemp("page") / "report.html")


@pytest.fixture(scope="module")
def shared(browser, saved):
    """One page for all tests that leave it as they found it."""
    opened = Opened(browser, saved)
    yield opened
    opened.close()


def unfold(opened: Opened) -> None:
    opened.ask("document.querySelectorAll('details').forEach((each) => { each.open = true; })")


def texts(opened: Opened, selector: str) -> list[str]:
    return [text.strip() for text in opened.page.locator(selector).all_text_contents()]


def test_every_section_is_drawn_without_an_error_or_a_request(shared):
    unfold(shared)
    assert shared.draw_all() >= 8
    assert shared.errors == [] and shared.outside == []
    assert len(texts(shared, "section.card")) == len(SECTIONS)


def test_the_verdict_comes_first_then_three_questions_then_evidence(shared):
    assert shared.ask("document.getElementById('verdict').getBoundingClientRect().top") < 200
    assert texts(shared, ".chapter > h2") == [
        *("Who is better?", "Which tasks matter?", "How short can it be?", "Evidence"),
        "What this is based on",
    ]


def test_evidence_is_folded_until_it_is_asked_for(browser, saved):
    opened = Opened(browser, saved)
    assert opened.page.locator("#heatmap .plot").is_hidden()
    opened.page.locator("nav a[href='#heatmap']").click()
    opened.page.wait_for_function("() => document.querySelector('#figure-heatmap .main-svg')")
    opened.close()


def test_numbers_in_the_page_are_those_of_scores(shared, results):
    agents = ex.scores.rank(results, normalise=None).agents
    assert texts(shared, "#ranking td.name") == list(agents.agent)
    assert texts(shared, "#ranking td.mean") == column_numbers(agents.mean.tolist())
    ends = zip(
        column_numbers(agents.mean_low.tolist()),
        column_numbers(agents.mean_high.tolist()),
        strict=True,
    )
    assert texts(shared, "#ranking td.mean_low") == [f"{low} to {high}" for low, high in ends]


def test_two_agents_that_are_ticked_are_compared_as_compare_does(browser, saved, results):
    opened = Opened(browser, saved)
    boxes = opened.page.locator("#ranking td.tick input")
    boxes.nth(0).check()
    boxes.nth(4).check()
    ranked = ex.scores.rank(results, normalise=None).agents.agent
    pair = ex.scores.compare(results, ranked[0], ranked[4], normalise=None).pairs[0]
    told = opened.page.locator(".compared").text_content()
    ends = f"{three_digits(pair.difference_low)} to {three_digits(pair.difference_high)}"
    assert told.startswith(
        f"{ranked[0]} is ahead of {ranked[4]} by {three_digits(pair.difference)}"
    )
    assert f"(95 % interval {ends})" in told
    boxes.nth(2).check()
    assert opened.page.locator("#ranking td.tick input:checked").count() == 2
    opened.close()


def test_tasks_are_filtered_by_flags_and_letters(shared):
    page = shared.page
    page.fill("#tasks .filters input", "o")
    shown = [task for task in TASKS if "o" in task]
    assert sorted(texts(shared, "#tasks tbody tr:not([hidden]) td.name")) == sorted(shown)
    page.fill("#tasks .filters input", "")


def test_one_question_has_one_number_on_the_page(shared, report):
    """Every R² of the selected tasks, and every leader, is the same wherever it stands."""
    text = shared.ask("document.body.innerText")
    size = len(next(s for s in report.sections if s.key == "selection").answer)
    begin = shared.page.locator("#selection .figures tbody td:nth-child(2)").first.text_content()
    assert f"R² {begin}" in text and size > 0
    leaders = {said.split(" ")[0] for said in texts(shared, "#verdict .claim")[:1]}
    leaders |= {shared.ask("document.querySelector('#ranking h3').lastChild.data").split(" ")[0]}
    leaders |= {texts(shared, "#ranking td.name")[0]}
    assert len(leaders) == 1


def test_leaders_are_visible_on_a_phone(browser, saved):
    opened = Opened(browser, saved, PHONE)
    for cell in ("td.name", "td.mean"):
        box = opened.page.locator(f"#ranking {cell}").first.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= PHONE
    opened.close()


def test_a_task_that_is_chosen_is_marked_everywhere_and_kept_in_the_address(shared):
    page = shared.page
    unfold(shared)
    shared.draw_all()
    page.fill("#find", "box")
    page.keyboard.press("Enter")
    assert shared.ask("location.hash") == "#task=boxing"
    assert page.locator("#drawer h2").text_content() == "boxing"
    shown = texts(shared, "#drawer .strip .value")
    assert len(shown) == len(AGENTS)
    frames = "(document.getElementById('figure-heatmap').layout.shapes ?? []).length"
    assert shared.ask(frames) == 1
    page.keyboard.press("Escape")
    assert page.locator("#drawer").is_hidden()
    assert shared.ask("location.hash") == "" and shared.ask(frames) == 0


def test_an_address_brings_back_what_was_chosen(browser, saved):
    opened = Opened(browser, saved)
    opened.page.goto(f"{opened.address}#agent=dqn&order=name")
    opened.page.reload()
    assert opened.page.locator("#drawer h2").text_content() == "dqn"
    assert opened.page.locator("#order").input_value() == "name"
    assert opened.page.locator("#ranking tr.chosen td.name").first.text_content() == "dqn"
    opened.close()


def test_one_order_of_agents_holds_for_tables_and_figures(shared):
    unfold(shared)
    shared.draw_all()
    page = shared.page
    figures = ("ranking-strips", "heatmap", "intervals")
    for order in ("name", "as read", "mean"):
        page.select_option("#order", order)
        wanted = sorted(AGENTS) if order == "name" else list(AGENTS) if order == "as read" else None
        table = texts(shared, "#ranking tbody td.name")
        wanted = table if wanted is None else wanted
        assert table == wanted
        for figure in figures:
            ticks = f"document.getElementById('figure-{figure}').layout.yaxis.ticktext"
            assert shared.ask(ticks) == wanted, (order, figure)


def test_points_move_with_their_rows(shared):
    unfold(shared)
    shared.draw_all()
    of = """(() => {
      const { data, layout } = document.getElementById("figure-intervals");
      const names = layout.yaxis.ticktext;
      return Object.fromEntries(data.flatMap(({ x, y }) => y.map((row, at) => [names[row], x[at]])));
    })()"""
    before = shared.ask(of)
    shared.page.select_option("#order", "name")
    assert shared.ask(of) == before
    shared.page.select_option("#order", "mean")


def test_a_cell_tells_its_agent_task_and_score(shared, results):
    unfold(shared)
    shared.draw_all()
    shared.page.locator("#figure-heatmap").scroll_into_view_if_needed()
    area = shared.page.locator("#figure-heatmap .nsewdrag").first.bounding_box()
    shared.page.mouse.move(area["x"] + 6, area["y"] + 6, steps=3)
    shared.page.wait_for_function("() => !document.getElementById('tip').hidden")
    agent, task, raw, *_ = texts(shared, "#tip > div")
    row = results.agents.index(agent) * len(TASKS) + results.tasks.index(task)
    mean = results.measure().reshape(-1, 3)[row].mean()
    assert float(raw.split(": ")[1].replace("−", "-")) == pytest.approx(mean, rel=1e-3)
    shared.page.mouse.move(5, 5)


def test_tables_are_sorted_by_a_click_on_a_title(shared):
    shared.page.locator("#ranking th button", has_text="agent").click()
    assert texts(shared, "#ranking td.name") == sorted(AGENTS)
    shared.page.locator("#ranking th button", has_text="mean").click()
    values = shared.ask(
        "[...document.querySelectorAll('#ranking td.mean')].map((cell) => Number(cell.dataset.value))"
    )
    assert values == sorted(values, reverse=True)


def test_the_board_does_the_sums_of_the_library(shared, results):
    page = shared.page
    whole = ex.selection.benchmark(results, ex.Recipe(normaliser=None))
    sizes = [size for size in ex.selection.CURVE_SIZES if size < len(TASKS)]
    found = ex.selection.judge(whole, sizes, [ex.selection.DEFAULT])
    for place, size in enumerate(sizes[:3]):
        page.locator("#selection .slide input").fill(str(place))
        row, random = found.row(ex.selection.DEFAULT, size), found.row("random", size)
        numbers = [three_digits(value) for value in (row.r2, row.mae, row.kendall)]
        assert texts(shared, "#selection .figures tbody td:nth-child(2)")[:3] == numbers
        numbers = [three_digits(value) for value in (random.r2, random.mae, random.kendall)]
        assert texts(shared, "#selection .figures tbody td:nth-child(3)")[:3] == numbers
        listed = page.locator("#selection pre").text_content().split("\n")
        assert listed == list(found.sets[0][place])
    page.locator("#selection .slide input").fill(str(len(sizes)))
    assert texts(shared, "#selection .slide output") == [str(len(TASKS))]
    assert texts(shared, "#selection .figures tbody td:nth-child(2)")[:3] == ["1", "0", "1"]
    page.locator("#selection .by-hand").evaluate("(each) => { each.open = true; }")
    page.locator("#selection label", has_text="krull").click()
    page.locator("#selection label", has_text="hero").click()
    ticked = page.locator("#selection input:checked + bdi").all_text_contents()
    made = ex.selection.judge_tasks(whole, ticked)
    row, predicted = made.methods[0], made.predicted[0, 0]
    assert "tasks taken as given" in page.locator("#selection .outcome").text_content()
    assert texts(shared, "#selection .figures tbody td:nth-child(2)")[1] == three_digits(row.mae)
    order = np.argsort(-predicted)
    assert texts(shared, "#selection .predicted td.name") == [AGENTS[row] for row in order]
    shown = texts(shared, "#selection .predicted td:nth-child(4)")
    assert shown == [three_digits(float(predicted[row])) for row in order]
    assert "try=" in shared.ask("location.hash")
    page.locator("#selection .slide input").fill("0")


def test_figures_and_tables_are_taken_away(shared, report):
    page = shared.page
    unfold(shared)
    shared.draw_all()
    for ending, start in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with page.expect_download() as waiting:
            page.locator("#profiles .take button", has_text=ending).click()
        assert waiting.value.suggested_filename == f"profiles.{ending.lower()}"
        assert Path(waiting.value.path()).read_bytes().startswith(start)
    taken = {}
    for ending in ("CSV", "LaTeX"):
        with page.expect_download() as waiting:
            page.locator("#ranking .take button", has_text=ending).first.click()
        taken[ending] = Path(waiting.value.path()).read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(taken["CSV"])))
    ranking = next(section for section in report.sections if section.key == "ranking")
    agents = ranking.answer.agents
    for name in ("mean", "mean_low", "mean_high"):
        told = dict(zip(agents.agent, agents.values(name).tolist(), strict=True))
        assert {row["agent"]: float(row[name]) for row in rows} == pytest.approx(told)
    assert taken["LaTeX"].startswith(r"\begin{tabular}{lrrrrr}")
    assert r"\bottomrule" in taken["LaTeX"]


@pytest.mark.filterwarnings("ignore::examiner.ExaminerWarning")
def test_labels_of_twelve_agents_on_27_tasks_can_be_read(browser, tmp_path):
    sections = [
        "ranking",
        "rank_probabilities",
        "intervals",
        "significance",
        "similarity",
        "decision",
    ]
    report = ex.report(ex.load("atari-arena"), success=0.05, sections=[*sections, "reading"])
    opened = Opened(browser, report.save(tmp_path / "report.html"))
    unfold(opened)
    opened.draw_all()
    assert opened.unreadable() == []
    opened.close()


def test_labels_that_lie_on_each_other_or_are_cut_are_found(browser, saved):
    opened = Opened(browser, saved)
    unfold(opened)
    opened.draw_all()
    opened.ask(
        """(() => {
          const [one, other] = document.querySelectorAll("#figure-intervals .ytick text");
          other.setAttribute("y", one.getAttribute("y"));
          other.setAttribute("transform", one.getAttribute("transform") ?? "");
          document.querySelector("h1").style.whiteSpace = "nowrap";
          document.querySelector("h1").textContent = "wide ".repeat(200);
        })()"""
    )
    found = opened.unreadable()
    assert any("lies on" in each for each in found)
    assert any("page's edge" in each for each in found)
    opened.close()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::examiner.ExaminerWarning")
@pytest.mark.parametrize("width", [WIDE, PHONE])
@pytest.mark.parametrize(
    "name", ["atari-arena", "atari-dqn-family", "swebench-verified", "simulated"]
)
def test_no_label_of_a_whole_report_overlaps_or_is_cut(browser, tmp_path, name, width):
    results = _simulated(500, 4000) if name == "simulated" else ex.load(name)
    report = ex.report(results, success=0.05 if name == "atari-arena" else None)
    opened = Opened(browser, report.save(tmp_path / "report.html"), width)
    opened.draw_all()
    opened.ask("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    opened.draw_all()
    assert opened.unreadable() == []
    assert opened.sideways <= 0 and opened.errors == []
    opened.close()


def _simulated(agents: int, tasks: int) -> Results:
    rng = np.random.default_rng(0)
    slope, difficulty = rng.lognormal(0, 0.4, tasks), rng.normal(size=tasks)
    chance = 1 / (1 + np.exp(-slope * (rng.normal(size=(agents, 1)) - difficulty)))
    return Results.from_numpy((rng.random((agents, tasks)) < chance).astype(float))


def test_a_phone_scrolls_down_and_not_sideways(browser, saved):
    opened = Opened(browser, saved, PHONE)
    opened.draw_all()
    assert opened.sideways <= 0
    opened.close()


@pytest.mark.slow
def test_no_serious_hindrance_is_found(browser, saved):
    found = pytest.importorskip("axe_playwright_python", reason="needs axe-playwright-python")
    script = (Path(found.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    for scheme in ("light", "dark"):
        opened = Opened(browser, saved, color_scheme=scheme, bypass_csp=True)
        opened.draw_all()
        opened.ask("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        opened.draw_all()
        opened.ask(script)
        wrong = opened.ask("axe.run(document, {resultTypes: ['violations']})")["violations"]
        grave = [
            (each["id"], each["nodes"][0]["html"][:200])
            for each in wrong
            if each["impact"] in ("serious", "critical")
        ]
        assert grave == [], scheme
        opened.close()


@pytest.mark.slow
def test_hostile_names_stay_names(browser, hostile_report, tmp_path):
    page = hostile_report.save(tmp_path / "report.html")
    opened = Opened(browser, page)
    before = opened.page.title()
    unfold(opened)
    opened.draw_all()
    for name in hostile_report.subjects.tasks:
        opened.ask(
            "(name) => { location.hash = new URLSearchParams({ task: name }).toString(); }", name
        )
        opened.page.wait_for_function("() => !document.getElementById('drawer').hidden")
    assert opened.page.title() == before
    assert opened.errors == [] and opened.outside == []
    assert (
        opened.ask("document.querySelectorAll('main img, #drawer img, main a[href^=http]').length")
        == 0
    )
    opened.close()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::examiner.ExaminerWarning")
def test_twelve_agents_on_27_tasks_take_at_most_4500_pixels(browser, tmp_path):
    page = ex.report(ex.load("atari-arena"), success=0.05).save(tmp_path / "report.html")
    opened = Opened(browser, page)
    opened.draw_all()
    assert opened.ask("document.documentElement.scrollHeight") <= 4500
    assert opened.errors == []
    opened.close()


@pytest.mark.slow
def test_paper_has_every_figure_in_light_colours(browser, saved, tmp_path):
    opened = Opened(browser, saved, color_scheme="dark")
    unfold(opened)
    opened.page.emulate_media(media="print")
    opened.ask("window.dispatchEvent(new Event('beforeprint'))")
    opened.wait_until_drawn()
    inks = opened.ask(
        "[...document.querySelectorAll('.plot')].flatMap((p) => p.layout ? [p.layout.font.color] : [])"
    )
    assert set(inks) == {"#1c2230"}
    assert len(opened.page.pdf(path=str(tmp_path / "report.pdf"))) > 50_000
    opened.close()
