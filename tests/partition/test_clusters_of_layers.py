"""Exactly k clusters of directed, bipartite, signed graphs and several: through `coreset_sc`."""

import networkx as nx
import numpy as np
import pytest
from cases import for_each

import graphclust as gc
from graphclust.graph.node_order import in_order
from graphclust.io.kinds import as_layered

KINDS = ("directed", "bipartite", "signed", "several")


def planted(kind, n=120, seed=0):
    """A graph of four planted clusters, u % 4, and an isolated node at the end; with the options that tell its kind."""
    rng, of = np.random.default_rng(seed), np.arange(n) % 4
    same = of[:, None] == of
    A = np.zeros((n + 1, n + 1))
    A[:n, :n] = rng.random((n, n)) < np.where(same, 0.4, 0.03)
    np.fill_diagonal(A, 0.0)
    upper = np.triu(A, 1)
    if kind == "directed":
        return A, {"kind": kind}
    if kind == "bipartite":
        return A[: n // 2, n // 2 :], {}
    if kind == "signed":
        upper[:n, :n] -= np.triu((rng.random((n, n)) < 0.1) & ~same & (A[:n, :n] == 0), 1)
        return upper + upper.T, {"kind": kind}
    other = np.roll(upper, 4, axis=(0, 1)) * (upper == 0)
    return [upper + upper.T, np.triu(other, 1) + np.triu(other, 1).T], {}


@for_each("kind", KINDS)
def test_planted_clusters_are_found_and_any_k_is_made(kind):
    G, options = planted(kind)
    layered = as_layered(G, **options)
    found = gc.coreset_sc(G, 4, rng=0, **options)
    truth = np.arange(120) % 4
    assert gc.adjusted_rand_index(found.labels[:120], truth) > 0.95
    assert found.kind == kind and found.modularity == pytest.approx(layered.modularity(found.labels), abs=1e-12)
    assert (found.labels >= 0).tolist() == (~layered.combined.isolated).tolist()
    for k in (1, 2, 3, 11):
        few = gc.coreset_sc(G, k, resolution=1.0, rng=0, **options)
        assert few.n_clusters == k
        assert few.n_pieces == k or kind == "signed"
    assert found.resolution is not None and found.parameters["method"] == "multilevel"


@for_each("kind", KINDS)
def test_labels_of_named_nodes_depend_neither_on_their_order_nor_on_threads(kind):
    G, options = planted(kind)
    layered = as_layered(G, **options)
    names = np.array([f"node {u}" for u in range(layered.n_nodes)])
    order = np.random.default_rng(5).permutation(layered.n_nodes)
    first = gc.coreset_sc(layered.with_names(names), 4, rng=0).labels
    shuffled = layered.take(order, in_order(layered.combined, order)).with_names(names[order])
    assert (gc.coreset_sc(shuffled, 4, rng=0).labels == first[order]).all()
    with gc.limit_threads(1):
        assert (gc.coreset_sc(layered.with_names(names), 4, rng=0).labels == first).all()


def test_what_undirected_graphs_alone_have_is_refused_with_what_to_do_instead():
    D = nx.gnp_random_graph(20, 0.3, seed=1, directed=True)
    for options, expected in (
        ({"k": None}, "communities"),
        ({"objective": "normalized_cut"}, "'modularity' or 'constant_potts'"),
        ({"min_size": 2}, "leave it out"),
        ({"method": "two-step"}, 'symmetrize="sum"'),
        ({"components": "largest"}, "leave it out"),
        ({"k": 21}, "20 nodes"),
    ):
        with pytest.raises(gc.ParameterError, match=expected):
            gc.coreset_sc(D, **{"k": 3} | options)
