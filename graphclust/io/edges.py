"""What every reader gathers, edges in the order of the file, and the one way from there to a Graph.

One set of rules serves all formats, so that a graph is the same whatever file it came from. The peak of memory is
that of the edges (8 bytes each, 16 with weights) and of one more copy of their ends.
"""

import itertools
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np

from graphclust.compiled import edge_rows
from graphclust.compiled.blocks import entry_blocks, row_blocks
from graphclust.errors import GraphFormatError, GraphValidationError, ResourceLimitError
from graphclust.graph import Graph, graph_from_csr
from graphclust.io.source import BLOCK, HEAD
from graphclust.progress import Progress

_NONE = np.empty(0)
FLOOR_BYTES, BYTES_PER_FILE_BYTE = 1 << 28, 200  # what any file, and each byte of it, may ask for without being told


@dataclass
class Edges:
    """Edges as a file lists them.

    chunks : (sources, targets, weights or None) of consecutive edges: int32 (m,), int32 (m,), float64 (m,).
    nodes : names of the nodes, or None for 0..n_nodes-1.
    symmetric : what the file says of itself: "stored once" (each edge once), "stored twice" (both directions,
        equal weights), "full" (a matrix, symmetric or not), or "list" (lines without such a claim).
    gaps : nodes are the ids of the file, 0..n_nodes-1; those that no edge has are no nodes.
    remarks : what the reader assumed.  repairs : what it changed or joined, worth a warning.
    """

    path: str
    n_nodes: int
    chunks: list[tuple[np.ndarray, np.ndarray, np.ndarray | None]]
    nodes: Sequence[Hashable] | None = None
    symmetric: str = "list"
    gaps: bool = False
    remarks: list[str] = field(default_factory=list)
    repairs: list[str] = field(default_factory=list)
    details: dict = field(default_factory=dict)

    def name(self, node: int) -> Hashable:
        return node if self.nodes is None else self.nodes[node]


@dataclass(frozen=True)
class EdgeCounts:
    """What was found among the lines of a file: how many repeat an edge, have no counterpart, are loops ..."""

    entries: int
    duplicates: int
    one_way: int
    two_way: int
    unequal: int
    zeros: int
    loops: int


def graph_from_edges(edges: Edges, symmetrize: str | None, progress: Progress) -> tuple[Graph, EdgeCounts]:
    """Join the directions of each edge, sort the rows and check them; the chunks of `edges` are used up.

    Within one direction, repeated entries are added (without weights: counted once). Of an edge's two directions
    the larger weight stays, or with symmetrize="sum" their sum; with None an edge whose directions differ is an error.
    Zero weights are no edges. Self-loops stay.
    """
    weighted = any(weights is not None for _, _, weights in edges.chunks)
    if symmetrize == "sum" and not weighted:
        edges.chunks = [(u, v, np.ones(len(u))) for u, v, _ in edges.chunks]
        weighted = True
    n_entries = sum(len(u) for u, _, _ in edges.chunks)
    upper_starts, ends, weights, found, examples = _join(edges, n_entries, weighted, symmetrize == "sum", progress)
    n = edges.n_nodes
    counts = EdgeCounts(n_entries, *found.tolist())
    _apply_policies(edges, counts, examples, symmetrize)

    n_kept = int(upper_starts[n])
    rows = row_blocks(n, 1 << 20).tolist()
    indptr = np.zeros(n + 1, np.int64)
    for first, last in itertools.pairwise(rows):
        edge_rows.count_both_ends(first, last, upper_starts, ends, indptr[1:])
    np.cumsum(indptr, out=indptr)
    indices = np.empty(indptr[n], np.int32)
    full_weights = np.empty(indptr[n]) if weighted else _NONE
    cursor = indptr[:-1].copy()
    blocks = entry_blocks(upper_starts, 1 << 22).tolist()
    for first, last in itertools.pairwise(blocks):
        edge_rows.write_both_ends(first, last, upper_starts, ends, weights, cursor, indices, full_weights)
        progress.step(int(upper_starts[last]), n_kept)
    del ends, weights, cursor, upper_starts
    all_one = not weighted or _all_ones(full_weights)
    n_isolated = int(np.count_nonzero(indptr[1:] == indptr[:-1]))
    if n_isolated:
        edges.repairs.append(f"{n_isolated} isolated nodes are labelled -1 and left out of quality")
    remarks = (*edges.remarks, *edges.repairs)
    graph = graph_from_csr(indptr, indices, None if all_one else full_weights, nodes=edges.nodes, remarks=remarks)
    return graph, counts


def _count_ends(edges: Edges) -> tuple[np.ndarray, np.ndarray]:
    """Where the edges of each lower and of each higher end will start; where ids have gaps, nodes are renumbered."""
    low_starts, high_starts = np.zeros(edges.n_nodes + 1, np.int64), np.zeros(edges.n_nodes + 1, np.int64)
    for sources, targets, _ in edges.chunks:
        edge_rows.count_ends(sources, targets, low_starts[1:], high_starts[1:])
    if edges.gaps:
        present = (low_starts[1:] > 0) | (high_starts[1:] > 0)
        if not present.all():
            edges.nodes = np.flatnonzero(present)
            edges.n_nodes = len(edges.nodes)
            ranks = np.cumsum(present, dtype=np.int32) - np.int32(1)
            for ends in (ends for chunk in edges.chunks for ends in chunk[:2]):
                for start in range(0, len(ends), 1 << 20):
                    ends[start : start + (1 << 20)] = ranks[ends[start : start + (1 << 20)]]
            present = np.concatenate([[True], present])
            low_starts = low_starts[present]
            high_starts = high_starts[present]
    return np.cumsum(low_starts, out=low_starts), np.cumsum(high_starts, out=high_starts)


def _join(edges: Edges, n_entries: int, weighted: bool, add: bool, progress: Progress):
    """Both counting sorts and the joining; whatever is used up is let go."""
    low_starts, high_starts = _count_ends(edges)
    n = edges.n_nodes
    keys = np.empty(n_entries, np.uint32)
    key_weights = np.empty(n_entries) if weighted else _NONE
    cursor = high_starts[:-1].copy()
    edges.chunks.reverse()
    while edges.chunks:
        sources, targets, weights = edges.chunks.pop()
        weights = _NONE if weights is None else weights
        edge_rows.place_by_higher_end(sources, targets, weights, cursor, keys, key_weights)
        del sources, targets, weights
    sorted_keys = np.empty(n_entries, np.uint32)
    sorted_weights = np.empty(n_entries) if weighted else _NONE
    cursor = low_starts[:-1].copy()
    blocks = entry_blocks(high_starts, 1 << 22).tolist()
    for first, last in itertools.pairwise(blocks):
        edge_rows.place_by_lower_end(first, last, high_starts, keys, key_weights, cursor, sorted_keys, sorted_weights)
        progress.step(int(high_starts[last]), n_entries)
    del keys, key_weights, cursor, high_starts
    upper_starts = np.zeros(n + 1, np.int64)
    counts = np.zeros(edge_rows.N_COUNTS, np.int64)
    examples = np.zeros((edge_rows.N_COUNTS, 2), np.int64)
    blocks = entry_blocks(low_starts, 1 << 22).tolist()
    for first, last in itertools.pairwise(blocks):
        edge_rows.join_directions(
            first, last, low_starts, sorted_keys, sorted_weights, add, upper_starts, counts, examples
        )
    return upper_starts, sorted_keys, sorted_weights, counts, examples


def _apply_policies(edges: Edges, counts: EdgeCounts, examples: np.ndarray, symmetrize: str | None) -> None:
    def pair(kind: int) -> str:
        low, high = examples[kind].tolist()
        return f"({edges.name(low)}, {edges.name(high)})"

    if edges.symmetric == "stored once" and counts.two_way:
        raise GraphFormatError(
            f"is symmetric but holds both triangles of {counts.two_way} entries, the first {pair(edge_rows.TWO_WAY)}; "
            "expected each edge once, in one triangle",
            edges.path,
        )
    if edges.symmetric == "stored twice" and counts.one_way + counts.unequal:
        kind = edge_rows.ONE_WAY if counts.one_way else edge_rows.UNEQUAL
        raise GraphFormatError(
            f"{counts.one_way + counts.unequal} edges lack an equal counterpart from their other end, the first "
            f"{pair(kind)}; expected both directions with one weight",
            edges.path,
        )
    one_way_list = edges.symmetric == "list" and not counts.two_way
    if one_way_list and counts.one_way:
        edges.remarks.append("each edge is listed in one direction and was read as undirected")
    elif edges.symmetric != "stored once" and counts.one_way + counts.unequal:
        if symmetrize is None:
            kind = edge_rows.UNEQUAL if counts.unequal else edge_rows.ONE_WAY
            raise GraphValidationError(
                f"{edges.path}: not symmetric: {counts.one_way} edges have one direction and {counts.unequal} two "
                f'unequal ones, the first {pair(kind)}; expected an undirected graph, or pass symmetrize="max" or "sum"'
            )
        rule = "the larger of its two weights" if symmetrize == "max" else "the sum of its two weights"
        edges.repairs.append(
            f"the graph was directed ({counts.one_way} edges have one direction, {counts.unequal} two unequal ones, "
            f"{counts.two_way - counts.unequal} two equal ones); each edge has {rule}"
        )
    if counts.duplicates:
        edges.repairs.append(f"{counts.duplicates} repeated entries, the first {pair(edge_rows.DUPLICATE)}, were "
                             f"{'added up' if edges.details.get('weighted') else 'counted once'}")  # fmt: skip
    if counts.zeros:
        edges.repairs.append(f"{counts.zeros} entries of weight 0 are no edges")


def check_memory(path: str, n_nodes: int, n_entries: int, weighted: bool, file_bytes: int, limit: int | None) -> None:
    """Refuse a file whose own header asks for more memory than is there, or than a file of its size can need."""
    needed = bytes_to_load(n_nodes, n_entries, 2 * n_entries, weighted)
    allowed = max(FLOOR_BYTES, BYTES_PER_FILE_BYTE * file_bytes) if limit is None else limit
    available = min(allowed, _available_bytes()) if limit is None else limit
    if needed > available or n_nodes >= 2**31:
        raise ResourceLimitError(
            f"{path}: {n_nodes} nodes and {n_entries} entries need about {needed} bytes "
            f"({needed >> 20} MiB), but memory_limit is {available >> 20} MiB for {file_bytes} bytes of file; "
            "pass a larger memory_limit if the file is right (at most 2^31 - 1 nodes)"
        )


def bytes_to_load(
    n_nodes: int, n_lines: int, n_entries: int, weighted: bool, n_bytes: int = 0, copied: bool = False
) -> int:
    """Most bytes at a time while `n_lines` edges in a text of `n_bytes` become a graph of `n_entries` entries.

    copied : whether a reader hands each block of text on, as that of Matrix Market does.
    """
    weight = 8 if weighted else 0
    block = min(n_bytes, BLOCK)
    lines_of_block = n_lines * block // max(n_bytes, 1)
    reading = (8 + weight) * n_lines + (2 * block + 8 * lines_of_block if copied else block + weight * lines_of_block)
    first_sort = (12 + 2 * weight) * n_lines + 32 * n_nodes
    second_sort = (8 + 2 * weight) * n_lines + 32 * n_nodes
    writing = (4 + weight) * (n_lines + n_entries) + 32 * n_nodes
    return max(reading, first_sort, second_sort, writing) + HEAD


def _available_bytes() -> int:
    import os

    available = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 2**63
    try:
        import resource

        soft = resource.getrlimit(resource.RLIMIT_AS)[0]
    except ImportError:
        return available
    return available if soft == resource.RLIM_INFINITY else min(available, soft)


def _all_ones(data: np.ndarray) -> bool:
    return all((data[start : start + (1 << 20)] == 1).all() for start in range(0, len(data), 1 << 20))
