"""Names that a path gives: the templates of `--path`.

The grammar of a path template: literal text and names in braces, in segments parted by `/`. A name
matches one or more letters within one segment, the first names as many as they can, so that
`{task}_{run}` parts at the last `_`; but the version of an environment, such as `-v4`, is never parted
from its name, and known tasks, such as `bank_heist`, stay whole. It becomes a column of the results;
`{agent}`, `{task}` and `{run}` are keys, any other is kept as it is called. A template that ends in `/`
describes the folders from the one that was read downwards, whatever lies below them; one that does not
describes the whole path, its last segment the file's name: with its ending where the template has a dot
there, else without.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from examiner.importers.files import PACKED_ENDINGS
from examiner.importers.vocabulary import is_known_task
from examiner.messages import InputError, counted, shorten

_NAME = re.compile(r"\{([^{}]*)\}")
_VERSION = re.compile(r"-v\d+")
_MEASURED = ("frames", "steps", "length", "score", "win")


@dataclass(frozen=True, slots=True)
class PathTemplate:
    """A template that was understood: the text around names in each segment, and what the last one is."""

    text: str
    segments: tuple[tuple[str, ...], ...]
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
        examiner.messages.InputError: The path template '{agent}/{agent}' names 'agent' twice. \
Name each once.
        """
        parts = [part for part in text.split("/") if part not in ("", ".")]
        names = tuple(_NAME.findall(text))
        _check(text, names)
        segments = tuple(tuple(_NAME.split(part)[::2]) for part in parts)
        return cls(text, segments, names, text.rstrip().endswith("/"))

    def match(self, path: PurePath) -> dict[str, str] | None:
        """Return the names a path gives, or None where it is not like the template.

        >>> PathTemplate.of("{agent}/{task}_{run}/").match(PurePath("dqn/space_invaders_3/0.monitor.csv"))
        {'agent': 'dqn', 'task': 'space_invaders', 'run': '3'}
        >>> PathTemplate.of("{agent}-{run}").match(PurePath("dqn-1.csv"))
        {'agent': 'dqn', 'run': '1'}
        >>> PathTemplate.of("{agent}-{task}/").match(PurePath("a2c-Ant-v3/0.monitor.csv"))
        {'agent': 'a2c', 'task': 'Ant-v3'}
        >>> PathTemplate.of("{agent}_{task}").match(PurePath("spr_bank_heist.npy"))
        {'agent': 'spr', 'task': 'bank_heist'}
        """
        *folders, file = path.parts
        if self.of_folders:
            parts = folders[: len(self.segments)]
        else:
            has_ending = "." in _NAME.sub("", self.text.rpartition("/")[2])
            parts = [*folders, file if has_ending else without_ending(file)]
        if len(parts) != len(self.segments):
            return None
        values: list[str] = []
        for around, part in zip(self.segments, parts, strict=True):
            found = _between(part, around)
            if found is None:
                return None
            names = self.names[len(values) : len(values) + len(found)]
            values += _with_known_task(found, around[1:-1], names)
        return dict(zip(self.names, values, strict=True))

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


def without_ending(name: str) -> str:
    """Return the name of a file as templates without an ending see it.

    >>> without_ending("0.monitor.csv"), without_ending("scores.json.gz")
    ('0', 'scores')
    """
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


def _between(text: str, around: Sequence[str]) -> list[str] | None:
    """What stands between pieces of text, the first as long as they can be; None where they do not fit.

    So `{task}_{run}` parts `space_invaders_3` at its last `_`. Each piece is looked for once, from the end:
    where it stands last, all before it have most room, so that nothing ever has to be tried again.
    """
    first, *others = around
    if not others:
        return [] if text == first else None
    *inner, last = others
    if not (text.startswith(first) and text.endswith(last)):
        return None
    end, values = len(text) - len(last), list[str]()
    for piece in reversed(inner):
        start = text.rfind(piece, len(first), max(end - 1, 0))
        while piece == "-" and start > 0 and _VERSION.fullmatch(text, start, end):
            start = text.rfind(piece, len(first), start)
        if start < 0:
            return None
        values.append(text[start + len(piece) : end])
        end = start
    values.append(text[len(first) : end])
    return values[::-1] if end > len(first) else None


def _with_known_task(values: list[str], between: Sequence[str], names: Sequence[str]) -> list[str]:
    """Move the border of a task and the name before or after it to where the task is a known one.

    `AGENT_bank_heist` is parted before `bank_heist`, whose own `_` is the last. Of several known tasks,
    the longest is meant.
    """
    if "task" not in names:
        return values
    task = values[names.index("task")]
    longest = len(task) if is_known_task(task) else 0
    for number, piece in enumerate(between):
        if "task" not in names[number : number + 2]:
            continue
        whole = f"{values[number]}{piece}{values[number + 1]}"
        first = names[number] == "task"
        start = whole.find(piece, 1)
        while 0 < start < len(whole) - len(piece):
            pair = [whole[:start], whole[start + len(piece) :]]
            task = pair[0] if first else pair[1]
            if len(task) > longest and is_known_task(task):
                longest = len(task)
                values = [*values[:number], *pair, *values[number + 2 :]]
            start = whole.find(piece, start + 1)
    return values
