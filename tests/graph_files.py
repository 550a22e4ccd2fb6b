"""Small files of graphs, and what is read from them."""

import pathlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from graphclust import load_graph
from graphclust.graph.container import Graph
from graphclust.graph.matrices import graph_from_csr

BANNER = "%%MatrixMarket matrix coordinate real general\n"


def load(tmp_path: pathlib.Path, text: str, name: str = "graph.txt", **options):
    """The dense adjacency matrix of a small graph, the graph and the info of a file with this text."""
    path = tmp_path / name
    path.write_text(text)
    graph, info = load_graph(path, return_info=True, **options)
    assert same_csr(graph, graph_from_csr(graph.indptr, graph.indices, graph.weights)), "not as the gate wants it"
    return graph.to_scipy().toarray() if graph.n_nodes < 1000 else None, graph, info


def same_csr(a: Graph, b: Graph) -> bool:
    arrays = ("indptr", "indices", "weights", "degrees", "loops")
    pairs = [(getattr(a, name), getattr(b, name)) for name in arrays]
    return all((x is None and y is None) or (x.dtype == y.dtype and np.array_equal(x, y)) for x, y in pairs)


def told(call: Callable[[], Any]) -> tuple[Any, list[str]]:
    """What a call gives, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = call()
    return made, [str(warning.message) for warning in caught]
