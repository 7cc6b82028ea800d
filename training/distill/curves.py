"""Curves of runs as PNG: agreement with the teacher against CPU minutes.

python -m training.distill.curves RUN [RUN …] --out FILE.png
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

from training.distill.checkpoint import run_folder

COLUMNS = ("held_out_spearman", "queries_spearman")


def read_log(name: str) -> list[dict[str, float]]:
    """Rows of a run's log.csv."""
    with (run_folder(name) / "log.csv").open(newline="") as lines:
        return [{k: float(v) for k, v in row.items()} for row in csv.DictReader(lines)]


def draw(names: list[str], out: Path) -> None:
    """One panel a measure, one line a run; a run that starts from another begins at zero."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(COLUMNS), figsize=(11, 4.5), squeeze=False)
    for column, panel in zip(COLUMNS, panels[0], strict=True):
        for name in names:
            rows = [row for row in read_log(name) if column in row]
            panel.plot(
                [row["cpu_minutes"] for row in rows], [row[column] for row in rows], label=name
            )
        panel.set_title(column.replace("_", " "))
        panel.set_xlabel("CPU minutes")
        panel.grid(alpha=0.3)
    panels[0][0].legend()
    figure.tight_layout()
    figure.savefig(out, dpi=110)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("runs", nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    draw(given.runs, given.out)


if __name__ == "__main__":
    main()
