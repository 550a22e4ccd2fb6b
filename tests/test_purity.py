"""Whether two clusters belong together, by a sample of the rows: where it says no, that is so."""

import numpy as np
import pytest

from graphclust.errors import GraphWarning
from graphclust.generators import planted_partition
from graphclust.graph.gate import as_graph
from graphclust.objective.objective import weighed
from graphclust.partition.cycles import assigned
from graphclust.partition.in_memory import InMemory
from graphclust.partition.purity import EVERY, are_clearly_pure, are_impure
from graphclust.partition.turning import purified
from graphclust.partition.whole_graph import Parted
from graphclust.progress import Progress

K = 10


def pair_moved(labels, share, seed=0):
    """Clusters 0 and 1 as one, and a share of cluster 2 as the other."""
    wrong = labels.copy()
    wrong[labels == 1] = 0
    wrong[(labels == 2) & (np.random.default_rng(seed).random(len(labels)) < share)] = 1
    return wrong


def judged(on, labels):
    """What the sample says, and what is so."""
    found = assigned(on, labels, int(labels.max()) + 1)
    return are_clearly_pure(on, *found, Progress()), not are_impure(on, *found)


@pytest.fixture(scope="module")
def blocks():
    """In the order of their labels, without and with unequal degrees."""
    of_each = []
    for exponent in (None, 2.5):
        planted = planted_partition(K, 2000, 20, 5, degree_exponent=exponent, rng=4)
        of_each.append((planted.graph, planted.labels.astype(np.int32)))
    return of_each


@pytest.mark.parametrize("name", ["normalized_cut", "modularity", "ratio_cut"])
def test_what_the_sample_rules_out_is_not_so(blocks, name):
    for graph, labels in blocks:
        on = weighed(graph, name)
        assert judged(on, labels) == (True, True)
        sizes = [0.05, 0.2, 0.5, 0.8, 0.95]
        said = [judged(on, pair_moved(labels, share, seed)) for seed, share in enumerate(sizes)]
        assert said == [(False, False)] * len(sizes)
        for n_more in range(1, 8):  # finer and finer, until the clusters are too small to tell
            finer = labels + K * (np.random.default_rng(n_more).integers(n_more + 1, size=len(labels)) % 2)
            clearly, surely = judged(on, finer.astype(np.int32))
            assert surely or not clearly


def test_nodes_in_no_order(blocks):
    graph, labels = blocks[0]
    order = np.random.default_rng(2).permutation(len(labels))
    on = weighed(as_graph(graph.to_scipy()[order][:, order]), "normalized_cut")
    assert judged(on, labels[order]) == (True, True)
    assert judged(on, pair_moved(labels, 0.5)[order]) == (False, False)


def test_a_sixteenth_is_read_and_nothing_more(blocks):
    graph, labels = blocks[0]
    on, progress = weighed(graph, "normalized_cut"), Progress()
    progress.watch(graph)
    are_clearly_pure(on, *assigned(on, labels, K), progress)
    assert sum(progress.entries_read.values()) == pytest.approx(graph.n_entries / EVERY, rel=0.05)


def test_nodes_that_are_left_out(blocks):
    graph, labels = blocks[0]
    kept = np.flatnonzero(labels < 6)
    part = graph.subgraph(kept).to_scipy()
    part.resize(len(kept) + 3, len(kept) + 3)
    with pytest.warns(GraphWarning, match="3 isolated nodes"):
        with_isolated = as_graph(part)
    on = weighed(with_isolated, "normalized_cut")
    assert judged(on, np.append(labels[kept], [-1, -1, -1]).astype(np.int32)) == (True, True)


def test_where_it_cannot_tell(blocks):
    """Of weights, of clusters so small that a sixteenth has next to none of their links, and of a single cluster."""
    graph, labels = blocks[0]
    weights = graph.to_scipy()
    weights.data[:] = 2.0
    assert judged(weighed(as_graph(weights), "normalized_cut"), labels) == (False, True)
    small = planted_partition(K, 30, 12, 1, rng=0)
    assert judged(weighed(small.graph, "normalized_cut"), small.labels.astype(np.int32)) == (False, True)
    crumb = labels.copy()
    crumb[:3] = K
    assert not judged(weighed(graph, "normalized_cut"), crumb)[0]
    alone = weighed(graph, "normalized_cut")
    assert not are_clearly_pure(alone, *assigned(alone, np.zeros_like(labels), 1), Progress())


def test_clusters_of_a_cut_that_are_pure_take_a_sixteenth_and_one_look(blocks):
    graph, labels = blocks[0]
    on, progress = weighed(graph, "normalized_cut"), Progress()
    found = assigned(on, labels, K)
    progress.watch(graph)
    fragments = 2 * labels + np.arange(len(labels), dtype=np.int32) % 2
    whole = InMemory(on, K, 1.0, np.random.default_rng(0), progress)
    partition, impure = purified(whole, Parted(*found), fragments, False)
    assert not impure and (partition.labels != labels).mean() < 0.01
    assert sum(progress.entries_read.values()) < (1.0 + 1.5 / EVERY) * graph.n_entries
