"""What every reader gathers, edges in the order of the file, and the one way from there to a Graph.

One set of rules serves all formats, so that a graph is the same whatever file it came from. Edges are sorted by
counting, by the loops of `compiled.text.edges_to_csr`, in two slices: the halves of the edges in their present order.
Two threads work on both at once, one thread on one after the other, with the same result. The peak of memory is that of
the edges (8 bytes each, 16 with weights) and of one more copy of their ends. Weights that no graph has are refused.
"""

import itertools
import secrets
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from graphclust.compiled.graphs.objective import Rows
from graphclust.compiled.runtime.blocks import n_threads, row_blocks, run_in_blocks
from graphclust.compiled.text import edges_to_csr
from graphclust.errors import (
    GraphFormatError,
    GraphValidationError,
    ResourceLimitError,
    amount,
    caller_takes,
    in_mebibytes,
)
from graphclust.graph.container import Graph
from graphclust.graph.matrices import all_ones, graph_of_checked_rows, remark_on_isolated, warn_of
from graphclust.io.container_limits import available_bytes
from graphclust.io.text.byte_source import BLOCK, HEAD, PIECE
from graphclust.progress import Progress

DUPLICATES = ("sum", "max", "error")  # what becomes of entries that repeat an edge
FLOOR_BYTES, BYTES_PER_FILE_BYTE = 1 << 28, 200  # what any file, and each byte of it, may ask for without being told
SLICES = 2  # each takes 8 bytes a node
STEP = 1 << 21  # edges of a slice between two looks at the clock
COUNT_HIGHER, PLACE_HIGHER, COUNT_LOWER, PLACE_LOWER, JOIN, WRITE, N_PHASES = range(7)

NO_WEIGHTS = np.empty(0)  # that loops may write to

Chunks = list[tuple[np.ndarray, np.ndarray, np.ndarray]]


@dataclass
class Edges:
    """Edges as a file lists them.

    chunks : (sources, targets, weights or None) of consecutive edges: int32 (m,), int32 (m,), float64 (m,).
    nodes : names of the nodes, or None for 0..n_nodes-1.
    symmetric : what the file says of itself: "stored once" (each edge once), "stored twice" (both directions,
        equal weights), "full" (a matrix, symmetric or not), or "list" (lines without such a claim).
    gaps : nodes are the ids of the file, 0..n_nodes-1; those that no edge has are no nodes.
    node_weights : float64 (n_nodes,), of a file that weighs its nodes.
    n_sources : where sources and targets are two kinds of nodes, how many of the first kind there are; else None.
    columns : what the names of either kind begin with, where they are told apart by that.
    weighted : whether the chunks had weights.  is_table : whether a person would call the file a table.
    remarks : what the reader assumed.  repairs : what it changed or joined, worth a warning.
    """

    path: str
    n_nodes: int
    chunks: list[tuple[np.ndarray, np.ndarray, np.ndarray | None]]
    nodes: Sequence[Hashable] | np.ndarray | None = None
    symmetric: str = "list"
    gaps: bool = False
    remarks: list[str] = field(default_factory=list)
    repairs: list[str] = field(default_factory=list)
    details: dict = field(default_factory=dict)
    node_weights: np.ndarray | None = None
    n_sources: int | None = None
    columns: tuple[str, str] | None = None
    weighted: bool = False
    is_table: bool = False

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


def graph_from_edges(
    edges: Edges, symmetrize: str | None, progress: Progress, duplicates: str = "sum"
) -> tuple[Graph, EdgeCounts]:
    """Join the directions of each edge, sort the rows and check them; the chunks of `edges` are used up.

    The rules are those of `load_graph`: first entries that repeat one direction are joined, then the two directions.
    """
    if edges.symmetric == "stored twice":  # no direction is there to be added
        symmetrize = "max"
    edges.weighted = any(weights is not None for _, _, weights in edges.chunks)
    weighted = edges.weighted or symmetrize == "sum"
    chunks = [(u, v, NO_WEIGHTS if not weighted else np.ones(len(u)) if w is None else w) for u, v, w in edges.chunks]
    edges.chunks = []
    if duplicates == "max" and weighted:
        chunks = _keep_largest(edges, chunks)
    starts, keys, key_weights, ids = by_higher_end(chunks, edges.n_nodes, weighted, edges.gaps, progress)
    del chunks
    if ids is not None:
        edges.nodes, edges.n_nodes = ids, len(ids)
    starts, keys, key_weights = by_lower_end(starts, keys, key_weights, progress)

    n = edges.n_nodes
    cursor = np.zeros((SLICES + 1, n), np.int64)  # of the lower neighbors from each slice, and of the upper ones
    seen = np.zeros((SLICES, edges_to_csr.N_COUNTS), np.int64)
    examples = np.zeros((SLICES, edges_to_csr.N_COUNTS, 2), np.int64)
    steps = row_steps(starts)
    by_lower = edges_to_csr.EdgesByLowerEnd(starts, keys, key_weights)
    common = (by_lower, symmetrize == "sum", cursor[SLICES])
    in_slices(edges_to_csr.join_directions, steps, common, (cursor, seen, examples), progress, JOIN)
    counts = EdgeCounts(len(keys), *seen.sum(axis=0).tolist())
    first_slice = (seen > 0).argmax(axis=0)
    apply_policies(edges, counts, examples[first_slice, np.arange(edges_to_csr.N_COUNTS)], symmetrize, duplicates)

    indptr = starts_of(cursor)
    indices = np.empty(indptr[n], np.int32)
    weights = np.empty(indptr[n]) if weighted else NO_WEIGHTS
    outputs = (by_lower, cursor[SLICES], Rows(indptr, indices, weights))
    in_slices(edges_to_csr.write_both_ends, steps, outputs, (cursor,), progress, WRITE)
    del starts, keys, key_weights, by_lower, cursor, common, outputs
    all_one = not weighted or all_ones(weights)
    if n_isolated := int(np.count_nonzero(indptr[1:] == indptr[:-1])):
        edges.repairs.append(remark_on_isolated(n_isolated))
    if all_one and edges.weighted:
        edges.remarks.append("all weights are 1, so the graph counts as unweighted")
    remarks = (*edges.remarks, *edges.repairs)
    try:
        graph = graph_of_checked_rows(indptr, indices, None if all_one else weights, edges.nodes, remarks)
    except GraphValidationError as problem:
        raise GraphValidationError(f"{edges.path}: {problem}") from None
    return (graph if edges.node_weights is None else replace(graph, node_weights=edges.node_weights)), counts


def joined(edges: Edges, symmetrize: str | None, duplicates: str = "sum") -> Graph:
    """The same graph for who has no file, with one warning of what was repaired."""
    graph, _ = graph_from_edges(edges, symmetrize, Progress(), duplicates)
    warn_of(graph, edges.repairs)
    return graph


def _keep_largest(edges: Edges, chunks: list) -> list:
    """One chunk with the largest of the entries that repeat an edge in one direction."""
    sources, targets, weights = (np.concatenate([part[column] for part in chunks]) for column in range(3))
    order = np.lexsort((weights, targets, sources))
    last = np.append(np.diff(sources[order]) | np.diff(targets[order]), 1).astype(bool)
    if n_repeats := int(np.count_nonzero(~last)):
        repeated = amount(n_repeats, "repeated entry", "repeated entries")
        edges.repairs.append(f"of {repeated} the largest weight was kept")
    kept = np.sort(order[last])
    return [(sources[kept], targets[kept], weights[kept])]


def keep_kinds_apart(path: str, chunks: list, names: list[list], columns: tuple[str, str]) -> Edges:
    """The edges of two kinds of nodes, those of the sources first; a name on both sides gets that of its column."""
    n_sources = len(names[0])
    for _, targets, _ in chunks:
        targets += n_sources
    if are_told_apart := not set(names[0]).isdisjoint(names[1]):
        names = [[f"{column}:{name}" for name in side] for column, side in zip(columns, names, strict=True)]
    nodes = names[0] + names[1]
    places = f"{columns[0]!r} are 0 to {n_sources - 1}, those of {columns[1]!r} {n_sources} to {len(nodes) - 1}"
    remarks, told = [f"bipartite: the nodes of {places}"], columns if are_told_apart else None
    return Edges(path, len(nodes), chunks, nodes=nodes, remarks=remarks, n_sources=n_sources, columns=told)


def apply_policies(
    edges: Edges, counts: EdgeCounts, examples: np.ndarray, symmetrize: str | None, duplicates: str = "sum"
) -> None:
    """Refuse what the file must not hold, and say what is made of the rest, by what was found among its edges."""

    def pair(kind: int) -> str:
        low, high = examples[kind].tolist()
        return f"({edges.name(low)}, {edges.name(high)})"

    repeated = f"{amount(counts.duplicates, 'repeated entry', 'repeated entries')}, the first "
    if duplicates == "error" and counts.duplicates:
        expected = 'expected each edge once; duplicates="sum" adds their weights, "max" keeps the largest'
        raise GraphValidationError(f"{edges.path}: {repeated}{pair(edges_to_csr.DUPLICATE)}, {expected}")
    if edges.symmetric == "stored once" and counts.two_way:
        problem = f"{amount(counts.two_way, 'entry', 'entries')}, the first {pair(edges_to_csr.TWO_WAY)}"
        expected = "expected each edge once, in one triangle"
        raise GraphFormatError(f"is symmetric but holds both triangles of {problem}; {expected}", edges.path)
    if edges.symmetric == "stored twice" and counts.one_way + counts.unequal:
        kind = edges_to_csr.ONE_WAY if counts.one_way else edges_to_csr.UNEQUAL
        problem = f"{amount(counts.one_way + counts.unequal, 'edge lacks', 'edges lack')} an equal counterpart"
        where = f"from the other end, the first {pair(kind)}"
        raise GraphFormatError(f"{problem} {where}; expected both directions with one weight", edges.path)
    one_way = f"{amount(counts.one_way, 'edge has', 'edges have')} one direction"
    if edges.symmetric == "list" and not counts.two_way and counts.one_way:
        edges.remarks.append("each edge is listed in one direction and was read as undirected")
    elif edges.symmetric != "stored once" and counts.one_way + counts.unequal:
        if symmetrize is None:
            kind = edges_to_csr.UNEQUAL if counts.unequal else edges_to_csr.ONE_WAY
            problem = f"{one_way} and {counts.unequal} two unequal ones, the first {pair(kind)}"
            remedy = 'expected an undirected graph, or pass symmetrize="max" or "sum"'
            raise GraphValidationError(f"{edges.path}: not symmetric: {problem}; {remedy}")
        two_way = f"{counts.unequal} two unequal ones, {counts.two_way - counts.unequal} two equal ones"
        rule = "the larger of its two weights" if symmetrize == "max" else "the sum of its two weights"
        edges.repairs.append(f"the graph was directed ({one_way}, {two_way}); each edge has {rule}")
    if counts.duplicates:
        are_added = edges.weighted or symmetrize == "sum"
        what_became = "added up" if are_added else 'counted once (symmetrize="sum" adds them up)'
        was = "was" if counts.duplicates == 1 else "were"
        edges.repairs.append(f"{repeated}{pair(edges_to_csr.DUPLICATE)}, {was} {what_became}")
    if counts.zeros:
        said = amount(counts.zeros, "entry of weight 0 is not an edge", "entries of weight 0 are not edges")
        edges.repairs.append(said)


def check_memory(path: str, n_nodes: int, n_entries: int, weighted: bool, file_bytes: int, limit: int | None) -> None:
    """Refuse a file whose own header asks for more memory than is there, or than a file of its size can need."""
    needed = bytes_to_load(n_nodes, n_entries, 2 * n_entries, weighted)
    available = allowed_bytes(file_bytes, limit)
    if needed > available or n_nodes >= 2**31:
        problem = f"{n_nodes} nodes and {n_entries} entries need about {needed} bytes ({in_mebibytes(needed)})"
        allowed = f"memory_limit is {in_mebibytes(available)} for {file_bytes} bytes of file"
        remedy = "pass a larger memory_limit if the file is right (at most 2^31 - 1 nodes)"
        raise ResourceLimitError(f"{path}: {problem}, but {allowed}; {remedy}")


def allowed_bytes(file_bytes: int, limit: int | None) -> int:
    """What a file of this size may ask for: the limit; without one 200 bytes for each of its own, at least 256 MiB."""
    if limit is not None:
        return limit
    return min(max(FLOOR_BYTES, BYTES_PER_FILE_BYTE * file_bytes), available_bytes())


def bytes_to_load(n_nodes: int, n_lines: int, n_entries: int, weighted: bool, n_bytes: int = 0) -> int:
    """Most bytes at a time while `n_lines` edges in a text of `n_bytes` become a graph of `n_entries` entries."""
    weight = 8 if weighted else 0
    text = min(n_bytes, BLOCK)
    pieces_at_once = min(n_threads(), -(-text // PIECE))  # each with room for lines of four bytes
    reading = (8 + weight) * n_lines + text + pieces_at_once * (8 + 2 * weight) * PIECE // 4
    first_sort = (12 + 2 * weight) * n_lines + 25 * n_nodes
    second_sort = (8 + 2 * weight) * n_lines + 32 * n_nodes
    writing = (4 + weight) * (n_lines + n_entries) + 40 * n_nodes
    return max(reading, first_sort, second_sort, writing) + HEAD


def in_slices(loop, steps: list, common: tuple, own: tuple, progress: Progress, phase: int) -> None:
    """Call loop(*piece, *common, *own[:, s]) for the pieces of each slice s, the slices at the same time."""

    def work(s: int, _last: int, _slice: int, step: tuple) -> None:
        for piece in step[s]:
            loop(*piece, *common, *(array[s] for array in own))

    for i, step in enumerate(steps):
        run_in_blocks(work, np.arange(SLICES + 1), step)
        progress.step(phase * len(steps) + i + 1, N_PHASES * len(steps))


def chunk_steps(chunks: Chunks, n_entries: int) -> list:
    """Chunks of edges in steps, the pieces of each slice of a step; the chunk in the middle is cut in two."""
    slices: list[list] = [[[]] for _ in range(SLICES)]
    n_done = n_in_step = 0
    for chunk in chunks:
        while len(chunk[0]):
            s = min(n_done * SLICES // n_entries, SLICES - 1)
            n_here = min(len(chunk[0]), -(-(s + 1) * n_entries // SLICES) - n_done)
            n_in_step = n_in_step + n_here if slices[s][-1] else n_here
            slices[s][-1].append(tuple(part[:n_here] for part in chunk))
            if n_in_step >= STEP:
                slices[s].append([])
            chunk = tuple(part[n_here:] for part in chunk)  # type: ignore[assignment]
            n_done += n_here
    return list(itertools.zip_longest(*slices, fillvalue=[]))


def row_steps(starts: np.ndarray) -> list:
    """Rows first..last-1 in steps, a piece for each slice, all of about equally many entries."""
    n_steps = 1 + int(starts[-1]) // (SLICES * STEP)
    cuts = np.searchsorted(starts, np.linspace(0, starts[-1], SLICES * n_steps + 1)).tolist()
    cuts[0], cuts[-1] = 0, len(starts) - 1
    pieces = [[piece] for piece in itertools.pairwise(cuts)]
    return list(zip(*(pieces[s * n_steps : (s + 1) * n_steps] for s in range(SLICES)), strict=True))


def starts_of(counts: np.ndarray) -> np.ndarray:
    """Where the buckets of `counts` (n_slices, n) start, (n + 1,); the counts become the starts of each slice."""
    n = counts.shape[1]
    starts = np.zeros(n + 1, np.int64)
    for first, last in itertools.pairwise(row_blocks(n, 1 << 24).tolist()):
        edges_to_csr.starts_of(first, last, counts, starts)
    return starts


def by_higher_end(chunks: Chunks, n: int, weighted: bool, gaps: bool, progress: Progress):
    """Edges as keys, and their weights, in the order of their higher ends, whose edges begin at `starts` (n + 1,).

    Where there are `gaps`, only ids that an edge has become nodes: they are the last of what is returned, or None.
    """
    n_entries = sum(len(u) for u, _, _ in chunks)
    cursor, lower = np.zeros((SLICES, n), np.int64), np.zeros(n, np.bool_)
    steps = chunk_steps(chunks, n_entries)
    ends = [tuple([piece[:2] for piece in part] for part in step) for step in steps]
    in_slices(edges_to_csr.count_higher_ends, ends, (lower,), (cursor,), progress, COUNT_HIGHER)
    ids, ranks = None, np.empty(0, np.int32)
    if gaps:
        present = lower | (cursor > 0).any(axis=0)
        if not present.all():
            ids, ranks = np.flatnonzero(present), np.cumsum(present, dtype=np.int32) - np.int32(1)
            cursor = cursor[:, ids]
    starts = starts_of(cursor)
    keys, key_weights = np.empty(n_entries, np.uint32), np.empty(n_entries) if weighted else NO_WEIGHTS
    common = (ranks, keys, key_weights)
    in_slices(edges_to_csr.place_by_higher_end, steps, common, (cursor,), progress, PLACE_HIGHER)
    return starts, keys, key_weights, ids


def by_lower_end(starts: np.ndarray, keys: np.ndarray, key_weights: np.ndarray, progress: Progress):
    """The same edges in the order of their lower ends, and of one lower end in that of their higher ends."""
    cursor = np.zeros((SLICES, len(starts) - 1), np.int64)
    steps = row_steps(starts)
    in_slices(edges_to_csr.count_lower_ends, steps, (starts, keys), (cursor,), progress, COUNT_LOWER)
    sorted_starts = starts_of(cursor)
    sorted_keys, sorted_weights = np.empty_like(keys), np.empty_like(key_weights)
    common = (starts, keys, key_weights, sorted_keys, sorted_weights)
    in_slices(edges_to_csr.place_by_lower_end, steps, common, (cursor,), progress, PLACE_LOWER)
    return sorted_starts, sorted_keys, sorted_weights


class IdTable:
    """All ids of a file in a table that grows with their number, and then the rank of each."""

    def __init__(self):
        self.multiplier = np.uint64(secrets.randbits(64) | 1)
        self.n_ids = 0
        self._resize(16)

    def _resize(self, n_bits: int) -> None:
        self.n_bits, self.shift = n_bits, np.uint64(64 - n_bits)
        self.slots = np.full(1 << n_bits, edges_to_csr.EMPTY, np.int64)

    def add(self, ids: np.ndarray) -> None:
        """Add ids in pieces, so that the table is never much larger than it has to be."""
        with np.errstate(over="ignore"):  # the products wrap round, which interpreted loops warn of
            for start in range(0, len(ids), 1 << 16):
                piece = ids[start : start + (1 << 16)].astype(np.int64, copy=False)
                while 2 * (self.n_ids + len(piece)) > len(self.slots):
                    known = self.slots[self.slots != edges_to_csr.EMPTY]
                    self._resize(self.n_bits + 1)
                    edges_to_csr.insert_ids(known, self.multiplier, self.shift, self.slots)
                self.n_ids += edges_to_csr.insert_ids(piece, self.multiplier, self.shift, self.slots)

    def sort(self) -> np.ndarray:
        """The ids in increasing order, after which `ranks` may be asked for."""
        used = np.flatnonzero(self.slots != edges_to_csr.EMPTY)
        order = np.argsort(self.slots[used])
        self.rank_of_slot = np.zeros(len(self.slots), np.int32)
        self.rank_of_slot[used[order]] = np.arange(self.n_ids, dtype=np.int32)
        return self.slots[used[order]]

    def ranks(self, ids: np.ndarray) -> np.ndarray:
        ids, ranks = ids.astype(np.int64, copy=False), np.empty(len(ids), np.int32)
        with np.errstate(over="ignore"):
            edges_to_csr.look_up_ids(ids, self.multiplier, self.shift, self.slots, self.rank_of_slot, ranks)
        return ranks


def renumber_sparse(chunks: list, columns: tuple[int, ...] = (0, 1)) -> np.ndarray:
    """Replace the ids in these columns of the chunks by their ranks; returns the ids."""
    table = IdTable()
    for part in chunks:
        for column in columns:
            table.add(part[column])
    ids = table.sort()
    for i, part in enumerate(chunks):
        chunks[i] = tuple(table.ranks(part[column]) if column in columns else part[column] for column in range(3))
    return ids


def remedy_for_signs_in_files() -> str:
    """What to do about negative weights of a file."""
    repel = 'pass kind="signed" if they repel' if caller_takes("kind") else "drop edges that repel"
    others = 'pass weights="ignore" to count every entry as 1, or weights="abs" for their sizes'
    return f"{repel}; where signs mean no such thing, {others}"


def refuse_impossible(
    weights: np.ndarray, where: str, in_file: bool = False, place: Callable[[int], str] = "entry {}".format,
    signed: bool = False,
) -> None:  # fmt: skip
    """Refuse negative weights and those that are not finite; `where` begins the sentence.

    in_file : whether the argument `weights` of `load_graph` is a remedy.  place : where a weight stands.  signed :
    whether weights may be below zero.
    """
    wrong = np.flatnonzero(~(np.isfinite(weights) & (signed | (weights >= 0.0))))
    if len(wrong):
        remedy = f": {remedy_for_signs_in_files()}" if in_file else ""
        if caller_takes("kind") and weights[wrong[0]] < 0.0 and not in_file:
            remedy = '; pass kind="signed" if they repel'
        first = f"a weight is {weights[wrong[0]]} in {place(int(wrong[0]))}"
        others = f", the first of {len(wrong)} such weights" if len(wrong) > 1 else ""
        expected = "finite weights" if signed else "finite weights >= 0"
        raise GraphValidationError(f"{where}: {first}{others}, expected {expected}{remedy}")


class NegativeOrInfinite:
    """Weights that no graph may have, counted over all blocks of a file; the first is remembered with its place."""

    def __init__(self, path: str, weights: str):
        self.path, self.policy = path, weights
        self._counts = {"non-finite": 0, "negative": 0}
        self._first: dict[str, str] = {}

    def look_at(self, values: np.ndarray, place: Callable[[int], str]) -> np.ndarray | None:
        """The weights to use of one block, by the policy; `place(entry)` says where an entry stands."""
        if self.policy == "ignore":
            return None
        if not np.isfinite(values.sum()):  # a sum is quick, and shows any nan or infinity
            self._count("non-finite", ~np.isfinite(values), values, place)
        if self.policy == "abs":
            return np.abs(values)
        if self.policy != "signed" and len(values) and values.min() < 0:
            self._count("negative", values < 0, values, place)
        return values

    def _count(self, kind: str, bad: np.ndarray, values: np.ndarray, place: Callable[[int], str]) -> None:
        entries = np.flatnonzero(bad)
        if len(entries) and kind not in self._first:
            self._first[kind] = f"{values[entries[0]]:g} at {place(int(entries[0]))}"
        self._counts[kind] += len(entries)

    def complain(self) -> None:
        """Raise if there was any."""
        remedies = {
            "non-finite": 'remove these entries, or pass weights="ignore" to count every entry as 1',
            "negative": remedy_for_signs_in_files(),
        }
        for kind, remedy in remedies.items():
            if self._counts[kind]:
                wrong = f"{self.path}: {amount(self._counts[kind], f'{kind} weight')}, the first {self._first[kind]}"
                raise GraphValidationError(f"{wrong}; expected finite weights >= 0: {remedy}")
