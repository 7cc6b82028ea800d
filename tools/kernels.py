"""Compiles the C kernels to one freestanding WebAssembly module a table format.

The module has no imports, exports its own memory, and uses fixed-width SIMD only. The features
are spelt out because the compiler's default set includes some that Node 20 refuses.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "pyapp" / "tern_engine" / "kernels"

TABLES = ("fp32", "int8", "ternary", "int4")

FEATURES = "generic+bulk_memory+sign_ext+nontrapping_fptoint+mutable_globals"
FLAGS = (
    "-target", "wasm32-freestanding", "-nostdlib", "-std=c11",
    "-O3",
    # Fixed order of float operations, the same on every host.
    "-ffp-contract=off", "-fno-fast-math",
    "-Wall", "-Wextra", "-Werror",
    "-Wl,--no-entry", "-Wl,--export-memory", "-Wl,--export=__heap_base", "-Wl,-z,stack-size=16384",
    "-Wl,--strip-all", "-s",
)  # fmt: skip


def kernel_inputs() -> list[Path]:
    """Every file that the compiled module depends on."""
    sources = sorted(SOURCES.glob("*.c")) + sorted(SOURCES.glob("*.h"))
    return [*sources, Path(__file__)]


def compile_kernel(table: str, out: Path, *, scalar: bool = False, sources: Path = SOURCES) -> None:
    """Compile the *.c in `sources` into `out`: all but the other formats' table_<name>.c.

    table    one of TABLES; also defines TERN_TABLE_<NAME>
    scalar   the twin without SIMD that tests compare with; defines TERN_SCALAR
    The output depends on the sources alone: the compiler runs in their folder, so that no path
    gets in. Raises RuntimeError with the compiler's messages when it fails.
    """
    if table not in TABLES:
        raise ValueError(f"table format {table!r}: expected one of {', '.join(TABLES)}")
    others = {f"table_{name}.c" for name in TABLES if name != table}
    files = sorted(path.name for path in sources.glob("*.c") if path.name not in others)
    if not files:
        raise RuntimeError(f"no C sources in {sources}")
    out.parent.mkdir(parents=True, exist_ok=True)
    command = [
        sys.executable, "-m", "ziglang", "cc", *FLAGS,
        f"-mcpu={FEATURES}" + ("" if scalar else "+simd128"),
        *(["-DTERN_SCALAR=1"] if scalar else []),
        *files,
        "-o", str(out.resolve()),
    ]  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="tern-zig-") as cache:
        environment = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache}
        done = subprocess.run(
            command, cwd=sources, env=environment, capture_output=True, text=True, check=False
        )
    if done.returncode != 0:
        raise RuntimeError(f"compiling the {table} kernel failed:\n{done.stderr}{done.stdout}")
    out.chmod(0o644)
