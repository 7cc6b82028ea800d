"""Batches from chunks: which chunks, and going on from a sampler's state."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from training.distill.data import Sampler
from training.distill.encode import chunk_path, save_arrays

TEXTS = 40


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four chunks of TEXTS texts, each of one token: the number of its chunk."""
    for number in range(4):
        save_arrays(
            chunk_path(tmp_path, number),
            ids=np.full(TEXTS, number, np.uint16),
            length=np.ones(TEXTS, np.uint8),
            vectors=np.zeros((TEXTS, 384), np.float16),
        )
    return tmp_path


def drawn(sampler: Sampler, batches: int) -> list[int]:
    return [int(token) for _ in range(batches) for token in sampler.next(10).ids]


def test_chunks_come_in_turn_and_those_left_out_never(folder: Path) -> None:
    counts = np.bincount(drawn(Sampler(folder, pool_chunks=2), 16))
    assert counts.tolist() == [40, 40, 40, 40]
    assert set(drawn(Sampler(folder, pool_chunks=2, first_chunk=1, most_chunks=2), 16)) == {1, 2}
    with pytest.raises(SystemExit, match="no encoded chunks"):
        Sampler(folder, first_chunk=4).next(10)


def test_a_sampler_goes_on_where_another_stopped(folder: Path) -> None:
    first = Sampler(folder, pool_chunks=2)
    drawn(first, 3)
    state = first.state()
    then = drawn(first, 9)
    second = Sampler(folder, pool_chunks=2)
    second.restore(state)
    assert drawn(second, 9) == then


def test_a_pool_with_chunks_that_are_left_out_is_not_gone_on_with(folder: Path) -> None:
    first = Sampler(folder, pool_chunks=2)
    while "chunk_0000.npz" not in first.names:
        drawn(first, 1)
    later = Sampler(folder, pool_chunks=2, first_chunk=1)
    later.restore(first.state())
    assert set(drawn(later, 32)) == {1, 2, 3}


def test_alike_texts_come_in_groups(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    kinds = rng.permutation(np.repeat(np.arange(8), 50))
    vectors = np.eye(8, 384)[kinds] + 0.01 * rng.standard_normal((400, 384))
    save_arrays(
        chunk_path(tmp_path, 0),
        ids=np.arange(400, dtype=np.uint16),
        length=np.ones(400, np.uint8),
        vectors=vectors.astype(np.float16),
    )
    batches = [Sampler(tmp_path, neighbours=n).next(400) for n in (4, 0)]
    alike = []
    for batch in batches:
        assert sorted(batch.ids.tolist()) == list(range(400))
        groups = kinds[batch.ids].reshape(-1, 4)
        alike.append(float((groups == groups[:, :1]).all(1).mean()))
    assert alike[0] > 0.4 and alike[1] < 0.1
    kind = kinds[batches[0].ids].reshape(-1, 4)[:, 0]
    assert (kind[1:] != kind[:-1]).mean() > 0.5, "the groups are in random order"
    first = Sampler(tmp_path, neighbours=4)
    first.next(40)
    second = Sampler(tmp_path, neighbours=4)
    second.restore(first.state())
    assert second.next(40).ids.tolist() == first.next(40).ids.tolist()
