"""The engine on CPython: vectors, batches, errors, threads, memory."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tern_engine
from tern_engine import Engine, TernError
from tern_engine.build import find_build
from tern_engine.encoder import MAX_TEXTS
from tern_engine.errors import (
    DisposedError,
    InvalidInputError,
    KernelMemoryError,
    KernelSelfTestError,
    ModelChecksumError,
)
from tern_engine.kernels import _ops, self_test

from tests.support.texts import random_texts

ROOT = Path(__file__).resolve().parent.parent
GOLDEN: dict[str, Any] = json.loads((ROOT / "tests/golden/vectors.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine.load()


def test_public_names() -> None:
    assert tern_engine.__all__ == [
        "Engine", "TernError", "__version__", "config_summary", "embed", "tokenize",
    ]  # fmt: skip


def test_golden_vectors_are_of_this_model(engine: Engine) -> None:
    assert engine.fingerprint == GOLDEN["model"]
    baked = hashlib.sha256((ROOT / "assets/model-int4.bin").read_bytes()).hexdigest()
    assert engine.fingerprint == baked


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: repr(case["text"][:20]))
def test_golden_case(engine: Engine, case: dict[str, Any]) -> None:
    """Ids as the library's, the vector as the reference's."""
    assert engine.tokenize(case["text"]) == case["ids"]
    vector = engine.embed(case["text"])
    reference = np.array(case["vector"], np.float32)
    assert vector.dtype == np.float32
    assert vector.shape == (384,)
    assert float(vector @ reference) >= 0.9999
    assert np.abs(vector - reference).max() <= 2e-3
    assert abs(float(np.linalg.norm(vector.astype(np.float64))) - 1) < 1e-6


def test_golden_bits(engine: Engine) -> None:
    """The same 500 texts, the same bytes: the other hosts check the same hash."""
    digest = hashlib.sha256()
    for text in GOLDEN["texts"]:
        digest.update(engine.embed(text).tobytes())
    assert digest.hexdigest() == GOLDEN["sha256"]


def test_golden_file_is_current() -> None:
    script = ROOT / "tools/generate_golden_vectors.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_text_keeps_its_bits_in_any_batch(engine: Engine) -> None:
    lengths = [2, 128, 3, 5, 31, 32, 33, 64, 127, 128, 7, 4, 9, 128, 128, 128, 17]
    texts = random_texts(lengths, seed=5) + [""] * (MAX_TEXTS + 3) + random_texts(range(2, 60), 6)
    alone = np.stack([engine.embed(text) for text in texts])
    np.testing.assert_array_equal(engine.embed_batch(texts), alone)
    np.testing.assert_array_equal(engine.embed_batch(texts[::-1])[::-1], alone)
    np.testing.assert_array_equal(engine.encode(texts, batch_size=7), alone)


def test_every_length(engine: Engine) -> None:
    texts = random_texts(range(2, 129), seed=1)
    assert [engine.token_count(text) for text in texts] == [(n, False) for n in range(2, 129)]
    vectors = engine.embed_batch(texts)
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_truncation_is_visible(engine: Engine) -> None:
    whole = random_texts([128], seed=2)[0]
    longer = whole + " and a different tail"
    assert engine.token_count(whole) == (128, False)
    assert engine.token_count(longer) == (128, True)
    np.testing.assert_array_equal(engine.embed(whole), engine.embed(longer))


def test_empty_inputs(engine: Engine) -> None:
    for text in ("", "   ", "\n\t\u3000"):
        assert engine.tokenize(text) == [101, 102]
        assert abs(float(np.linalg.norm(engine.embed(text))) - 1) < 1e-6
    assert engine.embed_batch([]).shape == (0, 384)
    assert engine.encode([]).shape == (0, 384)


def test_encode_takes_one_or_many(engine: Engine) -> None:
    assert engine.encode("one").shape == (384,)
    assert engine.encode(["one", "two"]).shape == (2, 384)
    assert engine.encode(("one", "two")).shape == (2, 384)


@pytest.mark.parametrize("bad", [None, 7, b"bytes", ["list"], 1.5])
def test_input_of_another_type(engine: Engine, bad: Any) -> None:
    for use in (engine.embed, engine.tokenize, engine.token_count):
        with pytest.raises(InvalidInputError, match=r"tern-engine: .*expected") as caught:
            use(bad)
        assert caught.value.code == "INVALID_INPUT"
    with pytest.raises(InvalidInputError):
        engine.embed_batch(["fine", bad])


@pytest.mark.parametrize("bad", ["a str", b"bytes", 7, None])
def test_batch_of_another_type(engine: Engine, bad: Any) -> None:
    with pytest.raises(InvalidInputError):
        engine.embed_batch(bad)


@pytest.mark.parametrize("bad", [0, -1, "2", None])
def test_batch_size_of_another_kind(engine: Engine, bad: Any) -> None:
    with pytest.raises(InvalidInputError, match="batch_size"):
        engine.encode(["a"], batch_size=bad)


def test_model_argument(tmp_path: Path, engine: Engine) -> None:
    path = tmp_path / "model.bin"
    data = (ROOT / "assets/model-int4.bin").read_bytes()
    path.write_bytes(data)
    expected = engine.embed("same")
    for model in (path, str(path), data, bytearray(data)):
        np.testing.assert_array_equal(Engine.load(model).embed("same"), expected)
    with pytest.raises(FileNotFoundError):
        Engine.load(tmp_path / "absent.bin")
    with pytest.raises(InvalidInputError, match="model is int"):
        Engine.load(7)  # type: ignore[arg-type]


def test_a_model_is_hashed_unless_its_hash_was_checked(engine: Engine) -> None:
    """The one hash that saves it is that of the build's own model."""
    build = find_build()
    changed = bytearray((ROOT / "assets/model-int4.bin").read_bytes())
    changed[-1] ^= 1
    for sha256 in ("", hashlib.sha256(changed).hexdigest()):
        with pytest.raises(ModelChecksumError):
            Engine(build, changed, sha256=sha256)
    trusted = Engine(build, changed, sha256=engine.fingerprint)
    assert trusted.fingerprint == engine.fingerprint
    assert bytes(trusted.embed("a text")) == bytes(engine.embed("a text"))


def test_vectors_belong_to_the_caller(engine: Engine) -> None:
    first = engine.embed("first")
    kept = first.copy()
    first[0] += 1  # writable
    assert not np.array_equal(first, kept)
    again = engine.embed("first")
    np.testing.assert_array_equal(again, kept)
    engine.embed_batch(["other", "texts"])
    np.testing.assert_array_equal(again, kept)


def test_memory_growth_keeps_everything(engine: Engine) -> None:
    """Growing detaches the host's views: they are read anew, and nothing moves."""
    grown = Engine.load()
    kept = grown.embed("kept")
    size = len(grown._kernel._bytes)  # type: ignore[attr-defined]
    grown._kernel.reserve(size + (64 << 20))
    assert len(grown._kernel._bytes) >= size + (64 << 20)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(grown.embed("kept"), kept)
    np.testing.assert_array_equal(grown.embed("kept"), engine.embed("kept"))


def test_dispose() -> None:
    engine = Engine.load()
    vector = engine.embed("kept").copy()
    engine.dispose()
    engine.dispose()
    uses = (
        lambda: engine.embed("x"),
        lambda: engine.embed_batch(["x"]),
        lambda: engine.encode("x"),
        lambda: engine.tokenize("x"),
        lambda: engine.token_count("x"),
        lambda: engine.config_summary(),
    )
    for use in uses:
        with pytest.raises(DisposedError, match="tern-engine: the engine was disposed") as caught:
            use()
        assert caught.value.code == "DISPOSED"
    assert vector.shape == (384,)


def test_config_summary(engine: Engine) -> None:
    summary = json.loads(engine.config_summary())
    assert list(summary) == [
        "engine", "version", "build", "embedding_format", "weights_format", "vocab_size",
        "d_model", "n_layers", "n_heads", "ffn_dim", "output_dim", "max_seq_len", "model_bytes",
        "fingerprint", "host",
    ]  # fmt: skip
    assert summary["build"] == summary["embedding_format"] == "int4"
    assert summary["vocab_size"] == 30522
    assert summary["output_dim"] == engine.dim == 384
    assert summary["max_seq_len"] == engine.max_seq_len == 128
    assert summary["fingerprint"] == engine.fingerprint
    assert summary["host"] == "cpython-wasmtime"


def test_module_level_functions(engine: Engine) -> None:
    np.testing.assert_array_equal(tern_engine.embed("hello"), engine.embed("hello"))
    assert tern_engine.tokenize("hello") == [101, 7592, 102]
    assert json.loads(tern_engine.config_summary())["fingerprint"] == engine.fingerprint
    assert issubclass(InvalidInputError, TernError)


def test_threads_take_turns(engine: Engine) -> None:
    texts = random_texts([4, 9, 17, 40] * 10, seed=9)
    expected = [engine.embed(text).tobytes() for text in texts]
    wrong: list[str] = []

    def work(order: int) -> None:
        for text, vector in list(zip(texts, expected, strict=True))[::order]:
            if engine.embed(text).tobytes() != vector:
                wrong.append(text)

    threads = [threading.Thread(target=work, args=(1 - 2 * (i % 2),)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


class WrongKernel:
    """Answers every call with the same number, as broken SIMD would."""

    def call(self, name: str, *arguments: int) -> int:
        return 1


def test_self_test_refuses_a_wrong_kernel() -> None:
    with pytest.raises(KernelSelfTestError, match="0x00000001, expected 0x") as caught:
        self_test(WrongKernel())  # type: ignore[arg-type]
    assert caught.value.code == "KERNEL_SELF_TEST"


def test_a_model_larger_than_memory_is_refused() -> None:
    engine = Engine.load()
    before = engine.embed("a text")
    for nbytes in (1 << 34, 1 << 90):
        with pytest.raises(
            KernelMemoryError, match=f"refuses the kernel {nbytes:,} bytes"
        ) as caught:
            engine._kernel.reserve(nbytes)
        assert caught.value.code == "KERNEL_MEMORY"
    assert bytes(engine.embed("a text")) == bytes(before)


def _pool(**changes: int) -> list[int]:
    operands = {"source": 65536, "gamma": 65536, "beta": 65536, "target": 65536, "d_model": 8}
    operands["places"] = 0
    return _ops.pool(**(operands | changes))


@pytest.mark.parametrize(
    ("program", "bad"),
    [
        ([_pool()], -1),
        ([_pool(), _pool(target=0xFFFFFF0)], 1),  # out of bounds
        ([_pool(source=0)], 0),  # where the stack lies
        ([_pool(gamma=65540)], 0),  # not aligned
        ([[99, *[0] * 15]], 0),  # no such op
        ([_ops.rows(count=1, chunk=32), _pool()], 1),  # no op of single rows
        ([_ops.rows(count=2, chunk=32)], 0),  # more than there are
        ([_ops.rows(count=0, chunk=32)], 0),
        ([_ops.rows(count=1, chunk=3), _pool()], 0),
    ],
)
def test_programs_are_checked(engine: Engine, program: list[list[int]], bad: int) -> None:
    kernel = Engine.load()._kernel
    offset = kernel.heap_base + (-kernel.heap_base) % 16
    words = [word for line in program for word in line]
    kernel.write(offset, np.array(words, np.uint32).tobytes())
    assert kernel.call("check_program", offset, len(program), 512, 64, 128) == bad
