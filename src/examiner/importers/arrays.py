"""Arrays of an npz file, read without running anything in it: no pickles, no sizes taken on trust."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from examiner.importers.files import SourceFile
from examiner.importers.limits import check_unpacked
from examiner.wording import InputError, shorten

_ZIP = b"PK\x03\x04"
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    OSError,
    ValueError,
    SyntaxError,
    TypeError,
    OverflowError,
    MemoryError,
    LookupError,
)


def array_names(file: SourceFile) -> tuple[str, ...]:
    """Return the names of the arrays in an npz file; none where it is not one.

    >>> array_names(SourceFile(Path("x.csv"), None, b"agent,task"))
    ()
    """
    if not file.head.startswith(_ZIP):
        return ()
    try:
        with zipfile.ZipFile(_opened(file)) as archive:
            return tuple(
                name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")
            )
    except (InputError, *_DAMAGE):
        return ()


def array_shapes(file: SourceFile) -> dict[str, tuple[int, str]]:
    """Return the number of dimensions and the kind of every array, from the headers alone.

    >>> array_shapes(SourceFile(Path("x.csv"), None, b"agent,task"))
    {}
    """
    if not file.head.startswith(_ZIP):
        return {}
    try:
        with zipfile.ZipFile(_opened(file)) as archive:
            shapes: dict[str, tuple[int, str]] = {}
            for name in archive.namelist():
                with archive.open(name) as stream:
                    shape, _, kind = _header(stream)
                shapes[name.removesuffix(".npy")] = (len(shape), kind.kind)
            return shapes
    except (InputError, *_DAMAGE):
        return {}


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
        with zipfile.ZipFile(_opened(file)) as archive:
            members = [member for member in archive.infolist() if member.filename.endswith(".npy")]
            check_unpacked(sum(member.file_size for member in members), size, file.path)
            names = [member.filename.removesuffix(".npy") for member in members]
            if len(set(names)) < len(names):
                raise InputError(
                    f"{shorten(file.path, 200)} holds two arrays of one name. Save them under two."
                )
            return {
                name: _array(archive, member, name, file.path)
                for name, member in zip(names, members, strict=True)
            }
    except InputError:
        raise
    except _DAMAGE as problem:
        raise InputError(
            f"Cannot read {shorten(file.path, 200)}: the npz file is cut off or damaged. "
            f"Save it again with `np.savez`."
        ) from problem


def _opened(file: SourceFile) -> io.BytesIO | Path:
    if file.compression is None and not file.whole:
        return file.path
    return io.BytesIO(file.contents())


def _array(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str, path: Path
) -> NDArray[Any]:
    with archive.open(member) as stream:
        shape, by_column, kind = _header(stream)
        if kind.hasobject:
            raise InputError(
                f"The array {shorten(name)} in {shorten(path, 200)} holds Python objects, which are "
                f"pickled and can run code when opened: it is refused. Save it as plain numbers; rows "
                f"of unequal length need filling up with NaN."
            )
        if kind.kind not in "biufU":
            raise InputError(
                f"The array {shorten(name)} in {shorten(path, 200)} is of kind {kind}. "
                f"Save it as numbers or text."
            )
        data = stream.read()
    array = np.frombuffer(data, dtype=kind)
    return array.reshape(shape, order="F" if by_column else "C")


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(stream)
    return np.lib.format.read_array_header_2_0(stream)
