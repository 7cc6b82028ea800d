"""Talks HTTP to a server under test, and keeps everything of the answer."""

from __future__ import annotations

import base64
import http.client
import json
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.worker.servers import Server

MODEL = "tern-engine-emb-int4"
JSON_TYPE = {"content-type": "application/json"}


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Mapping[str, str]  # names in small letters
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)

    def error(self) -> dict[str, Any]:
        """The body, checked to be of OpenAI's error shape."""
        content = self.json()
        assert list(content) == ["error"], content
        error: dict[str, Any] = content["error"]
        assert list(error) == ["message", "type", "param", "code"], error
        for name in ("message", "type", "code"):
            assert isinstance(error[name], str) and error[name], error
        assert error["param"] is None or isinstance(error["param"], str)
        return error


def send(
    server: Server,
    method: str,
    path: str,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
    timeout: float = 60,
) -> Reply:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=timeout)
    try:
        connection.request(method, path, body=body, headers=dict(headers or {}))
        answer = connection.getresponse()
        names = {name.lower(): value for name, value in answer.getheaders()}
        return Reply(answer.status, names, answer.read())
    finally:
        connection.close()


def get(server: Server, path: str, headers: Mapping[str, str] | None = None) -> Reply:
    return send(server, "GET", path, headers=headers)


def post(
    server: Server, path: str, content: Any, headers: Mapping[str, str] | None = None
) -> Reply:
    """POST `content` as JSON; bytes are sent as they are."""
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    return send(server, "POST", path, body, {**JSON_TYPE, **(headers or {})})


def embed(server: Server, texts: list[str], **fields: Any) -> list[bytes]:
    """The bytes of each text's vector: float32, little-endian."""
    request = {"model": MODEL, "input": texts, "encoding_format": "base64", **fields}
    reply = post(server, "/v1/embeddings", request)
    assert reply.status == 200, reply
    return [base64.b64decode(item["embedding"]) for item in reply.json()["data"]]


def floats(vector: bytes) -> list[float]:
    return list(array("f", vector))
