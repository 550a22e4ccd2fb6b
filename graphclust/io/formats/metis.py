"""METIS graph files (Karypis, METIS manual 5.1, section 4.1): a header, then a line of neighbors for each node."""

from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from graphclust.compiled.runtime.blocks import run_in_blocks
from graphclust.compiled.text import number_lines
from graphclust.errors import GraphFormatError, GraphValidationError, amount, quote
from graphclust.io.edges import Edges, check_memory
from graphclust.io.text.byte_source import Source, line_boundaries
from graphclust.io.text.edge_lines import Reading
from graphclust.progress import Progress


@dataclass(frozen=True)
class Header:
    """What the first line of a METIS file says."""

    n_nodes: int
    n_edges: int
    n_leading: int  # numbers of a line before its first neighbor: the node's size and weights
    weighted: bool
    sized: bool = False  # whether the first of them is the size

    @property
    def n_weights(self) -> int:
        """The weights of each node."""
        return self.n_leading - self.sized


def read_metis(source: Source, reading: Reading, progress: Progress) -> Edges:
    """The edges of a METIS file of any fmt 000 to 111, and what its nodes weigh; their sizes are passed over.

    A blank line is a node without neighbors.
    """
    text, line = source.data_line()
    if not text:
        raise GraphFormatError("is empty, expected a METIS header: nodes, edges and perhaps fmt", source.path)
    header = _header_of(text, source, line, reading.memory_limit)
    constraint, keeps_weights = _constraint(header, reading.constraint, source.path, line), reading.weights != "ignore"
    node = n_entries = 0
    chunks, node_weights = [], []
    for block in source.line_blocks(progress):
        part, node = _read_lines(block, header, node, source.path, line)
        n_entries += len(part[0])
        if constraint is not None:
            n_leading, place = header.n_leading, header.sized + constraint
            lines = (text for text in bytes(block).split(b"\n") if not text.lstrip().startswith(b"%"))
            words_of = (text.split(None, n_leading) for text in lines)
            node_weights += [float(words[place]) for words in words_of if len(words) >= n_leading]
        if len(part[0]):
            chunks.append(part if keeps_weights else (*part[:2], None))
        line += bytes(block).count(b"\n")
    if node < header.n_nodes:
        problem = f"the header says {header.n_nodes} nodes, but only {node} lines follow"
        raise GraphFormatError(f"{problem}: is the file whole?", source.path, line)
    if n_entries != 2 * header.n_edges:
        problem = f"found {n_entries} neighbors, which make {n_entries / 2:g}"
        raise GraphFormatError(f"the header says {header.n_edges} edges, {problem}", source.path)
    of_nodes = None if constraint is None else np.array(node_weights[: header.n_nodes])
    unused = ["the size"] * header.sized + [f"all weights but number {constraint}"] * (header.n_weights > 1)
    repairs = [f"not used: {' and '.join(unused)} of each node"] if unused else []
    return Edges(source.path, header.n_nodes, chunks, symmetric="stored twice", repairs=repairs, node_weights=of_nodes)


def _header_of(text: bytes, source: Source, line: int, memory_limit: int | None) -> Header:
    """The header from the first line; refused where the file is too small for it, or memory is."""
    words = text.split()
    if not 2 <= len(words) <= 4 or not all(word.isdigit() and len(word) < 19 for word in words):
        wrong = f'Not a METIS file: the header is {quote(text)!r}, expected "nodes edges [fmt [ncon]]"'
        raise GraphFormatError(wrong, source.path, line)
    n_nodes, n_edges = int(words[0]), int(words[1])
    fmt = words[2].decode().zfill(3) if len(words) > 2 else "000"
    if len(fmt) != 3 or set(fmt) - {"0", "1"}:
        raise GraphFormatError(f"fmt is {quote(words[2])}, expected 000 to 111 in zeros and ones", source.path, line)
    n_weights = int(words[3]) if len(words) > 3 else 1
    if n_nodes == 0:
        raise GraphValidationError(f"{source.path}, line {line}: the graph has 0 nodes, expected at least 1 node")
    if n_nodes - 1 > source.most_bytes or 4 * n_edges - 1 > source.most_bytes:
        problem = f"the file has only {source.most_bytes} bytes"
        raise GraphFormatError(f"the header says {n_nodes} nodes and {n_edges} edges, but {problem}", source.path, line)
    check_memory(source.path, n_nodes, 2 * n_edges, fmt[2] == "1", source.most_bytes, memory_limit)
    return Header(n_nodes, n_edges, (fmt[0] == "1") + (n_weights if fmt[1] == "1" else 0), fmt[2] == "1", fmt[0] == "1")


def _constraint(header: Header, asked: int | None, path: str, line: int) -> int | None:
    """Which weight of each node is kept, None where there are none."""
    if asked is None and header.n_weights < 2:
        return 0 if header.n_weights else None
    if asked is None or asked >= header.n_weights:
        problem = f"each node has {amount(header.n_weights, 'weight')}"
        if asked is None:
            remedy = "expected one; pass constraint=0 for the first, and so on"
        else:
            remedy = f"and constraint={asked} names none of them" + "; leave it out" * (header.n_weights == 0)
        raise GraphValidationError(f"{path}, line {line}: {problem}, {remedy}")
    return asked


def _read_lines(block: memoryview, header: Header, node: int, path: str, line: int):
    """Both ends and the weight (or None) of each entry of a block, and the node of the next block's first line."""
    boundaries, text = line_boundaries(block), np.frombuffer(block.toreadonly(), np.uint8)
    n_lines, n_words = np.zeros((2, len(boundaries) - 1), np.int64)
    run_in_blocks(number_lines.count_words, boundaries, text, n_lines, n_words)
    nodes = node + np.concatenate([[0], np.cumsum(n_lines)])
    most_entries = (n_words + 1) // 2 if header.weighted else n_words  # the last may lack its weight
    entry_starts = np.concatenate([[0], np.cumsum(most_entries)])
    sources, targets = np.empty((2, entry_starts[-1]), np.int32)
    weights = np.empty(entry_starts[-1] if header.weighted else 0)
    n_entries = np.zeros(len(n_lines), np.int64)
    faults = np.zeros((len(n_lines), 2), np.int64)
    run_in_blocks(
        number_lines.parse_neighbors, boundaries, text,
        number_lines.NeighborLines(header.n_nodes, header.n_leading, header.weighted),
        (nodes, entry_starts), number_lines.ParsedEntries(sources, targets, weights, weights[:0]), (n_entries, faults),
    )  # fmt: skip
    if len(faulty := np.flatnonzero(faults[:, 0])):
        code, position = faults[faulty[0]].tolist()
        _explain(block, code, position, header, path, line)
    used = np.concatenate([np.arange(start, start + n) for start, n in zip(entry_starts, n_entries, strict=False)])
    part = (sources[used], targets[used], weights[used] if header.weighted else None)
    return part, min(int(nodes[-1]), header.n_nodes)


def _explain(block: memoryview, code: int, position: int, header: Header, path: str, line: int) -> NoReturn:
    """GraphFormatError that names the first line that the loop could not read, and why."""
    text_block = bytes(block)
    line += text_block.count(b"\n", 0, position) + 1
    text = quote(text_block[position : text_block.index(b"\n", position)].strip())
    expected = {
        number_lines.TOO_MANY: f"more lines than the {header.n_nodes} nodes of the header",
        number_lines.TOO_FEW: f"numbers are missing; expected {header.n_leading} and then neighbors"
        + (", each with a weight" if header.weighted else ""),
        number_lines.BAD_WEIGHT: "an edge weight is not a whole number above 0",
        number_lines.BAD_NODE: f"a neighbor is not in 1 to {header.n_nodes}, or is the node itself (a self-loop)",
    }
    raise GraphFormatError(f"{text!r}: {expected[code]}", path, line)
