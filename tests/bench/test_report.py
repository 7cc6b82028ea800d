"""From samples to the tables and the document of a run."""

from __future__ import annotations

import json

from bench import report


def sample(host: str, engine: str, dim: int, tokens: int, *ms: float) -> list[report.Sample]:
    return [report.Sample(host, engine, dim, tokens, value) for value in ms]


SAMPLES = [
    *sample("node", "minilm-q8-wasm", 384, 12, 41.0, 39.0, 40.0, 1000.0),
    *sample("node", "tern", 256, 12, 3.0, 1.0, 2.0),
    *sample("node", "obvious-simd", 384, 12, 44.0),
    *sample("node", "tern", 384, 12, 4.0),
    *sample("chromium", "tern", 256, 12, 5.0),
]


def test_a_row_is_the_median_of_its_samples_with_their_least() -> None:
    assert report.rows(SAMPLES) == [
        report.Row("node", "tern", 256, 12, 2.0, 1.0),
        report.Row("node", "tern", 384, 12, 4.0, 4.0),
        report.Row("node", "obvious-simd", 384, 12, 44.0, 44.0),
        report.Row("node", "minilm-q8-wasm", 384, 12, 40.5, 39.0),
        report.Row("chromium", "tern", 256, 12, 5.0, 5.0),
    ]


def test_the_document_has_the_rows_the_starts_and_the_bytes() -> None:
    cold = {
        ("chromium", "tern", "first", ""): 900.0,
        ("chromium", "tern", "first", "50 Mbit/s, 20 ms"): 2000.0,
        ("chromium", "tern, no snapshot", "first", ""): 1900.0,
        ("node", "minilm-q8-wasm", "first", ""): 700.0,
    }
    document = report.document(report.rows(SAMPLES), cold, {"total": (4, 3, 2, 1)})
    document = json.loads(json.dumps(document))
    assert list(document) == ["rows", "cold", "bytes"]
    assert document["rows"][0] == {
        "host": "node",
        "engine": "tern",
        "dim": 256,
        "tokens": 12,
        "ms": 2.0,
    }
    assert document["cold"] == [
        {"host": "chromium", "engine": "tern", "visit": "first", "ms": 900.0},
        {"host": "node", "engine": "minilm-q8-wasm", "visit": "first", "ms": 700.0},
    ]
    assert document["bytes"] == {"total": {"raw": 4, "gzip": 3, "brotli": 2, "zstd": 1}}


def cells(table: str) -> list[list[str]]:
    lines = table.splitlines()
    assert len({len(line) for line in lines}) == 1
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_a_host_is_a_table_of_times_and_of_how_many_times_ours_is_faster() -> None:
    found = cells(report.host_table(report.rows(SAMPLES), "node"))
    assert found[0] == [
        "tokens",
        "tern, d 256",
        "tern, d 384",
        "obvious-simd, d 384",
        "minilm-q8-wasm, d 384",
        # The build of our own pass against ours of its width, the peer against our smallest.
        "obvious-simd d 384 / tern d 384",
        "minilm-q8-wasm d 384 / tern d 256",
    ]
    assert found[2:] == [["12", "2.000 ms", "4.000 ms", "44.000 ms", "40.500 ms", "11.0×", "20.2×"]]
    least = cells(report.host_table(report.rows(SAMPLES), "node", least=True))
    assert least[2][1] == "1.000 ms"
    assert least[2][-1] == "39.0×"


def test_cold_starts_are_a_line_an_engine_with_both_visits() -> None:
    cold = {("chromium", "tern", "first", ""): 900.0, ("chromium", "tern", "second", ""): 600.4}
    assert cells(report.cold_table(cold))[2:] == [["chromium, tern", "local", "900 ms", "600 ms"]]
