"""Every error of the engine, on every host.

    TernError
    ├── ModelError                     a model file was refused; checks run in this order
    │   ├── ModelTooShortError         MODEL_TOO_SHORT
    │   ├── ModelMagicError            MODEL_MAGIC
    │   ├── ModelVersionError          MODEL_VERSION
    │   ├── ModelEmbeddingFormatError  MODEL_EMBEDDING_FORMAT
    │   ├── ModelWeightsFormatError    MODEL_WEIGHTS_FORMAT
    │   ├── ModelReservedError         MODEL_RESERVED
    │   ├── ModelShapeError            MODEL_SHAPE
    │   ├── ModelOtherBuildError       MODEL_OTHER_BUILD
    │   ├── ModelVocabularyError       MODEL_VOCABULARY
    │   ├── ModelLengthError           MODEL_LENGTH
    │   ├── ModelChecksumError         MODEL_CHECKSUM
    │   ├── ModelCodeError             MODEL_CODE
    │   └── ModelValueError            MODEL_VALUE
    ├── InvalidInputError              INVALID_INPUT
    ├── DimensionError                 DIMENSION
    ├── DisposedError                  DISPOSED
    ├── KernelError
    │   ├── KernelMissingError         KERNEL_MISSING
    │   ├── KernelSelfTestError        KERNEL_SELF_TEST
    │   ├── KernelMemoryError          KERNEL_MEMORY
    │   ├── WasmNoSimdError            WASM_NO_SIMD
    │   └── WasmBlockedError           WASM_BLOCKED
    ├── SearchIndexError               a saved search index was refused (raised by tern_tools)
    │   ├── IndexFormatError           INDEX_FORMAT
    │   └── IndexStaleError            INDEX_STALE
    ├── WorkerFailedError              WORKER_FAILED   (raised by tern_tools)
    ├── BuildConflictError             BUILD_CONFLICT   (an ImportError too)
    └── BuildMissingError              BUILD_MISSING    (an ImportError too)

A caller branches on `error.code`, which is the same string in Python and in JavaScript, and shows
`str(error)`. Codes that only JavaScript can raise stand in ERROR_CODES and have no class here.
"""

from __future__ import annotations

from typing import ClassVar

PREFIX = "tern-engine: "

# The single list. web/errors-list.js is generated from it by tools/generate_errors.py.
ERROR_CODES: dict[str, str] = {
    "MODEL_TOO_SHORT": "The model file is too short to hold a header and a checksum.",
    "MODEL_MAGIC": "The file does not start with TERN: it is not a model of this engine.",
    "MODEL_VERSION": "The model file has a format version that this engine does not read.",
    "MODEL_EMBEDDING_FORMAT": "The header names an embedding table format that does not exist.",
    "MODEL_WEIGHTS_FORMAT": "The header names a weights format that does not exist.",
    "MODEL_RESERVED": "Reserved header bytes are not zero.",
    "MODEL_SHAPE": "A dimension in the header is zero, out of range or does not divide.",
    "MODEL_OTHER_BUILD": "The table has a known format, but this build reads another one.",
    "MODEL_VOCABULARY": "The model's vocabulary has another size than the tokenizer's.",
    "MODEL_LENGTH": "The file's length is not the one that its header implies.",
    "MODEL_CHECKSUM": "The SHA-256 at the end of the file is not that of the bytes before it.",
    "MODEL_CODE": "A packed weight holds a reserved code.",
    "MODEL_VALUE": "A parameter is not finite, or a scale is out of range.",
    "INVALID_INPUT": "An argument has the wrong type or value.",
    "DIMENSION": "Two vectors, or a vector and a buffer, differ in length.",
    "DISPOSED": "The engine was used after dispose().",
    "ABORTED": "The caller aborted the operation.",
    "KERNEL_MISSING": "The compiled kernel, or the runtime that runs it, was not found.",
    "KERNEL_SELF_TEST": "The kernel gave a wrong answer to a known computation.",
    "KERNEL_MEMORY": "This host has not the memory that the model needs.",
    "WASM_NO_SIMD": "This host's WebAssembly has no SIMD.",
    "WASM_BLOCKED": "This host does not allow WebAssembly to be compiled.",
    "WORKER_FAILED": "A worker of the engine could not be started, or ended by itself.",
    "BUILD_CONFLICT": "Two builds of the engine are installed side by side.",
    "BUILD_MISSING": "This source checkout has not been built.",
    "LOAD_HTTP": "A file of the engine was answered with an HTTP error status.",
    "LOAD_CONTENT": "A file of the engine was answered with content of another type.",
    "LOAD_TRUNCATED": "A file of the engine arrived incomplete.",
    "LOAD_INTEGRITY": "A file of the engine arrived with an unexpected hash.",
    "LOAD_TIMEOUT": "A file of the engine did not arrive in time.",
    "LOAD_NETWORK": "A file of the engine could not be fetched.",
    "INDEX_FORMAT": "A saved index is damaged or of an unknown version.",
    "INDEX_STALE": "A saved index was made with another model.",
    "INDEX_TOO_LARGE": "An index does not fit into one file on this host.",
    "STORAGE_QUOTA": "The browser's storage quota does not hold the data.",
    "STORAGE_UNAVAILABLE": "This host has no IndexedDB, does not allow it, or closed it.",
}


class TernError(Exception):
    """Root of every error of the engine.

    Made either from a ready message or from `field`, `found` and `expected`, which are kept as
    attributes (None when not given). The message gets the prefix "tern-engine: ".
    """

    code: ClassVar[str]

    def __init__(
        self,
        message: str = "",
        *,
        field: str | None = None,
        found: object = None,
        expected: object = None,
    ) -> None:
        if not message:
            message = f"{field} is {found}, expected {expected}"
        # An unpickled error is rebuilt from its finished message.
        super().__init__(message if message.startswith(PREFIX) else PREFIX + message)
        self.field = field
        self.found = found
        self.expected = expected


class ModelError(TernError):
    """A model file was refused."""


class ModelTooShortError(ModelError):
    code = "MODEL_TOO_SHORT"


class ModelMagicError(ModelError):
    code = "MODEL_MAGIC"


class ModelVersionError(ModelError):
    code = "MODEL_VERSION"


class ModelEmbeddingFormatError(ModelError):
    code = "MODEL_EMBEDDING_FORMAT"


class ModelWeightsFormatError(ModelError):
    code = "MODEL_WEIGHTS_FORMAT"


class ModelReservedError(ModelError):
    code = "MODEL_RESERVED"


class ModelShapeError(ModelError):
    code = "MODEL_SHAPE"


class ModelOtherBuildError(ModelError):
    code = "MODEL_OTHER_BUILD"


class ModelVocabularyError(ModelError):
    code = "MODEL_VOCABULARY"


class ModelLengthError(ModelError):
    code = "MODEL_LENGTH"


class ModelChecksumError(ModelError):
    code = "MODEL_CHECKSUM"


class ModelCodeError(ModelError):
    code = "MODEL_CODE"


class ModelValueError(ModelError):
    code = "MODEL_VALUE"


class InvalidInputError(TernError):
    code = "INVALID_INPUT"


class DimensionError(TernError):
    code = "DIMENSION"


class DisposedError(TernError):
    code = "DISPOSED"


class KernelError(TernError):
    """The kernel could not be loaded or is not to be trusted."""


class KernelMissingError(KernelError):
    code = "KERNEL_MISSING"


class KernelSelfTestError(KernelError):
    code = "KERNEL_SELF_TEST"


class KernelMemoryError(KernelError):
    code = "KERNEL_MEMORY"


class WasmNoSimdError(KernelError):
    code = "WASM_NO_SIMD"


class WasmBlockedError(KernelError):
    code = "WASM_BLOCKED"


class SearchIndexError(TernError):
    """A saved search index was refused."""


class IndexFormatError(SearchIndexError):
    code = "INDEX_FORMAT"


class IndexStaleError(SearchIndexError):
    code = "INDEX_STALE"


class WorkerFailedError(TernError):
    code = "WORKER_FAILED"


class BuildConflictError(TernError, ImportError):
    code = "BUILD_CONFLICT"


class BuildMissingError(TernError, ImportError):
    code = "BUILD_MISSING"
