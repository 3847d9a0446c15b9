"""Names: those under which columns go, and those that paths give, as in `{agent}/{task}_{run}/`.

The grammar of a path template: literal text and names in braces, in segments parted by `/`. A name
matches one or more letters within one segment, the first names as many as they can, so that
`{task}_{run}` parts at the last `_`, and becomes a column of the results; `{agent}`, `{task}` and
`{run}` are keys, any other is kept as it is called. A template that ends in `/` describes the folders
from the one that was read downwards, whatever lies below them; one that does not describes the whole
path, its last segment the file's name: with its ending where the template has a dot there, else
without.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np
import polars as pl
from numpy.typing import NDArray

from examiner.importers.files import PACKED_ENDINGS
from examiner.results.codes import name_column
from examiner.wording import InputError, counted, shorten

AGENT_COLUMNS = (
    *("agent", "algorithm", "algo", "model", "method"),
    *("technique", "controller", "player"),
)
TASK_COLUMNS = ("task", "game", "env", "environment", "env_id", "env_name", "benchmark", "dataset")
_NAME = re.compile(r"\{([^{}]*)\}")
_WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,17}")  # as Python writes it, and Int64 holds it
_MEASURED = ("frames", "length", "score", "win")


def with_given(frame: pl.DataFrame, given: Mapping[str, str]) -> pl.DataFrame:
    """Add names from the path as columns; one the table has already must not say otherwise.

    >>> with_given(pl.DataFrame({"score": [1.0]}), {"agent": "dqn", "run": "3"}).row(0)
    (1.0, 'dqn', 3)
    """
    for name, value in given.items():
        if name not in frame.columns:
            continue
        own = frame[name].drop_nulls().cast(pl.String, strict=False)
        other = own.filter(own != value)
        if len(other):
            raise InputError(
                f"The path says that the {name} is {shorten(value)}, and the column {shorten(name)} "
                f"says {shorten(other[0])}. Give the template's name another name, or drop the column."
            )
    added = [
        column_of(name, [value]).new_from_index(0, len(frame))
        for name, value in given.items()
        if name not in frame.columns
    ]
    return frame.with_columns(added)


def column_of(name: str, values: Sequence[str]) -> pl.Series:
    """Make a column of names: whole numbers where every name is one as Python writes it.

    >>> column_of("run", ["1", "2"]).to_list(), column_of("run", ["01", "2"]).to_list()
    ([1, 2], ['01', '2'])
    """
    if name not in ("agent", "task") and all(_WHOLE_NUMBER.fullmatch(value) for value in values):
        return pl.Series(name, [int(value) for value in values], dtype=pl.Int64)
    return pl.Series(name, values, dtype=pl.String)


def spread(name: str, values: Sequence[str], indices: NDArray[np.integer]) -> pl.Series:
    """Make a long column of few names: for each row, the value at its index.

    >>> spread("agent", ["dqn", "ppo", "dqn"], np.array([2, 2, 1])).to_list()
    ['dqn', 'dqn', 'ppo']
    """
    column = column_of(name, values)
    if column.dtype != pl.String:
        return column.gather(indices)
    codes: dict[str, int] = {}
    coded = np.array([codes.setdefault(value, len(codes)) for value in values])
    return name_column(name, list(codes), coded[indices])


@dataclass(frozen=True, slots=True)
class PathTemplate:
    """A template that was understood: one pattern a segment, and whether the last is a file's name."""

    text: str
    segments: tuple[re.Pattern[str], ...]
    names: tuple[str, ...]
    of_folders: bool

    @classmethod
    def of(cls, text: str) -> PathTemplate:
        """Understand a template.

        >>> PathTemplate.of("{agent}/{task}_{run}/").names
        ('agent', 'task', 'run')
        >>> PathTemplate.of("{agent}/{agent}")
        Traceback (most recent call last):
        ...
        examiner.wording.InputError: The path template '{agent}/{agent}' names 'agent' twice. \
Name each once.
        """
        parts = [part for part in text.split("/") if part not in ("", ".")]
        names = tuple(_NAME.findall(text))
        _check(text, names)
        segments = tuple(_segment(part) for part in parts)
        return cls(text, segments, names, text.rstrip().endswith("/"))

    def match(self, path: PurePath) -> dict[str, str] | None:
        """Return the names a path gives, or None where it is not like the template.

        >>> PathTemplate.of("{agent}/{task}_{run}/").match(PurePath("dqn/space_invaders_3/0.monitor.csv"))
        {'agent': 'dqn', 'task': 'space_invaders', 'run': '3'}
        >>> PathTemplate.of("{agent}-{run}").match(PurePath("dqn-1.csv"))
        {'agent': 'dqn', 'run': '1'}
        """
        *folders, file = path.parts
        if self.of_folders:
            parts = folders[: len(self.segments)]
        else:
            has_ending = "." in _NAME.sub("", self.text.rpartition("/")[2])
            parts = [*folders, file if has_ending else _without_ending(file)]
        if len(parts) != len(self.segments):
            return None
        found = [
            pattern.fullmatch(part) for pattern, part in zip(self.segments, parts, strict=True)
        ]
        values = [value for match in found if match for value in match.groups()]
        return dict(zip(self.names, values, strict=True)) if all(found) else None

    def match_end(self, path: PurePath) -> dict[str, str] | None:
        """Return the names that the end of a path gives: for a file that was named by itself.

        >>> PathTemplate.of("{agent}/{task}/").match_end(PurePath("/logs/dqn/pong/0.monitor.csv"))
        {'agent': 'dqn', 'task': 'pong'}
        """
        length = len(self.segments) + self.of_folders
        return self.match(PurePath(*path.parts[-length:]))

    def no_match(self, paths: Sequence[PurePath], root: PurePath) -> InputError:
        """Build the error for a template that is like no path.

        >>> str(PathTemplate.of("{agent}/").no_match([PurePath("a.csv")], PurePath("logs")))
        "The path template '{agent}/' is like none of the 1 file in 'logs'; the first is 'a.csv'. Write \
it like that path, with names such as {agent}, {task} and {run} in place of what differs."
        """
        return InputError(
            f"The path template {shorten(self.text, 200)} is like none of the "
            f"{counted(len(paths), 'file')} in {shorten(root, 200)}; the first is "
            f"{shorten(paths[0].as_posix(), 200)}. Write it like that path, with names such as "
            f"{{agent}}, {{task}} and {{run}} in place of what differs."
        )


def _without_ending(name: str) -> str:
    for ending in PACKED_ENDINGS:
        name = name.removesuffix(ending)
    return PurePath(name).stem.removesuffix(".monitor")


def _check(text: str, names: Sequence[str]) -> None:
    where = f"The path template {shorten(text, 200)}"
    if not names or "{" in _NAME.sub("", text):
        raise InputError(
            f"{where} has no names in whole braces. Write it like {{agent}}/{{task}}_{{run}}/."
        )
    for name in names:
        if not re.fullmatch(r"[^\W\d]\w*", name):
            raise InputError(
                f"{where} has the name {shorten(name)}. A name is a word, such as {{agent}}."
            )
        if names.count(name) > 1:
            raise InputError(f"{where} names {shorten(name)} twice. Name each once.")
        if name in _MEASURED:
            raise InputError(f"{where} names {shorten(name)}, which is measured. Use another name.")
    if "}{" in text:
        raise InputError(
            f"{where} has two names with nothing between them. Put the text that parts them there."
        )


def _segment(part: str) -> re.Pattern[str]:
    """One segment as a pattern: the first names as long as they can be.

    So `{task}_{run}` parts `space_invaders_3` at its last `_`.
    """
    pieces = [re.escape(piece) for piece in _NAME.split(part)]
    return re.compile("(.+)".join(pieces[::2]), flags=re.DOTALL)
