"""Random requests, some of them nearly right: each gets a 200 or a refusal of OpenAI's shape."""

from __future__ import annotations

import json
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.worker.client import JSON_TYPE, MODEL, Reply, embed, send
from tests.worker.servers import Server

PATHS = ["/v1/embeddings", "/embed", "/tokenize", "/similarity", "/classify", "/search"]
FIELDS = [
    "model", "input", "encoding_format", "dimensions", "user", "text", "texts", "a", "b", "labels",
    "threshold", "query", "documents", "top_k", "__proto__", "constructor", "toString", "length",
    "then", "", "0", "\ud800", "unknown",
]  # fmt: skip
TEXTS = [
    "", " ", "a small boat", "\ud800", "a\udfffb", "\x00", "\u2028", "ﷺ" * 50, "👩‍👩‍👧" * 40,
    "[MASK]", "é" * 300, "\u0301" * 500, "１２３", "word " * 300, "\U000e0001", "\u202e",
    "__proto__", "NaN",
]  # fmt: skip
NUMBERS: list[Any] = [
    0,
    -0.0,
    1,
    -1,
    2,
    384,
    385,
    1.5,
    5e-324,
    1e308,
    2**53,
    2**63,
    -(2**31),
    1e22,
    10**40,
]
FITTING = {
    "model": [MODEL, MODEL, MODEL, "other"],
    "input": ["a", ["a", "b"], [], [""], [[1, 2]], ["a"] * 70],
    "text": TEXTS,
    "texts": [["a"], [], ["a"] * 5],
    "a": ["a", [1, 2, 3], [0, 0, 0]],
    "b": ["b", [1, 2, 3], [1e308, 1e308, 1e308]],
    "labels": [["a", "b"], {"x": ["a"], "y": ["b", "c"]}, {}, []],
    "query": TEXTS,
    "documents": [["a", "b", "c"], []],
    "top_k": [1, 2, 2048, None],
    "threshold": [0.1, -1, None],
    "dimensions": [1, 7, 384, None],
    "encoding_format": ["float", "base64", None],
}
NEEDED = {
    "/v1/embeddings": ["model", "input"],
    "/embed": ["text"],
    "/tokenize": ["text"],
    "/similarity": ["a", "b"],
    "/classify": ["text", "labels"],
    "/search": ["query", "documents"],
}


def value(chance: random.Random, depth: int = 0) -> Any:
    kind = chance.randrange(8 if depth < 4 else 5)
    if kind < 2:
        return chance.choice(TEXTS)
    if kind < 4:
        return chance.choice(NUMBERS)
    if kind == 4:
        return chance.choice([None, True, False])
    count = chance.choice([0, 1, 2, 3, 9])
    if kind < 7:
        return [value(chance, depth + 1) for _ in range(count)]
    return {chance.choice(FIELDS): value(chance, depth + 1) for _ in range(count)}


def body(chance: random.Random, path: str) -> bytes:
    content: dict[str, Any] = {name: chance.choice(FITTING[name]) for name in NEEDED[path]}
    for _ in range(chance.choice([0, 0, 1, 1, 2, 4])):
        name = chance.choice(FIELDS)
        fits = name in FITTING and chance.random() < 0.5
        content[name] = chance.choice(FITTING[name]) if fits else value(chance)
    if chance.random() < 0.1:
        content.pop(chance.choice(list(content)))
    written = bytearray(
        json.dumps(content, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass")
    )
    if chance.random() < 0.2:  # broken at a few places
        for _ in range(chance.choice([1, 1, 3])):
            at = chance.randrange(len(written) + 1)
            written[at : at + chance.choice([0, 1, 5])] = chance.randbytes(chance.choice([0, 1, 3]))
    return bytes(written)


def check(path: str, sent: bytes, reply: Reply) -> int:
    what = (path, sent, reply)
    assert reply.status in (200, 400, 404), what
    if reply.status == 200:
        assert isinstance(reply.json(), dict), what
    else:
        reply.error()
    assert reply.headers["x-request-id"], what
    return reply.status


def run(server: Server, seed: int, count: int) -> Counter[tuple[str, int]]:
    """How often each path gave each status."""
    before = embed(server, ["a small boat"])
    chance = random.Random(seed)
    requests = [(path := chance.choice(PATHS), body(chance, path)) for _ in range(count)]

    def ask(request: tuple[str, bytes]) -> tuple[str, int]:
        path, sent = request
        return path, check(path, sent, send(server, "POST", path, sent, JSON_TYPE))

    with ThreadPoolExecutor(8) as pool:
        found = Counter(pool.map(ask, requests))
    assert embed(server, ["a small boat"]) == before
    assert not any(entry["event"] == "fault" for entry in server.log_entries())
    return found


def test_random_requests(server: Server) -> None:
    found = run(server, 1, 1500)
    # Were they all refused, or all accepted, they would try little.
    assert all(found[path, status] >= 10 for path in PATHS for status in (200, 400)), found


@pytest.mark.full
def test_many_random_requests(server: Server) -> None:
    for seed in range(2, 22):
        run(server, seed, 2000)
