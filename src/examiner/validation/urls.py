"""URLs: told from paths, and said without what is secret in them."""

from __future__ import annotations

import re
from pathlib import Path

from examiner.messages import InputError, shorten

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(//?)")  # two letters: C:/ is a drive
_QUERY = re.compile(r"\?[^/]*=.*", re.DOTALL)
_USER = re.compile(r"(?<=://)[^/@]*:[^/]*@")
_USER_OR_TOKEN = re.compile(r"(?<=://)[^/]*@")


def scheme_of(source: object) -> str | None:
    """Return the scheme of a URL in small letters; None where it is a path.

    A URL that was made a `Path`, which drops one of its slashes, is still seen to be one.

    >>> scheme_of("S3://board/day/"), scheme_of(Path("s3://board/day/")), scheme_of("day/1.parquet")
    ('s3', 's3', None)
    """
    scheme = _SCHEME.match(str(source))
    if scheme is None:
        return None
    whole = scheme[2] == "//"
    lost = isinstance(source, Path) and not Path(f"{scheme[1]}:").exists()
    return scheme[1].lower() if whole or lost else None


def without_secrets(url: object) -> str:
    """Return a URL as it may be shown and stored: without user, password and query.

    >>> without_secrets("https://me:secret@host/x.parquet?token=secret")
    'https://host/x.parquet'
    >>> without_secrets("abfss://container@account.dfs.core.windows.net/part-?.parquet")
    'abfss://container@account.dfs.core.windows.net/part-?.parquet'
    """
    text = str(url)
    if scheme_of(text) in ("http", "https"):
        return _USER_OR_TOKEN.sub("", re.split("[?#]", text, maxsplit=1)[0])
    return _USER.sub("", _QUERY.sub("", text))


def refuse_url(source: object) -> None:
    """Refuse a URL where only what lies on this machine is read.

    >>> refuse_url("s3://board/day/1.parquet")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Cannot read 's3://board/day/1.parquet' into memory: of URLs, Parquet \
alone is read, by `examiner fit --engine shards` (`ex.engines.sharded`). Fit it so, or download it.
    """
    if scheme_of(source) is not None:
        raise InputError(
            f"Cannot read {shorten(without_secrets(source), 200)} into memory: of URLs, Parquet alone is "
            f"read, by `examiner fit --engine shards` (`ex.engines.sharded`). Fit it so, or download it."
        )
