"""Write a graph in a format of matrices, edge lists, METIS, SciPy or NetworkX; it is read back bit for bit.

GraphML, GML and GEXF files, for Gephi, Cytoscape, yEd and their like, are written by NetworkX.
"""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from graphclust.checks import as_choice, as_number, refuse_swapped
from graphclust.compiled.runtime.blocks import entry_blocks, row_blocks
from graphclust.errors import GraphValidationError, GraphWarning, ParameterError, amount, warn_caller
from graphclust.graph.container import Graph, GraphLike
from graphclust.graph.matrices import graph_from_csr
from graphclust.io.atomic_write import is_pipe, whole_file
from graphclust.io.columns import is_number
from graphclust.io.graph_input import as_graph
from graphclust.io.store.store import COPIED, check_store_target, map_store, new_store
from graphclust.io.text.records import MISSING, MOST, as_numbers, as_texts

if TYPE_CHECKING:
    import networkx

__all__ = ["save_graph", "save_store"]

_ENTRIES = 1 << 18  # of a block

_ENDINGS = {
    ".mtx": "matrix_market", ".graph": "metis", ".metis": "metis", ".csv": "csv", ".txt": "snap", ".tsv": "snap",
    ".edges": "snap", ".edgelist": "snap", ".npz": "npz", ".graphml": "graphml", ".gml": "gml", ".gexf": "gexf",
}  # fmt: skip
NETWORK_FORMATS = ("graphml", "gml", "gexf")
NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
SAVED_FORMATS = tuple(dict.fromkeys(_ENDINGS.values()))
_UNFIT = re.compile(r"[\n\r\0\ud800-\udfff]")  # what a line of a table in UTF-8 cannot hold
PIPED = "snap"  # where neither a format nor an ending is given


def save_graph(
    path: str | os.PathLike,
    G: GraphLike,
    *,
    format: str | None = None,
    drop_loops: bool = False,
    round_weights: float | None = None,
    overwrite: bool = False,
) -> None:
    """Write a graph to a file, compressed if its name ends in .gz; it appears whole or not at all.

    path : of the file; what is written to a pipe or a device goes straight into it.
    G : anything `as_graph` takes.
    format : "matrix_market", "snap", "csv", "metis", "npz" (of `scipy.sparse.save_npz`), "graphml", "gml" or "gexf";
        None goes by the ending: .mtx, .txt, .tsv, .edges, .edgelist, .csv, .graph, .metis, .npz, .graphml, .gml, .gexf.
        A pipe without one of these gets "snap", edges between tabs.
    drop_loops : leave self-loops out, as METIS needs it.
    round_weights : multiply the weights by this number and round them to whole numbers, at least 1, as METIS needs it.

    What was left out or rounded is said in a `GraphWarning`. Otherwise `load_graph` gives back the same arrays, but for
    the order of the nodes in "csv": text is numbered as it appears, which is as it was where each node has an edge to
    an earlier one or to the next, and numbers are in increasing order. What a format cannot hold is an error: "snap"
    and "csv" have no nodes without edges, "snap" only nodes named by whole numbers >= 0 in increasing order, "metis" no
    self-loops and only weights that are whole numbers; weights of nodes are kept by "metis" alone. "matrix_market",
    "metis" and "npz" keep the order of the nodes, not their names. "csv" keeps the names, as text; "graphml", "gml" and
    "gexf" keep names that are all text or all whole numbers, have weights as the edge attribute "weight", and are made
    by NetworkX, which needs up to a kilobyte of memory for each edge.

    Raises ParameterError for another ending, GraphValidationError for what the format cannot hold, FileExistsError, and
    OSError as `open` does, or, with the file's name and about its size, where there is no room for it.

    >>> import networkx as nx, tempfile
    >>> from graphclust.io.load import load_graph
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_graph(f"{folder}/path.graph", nx.path_graph(4))
    ...     load_graph(f"{folder}/path.graph")
    Graph(4 nodes, 3 edges, unweighted)
    """
    refuse_swapped(path, "save_graph(path, G)")
    format = format_of(path, format)
    graph, said = fit_for_writing(as_graph(G), format, drop_loops, round_weights)
    content = content_of(graph, format)
    with whole_file(path, overwrite, content.size) as file:
        if os.fsdecode(path).lower().endswith(".gz"):
            with gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as target:
                content.write(target)
        else:
            content.write(file)
    if said:
        warn_caller(f"{os.fsdecode(path)}: {'; '.join(said)}", GraphWarning)


def fit_for_writing(
    graph: Graph, format: str, drop_loops: bool, round_weights: float | None
) -> tuple[Graph, list[str]]:
    """The graph without its self-loops and with whole weights, where that is asked for, and what is left out."""
    said = []
    matrix = graph.to_scipy()
    if drop_loops and (n_loops := int(np.count_nonzero(graph.loops))):
        said.append(f"{amount(n_loops, 'self-loop was', 'self-loops were')} left out")
        matrix = (matrix - sparse.diags_array(matrix.diagonal(), format="csr")).tocsr()
        matrix.eliminate_zeros()
    if round_weights is not None:
        factor = as_number(round_weights, "round_weights", above=0.0)
        whole = np.maximum(np.rint(matrix.data * factor), 1.0)
        if graph.weights is not None and (whole != matrix.data).any():
            said.append(f"weights were multiplied by {factor:g} and rounded to whole numbers, at least 1")
            matrix.data = whole
    if said:
        weights = None if graph.weights is None else matrix.data
        fit = graph_from_csr(matrix.indptr, matrix.indices, weights, nodes=graph.nodes)
        graph = replace(fit, node_weights=graph.node_weights)
    if graph.node_weights is not None and format != "metis":
        said.append(f"the weights of the nodes were left out, which {format} cannot hold; metis and a store can")
    return graph, [*said, *_names_lost(graph, format)]


def _names_lost(graph: Graph, format: str) -> list[str]:
    """What a format does not keep of the names of the nodes."""
    if graph.nodes is None or list(graph.nodes) == list(range(graph.n_nodes)):
        return []
    if format in ("matrix_market", "metis", "npz"):
        return [f"the names of the nodes were left out, which {format} cannot hold; they are numbered in their order"]
    whole = [isinstance(node, int | np.integer) and not isinstance(node, bool) for node in graph.nodes]
    if format == "csv":  # other numbers are read as text
        whole = [number and 0 <= node < 2**63 for number, node in zip(whole, graph.nodes, strict=True)]
    is_kept = all(whole) or all(isinstance(node, str) for node in graph.nodes)
    return [] if is_kept else ["names of nodes that are not text were written as text"]


def format_of(path: str | os.PathLike, format: str | None = None) -> str:
    """The format that is asked for; None asks for that of the ending of a name, a .gz after it left aside."""
    name = os.fsdecode(path).lower()
    ending = os.path.splitext(name.removesuffix(".gz"))[1]
    if format is not None:
        as_choice(format, "format", SAVED_FORMATS)
    elif ending in _ENDINGS:
        format = _ENDINGS[ending]
    elif is_pipe(path):
        format = PIPED
    else:
        raise ParameterError(f"path={os.fsdecode(path)!r} ends in none of {', '.join(_ENDINGS)}; pass format=")
    if format == "npz" and name.endswith(".gz"):
        raise ParameterError(f"path={os.fsdecode(path)!r} ends in .gz, but .npz files are compressed already")
    return format


class GraphContent(NamedTuple):
    """What is to be written: `write` does it, to an open file; `size` says about how many bytes, before compression."""

    write: Callable[[IO[bytes] | gzip.GzipFile], None]
    size: Callable[[], int]


def content_of(graph: Graph, format: str) -> GraphContent:
    """The content of a file of this format; GraphValidationError, before anything is written, if it cannot hold it."""
    if format == "npz":
        matrix = graph.to_scipy()
        n_bytes = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
        return GraphContent(lambda file: sparse.save_npz(file, matrix), lambda: n_bytes)
    if format in NETWORK_FORMATS:
        import networkx

        network, generate = _name_network(graph, format), getattr(networkx, f"generate_{format}")
        return GraphContent(
            lambda file: write_network(file, network, format),
            lambda: sum(len(line.encode()) + 1 for line in generate(network)),
        )
    if format in ("snap", "csv") and graph.isolated.any():
        remedy = f"format={format!r} cannot hold nodes without edges, format='matrix_market' can"
        raise GraphValidationError(f"G has {amount(int(graph.isolated.sum()), 'isolated node')}; {remedy}")
    formatted = {"matrix_market": _matrix_market, "snap": _snap, "csv": _csv, "metis": _metis}[format]
    lines, n_rows = formatted(graph), graph.n_nodes if format == "metis" else graph.n_edges
    first = next(lines)  # refuses here

    def write(file: IO[bytes] | gzip.GzipFile) -> None:
        for text in itertools.chain([first], lines):
            file.write(text.encode())

    return GraphContent(write, lambda: _size(formatted(graph), n_rows))


def _size(lines: Iterator[str], n_rows: int) -> int:
    """About the bytes of a whole file, before compression, from the length of its first block of rows."""
    header, block = next(lines), next(lines, "\n")
    return len(header) + len(block.encode()) * n_rows // block.count("\n")


def _edges(graph: Graph, as_numbered: bool = False) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray | None]]:
    """Every edge once, as its lower and its higher end, in blocks of rows.

    as_numbered : by the higher ends, from each the nearest lower end first and a loop last. In this order nodes appear
    as they are numbered where each has an edge to a lower one or to the next.
    """
    for first, last in itertools.pairwise(entry_blocks(graph.indptr, _ENTRIES).tolist()):
        start, end = graph.indptr[first], graph.indptr[last]
        row = np.repeat(np.arange(first, last), np.diff(graph.indptr[first : last + 1]))
        other = graph.indices[start:end]
        if as_numbered:
            kept = np.flatnonzero(other <= row)
            kept = kept[np.lexsort((-other[kept], other[kept] == row[kept], row[kept]))]
            low, high = other[kept], row[kept]
        else:
            kept = np.flatnonzero(other >= row)
            low, high = row[kept], other[kept]
        yield low, high, None if graph.weights is None else graph.weights[start:end][kept]


def _rows(low: list, high: list, weights: np.ndarray | None, between: str = " ") -> str:
    if weights is None:
        return "".join(f"{u}{between}{v}\n" for u, v in zip(low, high, strict=True))
    return "".join(f"{u}{between}{v}{between}{w!r}\n" for u, v, w in zip(low, high, weights.tolist(), strict=True))


def _matrix_market(graph: Graph) -> Iterator[str]:
    field = "pattern" if graph.weights is None else "real"
    n = graph.n_nodes
    yield f"%%MatrixMarket matrix coordinate {field} symmetric\n{n} {n} {graph.n_edges}\n"
    for low, high, weights in _edges(graph):
        yield _rows((high + 1).tolist(), (low + 1).tolist(), weights)


def _snap(graph: Graph) -> Iterator[str]:
    """Lines of whole-number ids, each edge once."""
    ids = np.arange(graph.n_nodes) if graph.nodes is None else np.asarray(graph.nodes)
    fits = ids.dtype.kind in "iu" and not (ids[:1] < 0).any() and not (ids[1:] <= ids[:-1]).any()
    if not fits or int(ids[-1]) >= 2**63:
        raise GraphValidationError(
            "the nodes of G are not named by increasing whole numbers >= 0, as format='snap' needs; use format='csv'"
        )
    third = "" if graph.weights is None else "\tWeight"
    counts = f"# Nodes: {graph.n_nodes} Edges: {graph.n_edges}"
    yield f"# Undirected graph, each edge once\n{counts}\n# FromNodeId\tToNodeId{third}\n"
    for low, high, weights in _edges(graph):
        yield _rows(ids[low].tolist(), ids[high].tolist(), weights, "\t")


def _csv(graph: Graph) -> Iterator[str]:
    """Lines of a table with a header, each edge once; a name that could be misread is quoted."""
    nodes = range(graph.n_nodes) if graph.nodes is None else graph.nodes
    names = as_texts(nodes)
    if names is None or any(_UNFIT.search(name) or not name or name != name.strip() for name in names):
        is_kept = all(isinstance(node, str) for node in nodes) and not any(map(NO_XML.search, names or ()))
        remedy = "use format='graphml'" if is_kept else "rename the nodes"
        problem = "the names of the nodes of G are not distinct single-line strings, as a table needs"
        raise GraphValidationError(f"{problem}; {remedy}")
    # In quotes nothing is a comment, a missing id, or a number; unquoted numbers are read as whole ones below 2^63.
    are_ids = (isinstance(node, int | np.integer) and 0 <= node < 2**63 for node in nodes)
    as_text = graph.nodes is not None and not all(are_ids)
    marked = any(name.startswith(("#", "%")) or name in MISSING or (as_text and is_number(name)) for name in names)
    yield "source,target\n" if graph.weights is None else "source,target,weight\n"
    for low, high, weights in _edges(graph, as_numbered=True):
        text = io.StringIO()
        columns = [[names[u] for u in low.tolist()], [names[v] for v in high.tolist()]]
        if weights is not None:
            columns.append(weights.tolist())  # written as repr does
        writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC if marked else csv.QUOTE_MINIMAL)
        writer.writerows(zip(*columns, strict=True))
        yield text.getvalue()


def _metis(graph: Graph) -> Iterator[str]:
    """A header, then a line of neighbors for each node; weights have to be whole numbers."""
    if graph.loops.any():
        problem = f"G has {amount(int(np.count_nonzero(graph.loops)), 'self-loop')}, which METIS files cannot hold"
        raise GraphValidationError(f"{problem}; pass drop_loops=True to leave them out")
    for kind, weights in (("", graph.weights), ("node ", graph.node_weights)):
        if weights is not None and ((weights % 1).any() or weights.max() >= 2**53):
            problem = f"G has {kind}weights that are not whole numbers below 2^53, which METIS files cannot hold"
            remedy = "pass round_weights=1000, or another factor, to write round(1000 weight), at least 1"
            raise GraphValidationError(f"{problem}; {'make them whole numbers' if kind else remedy}")
    kind = f" 0{int(graph.node_weights is not None)}{int(graph.weights is not None)}"
    yield f"{graph.n_nodes} {graph.n_edges}{'' if kind == ' 000' else kind}\n"
    for first, last in itertools.pairwise(entry_blocks(graph.indptr, _ENTRIES).tolist()):
        start = int(graph.indptr[first])
        words = list(map(str, (graph.indices[start : graph.indptr[last]] + 1).tolist()))
        if graph.weights is not None:
            counts = graph.weights[start : graph.indptr[last]].astype(np.int64).tolist()
            words = [f"{word} {count}" for word, count in zip(words, counts, strict=True)]
        ends = (graph.indptr[first : last + 1] - start).tolist()
        lines = [words[a:b] for a, b in itertools.pairwise(ends)]
        if graph.node_weights is not None:
            own = graph.node_weights[first:last].astype(np.int64).tolist()
            lines = [[str(weight), *line] for weight, line in zip(own, lines, strict=True)]
        yield "".join(" ".join(line) + "\n" for line in lines)


def as_network(graph: Graph, names: list[Any]) -> networkx.Graph:
    """The graph as NetworkX's, its nodes in order by their names, its weights, if any, as the attribute "weight"."""
    import networkx

    network = networkx.Graph()
    network.add_nodes_from(names)
    upper = sparse.triu(graph.to_scipy(), format="coo")
    ends = [[names[node] for node in nodes.tolist()] for nodes in (upper.row, upper.col)]
    if graph.weights is None:
        network.add_edges_from(zip(*ends, strict=True))
    else:
        network.add_weighted_edges_from(zip(*ends, upper.data.tolist(), strict=True))
    return network


def _name_network(graph: Graph, format: str) -> networkx.Graph:
    """The graph as NetworkX's, with nodes that `load_graph` calls as the graph does; refuses names that it cannot.

    It takes ids that are all whole numbers for numbers; where they are text, the attribute "name" says so.
    """
    nodes: Sequence[Any] | np.ndarray = range(graph.n_nodes) if graph.nodes is None else graph.nodes
    names = as_texts(nodes)
    if names is None:
        raise GraphValidationError(
            f"two nodes of G have the same name as text, by which {format} files tell them apart; rename one of them"
        )
    kind = str if isinstance(nodes[0], str) else int | np.integer
    other = next((name for name in nodes if not isinstance(name, kind) or isinstance(name, bool)), None)
    if other is None and kind is not str:
        other = next((name for name in nodes if abs(int(name)) >= MOST), None)
    if other is not None:
        raise GraphValidationError(
            f"node {other!r} of G has a name of type {type(other).__name__}, but {format} files hold names that are "
            "all text or all whole numbers below 2^63; rename the nodes, all to text for example"
        )
    unfit = next(filter(NO_XML.search, names), None) if format != "gml" else None
    if unfit is not None:
        raise GraphValidationError(f"node {unfit!r} of G has a name that {format} files cannot hold; rename it")
    network = as_network(graph, names)
    if kind is str and as_numbers(names) is not names:
        for name in names:
            network.nodes[name]["name"] = name
    return network


def write_network(file: IO[bytes] | gzip.GzipFile, network: networkx.Graph, format: str) -> None:
    """Write a graph of NetworkX's to an open file."""
    import networkx

    getattr(networkx, f"write_{format}")(network, file)


def save_store(path: str | os.PathLike[str], G: GraphLike, *, overwrite: bool = False) -> Graph:
    """Write a graph to a folder from which `open_store` maps it; it appears whole or not at all.

    G : anything `as_graph` takes; names of nodes must be whole numbers below 2^63 or texts.

    Returns the graph as it is opened again. Raises GraphValidationError for other names, FileExistsError unless
    `overwrite` may replace a store, FileNotFoundError (no such folder), and OSError, with the store's name and its
    size, where there is no room for it; then nothing is left behind.

    >>> import networkx as nx, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_store(f"{folder}/path.store", nx.path_graph(4))
    Graph(4 nodes, 3 edges, unweighted)
    """
    refuse_swapped(path, "save_store(path, G)")
    graph = as_graph(G)
    name = check_store_target(path, overwrite)
    ids, names = _split_names(graph)
    held = {array: getattr(graph, array) for array in ("indptr", "indices", "weights", "degrees", "node_weights")}
    held |= {"loops": graph.loops if graph.loops.any() else None, "nodes": ids}
    arrays = {array: values for array, values in held.items() if values is not None}
    lengths = {array: len(values) for array, values in arrays.items()}
    with new_store(name, lengths, overwrite, names, graph.remarks) as mapped:
        for array, values in arrays.items():
            for first, last in itertools.pairwise(row_blocks(len(values), COPIED).tolist()):
                mapped[array][first:last] = values[first:last]
    return map_store(name)


def _split_names(graph: Graph) -> tuple[np.ndarray | None, list[str] | None]:
    """The names of the nodes as numbers or as texts."""
    nodes = graph.nodes
    if nodes is None:
        return None, None
    if all(isinstance(name, str) for name in nodes):
        return None, list(map(str, nodes))
    is_whole = isinstance(nodes, np.ndarray) and nodes.dtype.kind in "iu"
    if is_whole or all(isinstance(name, int | np.integer) and not isinstance(name, bool) for name in nodes):
        names = np.asarray(nodes)
        if names.dtype.kind == "i" or (names.dtype.kind == "u" and names.max() < 2**63):
            return names.astype(np.int64), None
    problem = "the nodes of G are named by other things than whole numbers below 2^63 or texts"
    raise GraphValidationError(f"{problem}, which a store cannot hold; number them first")
