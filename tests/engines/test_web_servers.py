"""Web servers that do not answer, or that send a reader to another host, are refused in one sentence."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import examiner as ex
from engines.like_fits import MATRIX
from engines.object_store import serving
from examiner.engines import web_servers

TIDY = MATRIX.to_polars().unpivot(index="agent", variable_name="task", value_name="score")


@contextmanager
def redirecting(target: str) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(302)
            self.send_header("Location", target)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_HEAD(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def test_a_server_that_never_answers_is_not_waited_for_without_end(monkeypatch):
    monkeypatch.setattr(web_servers, "WAIT_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/x.parquet"
        began = time.monotonic()
        with pytest.raises(
            ex.InputError, match=r"Cannot reach the server of .*no answer within 0.3 s"
        ):
            ex.engines.sharded(url)
        assert time.monotonic() - began < 5


def test_a_redirect_to_another_host_is_refused_and_the_host_is_named():
    with serving() as store:
        store.put("board/x.parquet", TIDY)
        elsewhere = f"http://localhost:{store.server_port}/board/x.parquet"
        with redirecting(elsewhere) as address, pytest.raises(ex.InputError) as problem:
            ex.engines.sharded(f"{address}/x.parquet?token=hush")
        assert not store.asked, "nothing was fetched from the other host"
    assert f"redirects to '{elsewhere}'" in str(problem.value)
    assert "hush" not in str(problem.value)


def test_a_redirect_within_a_host_is_followed():
    with serving() as store:
        store.put("board/x.parquet", TIDY)
        with redirecting(f"{store.address}/board/x.parquet") as address:
            shards = ex.engines.sharded(f"{address}/x.parquet")
    assert len(shards.agents) == len(MATRIX.agents)
