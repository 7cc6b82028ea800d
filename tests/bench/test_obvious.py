"""The obvious SIMD build of our own pass."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from bench import hosts, judge, models, obvious, run, texts


@pytest.mark.parametrize("dim", [256, 384])
def test_the_obvious_build_equals_the_reference(dim: int) -> None:
    built = obvious.Obvious(obvious.module(), models.paths()[dim])
    assert built.dim == dim
    for ids in ((101, 102), (101, 7592, 1010, 2088, 102), tuple(range(1000, 1128))):
        found = np.array(built.embed(ids))
        expected = models.reference(models.paths()[dim], ids)
        assert float(found @ expected) >= 0.9999
        assert float(np.abs(found - expected).max()) <= 2e-3


def test_the_obvious_build_refuses_ids_that_the_model_has_not() -> None:
    built = obvious.Obvious(obvious.module(), models.paths()[256])
    for ids in ([], [30522], [0] * 129):
        with pytest.raises(ValueError, match="refused"):
            built.embed(ids)


def test_a_straw_man_ends_the_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An obvious build that takes -1 for +1, through all but the tables."""
    straw = tmp_path / "obvious"
    shutil.copytree(obvious.SOURCES, straw)
    source = (straw / "forward.c").read_text("utf-8")
    assert "{0, 1, -1, 0}" in source
    (straw / "forward.c").write_text(source.replace("{0, 1, -1, 0}", "{0, 1, 1, 0}"), "utf-8")
    monkeypatch.setattr(obvious, "SOURCES", straw)
    wasm = obvious.module(tmp_path)
    monkeypatch.setattr(obvious, "module", lambda: wasm)
    plan = run.deal(run.QUICK)
    first = {size: items[0] for size, items in plan.rounds[0].items()}
    part = texts.Plan(plan.warmup[:4], plan.rounds[:1])
    outcome = hosts.node(hosts.work(part, {"tern": 1, "obvious": 1, "minilm": 1}, 1.0))
    with pytest.raises(judge.BenchError, match=r"obvious-simd, d 256, .* the reference"):
        judge.judge(outcome.proofs, run.standards(first, "minilm-q8-wasm"), 384)
