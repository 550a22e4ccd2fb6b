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


def table_text(title: str, header: Sequence[str], rows: Sequence[Sequence[str]], notes: str = "") -> str:
    """A markdown table under its title and the machine."""
    header, *rows = [[cell.replace("|", r"\|") for cell in row] for row in (header, *rows)]
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
             for row in [header, ["-" * width for width in widths], *rows]]  # fmt: skip
    return "\n".join([f"# {title}", "", machine(), "", *lines, *(["", notes] if notes else [])]) + "\n"


def write_table(
    name: str,
    title: str,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    notes: str = "",
    whole: bool = True,
) -> None:
    """Print a markdown table; if it is whole, write it to results/<name>.md."""
    text = table_text(title, header, rows, notes)
    print(text)
    if whole:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"{name}.md").write_text(text)
