"""RESULTS.md: what a run found, in tables, and what explains it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import models, report
from .details import THREAD, Ways

if TYPE_CHECKING:
    from .run import Findings

MB = 1e6


def text(found: Findings) -> str:
    """The whole page, in Markdown."""
    parts = [
        "# Results",
        "Written by `python3 build.py bench --write-results`; README.md in this folder says what "
        "is measured.",
        report.machine(),
        "## One text",
        "Process-CPU milliseconds a text in Node and on CPython, wall milliseconds in Chromium: "
        "one thread, median of the rounds. tern starts from text; obvious-simd and, outside "
        "Chromium, minilm get token ids.",
    ]
    for host in report.HOSTS:
        parts += [f"### {host}", report.host_table(found.rows, host)]
        if host == "node":
            least = report.host_table(found.rows, host, least=True)
            parts += ["The least of the rounds, which a busy machine disturbs less:", least]
    parts += [_python_against_node(found), "![ms against tokens](plots/tokens.png)"]
    parts += ["## Arithmetic", _arithmetic(found)]
    parts += ["## Throughput", _throughput(found), "![ms against batch size](plots/batches.png)"]
    parts.append(starts(found))
    parts += ["## Are they what they claim to be?", "\n".join(f"- {v}" for v in found.verdicts)]
    return "\n\n".join(parts) + "\n"


def starts(found: Findings) -> str:
    """Its part about cold starts."""
    parts = ["## Cold starts", _cold(found), "## Bytes to the first embedding", _bytes(found)]
    return "\n\n".join(parts)


def _python_against_node(found: Findings) -> str:
    ms = {(r.host, r.tokens): r.ms for r in found.rows if (r.engine, r.dim) == (report.OURS, 256)}
    ratios = [f"{ms['cpython', t] / ms['node', t]:.2f}× at {t}" for h, t in ms if h == "node"]
    return f"tern, d 256, CPython against Node: {', '.join(ratios)} tokens."


def _arithmetic(found: Findings) -> str:
    """Multiply-adds a second that the time of a whole text comes to."""
    lines = []
    for dim, path in models.paths().items():
        header = models.header(path)
        for row in found.rows:
            if (row.host, row.engine, row.dim) == ("node", report.OURS, dim):
                adds = models.multiply_adds(header, row.tokens)
                rate = adds / row.ms / 1e6
                share = f"{100 * rate / found.peak:.0f} %"
                lines.append([f"{dim}", f"{row.tokens}", f"{adds / 1e6:.1f}", f"{rate:.0f}", share])
    header_cells = ["d", "tokens", "10⁶ multiply-adds", "GMAC/s", "of the SIMD peak"]
    return (
        f"The SIMD peak of this machine, as WebAssembly reaches it, is {found.peak:.0f} GMAC/s: "
        "`i32x4.dot_i16x8` on registers alone (obvious/peak.c). The engine's figures are those of "
        "whole texts, tokenizer and Python included: the multiply-adds that the ternary products "
        "and attention of so many tokens take, divided by the time. They can exceed the peak, "
        "because two ternary weights share a 16-bit lane, from 7 rows on tables replace products, "
        "and equal tokens of a text are computed once: of 128 tokens of these texts, some 91 "
        "(ARCHITECTURE.md). A table serves 8 or 16 rows whether they are used or not, which is why "
        "12 tokens cost nearly what 16 do; at 128 tokens a thirteenth of the multiply-adds is "
        "attention's, in floats (at d 256), which are slower.\n\n"
        + report.table(header_cells, lines)
    )


def _throughput(found: Findings) -> str:
    details = found.details
    if details is None:
        return ""
    rows = [
        [host, way, f"{both.single:.3f} ms", f"{both.batch:.3f} ms", f"{_gain(both):.2f}×"]
        for (host, way), both in details.ways.items()
    ]
    cells = ["host", "in", "one call a text", "one call for 500", "throughput"]
    alone = details.ways["node", THREAD].single
    return (
        "Mixed short texts, no two alike, milliseconds a text. In the calling thread a batch fills "
        "the lanes of the tables (ARCHITECTURE.md says why that is all); through a worker it saves "
        "a message there and one back for each text, too.\n\n"
        + report.table(cells, rows)
        + f"\n\nIn Node a pool of two workers takes {details.pool:.3f} ms a text, "
        f"{alone / details.pool:.2f}× the throughput of one call a text in the calling thread.\n\n"
        f"Of a single call at 12 tokens, new sentences after 1,000 others, "
        f"{100 * details.outside:.1f} % of the time is spent outside kernels.wasm."
    )


def _gain(both: Ways) -> float:
    return both.single / both.batch


def _cold(found: Findings) -> str:
    parts = [
        "From navigation to the first vector in Chromium, wall time; the first visit has an empty "
        "profile. From the start of the process in Node; on CPython without the interpreter's own "
        "start. `demo` is the results of a query typed at once.",
        report.cold_table(found.cold),
    ]
    ours, theirs = (
        found.cold.get(("chromium", engine, "first", ""))
        for engine in (report.OURS, "minilm-q8-wasm")
    )
    if ours and theirs:
        parts.append(
            f"transformers.js takes {theirs / ours:.1f} times as long, first visit, local."
        )
    marks = found.python
    if marks:
        parts.append(
            f"The Python package: import {marks['import_ms']:.0f} ms, load "
            f"{marks['load_ms']:.0f} ms, first vector {marks['embed_ms']:.1f} ms."
        )
    if found.weight:
        weight = found.weight
        parts.append(
            f"A page with the engine, idle: {weight.private / MB:.0f} MB of its own in its "
            f"process, {(weight.private - weight.empty) / MB:.0f} MB more than an empty page. The "
            f"model's table lies in it {weight.copies} time{'s' if weight.copies != 1 else ''}. "
            "With the engine in workers, more than an empty page: "
            + ", ".join(
                f"{(private - weight.empty) / MB:.0f} MB with {count}"
                for count, private in weight.workers.items()
            )
            + "."
        )
    return "\n\n".join(parts)


def _bytes(found: Findings) -> str:
    parts = [report.bytes_table(found.sizes)]
    if found.plain_total:
        sizes = " / ".join(f"{n / MB:.2f}" for n in found.plain_total)
        parts.append(f"Without the snapshot: {sizes} MB (raw / gzip / brotli / zstd).")
    return "\n\n".join(parts)
