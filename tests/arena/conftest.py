"""What several files of tests of the arena need: the tiny GVGAI framework, compiled once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.gvgai_games import copy_of_framework


@pytest.fixture(scope="session")
def framework(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield copy_of_framework(tmp_path_factory.mktemp("checkouts") / "GVGAI")
