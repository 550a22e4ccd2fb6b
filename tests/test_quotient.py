"""Quotient graphs, and the coarser and coarser ones that partitions go through."""

import networkx as nx
import numpy as np
import pytest
from aims import ONE_OF_EACH, WITH_EDGES, connected_part, looped, random_labels
from graphs import make_graph

from graphclust import coreset_sc
from graphclust.compiled.graphs.coarsening import is_counted
from graphclust.errors import GraphValidationError
from graphclust.generators import planted_partition
from graphclust.graph.gate import as_graph
from graphclust.objective.cuts import normalized_cut
from graphclust.objective.objective import weighed
from graphclust.partition import quotient as quotients
from graphclust.partition.budget import HARDLY_ANY
from graphclust.partition.coarsening import coarser, joined
from graphclust.partition.quotient import contract, contracted, links_of, quotient_graph
from graphclust.progress import Progress


@pytest.mark.parametrize("name", WITH_EDGES)
def test_quotient_graph_keeps_cuts_and_volumes(name):
    graph = make_graph(name)
    k = min(5, graph.n_nodes)
    labels = random_labels(graph.n_nodes, k, 3)
    quotient = quotient_graph(graph, labels)
    member = np.eye(k)[labels]
    dense = member.T @ graph.to_scipy().toarray() @ member
    np.testing.assert_allclose(quotient.to_scipy().toarray(), dense, rtol=1e-12)
    np.testing.assert_allclose(quotient.degrees, dense.sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(quotient.loops, np.diag(dense), rtol=1e-12)
    coarse = np.arange(k) % 2
    if quotient.degrees.all() and k > 1:
        assert normalized_cut(quotient, coarse) == pytest.approx(normalized_cut(graph, coarse[labels]), rel=1e-9)


def test_as_many_entries_are_counted_as_counts_of_32_bits_hold():
    assert is_counted(40, 2**31 - 1, False) and not is_counted(40, 2**31, False)


@pytest.mark.parametrize(("weighted", "k", "counts"), [(False, 40, True), (False, 400, False), (True, 40, False)])
def test_links_of_few_clusters_without_weights_are_counted(weighted, k, counts, monkeypatch):
    """The links of some rows are, too."""
    graph = planted_partition(20, 100, 12, 3, rng=1).graph
    if weighted:
        matrix = graph.to_scipy()
        matrix.data = 1.0 + (matrix.tocoo().row + matrix.indices) % 3
        graph = as_graph(matrix)
    labels = np.random.default_rng(5).integers(k, size=graph.n_nodes).astype(np.int32)
    labels[:k], labels[k::9] = np.arange(k), 3
    monkeypatch.setattr(quotients, "ENTRIES_PER_BLOCK", 1 << 12)
    monkeypatch.setattr(quotients.coarsening, "sum_links" if counts else "count_links", None)
    member = np.eye(k)[labels]
    quotient = contract(graph, labels, k)
    np.testing.assert_array_equal(quotient.to_scipy().toarray(), member.T @ graph.to_scipy().toarray() @ member)
    np.testing.assert_array_equal(quotient.loops, quotient.to_scipy().diagonal())
    nodes = np.arange(7, graph.n_nodes)
    expected = member[nodes].T @ graph.to_scipy().toarray()[nodes] @ member
    np.testing.assert_array_equal(links_of(graph, nodes, labels, k).toarray(), expected)
    monkeypatch.setattr(quotients.streamed_quotient, "STREAMED", 0)  # in the order of the file
    np.testing.assert_array_equal(links_of(graph, nodes, labels, k).toarray(), expected)


@pytest.mark.parametrize("method", ["multilevel", "two-step", "paper"])
def test_a_quotient_graph_is_clustered_like_any_other(method):
    rng = np.random.default_rng(518)
    matrix, _ = planted_partition(20, 100, 12, 3, rng=rng)
    quotient = quotient_graph(matrix, np.unique(rng.integers(0, 400, 2000), return_inverse=True)[1])
    through_the_gate = as_graph(quotient.to_scipy())
    for name in ("indptr", "indices", "weights"):
        assert np.array_equal(getattr(quotient, name), getattr(through_the_gate, name))
    one, other = (coreset_sc(graph, 20, method=method, rng=1) for graph in (quotient, through_the_gate))
    assert np.array_equal(one.labels, other.labels)


def test_quotient_graph_needs_every_label_and_every_node():
    with pytest.raises(GraphValidationError, match="every node a cluster"):
        quotient_graph(nx.path_graph(3), np.array([0, -1, 1]))
    with pytest.raises(GraphValidationError, match="none empty"):
        quotient_graph(nx.path_graph(3), np.array([0, 2, 2]))


@pytest.mark.parametrize("name", ["modularity", "constant_potts"])
@pytest.mark.parametrize("graph", ["karate", "power-law blocks", "grid", "uneven and looped", "tiny pieces"])
def test_nodes_of_different_parts_are_never_joined(graph, name):
    graph = looped(90, 7, 0.06) if graph == "uneven and looped" else connected_part(graph)
    on = weighed(graph, name)
    for resolution in (0.05, 1.0, 5.0):
        parts = random_labels(graph.n_nodes, 3, 11).astype(np.int32)
        cluster, n_found = joined(on, resolution, parts, 0, np.random.default_rng(3), Progress())
        assert n_found == len(set(cluster)) == cluster.max() + 1
        assert all(len(set(parts[cluster == c])) == 1 for c in range(n_found))
        found = coarser(on, resolution, 4, np.random.default_rng(3), Progress(), parts)
        if found is not None:
            assert (
                found.small.graph.n_nodes == len(set(found.region)) == len(set(zip(found.region, parts, strict=True)))
            )


@pytest.mark.slow
@pytest.mark.parametrize(("name", "_resolution"), ONE_OF_EACH)
def test_coarser_graphs_shrink_and_are_contractions(name, _resolution):
    graph, planted = planted_partition(12, 80, 12, 2, rng=518)
    on = weighed(graph, name)
    rng, to_coarsest, sizes = np.random.default_rng(1), np.arange(graph.n_nodes), [graph.n_nodes]
    while (found := coarser(on, 2.0, 24, rng, Progress())) is not None:
        again = contracted(on, found.region, found.region.max() + 1)
        on = found.small
        for ours, expected in zip(on.terms, again.terms, strict=True):
            assert (ours == expected).all()
        assert 24 <= on.graph.n_nodes <= (1.0 - HARDLY_ANY) * sizes[-1]
        to_coarsest = found.region[to_coarsest]
        sizes.append(on.graph.n_nodes)
    assert len(sizes) > 1
    pure = sum(np.bincount(planted[to_coarsest == c]).max() for c in range(sizes[-1]))
    assert pure > 0.9 * graph.n_nodes  # regions are natural: few nodes are in one with those of another block


def test_a_higher_resolution_leaves_more_regions():
    graph, _ = planted_partition(12, 80, 12, 2, rng=518)
    parts = np.zeros(graph.n_nodes, np.int32)
    for name in ("modularity", "constant_potts"):
        on = weighed(graph, name)
        counts = [joined(on, g, parts, 0, np.random.default_rng(1), Progress())[1] for g in (0.1, 1.0, 10.0, 1e4)]
        assert counts == sorted(counts) and counts[0] < counts[-1] == graph.n_nodes


def test_a_level_of_small_groups_comes_before_the_usual_one():
    graph, _ = planted_partition(12, 80, 12, 2, rng=518)
    on = weighed(graph, "modularity")

    def n_regions(resolution, finest):
        return coarser(on, resolution, 24, np.random.default_rng(1), Progress(), None, finest).small.graph.n_nodes

    usual, small = n_regions(2.0, 0.0), n_regions(2.0, 60.0)
    assert small > 2 * usual and small == n_regions(60.0, 0.0)
    assert usual / 2 < n_regions(2.0, 1e6) < 2 * usual  # where it joins nothing the usual level follows all the same


def test_joining_stops_in_time_to_leave_enough_regions(monkeypatch):
    """A pass that would leave too few is not made; where the first does, none follows."""
    monkeypatch.setattr("graphclust.partition.coarsening.UNSETTLED", 0.7)  # two passes
    graph, _ = planted_partition(12, 80, 12, 2, rng=518)
    on = weighed(graph, "modularity")
    progress = Progress()
    progress.watch(graph)

    def found(enough):
        before = sum(progress.entries_read.values())
        cluster, n_found = joined(on, 1.0, None, enough, np.random.default_rng(1), progress)
        assert n_found == len(set(cluster)) == cluster.max() + 1
        return n_found, (sum(progress.entries_read.values()) - before) / graph.n_entries

    at_the_end, n_passes = found(0)
    assert n_passes > 1.5
    after_one, _ = found(at_the_end + 1)
    assert after_one > at_the_end and found(after_one)[0] == after_one
    too_few, n_passes = found(after_one + 1)
    assert too_few == after_one and n_passes < 1.1
