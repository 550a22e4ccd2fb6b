"""Load a graph from a file of any known format, recognized by what it holds, or by its name.

Data sets have names, and so have the small classic graphs that NetworkX carries, for people without a file.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any, Literal, TypedDict, Unpack, overload

import numpy as np

from graphclust.errors import ParameterError
from graphclust.graph.container import Graph
from graphclust.graph.matrices import warn_of
from graphclust.io.columns import Column
from graphclust.io.edges import EdgeCounts, Edges
from graphclust.io.formats.array_files import name_failures_of_memory
from graphclust.io.graph_input import as_graph, without_weights
from graphclust.io.read_file import (
    ID_TYPE,
    LoadInfo,
    as_reading,
    as_text,
    load_file,
    read_file,
    refuse_other_arguments,
)
from graphclust.io.store.store import is_store, open_store
from graphclust.io.text.edge_lines import Reading
from graphclust.progress import Progress, ProgressLike, as_progress

__all__ = ["classic_graph", "load_graph"]

# NetworkX's function for each, and the attribute of nodes that is a known division.
CLASSIC = {
    "karate": ("karate_club_graph", "club"), "les-miserables": ("les_miserables_graph", None),
    "davis": ("davis_southern_women_graph", "bipartite"), "florentine": ("florentine_families_graph", None),
}  # fmt: skip
_LEFT_OUT = "the weights that NetworkX gives the edges of this graph were left out"


class ReadingOptions(TypedDict, total=False):
    """The arguments of `load_graph` for a client that checks types."""

    format: str | None
    symmetrize: str | None
    weights: str | None
    max_bytes: int | None
    memory_limit: int | None
    bipartite: bool | None
    source: Column
    target: Column
    weight: Column
    header: bool | None
    missing: str
    duplicates: str
    constraint: int | None
    encoding: str | None
    progress: ProgressLike


@overload
def load_graph(
    path: str | os.PathLike[str], *, return_info: Literal[False] = False, **options: Unpack[ReadingOptions]
) -> Graph: ...
@overload
def load_graph(
    path: str | os.PathLike[str], *, return_info: Literal[True], **options: Unpack[ReadingOptions]
) -> tuple[Graph, LoadInfo]: ...
def load_graph(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    symmetrize: str | None = "max",
    weights: str | None = None,
    return_info: bool = False,
    max_bytes: int | None = None,
    memory_limit: int | None = None,
    bipartite: bool | None = None,
    source: Column = None,
    target: Column = None,
    weight: Column = None,
    header: bool | None = None,
    missing: str = "error",
    duplicates: str = "sum",
    constraint: int | None = None,
    encoding: str | None = None,
    progress: ProgressLike = None,
) -> Graph | tuple[Graph, LoadInfo]:
    """Load an undirected graph from a file, plain or compressed by gzip or bzip2, from a store, or by its name.

    path : of the file; or "suitesparse:GROUP/NAME" or "snap:NAME", which are fetched once: see `fetch_suitesparse`.
    format : None recognizes the format by the content; or "matrix_market", "suitesparse" (its tar.gz), "snap" (an edge
        list with whole-number ids), "csv" (an edge list with ids of any text), "metis", "dimacs" (.col and .gr),
        "graphml", "gml", "gexf", "pajek" (.net), "node_link" (JSON of D3 and NetworkX), "adjacency_list" (of which only
        the name .adjlist tells), "npz" (of `scipy.sparse.save_npz`, or with indptr, indices and data alone), "parquet"
        (a table of edges), "mat" (a sparse matrix of MATLAB up to version 7). Lines of an edge list that start with #
        or % are comments, except in a table of names with a header or a delimiter: there `#name,other` is an edge.
        `remarks` counts lines that may be either.
    symmetrize : what becomes of an edge that is listed in both directions: "max" keeps the larger weight, "sum" adds
        the two, equal ones too, None makes different ones an error. Where a format stores every edge at both ends, as
        METIS does, these are one direction.
    weights : "file" takes the weights of the file, "abs" their absolute values, "ignore" counts every entry as 1. None
        is "file", but says so where a third column without a name was taken for weights.
    return_info : return also a `LoadInfo`; its remarks then take the place of the warning. Only then are the files read
        that an archive of the SuiteSparse collection holds beside its matrix.
    max_bytes : most bytes to decompress; None stops only what no text file could be.
    memory_limit : most bytes that the header of a file may ask for; None allows 200 for each byte of the file, at
        least 256 MiB and at most what the machine has.
    bipartite : rows and columns of a matrix, square or rectangular, are different nodes, the rows numbered first; an
        entry joins its row with its column. Of an edge list the sources are numbered first, then the targets; an id
        that is on both sides is named "column:id". For edge lists, and for Matrix Market and SuiteSparse files that are
        not symmetric. A network of KONECT says it itself, by `% bip`. None is False, but refuses whole numbers that
        columns of unlike names, as customer_id and product_id, share.
    source, target, weight : the columns of an edge list, by their names or their places from 0. By default those called
        source and target, from and to, or u and v, else the first two; and for the weight one called weight, else the
        third if it is the only other and holds numbers. In GraphML, GML, GEXF, JSON and the lines of NetworkX's edge
        lists, weight is the name of an edge attribute.
    header : whether the first line of an edge list names the columns. By default it does where it has words above
        numbers or words that name columns, and where none of its words occurs again.
    missing : of a row of a table without an id (an empty field, or NA, NaN, NULL, None, #N/A, \\N without quotes),
        "drop" leaves it out, with a remark that counts them, "keep" takes such a word for a name; "error" refuses the
        file.
    duplicates : of entries that repeat an edge, "sum" adds the weights (without weights they count once), "max" keeps
        the largest, "error" refuses the file.
    constraint : which of several weights of each node of a METIS file is kept, from 0.
    encoding : of a text file that is not UTF-8, such as "cp1252" for Western Europe's of Windows, or "utf-16".
    progress : a listener `(stage, done, total)` or a `Progress`.

    The folder of a store is checked in one pass and mapped, see `open_store`.

    Returns a `Graph`; its `nodes` are the ids in the file unless those are 0..n-1 in order. Ids are text in a file
    whose first edge has no whole numbers, or has them in quotes, and where one begins with a zero. Matrix Market nodes
    are numbered from 0. Without weights only symmetrize="sum" adds up repeated entries. Self-loops stay; zero weights
    are no edges. What was assumed, left out, joined or repaired is in `Graph.remarks`, and what may surprise in one
    `GraphWarning`.

    Raises OSError as `open` does; GraphFormatError with path and line for a file that is broken, of no known format, or
    a table in which no two columns are plainly the ends of an edge; GraphValidationError for one that holds no graph
    (rectangular, negative, non-finite, without edges to read) and for a column that it does not have; ParameterError
    for columns of a format that has none;
    ResourceLimitError, before the memory is taken, for one that would need more than the limits.

    Sources of the formats: https://math.nist.gov/MatrixMarket/formats.html; https://sparse.tamu.edu; Karypis, METIS 5.1
    manual, section 4.1; https://snap.stanford.edu/data; GraphML, GML and GEXF as NetworkX reads them.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("# a triangle\\n10 20\\n20 30\\n30 10\\n")
    ...     file.flush()
    ...     graph = load_graph(file.name)
    >>> graph, graph.nodes.tolist()
    (Graph(3 nodes, 3 edges, unweighted), [10, 20, 30])
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path={path!r} is a {type(path).__name__}, expected the path of a file")
    reading = as_reading(
        format=format, symmetrize=symmetrize, weights=weights, bipartite=bipartite, source=source, target=target,
        weight=weight, header=header, missing=missing, duplicates=duplicates, constraint=constraint, encoding=encoding,
        max_bytes=max_bytes, memory_limit=memory_limit, with_details=return_info,
    )  # fmt: skip
    graph, info = load(path, reading, as_progress(progress))
    if return_info:
        return graph, info
    warn_of(graph, info.repairs, f"{info.path}: ")
    return graph


def load(path: str | os.PathLike[str], reading: Reading, progress: Progress) -> tuple[Graph, LoadInfo]:
    """The graph of a file, a store or the name of a data set, and what is to say of it."""
    with name_failures_of_memory(path):
        if is_store(path):
            return _load_store(path, reading, progress)
        return _fetch(path, reading, progress) or load_file(path, reading, progress)


def _fetch(path: Any, reading: Reading, progress: Progress) -> tuple[Graph, LoadInfo] | None:
    """What a collection has under this name; None for the path of a file."""
    from graphclust.datasets.catalog import entry_at

    if (entry := entry_at(path)) is None:
        return None

    from graphclust.datasets.fetch import Request, fetch_graph

    if reading.format not in (None, entry.source):
        raise ParameterError(f"format={reading.format!r} does not suit {path!r}, which has the format {entry.source!r}")
    refuse_other_arguments(replace(reading, bipartite=None), "a data set", os.fsdecode(path))
    if reading.bipartite and entry.source == "snap":
        raise ParameterError(f"bipartite=True does not suit {path}, whose nodes are all of one kind; leave it out")
    request = Request(replace(reading, bipartite=bool(reading.bipartite) or entry.bipartite, max_bytes=None))
    graph, info = fetch_graph(entry, request, progress)
    return replace(graph, file=as_text(path)), info


def edges_of_file(
    path: str | os.PathLike[str], weights: str | None, bipartite: bool | None, format: str | None = None, **rows: Any
) -> Edges:
    """The edges that a file lists, in the directions in which it does; ParameterError for what is undirected.

    weights : as `load_graph` takes them, or "signed" for weights below zero too. rows : other fields of `Reading`.
    """
    from graphclust.datasets.catalog import entry_at

    if is_store(path) or entry_at(path) is not None:
        expected = 'expected the file that it was made of, or kind="undirected"'
        raise ParameterError(f"{os.fsdecode(path)} is undirected, as all stores and data sets are here; {expected}")
    reading = Reading(format, None, weights, bipartite, text_ids=ID_TYPE.get(format or ""), as_edges=True, **rows)
    edges, info = read_file(path, reading, Progress())
    edges.repairs = list(info.repairs)
    return edges


def _load_store(path: str | os.PathLike[str], reading: Reading, progress: Progress) -> tuple[Graph, LoadInfo]:
    """The same for the folder of a store, which is checked whole."""
    name = os.fsdecode(path)
    refuse_other_arguments(reading, "store", name)
    if reading.format is not None or reading.bipartite:
        wrong = "bipartite=True" if reading.format is None else f"format={reading.format!r}"
        raise ParameterError(f"{name} is a store, and {wrong} is for other files; leave it out")
    with progress.stage("checking the store"):
        graph = open_store(path)
        if reading.weights == "ignore" and graph.weights is not None:
            graph = without_weights(graph)
    n_loops = int(np.count_nonzero(graph.loops))
    counts = EdgeCounts(graph.n_entries, 0, 0, graph.n_edges - n_loops, 0, 0, n_loops)
    n_bytes = sum(entry.stat().st_size for entry in os.scandir(path))
    return replace(graph, file=as_text(path)), LoadInfo(name, "store", None, n_bytes, counts, graph.remarks)


def classic_graph(name: str) -> tuple[Graph, np.ndarray | None]:
    """A graph of the literature, and the int64 label of each node where a division is known, else None.

    name : "karate" (34 members of a club that split, Zachary 1977; labeled), "les-miserables" (77 characters,
        Knuth 1993), "davis" (18 women and 14 events, Davis et al. 1941; labeled by the two kinds), "florentine" (15
        families, Padgett and Ansell 1993). Edges are taken without weights, as in most of the literature; those that
        NetworkX's graphs of the first two names have are left out, which a remark says.

    Raises ParameterError for another name.

    >>> graph, labels = classic_graph("karate")
    >>> graph, np.bincount(labels)
    (Graph(34 nodes, 78 edges, unweighted), array([17, 17]))
    """
    if name not in CLASSIC:
        raise ParameterError(f"name={name!r} is not a classic graph, expected one of {', '.join(CLASSIC)}")
    import networkx

    function, attribute = CLASSIC[name]
    network, labels = getattr(networkx, function)(), None
    if attribute is not None:
        kinds = [kind for _, kind in network.nodes(data=attribute)]
        labels = np.array([sorted(set(kinds)).index(kind) for kind in kinds])
    graph = as_graph(network, weight=None)
    if any(weight is not None for *_, weight in network.edges(data="weight")):
        graph = replace(graph, remarks=(*graph.remarks, _LEFT_OUT))
    return graph, labels
