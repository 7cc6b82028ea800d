"""The bridge that web/tern-engine.js calls inside Pyodide.

No exception crosses to JavaScript: a method that fails returns -1 and leaves `error_code` and
`error_message`. Vectors and ids do not cross either: they stay in kernel memory, where JavaScript
reads them at a byte offset of `memory.buffer`. There it also writes a plain text that is to be
embedded: Pyodide would take longer to make a Python string of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .build import find_build
from .engine import Engine
from .errors import DisposedError, TernError
from .texts import AFTER_ONE, PLAIN
from .tokenizer import WINDOW


class Bridge:
    """One engine. After create(), `error_code` is "" when it loaded."""

    error_code = ""
    error_message = ""
    truncated = False
    # The characters of a plain text, the most of them, and what stands behind one.
    plain = PLAIN
    plain_limit = WINDOW
    after_text = AFTER_ONE

    def __init__(self, model: Any, kernel_module: Any, sha256: str) -> None:
        self._engine: Engine | None = None

        def load() -> int:
            engine = Engine(find_build(), model, kernel_module, sha256)
            self.dim = engine.dim
            self.max_seq_len = engine.max_seq_len
            self.fingerprint = engine.fingerprint
            self.memory = engine._kernel.memory  # type: ignore[attr-defined]
            self.text_offset = engine._encoder.text
            self.ids_offset = engine._encoder.scratch.ids
            self.out_offset = engine._encoder.scratch.out
            self.out_stride = engine._encoder.out_stride
            self._engine = engine
            return 0

        self._guard(load)

    def config_summary(self) -> Any:
        """JSON text, or -1."""
        return self._guard(lambda: self._live().config_summary())

    def embed(self, text: str) -> int:
        """Byte offset in kernel memory of float32 [dim], or -1. Valid until the next call."""
        try:
            self._live()._encoder.run(text)
            return self.out_offset
        except TernError as error:
            return self._failed(error)

    def embed_written(self) -> int:
        """As embed(), of a plain text that JavaScript wrote to `text_offset`."""
        try:
            self._live()._encoder.run_written()
            return self.out_offset
        except TernError as error:
            return self._failed(error)

    def embed_batch(self, texts: Any, take: Callable[[int], object]) -> int:
        """Embed a JS array of strings, a part at a time: each take(n) is for the next n, whose
        vectors stand `out_stride` bytes apart from `out_offset` on. Returns 0, or -1."""

        def run() -> int:
            for count in self._live()._encoder.run_all(texts.to_py()):
                take(count)
            return 0

        return int(self._guard(run))

    def tokenize(self, text: str) -> int:
        """Number of ids, which stand as uint32 at ids_offset; or -1."""
        return int(self._guard(lambda: self._live().token_count(text)[0]))

    def token_count(self, text: str) -> int:
        """Number of ids, with `truncated` set; or -1."""

        def run() -> int:
            count, self.truncated = self._live().token_count(text)
            return count

        return int(self._guard(run))

    def dispose(self) -> None:
        """Free the kernel. Any later call fails with DISPOSED."""
        if self._engine is not None:
            self._engine.dispose()
        self._engine = self.memory = None

    def _live(self) -> Engine:
        if self._engine is None:
            raise DisposedError("the engine was disposed, expected a live one: load it again")
        return self._engine

    def _guard(self, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except TernError as error:
            return self._failed(error)

    def _failed(self, error: TernError) -> int:
        self.error_code = error.code
        self.error_message = str(error)
        return -1


def create(model: Any = None, kernel_module: Any = None, sha256: str = "") -> Bridge:
    """A bridge; look at its error_code first. `model` is a Uint8Array, or None;
    `sha256` its SHA-256 in hex, where the caller has checked that, else ""."""
    return Bridge(model, kernel_module, sha256)
