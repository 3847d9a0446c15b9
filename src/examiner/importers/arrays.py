"""Arrays of npz and npy files, read without running anything in it: no pickles, no sizes taken on trust."""

from __future__ import annotations

import io
import threading
import tokenize
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from examiner.importers.archives import DAMAGE, opened_zip
from examiner.importers.files import SourceFile, check_unpacked
from examiner.messages import InputError, shorten

_LONGEST_HEADER = 10_000  # as numpy has it: shape and kind of one array
_PARSING = threading.Lock()
"""numpy parses headers with `ast.literal_eval`, which fails in several threads at once in Python 3.11."""
_DAMAGE = (*DAMAGE, SyntaxError, tokenize.TokenError, UserWarning)
"""What zipfile and numpy raise on what is no npz or npy file, where warnings are errors too."""


def array_names(file: SourceFile) -> tuple[str, ...]:
    """Return the names of the arrays in an npz file; none where it is not one.

    >>> array_names(SourceFile(Path("x.csv"), None, b"agent,task"))
    ()
    """
    try:
        with opened_zip(file) as archive:
            return tuple(member.filename.removesuffix(".npy") for member in _members(archive))
    except (InputError, *_DAMAGE):
        return ()


def array_dimensions(file: SourceFile) -> dict[str, int]:
    """Return the number of dimensions of every array, from the headers alone.

    >>> array_dimensions(SourceFile(Path("x.csv"), None, b"agent,task"))
    {}
    """
    dimensions: dict[str, int] = {}
    try:
        with opened_zip(file) as archive:
            for name in archive.namelist():
                with archive.open(name) as stream:
                    dimensions[name.removesuffix(".npy")] = len(_header(stream)[0])
    except (InputError, *_DAMAGE):
        return {}
    return dimensions


def read_arrays(file: SourceFile) -> dict[str, NDArray[Any]]:  # Any: numbers or text
    """Return every array of an npz file by its name; arrays of Python objects are refused.

    >>> import tempfile
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "x.npz"
    >>> np.savez(path, dqn=np.ones((2, 3)))
    >>> read_arrays(open_source(path))["dqn"].shape
    (2, 3)
    """
    size = file.path.stat().st_size if file.path.exists() else len(file.head)
    try:
        with opened_zip(file) as archive:
            members = _members(archive)
            check_unpacked(sum(member.file_size for member in members), size, file.path)
            if len({member.filename for member in members}) < len(members):
                raise InputError(
                    f"{shorten(file.path, 200)} holds two arrays of one name. Save them under two."
                )
            return {
                member.filename.removesuffix(".npy"): _array(archive, member, file.path)
                for member in members
            }
    except InputError:
        raise
    except _DAMAGE as problem:
        raise InputError(
            f"Cannot read {shorten(file.path, 200)}: the npz file is cut off or damaged. "
            f"Save it again with `np.savez`."
        ) from problem


def read_array(file: SourceFile) -> NDArray[Any]:  # Any: numbers or text
    """Return the array of an npy file; one of Python objects is refused.

    >>> import tempfile
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "x.npy"
    >>> np.save(path, np.ones((2, 3)))
    >>> read_array(open_source(path)).shape
    (2, 3)
    """
    try:
        return _contents(io.BytesIO(file.contents()), "The array", file.path)
    except InputError:
        raise
    except _DAMAGE as problem:
        raise InputError(
            f"Cannot read {shorten(file.path, 200)}: the npy file is cut off or damaged. "
            f"Save it again with `np.save`."
        ) from problem


def _members(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    return [member for member in archive.infolist() if member.filename.endswith(".npy")]


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path) -> NDArray[Any]:
    with archive.open(member) as stream:
        name = shorten(member.filename.removesuffix(".npy"))
        return _contents(stream, f"The array {name}", path)


def _contents(stream: IO[bytes], what: str, path: Path) -> NDArray[Any]:
    shape, by_column, kind = _header(stream)
    where = f"{what} in {shorten(path, 200)}"
    if kind.hasobject:
        raise InputError(
            f"{where} holds Python objects, which are pickled and can run code when opened: it is "
            f"refused. Save it as plain numbers; rows of unequal length need filling up with NaN."
        )
    if kind.kind not in "biufU":
        raise InputError(f"{where} is of kind {kind}. Save it as numbers or text.")
    data = stream.read()
    return np.frombuffer(data, dtype=kind).reshape(shape, order="F" if by_column else "C")


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(stream)
    length = stream.read(2 if version == (1, 0) else 4)
    if (
        int.from_bytes(length, "little") > _LONGEST_HEADER
    ):  # numpy would read it whole, and then refuse it
        raise ValueError
    header = io.BytesIO(length + stream.read(int.from_bytes(length, "little")))
    with _PARSING:
        if version == (1, 0):
            return np.lib.format.read_array_header_1_0(header)
        return np.lib.format.read_array_header_2_0(header)
