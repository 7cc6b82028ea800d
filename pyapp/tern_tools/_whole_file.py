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


def check_target(path: Path) -> None:
    """The OSError of what can be told before a file is written: no folder, or one in its place."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))


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
        full = error.filename is None and error.errno in _FULL
        if full or error.filename == str(partial):
            error.filename = str(path)  # nobody knows the other name
        raise
    finally:
        partial.unlink(missing_ok=True)
