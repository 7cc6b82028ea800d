"""Who may ask, from where, and how often; request ids and the log."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import openai
import pytest

from tests.worker.client import MODEL, get, post, send
from tests.worker.servers import Server, workerd

KEY = "sk-test-1"
OTHER_KEY = "sk-test-2"
BEARER = {"authorization": f"Bearer {KEY}"}
SITE = "https://site.example"


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """With keys, one allowed origin, narrow limits and an alias."""
    variables = {
        "API_KEY": f"{KEY}, {OTHER_KEY}",
        "CORS_ORIGINS": f"{SITE}/,https://other.example",
        "MAX_INPUTS": "3",
        "MAX_TOKENS": "40",
        "MAX_BODY_BYTES": "2000",
        "MODEL_ALIASES": "text-embedding-3-small",
    }
    with workerd(tmp_path_factory.mktemp("closed"), variables) as running:
        yield running


@pytest.mark.parametrize("path", ["/", "/health", "/openapi.json"])
def test_what_is_open_without_a_key(closed: Server, path: str) -> None:
    assert get(closed, path).status == 200


@pytest.mark.parametrize(
    "header", [None, "", KEY, f"Basic {KEY}", "Bearer", "Bearer ", "Bearer wrong", f"Bearer {KEY}x"]
)
def test_without_a_valid_key(closed: Server, header: str | None) -> None:
    headers = {} if header is None else {"authorization": header}
    for reply in (
        post(closed, "/v1/embeddings", {"model": MODEL, "input": "a"}, headers),
        get(closed, "/v1/models", headers),
        get(closed, "/config", headers),
        get(closed, "/no-such-path", headers),
    ):
        assert reply.status == 401
        assert reply.error()["code"] == "invalid_api_key"
        assert reply.headers["www-authenticate"].startswith("Bearer ")


def test_each_key_opens(closed: Server) -> None:
    for key in (KEY, OTHER_KEY):
        for scheme in ("Bearer", "bearer"):
            headers = {"authorization": f"{scheme} {key}"}
            assert get(closed, "/v1/models", headers).status == 200


def test_a_blank_key_opens_nothing(tmp_path: Path) -> None:
    with workerd(tmp_path, {"API_KEY": " , "}) as blank:
        for headers in ({}, BEARER, {"authorization": "Bearer ,"}):
            reply = post(blank, "/v1/embeddings", {"model": MODEL, "input": "a"}, headers)
            assert (reply.status, reply.error()["code"]) == (401, "invalid_api_key")
        assert get(blank, "/health").json() == {"status": "ok", "engine": "cold"}
        description = get(blank, "/openapi.json").json()
        assert description["security"] == [{"key": []}]
        assert all("401" in item["post"]["responses"] for item in description["paths"].values()
                   if "post" in item)  # fmt: skip
        told = [entry for entry in blank.log_entries() if entry["event"] != "request"]
        assert told == [{"event": "setting_blank", "name": "API_KEY"}]


def test_the_sdk_sends_its_key(closed: Server) -> None:
    with openai.OpenAI(base_url=f"{closed.url}/v1", api_key=KEY, max_retries=0) as client:
        answer = client.embeddings.create(model="text-embedding-3-small", input="a")
        assert answer.model == "text-embedding-3-small"
        assert len(answer.data[0].embedding) == 384
    with (
        openai.OpenAI(base_url=f"{closed.url}/v1", api_key="wrong", max_retries=0) as client,
        pytest.raises(openai.AuthenticationError),
    ):
        client.models.list()


def test_own_limits(closed: Server) -> None:
    def refused(**fields: object) -> tuple[int, str]:
        reply = post(closed, "/v1/embeddings", {"model": MODEL, **fields}, BEARER)
        return reply.status, reply.error()["code"]

    assert refused(input=["a"] * 4) == (400, "too_many_inputs")
    assert refused(input=["word " * 30] * 2) == (400, "too_many_tokens")
    assert refused(input="a" * 2000) == (413, "body_too_large")
    limits = get(closed, "/config", BEARER).json()["limits"]
    assert limits == {"max_body_bytes": 2000, "max_inputs": 3, "max_tokens": 40}


def test_cors_for_one_site(closed: Server) -> None:
    preflight = {
        "origin": SITE,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization, x-stainless-os",
    }
    reply = send(closed, "OPTIONS", "/v1/embeddings", headers=preflight)
    assert reply.status == 204
    assert reply.headers["access-control-allow-origin"] == SITE
    assert reply.headers["access-control-allow-headers"] == "authorization, x-stainless-os"
    assert "POST" in reply.headers["access-control-allow-methods"]
    # Errors can be read from there, too.
    reply = get(closed, "/config", {"origin": SITE})
    assert (reply.status, reply.headers["access-control-allow-origin"]) == (401, SITE)
    assert "x-request-id" in reply.headers["access-control-expose-headers"]
    for origin in ("https://evil.example", "null", SITE + ".evil.example"):
        reply = get(closed, "/health", {"origin": origin})
        assert "access-control-allow-origin" not in reply.headers
        assert reply.headers["vary"] == "origin"


def test_cors_is_open_by_default(server: Server) -> None:
    reply = get(server, "/health", {"origin": "https://any.example"})
    assert reply.headers["access-control-allow-origin"] == "*"


def test_request_ids(server: Server) -> None:
    given = get(server, "/health", {"x-request-id": "abc-123"})
    assert given.headers["x-request-id"] == "abc-123"
    made = [get(server, "/health", {"x-request-id": bad}) for bad in ("", "a b", "x" * 65)]
    ids = {reply.headers["x-request-id"] for reply in made}
    assert len(ids) == 3 and all(len(each) == 36 for each in ids)


def test_the_log_has_everything_but_the_text(server: Server) -> None:
    secret = "xylophone-quartet"
    post(server, "/v1/embeddings", {"model": MODEL, "input": [secret, "b"]}, {"x-request-id": "n1"})
    post(server, "/tokenize", f'{{"text": "{secret}"'.encode(), {"x-request-id": "n2"})
    post(server, "/tokenize", {"text": [secret]}, {"x-request-id": "n3"})
    get(server, f"/{secret}?q={secret}", {"x-request-id": "n4"})
    assert secret not in server.log.read_text("utf-8")
    entries = {entry.get("request_id"): entry for entry in server.log_entries()}
    first = entries["n1"]
    assert isinstance(first.pop("ms"), int)
    assert first == {
        "event": "request", "request_id": "n1", "method": "POST", "route": "/v1/embeddings",
        "status": 200, "items": 2, "tokens": first["tokens"], "truncated": 0,
        "bytes": first["bytes"],
    }  # fmt: skip
    assert entries["n2"]["code"] == "invalid_json"
    assert entries["n3"]["code"] == "INVALID_INPUT"
    assert entries["n4"]["route"] == "none"
