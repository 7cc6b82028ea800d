"""Requests that are odd as HTTP, sent byte by byte: the Worker answers each as it should.

What is no HTTP at all (two lengths that differ, a target without a path, an unknown method) workerd
refuses before the Worker hears of it; those only must not disturb it.
"""

from __future__ import annotations

import gzip
import http.client
import socket
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.worker.client import embed, get
from tests.worker.servers import Server

TEXT = b'{"text":"a"}'
HOST = b"Host: x\r\n"
TYPE = b"Content-Type: application/json\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
MEGABYTE = b"100000\r\n" + b"a" * 0x100000 + b"\r\n"
END = b"0\r\n\r\n"


def message(
    body: bytes = TEXT,
    *headers: bytes,
    method: bytes = b"POST",
    target: bytes = b"/tokenize",
    first: bytes = HOST + TYPE,
    length: bytes | None = None,
) -> bytes:
    """A request. `length`: header lines that say how long the body is; right ones by default."""
    told = b"Content-Length: %d\r\n" % len(body) if length is None else length
    lines = b"".join(header + b"\r\n" for header in headers)
    return b"%s %s HTTP/1.1\r\n" % (method, target) + first + lines + told + b"\r\n" + body


def chunked(body: bytes) -> bytes:
    return message(body, length=CHUNKED)


def target(path: bytes, method: bytes = b"GET") -> bytes:
    return message(b"" if method == b"GET" else TEXT, method=method, target=path)


GZIPPED = gzip.compress(TEXT)
WEBSOCKET = (
    b"Upgrade: websocket", b"Connection: Upgrade", b"Sec-WebSocket-Version: 13",
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
)  # fmt: skip

MESSAGES: dict[str, tuple[bytes, int]] = {
    "chunks": (chunked(b"6\r\n" + TEXT[:6] + b"\r\n6\r\n" + TEXT[6:] + b"\r\n" + END), 200),
    "a thousand chunks": (chunked(b"1\r\n \r\n" * 1000 + b"c\r\n" + TEXT + b"\r\n" + END), 200),
    "chunks and a length": (
        message(b"c\r\n" + TEXT + b"\r\n" + END, length=CHUNKED + b"Content-Length: 3\r\n"), 200,
    ),
    "a chunk's size is no number": (chunked(b"zz\r\n{}\r\n" + END), 400),
    "a chunk's size is negative": (chunked(b"-1\r\n{}\r\n" + END), 400),
    "a chunk is shorter than it says": (chunked(b"5\r\n{}\r\n" + END), 400),
    "a chunk's size is endless": (chunked(b"f" * 5000), 400),
    "10 MB in chunks": (chunked(MEGABYTE * 10 + END), 413),
    "endless chunks": (chunked(MEGABYTE * 66), 413),
    "a length beyond all bounds": (message(length=b"Content-Length: 70000000\r\n"), 413),
    "a length beyond numbers": (message(length=b"Content-Length: " + b"9" * 23 + b"\r\n"), 413),
    "a length that is too short": (message(length=b"Content-Length: 4\r\n"), 400),
    "no length": (message(b"", length=b""), 400),
    "no type": (message(first=HOST), 415),
    "two types": (message(TEXT, TYPE.strip()), 415),
    "a type that is not ASCII": (message(first=HOST + b"Content-Type: json\xff\r\n"), 415),
    "gzip": (message(GZIPPED, b"Content-Encoding: gzip"), 415),
    "an encoding twice": (message(TEXT, b"Content-Encoding: identity, gzip"), 415),
    "no encoding at all": (message(TEXT, b"Content-Encoding: identity"), 200),
    "keys that are not ASCII": (message(TEXT, b"Authorization: Bearer \xff\xfe"), 200),
    "two keys": (message(TEXT, b"Authorization: Bearer a", b"Authorization: Bearer b"), 200),
    "two request ids": (message(TEXT, b"x-request-id: a", b"x-request-id: b"), 200),
    "an origin that is not ASCII": (message(TEXT, b"Origin: \xff"), 200),
    "expectations": (message(TEXT, b"Expect: the unexpected"), 200),
    "long headers": (message(TEXT, b"X-Long: " + b"a" * 100_000), 200),
    "many headers": (message(TEXT, *(b"X-%d: a" % n for n in range(2000))), 200),
    "a folded header": (message(TEXT, b"X: a\r\n b"), 200),
    "a preflight that asks for anything": (
        message(b"", b"Access-Control-Request-Headers: \xe9\x01, x", method=b"OPTIONS"), 204,
    ),
    "OPTIONS for no path": (message(b"", method=b"OPTIONS", target=b"/nope"), 404),
    "a GET with a body": (message(TEXT, method=b"GET", target=b"/health"), 200),
    "a websocket": (message(b"", *WEBSOCKET, method=b"GET", target=b"/", length=b""), 200),
    "TRACE": (message(method=b"TRACE"), 405),
    "PROPFIND": (message(method=b"PROPFIND"), 405),
    "an escaped path": (target(b"/%74okenize", b"POST"), 200),
    "a path with dots": (target(b"/x/../tokenize", b"POST"), 200),
    "a query": (target(b"/tokenize?a=b&" + b"a" * 20_000, b"POST"), 200),
    "a broken escape": (target(b"/%zz"), 404),
    "a slash at the end": (target(b"/tokenize/", b"POST"), 404),
    "two slashes": (target(b"//tokenize", b"POST"), 404),
    "a parameter": (target(b"/tokenize;a=b", b"POST"), 404),
    "a long path": (target(b"/" + b"a" * 100_000), 404),
    "bytes in a path": (target(b"/\xff\xfe\x01"), 404),
    "an escaped model": (target(b"/v1/models/tern%2Dengine-emb-int4"), 200),
    "a model that is a broken escape": (target(b"/v1/models/%E0%A4%A"), 404),
    "a model that is a NUL": (target(b"/v1/models/%00"), 404),
}  # fmt: skip

NO_HTTP = {
    "bytes": bytes(range(256)) * 4,
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"a" * 500,
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "nothing": b"",
    "two lengths": message(TEXT, b"Content-Length: 5"),
    "a negative length": message(length=b"Content-Length: -5\r\n"),
    "a length in letters": message(length=b"Content-Length: abc\r\n"),
    "gzip as a transfer": message(length=b"Transfer-Encoding: gzip, chunked\r\n"),
    "two hosts": message(TEXT, b"Host: y"),
    "no host": message(first=TYPE),
    "a host that is none": message(first=b"Host: <b>\r\n" + TYPE),
    "a target without a path": message(target=b"tokenize"),
    "a target that is a star": message(target=b"*", method=b"OPTIONS"),
    "an unknown method": message(method=b"BREW"),
    "CONNECT": message(method=b"CONNECT", target=b"x:80"),
    "a header without a colon": message(TEXT, b"colon"),
    "a NUL in a header": message(TEXT, b"X: a\x00b"),
}


@pytest.fixture(scope="module", autouse=True)
def answers_are_unchanged(server: Server) -> Iterator[None]:
    before = embed(server, ["a small boat"])
    yield
    assert embed(server, ["a small boat"]) == before
    entries = [e for e in server.log_entries() if e["event"] != "engine_started"]
    assert {e["event"] for e in entries} == {"request"}
    assert [e for e in entries if int(str(e["status"])) >= 500 and e["code"] != "overloaded"] == []


@pytest.mark.parametrize("name", MESSAGES)
def test_odd_requests(server: Server, name: str) -> None:
    content, expected = MESSAGES[name]
    with socket.create_connection(("127.0.0.1", server.port), 60) as connection:
        # Refused before its end, perhaps; what it was answered is there to be read.
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(content)
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        body = answer.read()
    assert answer.status == expected, body[:300]
    assert answer.headers["x-request-id"]
    if expected >= 400:
        assert body.startswith(b'{"error":{"message":')


@pytest.mark.parametrize("name", NO_HTTP)
def test_what_is_no_http_disturbs_nobody(server: Server, name: str) -> None:
    with socket.create_connection(("127.0.0.1", server.port), 60) as connection:
        connection.sendall(NO_HTTP[name])
        connection.shutdown(socket.SHUT_WR)
        assert get(server, "/health").json()["engine"] == "ready"


def test_requests_on_one_connection(server: Server) -> None:
    """Sent at once, they are answered in turn, those that are refused among them."""
    texts = [b'{"text":"a"}', b"{", b'{"text":"boat"}', b"[" * 5000, b'{"text":"a"}']
    with socket.create_connection(("127.0.0.1", server.port), 60) as connection:
        connection.sendall(b"".join(map(message, texts)))
        found = []
        with connection.makefile("rb") as stream:
            for _ in texts:
                status = int(stream.readline().split()[1])
                headers = http.client.parse_headers(stream)
                body = stream.read(int(headers["content-length"]))
                found.append((status, b'"ids":[101,1037,102]' in body))
    assert found == [(200, True), (400, False), (200, False), (400, False), (200, True)]
