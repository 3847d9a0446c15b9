"""Web servers asked once before anything is read: one that is silent, or sends elsewhere, is refused."""

from __future__ import annotations

import os
import re
from contextlib import closing
from pathlib import Path

from examiner.messages import InputError, shorten
from examiner.validation import without_secrets

WAIT_SECONDS = 20.0
"""How long a web server is waited for at first: polars waits for a silent one without end."""
_URL = re.compile(
    r"(?P<scheme>https?)://(?:[^/?#@]*@)?(?P<host>[^/?#]+)(?P<rest>[^#]*)", re.IGNORECASE
)
_PROXIES = ("http_proxy", "https_proxy", "all_proxy")


def named_url(url: str | Path) -> str:
    """Return a URL as it is named in sentences."""
    return shorten(without_secrets(url), 200)


def check_web_server(url: str) -> None:
    """Ask for the first byte at a URL; refuse a server that does not answer in time or names another host.

    Whatever else the server answers is left to whoever reads the file. Behind a proxy nothing is asked.

    >>> check_web_server("http://127.0.0.1:1/x.parquet")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Cannot reach the server of 'http://127.0.0.1:1/x.parquet' (...). Check \
the network and the URL.
    """
    if any(os.environ.get(name) or os.environ.get(name.upper()) for name in _PROXIES):
        return
    place = url
    # as browsers and polars' client do
    for _ in range(10):
        target = _redirect_of(place, url)
        if target is None:
            return
        place = _same_host(place, target, url)
    raise InputError(f"The server of {named_url(url)} redirects without end. Check the URL.")


def _redirect_of(place: str, url: str) -> str | None:
    """Where the server sends whoever asks for a place; None where it answers itself."""
    # Loaded only where a web server is asked: it takes longer than all else here.
    from http.client import HTTPConnection, HTTPException, HTTPSConnection

    parts = _URL.match(place)
    if parts is None:
        return None
    kind = HTTPSConnection if parts["scheme"].lower() == "https" else HTTPConnection
    try:
        with closing(kind(parts["host"], timeout=WAIT_SECONDS)) as server:
            # A range and no HEAD, for a signed URL may allow nothing but GET.
            server.request("GET", parts["rest"] or "/", headers={"Range": "bytes=0-0"})
            with server.getresponse() as answer:
                answer.read(1)
                return answer.getheader("Location") if 300 <= answer.status < 400 else None
    except TimeoutError:
        cause = f"no answer within {WAIT_SECONDS:g} seconds"
    except (OSError, HTTPException) as problem:
        cause = getattr(problem, "strerror", None) or type(problem).__name__
    raise InputError(
        f"Cannot reach the server of {named_url(url)} ({cause}). Check the network and the URL."
    )


def _same_host(place: str, target: str, url: str) -> str:
    """The place that a redirect names, if it is on the same host and no less safe."""
    here, there = _URL.match(place), _URL.match(target)
    assert here is not None
    if there is None:  # a path on the same server
        folder = here["rest"].partition("?")[0].rpartition("/")[0]
        path = target if target.startswith("/") else f"{folder}/{target}"
        return f"{here['scheme']}://{here['host']}{path}"
    downgraded = here["scheme"].lower() == "https" and there["scheme"].lower() != "https"
    if downgraded or _hostname(there["host"]) != _hostname(here["host"]):
        raise InputError(
            f"The server of {named_url(url)} redirects to {named_url(target)}. "
            f"If that is what you want to read, name that URL."
        )
    return target


def _hostname(host: str) -> str:
    return re.sub(r":\d+$", "", host).lower()
