"""The pictures of RESULTS.md: time against tokens, and time against batch size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .report import Row

FOLDER = Path(__file__).with_name("plots")
DPI = 110


def tokens(measured: Sequence[Row], path: Path, host: str = "node") -> None:
    """Milliseconds a text against its tokens, both logarithmic; a line an engine and width."""
    figure, axes = plt.subplots(figsize=(7, 4.5))
    curves: dict[tuple[str, int], list[tuple[int, float]]] = {}
    for row in measured:
        if row.host == host:
            curves.setdefault((row.engine, row.dim), []).append((row.tokens, row.ms))
    for (engine, dim), points in curves.items():
        axes.loglog(*zip(*points, strict=True), marker="o", label=f"{engine}, d {dim}")
    sizes = sorted({row.tokens for row in measured})
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.minorticks_off()
    axes.set(xlabel="tokens of the text", ylabel="ms a text", title=f"One text, one thread, {host}")
    _save(figure, axes, path)


def batches(ms: Mapping[int, float], path: Path) -> None:
    """Milliseconds a text against the size of the batch."""
    figure, axes = plt.subplots(figsize=(7, 4.5))
    axes.semilogx(list(ms), list(ms.values()), marker="o", base=2, label="tern, 12 tokens")
    axes.set_xticks(list(ms), [str(size) for size in ms])
    axes.set_ylim(bottom=0)
    axes.set(xlabel="texts in a batch", ylabel="ms a text", title="embedBatch, one thread, node")
    _save(figure, axes, path)


def _save(figure: Figure, axes: Axes, path: Path) -> None:
    axes.grid(visible=True, alpha=0.3)
    axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=DPI, bbox_inches="tight", metadata={"Software": None})
    plt.close(figure)
