"""Web servers asked once before anything is read: one that is silent, or sends elsewhere, is refused."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import IO, TYPE_CHECKING
from urllib.parse import urlsplit

from examiner.checking import without_secrets
from examiner.wording import InputError, shorten

if TYPE_CHECKING:
    from http.client import HTTPMessage
    from urllib.request import Request

WAIT_SECONDS = 20.0
"""How long a web server is waited for at first: polars waits for a silent one without end."""


def named_url(url: str | Path) -> str:
    """Return a URL as it is named in sentences."""
    return shorten(without_secrets(url), 200)


def check_web_server(url: str) -> None:
    """Ask for the first byte at a URL; refuse a server that does not answer in time or names another host.

    Whatever else the server answers is left to whoever reads the file.

    >>> check_web_server("http://127.0.0.1:1/x.parquet")
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: Cannot reach the server of 'http://127.0.0.1:1/x.parquet' (...). Check the \
network and the URL.
    """
    # Loaded only where a web server is asked: it takes longer than all else here.
    from http.client import HTTPException
    from urllib.error import HTTPError, URLError
    from urllib.request import HTTPRedirectHandler, Request, build_opener

    class SameHostOnly(HTTPRedirectHandler):
        def redirect_request(
            self,
            req: Request,
            fp: IO[bytes],
            code: int,
            msg: str,
            headers: HTTPMessage,
            newurl: str,
        ) -> Request | None:
            with contextlib.ExitStack() as refused:
                refused.callback(fp.close)
                _refuse_other_host(url, newurl)
                refused.pop_all()
            return super().redirect_request(req, fp, code, msg, headers, newurl)

    # A range and no HEAD, for a signed URL may allow nothing but GET.
    request = Request(_without_user(url), headers={"Range": "bytes=0-0"})
    try:
        with build_opener(SameHostOnly).open(request, timeout=WAIT_SECONDS) as answer:
            answer.read(1)
    except HTTPError as refusal:
        refusal.close()
    except InputError:
        raise
    except (URLError, OSError, HTTPException) as problem:
        reason = problem.reason if isinstance(problem, URLError) else problem
        if isinstance(reason, TimeoutError):
            cause = f"no answer within {WAIT_SECONDS:g} seconds"
        else:
            cause = getattr(reason, "strerror", None) or type(reason).__name__
        raise InputError(
            f"Cannot reach the server of {named_url(url)} ({cause}). Check the network and the URL."
        ) from None


def _without_user(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _refuse_other_host(url: str, target: str) -> None:
    host, other = urlsplit(url), urlsplit(target)
    if other.hostname != host.hostname or (host.scheme == "https" and other.scheme != "https"):
        raise InputError(
            f"The server of {named_url(url)} redirects to {named_url(target)}. "
            f"If that is what you want to read, name that URL."
        )
