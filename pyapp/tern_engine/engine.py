"""The engine: a text in, a unit vector out."""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from threading import Lock
from typing import Any

from ._data import read_data
from .build import Build, find_build
from .encoder import Encoder
from .errors import DisposedError, InvalidInputError
from .format import HEADER_BYTES
from .kernels import open_kernel
from .model import load_model
from .pieces import Pieces
from .texts import items

Vector = Any  # numpy.ndarray of float32 where numpy is installed, else array('f')


@cache
def _numpy() -> Any:
    """numpy, or None where it is not installed. Not imported before the first vector."""
    try:
        import numpy
    except ModuleNotFoundError:
        return None
    return numpy


@cache
def own_pieces() -> Pieces:
    """The build's vocabulary, which all engines share. A snapshot of an interpreter has it."""
    return Pieces(lambda: read_data("vocab.txt"))


class Engine:
    """One model in one kernel. Make it with Engine.load(); several may live side by side.

    Calls from several threads are safe; they take turns. Pickling one keeps where its model is
    from: unpickled, it is another engine with the same model.
    """

    def __init__(
        self, build: Build, model: Any, kernel_module: Any = None, sha256: str = ""
    ) -> None:
        """sha256: of the whole model, hex, where the caller has checked it. The build's own
        model is then not hashed once more."""
        self._lock = Lock()
        self._disposed = False
        self._build = build
        self._origin = _lasting(model)
        pieces = own_pieces()
        self._kernel = open_kernel(kernel_module)
        source, nbytes, first = _open_source(model)
        self._model, layout = load_model(
            self._kernel,
            source,
            nbytes,
            first,
            build.embedding,
            pieces.size,
            # The build has checked what its own model says of itself (tools/payload.py).
            known=sha256 if sha256 == build.model_sha256 else "",
        )
        self._encoder = Encoder(self._kernel, self._model, layout, pieces)

    @classmethod
    def load(cls, model: str | os.PathLike[str] | bytes | None = None) -> Engine:
        """An engine with a model given as a path or as bytes; None is the build's own.

        Raises a ModelError when the file is damaged or of another build's table format, a
        KernelError when this host cannot run the kernel, OSError when the path cannot be read.
        """
        return cls(find_build(), model)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the model file, hex: equal on every host for the same model."""
        return self._model.fingerprint

    @property
    def dim(self) -> int:
        """Floats of an embedding."""
        return self._model.header.output_dim

    @property
    def max_seq_len(self) -> int:
        """Most tokens of a text, [CLS] and [SEP] included; longer texts are cut."""
        return self._model.header.max_seq_len

    def embed(self, text: str) -> Vector:
        """float32 [dim], unit length. Raises InvalidInputError when text is no str."""
        with self._lock:
            self._check_alive()
            self._encoder.run(text)
            return _vector(self._encoder.out.tobytes(4 * self.dim))

    def embed_batch(self, texts: Sequence[str]) -> Any:
        """float32 [n, dim], each row the same bits as embed() of that text alone.

        Without numpy a list of n array('f').
        """
        checked = list(items(texts, "a sequence of str"))
        rows: list[bytearray] = []
        with self._lock:
            self._check_alive()
            for count in self._encoder.run_all(checked):
                rows += self._rows(count)
        return _matrix(rows, self.dim)

    def encode(
        self,
        sentences: str | Sequence[str],
        batch_size: int = 32,
        show_progress_bar: bool = False,
        num_workers: int = 0,
    ) -> Any:
        """embed() for a str, embed_batch() for a sequence of str, as embedding libraries have it.

        batch_size is how many texts are embedded between two steps of the progress bar (tqdm's
        where that is installed, on stderr), and what a process gets at a time. With num_workers
        that many processes share the texts, each with an engine of its own. The bits depend on
        neither. Raises InvalidInputError, WorkerFailedError when a process ended by itself.
        """
        if isinstance(sentences, str):
            return self.embed(sentences)
        from .batches import encode

        texts = list(items(sentences, "a sequence of str"))
        return encode(self, texts, batch_size, show_progress_bar, num_workers)

    def encode_stream(
        self, texts: Iterable[str], batch_size: int = 32, num_workers: int = 0
    ) -> Iterator[Vector]:
        """The embedding of each text, in order, while `texts` is read.

        No more than batch_size texts are held, or with num_workers twice as many a process. Raises
        as encode() does.
        """
        from .batches import encode_stream

        return encode_stream(self, texts, batch_size, num_workers)

    def tokenize(self, text: str) -> list[int]:
        """Ids from [CLS] to [SEP], at most max_seq_len, no padding."""
        with self._lock:
            self._check_alive()
            count, _ = self._encoder.read(text)
            return array("I", self._kernel.read(self._encoder.scratch.ids, 4 * count)).tolist()

    def token_count(self, text: str) -> tuple[int, bool]:
        """Number of ids that tokenize() gives, and whether the text was cut to reach it."""
        with self._lock:
            self._check_alive()
            return self._encoder.read(text)

    def config_summary(self) -> str:
        """The build and the model, as a JSON object in text."""
        self._check_alive()
        header = self._model.header
        return json.dumps(
            {
                "engine": "tern-engine",
                "version": self._build.version,
                "build": self._build.embedding,
                "embedding_format": header.embedding_format,
                "weights_format": "ternary",
                "vocab_size": header.vocab_size,
                "d_model": header.d_model,
                "n_layers": header.n_layers,
                "n_heads": header.n_heads,
                "ffn_dim": header.ffn_dim,
                "output_dim": header.output_dim,
                "max_seq_len": header.max_seq_len,
                "model_bytes": self._model.nbytes,
                "fingerprint": self.fingerprint,
                "host": self._kernel.host,
            }
        )

    def dispose(self) -> None:
        """Free the kernel and its memory. Any later use raises DisposedError; twice is fine."""
        with self._lock:
            if not self._disposed:
                self._disposed = True
                self._kernel.close()

    def __repr__(self) -> str:
        state = "disposed" if self._disposed else self._kernel.host
        name = f"tern-engine-emb-{self._build.embedding} {self._build.version}"
        return f"<Engine {name}, model {self.fingerprint[:12]}, {self.dim} floats, {state}>"

    def __reduce__(self) -> Any:
        """Pickled as where its model is from; unpickled by loading the same model anew."""
        self._check_alive()
        if self._origin is ...:
            raise InvalidInputError(
                field="the model of an engine to be pickled",
                found="a buffer that may have changed since",
                expected="one loaded from a path, from bytes or from the build",
            )
        return _load_same, (self._origin, self.fingerprint)

    def _check_alive(self) -> None:
        if self._disposed:
            raise DisposedError("the engine was disposed, expected a live one: load it again")

    def _rows(self, count: int) -> list[bytearray]:
        stride, size = self._encoder.out_stride, 4 * self.dim
        data = self._encoder.out.tobytes(count * stride)
        return [data[i * stride : i * stride + size] for i in range(count)]


def _lasting(model: Any) -> Any:
    """Where the same model can be loaded from again; ... for a buffer, which is not kept alive."""
    if isinstance(model, (str, os.PathLike)):
        return os.path.abspath(model)  # noqa: PTH100, pathlib is slow to import in a browser
    return model if model is None or isinstance(model, bytes) else ...


def _load_same(origin: Any, fingerprint: str) -> Engine:
    engine = Engine.load(origin)
    if engine.fingerprint != fingerprint:
        found = engine.fingerprint
        engine.dispose()
        raise InvalidInputError(
            field="the fingerprint of a pickled engine's model", found=found, expected=fingerprint
        )
    return engine


def _open_source(model: Any) -> tuple[Any, int, bytes]:
    """A model argument as (buffer, length, first HEADER_BYTES bytes)."""
    if model is None:
        model = read_data("model.bin")
    elif isinstance(model, (str, os.PathLike)):
        with open(model, "rb") as file:  # noqa: PTH123, pathlib is slow to import in a browser
            model = file.read()
    if isinstance(model, (bytes, bytearray, memoryview)):
        view = memoryview(model).cast("B")
        return view, len(view), bytes(view[:HEADER_BYTES])
    if hasattr(model, "js_id"):  # a JS typed array
        return model, model.byteLength, model.subarray(0, HEADER_BYTES).to_bytes()
    raise InvalidInputError(
        field="model", found=type(model).__name__, expected="a path, bytes or None"
    )


def _vector(data: bytearray) -> Vector:
    numpy = _numpy()
    return array("f", bytes(data)) if numpy is None else numpy.frombuffer(data, numpy.float32)


def _matrix(rows: list[bytearray], dim: int) -> Any:
    numpy = _numpy()
    if numpy is None:
        return [array("f", bytes(row)) for row in rows]
    data = bytearray().join(rows)
    return numpy.frombuffer(data, numpy.float32).reshape(len(rows), dim)
