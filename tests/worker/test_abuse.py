"""No request of any shape gives a 500, hangs, or changes another's answer."""

from __future__ import annotations

import gzip
import json
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.worker.client import JSON_TYPE, MODEL, Reply, embed, get, post, send
from tests.worker.servers import Server

POSTS = ["/v1/embeddings", "/embed", "/tokenize", "/similarity", "/classify", "/search"]
GETS = ["/v1/models", f"/v1/models/{MODEL}", "/config", "/health", "/openapi.json", "/"]

BODIES: dict[str, tuple[bytes, int, str]] = {
    "nothing": (b"", 400, "invalid_json"),
    "spaces": (b"   ", 400, "invalid_json"),
    "no JSON": (b"{", 400, "invalid_json"),
    "two values": (b"{}{}", 400, "invalid_json"),
    "a comment": (b"{/**/}", 400, "invalid_json"),
    "NaN": (b'{"text": NaN}', 400, "invalid_json"),
    "null": (b"null", 400, "invalid_json"),
    "a list": (b"[]", 400, "invalid_json"),
    "a text": (b'"text"', 400, "invalid_json"),
    "a number": (b"1e999", 400, "invalid_json"),
    "invalid UTF-8": (b'{"text": "\xff\xfe"}', 400, "invalid_json"),
    "a surrogate in UTF-8": (b'{"text": "\xed\xa0\x80"}', 400, "invalid_json"),
    "UTF-16": ('{"text": "a"}'.encode("utf-16"), 400, "invalid_json"),
    "a control character": (b'{"text": "\x01"}', 400, "invalid_json"),
    "deep lists": (b'{"text": ' + b"[" * 5000 + b"]" * 5000 + b"}", 400, "invalid_json"),
    "deep objects": (b'{"a":' * 5000 + b"1" + b"}" * 5000, 400, "invalid_json"),
    "deep, unclosed": (b"[" * 1_000_000, 400, "invalid_json"),
    "wrong types": (b'{"text": {}, "input": 1, "model": []}', 400, "INVALID_INPUT"),
    "a prototype": (b'{"__proto__": {"text": "a", "input": "a"}}', 400, "INVALID_INPUT"),
    "many keys": (
        json.dumps({f"key {n}": n for n in range(50_000)}).encode(), 400, "INVALID_INPUT",
    ),
    "10 MB": (b'{"text": "' + b"a" * 10_000_000 + b'"}', 413, "body_too_large"),
}  # fmt: skip


@pytest.fixture(autouse=True)
def answers_are_unchanged(server: Server) -> Iterator[None]:
    """After each test, a text has the vector that it had before."""
    before = embed(server, ["a small boat"])
    yield
    assert embed(server, ["a small boat"]) == before
    faults = [entry for entry in server.log_entries() if entry.get("status") == 500]
    assert faults == []


def check(reply: Reply, status: int, code: str) -> None:
    error = reply.error()
    assert (reply.status, error["code"]) == (status, code), error
    assert reply.headers["x-request-id"]
    assert reply.headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize("name", BODIES)
def test_bodies(server: Server, name: str) -> None:
    body, status, code = BODIES[name]
    for path in POSTS:
        check(post(server, path, body), status, code)


def test_content_types(server: Server) -> None:
    body = b'{"text": "a"}'
    for good in ("application/json", "Application/JSON; charset=utf-8", "application/json;"):
        assert post(server, "/tokenize", body, {"content-type": good}).status == 200
    for bad in (
        "text/plain",
        "application/x-www-form-urlencoded",
        "",
        "application/jsonx",
        "x" * 999,
    ):
        reply = post(server, "/tokenize", body, {"content-type": bad})
        check(reply, 415, "unsupported_media_type")
    packed = gzip.compress(body)
    reply = post(server, "/tokenize", packed, {"content-encoding": "gzip"})
    check(reply, 415, "unsupported_media_type")


def test_methods(server: Server) -> None:
    for path in POSTS:
        for method in ("GET", "HEAD", "PUT", "DELETE", "PATCH"):
            reply = send(server, method, path)
            assert (reply.status, reply.headers["allow"]) == (405, "POST, OPTIONS")
            if method != "HEAD":
                check(reply, 405, "method_not_allowed")
    for path in GETS:
        for method in ("POST", "PUT", "DELETE", "PATCH"):
            reply = send(server, method, path, b"{}", JSON_TYPE)
            check(reply, 405, "method_not_allowed")
            assert reply.headers["allow"] == "GET, HEAD, OPTIONS"
        assert send(server, "HEAD", path).status == 200
        assert send(server, "OPTIONS", path).status == 204


@pytest.mark.parametrize(
    "path",
    ["/nope", "/v1", "/v1/", "/v1/embeddings/", "/V1/embeddings", "//", "/%00", "/%E0%A4%A", "/?a",
     "/v1/models/%2e%2e", "/v1/models/a/b", "/model.bin", "/python.zip", "/" + "a" * 4000],
)  # fmt: skip
def test_paths(server: Server, path: str) -> None:
    """Paths that do not exist are 404; the assets behind the Worker are no paths of it."""
    reply = get(server, path)
    if path == "/?a":
        assert reply.status == 200
    else:
        assert reply.status == 404
        assert reply.error()["code"] in ("not_found", "model_not_found")


def test_texts_at_the_limits(server: Server) -> None:
    """Huge texts are cut, and quickly."""
    began = time.monotonic()
    for text in ("a" * 1_900_000, "a " * 950_000, " " * 1_900_000, "é" * 900_000, "\x00" * 300_000):
        body = json.dumps({"text": text}, ensure_ascii=False).encode()
        reply = post(server, "/tokenize", body)
        assert reply.status == 200, reply
        assert 2 <= reply.json()["tokens"] <= 128
    reply = post(server, "/tokenize", json.dumps({"text": "[" * 100_000 + '"' * 9}).encode())
    assert reply.json()["truncated"] is True
    assert time.monotonic() - began < 60


def test_a_body_that_stops_arriving(server: Server) -> None:
    """It gets a 408, and holds up nobody meanwhile."""
    with socket.create_connection(("127.0.0.1", server.port), 60) as slow:
        slow.sendall(
            b"POST /tokenize HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            b'Content-Length: 100\r\n\r\n{"text": '
        )
        embed(server, ["someone else"])
        answer = slow.recv(4096)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"body_timeout" in answer or b"Content-Length" in answer


def test_a_body_in_drips(server: Server) -> None:
    body = json.dumps({"text": "a small boat"}).encode()
    head = b"POST /tokenize HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", server.port), 60) as slow:
        slow.sendall(head + b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n")
        for byte in body:
            slow.sendall(b"1\r\n%c\r\n" % byte)
            time.sleep(0.005)
        slow.sendall(b"0\r\n\r\n")
        answer = b"".join(iter(lambda: slow.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b'"ids":[101,1037,2235,4049,102]' in answer


def test_clients_that_leave(server: Server) -> None:
    """In the middle of sending, of waiting, and of reading an answer that is streamed: each time
    the work is given up, which the log shows, and nothing stays counted as being worked on."""
    long_texts = ["many words one after another " * 40] * 800
    content = {"model": MODEL, "input": long_texts, "query": "a", "documents": long_texts[:200]}
    body = json.dumps(content).encode()
    cases = [
        ("half", "/v1/embeddings", len(body) // 2, 0.0),
        ("waiting", "/v1/embeddings", len(body), 0.1),
        ("reading", "/v1/embeddings", len(body), None),
        ("searching", "/search", len(body), 0.2),
    ]
    for name, path, sent, wait in cases:
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        head += f"x-request-id: leaver-{name}\r\nContent-Length: {len(body)}\r\n\r\n"
        with socket.create_connection(("127.0.0.1", server.port), 60) as leaver:
            leaver.sendall(head.encode() + body[:sent])
            if wait is None:
                assert leaver.recv(1000).startswith(b"HTTP/1.1 200 ")
            else:
                time.sleep(wait)
    expected = {f"leaver-{name}" for name, *_ in cases}
    end = time.monotonic() + 40
    statuses: dict[object, object] = {}
    while set(statuses) != expected and time.monotonic() < end:
        embed(server, ["meanwhile"])
        time.sleep(0.1)
        entries = [e for e in server.log_entries() if e.get("request_id") in expected]
        statuses = {entry["request_id"]: entry["status"] for entry in entries}
    assert set(statuses) == expected
    assert statuses["leaver-half"] == statuses["leaver-reading"] == 499
    assert set(statuses.values()) <= {200, 499}  # 200: it was quicker than the client's leaving


def test_many_large_bodies_at_once(server: Server) -> None:
    """What does not fit is sent away with 503 and Retry-After; all the rest is right."""
    body = json.dumps({"text": "a" * 2_000_000}).encode()
    with ThreadPoolExecutor(24) as pool:
        replies = list(pool.map(lambda _: post(server, "/tokenize", body), range(48)))
    for reply in replies:
        if reply.status == 503:
            check(reply, 503, "overloaded")
            assert reply.headers["retry-after"] == "1"
        else:
            assert reply.json()["ids"] == [101, 100, 102]
    assert any(reply.status == 200 for reply in replies)
    assert post(server, "/tokenize", body).status == 200  # nothing stays counted as held
