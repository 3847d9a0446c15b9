"""The door: few names, each found."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import examiner as ex

LONGEST_DOOR = 45
ROOMS = [name for name in ex.__all__ if getattr(ex, name).__class__.__name__ == "module"]


def test_the_door_shows_few_names_and_all_of_them_are_there() -> None:
    assert len(ex.__all__) <= LONGEST_DOOR
    assert set(dir(ex)) == {*ex.__all__, "__version__"}
    assert all(hasattr(ex, name) for name in ex.__all__)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_shows_its_names_and_not_its_files(room: str) -> None:
    shown = getattr(ex, room)
    assert dir(shown)
    for name in dir(shown):
        assert not name.startswith("_")
        assert not inspect.ismodule(getattr(shown, name)), name


def test_what_a_room_shows_are_its_verbs_types_and_tables() -> None:
    assert {"fit", "place", "diagnose", "IRTFit", "MODELS"} <= set(dir(ex.irt))
    assert {"select", "judge", "place", "Constraints", "METHODS"} <= set(dir(ex.selection))
    assert "heatmap" in dir(ex.plots)


def test_a_name_that_never_was_is_refused_without_a_guess() -> None:
    with pytest.raises(AttributeError) as refused:
        ex.no_such_name  # noqa: B018
    assert str(refused.value) == "module 'examiner' has no attribute 'no_such_name'."


def test_the_door_loads_no_room_before_it_is_used() -> None:
    code = "import sys, examiner; print(*[name for name in sys.modules if name.startswith('examiner.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
