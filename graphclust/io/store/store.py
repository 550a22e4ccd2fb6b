"""A graph on the disk that is mapped: only the rows that are used come into memory.

The arrays are plain .npy files, with int64 row starts and int32 neighbors, which SciPy's matrices cannot combine.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from graphclust.checks import as_choice
from graphclust.compiled.graphs import csr_checks
from graphclust.compiled.graphs.objective import RowSums
from graphclust.compiled.runtime.blocks import entry_blocks, row_blocks, run_in_blocks
from graphclust.errors import GraphFormatError
from graphclust.graph.container import Graph
from graphclust.graph.from_csr import check_degrees
from graphclust.io.store.store_files import AGAIN, HEADER, length_of, open_array, read_header, read_names
from graphclust.io.temporaries import take_back

__all__ = ["StoredGraph", "open_store"]

VERIFICATIONS = ("full", "fast")
COPIED = 1 << 22  # numbers at a time
MOST_TRIALS = 100  # to map a store that others replace


@dataclass(frozen=True, eq=False, repr=False)
class StoredGraph(Graph):
    """A `Graph` whose arrays are mapped from a store: it takes no memory of its own, and pickles as its path.

    path : the folder.  key : of this very store; another one that was put in its place has another.
    """

    path: str = ""
    key: str = ""

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self.path, self.key)


def _reopen(path: str, key: str) -> StoredGraph:
    graph = map_store(path)
    if graph.key != key:
        raise GraphFormatError("is not the store that was pickled: another graph was written to its place", path)
    return graph


def is_store(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a folder with the header of a store."""
    name = os.path.abspath(os.fsdecode(path))
    take_back(name)
    return os.path.isfile(os.path.join(name, HEADER))


def open_store(path: str | os.PathLike[str], *, verify: str = "full") -> Graph:
    """The graph in a store, mapped: it takes memory only for the rows that are being looked at.

    verify : "full" reads everything once: whether rows are in order and symmetric, indices in range, weights positive,
        degrees right. "fast" looks at the header, the sizes of the files and the starts of the rows, and trusts the
        rest: for a store that was checked when it was written, as `save_store` and `convert_to_store` do.

    The files must not be changed while the graph is in use; nothing here does, since a store is replaced by another
    folder. A file that is cut short from outside kills the process that reads it.

    Raises GraphFormatError, with the file and what is wrong with it, for what is no store or a damaged one, and
    FileNotFoundError where there is nothing.

    >>> import networkx as nx, tempfile
    >>> from graphclust import save_store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = save_store(f"{folder}/path.store", nx.path_graph(4))
    ...     open_store(f"{folder}/path.store").degrees
    array([1., 2., 2., 1.])
    """
    as_choice(verify, "verify", VERIFICATIONS)
    graph = map_store(os.path.abspath(os.fsdecode(path)))
    if verify == "full":
        _check_entries(graph)
    return graph


def map_store(folder: str) -> StoredGraph:
    """The graph in a store whose files have the right sizes and starts of rows; all files are of one store.

    Another process may replace it meanwhile: then the header has another id afterwards, and the files are mapped again.
    """
    for left in reversed(range(MOST_TRIALS)):
        key = None
        try:
            header = read_header(folder)
            key = header["id"]
            graph = _map_by(header, folder)
        except (GraphFormatError, OSError, ValueError):  # NumPy's own of a file that has become shorter
            if not left or _key_of(folder) == key:
                raise
        else:
            if _key_of(folder) == key:
                return graph
    raise GraphFormatError("is replaced again and again by other processes; open it when they have finished", folder)


def _key_of(folder: str) -> str | None:
    """The id of the store that is there now, None where there is none."""
    with suppress(GraphFormatError, OSError):
        return read_header(folder)["id"]
    return None


def _map_by(header: dict[str, Any], folder: str) -> StoredGraph:
    """The graph of a store, its arrays mapped, not read."""
    n, n_entries = header["n_nodes"], header["n_entries"]
    arrays = {array: open_array(folder, array, length_of(array, n, n_entries)) for array in header["arrays"]}
    nodes = read_names(folder, n) if header["names"] else arrays.get("nodes")
    loops = arrays.get("loops")
    loops = np.zeros(n) if loops is None else loops  # pages of zeros that are only read take no memory
    graph = StoredGraph(
        arrays["indptr"], arrays["indices"], arrays.get("weights"), arrays["degrees"], loops, nodes,
        tuple(header["remarks"]), folder, header["id"], file=folder, node_weights=arrays.get("node_weights"),
    )  # fmt: skip
    _check_row_starts(graph)
    return graph


def _check_row_starts(graph: StoredGraph) -> None:
    """Without this a loop could read beyond the file."""
    indptr, file = graph.indptr, os.path.join(graph.path, "indptr.npy")
    if indptr[0] != 0:
        raise GraphFormatError(f"begins with {indptr[0]}, expected 0", file)
    if indptr[-1] != len(graph.indices):
        raise GraphFormatError(f"ends with {indptr[-1]}, expected {len(graph.indices)}, the number of entries", file)
    for first, last in pairwise(row_blocks(graph.n_nodes, COPIED).tolist()):
        decreasing = np.flatnonzero(indptr[first + 1 : last + 1] < indptr[first:last])
        if len(decreasing):
            raise GraphFormatError(f"decreases after row {first + decreasing[0]}, expected increasing row starts", file)


def _check_entries(graph: StoredGraph) -> None:
    """What the gate checks of a matrix, in one pass over the files."""
    n = graph.n_nodes
    blocks = entry_blocks(graph.indptr)
    rows, sums = graph.rows, RowSums(np.zeros(n), np.zeros(n))
    faults, asymmetry = np.zeros((2, len(blocks) - 1), np.int64)
    run_in_blocks(csr_checks.check_rows, blocks, rows, rows.weights.view(np.uint64), sums, faults, asymmetry)
    if faults.any():
        block = int(np.flatnonzero(faults)[0])
        counts = np.zeros((len(blocks), csr_checks.N_FAULTS), np.int64)
        examples = np.zeros_like(counts)
        csr_checks.count_faults(blocks[block], blocks[block + 1], block, rows, counts, examples)
        entry = int(examples[block][counts[block] > 0].min())
        row = int(np.searchsorted(graph.indptr, entry, side="right")) - 1
        weight = "" if graph.weights is None else f" with weight {graph.weights[entry]}"
        found = f"row {row} holds {graph.indices[entry]}{weight} at entry {entry}"
        expected = f"expected increasing numbers of nodes below {n} with finite weights > 0"
        raise GraphFormatError(f"{found}, {expected}; {AGAIN}", graph.path)
    if asymmetry.sum() != 0:  # wraps around, as it should
        expected = "expected each edge in the rows of both its ends"
        raise GraphFormatError(f"rows are not symmetric, {expected}; {AGAIN}", graph.path)
    for array, sums_of, stored in (("degrees", sums.degrees, graph.degrees), ("loops", sums.loops, graph.loops)):
        wrong = np.flatnonzero(sums_of != stored)
        if len(wrong):
            u, file = int(wrong[0]), os.path.join(graph.path, array + ".npy")
            raise GraphFormatError(f"holds {stored[u]} for row {u}, whose entries make {sums_of[u]}; {AGAIN}", file)
    check_degrees(sums.degrees)
    own = graph.node_weights
    if own is not None and not (np.isfinite(own) & (own >= 0.0)).all():
        u, file = int((~(np.isfinite(own) & (own >= 0.0))).argmax()), os.path.join(graph.path, "node_weights.npy")
        raise GraphFormatError(f"holds {own[u]} for node {u}, expected finite numbers >= 0; {AGAIN}", file)
