"""Files that take their place only once they are complete."""

from __future__ import annotations

import errno
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

SUFFIX = ".part"
_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """The file, written beside `path` under another name, which is removed when anything fails."""
    partial = path.with_name(f".{path.name}.{uuid.uuid4().hex[:12]}{SUFFIX}")
    try:
        with partial.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        if error.filename is None and error.errno in _FULL:
            error.filename = str(path)
        raise
    finally:
        partial.unlink(missing_ok=True)
