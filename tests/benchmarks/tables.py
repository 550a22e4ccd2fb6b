"""Print a benchmark's table and keep it, with the machine it was measured on, under results/."""

import os
import pathlib
import platform
from collections.abc import Sequence

import numba
import numpy as np
import scipy

RESULTS = pathlib.Path(__file__).parent / "results"


def machine() -> str:
    """One line: processor, cores, versions."""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        processor = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        processor = platform.processor() or platform.machine()
    return (
        f"{processor}, {os.cpu_count()} cores, {numba.get_num_threads()} threads; Python {platform.python_version()}, "
        f"numpy {np.__version__}, scipy {scipy.__version__}, numba {numba.__version__}"
    )


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A markdown table, its columns padded."""
    header, *rows = [[cell.replace("|", r"\|") for cell in row] for row in (header, *rows)]
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    lines = [header, ["-" * max(width, 1) for width in widths], *rows]
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in lines
    )


def write_table(
    name: str,
    title: str,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    notes: str = "",
    whole: bool = True,
) -> None:
    """Print a markdown table; if it is whole, write it to results/<name>.md."""
    parts = [f"# {title}", machine(), aligned(header, rows), *([notes] if notes else [])]
    text = "\n\n".join(parts) + "\n"
    print(text)
    if whole:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"{name}.md").write_text(text)
