"""Graphs of the DIMACS challenges: `p edge` with lines `e u v` (coloring), `p sp` with lines `a u v length` (paths)."""

import re
from contextlib import suppress
from typing import NoReturn

import numpy as np

from graphclust.errors import GraphFormatError, quote
from graphclust.io.columns import is_plain_number
from graphclust.io.edges import Edges, NegativeOrInfinite, check_memory
from graphclust.io.text.byte_source import Source
from graphclust.io.text.edge_lines import Reading
from graphclust.progress import Progress

START = re.compile(rb"(?:\xef\xbb\xbf)?(?:c\b[^\n]*\n|\s*\n)*p\s+(edge|col|sp)\s+(\d{1,18})\s+(\d{1,18})\s*(?:\n|$)")
_OTHER = re.compile(rb"^(?![ea][ \t])[^\n]*\n", re.MULTILINE)  # comments, nodes, their colors
_LETTER = re.compile(rb"^[ea][ \t]", re.MULTILINE)


def read_dimacs(source: Source, reading: Reading, progress: Progress) -> Edges:
    """The edges of a file; nodes are numbered from 0, where the file says 1. Lengths of arcs are read as weights."""
    start = START.match(source.head())
    if start is None:
        raise GraphFormatError("has no line `p edge`, `p col` or `p sp` with two numbers", source.path)
    n_nodes, n_edges, with_lengths = int(start[2]), int(start[3]), start[1] == b"sp"
    check_memory(source.path, n_nodes, n_edges, with_lengths, source.most_bytes, reading.memory_limit)
    width, line, n_found = 3 if with_lengths else 2, 0, 0
    chunks: list[tuple[np.ndarray, np.ndarray, np.ndarray | None]] = []
    unfit, weighted = NegativeOrInfinite(source.path, reading.policy), with_lengths and reading.weights != "ignore"
    for block in source.line_blocks(progress):
        text = bytes(block)
        rows = _LETTER.sub(b"", _OTHER.sub(b"", text))
        n_rows = rows.count(b"\n")
        values = np.empty(0)
        with suppress(ValueError):  # of a word that is no number
            if b"_" not in rows and (with_lengths or rows.translate(None, b" \t\r\n").isdigit()):
                values = np.array(rows.split(), np.float64)
        ends = values.reshape(-1, width)[:, :2] if len(values) == width * n_rows else None
        if ends is None or not ((ends >= 1) & (ends <= n_nodes) & (ends % 1 == 0)).all():
            _explain(text, line, width, n_nodes, source.path)
        u, v = (ends.T - 1).astype(np.int32)
        lengths = None
        if weighted:
            lengths = unfit.look_at(values[2::3].copy(), lambda entry: f"arc {n_found + entry + 1}")  # noqa: B023
        if len(u):
            chunks.append((u, v, lengths))
        n_found, line = n_found + n_rows, line + text.count(b"\n")
    unfit.complain()
    if n_found != n_edges and not (not with_lengths and n_found == 2 * n_edges):
        raise GraphFormatError(f"the header says {n_edges} edges, found {n_found}: is the file whole?", source.path)
    edges = Edges(source.path, n_nodes, chunks)
    if weighted and reading.weights is None:
        edges.repairs.append('the lengths of the arcs were read as weights; pass weights="ignore" if near is not alike')
    return edges


def _explain(text: bytes, line: int, width: int, n_nodes: int, path: str) -> NoReturn:
    """Raise the error of the first line that is not as it should be."""
    what = "two nodes" if width == 2 else "two nodes and a length"
    for number, row in enumerate(text.split(b"\n"), line + 1):
        if row[:2].strip() not in (b"e", b"a") or len(row) < 2:
            continue
        words = row.split()[1:]
        if len(words) != width or not all(word.isdigit() and 1 <= int(word[:40]) <= n_nodes for word in words[:2]):
            expected = f"{what}, expected nodes from 1 to {n_nodes}"
            raise GraphFormatError(f"{quote(row, 40)!r} does not hold {expected}", path, number)
        if not is_plain_number(words[-1].decode("utf-8", "replace")):
            raise GraphFormatError(f"{quote(row, 40)!r} does not hold {what}", path, number)
    raise GraphFormatError(f"its lines do not hold {what} each", path)
