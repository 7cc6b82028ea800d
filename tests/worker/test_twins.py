"""The JavaScript API's methods as JSON routes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.worker.client import embed, floats, get, post, send
from tests.worker.servers import Server

BOAT, SHIP, SOUP = "a small boat", "a little ship", "a bowl of soup"


def cosine(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_embed(server: Server) -> None:
    vectors = [floats(vector) for vector in embed(server, [BOAT, "word " * 200])]
    assert post(server, "/embed", {"text": BOAT}).json() == {
        "embedding": vectors[0], "tokens": 5, "truncated": False,
    }  # fmt: skip
    reply = post(server, "/embed", {"texts": [BOAT, "word " * 200]})
    assert [item["embedding"] for item in reply.json()["embeddings"]] == vectors
    assert [item["truncated"] for item in reply.json()["embeddings"]] == [False, True]
    assert reply.headers["x-truncated-inputs"] == "1"
    assert post(server, "/embed", {"texts": []}).json() == {"embeddings": []}


def test_tokenize(server: Server) -> None:
    reply = post(server, "/tokenize", {"text": "[MASK] token"})
    assert reply.json() == {"ids": [101, 103, 19204, 102], "tokens": 4, "truncated": False}
    reply = post(server, "/tokenize", {"text": "word " * 200})
    assert len(reply.json()["ids"]) == 128
    assert reply.headers["x-truncated"] == "1"


def test_similarity(server: Server) -> None:
    one, other = (floats(vector) for vector in embed(server, [BOAT, SHIP]))
    answer = post(server, "/similarity", {"a": BOAT, "b": SHIP}).json()
    assert answer["similarity"] == pytest.approx(cosine(one, other), abs=1e-6)
    assert post(server, "/similarity", {"a": [1, 0], "b": [0, 2]}).json() == {"similarity": 0}
    assert post(server, "/similarity", {"a": one, "b": one}).json()["similarity"] == 1


def test_classify(server: Server) -> None:
    labels = post(server, "/classify", {"text": BOAT, "labels": [SOUP, SHIP, BOAT]}).json()[
        "labels"
    ]
    assert [item["label"] for item in labels] == [BOAT, SHIP, SOUP]
    assert labels[0]["score"] == pytest.approx(1)
    assert post(server, "/classify", {"text": BOAT, "labels": []}).json() == {"labels": []}


def test_classify_by_examples(server: Server) -> None:
    request: dict[str, Any] = {"text": BOAT, "labels": {"food": [SOUP], "sea": [SHIP, "a ferry"]}}
    labels = post(server, "/classify", request).json()["labels"]
    assert [item["label"] for item in labels] == ["sea", "food"]
    request["threshold"] = (labels[0]["score"] + labels[1]["score"]) / 2
    assert post(server, "/classify", request).json()["labels"] == labels[:1]
    reply = post(server, "/classify", {"text": "a", "labels": {"many": ["a"] * 2049}})
    assert (reply.status, reply.error()["code"]) == (400, "too_many_inputs")


def test_search(server: Server) -> None:
    request = {"query": BOAT, "documents": [SOUP, BOAT, SHIP]}
    results = post(server, "/search", request).json()["results"]
    assert [item["index"] for item in results] == [1, 2, 0]
    assert results == sorted(results, key=lambda item: -item["score"])
    assert post(server, "/search", {**request, "top_k": 2}).json()["results"] == results[:2]
    assert post(server, "/search", {**request, "documents": []}).json() == {"results": []}


LONG = "word " * 200
EXAMPLES = {"food": [SOUP, LONG], "sea": [LONG, SHIP]}


@pytest.mark.parametrize(
    ("path", "content", "count", "inputs", "query"),
    [
        ("/search", {"query": BOAT, "documents": [SOUP, LONG, LONG]}, "2", "1,2", None),
        ("/search", {"query": LONG, "documents": [LONG, SOUP]}, "2", "0", "true"),
        ("/search", {"query": LONG, "documents": [SOUP]}, "1", None, "true"),
        ("/search", {"query": BOAT, "documents": [SOUP]}, "0", None, None),
        ("/classify", {"text": BOAT, "labels": [LONG, SHIP, SOUP]}, "1", "0", None),
        ("/classify", {"text": LONG, "labels": EXAMPLES}, "3", "1,2", "true"),
        ("/similarity", {"a": LONG, "b": LONG}, "2", "0,1", None),
        ("/embed", {"text": LONG}, "1", "0", None),
    ],
)
def test_cut_texts_are_told_by_their_place_in_the_request(
    server: Server, path: str, content: Any, count: str, inputs: str | None, query: str | None
) -> None:
    reply = post(server, path, content)
    assert reply.status == 200
    names = ("x-truncated", "x-truncated-inputs", "x-truncated-query")
    assert tuple(map(reply.headers.get, names)) == (count, inputs, query)
    operation = get(server, "/openapi.json").json()["paths"][path]["post"]
    assert set(names) <= set(operation["responses"]["200"]["headers"])
    assert set(names) <= set(reply.headers["access-control-expose-headers"].split(", "))


@pytest.mark.parametrize(
    ("path", "content", "code", "param"),
    [
        ("/embed", {}, "INVALID_INPUT", "text"),
        ("/embed", {"text": 1}, "INVALID_INPUT", "text"),
        ("/embed", {"texts": "a"}, "INVALID_INPUT", "texts"),
        ("/embed", {"texts": ["a"] * 257}, "too_many_inputs", "texts"),
        ("/tokenize", {"text": None}, "INVALID_INPUT", "text"),
        ("/similarity", {"a": "x"}, "INVALID_INPUT", "a"),
        ("/similarity", {"a": "x", "b": [1]}, "INVALID_INPUT", "a"),
        ("/similarity", {"a": [1, "x"], "b": [1, 2]}, "INVALID_INPUT", "a"),
        ("/similarity", {"a": [1], "b": [1, 2]}, "DIMENSION", None),
        ("/classify", {"text": "a", "labels": "b"}, "INVALID_INPUT", None),
        ("/classify", {"text": "a", "labels": [["b"]]}, "INVALID_INPUT", "labels"),
        ("/classify", {"text": "a"}, "INVALID_INPUT", None),
        ("/classify", {"text": "a", "labels": {"b": []}}, "INVALID_INPUT", None),
        ("/classify", {"text": "a", "labels": {"b": [1]}}, "INVALID_INPUT", None),
        ("/classify", {"text": "a", "labels": [], "threshold": "x"}, "INVALID_INPUT", None),
        ("/search", {"query": "a"}, "INVALID_INPUT", "documents"),
        ("/search", {"query": "a", "documents": [], "top_k": 0}, "INVALID_INPUT", "top_k"),
        ("/search", {"query": "a", "documents": ["b"] * 2049}, "too_many_inputs", "documents"),
    ],
)
def test_refusals(
    server: Server, path: str, content: dict[str, Any], code: str, param: str | None
) -> None:
    reply = post(server, path, content)
    error = reply.error()
    assert (reply.status, error["code"], error["param"]) == (400, code, param)


def test_config_says_which_build_and_which_limits(server: Server) -> None:
    answer = get(server, "/config").json()
    assert (answer["engine"], answer["build"], answer["host"]) == ("tern-engine", "int4", "pyodide")
    assert answer["limits"]["max_inputs"] == 2048


def test_the_page_for_people(server: Server) -> None:
    reply = get(server, "/")
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in reply.headers["content-security-policy"]
    assert b"{{" not in reply.body
    assert send(server, "HEAD", "/").body == b""
