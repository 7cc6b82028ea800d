"""The benchmark: its arithmetic, its texts, its peer, and one quick run of the real thing."""

from __future__ import annotations

import json
import math
import os
import random
import re
import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import numpy as np
import onnxruntime  # type: ignore[import-untyped]
import pytest
from tern_engine.tokenizer import Tokenizer

from bench import (
    bert,
    bert_onnx,
    browser,
    details,
    hosts,
    judge,
    memory,
    models,
    obvious,
    peer,
    report,
    run,
    site,
    texts,
)

ROOT = Path(__file__).resolve().parents[1]
SIZES = (8, 12, 16, 32, 64, 128)

TINY = bert.BertShape(
    vocab_size=60,
    hidden_size=16,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=32,
    max_position_embeddings=20,
    type_vocab_size=2,
    layer_norm_eps=1e-12,
)
IDS = [2, 17, 33, 5, 59, 17, 3]


Result = TypeVar("Result")


def in_a_thread(work: Callable[[], Result]) -> Result:
    """Playwright's sync API starts once a thread, and the tests of pages hold this one's."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


# --- samples to tables


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
    document = report.document(report.rows(SAMPLES), cold, {"total": (3, 2, 1)})
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
    assert document["bytes"] == {"total": {"raw": 3, "gzip": 2, "brotli": 1}}


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


# --- texts


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.from_file(ROOT / "assets" / "tokenizer.json")


def test_the_full_run_has_enough_texts_of_the_right_lengths(tokenizer: Tokenizer) -> None:
    effort = run.FULL
    assert tuple(effort.per_round) == SIZES
    rounds = max(effort.rounds.values())
    plan = texts.make_plan(
        texts.sentences(),
        tokenizer.tokenize,
        per_round=effort.per_round,
        rounds=rounds,
        warmup=1000,
    )
    assert len(plan.warmup) == 1000
    assert len(plan.rounds) == rounds
    for sizes in plan.rounds:
        for tokens, items in sizes.items():
            assert len(items) == effort.per_round[tokens]
            for item in items:
                assert list(item.ids) == tokenizer.tokenize(item.text)
                assert len(item.ids) == tokens
    every = [item.text for item in plan.items()]
    assert len(set(every)) == len(every)


def test_timed_texts_bring_new_words_as_real_ones_do(tokenizer: Tokenizer) -> None:
    plan = texts.make_plan(
        texts.sentences(), tokenizer.tokenize, per_round={12: 400}, rounds=1, warmup=1000
    )
    seen = {chunk for item in plan.warmup for chunk in item.text.split()}
    new = total = 0
    for item in plan.rounds[0][12]:
        chunks = item.text.split()
        new += sum(chunk not in seen for chunk in chunks)
        total += len(chunks)
        seen.update(chunks)
    assert 0.1 < new / total < 0.3


def words(text: str) -> list[int]:
    """A tokenizer for the tests: one id a word, within a frame."""
    return [0, *range(1, len(text.split()) + 1), 0]


def test_running_out_of_sentences_is_an_error() -> None:
    with pytest.raises(ValueError, match="no unused sentence of 4 tokens"):
        texts.make_plan(["a b", "c d e"], words, per_round={4: 2}, rounds=1, warmup=0)


def test_long_texts_are_joined_from_sentences_that_fit() -> None:
    pool = [" ".join(f"w{i}" for i in range(size)) for size in (30, 14, 40, 18, 5)]
    plan = texts.make_plan(pool, words, per_round={64: 1}, rounds=1, warmup=1)
    [item] = plan.rounds[0][64]
    assert len(item.ids) == 64
    assert item.text == " ".join([pool[0], pool[1], pool[3]])
    assert plan.warmup[0].text == pool[2]


# --- the peer


def random_bert(shape: bert.BertShape, seed: int) -> bert.Tensors:
    rng = np.random.default_rng(seed)
    d, up = shape.hidden_size, shape.intermediate_size

    def normal(*size: int) -> bert.Array:
        return rng.normal(0, 0.3, size).astype(np.float32)

    tensors = {
        "embeddings.word_embeddings.weight": normal(shape.vocab_size, d),
        "embeddings.position_embeddings.weight": normal(shape.max_position_embeddings, d),
        "embeddings.token_type_embeddings.weight": normal(shape.type_vocab_size, d),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in range(shape.num_hidden_layers):
        at = bert.layer_prefix(layer)
        norms += [at + "attention.output.LayerNorm", at + "output.LayerNorm"]
        linears = {f"attention.self.{name}": (d, d) for name in ("query", "key", "value")}
        linears["attention.output.dense"] = (d, d)
        linears |= {"intermediate.dense": (up, d), "output.dense": (d, up)}
        for name, size in linears.items():
            tensors |= {f"{at}{name}.weight": normal(*size), f"{at}{name}.bias": normal(size[0])}
    for name in norms:
        tensors |= {f"{name}.weight": 1 + normal(d), f"{name}.bias": normal(d)}
    return tensors


def onnx_outputs(model: bytes, ids: list[list[int]], mask: list[list[int]]) -> bert.Array:
    """last_hidden_state [batch, T, d] of an ONNX model."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    feeds = {
        "input_ids": np.array(ids, np.int64),
        "attention_mask": np.array(mask, np.int64),
        "token_type_ids": np.zeros_like(np.array(ids, np.int64)),
    }
    [output] = session.run(["last_hidden_state"], feeds)
    return np.asarray(output, np.float32)


@pytest.mark.parametrize("seed", range(3))
def test_the_graph_computes_what_numpy_computes(seed: int) -> None:
    tensors = random_bert(TINY, seed)
    expected = bert.last_hidden_state(TINY, tensors, IDS)
    found = onnx_outputs(
        bert_onnx.build(TINY, tensors).SerializeToString(), [IDS], [[1] * len(IDS)]
    )
    assert found.shape == (1, len(IDS), TINY.hidden_size)
    np.testing.assert_allclose(found[0], expected, atol=2e-5)


def test_the_graph_ignores_what_the_mask_leaves_out() -> None:
    tensors = random_bert(TINY, 0)
    expected = bert.last_hidden_state(TINY, tensors, IDS)
    padded, mask = [*IDS, 0, 0], [1] * len(IDS) + [0, 0]
    found = onnx_outputs(bert_onnx.build(TINY, tensors).SerializeToString(), [padded], [mask])
    np.testing.assert_allclose(found[0, : len(IDS)], expected, atol=2e-5)


def test_the_quantized_graph_is_fused_and_stays_close(tmp_path: Path) -> None:
    tensors = random_bert(TINY, 1)
    path = tmp_path / "q8.onnx"
    peer.quantize(bert_onnx.build(TINY, tensors), TINY, path)
    assert list(tmp_path.iterdir()) == [path]

    import onnx

    kinds = [node.op_type for node in onnx.load(path).graph.node]
    assert kinds.count("QAttention") == TINY.num_hidden_layers
    assert kinds.count("MatMulInteger") == 3 * TINY.num_hidden_layers
    assert "MatMul" not in kinds
    found = onnx_outputs(path.read_bytes(), [IDS], [[1] * len(IDS)])[0]
    expected = bert.sentence_vector(bert.last_hidden_state(TINY, tensors, IDS))
    assert bert.sentence_vector(found) @ expected > 0.98


def test_an_encoder_of_another_kind_is_refused() -> None:
    config = {name: getattr(TINY, name) for name in TINY.__dataclass_fields__}
    assert bert.BertShape.from_config({**config, "hidden_act": "gelu"}) == TINY
    with pytest.raises(ValueError, match="hidden_act is 'relu'"):
        bert.BertShape.from_config({**config, "hidden_act": "relu"})
    with pytest.raises(ValueError, match="absolute"):
        bert.BertShape.from_config(
            {**config, "hidden_act": "gelu", "position_embedding_type": "relative_key"}
        )


def test_sentence_vector_is_the_mean_at_length_one() -> None:
    hidden = np.array([[1, 0], [5, 8]], np.float32)
    np.testing.assert_allclose(bert.sentence_vector(hidden), [0.6, 0.8], rtol=1e-6)
    assert not bert.sentence_vector(np.zeros((2, 2), np.float32)).any()


# --- the judge


def proof(engine: str, *vector: float, dim: int = 2) -> dict[str, object]:
    return {"engine": engine, "dim": dim, "tokens": 8, "vector": list(vector)}


def right(tokens: int) -> bert.Array:
    return np.array([1, 0], np.float32)


EXACT = judge.Standard(right, 0.9999, 2e-3, "the reference")
NEAR = judge.Standard(right, 0.98, None, "its original")
STANDARDS = {("tern", 2): EXACT, ("minilm-q8-wasm", 2): NEAR}
TERN, PEER = proof("tern", 1, 0), proof("minilm-q8-wasm", 0.99, 0.141)


def test_sound_contenders_pass() -> None:
    ours, theirs = judge.judge([TERN, PEER], STANDARDS, 2)
    assert ours.startswith("tern, d 2, against the reference: least cosine 1.000000")
    assert "least cosine 0.99" in theirs


@pytest.mark.parametrize(
    ("proofs", "message"),
    [
        ([TERN, proof("minilm-q8-wasm", 0.6, 0.8)], "has cosine 0.6000 to its original"),
        ([proof("tern", 0.99995, 0.01), PEER], "differs by 0.0100 from the reference"),
        ([proof("tern", 1, 1)], "returned a vector of length 1.41"),
        ([proof("tern", math.nan, 1)], "returned no 2 finite floats"),
        ([proof("tern", 1, 0, 0)], "returned no 2 finite floats"),
        ([proof("tern", 1, 0, dim=3)], "has nothing to be held against"),
        ([TERN], "no vector of minilm-q8-wasm, d 2, was judged"),
    ],
)
def test_broken_contenders_fail(proofs: list[dict[str, object]], message: str) -> None:
    with pytest.raises(judge.BenchError, match=message):
        judge.judge(proofs, STANDARDS, 2)


def test_a_slow_obvious_build_is_a_straw_man() -> None:
    assert "13.0 GMAC/s at d 256" in judge.judge_speed({"256": 13.0, "384": 12.0})
    with pytest.raises(judge.BenchError, match=r"d 384, reaches 9\.9 GMAC/s .* at least 10"):
        judge.judge_speed({"256": 13.0, "384": 9.9})


# --- the obvious SIMD build


@pytest.mark.parametrize("dim", [256, 384])
def test_the_obvious_build_equals_the_reference(dim: int) -> None:
    built = obvious.Obvious(obvious.module(), models.paths()[dim])
    assert built.dim == dim
    for ids in ((101, 102), (101, 7592, 1010, 2088, 102), tuple(range(1000, 1128))):
        found = np.array(built.embed(ids))
        expected = models.reference(models.paths()[dim], ids)
        assert float(found @ expected) >= 0.9999
        assert float(np.abs(found - expected).max()) <= 2e-3


def test_the_obvious_build_refuses_ids_that_the_model_has_not() -> None:
    built = obvious.Obvious(obvious.module(), models.paths()[256])
    for ids in ([], [30522], [0] * 129):
        with pytest.raises(ValueError, match="refused"):
            built.embed(ids)


# --- the measuring loop and the soak run, with engines made for the test


def node(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["node", "--expose-gc", "--max-semi-space-size=1", *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_engines_take_turns_on_the_same_texts(tmp_path: Path) -> None:
    script = tmp_path / "turns.mjs"
    script.write_text(
        f"""
        import {{ measure }} from "{(ROOT / "bench/js/measure.mjs").as_uri()}";
        const log = [];
        let now = 0;
        const contender = (name, cost, wrap) => ({{
          name, dim: 2, warmup: 1,
          prepare: (item) => {{ now += 1000; return item.text; }},
          embed: (text) => {{ log.push(name + text); now += cost; return wrap([1, 0]); }},
          check() {{}},
        }});
        const contenders = [
          contender("a", 2, (v) => v), contender("b", 10, (v) => Promise.resolve(v)),
        ];
        const items = (...texts) => texts.map((text) => ({{ text, ids: [] }}));
        const round = (...texts) => [{{ tokens: 8, items: items(...texts) }}];
        const plan = {{ warmup: items("w", "x"), rounds: [round("1", "2", "3"), round("4", "5")] }};
        const samples = await measure(contenders, plan, () => now, () => {{ now += 500; }});
        console.log(JSON.stringify({{ log: log.join(" "), samples }}));
        """,
        "utf-8",
    )
    done = node(script)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    # Texts of the warm-up, w and x: as many as take their time before each turn, of that engine.
    turns = re.sub(r"\b([ab])[wx]( \1[wx])*\b", r"\1~", result["log"])
    assert turns == "a~ b~ a~ a1 a2 a3 b~ b1 b2 b3 a~ a4 a5 b~ b4 b5"
    expected = [("a", 2), ("b", 10), ("a", 2), ("b", 10)]
    assert [(s["engine"], s["ms"]) for s in result["samples"]] == expected
    assert {(s["dim"], s["tokens"]) for s in result["samples"]} == {(2, 8)}


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ("return Float32Array.of(1, 0)", 0, "MB above the lowest"),
        ("held.push(new Uint8Array(4096).fill(1)); return Float32Array.of(1, 0)", 1, "MB above"),
        ("shared[0] += 1; return shared", 1, "kept from the beginning has changed"),
        ("return Float32Array.of(n++)", 1, "the first text has another vector now"),
    ],
)
def test_the_soak_run_finds_leaks_and_shared_vectors(
    tmp_path: Path, body: str, code: int, message: str
) -> None:
    module = tmp_path / "engine.mjs"
    module.write_text(
        f"""
        const held = [], shared = new Float32Array(2);
        let n = 0;
        export const load = async () => ({{ embed(text) {{ {body}; }}, dispose() {{}} }});
        """,
        "utf-8",
    )
    done = node("bench/soak.mjs", "5000", module)
    assert done.returncode == code, done.stdout + done.stderr
    assert message in done.stdout


# --- the real thing


def built_site() -> Path:
    assert hosts.SITE_MODULE.exists(), "python3 build.py all makes dist/web, which this test needs"
    return hosts.SITE_MODULE


def test_a_quick_run_measures_every_engine_on_every_host(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    built_site()
    figures = tmp_path / "figures.json"
    assert in_a_thread(lambda: run.main(["--quick", "--json", str(figures)])) == 0
    document = json.loads(figures.read_text("utf-8"))
    rows = document["rows"]
    wide = {("tern", 256), ("tern", 384), ("obvious-simd", 256), ("obvious-simd", 384)}
    peers = {
        "node": "minilm-q8-wasm",
        "chromium": "minilm-q8-wasm",
        "cpython": "minilm-q8-native",
    }
    assert {(row["host"], row["engine"], row["dim"], row["tokens"]) for row in rows} == {
        (host, engine, dim, tokens)
        for host, peer_engine in peers.items()
        for engine, dim in {*wide, (peer_engine, 384)}
        for tokens in SIZES
    }
    assert all(math.isfinite(row["ms"]) and row["ms"] > 0 for row in rows)
    assert {(c["host"], c["engine"], c["visit"]) for c in document["cold"]} == {
        *(("chromium", e, v) for e in ("tern", "minilm-q8-wasm") for v in ("first", "second")),
        *(("node", e, "first") for e in ("tern", "minilm-q8-wasm")),
        ("cpython", "tern", "first"),
    }
    assert all(math.isfinite(c["ms"]) and c["ms"] > 0 for c in document["cold"])
    sizes = document["bytes"]
    assert {"model-int4.bin", "pyodide.asm.wasm", "kernels-int4.wasm", "shim"} <= set(sizes)
    for kind in ("raw", "gzip", "brotli"):
        assert sizes["total"][kind] == sum(
            size[kind] for name, size in sizes.items() if name != "total"
        )
    printed = capsys.readouterr().out
    for part in (
        "obvious-simd d 384 / tern d 384",
        "obvious-simd reaches",
        "obvious-simd, d 256, against the reference: least cosine",
        "| chromium, demo ",
        "The Python package: import ",
        "of the time is spent outside kernels.wasm",
        "a pool of two workers",
        "too few texts",
    ):
        assert part in printed
    if memory.PROC.exists():
        assert "The model's table lies in it 1 time." in printed


def test_a_straw_man_ends_the_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An obvious build that takes -1 for +1, through all but the tables."""
    straw = tmp_path / "obvious"
    shutil.copytree(obvious.SOURCES, straw)
    source = (straw / "forward.c").read_text("utf-8")
    assert "{0, 1, -1, 0}" in source
    (straw / "forward.c").write_text(source.replace("{0, 1, -1, 0}", "{0, 1, 1, 0}"), "utf-8")
    monkeypatch.setattr(obvious, "SOURCES", straw)
    wasm = obvious.module(tmp_path)
    monkeypatch.setattr(obvious, "module", lambda: wasm)
    plan = run.deal(run.QUICK)
    first = {size: items[0] for size, items in plan.rounds[0].items()}
    part = texts.Plan(plan.warmup[:4], plan.rounds[:1])
    outcome = hosts.node(hosts.work(part, {"tern": 1, "obvious": 1, "minilm": 1}, 1.0))
    with pytest.raises(judge.BenchError, match=r"obvious-simd, d 256, .* the reference"):
        judge.judge(outcome.proofs, run.standards(first, "minilm-q8-wasm"), 384)


def test_pages_tell_their_errors(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<script>throw new Error('no engine here')</script>")

    def visit() -> None:
        with site.served(tmp_path) as address, browser.started() as chrome:
            chrome.outcome(f"{address}page.html")

    with pytest.raises(judge.BenchError, match="no engine here"):
        in_a_thread(visit)


def test_copies_in_memory_are_counted() -> None:
    content = random.Random(5).randbytes(3000)
    keep = [bytearray(content) for _ in range(2)]
    assert memory.copies(os.getpid(), content) >= 3
    assert memory.copies(os.getpid(), random.Random(6).randbytes(3000)) <= 2
    assert len(keep) == 2


def test_mixed_texts_are_distinct_and_short() -> None:
    found = details.mixed(texts.sentences(), 10_000)
    assert len(set(found)) == 10_000
    with pytest.raises(ValueError, match="3 mixed texts, 4 are asked for"):
        details.mixed(["one two three"], 4)


def test_a_quick_run_leaves_no_results(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        run.main(["--quick", "--write-results"])
    assert stop.value.code == 2
    assert "not results" in capsys.readouterr().err


def soak(count: int) -> None:
    built_site()
    done = node("bench/soak.mjs", str(count))
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr


def test_memory_stays_flat_over_5000_embeds() -> None:
    soak(5000)


@pytest.mark.full
def test_memory_stays_flat_over_100000_embeds() -> None:
    soak(100_000)
