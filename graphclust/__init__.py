"""Cluster large sparse graphs into exactly k parts: the clusters that people recognize, or the smallest cuts.

A graph G is one of NetworkX or igraph, a SciPy matrix, a table or list of edges, or the path of a file; see `as_graph`.

    coreset_sc(G, k)             exactly k clusters; with objective="normalized_cut" the smallest cuts
    communities(G)               as many as a resolution makes; with min_size=, max_size= within bounds
    balanced_partition(G, k)     k parts of equal size with the smallest edge cut
    well_connected(G, labels)    clusters of any origin, parted until no few edges part them; communities has it too
    hierarchy(G, max_size=10)    nested levels
    cluster_path(G)              every number of clusters at once; `.suggest()` says which the graph shows
    knn_graph(X), kmeans(X, k), kernel_kmeans(X, k)     points
    cluster_anndata(adata)       single cells
    load_graph(path), graph_from_table(table, source, target, weight)     a graph of a file, or of a table
    write_labels(path, clustering), write_report(path, clustering)        files of the result
    adjusted_rand_index(a, b), normalized_cut(G, labels), edge_cut(G, labels)    agreement and quality of any labels
    d2_seeding, construct_coreset, coreset_graph, extend_labels           the steps of coreset spectral clustering

`help(graphclust.coreset_sc)` tells of each; `rng=` is the seed everywhere, in estimators it is `random_state=`.
"""

import importlib
import importlib.util
import pathlib
import re
from typing import Any

__version__ = "0.1.0"

# Where each public name is defined, as the stub beside this file says. It is imported when it is first used (PEP 562),
# so that `import graphclust` is quick.
_STUB = pathlib.Path(__file__).with_suffix(".pyi").read_text()
_HOME = {name: home for home, name in re.findall(r"^from graphclust\.(\S+) import (\w+)", _STUB, re.MULTILINE)}
# So that `graphclust.datasets.find` and the like need no import of their own.
_MODULES = {"datasets": "datasets", "distributed": "distributed", "plots": "faces.plots"}

# `from graphclust import *` takes what can be had: estimators derive from scikit-learn's.
_without = () if importlib.util.find_spec("sklearn") else ("estimators",)
__all__ = ["__version__", *sorted(name for name, home in _HOME.items() if not home.startswith(_without))]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"graphclust.{_MODULES[name]}")
    if name not in _HOME:
        raise AttributeError(f"module 'graphclust' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(f"graphclust.{_HOME[name]}"), name)
    return value


def __dir__() -> list[str]:
    return [*__all__]
