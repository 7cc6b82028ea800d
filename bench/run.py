"""`python3 build.py bench`: this engine and its peers, side by side, in one run.

Python deals out the texts, makes the peers, judges the vectors and writes the tables; hosts.py has
the engines measured, cold.py their starts, details.py the rest.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tern_engine.tokenizer import Tokenizer

from . import bert, cold, details, hosts, memory, models, peer, plots, report, results, site, texts
from .judge import BenchError, Standard, judge, judge_speed
from .texts import Item

ROOT = peer.ROOT
RESULTS = Path(__file__).with_name("RESULTS.md")
PLOTS = plots.FOLDER


@dataclass(frozen=True)
class Effort:
    """How much is run.

    per_round   token count → texts of a round
    rounds      host → rounds; each has its own texts
    warmup      texts before the measurement, for each engine: the peers keep no cache of texts, so
                only their code has to be warm
    gmac_ms     one stretch of the products of the obvious SIMD build
    mixed       short texts for the throughput
    starts      host or line → cold starts of each engine
    """

    per_round: Mapping[int, int]
    rounds: Mapping[str, int]
    warmup: Mapping[str, int]
    gmac_ms: float
    mixed: int
    starts: Mapping[str, int]


FULL = Effort(
    {8: 33, 12: 33, 16: 25, 32: 13, 64: 8, 128: 5},
    {"node": 11, "chromium": 5, "cpython": 7},
    {"tern": 1000, "obvious": 200, "minilm": 100},
    60,
    10_000,
    {"chromium": 5, "line": 2, "node": 7, "cpython": 7, "demo": 3},
)
QUICK = Effort(
    {8: 2, 12: 2, 16: 2, 32: 2, 64: 1, 128: 1},
    {"node": 2, "chromium": 1, "cpython": 1},
    {"tern": 40, "obvious": 4, "minilm": 4},
    30,
    200,
    {"chromium": 1, "line": 0, "node": 1, "cpython": 1, "demo": 1},
)


@dataclass
class Findings:
    """All that a run found."""

    rows: list[report.Row] = field(default_factory=list)
    verdicts: list[str] = field(default_factory=list)
    cold: dict[tuple[str, str, str, str], float] = field(default_factory=dict)
    sizes: dict[str, report.Size] = field(default_factory=dict)
    plain_total: report.Size | None = None
    python: dict[str, float] = field(default_factory=dict)
    details: details.Details | None = None
    weight: memory.Weight | None = None
    peak: float = 0


def deal(effort: Effort) -> texts.Plan:
    tokenizer = Tokenizer.from_file(ROOT / "assets" / "tokenizer.json")
    return texts.make_plan(
        texts.sentences(),
        tokenizer.tokenize,
        per_round=effort.per_round,
        rounds=max(effort.rounds.values()),
        warmup=max(effort.warmup.values()),
    )


def standards(first: Mapping[int, Item], peer_engine: str) -> dict[tuple[str, int], Standard]:
    """What each engine of a host must agree with. `first`: token count → the text of the proofs."""
    found = {}
    for dim, path in models.paths().items():

        def right(tokens: int, path: Path = path) -> bert.Array:
            return models.reference(path, first[tokens].ids)

        for engine in (report.OURS, report.OBVIOUS):
            found[engine, dim] = Standard(right, 0.9999, 2e-3, "the reference")
    shape, tensors = bert.load(peer.weights())

    def original(tokens: int) -> bert.Array:
        hidden = bert.last_hidden_state(shape, tensors, first[tokens].ids)
        return bert.sentence_vector(hidden)

    # A sound quantized copy has about 0.99 on these texts.
    found[peer_engine, shape.hidden_size] = Standard(original, 0.98, None, "its float original")
    return found


def race(effort: Effort, findings: Findings, address: str) -> None:
    """The rows, judged."""
    plan = deal(effort)
    first = {size: items[0] for size, items in plan.rounds[0].items()}
    native = standards(first, "minilm-q8-native")
    wasm = standards(first, "minilm-q8-wasm")
    samples = []
    for host in report.HOSTS:
        part = texts.Plan(plan.warmup, plan.rounds[: effort.rounds[host]])
        task = hosts.work(part, effort.warmup, effort.gmac_ms)
        _say(f"measuring in {host}")
        if host == "node":
            outcome = hosts.node(task)
            findings.verdicts.append(judge_speed(outcome.gmacs, quick=effort is QUICK))
            findings.peak = outcome.peak
        elif host == "chromium":
            outcome = hosts.chromium(task, address, site.folder())
        else:
            outcome = hosts.cpython(task)
        expected = native if host == "cpython" else wasm
        lines = judge(outcome.proofs, expected, output=384)
        findings.verdicts += [f"{host}: {line}" for line in lines]
        samples += outcome.samples
    findings.rows = report.rows(samples)
    _say("measuring throughput")
    findings.details = details.measure(plan, effort.mixed, address, site.folder())


def starts(effort: Effort, findings: Findings, address: str) -> None:
    """Cold starts, bytes on the wire and memory."""
    folder = site.folder()
    engines = [name for name in cold.PAGES if name != "tern, no snapshot" or _snapshot(folder)]
    _say("starting cold")
    found = cold.chromium(address, engines, effort.starts["chromium"], None)
    if effort.starts["line"]:
        found += cold.chromium(address, engines, effort.starts["line"], cold.SLOW_LINE)
    found += cold.node(effort.starts["node"])
    python, findings.python = cold.cpython(effort.starts["cpython"])
    found += python + cold.demo(address, effort.starts["demo"])
    findings.cold = cold.medians(found)
    findings.sizes = _sizes(cold.wire(address, folder, "tern"))
    if _snapshot(folder):
        plain = _sizes(cold.wire(address, folder, "tern, no snapshot"))
        findings.plain_total = plain["total"]
    if memory.PROC.exists():
        findings.weight = cold.idle_page(address, folder)


def _snapshot(folder: Path) -> bool:
    return "snapshot" in json.loads((folder / "manifest.json").read_text("utf-8"))["files"]


def _sizes(files: Mapping[str, Path]) -> dict[str, report.Size]:
    """Artifact → bytes raw and in each coding, as the site has them beside the file; the shim's
    scripts are one artifact."""
    grouped: dict[str, list[Path]] = {}
    for name, path in files.items():
        parts = path.name.split(".")
        hashed = name.startswith("files/")
        plain = ".".join(parts[:-2] + parts[-1:]) if hashed else path.name
        grouped.setdefault(plain if hashed or path.suffix == ".json" else "shim", []).append(path)
    found = {}
    for name, paths in grouped.items():
        each = [_as_served(path) for path in paths]
        found[name] = _sum(each)
    found["total"] = _sum(list(found.values()))
    return found


def _sum(sizes: Sequence[report.Size]) -> report.Size:
    raw, gzipped, brotli, zstd = map(sum, zip(*sizes, strict=True))
    return raw, gzipped, brotli, zstd


def _as_served(path: Path) -> report.Size:
    raw = path.stat().st_size
    beside = [path.with_name(path.name + ending) for ending in (".gz", ".br", ".zst")]
    gzipped, brotli, zstd = (file.stat().st_size if file.exists() else raw for file in beside)
    return raw, gzipped, brotli, zstd


def run(effort: Effort, *, cold_only: bool = False) -> Findings:
    """Everything, or the cold starts and the bytes alone. Raises BenchError when a contender is not
    what it claims to be."""
    findings = Findings()
    folder = site.folder()
    site.assemble(peer.model(), peer.weights() / "config.json", hosts.site_files(), folder)
    with site.served(folder) as address:
        if not cold_only:
            race(effort, findings, address)
        starts(effort, findings, address)
    return findings


def _say(what: str) -> None:
    print(f"{what} …", file=sys.stderr, flush=True)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="build.py bench", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    parser.add_argument("--quick", action="store_true", help="few texts: does it run at all?")
    parser.add_argument("--cold", action="store_true", help="cold starts and bytes alone")
    parser.add_argument("--write-results", action="store_true", help="write bench/RESULTS.md")
    options = parser.parse_args(arguments)
    if (options.quick or options.cold) and options.write_results:
        parser.error("the figures of a quick or a partial run are not results")
    if options.cold and options.json:
        parser.error("the figures as JSON are those of a whole run")
    try:
        findings = run(QUICK if options.quick else FULL, cold_only=options.cold)
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    text = results.starts(findings) if options.cold else results.text(findings)
    print(text)
    if options.quick:
        print("A quick run: too few texts for these figures to mean anything.")
    if options.json:
        document = report.document(findings.rows, findings.cold, findings.sizes)
        options.json.write_text(json.dumps(document, indent=1) + "\n", "utf-8")
    if options.write_results:
        RESULTS.write_text(text, "utf-8")
        plots.tokens(findings.rows, PLOTS / "tokens.png")
        if findings.details:
            plots.batches(findings.details.per_size(), PLOTS / "batches.png")
        print(f"written: {os.path.relpath(RESULTS)}")
    return 0
