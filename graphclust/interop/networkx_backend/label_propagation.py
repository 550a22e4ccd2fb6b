"""NetworkX's semi-synchronous label propagation: nodes of one color take their labels at once."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from scipy import sparse

from graphclust.interop.networkx_backend.backend_graph import BackendGraph


def label_propagation_communities(G: BackendGraph) -> list[set[Hashable]]:
    """The communities of NetworkX's function: its coloring, its order of the colors and its rule for ties.

    Source: Cordasco and Gargano 2010, "Community detection via semi-synchronous label propagation algorithms".
    """
    pattern = G.matrices[None]
    labels = np.arange(len(G))
    classes = [(nodes, pattern[nodes]) for nodes in colors_of(pattern)]
    everyone = np.arange(len(G)), pattern
    while (best_labels(*everyone, labels) != labels).any():
        for nodes, rows in classes:
            labels[nodes] = best_labels(nodes, rows, labels)
    return G.sets_of(labels)


def best_labels(nodes: np.ndarray, rows: sparse.csr_array, labels: np.ndarray) -> np.ndarray:
    """The most frequent label among the neighbors of each node: its own where that is one, else the largest."""
    best = labels[nodes]
    if not rows.nnz:
        return best
    place = np.repeat(np.arange(len(nodes)), np.diff(rows.indptr))
    pairs, counts = np.unique(place * len(labels) + labels[rows.indices], return_counts=True)
    place, label = np.divmod(pairs, len(labels))
    most = np.zeros(len(nodes), np.int64)
    np.maximum.at(most, place, counts)
    is_most = counts == most[place]
    place, label = place[is_most], label[is_most]
    keeps = np.zeros(len(nodes), bool)
    keeps[place[label == best[place]]] = True
    largest = best.copy()
    largest[place] = label  # in increasing order: the last one stays
    return np.where(keeps, best, largest)


def colors_of(pattern: sparse.csr_array) -> list[np.ndarray]:
    """The nodes of each color of `networkx.greedy_color`, which takes nodes of large degree first."""
    n = pattern.shape[0]
    indptr, indices = pattern.indptr.tolist(), pattern.indices.tolist()
    degrees = pattern.sum(axis=1) + pattern.diagonal()
    colors = [-1] * n
    for node in np.argsort(-degrees, kind="stable").tolist():
        taken = {colors[other] for other in indices[indptr[node] : indptr[node + 1]]}
        color = 0
        while color in taken:
            color += 1
        colors[node] = color
    of_node = np.array(colors, np.int64)
    return [np.flatnonzero(of_node == color) for color in range(int(of_node.max(initial=-1)) + 1)]
