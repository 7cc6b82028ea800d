"""Every single-field corruption and every class of truncation is refused with its own code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tern_engine.errors import ERROR_CODES, ModelError
from tern_engine.format import EMBEDDING_FORMATS, Header, read_header
from tern_tools.models.unpack import UnpackedModel

from tests.support.corrupt import Case, every_case
from tests.support.models import of_format, random_model
from training.pack.engine_process import EngineProcess, EngineRefused

# The tokenizer's vocabulary, which the engine insists on, at the least width.
SHAPE = Header("int4", 30522, 12, 1, 4, 20, 7, 16)

# Codes of the checks that need the whole file; read_header makes all others.
OF_THE_CONTENT = ("MODEL_CHECKSUM", "MODEL_CODE", "MODEL_VALUE")
OF_THE_HEADER = {
    code for code in ERROR_CODES if code.startswith("MODEL_") and code not in OF_THE_CONTENT
}


def answers(cases: list[Case], read: Callable[[Case], str | None]) -> dict[str, str | None]:
    """What a reader says to each case, by name."""
    found = {case.name: read(case) for case in cases}
    assert len(found) == len(cases)
    return found


@pytest.fixture(scope="module", params=list(EMBEDDING_FORMATS))
def embedding_format(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def cases(embedding_format: str) -> list[Case]:
    return list(every_case(random_model(of_format(SHAPE, embedding_format), seed=1)))


def test_the_cases_cover_every_code(cases: list[Case], embedding_format: str) -> None:
    assert {case.code for case in cases} == {
        None,
        *OF_THE_HEADER,
        *OF_THE_CONTENT,
    }
    assert len(cases) > 250


def test_read_header(cases: list[Case], embedding_format: str) -> None:
    def read(case: Case) -> str | None:
        try:
            read_header(case.data[:32], len(case.data), build=embedding_format, vocab_size=30522)
        except ModelError as error:
            return error.code
        return None

    assert answers(cases, read) == {
        case.name: case.code if case.code in OF_THE_HEADER else None for case in cases
    }


def test_reference(cases: list[Case], embedding_format: str) -> None:
    def read(case: Case) -> str | None:
        try:
            UnpackedModel.from_bytes(case.data, build=embedding_format, vocab_size=30522)
        except ModelError as error:
            assert str(error).startswith("tern-engine: ")
            return error.code
        return None

    assert answers(cases, read) == {case.name: case.code for case in cases}


def test_engine(cases: list[Case], embedding_format: str, tmp_path: Path) -> None:
    path = tmp_path / "model.bin"
    if embedding_format != "int4":
        # Each load compiles a kernel anew. Builds differ in the table, the rest is one code.
        cases = [case for i, case in enumerate(cases) if "embedding" in case.name or i % 4 == 0]

    def read(case: Case) -> str | None:
        path.write_bytes(case.data)
        try:
            engine.load(path)
        except EngineRefused as error:
            assert str(error).startswith("tern-engine: ")
            return error.code
        return None

    with EngineProcess(embedding_format) as engine:
        assert answers(cases, read) == {case.name: case.code for case in cases}
