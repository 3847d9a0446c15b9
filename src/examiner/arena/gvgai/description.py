"""Descriptions of GVGAI games with other parameters, and levels drawn as maps: variants of a game."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from examiner.messages import InputError, listed, shorten, unknown_name

MAP = "map"
"""The setting that is a level: its rows. The others are parameters, `sprite.parameter`."""
_SPRITES, _ENDS, _LETTERS = "spriteset", "terminationset", "levelmapping"
_SECTIONS = (_SPRITES, _ENDS, _LETTERS, "interactionset", "parameterset")
_PARAMETER = re.compile(r"(\w+)=(\S+)")
_EVERY_SPRITE = ("speed", "cooldown")  # fields of the framework's class of all sprites
_EVERY_MAP = "wA. "  # wall, avatar, nothing: what the framework knows without a LevelMapping


class _Line(NamedTuple):
    """A line of a description: its parameters, and those with what it inherits."""

    number: int
    section: str
    name: str
    written: Mapping[str, str]
    inherited: Mapping[str, str]


def flat_settings(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested settings by dotted names, which TOML reads as tables.

    >>> flat_settings({"alien": {"speed": 0.4}, "map": ["wA"]})
    {'alien.speed': 0.4, 'map': ['wA']}
    """
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping):
            flat |= flat_settings(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat


def varied_description(text: str, changes: Mapping[str, object]) -> str:
    r"""Return a game's description with other values of parameters of its sprites and ends.

    A name is that of a sprite (`alien`) or of a rule that ends the game (`Timeout`). Its parameter must
    be written or inherited there, since the framework ignores a parameter that a class does not have.

    >>> text = "BasicGame\n  SpriteSet\n    alien > Bomber prob=0.01\n      fast > img=a.png"
    >>> print(varied_description(text, {"fast.prob": 0.5}).splitlines()[-1].strip())
    fast > img=a.png prob=0.5
    """
    rows = text.split("\n")
    for target, value in changes.items():
        line, parameter = _place(rows, target)
        new = _vgdl_value(rows, target, parameter, value)
        row, hash_sign, comment = rows[line.number].partition("#")
        if parameter in line.written:
            row = re.sub(rf"\b{parameter}=\S+", f"{parameter}={new}", row)
        elif line.inherited.get(parameter) != new:
            row = f"{row.rstrip()} {parameter}={new}"
        rows[line.number] = row + hash_sign + comment
    return "\n".join(rows)


def level_text(rows: object, description: str) -> str:
    r"""Return a level drawn as a map, each of whose letters the description must know.

    >>> level_text(["www", "wAw"], "BasicGame\n  LevelMapping\n    e > enemy")
    'www\nwAw\n'
    """
    if (
        not isinstance(rows, Sequence)
        or isinstance(rows, str)
        or not all(isinstance(row, str) and row for row in rows)
        or len({len(row) for row in rows}) != 1
    ):
        raise InputError(
            f"The map of a level is {shorten(rows)}. Give its rows as a list of texts of equal length."
        )
    lines = _lines(description.split("\n"))
    letters = {line.name for line in lines if line.section == _LETTERS} | set(_EVERY_MAP)
    for letter in "".join(rows):
        if letter not in letters:
            raise InputError(
                f"The map of a level has the letter {letter!r}, which the game does not know. Its "
                f"letters are {listed(sorted(letters))}."
            )
    return "".join(f"{row}\n" for row in rows)


def _place(rows: Sequence[str], target: str) -> tuple[_Line, str]:
    """The line that a setting changes, and which of its parameters."""
    name, _, parameter = target.rpartition(".")
    lines = [line for line in _lines(rows) if line.section in (_SPRITES, _ENDS)]
    places = [line for line in lines if line.name == name]
    if not places:
        names = dict.fromkeys(line.name for line in lines)
        raise unknown_name("sprite or end of the game", name or target, names)
    places = [line for line in places if parameter in _variable(line)] or places
    line = places[0]
    if parameter not in _variable(line):
        raise InputError(
            f"{shorten(name)} has no parameter {shorten(parameter)} that can be varied. It has "
            f"{listed(_variable(line)) or 'none'}."
        )
    if len(places) > 1:
        raise InputError(
            f"The game has {len(places)} lines {shorten(name)} with the parameter {shorten(parameter)}. "
            f"Vary something that stands there once."
        )
    return line, parameter


def _variable(line: _Line) -> tuple[str, ...]:
    sprite = _EVERY_SPRITE if line.section == _SPRITES else ()
    return tuple(dict.fromkeys((*line.inherited, *sprite)))


def _lines(rows: Sequence[str]) -> Iterator[_Line]:
    """The lines of a description that say something, with what they inherit by their indentation."""
    section = ""
    above: list[tuple[int, Mapping[str, str]]] = []
    for number, row in enumerate(rows):
        content = row.partition("#")[0]
        if not content.strip():
            continue
        if content.strip().casefold() in _SECTIONS:
            section, above = content.strip().casefold(), []
            continue
        indent = len(content) - len(content.lstrip())
        while above and above[-1][0] >= indent:
            above.pop()
        written = dict(_PARAMETER.findall(content))
        inherited = dict(above[-1][1]) if above and section == _SPRITES else {}
        above.append((indent, inherited | written))
        yield _Line(number, section, content.split()[0], written, inherited | written)


def _vgdl_value(rows: Sequence[str], target: str, parameter: str, value: object) -> str:
    """A value as VGDL writes it; a fraction only where the framework does not need a whole number."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    elif isinstance(value, float):
        written = [line.written.get(parameter, "") for line in _lines(rows)]
        if parameter != "speed" and not any("." in text for text in written):
            raise InputError(
                f"{shorten(target)} is {value}, and the framework ignores a fraction there. Give a whole "
                f"number."
            )
    text = str(value)
    if isinstance(value, list | dict) or not re.fullmatch(r"[^\s#=>]+", text):
        raise InputError(
            f"{shorten(target)} is {shorten(value)}. Give a number, true or false, or a word."
        )
    return text
