"""Files and records damaged by a seed: the same hundreds every time, as bad luck or malice makes them."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

CHUNKS = (
    *(
        b"\0",
        b"\n",
        b"\r",
        b'"',
        b",",
        b"{",
        b"}",
        b"[",
        b"]",
        b"\xff",
        b"\xef\xbb\xbf",
        b"-",
        b"e9",
    ),
    *(b"NaN", b"Infinity", b"null", b"9" * 30, b"1e999", b"1e-320", b"<<<<<<< HEAD\n", b"agent"),
    *(b"PK\x03\x04", b"PAR1", b"\x1b[31m", b"=1+1", b"[" * 80, b"9" * 5000, b"1e308", b"-1e308"),
)
ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2.5, 10**30, 2**63, -0.0, 1e308, -1e308, 5e-324, "inf", "-inf"),
    *("", "agent", "run", "nowhere", "∞" * 3, "a\x1b[31mb", "x" * 300, "nan", "1", "2pl", "score"),
    *(
        [],
        [0],
        [None],
        [3],
        ["x"],
        [["x"]],
        [[]],
        [1e308, -1e308],
        ["score", "score"],
        [[1.0, 2.0]],
    ),
    *({}, {"task": 1}, {"names": 3}, [{}], {"": None}, {"x": {"x": {}}}),
)


def damaged_bytes(original: bytes, rng: random.Random) -> bytes:
    """A file with a few bytes flipped, cut off, put in, taken out or doubled."""
    data = original
    for _ in range(rng.randint(1, 4)):
        start = rng.randint(0, max(len(data) - 1, 0))
        end = rng.randint(start, min(len(data), start + 40))
        match rng.choice(["flip", "flip", "cut", "insert", "delete", "double", "fill"]):
            case "flip" if data:
                data = data[:start] + bytes([rng.randrange(256)]) + data[start + 1 :]
            case "cut":
                data = data[:start]
            case "insert":
                data = data[:start] + rng.choice([*CHUNKS, rng.randbytes(6)]) + data[start:]
            case "delete":
                data = data[:start] + data[end:]
            case "double":
                data = data[:end] + data[start:]
            case "fill":
                data = data[:start] + bytes([rng.choice([0, 255])]) * (end - start) + data[end:]
    return data


def parts(record: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every part of a record, itself first."""
    yield path
    if isinstance(record, list):
        record = dict(enumerate(record))
    for key, part in record.items() if isinstance(record, dict) else ():
        yield from parts(part, (*path, key))


def altered(record: Any, path: tuple[Any, ...], value: Any) -> Any:
    """The record with another value at a path."""
    if not path:
        return value
    record = copy.deepcopy(record)
    _inner(record, path)[path[-1]] = value
    return record


def damaged_record(record: Any, rng: random.Random) -> Any:
    """A record with a few parts replaced, taken out, doubled, swapped, or a number moved far off."""
    record = copy.deepcopy(record)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        path = rng.choice(_by_depth(record, rng))
        if not path:
            continue
        inner, key = _inner(record, path), path[-1]
        match rng.choice(["odd", "odd", "delete", "double", "swap", "scale"]):
            case "odd":
                inner[key] = copy.deepcopy(rng.choice(ODD_VALUES))
            case "delete":
                del inner[key]
            case "double" if isinstance(inner, list):
                inner.insert(key, copy.deepcopy(inner[key]))
            case "swap":
                other = rng.choice(list(inner) if isinstance(inner, dict) else range(len(inner)))
                inner[key], inner[other] = inner[other], inner[key]
            case "scale" if isinstance(inner[key], int | float):
                inner[key] = inner[key] * rng.choice([-1, 0, 1e-300, 1e150, 1e300])
    return record


def _by_depth(record: Any, rng: random.Random) -> list[tuple[Any, ...]]:
    """Paths of one depth: long lists of numbers would else be nearly all there is to choose."""
    by_depth: dict[int, list[tuple[Any, ...]]] = {}
    for path in parts(record):
        by_depth.setdefault(len(path), []).append(path)
    return by_depth[rng.choice(sorted(by_depth))]


def _inner(record: Any, path: tuple[Any, ...]) -> Any:
    for key in path[:-1]:
        record = record[key]
    return record
