"""pyarrow, or an error that says how to get it."""

from __future__ import annotations

try:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "Arrow and Parquet need pyarrow: pip install 'tern-tools[parquet]'", name="pyarrow"
    ) from error

__all__ = ["pa", "pc", "pq"]
