"""What holds of every hierarchy."""

import networkx as nx
import numpy as np


def inner_edges(A, labels):
    row, column = np.nonzero(A)
    inside = (labels[row] == labels[column]) & (row != column)
    return row[inside], column[inside]


def number_of_parts(A, above, labels):
    """Connected parts of all clusters, where nodes that hang on the same node alone inside `above` count as linked."""
    n = len(A)
    row, column = inner_edges(A, above)
    hub = np.full(n, -1)
    degree = np.bincount(row, minlength=n)
    hub[row] = column
    links = nx.Graph()
    links.add_nodes_from(range(n))
    links.add_edges_from(zip(*(ends.tolist() for ends in inner_edges(A, labels)), strict=True))
    for u in range(n):
        for v in range(u):
            if degree[u] == degree[v] == 1 and hub[u] == hub[v] and labels[u] == labels[v]:
                links.add_edge(u, v)
    return nx.number_connected_components(links)


def check_levels(A, found, most=np.inf, sizes=None):
    """What holds of every hierarchy."""
    sizes = np.ones(len(A)) if sizes is None else sizes
    above = np.zeros(len(A), int)
    for depth, labels in enumerate(found.levels):
        k = labels.max() + 1
        assert set(labels.tolist()) == set(range(k))
        assert (np.diff(np.bincount(labels)) <= 0).all(), "clusters are numbered by decreasing size"
        assert number_of_parts(A, above, labels) == k, "clusters are connected"
        if depth:
            assert (found.parents[depth][labels] == found.levels[depth - 1]).all(), "each is inside one above"
            assert k > found.levels[depth - 1].max() + 1, "no level repeats another"
        above = labels
    assert np.bincount(found.levels[-1], weights=sizes).max() <= most
