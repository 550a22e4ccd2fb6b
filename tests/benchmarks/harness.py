"""What all benchmarks share: arguments, rows that are kept, and tables under results/ with machine and day."""

import argparse
import datetime
import json
import os
import pathlib
import platform
import warnings
from collections.abc import Sequence
from typing import Any

import numba
import numpy as np
import scipy

RESULTS = pathlib.Path(__file__).parent / "results"


def asked(doc: str, words: dict[str, dict[str, Any]] | None = None, **options: Any) -> argparse.Namespace:
    """What the command line says to a script whose docstring is its help; warnings are not shown from here on.

    words : positional arguments, as argparse describes them. options : --name for each, by its default: a switch where
    it is False, several words where it is a list, else one of its type; a dict is as argparse describes it.
    """
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, how in (words or {}).items():
        parser.add_argument(name, **how)
    for name, default in options.items():
        if isinstance(default, dict):
            how = default
        elif default is False:
            how = {"action": "store_true"}
        elif isinstance(default, list):
            how = {"nargs": "+", "default": default, "type": type(default[0]) if default else str}
        else:
            how = {"default": default, "type": type(default)}
        parser.add_argument(f"--{name.replace('_', '-')}", **how)
    warnings.filterwarnings("ignore")
    return parser.parse_args()


def is_wanted(name: str, only: Sequence[str]) -> bool:
    """Whether the name holds one of the words of --only; without words each is wanted."""
    return not only or any(word in name for word in only)


def shown(cells: list[str]) -> list[str]:
    """The cells of a row, printed."""
    print(*cells, sep=" | ", flush=True)
    return cells


def read_lines(path: pathlib.Path) -> list[Any]:
    """What `add_line` has kept, one JSON value a line; none where there is no such file yet."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def add_line(path: pathlib.Path, *values: Any) -> None:
    with path.open("a") as file:
        file.write("".join(json.dumps(value) + "\n" for value in values))


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
    name: str, title: str, header: Sequence[str], rows: Sequence[Sequence[str]], notes: str = "", whole: bool = True
) -> None:
    """Print a markdown table; if it is whole, write it to results/<name>.md."""
    made = f"{machine()}; {datetime.date.today()}"
    parts = [f"# {title}", made, aligned(header, rows), *([notes] if notes else [])]
    text = "\n\n".join(parts) + "\n"
    print(text)
    if whole:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"{name}.md").write_text(text)
