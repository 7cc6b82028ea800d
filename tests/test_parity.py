"""The engine against the numpy reference: four table formats, random models of odd shapes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tern_engine.format import EMBEDDING_FORMATS, Header
from tern_tools.models.verify import SAMPLE, Comparison, compare

from tests.support.models import of_format, random_model
from tests.support.texts import random_texts
from training.pack.engine_process import EngineProcess

# The vocabulary's size is the tokenizer's. Heads of 3, 11, 16 and 64; one head; ffn below, above
# and at 4 * d; widths that are no multiple of a SIMD block.
SHAPES = {
    "shipped": Header("int4", 30522, 256, 2, 4, 1024, 384, 128),
    "wide, 3 layers": Header("int4", 30522, 384, 3, 6, 1000, 384, 128),
    "narrow, 1 layer": Header("int4", 30522, 64, 1, 4, 100, 384, 128),
    "one head, long": Header("int4", 30522, 64, 3, 1, 256, 50, 512),
    "head of 11": Header("int4", 30522, 132, 2, 12, 516, 129, 128),
    "head of 3": Header("int4", 30522, 12, 3, 4, 20, 63, 32),
    "least": Header("int4", 30522, 4, 1, 2, 4, 31, 3),
}

# Tokens a text: every length to 32, more short ones, and some around each round number.
LENGTHS = [
    *range(2, 33),
    *[2 + i % 23 for i in range(130)],
    *(40, 47, 48, 49, 63, 64, 65, 80, 95, 96, 97, 126, 127, 128, 129, 200),
    *range(33, 40),
]


@pytest.fixture(scope="module", params=list(EMBEDDING_FORMATS))
def engine(request: pytest.FixtureRequest) -> Iterator[tuple[str, EngineProcess]]:
    with EngineProcess(request.param) as process:
        yield request.param, process


@pytest.mark.parametrize("shape", SHAPES)
def test_engine_equals_reference(
    engine: tuple[str, EngineProcess],
    shape: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    embedding_format, process = engine
    header = of_format(SHAPES[shape], embedding_format)
    seed = list(SHAPES).index(shape)
    path = tmp_path / "model.bin"
    path.write_bytes(random_model(header, seed))
    texts = [*random_texts(LENGTHS, seed), *SAMPLE]
    if header.max_seq_len > 128:
        texts += random_texts([255, 256, 511, 512, 600], seed)
    assert len(texts) >= 200
    found = compare(process, path, texts)
    with capsys.disabled():
        print(f"\n  {embedding_format:8}{shape:16} {found}", end="")
    assert found.within_tolerance, found


def test_lengths_and_truncation(engine: tuple[str, EngineProcess], tmp_path: Path) -> None:
    """The texts above have the lengths that they were made to have."""
    embedding_format, process = engine
    path = tmp_path / "model.bin"
    path.write_bytes(random_model(of_format(SHAPES["narrow, 1 layer"], embedding_format), 0))
    ids, vectors = process.embed(path, random_texts(LENGTHS, 0))
    assert [len(each) for each in ids] == [min(length, 128) for length in LENGTHS]
    assert {len(each) for each in ids} >= set(range(2, 41)) | {127, 128}
    assert vectors.shape == (len(LENGTHS), 384)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    # Random models are no constants: texts differ from each other.
    cosines = vectors @ vectors.T
    assert cosines[np.triu_indices(len(cosines), 1)].mean() < 0.9


@pytest.mark.parametrize(
    ("cosine", "delta", "within"),
    [
        (1.0, 0.0, True),
        (0.9999, 2e-3, True),
        (0.99989, 0.0, False),
        (1.0, 2.1e-3, False),
        (float("nan"), 0.0, False),
        (1.0, float("nan"), False),
    ],
)
def test_tolerance(cosine: float, delta: float, within: bool) -> None:
    assert Comparison(1, cosine, 0, delta, 0).within_tolerance is within
