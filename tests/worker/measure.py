"""The figures of docs/worker.md that depend on the machine, as Markdown.

    .venv/bin/python -m tests.worker.measure            # after: python3 build.py test, or worker
    .venv/bin/python -m tests.worker.measure --starts 1

Starts workerd anew for each figure, with the model and the Python files as static assets (which is
how the Worker is built), as data modules, and from a snapshot, in turns, so that a busy spell of
the machine meets all of them. CPU is the least of the starts, memory what is held after one text.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.worker.client import embed, get
from tests.worker.servers import BUILT, ROOT, Server, workerd
from tests.worker.test_runtime import cpu_seconds, held_memory, observed_script

LARGEST = ["many words one after another " * 40] * 1024  # 128 tokens each: MAX_TOKENS in all


@dataclass(frozen=True)
class Variant:
    name: str
    script: Path
    assets: Path


@dataclass(frozen=True)
class Start:
    """What the first request took: seconds of CPU, and bytes afterwards."""

    worker_cpu: float
    process_cpu: float
    held: int
    resident: int


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--starts", type=int, default=7, help="of each variant (default: 7)")
    count = parser.parse_args(arguments).starts
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        variants = make_variants(folder)
        turns = [[start(variant, folder) for variant in variants] for _ in range(count)]
        print(
            "| first request | CPU of the Worker's thread | with V8's helpers | memory | process |"
        )
        print("|---|---|---|---|---|")
        for variant, starts in zip(variants, zip(*turns, strict=True), strict=True):
            print(row(variant.name, starts))
        print(f"\nThe largest request, 1,024 texts of 128 tokens: {largest(folder):.1f} s of CPU")


def make_variants(folder: Path) -> list[Variant]:
    """Each built script behind the tests' probe."""
    from tools.worker import assemble

    plain = Variant("static assets", probed(folder / "plain"), BUILT / "assets")
    data = Variant("data modules", probed(folder / "data"), folder)
    (data.script / "worker.js").rename(data.script / "endpoint.js")
    shutil.copy(Path(__file__).with_name("data-modules.js"), data.script / "worker.js")
    for name in ("model.bin", "python.zip"):
        shutil.copy(BUILT / "assets" / name, data.script)
    assemble(folder / "built", ROOT / "dist" / "web", snapshot=True)
    script = probed(folder / "snapshot", folder / "built" / "script")
    return [plain, data, Variant("snapshot", script, folder / "built" / "assets")]


def probed(folder: Path, built: Path = BUILT / "script") -> Path:
    folder.mkdir()
    return observed_script(folder, built)


def start(variant: Variant, folder: Path) -> Start:
    with workerd(
        folder, script=variant.script, assets=variant.assets, main="probe.js", inspect=True
    ) as server:
        get(server, "/health")
        worker_before, process_before = cpu(server)
        embed(server, ["a small boat"])
        worker, process = cpu(server)
        held = sum(held_memory(server).values())
        return Start(worker - worker_before, process - process_before, held, resident(server.pid))


def largest(folder: Path) -> float:
    with workerd(folder) as server:
        embed(server, ["a small boat"])
        before, _ = cpu(server)
        embed(server, LARGEST)
        return cpu(server)[0] - before


def cpu(server: Server) -> tuple[float, float]:
    """Seconds of the thread that runs the Worker, which is what is billed, and of the process."""
    return cpu_seconds(server.pid, server.pid), cpu_seconds(server.pid)


def resident(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS"))


def row(name: str, starts: tuple[Start, ...]) -> str:
    def least(field: str) -> float:
        return min(float(getattr(each, field)) for each in starts)

    cells = [f"{least(field):.2f} s" for field in ("worker_cpu", "process_cpu")]
    cells += [f"{least(field) / 1e6:.0f} MB" for field in ("held", "resident")]
    return f"| {' | '.join([name, *cells])} |"


if __name__ == "__main__":
    main(sys.argv[1:])
