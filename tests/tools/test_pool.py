"""Engines for threads: the bits are those of one engine in one thread."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tern_engine import Engine
from tern_engine.errors import DisposedError, InvalidInputError
from tern_tools import EnginePool, SearchIndex

TEXTS = [f"{word} {i}" for i in range(200) for word in ("a", "bank", "ferry", "two words", "🙂")]


@pytest.fixture(scope="module")
def serial() -> Iterator[np.ndarray]:
    engine = Engine.load()
    yield np.stack([engine.embed(text) for text in TEXTS])
    engine.dispose()


@pytest.fixture(scope="module")
def pool() -> Iterator[EnginePool]:
    pool = EnginePool(3)
    yield pool
    pool.dispose()


def test_eight_threads_agree_with_serial_bits(serial: np.ndarray, pool: EnginePool) -> None:
    def work(number: int) -> bool:
        order = np.random.default_rng(number).permutation(len(TEXTS))
        return all(np.array_equal(pool.embed(TEXTS[i]), serial[i]) for i in order)

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(work, range(8))) == [True] * 8


def test_batches_agree(serial: np.ndarray, pool: EnginePool) -> None:
    assert np.array_equal(pool.embed_batch(TEXTS), serial)
    assert np.array_equal(pool.embed_batch(TEXTS[:3]), serial[:3])
    assert pool.embed_batch([]).shape == (0, pool.dim)


def test_encode_shares_out(
    serial: np.ndarray, pool: EnginePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """batch_size texts to an engine at a time, and all of them at once."""
    sizes: list[int] = []
    share = pool._share

    def counted(texts: list[str]) -> np.ndarray:
        sizes.append(len(texts))
        return share(texts)

    monkeypatch.setattr(pool, "_share", counted)
    assert np.array_equal(pool.encode(TEXTS[:20], batch_size=5), serial[:20])
    assert sizes == [5, 5, 5, 5]
    texts = iter(TEXTS)
    vectors = pool.encode_stream(texts, batch_size=4)
    assert np.array_equal(next(vectors), serial[0])
    assert len(list(texts)) == len(TEXTS) - 3 * 4
    assert np.array_equal(np.stack([next(vectors) for _ in range(11)]), serial[1:12])
    assert np.array_equal(pool.encode("a 0"), serial[0])
    for bad in (0, "2"):
        with pytest.raises(InvalidInputError, match="batch_size"):
            pool.encode(TEXTS, bad)


def test_small_methods(pool: EnginePool) -> None:
    assert pool.tokenize("a sentence") == [101, 1037, 6251, 102]
    assert pool.token_count("a sentence") == (4, False)
    assert json.loads(pool.config_summary())["fingerprint"] == pool.fingerprint
    assert repr(pool).startswith("<EnginePool of 3: <Engine tern-engine-emb-int4")


def test_it_stands_in_for_an_engine(pool: EnginePool) -> None:
    index = SearchIndex(pool)
    index.add([{"id": str(i), "text": text} for i, text in enumerate(TEXTS[:100])], batch_size=100)
    engine = Engine.load()
    alone = SearchIndex(engine)
    alone.add([{"id": str(i), "text": text} for i, text in enumerate(TEXTS[:100])])
    engine.dispose()
    assert index.save() == alone.save()


def test_errors_leave_the_pool_usable(serial: np.ndarray, pool: EnginePool) -> None:
    for _ in range(5):
        with pytest.raises(InvalidInputError):
            pool.embed(5)
        for bad in (b"text", None, np.array(5), [None] * 40):
            for method in (pool.embed_batch, pool.encode):
                with pytest.raises(InvalidInputError):
                    method(bad)
        with pytest.raises(InvalidInputError):
            pool.embed_batch("text")
        with pytest.raises(InvalidInputError, match="a pool"):
            pool.encode(TEXTS, num_workers=2)
        with pytest.raises(InvalidInputError, match="a pool"):
            pool.encode_stream(TEXTS, num_workers=2)
    assert np.array_equal(pool.embed(TEXTS[0]), serial[0])
    with pytest.raises(InvalidInputError):
        EnginePool(0)


def test_disposed() -> None:
    pool = EnginePool(1)
    pool.dispose()
    with pytest.raises(DisposedError):
        pool.embed("a")
    with pytest.raises(DisposedError):
        pool.embed_batch(TEXTS)
