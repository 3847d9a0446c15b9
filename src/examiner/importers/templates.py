"""Path templates: names taken from folders and files, as in `{agent}/{task}_{run}/`.

The grammar: literal text and names in braces, in segments parted by `/`. A name matches one or more
letters within one segment, the first names as many as they can, so that `{task}_{run}` parts at the
last `_`, and becomes a column of the
results; `{agent}`, `{task}` and `{run}` are keys, any other is kept as it is called. A template that
ends in `/` describes the folders from the one that was read downwards, whatever lies below them; one
that does not describes the whole path, its last segment the file's name: with its ending where the
template has a dot there, else without.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from examiner.importers.files import PACKED_ENDINGS
from examiner.wording import InputError, counted, shorten

_NAME = re.compile(r"\{([^{}]*)\}")
_RESERVED = ("frames", "length", "score", "win")


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
        names = _NAME.findall(text)
        _check(text, names)
        return cls(
            text, tuple(_segment(part) for part in parts), tuple(names), text.rstrip().endswith("/")
        )

    def match(self, path: PurePath) -> dict[str, str] | None:
        """Return the names a path gives, or None where it is not like the template.

        >>> PathTemplate.of("{agent}/{task}_{run}/").match(PurePath("dqn/space_invaders_3/0.monitor.csv"))
        {'agent': 'dqn', 'task': 'space_invaders', 'run': '3'}
        >>> PathTemplate.of("{agent}-{run}").match(PurePath("dqn-1.csv"))
        {'agent': 'dqn', 'run': '1'}
        """
        parts = path.parts
        if self.of_folders:
            if len(parts) <= len(self.segments):
                return None
            return self._matched(parts[: len(self.segments)])
        if len(parts) != len(self.segments):
            return None
        whole = "." in _NAME.sub("", self.text.rpartition("/")[2])
        return self._matched(parts if whole else (*parts[:-1], _without_ending(parts[-1])))

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

    def _matched(self, parts: Sequence[str]) -> dict[str, str] | None:
        values: list[str] = []
        for pattern, part in zip(self.segments, parts, strict=True):
            found = pattern.fullmatch(part)
            if found is None:
                return None
            values.extend(found.groups())
        return dict(zip(self.names, values, strict=True))


def _without_ending(name: str) -> str:
    for ending in PACKED_ENDINGS:
        name = name.removesuffix(ending)
    return PurePath(name).stem.removesuffix(".monitor")


def _check(text: str, names: Sequence[str]) -> None:
    where = f"The path template {shorten(text, 200)}"
    if not names or _NAME.sub("", text).strip("/") != _NAME.sub("", text).strip("/").replace(
        "{", ""
    ):
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
        if name in _RESERVED:
            raise InputError(f"{where} names {shorten(name)}, which is measured. Use another name.")
    if re.search(r"\}\{", text):
        raise InputError(
            f"{where} has two names with nothing between them. Put the text that parts them there."
        )


def _segment(part: str) -> re.Pattern[str]:
    """One segment as a pattern: the first names as long as they can be.

    So `{task}_{run}` parts `space_invaders_3` at its last `_`.
    """
    pieces = _NAME.split(part)
    return re.compile(
        "".join(
            "(.+)" if position % 2 else re.escape(piece) for position, piece in enumerate(pieces)
        ),
        flags=re.DOTALL,
    )
