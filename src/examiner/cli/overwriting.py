"""Outputs must not overwrite inputs, nor be read with them the next time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

from examiner.cli.options import UPDATED
from examiner.importers import bundled_data_sets, is_many, would_include
from examiner.messages import InputError, shorten

READ = ("SOURCE", "FILE", "FOLDER", "EARLIER", "PLAN", "CLASSIFICATION")
"""Words in the metavar of options and arguments that name what is read."""
NEVER_RESULTS = (".html", ".htm", ".md")
OUR_OWN = b'{"schema": "examiner.'
"""How stored answers begin: a folder of results is read without them."""


class _Named(NamedTuple):
    path: Path
    writes: str | None
    is_file: bool


def check_outputs(groups: Iterable[Any]) -> None:  # Any: groups of options
    """Refuse a path that is read and written, or written twice, before anything is read.

    >>> from examiner.cli.options import SourceOptions
    >>> check_outputs([SourceOptions("atari-dqn-family")])
    """
    named = list(_paths(groups))
    written = [path for path in named if path.writes is not None]
    read = [path.path for path in named if path.writes is None]
    for place, output in enumerate(written):
        shown = shorten(output.path, 200)
        if any(_same(output.path, other.path) for other in written[place + 1 :]):
            raise InputError(f"{shown} would be written twice. Give each output its own name.")
        for source in read:
            _check_against(output, source, shown)
        if output.is_file and not Path(os.path.realpath(output.path)).parent.is_dir():
            raise InputError(
                f"Cannot write {shown}: its folder does not exist. Create it, or choose another path."
            )


def _check_against(output: _Named, source: Path, shown: str) -> None:
    if _same(output.path, source):
        raise InputError(
            f"{shown} is read and would be overwritten. Nothing was changed. Choose another path for "
            f"the output."
        )
    if not output.is_file or not is_many(source) or not would_include(source, output.path):
        return
    if output.writes == "results" or _may_be_results(output.path):
        raise InputError(
            f"{shown} is one of the files of {shorten(source, 200)}, which is read: it would be "
            f"overwritten, or read the next time. Nothing was changed. Choose a path elsewhere."
        )


def _paths(groups: Iterable[Any]) -> Iterator[_Named]:
    """The paths that options name, without bundled data sets and plans."""
    for group in groups:
        for field in fields(group):
            about = field.metadata
            kind, metavar = about.get("writes"), about.get("metavar") or ""
            reads = any(word in metavar for word in READ) and about.get("reads") != UPDATED
            value = getattr(group, field.name)
            if value is None or value == "" or not (kind or reads):
                continue
            bundled = _bundled_plans() if metavar == "PLAN" else bundled_data_sets()
            for path in value if isinstance(value, tuple) else [value]:
                if kind or (str(path) not in bundled and "://" not in str(path)):
                    is_file = kind in ("answer", "results") and metavar != "FOLDER"
                    yield _Named(Path(path), kind, is_file)


def _bundled_plans() -> Iterable[str]:
    from examiner.arena import bundled_plans  # few commands need the arena, which is slow to import

    return bundled_plans()


def _same(one: Path, other: Path) -> bool:
    """Whether two paths are one file or folder, also through links; devices and pipes never are."""
    try:
        if one.exists() and not (one.is_file() or one.is_dir()):
            return False
        real = os.path.realpath(one), os.path.realpath(other)  # resolve() raises on loops of links
        return real[0] == real[1] or (one.exists() and other.exists() and one.samefile(other))
    except (OSError, ValueError):  # whoever opens them says what is wrong
        return False


def _may_be_results(path: Path) -> bool:
    """Whether a file exists that may be part of what is read: stored answers of examiner are not."""
    if path.suffix.lower() in NEVER_RESULTS or not path.is_file():
        return False
    try:
        with path.open("rb") as stream:
            return not stream.read(len(OUR_OWN)).startswith(OUR_OWN)
    except OSError:  # an unreadable file is not part of what is read
        return False
