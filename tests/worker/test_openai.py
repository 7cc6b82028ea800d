"""POST /v1/embeddings and GET /v1/models, as OpenAI's clients know them."""

from __future__ import annotations

import base64
import json
import math
import subprocess
from pathlib import Path
from typing import Any

import openai
import pytest

from tests.worker.client import MODEL, Reply, embed, floats, get, post
from tests.worker.servers import Server

SDK_SCRIPT = Path(__file__).with_name("sdk.mjs")


def embeddings(server: Server, **fields: Any) -> Reply:
    return post(server, "/v1/embeddings", {"model": MODEL, **fields})


def test_one_text(server: Server) -> None:
    reply = embeddings(server, input="a small boat")
    assert reply.status == 200
    assert reply.headers["content-type"] == "application/json"
    answer = reply.json()
    assert list(answer) == ["object", "data", "model", "usage"]
    assert answer["object"] == "list" and answer["model"] == MODEL
    assert answer["usage"] == {"prompt_tokens": 5, "total_tokens": 5}  # [CLS] a small boat [SEP]
    (item,) = answer["data"]
    assert item["object"] == "embedding" and item["index"] == 0
    assert len(item["embedding"]) == 384
    assert math.isclose(math.hypot(*item["embedding"]), 1, abs_tol=1e-6)


def test_both_formats_hold_the_same_floats(server: Server) -> None:
    texts = ["a small boat", "", "   ", "ΟΔΟΣ"]
    answer = embeddings(server, input=texts, encoding_format="float").json()
    assert [item["index"] for item in answer["data"]] == [0, 1, 2, 3]
    assert [item["embedding"] for item in answer["data"]] == [
        floats(vector) for vector in embed(server, texts)
    ]


def test_no_text_at_all_is_an_empty_list(server: Server) -> None:
    answer = embeddings(server, input=[]).json()
    assert answer["data"] == []
    assert answer["usage"] == {"prompt_tokens": 0, "total_tokens": 0}


def test_as_many_texts_as_allowed(server: Server) -> None:
    texts = [f"text number {n}" for n in range(2048)]
    vectors = embed(server, texts)
    assert len(vectors) == 2048
    for n in (0, 63, 64, 65, 2047):
        assert [vectors[n]] == embed(server, [texts[n]])


def test_usage_counts_what_the_model_reads(server: Server) -> None:
    long = "word " * 200
    reply = embeddings(server, input=["one two", long, long])
    assert reply.json()["usage"]["prompt_tokens"] == 4 + 128 + 128
    assert reply.headers["x-truncated"] == "2"
    assert reply.headers["x-truncated-inputs"] == "1,2"
    assert embeddings(server, input="short").headers["x-truncated"] == "0"


@pytest.mark.parametrize("dimensions", [1, 100, 383, 384])
def test_dimensions_keeps_the_first_ones_at_length_one(server: Server, dimensions: int) -> None:
    (whole,) = embed(server, ["a small boat"])
    (part,) = embed(server, ["a small boat"], dimensions=dimensions)
    if dimensions == 384:
        assert part == whole
    first = floats(whole)[:dimensions]
    expected = [value / math.hypot(*first) for value in first]
    assert floats(part) == pytest.approx(expected, abs=1e-6)


def test_optional_fields_may_be_null_or_unknown(server: Server) -> None:
    fields = {"encoding_format": None, "dimensions": None, "user": None, "input_type": "query"}
    assert embeddings(server, input="a", **fields).status == 200
    assert embeddings(server, input="a", user="someone").status == 200


@pytest.mark.parametrize(
    ("fields", "status", "code", "param"),
    [
        ({}, 400, "INVALID_INPUT", "input"),
        ({"input": None}, 400, "INVALID_INPUT", "input"),
        ({"input": 3}, 400, "INVALID_INPUT", "input"),
        ({"input": {"text": "a"}}, 400, "INVALID_INPUT", "input"),
        ({"input": [101, 7592]}, 400, "INVALID_INPUT", "input"),
        ({"input": [[101, 7592]]}, 400, "INVALID_INPUT", "input"),
        ({"input": ["a", None]}, 400, "INVALID_INPUT", "input"),
        ({"input": ["a"] * 2049}, 400, "too_many_inputs", "input"),
        ({"input": ["word " * 200] * 1100}, 400, "too_many_tokens", None),
        ({"input": "a", "encoding_format": "hex"}, 400, "INVALID_INPUT", "encoding_format"),
        ({"input": "a", "dimensions": 0}, 400, "INVALID_INPUT", "dimensions"),
        ({"input": "a", "dimensions": 385}, 400, "INVALID_INPUT", "dimensions"),
        ({"input": "a", "dimensions": 1.5}, 400, "INVALID_INPUT", "dimensions"),
        ({"input": "a", "dimensions": "9"}, 400, "INVALID_INPUT", "dimensions"),
        ({"input": "a", "user": 7}, 400, "INVALID_INPUT", "user"),
        ({"input": "a", "model": 7}, 400, "INVALID_INPUT", "model"),
        ({"input": "a", "model": "text-embedding-3-small"}, 404, "model_not_found", "model"),
    ],
)
def test_refusals(
    server: Server, fields: dict[str, Any], status: int, code: str, param: str | None
) -> None:
    reply = embeddings(server, **fields)
    error = reply.error()
    assert (reply.status, error["code"], error["param"]) == (status, code, param)
    assert error["type"] == "invalid_request_error"


def test_token_ids_are_told_apart_from_mistakes(server: Server) -> None:
    assert "token ids" in embeddings(server, input=[[101, 7592]]).error()["message"]


def test_models(server: Server) -> None:
    answer = get(server, "/v1/models").json()
    assert answer["object"] == "list"
    (model,) = answer["data"]
    assert (model["id"], model["object"]) == (MODEL, "model")
    assert get(server, f"/v1/models/{MODEL}").json() == model
    reply = get(server, "/v1/models/other")
    assert (reply.status, reply.error()["code"]) == (404, "model_not_found")


def test_the_python_sdk(server: Server) -> None:
    client = openai.OpenAI(base_url=f"{server.url}/v1", api_key="any")
    with client:
        answer = client.embeddings.create(model=MODEL, input=["a small boat", "ΟΔΟΣ"])
        assert [item.embedding for item in answer.data] == [
            floats(vector) for vector in embed(server, ["a small boat", "ΟΔΟΣ"])
        ]
        assert answer.usage.prompt_tokens == 5 + 6
        assert [model.id for model in client.models.list()] == [MODEL]
        with pytest.raises(openai.NotFoundError) as missing:
            client.embeddings.create(model="other", input="a")
        assert missing.value.code == "model_not_found"
        assert missing.value.request_id
        with pytest.raises(openai.BadRequestError) as refused:
            client.embeddings.create(model=MODEL, input=[[101, 7592]])
        assert refused.value.code == "INVALID_INPUT"


def test_the_javascript_sdk(server: Server) -> None:
    command = ["node", str(SDK_SCRIPT), f"{server.url}/v1", MODEL]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    answer = json.loads(done.stdout)
    vectors = [base64.b64decode(text) for text in answer["vectors"]]
    assert vectors == embed(server, ["a small boat", "ΟΔΟΣ"])
    assert answer["models"] == [MODEL]
    assert answer["missing"] == [404, "model_not_found"]
