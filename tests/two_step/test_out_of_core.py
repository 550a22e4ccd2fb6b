"""Clustering a graph that is mapped from a store: the same labels as in memory, and no copy of its entries."""

import numpy as np
import pytest
from scipy import sparse

import graphclust as gc
from graphclust.compiled.runtime import blocks
from graphclust.coreset import sampling
from graphclust.engine import contraction, levels
from graphclust.graph.container import scipy_csr
from graphclust.results import clustering
from graphclust.results.quotient import contract_graph
from graphclust.two_step.in_memory import InMemory

N_BLOCKS, SIZE = 12, 150


def planted_with_crumbs(weighted: bool) -> tuple[gc.Graph, np.ndarray]:
    """Planted blocks, some triangles apart from them and some nodes without edges, all in a random order."""
    graph, labels = gc.planted_partition(N_BLOCKS, SIZE, 14, 4, rng=3)
    triangle = sparse.csr_array(np.ones((3, 3)) - np.eye(3))
    matrix = sparse.block_diag([graph.to_scipy(), triangle, triangle, sparse.csr_array((5, 5))], format="coo")
    order = np.random.default_rng(4).permutation(matrix.shape[0])
    row, column = order[matrix.row], order[matrix.col]
    data = 0.25 * (1 + (row + column) % 4) if weighted else matrix.data  # sums of these are exact
    truth = np.full(matrix.shape[0], -1)
    truth[order[: len(labels)]] = labels
    with pytest.warns(gc.GraphWarning, match="isolated"):
        return gc.as_graph(sparse.coo_array((data, (row, column)), shape=matrix.shape)), truth


@pytest.fixture(params=[False, True], ids=["unweighted", "weighted"])
def graph_and_truth(request):
    return planted_with_crumbs(request.param)


@pytest.mark.parametrize(
    "options",
    [
        {"method": "two-step", "coreset": gc.Coreset(size=900)},
        {"method": "two-step", "coreset": gc.Coreset(size=900), "objective": "normalized_cut"},
        {"method": "two-step", "coreset": gc.Coreset(size=900), "objective": "ratio_cut", "components": "all"},
        {"method": "multilevel"},
        {"method": "paper", "coreset": gc.Coreset(size=600)},
    ],
    ids=lambda options: "-".join(map(str, options.values())),
)
def test_a_store_gives_the_labels_of_the_graph_in_memory(graph_and_truth, options, tmp_path, monkeypatch):
    graph, _ = graph_and_truth
    monkeypatch.setattr(contraction, "STREAMED", 0)
    expected = gc.coreset_sc(graph, N_BLOCKS, rng=5, **options).labels
    gc.save_store(tmp_path / "g", graph)
    assert (gc.coreset_sc(gc.open_store(tmp_path / "g"), N_BLOCKS, rng=5, **options).labels == expected).all()
    monkeypatch.setattr("graphclust.compiled.runtime.blocks.n_threads", lambda: 1)
    assert (gc.coreset_sc(gc.open_store(tmp_path / "g"), N_BLOCKS, rng=5, **options).labels == expected).all()
    monkeypatch.undo()
    monkeypatch.setattr(contraction, "STREAMED", 0)
    monkeypatch.setattr(blocks.row_blocks, "__defaults__", (123,))
    monkeypatch.setattr(blocks.entry_blocks, "__defaults__", (777, blocks.ROWS_PER_BLOCK))
    monkeypatch.setattr("graphclust.objective.kernel.NODES_AT_A_TIME", 100)
    monkeypatch.setattr("graphclust.two_step.method.WEIGHTS_AT_A_TIME", 99)
    monkeypatch.setattr("graphclust.coreset.label_extension.LEAST_ROWS", 64)
    monkeypatch.setattr(contraction, "ENTRIES_PER_STEP", 500)
    assert (gc.coreset_sc(str(tmp_path / "g"), N_BLOCKS, rng=5, **options).labels == expected).all()


def test_clustering_from_a_coreset_copies_no_entries(graph_and_truth, monkeypatch):
    graph, truth = graph_and_truth
    sizes = []
    subgraph = gc.Graph.subgraph
    monkeypatch.setattr(gc.Graph, "subgraph", lambda self, nodes: sizes.append(len(nodes)) or subgraph(self, nodes))
    found = gc.coreset_sc(graph, N_BLOCKS, method="two-step", coreset=gc.Coreset(size=900), rng=5)
    assert max(sizes, default=0) <= 900
    crumbs = (truth < 0) & ~graph.isolated
    assert (found.labels[truth < 0] == -1).all() and (found.labels[truth >= 0] >= 0).all()
    assert crumbs.sum() == 6 and (found.aside == crumbs).all(), "triangles are put aside"
    assert sum(found.decided.values()) == pytest.approx(1.0)


def test_passes_over_the_entries_are_counted(graph_and_truth):
    graph, _ = graph_and_truth
    found = gc.coreset_sc(graph, N_BLOCKS, method="two-step", coreset=gc.Coreset(size=900), rng=5)
    read = found.entries_read
    assert read["components"] == graph.n_entries and read["merging"] % graph.n_entries == 0
    rows = np.diff(graph.indptr)
    assert rows[found.coreset.nodes].sum() <= read["coreset graph"] < graph.n_entries
    assert read["refining"] >= 3 * graph.n_entries and set(read) <= set(found.seconds)
    assert "times over" in str(found)


def test_the_published_method_reads_no_other_rows_than_those_it_sampled(tmp_path, monkeypatch):
    """From a store it needs less than a tenth of the entries, and makes no pass over them unless figures are wanted."""
    graph, truth = gc.planted_partition(20, 500, 80, 20, rng=3)
    gc.save_store(tmp_path / "g", graph)
    seeds, passes = [], []
    real_seeding, real_pass = sampling.d2_seeding, clustering.cut_and_volume
    monkeypatch.setattr(sampling, "d2_seeding", lambda *of, **how: seeds.append(real_seeding(*of, **how)) or seeds[-1])
    monkeypatch.setattr(clustering, "cut_and_volume", lambda *of: passes.append(of) or real_pass(*of))
    options = {"method": "paper", "coreset": gc.Coreset(size=800), "rng": 5}
    found = gc.coreset_sc(gc.open_store(tmp_path / "g", verify="fast"), 20, **options)
    assert gc.adjusted_rand_index(found.labels, truth) > 0.95 and found.undecided.mean() < 0.002
    touched = np.zeros(graph.n_nodes, bool)
    touched[found.coreset.nodes] = touched[seeds[0].nodes] = True
    lengths = np.diff(graph.indptr)
    assert lengths[touched].sum() < 0.1 * graph.n_entries
    assert found.entries_read["labeling"] == found.entries_read["coreset graph"] == lengths[found.coreset.nodes].sum()
    lost = gc.Graph(
        graph.indptr, np.where(np.repeat(touched, lengths), graph.indices, 0).astype(np.int32), None, graph.degrees,
        graph.loops,
    )  # fmt: skip
    assert (gc.coreset_sc(lost, 20, **options).labels == found.labels).all(), "without the other rows"
    assert not passes and found.normalized_cut > 0 and len(passes) == 1


@pytest.mark.parametrize(("objective", "most"), [("modularity", 5.0), ("normalized_cut", 4.0)])
def test_refining_takes_few_passes(objective, most):
    """A round reads all rows thrice, to contract and to look at all nodes; what moves is read beside them."""
    graph, truth = gc.planted_partition(20, 500, 14, 4, degree_exponent=2.5, rng=3)
    found = gc.coreset_sc(graph, 20, method="two-step", coreset=gc.Coreset(size=2000), objective=objective, rng=5)
    assert gc.adjusted_rand_index(found.labels, truth) > 0.95
    assert found.entries_read["refining"] < most * graph.n_entries


def labeled(graph: gc.Graph, k: int) -> np.ndarray:
    return np.random.default_rng(6).integers(k, size=graph.n_nodes).astype(np.int32)


def test_the_quotient_is_the_same_in_the_order_of_the_file(graph_and_truth, monkeypatch):
    graph, _ = graph_and_truth
    cluster = labeled(graph, 40)
    expected = gc.quotient_graph(graph, cluster)
    monkeypatch.setattr(levels, "AT_ONCE", 0)
    monkeypatch.setattr(contraction, "STREAMED", 0)
    for entries in (100, 1 << 24):
        monkeypatch.setattr(contraction, "ENTRIES_PER_STEP", entries)
        streamed = contract_graph(graph, cluster, 40)
        assert streamed == expected
        assert (streamed.loops == expected.loops).all() and (streamed.degrees == expected.degrees).all()


@pytest.mark.parametrize("streamed", [0, 1 << 60])
@pytest.mark.parametrize("name", ["modularity", "ratio_cut"])
def test_left_out_nodes_weigh_nothing_in_a_contraction(graph_and_truth, monkeypatch, streamed, name):
    graph, truth = graph_and_truth
    monkeypatch.setattr(levels, "AT_ONCE", 0)
    monkeypatch.setattr(contraction, "STREAMED", streamed)
    searched, nodes = truth >= 0, np.flatnonzero(truth >= 0)
    cluster = np.where(searched, labeled(graph, 40), 0).astype(np.int32)
    rng = np.random.default_rng(0)
    found = InMemory(graph, searched, 40, rng, gc.Progress()).contract(cluster, 40, name)
    alone = InMemory(graph.subgraph(nodes), np.ones(len(nodes), bool), 40, rng, gc.Progress())
    expected = alone.contract(cluster[nodes], 40, name)
    for ours, theirs in zip(found.rows, expected.rows, strict=True):
        assert np.array_equal(np.sort(ours), np.sort(theirs))
    assert np.allclose(found.terms.loops, expected.terms.loops) and np.allclose(found.terms.mass, expected.terms.mass)


def test_a_sample_of_the_rows_estimates_the_quotient(monkeypatch):
    """Volumes and loops are exact; links between clusters are right on average, and of all rows they are exact."""
    graph, truth = planted_with_crumbs(True)
    k = 3 * N_BLOCKS
    cluster = (3 * np.maximum(truth, 0) + labeled(graph, 3)).astype(np.int32)
    expected = gc.quotient_graph(graph, cluster)
    monkeypatch.setattr(levels, "AT_ONCE", 0)
    monkeypatch.setattr(contraction, "STREAMED", 0)
    monkeypatch.setattr(contraction, "MOST_IN_A_TABLE", 0)
    exact = contract_graph(graph, cluster, k)
    assert np.allclose(exact.to_scipy().toarray(), expected.to_scipy().toarray())
    monkeypatch.setattr(contraction, "RUN", 4)
    monkeypatch.setattr(contraction, "SAMPLED", graph.n_entries // 3)
    sampled = contract_graph(graph, cluster, k)
    found = sampled.to_scipy().toarray()
    assert np.allclose(found.sum(axis=1), expected.degrees) and np.array_equal(found, found.T)
    assert np.allclose(sampled.degrees, expected.degrees) and np.array_equal(sampled.loops, found.diagonal())
    heavy = np.triu(expected.to_scipy().toarray(), 1) > 100
    ratio = found[heavy] / expected.to_scipy().toarray()[heavy]
    assert heavy.sum() == k and abs(ratio.mean() - 1) < 0.05 and ratio.std() > 0.02, "an estimate, not the sum"


@pytest.mark.parametrize("method", ["two-step", "multilevel"])
def test_a_remark_says_where_the_weights_between_regions_are_an_estimate(graph_and_truth, method, monkeypatch):
    graph, _ = graph_and_truth
    options = {"method": method, "rng": 5} | ({"coreset": gc.Coreset(size=900)} if method == "two-step" else {})
    monkeypatch.setattr(contraction, "STREAMED", 0)
    monkeypatch.setattr(contraction, "SAMPLED", graph.n_entries // 2)
    remarks = [gc.coreset_sc(graph, N_BLOCKS, **options).remarks]
    monkeypatch.setattr(contraction, "MOST_IN_A_TABLE", N_BLOCKS)
    remarks.append(gc.coreset_sc(graph, N_BLOCKS, **options).remarks)
    estimated = [[remark for remark in said if "estimated from a sample" in remark] for said in remarks]
    assert not estimated[0] and len(estimated[1]) == 1 and "6,144 regions" in estimated[1][0]


@pytest.mark.filterwarnings("ignore::graphclust.errors.GraphWarning")
def test_entries_are_counted_in_64_bits_past_2_to_the_31(monkeypatch):
    graph, _ = planted_with_crumbs(False)
    narrow = scipy_csr(graph.indptr, graph.indices, None, graph.n_nodes)
    monkeypatch.setattr("graphclust.graph.container.MANY_ENTRIES", 10)
    wide = graph.to_scipy()
    assert narrow.indptr.dtype == np.int32 and wide.indptr.dtype == wide.indices.dtype == np.int64
    assert (narrow != wide).nnz == 0 and gc.as_graph(wide) == gc.as_graph(narrow)
