"""The documentation tells the truth: its samples run, its links lead somewhere, its lists are complete.

On a page, in the order they stand and in one folder and namespace:
- a fenced block with `title="NAME"` is written to the file NAME;
- a `python` block is run, and a `text` block right behind it is what it prints;
- a line `$ examiner …` of a `console` block is run and must succeed; the lines below it must appear in its
  output, blanks and `…` aside;
- a block right behind `<!-- takes long -->` is run with the slow tests only.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import examiner as ex
from examiner.cli import main

ROOT = Path(__file__).parents[2]
PAGES = (
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "benchmarks").glob("*.md")),
)
LINKED = (*PAGES, ROOT / "VISION.md", ROOT / "CHANGELOG.md")

FENCE = re.compile(
    r"^(?P<fence>`{3,})(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=fence)[ \t]*$", re.M | re.S
)
LINK = re.compile(r"\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
TAKES_LONG = "<!-- takes long -->"
NAMES = {
    "rule": (ex.adaptive.RULES, "docs/guides/adaptive.md"),
    "normaliser": (ex.scores.NORMALISERS, "docs/guides/comparable.md"),
    "aggregate": (ex.scores.AGGREGATES, "docs/guides/uncertainty.md"),
    "format": (ex.importers.FORMATS, "docs/guides/logs.md"),
    "layout": (ex.results.WRITERS, "docs/guides/reading.md"),
    "section": (ex.reporting.FINDINGS, "docs/guides/report.md"),
    "data set": (ex.datasets.DATASETS, "docs/datasets.md"),
    "schema": (ex.typology.SCHEMAS, "docs/guides/typology.md"),
    "model": (ex.irt.MODELS, "docs/guides/irt.md"),
    "selection method": (ex.selection.METHODS, "docs/guides/selection.md"),
    "agent": (ex.arena.AGENTS, "docs/arena.md"),
    "protocol": (ex.arena.PROTOCOLS, "docs/arena.md"),
}


class Block(NamedTuple):
    """A fenced block: its language and title, its text, where it stands, and what lies before it."""

    language: str
    title: str | None
    text: str
    line: int
    adjacent: bool  # nothing but blank lines since the block before
    takes_long: bool


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found, end = [], 0
    for match in FENCE.finditer(text):
        language, _, rest = match["info"].strip().partition(" ")
        title = re.search(r'title="([^"]+)"', rest)
        found.append(
            Block(
                language,
                title[1] if title else None,
                match["body"],
                text.count("\n", 0, match.start()) + 1,
                bool(found) and not text[end : match.start()].strip(),
                text[end : match.start()].rstrip().endswith(TAKES_LONG),
            )
        )
        end = match.end()
    return found


def plain(text: str) -> str:
    return " ".join(text.split())


def run_python(block: Block, page: Path, namespace: dict[str, object]) -> str:
    # Blank lines before the code, so that an error names the line of the page.
    code = compile("\n" * block.line + block.text, str(page), "exec")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, namespace)
    return printed.getvalue()


def run_command(line: str) -> str:
    """Run one line as the installed `examiner` would, and return all it printed."""
    words, printed = shlex.split(line, comments=True), io.StringIO()
    before, sys.argv = sys.argv, words
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            main()
    except SystemExit as end:
        assert end.code in (0, None), f"`{line}` ended with {end.code}: {printed.getvalue()}"
    finally:
        sys.argv = before
    return printed.getvalue()


def run_console(block: Block, page: Path) -> None:
    output, command = "", ""
    for line in block.text.splitlines():
        if line.startswith("$ "):
            command = line[2:]
            output = plain(run_command(command)) if command.startswith("examiner") else ""
        elif plain(line) and command.startswith("examiner"):
            for part in line.split("…"):
                assert plain(part) in output, (
                    f"{page.relative_to(ROOT)}, block at line {block.line}: `{command}` no longer prints "
                    f"{plain(part)!r}. It prints:\n{output[:2000]}"
                )


@contextlib.contextmanager
def importable_docs() -> Iterator[None]:
    """Find the modules that lie next to the pages."""
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        yield
    finally:
        sys.path.pop(0)


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


SAMPLED = [page for page in PAGES if "decisions" not in page.parts]


@pytest.mark.parametrize("page", SAMPLED, ids=name_of)
def test_samples_of_a_page_run_and_print_what_is_shown(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run_blocks(page, [block for block in blocks_of(page) if not block.takes_long], monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [page for page in SAMPLED if TAKES_LONG in page.read_text(encoding="utf-8")],
    ids=name_of,
)
def test_samples_that_take_long_print_what_is_shown_too(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run_blocks(page, blocks_of(page), monkeypatch)


def run_blocks(page: Path, blocks: list[Block], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")  # tables are not folded to a terminal's width
    namespace: dict[str, object] = {"__name__": "__main__"}
    printed: str | None = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ex.ExaminerWarning)  # users see notes and go on
        for block in blocks:
            if block.title is not None:
                Path(block.title).parent.mkdir(parents=True, exist_ok=True)
                Path(block.title).write_text(block.text, encoding="utf-8")
            if block.language == "text" and block.adjacent and printed is not None:
                assert block.text.split() == printed.split(), (
                    f"{name_of(page)}, line {block.line}: the sample above it prints\n{printed}"
                )
            printed = run_python(block, page, namespace) if block.language == "python" else None
            if block.language in ("console", "shell"):
                run_console(block, page)


def test_the_module_runs_as_the_command_does() -> None:
    words = [sys.executable, "-m", "examiner", "datasets", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout == run_command("examiner datasets --json")


@pytest.mark.parametrize("page", LINKED, ids=name_of)
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    targets = [link for link in LINK.findall(text) if not re.match(r"[a-z]+:|#", link)]
    lost = [link for link in targets if not (page.parent / link.partition("#")[0]).exists()]
    assert not lost, f"{name_of(page)} links to {lost}, which do not exist. Correct the links."


def test_the_navigation_has_at_most_25_pages_which_all_exist() -> None:
    _, _, navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")
    pages = re.findall(r": (\S+\.md)$", navigation, re.M)
    assert 0 < len(pages) <= 25
    assert [page for page in pages if not (ROOT / "docs" / page).exists()] == []


@pytest.mark.parametrize("kind", NAMES)
def test_every_name_a_user_can_give_is_documented(kind: str) -> None:
    table, page = NAMES[kind]
    text = (ROOT / page).read_text(encoding="utf-8")
    missing = [name for name in table if f"`{name}`" not in text]
    assert not missing, (
        f"The {kind} {missing} is not in the documentation. Describe it in {page}, its name in `backticks`."
    )


@pytest.mark.parametrize("name", ex.__all__)
def test_every_public_name_has_a_place_in_the_reference(name: str) -> None:
    pages = "".join(
        page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "api").glob("*.md")
    )
    assert re.search(rf"\.{name}\b|`{name}`", pages), (
        f"`examiner.{name}` is in no page of docs/api. Add `::: examiner.<room>.<file>.{name}` to the "
        f"page of its room."
    )


def test_the_command_line_reference_lists_every_command_with_its_options() -> None:
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    with importable_docs():
        from docstrings import commands

        missing = [
            name
            for path, name in commands().items()
            if f"::: {path}\n" not in page or not re.search(rf"^##+ {name}$", page, re.M)
        ]
    assert missing == [], f"Add a heading and a line `::: …` for {missing} to docs/command-line.md."


def test_tables_of_options_have_every_option_of_a_command_once() -> None:
    import click

    from examiner.cli import app

    with importable_docs():
        from docstrings import options_table

        fit, shared = options_table("fit"), options_table("fit", ("Reading", "Output"))
    command = app.get_command(click.Context(app), "fit")
    assert command is not None
    for option in (name for part in command.params for name in part.opts if name[:2] == "--"):
        listed = [
            table for table in (fit, shared) if re.search(rf"\| <code>[^<]*{option}\b", table)
        ]
        assert len(listed) == 1, option


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "decisions").glob("0*.md")), ids=name_of)
def test_a_decision_says_its_context_choice_and_cost_and_is_in_the_index(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [title for title in ("## Context", "## Choice", "## Cost") if title not in text] == []
    index = (page.parent / "index.md").read_text(encoding="utf-8")
    assert f"({page.name})" in index, f"Add {page.name} to docs/decisions/index.md."


def test_the_page_of_data_sets_says_what_the_cards_say() -> None:
    with importable_docs():
        from datasets_page import page
    assert (ROOT / "docs" / "datasets.md").read_text(encoding="utf-8") == page(), (
        "docs/datasets.md is older than the cards. Write it again: python docs/datasets_page.py"
    )
