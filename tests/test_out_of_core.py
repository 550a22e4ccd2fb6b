"""Clustering a graph that is mapped from a store: the same labels as in memory, and no copy of its entries."""

import numpy as np
import pytest
from graphclust.partition.cycles import assigned
from graphclust.partition.healing import Partition
from graphclust.partition.moves import summed
from graphclust.partition.reduction import reduced
from scipy import sparse

from graphclust import (
    adjusted_rand_index,
    as_graph,
    coreset_sc,
    open_store,
    planted_partition,
    quotient_graph,
    save_store,
)
from graphclust.compiled.runtime import blocks
from graphclust.coreset import sampling
from graphclust.errors import GraphWarning
from graphclust.graph.container import Graph
from graphclust.graph.matrices import scipy_csr
from graphclust.objective.objective import Weighed, weighed
from graphclust.partition import clustering, in_memory, quotient, small_graphs, streamed_quotient, turning
from graphclust.partition.resolution import goal_of
from graphclust.partition.small_components import masked

N_BLOCKS, SIZE = 12, 150


def planted_with_crumbs(weighted: bool) -> tuple[Graph, np.ndarray]:
    """Planted blocks, some triangles apart from them and some nodes without edges, all in a random order."""
    graph, labels = planted_partition(N_BLOCKS, SIZE, 14, 4, rng=3)
    triangle = sparse.csr_array(np.ones((3, 3)) - np.eye(3))
    matrix = sparse.block_diag([graph.to_scipy(), triangle, triangle, sparse.csr_array((5, 5))], format="coo")
    order = np.random.default_rng(4).permutation(matrix.shape[0])
    row, column = order[matrix.row], order[matrix.col]
    data = 0.25 * (1 + (row + column) % 4) if weighted else matrix.data  # sums of these are exact
    truth = np.full(matrix.shape[0], -1)
    truth[order[: len(labels)]] = labels
    with pytest.warns(GraphWarning, match="isolated"):
        return as_graph(sparse.coo_array((data, (row, column)), shape=matrix.shape)), truth


@pytest.fixture(params=[False, True], ids=["unweighted", "weighted"])
def graph_and_truth(request):
    return planted_with_crumbs(request.param)


@pytest.mark.parametrize(
    "options",
    [
        {"method": "two-step", "coreset_size": 900},
        {"method": "two-step", "coreset_size": 900, "objective": "normalized_cut"},
        {"method": "two-step", "coreset_size": 900, "objective": "ratio_cut", "components": "all"},
        {"method": "multilevel"},
        {"method": "paper", "coreset_size": 600},
    ],
    ids=lambda options: "-".join(map(str, options.values())),
)
def test_a_store_gives_the_labels_of_the_graph_in_memory(graph_and_truth, options, tmp_path, monkeypatch):
    graph, _ = graph_and_truth
    monkeypatch.setattr(streamed_quotient, "STREAMED", 0)
    expected = coreset_sc(graph, N_BLOCKS, rng=5, **options).labels
    save_store(tmp_path / "g", graph)
    assert (coreset_sc(open_store(tmp_path / "g"), N_BLOCKS, rng=5, **options).labels == expected).all()
    monkeypatch.setattr("graphclust.compiled.runtime.blocks.n_threads", lambda: 1)
    assert (coreset_sc(open_store(tmp_path / "g"), N_BLOCKS, rng=5, **options).labels == expected).all()
    monkeypatch.undo()
    monkeypatch.setattr(streamed_quotient, "STREAMED", 0)
    monkeypatch.setattr(blocks.row_blocks, "__defaults__", (123,))
    monkeypatch.setattr(blocks.entry_blocks, "__defaults__", (777,))
    monkeypatch.setattr("graphclust.graph.kernel.NODES_AT_A_TIME", 100)
    monkeypatch.setattr("graphclust.partition.coreset_regions.WEIGHTS_AT_A_TIME", 99)
    monkeypatch.setattr("graphclust.coreset.label_extension.LEAST_ROWS", 64)
    monkeypatch.setattr(streamed_quotient, "ENTRIES_PER_STEP", 500)
    assert (coreset_sc(str(tmp_path / "g"), N_BLOCKS, rng=5, **options).labels == expected).all()


def test_clustering_from_a_coreset_copies_no_entries(graph_and_truth, monkeypatch):
    graph, truth = graph_and_truth
    sizes = []
    subgraph = Graph.subgraph
    monkeypatch.setattr(Graph, "subgraph", lambda self, nodes: sizes.append(len(nodes)) or subgraph(self, nodes))
    found = coreset_sc(graph, N_BLOCKS, method="two-step", coreset_size=900, rng=5)
    assert max(sizes, default=0) <= 900
    assert (found.labels[graph.isolated] == -1).all() and (found.labels[~graph.isolated] >= 0).all()
    crumbs = (truth < 0) & ~graph.isolated
    assert crumbs.sum() == 6 and found.undecided[crumbs].all(), "triangles joined the largest cluster"
    largest = np.bincount(found.labels[truth >= 0], weights=graph.degrees[truth >= 0]).argmax()
    assert (found.labels[crumbs] == largest).all()
    assert sum(found.decided.values()) == pytest.approx(1.0)


def test_passes_over_the_entries_are_counted(graph_and_truth):
    graph, _ = graph_and_truth
    found = coreset_sc(graph, N_BLOCKS, method="two-step", coreset_size=900, rng=5)
    read = found.entries_read
    assert read["components"] == graph.n_entries and read["merging"] % graph.n_entries == 0
    rows = np.diff(graph.indptr)
    assert rows[found.coreset.nodes].sum() <= read["coreset graph"] < graph.n_entries
    assert read["mending"] >= 3 * graph.n_entries and set(read) <= set(found.seconds)
    assert "times over" in str(found)


def test_the_published_method_reads_no_other_rows_than_those_it_sampled(tmp_path, monkeypatch):
    """From a store it needs less than a tenth of the entries, and makes no pass over them unless figures are wanted."""
    graph, truth = planted_partition(20, 500, 80, 20, rng=3)
    save_store(tmp_path / "g", graph)
    seeds, passes = [], []
    real_seeding, real_pass = sampling.d2_seeding, clustering.cut_and_volume
    monkeypatch.setattr(sampling, "d2_seeding", lambda *of, **how: seeds.append(real_seeding(*of, **how)) or seeds[-1])
    monkeypatch.setattr(clustering, "cut_and_volume", lambda *of: passes.append(of) or real_pass(*of))
    options = {"method": "paper", "coreset_size": 800, "rng": 5}
    found = coreset_sc(open_store(tmp_path / "g", verify="fast"), 20, **options)
    assert adjusted_rand_index(found.labels, truth) > 0.95 and found.undecided.mean() < 0.002
    touched = np.zeros(graph.n_nodes, bool)
    touched[found.coreset.nodes] = touched[seeds[0].nodes] = True
    lengths = np.diff(graph.indptr)
    assert lengths[touched].sum() < 0.1 * graph.n_entries
    assert found.entries_read["labelling"] == found.entries_read["coreset graph"] == lengths[found.coreset.nodes].sum()
    lost = Graph(
        graph.indptr, np.where(np.repeat(touched, lengths), graph.indices, 0).astype(np.int32), None, graph.degrees,
        graph.loops,
    )  # fmt: skip
    assert (coreset_sc(lost, 20, **options).labels == found.labels).all(), "without the other rows"
    assert not passes and found.normalized_cut > 0 and len(passes) == 1


@pytest.mark.parametrize(("objective", "most"), [("modularity", 5.0), ("normalized_cut", 4.0)])
def test_mending_takes_few_passes(objective, most):
    """A quotient and a look at all nodes are one each, and what moves is read beside them."""
    graph, truth = planted_partition(20, 500, 14, 4, degree_exponent=2.5, rng=3)
    found = coreset_sc(graph, 20, method="two-step", coreset_size=2000, objective=objective, rng=5)
    assert adjusted_rand_index(found.labels, truth) > 0.95
    assert found.entries_read["mending"] < most * graph.n_entries


@pytest.mark.parametrize("objective", ["normalized_cut", "ratio_cut"])
def test_a_quotient_tells_the_sums_of_clusters_made_of_its_nodes(graph_and_truth, objective, monkeypatch):
    graph, truth = graph_and_truth
    searched = truth >= 0
    on = weighed(masked(graph, searched), objective)
    on = Weighed(on.graph, on.terms._replace(mass=np.where(searched, on.terms.mass, 0.0)))
    pieces = np.where(searched, labelled(graph, 40), -1).astype(np.int32)
    of_piece = (np.arange(40) % 7).astype(np.int32)
    labels = np.where(searched, of_piece[pieces], np.int32(-1))
    expected = summed(on, labels, 7)[1]
    reduction = reduced(on, pieces, 40)
    assert (reduction.prolonged(of_piece) == labels).all() and (reduction.restricted(labels) == of_piece).all()
    of_pieces = summed(reduction.small, of_piece, 7)[1]
    found = reduction.sums(of_pieces, labels)
    assert all((of == exact).all() for of, exact in zip(found, expected, strict=True))
    monkeypatch.setattr(streamed_quotient, "STREAMED", 0)
    monkeypatch.setattr(streamed_quotient, "MOST_IN_A_TABLE", 39)
    monkeypatch.setattr(streamed_quotient, "SAMPLED", graph.n_entries // 3)
    assert reduced(on, pieces, 40).sums(of_pieces, labels) is None


@pytest.fixture(scope="module")
def shuffled():
    """150 clusters whose nodes stand all over the file, as in a store of a graph that is found by crawling."""
    graph, truth = planted_partition(150, 200, 30, 8, rng=1)
    order = np.random.default_rng(0).permutation(graph.n_nodes)
    return as_graph(graph.to_scipy()[order][:, order]), truth[order]


def sampled_quotients(monkeypatch, n_entries):
    monkeypatch.setattr(streamed_quotient, "STREAMED", 1 << 10)
    monkeypatch.setattr(streamed_quotient, "MOST_IN_A_TABLE", 100)
    monkeypatch.setattr(streamed_quotient, "SAMPLED", n_entries)
    monkeypatch.setattr(small_graphs, "AT_ONCE", 0)  # in one call nothing is sampled


def not_turned(aim, whole, found, fragments, estimated, **named):
    """In place of merging anew: nothing."""
    goal = goal_of(aim._replace(resolution=1.0), whole.weighed(aim.name), whole.k, np.ones(whole.k + 1))
    return Partition(found.labels.copy(), found.sums, goal), False


def misled(aim, quotient, of_piece, k, *rest):
    """In place of merging anew: clusters that have nothing to do with the pieces."""
    goal = goal_of(aim._replace(resolution=1.0), quotient, k, np.ones(k + 1))
    return assigned(quotient, np.roll(of_piece, 1), k), goal


def test_where_regions_were_merged_by_a_sample_they_are_merged_anew_once_they_are_pure(shuffled, monkeypatch):
    graph, truth = shuffled
    sampled_quotients(monkeypatch, 60_000)
    options = {"method": "two-step", "objective": "normalized_cut", "rng": 2, "coreset_size": 2_000}
    twice = coreset_sc(graph, 150, **options)
    monkeypatch.setattr(turning, "turned", not_turned)
    once = coreset_sc(graph, 150, **options)
    assert twice.normalized_cut < 0.98 * once.normalized_cut
    assert adjusted_rand_index(twice.labels, truth) > adjusted_rand_index(once.labels, truth) + 0.05


@pytest.mark.parametrize("objective", ["normalized_cut", "modularity", "ratio_cut"])
def test_a_sample_that_misleads_changes_nothing(shuffled, objective, monkeypatch):
    graph, _ = shuffled
    sampled_quotients(monkeypatch, 300_000)  # enough to find the clusters at once
    options = {"method": "two-step", "objective": objective, "rng": 0}
    seen = []
    real = in_memory.moved_until_stable

    def noted(on, labels, *rest, **named):
        sums = real(on, labels, *rest, **named)
        seen.append(labels.copy())
        return sums

    monkeypatch.setattr(in_memory, "moved_until_stable", noted)
    monkeypatch.setattr(in_memory, "merged_anew", misled)
    found = coreset_sc(graph, 150, **options)
    before, by_sample, after = seen[:3]
    assert (before != by_sample).mean() > 0.5 and (before != after).mean() < 0.2
    assert adjusted_rand_index(found.labels, seen[-1]) == 1.0 or adjusted_rand_index(found.labels, before) == 1.0


def labelled(graph: Graph, k: int) -> np.ndarray:
    return np.random.default_rng(6).integers(k, size=graph.n_nodes).astype(np.int32)


def test_the_quotient_is_the_same_in_the_order_of_the_file(graph_and_truth, monkeypatch):
    graph, _ = graph_and_truth
    cluster = labelled(graph, 40)
    expected = quotient_graph(graph, cluster)
    monkeypatch.setattr(streamed_quotient, "STREAMED", 0)
    for entries in (100, 1 << 24):
        monkeypatch.setattr(streamed_quotient, "ENTRIES_PER_STEP", entries)
        streamed = quotient.contract(graph, cluster, 40)
        assert streamed == expected
        assert (streamed.loops == expected.loops).all() and (streamed.degrees == expected.degrees).all()


@pytest.mark.parametrize("streamed", [0, 1 << 60])
def test_left_out_nodes_are_in_no_quotient(graph_and_truth, monkeypatch, streamed):
    graph, truth = graph_and_truth
    monkeypatch.setattr(streamed_quotient, "STREAMED", streamed)
    searched = truth >= 0
    cluster = np.where(searched, labelled(graph, 40), -1).astype(np.int32)
    found = quotient.contract(masked(graph, searched), cluster, 40).with_sorted_rows()
    nodes = np.flatnonzero(searched)
    expected = quotient_graph(graph.subgraph(nodes), cluster[nodes])
    assert found == expected and (found.degrees == expected.degrees).all() and (found.loops == expected.loops).all()


def test_a_sample_of_the_rows_estimates_the_quotient(monkeypatch):
    """Volumes are exact; links between clusters are right on average, and of all rows they are exact."""
    graph, truth = planted_with_crumbs(True)
    k = 3 * N_BLOCKS
    cluster = (3 * np.maximum(truth, 0) + labelled(graph, 3)).astype(np.int32)
    expected = quotient_graph(graph, cluster)
    monkeypatch.setattr(streamed_quotient, "STREAMED", 0)
    monkeypatch.setattr(streamed_quotient, "MOST_IN_A_TABLE", 0)
    exact = quotient.contract(graph, cluster, k)
    assert np.allclose(exact.to_scipy().toarray(), expected.to_scipy().toarray())
    monkeypatch.setattr(streamed_quotient, "RUN", 4)
    monkeypatch.setattr(streamed_quotient, "SAMPLED", graph.n_entries // 3)
    sampled = quotient.contract(graph, cluster, k)
    found = sampled.to_scipy().toarray()
    assert np.allclose(found.sum(axis=1), expected.degrees) and np.array_equal(found, found.T)
    assert np.allclose(sampled.degrees, expected.degrees) and np.array_equal(sampled.loops, found.diagonal())
    heavy = np.triu(expected.to_scipy().toarray(), 1) > 100
    ratio = found[heavy] / expected.to_scipy().toarray()[heavy]
    assert heavy.sum() == k and abs(ratio.mean() - 1) < 0.05 and ratio.std() > 0.02, "an estimate, not the sum"


@pytest.mark.parametrize("method", ["two-step", "multilevel"])
def test_a_remark_says_where_the_weights_between_regions_are_an_estimate(graph_and_truth, method, monkeypatch):
    graph, _ = graph_and_truth
    options = {"method": method, "rng": 5} | ({"coreset_size": 900} if method == "two-step" else {})
    monkeypatch.setattr(streamed_quotient, "STREAMED", 0)
    monkeypatch.setattr(streamed_quotient, "SAMPLED", graph.n_entries // 2)
    remarks = [coreset_sc(graph, N_BLOCKS, **options).remarks]
    monkeypatch.setattr(streamed_quotient, "MOST_IN_A_TABLE", N_BLOCKS)
    remarks.append(coreset_sc(graph, N_BLOCKS, **options).remarks)
    estimated = [[remark for remark in said if "estimated from a sample" in remark] for said in remarks]
    assert not estimated[0] and len(estimated[1]) == 1 and "6,144 regions" in estimated[1][0]


@pytest.mark.filterwarnings("ignore::graphclust.errors.GraphWarning")
def test_entries_are_counted_in_64_bits_past_2_to_the_31(monkeypatch):
    graph, _ = planted_with_crumbs(False)
    narrow = scipy_csr(graph.indptr, graph.indices, None, graph.n_nodes)
    monkeypatch.setattr("graphclust.graph.matrices.MANY_ENTRIES", 10)
    wide = graph.to_scipy()
    assert narrow.indptr.dtype == np.int32 and wide.indptr.dtype == wide.indices.dtype == np.int64
    assert (narrow != wide).nnz == 0 and as_graph(wide) == as_graph(narrow)
