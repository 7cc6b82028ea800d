"""A column of texts in Parquet files embedded by any number of processes and machines.

    from tern_tools.bulk import run_bulk
    run_bulk("texts.parquet", "vectors", workers=4)

The rows are cut into parts, and each part becomes one file of the output folder under its final
name once it is complete. What is there already is not made again, so that a run that was killed is
taken up by the same call. The bytes do not depend on who made a part, or when.

Needs the extra `parquet`; more than one process needs `bulk`, which is Dask.
"""

from __future__ import annotations

from .plan import ROWS_PER_PART
from .run import Summary, run_bulk

__all__ = ["ROWS_PER_PART", "Summary", "run_bulk"]
