"""The student's arithmetic: reference step, quick step, packed file."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from tern_engine.format import EMBEDDING_FORMATS
from tern_tools.models.pack import pack
from tern_tools.models.unpack import UnpackedModel

from training.distill import student
from training.distill.config import Config
from training.distill.data import Batch, Chunk
from training.distill.export import tensors
from training.distill.fast import prepare
from training.distill.measure import spearman, vectors
from training.distill.optimiser import TABLE, Average, FlatAdam, RowAdam, Settling, orthogonal
from training.distill.rows import library
from training.distill.step import PlainStepper, QuickStepper
from training.distill.student import Parameters, Shape

VOCABULARY = 300


def random_student(shape: Shape, seed: int = 0) -> Parameters:
    """Weights with nothing left at zero or one."""
    g = torch.Generator().manual_seed(seed)
    d = shape.d_model
    params = {
        "embedding.weight": torch.randn(shape.vocab_size, d, generator=g),
        "ln_final.weight": torch.rand(d, generator=g) + 0.5,
        "ln_final.bias": torch.randn(d, generator=g) * 0.1,
        "out.weight": torch.randn(shape.output_dim, d, generator=g) / d**0.5,
        "out.bias": torch.randn(shape.output_dim, generator=g) * 0.01,
    }
    for layer in range(shape.n_layers):
        params |= student.new_layer(shape, layer, g, 1.0)
    for name, value in params.items():
        if ".ln_" in name or (name.startswith("layers") and name.endswith("bias")):
            params[name] = value + torch.randn(value.shape, generator=g) * 0.1
    return params


def random_batch(texts: int, seed: int = 0, longest: int = 20) -> Batch:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(2, longest, texts)
    targets = rng.standard_normal((texts, 384)).astype(np.float32)
    targets /= np.linalg.norm(targets, axis=1, keepdims=True)
    return Batch(rng.integers(1, VOCABULARY, lengths.sum()), lengths, targets)


def shapes() -> list[Shape]:
    return [
        Shape(vocab_size=VOCABULARY),
        Shape(
            vocab_size=VOCABULARY, d_model=96, n_heads=3, ffn_dim=128, n_layers=1, table="ternary"
        ),
        Shape(vocab_size=VOCABULARY, d_model=128, n_heads=4, ffn_dim=256, table="int8"),
        Shape(vocab_size=VOCABULARY, d_model=320, n_heads=5, ffn_dim=1280),
        Shape(vocab_size=VOCABULARY, d_model=384, n_heads=6, ffn_dim=1536, table="int8"),
        Shape(vocab_size=VOCABULARY, d_model=512, n_heads=8, n_layers=1, table="ternary"),
    ]


def test_there_is_a_compiler() -> None:
    assert library() is not None, "these tests compare the compiled step with the reference"


@pytest.mark.parametrize("shape", shapes(), ids=lambda s: f"d{s.d_model}-{s.table}")
@pytest.mark.parametrize(("workers", "relation"), [(1, 0.0), (3, 0.0), (1, 40.0)])
def test_quick_gradients_agree_with_autograd(shape: Shape, workers: int, relation: float) -> None:
    # The quick step knows the pairs of a micro-batch, autograd those of the batch.
    tokens = 10_000 if relation else 200
    config = Config("t", shape=shape, micro_tokens=tokens, relation=relation)
    params = random_student(shape)
    dense = FlatAdam(params, dict.fromkeys(params, 0.001), 1.0)
    batch = random_batch(64)
    quick = QuickStepper(config, params, dense, ThreadPoolExecutor(workers), workers)
    loss, flat, rows, row_gradient = quick.gradients(batch)
    _, views = dense.gradients()
    at = 0
    got = {}
    for name in dense.names:
        got[name] = flat[at : at + params[name].numel()].clone()
        at += params[name].numel()
    plain_loss, plain, plain_rows, plain_row_gradient = PlainStepper(
        config, params, dense
    ).gradients(batch)
    assert loss == pytest.approx(plain_loss, abs=2e-4)
    assert torch.equal(rows, plain_rows)
    at = 0
    for name in dense.names:
        want = plain[at : at + params[name].numel()]
        at += params[name].numel()
        assert torch.cosine_similarity(got[name], want, dim=0) > 0.998, name
        assert float(got[name].norm() / want.norm()) == pytest.approx(1, abs=0.01), name
    same = torch.cosine_similarity(row_gradient.flatten(), plain_row_gradient.flatten(), dim=0)
    assert same > 0.998
    assert set(views) == set(dense.names)


def test_settled_weights_get_no_gradient_and_the_others_theirs() -> None:
    shape = Shape(vocab_size=VOCABULARY)
    params = random_student(shape)
    dense = FlatAdam(params, dict.fromkeys(params, 0.001), 1.0)
    found = []
    for settled in (False, True):
        config = Config("t", shape=shape, settled=settled)
        quick = QuickStepper(config, params, dense, ThreadPoolExecutor(1), 1)
        found.append([part.clone() for part in quick.gradients(random_batch(64))[1:]])
    (moved, *rows), (stayed, *others) = found
    assert all(torch.equal(a, b) for a, b in zip(rows, others, strict=True))
    matrices = set(student.matrix_names(shape))
    for name, (at, size) in dense.places.items():
        part = slice(at, at + size.numel())
        assert moved[part].abs().max() > 0
        assert torch.equal(stayed[part], moved[part] * (name not in matrices)), name


def test_the_medians_are_torchs() -> None:
    shape = Shape(vocab_size=VOCABULARY)
    params = random_student(shape)
    for layer, weights in enumerate(prepare(params, shape)):
        for name in ("attn.q", "attn.out", "ffn.up", "ffn.down"):
            codes, scale = student.weight_codes(params[f"layers.{layer}.{name}.weight"])
            assert weights.scale[name] == pytest.approx(float(scale), rel=1e-6)
            assert (weights.codes[name] != codes).float().mean() < 1e-5


@pytest.mark.parametrize("table", ["int4", "int8", "ternary", "fp32"])
def test_the_packed_file_computes_what_was_trained(table: str) -> None:
    assert table in EMBEDDING_FORMATS
    shape = Shape(vocab_size=VOCABULARY, table=table)
    params = random_student(shape, 5)
    held = {name: value.numpy() for name, value in tensors(params, shape).items()}
    data = pack(held, embedding_format=table, n_heads=shape.n_heads, max_seq_len=128)
    model = UnpackedModel.from_bytes(data)
    batch = random_batch(40, 6, 40)
    ends = np.cumsum(batch.lengths)
    chunk = Chunk(batch.ids.astype(np.uint16), ends - batch.lengths, batch.lengths, batch.targets)
    for exact in (True, False):
        got = vectors(params, shape, chunk, exact=exact)
        for i, end in enumerate(ends):
            want = model.forward(batch.ids[end - batch.lengths[i] : end].tolist())
            assert float(want @ got[i]) >= 0.9999
            assert np.abs(want - got[i]).max() <= 2e-3


def test_lazy_adam_moves_only_its_rows() -> None:
    table = torch.randn(50, 8)
    before = table.clone()
    quick, plain = RowAdam(table), RowAdam(before.clone().to("meta"))
    assert plain.table.device.type == "meta"
    rows = torch.tensor([3, 7])
    gradient = torch.randn(2, 8)
    for _ in range(3):
        quick.step(rows, gradient, 0.1)
    still = torch.ones(50, dtype=torch.bool)
    still[rows] = False
    assert torch.equal(table[still], before[still])
    # A constant gradient moves Adam by the rate a step, whatever its size.
    assert torch.allclose(before[rows] - table[rows], 0.3 * gradient.sign(), atol=1e-4)


def test_weights_settle_from_their_threshold_on() -> None:
    generator = torch.Generator().manual_seed(3)
    params = {TABLE: torch.zeros(2, 4), "w": torch.randn(40, 25, generator=generator)}
    params["bias"] = torch.ones(7)
    dense = FlatAdam(params, {"w": 0.1, "bias": 0.1}, 1.0)
    average = Average(dense, params[TABLE], 1000, 10)
    average.values[: 40 * 25] *= -1  # the mean is on the other side
    mean = average.values[: 40 * 25].view(40, 25).clone()
    settling = Settling(dense, average, ["w"])
    before = params["w"].clone()
    scale = before.abs().median()
    settling.update(0.3)
    stays = settling.stays[: 40 * 25].view(40, 25).clone()
    assert stays.sum() == 300 and not settling.stays[40 * 25 :].any()
    distance = (mean.abs() / scale - 0.5).abs()
    assert distance[stays].max() <= distance[~stays].min()
    assert torch.equal(params["w"][~stays], before[~stays])
    codes, after = student.weight_codes(params["w"])
    assert torch.equal(codes[stays], (mean / scale).round().clamp(-1, 1)[stays])
    assert float(1 / after) == pytest.approx(float(scale), rel=0.02)
    held = params["w"][stays].clone()
    for _ in range(5):
        gradient, views = dense.gradients()
        views["w"].fill_(1.0)
        dense.step(gradient, 1.0)
    assert torch.equal(params["w"][stays], held)
    assert (params["w"][~stays] < before[~stays]).all()
    settling.update(1.0)
    assert settling.stays[: 40 * 25].all() and torch.equal(params["w"][stays], held)
    other = FlatAdam(params, {"w": 0.1, "bias": 0.1}, 1.0)
    Settling(other, average, ["w"]).restore(settling.stays)
    assert other.rates.tolist() == pytest.approx([0.0] * 1000 + [0.1] * 7)


def test_the_share_that_stays_grows_to_all() -> None:
    config = Config("t", hold_texts=100, decay_texts=1_000, settle_texts=500)
    assert [config.settled_share(t) for t in (0, 600)] == [0.0, 0.0]
    assert config.settled_share(825) == pytest.approx(0.5)
    assert [config.settled_share(t) for t in (1_050, 1_100)] == [1.0, 1.0]
    assert Config("t").settled_share(10**9) == 0.0


@pytest.mark.parametrize("size", [(64, 64), (32, 128), (128, 32)])
def test_orthogonal_evens_out_singular_values(size: tuple[int, int]) -> None:
    matrix = torch.randn(size, generator=torch.Generator().manual_seed(1))
    values = torch.linalg.svdvals(orthogonal(matrix))
    assert values.min() > 0.4 and values.max() < 1.4
    both = torch.linalg.svd(matrix, full_matrices=False)
    assert (
        torch.cosine_similarity(orthogonal(matrix).flatten(), (both.U @ both.Vh).flatten(), 0)
        > 0.95
    )


def test_spearman_shares_ranks_of_ties() -> None:
    assert spearman(np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0, 25.0])) == pytest.approx(1)
    assert spearman(np.array([1.0, 1.0, 3.0]), np.array([1.0, 2.0, 3.0])) == pytest.approx(
        0.866, abs=1e-3
    )
