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
