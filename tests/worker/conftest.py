"""Servers that tests share: started once, each with an engine that runs already or not yet."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.worker.client import get
from tests.worker.servers import Server, workerd


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The Worker with its defaults, started and warm."""
    with workerd(tmp_path_factory.mktemp("workerd")) as running:
        assert get(running, "/config").status == 200
        yield running
