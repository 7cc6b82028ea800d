"""The measuring loop and the soak run, with engines made for the test, and the count of copies."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

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


# Byte by byte: what makes many at once leaves a copy in memory that it frees.
HOLDER = """
import random, sys
held = [bytearray(3000) for _ in range(int(sys.argv[1]))]
for copy in held:
    made = random.Random(5)
    for at in range(len(copy)):
        copy[at] = made.getrandbits(8)
print("ready", flush=True)
sys.stdin.read()
"""


def content(seed: int) -> bytes:
    made = random.Random(seed)
    return bytes(made.getrandbits(8) for _ in range(3000))


@pytest.mark.parametrize("held", [1, 3])
def test_copies_in_memory_are_counted(held: int) -> None:
    """In another process: one that reads itself has what it reads in its memory, too."""
    command = [sys.executable, "-c", HOLDER, str(held)]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        assert memory.copies(process.pid, content(5)) == held
        assert memory.copies(process.pid, content(6)) == 0
        process.communicate()
