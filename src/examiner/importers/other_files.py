"""Files that hold no results: what they are, told by their name or first bytes, and what to do instead."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from examiner.importers.files import UNPACKED_FREELY_BYTES, SourceFile
from examiner.importers.text import beginning, refuse_merge_markers
from examiner.messages import InputError, shorten

TABLE_ENDINGS = (".csv", ".tsv", ".tab", ".ndjson", ".jsonl", ".parquet")
"""Endings of files that are meant as tables: none is passed over without a word."""
_DATA_ENDINGS = (*TABLE_ENDINGS, ".json", ".npy", ".npz", ".txt", ".pkl", ".pickle", ".h5", ".hdf5")
_SETTINGS = re.compile(
    r"(?:.*[_.-])?(?:configs?|configuration|args|arguments|params|parameters|hyperparams|hyperparameters"
    r"|hparams|flags|settings|metadata|requirements|environment|package|package-lock|schema)",
    flags=re.IGNORECASE,
)
_OF_EXAMINER = re.compile(rb'\s*\{\s*"schema":\s*"(examiner\.[^"]+)"')
_WITH_SCHEMA = re.compile(rb'\s*\{[^{]{0,200}"\$schema"')


def is_settings(path: Path) -> bool:
    """Tell whether a file holds the settings of a run by its name, whatever its format.

    >>> [is_settings(Path(name)) for name in ("config.json", "wandb-metadata.json", "a.csv")]
    [True, True, False]
    """
    return _SETTINGS.fullmatch(path.name.partition(".")[0]) is not None


def may_hold_results(path: Path) -> bool:
    """Tell whether results could be in a file that no format reads: data, and no settings.

    >>> may_hold_results(Path("dqn/scores.pkl")), may_hold_results(Path("README.md"))
    (True, False)
    """
    return any(ending in _DATA_ENDINGS for ending in path.suffixes[-2:]) and not is_settings(path)


def is_other_kind(path: Path) -> bool:
    """Tell whether a file may hold results in a form that has to be changed first.

    >>> is_other_kind(Path("scores.zip")), is_other_kind(Path("scores.csv"))
    (True, False)
    """
    return path.suffix == ".zip" and not is_settings(path)


def is_json_object(file: SourceFile) -> bool:
    """Tell whether a file called JSON is one object, in which results can be nested.

    >>> is_json_object(SourceFile(Path("x.json"), None, b'{"pong": [1, 2]}'))
    True
    """
    return file.suffix == ".json" and beginning(file).lstrip().startswith(b"{")


def reason_to_skip(file: SourceFile) -> str | None:
    """Return why a file in a folder is none of its results, though it could be read as a table.

    >>> reason_to_skip(SourceFile(Path("fit.json"), None, b'{"schema": "examiner.fit/1"}'))
    'were written by examiner from results'
    """
    if _OF_EXAMINER.match(beginning(file)):
        return "were written by examiner from results"
    if _WITH_SCHEMA.match(beginning(file)):
        return "are charts or schemas in JSON"
    return "are not results" if is_settings(file.path) else None


def refuse_other_kinds(file: SourceFile) -> None:
    """Refuse a single file of a kind that is known and is no table, saying what to give instead.

    >>> refuse_other_kinds(SourceFile(Path("scores.zip"), None, b"PK", whole=True))
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: 'scores.zip' is a zip archive. Unpack it ...
    """
    name = shorten(file.path, 200)
    ours = _OF_EXAMINER.match(beginning(file))
    if ours is not None:
        raise InputError(
            f"{name} was written by examiner ({ours[1].decode()}) and holds no results. Give the results "
            f"that it was computed from."
        )
    if file.suffix == ".zip":
        raise InputError(
            f"{name} is a zip archive. Unpack it (`unzip {file.path.name}`) and give the folder."
        )


@contextmanager
def with_real_reason(file: SourceFile) -> Iterator[None]:
    """Refuse an unresolved git merge as such, whatever else it makes of a file.

    >>> with with_real_reason(SourceFile(Path("x.csv"), None, b"<<<<<<< HEAD\\na\\n", whole=True)):
    ...     raise InputError("The table has only one column.")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: 'x.csv', line 1, is a mark of an unresolved git merge ...
    """
    try:
        yield
    except InputError:
        if file.head and b"\0" not in file.head:
            small = file.whole or file.path.stat().st_size <= UNPACKED_FREELY_BYTES
            refuse_merge_markers(file.contents() if small else file.head, file.path)
        raise
