"""The names of the bundled data sets: what a path that is not there may have meant."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

from examiner.messages import nearest

_CARD = ".toml"


@cache
def bundled_data_sets() -> tuple[str, ...]:
    """Return the names of the bundled data sets, each of which has a card.

    >>> "atari-arena" in bundled_data_sets()
    True
    """
    cards = files("examiner").joinpath("datasets", "cards").iterdir()
    return tuple(sorted(c.name.removesuffix(_CARD) for c in cards if c.name.endswith(_CARD)))


def data_set_hint(path: str) -> str:
    """Say what to do about a path that does not exist.

    >>> data_set_hint("atari-aren")
    "Did you mean 'atari-arena'? Check the path, or name a bundled data set (`examiner datasets`)."
    >>> data_set_hint("atari-arena")
    "A bundled data set has this name: load it with `ex.load('atari-arena')`."
    """
    if path in bundled_data_sets():
        return f"A bundled data set has this name: load it with `ex.load({path!r})`."
    hint = nearest(path, bundled_data_sets())
    return f"{hint}Check the path, or name a bundled data set (`examiner datasets`)."


def note_on_namesake(path: str) -> tuple[str, ...]:
    """Say that what is read here is not the bundled data set of the same name.

    >>> note_on_namesake("scores.csv")
    ()
    """
    if path not in bundled_data_sets():
        return ()
    kind = "folder" if Path(path).is_dir() else "file"
    return (
        f"{path!r} is read as the {kind} of this name. A bundled data set has the same name: load it "
        f"with `ex.load({path!r})`.",
    )
