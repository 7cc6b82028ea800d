"""The measuring loop and the soak run, with engines made for the test, and the count of copies."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
from pathlib import Path

import pytest

from bench import memory
from tests.bench.shared import ROOT, built_site


def node(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["node", "--expose-gc", "--max-semi-space-size=1", *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_engines_take_turns_on_the_same_texts() -> None:
    done = node("tests/bench/turns.mjs")
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


def test_copies_in_memory_are_counted() -> None:
    content = random.Random(5).randbytes(3000)
    keep = [bytearray(content) for _ in range(2)]
    assert memory.copies(os.getpid(), content) >= 3
    assert memory.copies(os.getpid(), random.Random(6).randbytes(3000)) <= 2
    assert len(keep) == 2
