"""The files that the build put beside the code."""

from __future__ import annotations

import os
from typing import Any


def read_data(name: str) -> bytes:
    """Content of data/`name`, from a folder or a zip. Raises OSError when it is missing.

    Through the module's own loader: importlib.resources would pull in much of the standard
    library, which costs a tenth of the start in a browser.
    """
    loader: Any = __spec__.loader
    folder = __file__.rpartition(os.sep)[0]
    data: bytes = loader.get_data(f"{folder}{os.sep}data{os.sep}{name}")
    return data
