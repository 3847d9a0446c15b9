"""A small object store on this machine: lists buckets as S3 does, and gives ranges of what lies in them."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

import polars as pl


class Store(ThreadingHTTPServer):
    """Objects by /bucket/key; those of the bucket `closed` are given to nobody."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.objects: dict[str, bytes] = {}
        self.asked: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def put(self, key: str, frame: pl.DataFrame) -> None:
        """Keep a table under bucket/key."""
        stream = io.BytesIO()
        frame.write_parquet(stream)
        self.objects[f"/{key}"] = stream.getvalue()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else every answer waits 40 ms for its second half
    server: Store

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        path, asked = unquote(url.path), parse_qs(url.query)
        self.server.asked.append(path)
        bucket = f"/{path.split('/')[1]}/"
        if bucket == "/closed/":
            self._answer(403, b"<Error><Code>AccessDenied</Code></Error>")
        elif "list-type" in asked:
            self._list(bucket, asked.get("prefix", [""])[0])
        elif path in self.server.objects:
            self._give(self.server.objects[path])
        else:
            known = any(key.startswith(bucket) for key in self.server.objects)
            code = "NoSuchKey" if known else "NoSuchBucket"
            self._answer(404, f"<Error><Code>{code}</Code></Error>".encode())

    def _list(self, bucket: str, prefix: str) -> None:
        keys = [key for key in self.server.objects if key.startswith(bucket)]
        if not keys:
            self._answer(404, b"<Error><Code>NoSuchBucket</Code></Error>")
            return
        found = "".join(
            f"<Contents><Key>{escape(key[len(bucket) :])}</Key><Size>{len(self.server.objects[key])}</Size>"
            f"<LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>x</ETag></Contents>"
            for key in sorted(keys)
            if key[len(bucket) :].startswith(prefix)
        )
        text = f"<ListBucketResult><IsTruncated>false</IsTruncated>{found}</ListBucketResult>"
        self._answer(200, text.encode())

    def _give(self, data: bytes) -> None:
        first, last = 0, len(data) - 1
        wanted = self.headers.get("Range", "").removeprefix("bytes=")
        if wanted:
            start, _, stop = wanted.partition("-")
            first = int(start) if start else max(len(data) - int(stop), 0)
            last = min(int(stop), last) if start and stop else last
        self._answer(
            206 if wanted else 200,
            data[first : last + 1],
            {"Content-Range": f"bytes {first}-{last}/{len(data)}"} if wanted else {},
        )

    def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        told = {"Content-Length": str(len(body)), "ETag": "x", "Accept-Ranges": "bytes"}
        told["Last-Modified"] = "Thu, 01 Jan 2026 00:00:00 GMT"
        for name, value in (told | (headers or {})).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving() -> Iterator[Store]:
    """Serve a store in a thread for as long as it is needed."""
    with Store() as store:
        threading.Thread(target=store.serve_forever, daemon=True).start()
        yield store
        store.shutdown()
