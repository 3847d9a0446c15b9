"""A real browser for tests of the page: Debian's chromium, driven by playwright."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
WIDE, PHONE = 1280, 390
LEGIBILITY = Path(__file__).parent / "legibility.js"


@contextmanager
def started() -> Iterator[Any]:
    """Start the browser, or skip with the reason."""
    if CHROMIUM is None:
        pytest.skip("needs Chromium")
    driver = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    with driver.sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield browser
        browser.close()


class Opened:
    """A page, with what it logged and asked for."""

    def __init__(self, browser: Any, path: Path, width: int = WIDE, **how: Any) -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 900}, **how)
        self.page = self.context.new_page()
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.page.on(
            "console", lambda said: self.errors.append(said.text) if said.type == "error" else None
        )
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.address = path.as_uri()
        self.page.goto(self.address)

    def ask(self, script: str, *given: object) -> Any:
        """Return what a script answers."""
        return self.page.evaluate(script, *given)

    def draw_all(self) -> int:
        """Scroll to every figure that is not folded until it is drawn, and say how many there are."""
        figures = self.page.locator(".plot:visible")
        for index in range(figures.count()):
            figures.nth(index).scroll_into_view_if_needed()
        self.wait_until_drawn()
        return int(figures.count())

    def wait_until_drawn(self) -> None:
        """Wait until every figure that is not folded is drawn."""
        self.page.wait_for_function(
            "() => [...document.querySelectorAll('.plot')].filter((plot) => plot.checkVisibility())"
            ".every((plot) => plot.querySelector('.main-svg'))"
        )

    def unreadable(self) -> list[str]:
        """Labels that overlap or are cut, and text beyond its edge, of all that is drawn and open."""
        return list(self.ask(LEGIBILITY.read_text(encoding="utf-8")))

    @property
    def outside(self) -> list[str]:
        """What it asked for beside itself."""
        kept = ("file:", "data:", "blob:")
        return [url for url in self.requests if not url.startswith(kept)]

    @property
    def sideways(self) -> int:
        """By how many pixels the page is wider than the screen."""
        root = "document.documentElement"
        return int(self.ask(f"{root}.scrollWidth - {root}.clientWidth"))

    def close(self) -> None:
        self.context.close()
