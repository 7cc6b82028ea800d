"""Kernels compiled from the sources as they stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.kernel_bench import Bench
from tools.kernels import TABLES, compile_kernel


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], bytes]:
    """(table, "simd" | "scalar") -> wasm, compiled from the sources as they stand."""
    folder: Path = tmp_path_factory.mktemp("kernels")
    binaries = {}
    for table in TABLES:
        for kind in ("simd", "scalar"):
            out = folder / f"{table}-{kind}.wasm"
            compile_kernel(table, out, scalar=kind == "scalar")
            binaries[table, kind] = out.read_bytes()
    return binaries


@pytest.fixture(params=["simd", "scalar"])
def bench(request: pytest.FixtureRequest, compiled: dict[tuple[str, str], bytes]) -> Bench:
    return Bench(compiled["int4", request.param])
