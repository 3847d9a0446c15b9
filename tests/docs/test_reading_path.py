"""The reading path leads through files that exist, and is as long as it says."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
STOP = re.compile(r"^\| \d+ \| `(?P<file>[^`]+)`(?P<part>[^|]*) \| (?P<lines>\d+) \|", re.MULTILINE)
PATH = (ROOT / "docs" / "reading-path.md").read_text(encoding="utf-8")
STOPS = list(STOP.finditer(PATH))


def test_every_stop_is_a_file_of_about_the_length_said() -> None:
    for stop in STOPS:
        text = (ROOT / "src" / "examiner" / stop["file"]).read_text(encoding="utf-8")
        lines, said = len(text.splitlines()), int(stop["lines"])
        if stop["part"]:
            assert said <= lines, stop["file"]
        else:
            assert abs(lines - said) <= max(5, 0.1 * said), (stop["file"], lines)


def test_the_path_is_a_dozen_files_of_about_two_thousand_lines() -> None:
    assert 10 <= len(STOPS) <= 14
    assert 1_500 <= sum(int(stop["lines"]) for stop in STOPS) <= 2_500


def test_other_files_named_on_the_way_exist() -> None:
    named = re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.py)`", PATH)
    lost = [name for name in named if not (ROOT / "src" / "examiner" / name).exists()]
    assert not lost
