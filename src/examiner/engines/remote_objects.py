"""Parquet in object stores and on web servers: listed, scanned, and known again, by polars' own client."""

from __future__ import annotations

import hashlib
import re
import warnings
from pathlib import Path
from types import MappingProxyType
from typing import Any

import polars as pl

from examiner.engines.web_servers import check_web_server, named_url
from examiner.messages import InputError, first_line, unknown_name
from examiner.results import PROBLEMS
from examiner.validation import scheme_of, without_secrets

_KEYS = MappingProxyType(
    {
        "s3": "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SKIP_SIGNATURE=true if it is public",
        "gs": "Set GOOGLE_APPLICATION_CREDENTIALS",
        "az": "Set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
        "hf": "Set HF_TOKEN",
        "http": "Give a URL that is signed, or download it",
    }
)
"""Kinds of stores that polars scans, and what opens them."""
_KINDS = MappingProxyType(
    {
        **{kind: kind for kind in _KEYS},
        **{"s3a": "s3", "gcs": "gs", "https": "http"},
        **dict.fromkeys(("azure", "adl", "abfs", "abfss"), "az"),
    }
)
"""Schemes, and whose store they name."""
_CLOSED = re.compile(
    r"\b40[13] (Forbidden|Unauthorized)|token request|/api/token|must be specified|credential",
    re.IGNORECASE,
)
_PATIENCE = MappingProxyType({"timeout": "20s", "retry_timeout_ms": 10_000})
"""How long a store is waited for at first: without it polars waits for a silent one without end."""
_PLACE = "examiner: where it lies"
_URL = re.compile(r"\S+://\S+")


def listed_objects(url: str) -> list[str]:
    """Return the URLs of the Parquet files that a URL names: one, a folder's, or those like a pattern.

    >>> listed_objects("https://host/day/1.parquet")
    ['https://host/day/1.parquet']
    >>> listed_objects("https://host/day/")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: A web server does not tell which files lie at 'https://host/day/'. Name \
each of them, in a list.
    """
    many = url.endswith("/") or re.search(r"[*?\[]", without_secrets(url)) is not None
    if not many:
        return [url]
    if _kind(url) == "http":
        raise InputError(
            f"A web server does not tell which files lie at {named_url(url)}. Name each of them, in a list."
        )
    return _inside(url) if url.endswith("/") else _like(url, url)


def check_scheme(url: str | Path) -> None:
    """Refuse a scheme that nobody reads, and a URL that lost a slash.

    >>> check_scheme("ftp://host/x.parquet")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Unknown scheme 'ftp'. ...Known: 'abfs', 'abfss', 'adl', ...
    """
    schemes = (*_KINDS, "file")
    scheme = scheme_of(url)
    if scheme not in schemes:
        raise unknown_name("scheme", scheme, schemes)
    if isinstance(url, Path):
        raise InputError(
            f"{named_url(url)} is a URL that was made a Path, which drops a slash. Give URLs as text."
        )


def scanned_object(url: str, *, first: bool = False) -> pl.LazyFrame:
    """Return a lazy table of one object; names in its folders (agent=dqn/) are columns."""
    return pl.scan_parquet(
        url, hive_partitioning=True, glob=False, storage_options=_options(url, first)
    )


def marks_of_object(url: str) -> tuple[int, ...]:
    """Return by what an object is known again: its number of rows, and a digest of its columns."""
    if _kind(url) == "http":
        check_web_server(url)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # polars' guesses at regions
            lazy = scanned_object(url, first=True)
            schema, rows = lazy.collect_schema(), lazy.select(pl.len()).collect().item()
    except (*PROBLEMS, OSError) as problem:
        raise unreadable_object(url, problem) from None
    digest = hashlib.blake2b(repr(schema).encode(), digest_size=6).digest()
    return int(rows), int.from_bytes(digest, "big")


def unreadable_object(url: str, problem: BaseException) -> InputError:
    """Build the error for an object that polars cannot read: not there, closed, out of reach, or damaged.

    What polars says may quote the URL with its secrets, and is not repeated but for its cause.

    >>> str(unreadable_object("s3://board/x.parquet", FileNotFoundError("404")))
    "There is no Parquet file at 's3://board/x.parquet'. Check the URL; a folder's ends in '/'."
    """
    text = str(problem)
    if "NoSuchBucket" in text:
        return InputError(f"There is no such bucket as that of {named_url(url)}. Check its name.")
    if (
        isinstance(problem, FileNotFoundError)
        or "404 Not Found" in text
        or "paths were empty" in text
    ):
        return InputError(
            f"There is no Parquet file at {named_url(url)}. Check the URL; a folder's ends in '/'."
        )
    if isinstance(problem, PermissionError) or _CLOSED.search(text):
        return InputError(
            f"No access to {named_url(url)}: credentials are missing, or not enough. {_KEYS[_kind(url)]}."
        )
    if isinstance(problem, OSError) or "error sending request" in text:
        return InputError(
            f"Cannot reach the store of {named_url(url)} ({_cause(text)}). "
            f"Check the network and the endpoint."
        )
    return InputError(
        f"Cannot read what lies at {named_url(url)}: it is damaged, or no Parquet file "
        f"({_URL.sub('…', first_line(problem))}). Write it again."
    )


def _cause(text: str) -> str:
    """The last cause that polars names, where nothing of the URL stands.

    >>> _cause("object-store error: GET http://x\\n\\nCaused by:\\n    0: client\\n    1: timed out")
    'timed out'
    """
    _, caused, causes = text.partition("Caused by:")
    lines = [re.sub(r"^\d+: ", "", line.strip()) for line in causes.splitlines() if line.strip()]
    status = re.search(r"status code: (\d+ [A-Za-z ]+)", text)
    if caused and lines:
        return _URL.sub("…", lines[-1])
    return status[1].strip() if status else "it does not answer"


def _inside(url: str) -> list[str]:
    """Files in a folder and its folders, but for hidden ones."""
    visible = [
        place
        for place in _like(f"{url}**/*.parquet", url)
        if not any(part.startswith((".", "_")) for part in place[len(url) :].split("/"))
    ]
    if not visible:
        raise unreadable_object(url, FileNotFoundError())
    return visible


def _like(pattern: str, named: str) -> list[str]:
    """Files with rows that are like a pattern, by which they are named in errors or not."""
    every = pl.scan_parquet(
        pattern,
        include_file_paths=_PLACE,
        hive_partitioning=False,
        missing_columns="insert",  # what columns they have is looked at one by one
        extra_columns="ignore",
        storage_options=_options(pattern, first=True),
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # likewise
            return sorted(every.select(pl.col(_PLACE).unique()).collect()[_PLACE])
    except (*PROBLEMS, OSError) as problem:
        raise unreadable_object(named, problem) from None


def _options(url: str, first: bool) -> dict[str, Any] | None:  # Any: polars' own mixture
    """Only clients of object stores can be told how long to wait."""
    patient = first and _kind(url) not in ("hf", "http")
    return dict(_PATIENCE) if patient else None


def _kind(url: str) -> str:
    return _KINDS[str(scheme_of(url))]
