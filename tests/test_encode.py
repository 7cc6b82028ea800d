"""encode() and encode_stream(): batches, progress, streams, processes; pickled engines."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tern_engine import Engine
from tern_engine.errors import DisposedError, InvalidInputError, ModelError

from tests.support.texts import random_texts

ROOT = Path(__file__).resolve().parent.parent
MODEL = ROOT / "assets" / "model-int4.bin"
TEXTS = random_texts([5, 9, 2, 30, 128, 7, 3] * 15, seed=11)


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    engine = Engine.load()
    yield engine
    engine.dispose()


@pytest.fixture(scope="module")
def alone(engine: Engine) -> np.ndarray:
    return np.stack([engine.embed(text) for text in TEXTS])


class Counted:
    """An endless iterable that says how many texts were taken from it."""

    def __init__(self) -> None:
        self.taken = 0

    def __iter__(self) -> Iterator[str]:
        while True:
            self.taken += 1
            yield f"text {self.taken}"


def run(script: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments, "-c", script] if script else [sys.executable, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "pyapp"), **variables},
    )


@pytest.mark.parametrize("batch_size", [1, 32, 1000])
def test_batches_do_not_show_in_the_bits(
    engine: Engine, alone: np.ndarray, batch_size: int
) -> None:
    vectors = engine.encode(TEXTS, batch_size)
    assert vectors.dtype == np.float32
    assert np.array_equal(vectors, alone)
    assert np.array_equal(np.stack(list(engine.encode_stream(TEXTS, batch_size))), alone)


def test_the_progress_bar_is_tqdm_s(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    engine.encode(TEXTS, show_progress_bar=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "encode: 100%" in shown.err
    assert f"{len(TEXTS)}/{len(TEXTS)}" in shown.err
    engine.encode(TEXTS)
    assert capsys.readouterr().err == ""


def test_a_plain_line_without_tqdm(
    engine: Engine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    engine.encode(["a", "b", "c"], batch_size=2, show_progress_bar=True)
    assert capsys.readouterr().err == "\rencode 2/3\rencode 3/3\n"


def test_a_list_without_numpy(engine: Engine, alone: np.ndarray) -> None:
    script = (
        "import sys; sys.modules['numpy'] = None; import tern_engine;"
        "rows = tern_engine.Engine.load().encode(['one', 'two', 'three'], batch_size=2);"
        "print(type(rows).__name__, len(rows), {type(row).__name__ for row in rows})"
    )
    done = run(script)
    assert done.stdout == "list 3 {'array'}\n", done.stderr


def test_a_stream_takes_a_batch_at_a_time(engine: Engine) -> None:
    texts = Counted()
    vectors = engine.encode_stream(texts, batch_size=8)
    assert texts.taken == 0
    first = next(vectors)
    assert np.array_equal(first, engine.embed("text 1"))
    assert texts.taken == 8
    assert len(list(islice(vectors, 7))) == 7
    assert texts.taken == 8
    next(vectors)
    assert texts.taken == 16


def test_processes(engine: Engine, alone: np.ndarray) -> None:
    """The bits of one; a bounded read ahead; errors of a text arrive as they are."""
    assert np.array_equal(engine.encode(TEXTS, batch_size=10, num_workers=2), alone)
    texts = Counted()
    vectors = engine.encode_stream(texts, batch_size=5, num_workers=1)
    assert np.array_equal(np.stack(list(islice(vectors, 20))), engine.encode(
        [f"text {i + 1}" for i in range(20)]
    ))  # fmt: skip
    assert texts.taken <= 20 + 2 * 5
    del vectors  # ends the process
    with pytest.raises(InvalidInputError, match="str"):
        engine.encode(["fine", 7], num_workers=1)  # type: ignore[list-item]


def test_a_script_without_a_guard_is_told_so(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import tern_engine\ntern_engine.Engine.load().encode(['a'], num_workers=1)\n"
    )
    done = run("", str(script))
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert "WorkerFailedError" in last
    assert '`if __name__ == "__main__":`' in last


@pytest.mark.parametrize(
    "options",
    [{"batch_size": 0}, {"batch_size": True}, {"num_workers": -1}, {"num_workers": "2"}],
    ids=repr,
)
def test_bad_options(engine: Engine, options: dict[str, Any]) -> None:
    (name,) = options
    for method in (engine.encode, engine.encode_stream):
        with pytest.raises(InvalidInputError, match=f"{name} is .*, expected an int of"):
            method(["a"], **options)


def test_no_processes_in_pyodide(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "emscripten")
    with pytest.raises(InvalidInputError, match="Pyodide starts no processes"):
        engine.encode(["a"], num_workers=1)
    assert engine.encode(["a"]).shape == (1, 384)


@pytest.mark.parametrize("bad", ["a str", b"bytes", 7, None, np.array("a str")])
def test_a_stream_of_another_type(engine: Engine, bad: Any) -> None:
    with pytest.raises(InvalidInputError):
        engine.encode_stream(bad)


def test_pickled_engines(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = engine.embed("a text")
    path = tmp_path / "model.bin"
    path.write_bytes(MODEL.read_bytes())
    monkeypatch.chdir(tmp_path)
    by_path = Engine.load("model.bin")
    monkeypatch.chdir("/")
    for each in (engine, by_path, Engine.load(MODEL.read_bytes())):
        twin = pickle.loads(pickle.dumps(each))
        assert twin is not each
        assert np.array_equal(twin.embed("a text"), expected)
        twin.dispose()
    assert len(pickle.dumps(engine)) < 1000
    with pytest.raises(InvalidInputError, match="buffer"):
        pickle.dumps(Engine.load(bytearray(MODEL.read_bytes())))
    pickled = pickle.dumps(by_path)
    path.write_bytes(MODEL.read_bytes()[:-1])
    with pytest.raises(ModelError):
        pickle.loads(pickled)
    by_path.dispose()
    with pytest.raises(DisposedError):
        pickle.dumps(by_path)


def test_an_engine_pickled_with_another_model(engine: Engine) -> None:
    load, (origin, _) = engine.__reduce__()
    with pytest.raises(InvalidInputError, match=f"expected {'0' * 64}"):
        load(origin, "0" * 64)


def test_repr() -> None:
    engine = Engine.load()
    assert repr(engine) == (
        f"<Engine tern-engine-emb-int4 0.1.0, model {engine.fingerprint[:12]}, 384 floats, "
        "cpython-wasmtime>"
    )
    engine.dispose()
    assert repr(engine).endswith(" disposed>")


def test_an_import_is_light() -> None:
    """What takes long to import is imported by what needs it."""
    heavy = {"numpy", "wasmtime", "tqdm", "multiprocessing", "concurrent", "asyncio", "tern_tools"}
    done = run(f"import sys, tern_engine; print({heavy} & set(sys.modules))")
    assert done.stdout == "set()\n", done.stderr


def test_engines_are_freed_before_the_interpreter_ends() -> None:
    """Later, when modules are gone, wasmtime would complain on stderr."""
    script = (
        "import atexit, gc, tern_engine, wasmtime; engine = tern_engine.Engine.load();"
        "atexit._run_exitfuncs(); gc.collect();"
        "kinds = (wasmtime.Store, wasmtime.Module, wasmtime.Engine);"
        "print([each for each in gc.get_objects() if isinstance(each, kinds)])"
    )
    assert run(script).stdout == "[]\n"


def test_compiled_kernels_are_kept(tmp_path: Path) -> None:
    """In the user's cache folder; without one, and with damaged files, all works the same."""
    script = "import tern_engine; print(tern_engine.embed('a').tobytes().hex())"
    first = run(script, XDG_CACHE_HOME=str(tmp_path))
    (kept,) = (path for path in tmp_path.glob("wasmtime/modules/*/*") if not path.suffix)
    kept.write_bytes(b"damaged")
    damaged = run(script, XDG_CACHE_HOME=str(tmp_path))
    nowhere = run(script, XDG_CACHE_HOME="/dev/null/cache")
    assert len(first.stdout) > 384 * 8, first.stderr
    assert first.stdout == damaged.stdout == nowhere.stdout
    assert first.stderr == damaged.stderr == nowhere.stderr == ""


def test_the_interpreter_s_lock_is_released_while_the_kernel_runs(engine: Engine) -> None:
    """No thread gives the lock up by time here, so that another runs in the midst of a call of the
    kernel only if the call itself let the lock go."""
    call = engine._kernel.call
    inside = False

    def watched(*arguments: Any) -> int:
        nonlocal inside
        inside = True
        result = call(*arguments)
        inside = False
        return result

    engine._kernel.call = watched  # type: ignore[method-assign]
    thread = threading.Thread(target=engine.embed_batch, args=(TEXTS * 3,))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        thread.start()
        seen = 0
        while thread.is_alive():
            seen += inside
            time.sleep(0.0002)
    finally:
        sys.setswitchinterval(interval)
        del engine._kernel.call  # type: ignore[misc]
        thread.join()
    assert seen > 10
