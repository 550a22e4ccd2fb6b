"""coreset_sc end to end: every kind of input, every kind of graph, the result and its report."""

import json
import warnings
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from cases import refuses
from graphs import all_graphs, make, make_graph, poisoned_except
from quiet_calls import PAPER, quietly
from scipy import sparse

import graphclust
from graphclust import Coreset, coreset_sc
from graphclust.coreset import paper as paper
from graphclust.errors import ConvergenceWarning, GraphWarning, ParameterError
from graphclust.generators import stochastic_block_model
from graphclust.objective.agreement import adjusted_rand_index
from graphclust.objective.cuts import normalized_cut
from graphclust.points.k_means import lloyd
from graphclust.points.k_means.lloyd import kmeans
from graphclust.results.from_labels import numbering_by_size
from graphclust.spectral import embedding as embeddings
from graphclust.spectral.embedding import spectral_embedding
from graphclust.spectral.whole_graph import fast_spectral_clustering, spectral_clustering
from graphclust.two_step import method as two_step
from graphclust.two_step.method import share_in_common, suits_a_coreset


@pytest.fixture(scope="module")
def blocks():
    return stochastic_block_model([300] * 8, 0.2, 0.002, rng=404)


@pytest.mark.parametrize("name", [n for n in all_graphs() if n not in ("one node", "no edges")])
@pytest.mark.parametrize("embedding", ["eigsh", "power"])
@pytest.mark.parametrize("all_apart", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_paper_method_labels_just_the_nodes_with_edges(name, embedding, all_apart):
    matrix = make(name)
    n = matrix.shape[0]
    for k in {n} if all_apart else {1, min(2, n), min(5, n)}:
        for size in (None, k, max(k, n // 2)):
            result = quietly(matrix, k, coreset=Coreset(size=size, embedding=embedding), rng=3, **PAPER)
            assert result.labels.shape == (n,)
            isolated = matrix.sum(axis=1) == 0
            assert (result.labels[isolated] == -1).all()
            assert (result.labels[~isolated] >= 0).all()
            assert set(result.labels[~isolated]) == set(range(result.n_clusters))
            assert result.n_clusters <= k
            assert (np.diff(result.sizes) <= 0).all()
            assert result.normalized_cut == pytest.approx(normalized_cut(make_graph(name), result.labels))
            assert str(result)
            json.dumps(result.report())
    assert (quietly(matrix, 1, rng=0, **PAPER).labels[~isolated] == 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in all_graphs() if n not in ("one node", "no edges")])
@pytest.mark.parametrize("method", [spectral_clustering, fast_spectral_clustering])
def test_every_graph_goes_through_the_baselines(name, method):
    matrix = make(name)
    n = matrix.shape[0]
    isolated = matrix.sum(axis=1) == 0
    for k in {1, min(2, n), min(5, n), n}:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = method(matrix, k, rng=3)
        assert (found.labels[isolated] == -1).all()
        assert set(found.labels[~isolated]) == set(range(found.n_clusters))
        assert (np.diff(found.sizes) <= 0).all() and found.n_clusters <= k
        few = [str(warning.message) for warning in caught if warning.category is ConvergenceWarning]
        assert few == ([f"only {found.n_clusters} of k={k} clusters have nodes"] if found.n_clusters < k else [])
        assert set(few) <= set(found.remarks)


def test_the_baselines_weigh_nodes_by_their_degrees():
    graph = make_graph("power-law blocks")

    def by_hand(weights):
        rng = np.random.default_rng(0)
        points = spectral_embedding(graph, 6, rng=rng)
        return kmeans(points, 6, sample_weight=weights, init="greedy k-means++", n_init=3, rng=rng).labels

    found = spectral_clustering(graph, 6, rng=0).labels
    assert adjusted_rand_index(found, by_hand(graph.degrees)) == 1
    assert adjusted_rand_index(found, by_hand(None)) < 1


@pytest.mark.parametrize("name", ["block model", "two cliques", "barbell", "looped block model"])
def test_clear_clusters_are_found_exactly(name):
    of = {"block model": [40] * 3, "two cliques": [9, 11], "barbell": [10] * 2, "looped block model": [20, 30, 10]}
    planted = np.repeat(range(len(of[name])), of[name])
    found = coreset_sc(make(name), len(of[name]), coreset=Coreset(embedding="eigsh"), rng=5, **PAPER)
    assert adjusted_rand_index(found.labels, planted) == 1


def test_the_power_method_finds_most_blocks(blocks):
    """Three random columns for eight blocks: some draws of them do not tell two blocks apart."""
    found = [
        coreset_sc(blocks.graph, 8, coreset=Coreset(embedding="power"), rng=seed, **PAPER).labels for seed in range(12)
    ]
    agreement = [adjusted_rand_index(labels, blocks.labels) for labels in found]
    assert np.median(agreement) > 0.9
    assert max(agreement) == 1


def test_planted_blocks_from_a_coreset_of_an_eighth(blocks):
    result = coreset_sc(blocks.graph, 8, coreset=Coreset(size=300), rng=1, **PAPER)
    assert len(result.coreset.nodes) <= 300
    assert adjusted_rand_index(result.labels, blocks.labels) > 0.99
    on_coreset = adjusted_rand_index(result.coreset.labels, blocks.labels[result.coreset.nodes])
    assert on_coreset > 0.97


def test_after_the_gate_only_rows_of_sampled_nodes_are_read(blocks):
    options = {"coreset": Coreset(size=200), "rng": 9, **PAPER}
    result = coreset_sc(blocks.graph, 8, **options)
    lengths = np.diff(blocks.graph.indptr)
    for stage in ("coreset graph", "labeling"):
        assert result.entries_read[stage] == lengths[result.coreset.nodes].sum()
    kernel = graphclust.NormalizedCutKernel.of(blocks.graph)
    seeds = graphclust.d2_seeding(kernel, 16, rng=9)
    assert result.entries_read["sampling"] == lengths[seeds.nodes].sum()
    poisoned = poisoned_except(blocks.graph, np.union1d(result.coreset.nodes, seeds.nodes))
    again = coreset_sc(poisoned, 8, **options)
    assert (again.labels == result.labels).all()
    assert (again.undecided == result.undecided).all()


def every_form(matrix):
    """The same weighted graph in every form that is taken."""
    csr = matrix.astype(np.float64)
    wide = csr.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    shuffled = sparse.coo_array(csr)
    order = np.random.default_rng(0).permutation(csr.nnz)
    shuffled = sparse.coo_array((shuffled.data[order], (shuffled.row[order], shuffled.col[order])), shape=csr.shape)
    unsorted = csr.copy()
    for row in range(csr.shape[0]):
        part = slice(unsorted.indptr[row], unsorted.indptr[row + 1])
        unsorted.indices[part] = unsorted.indices[part][::-1].copy()
        unsorted.data[part] = unsorted.data[part][::-1].copy()
    unsorted.has_sorted_indices = False
    named = nx.from_scipy_sparse_array(csr)
    yield "csr_array", csr
    yield "csr_matrix", sparse.csr_matrix(csr)
    for form in ("csc", "coo", "lil", "dok", "bsr"):
        yield form, csr.asformat(form)
    yield "int64 indices", wide
    yield "shuffled coo", shuffled
    yield "unsorted rows", unsorted
    yield "float32", csr.astype(np.float32)
    yield "dense", csr.toarray()
    yield "networkx", named
    yield "Graph", graphclust.as_graph(csr)


@pytest.mark.parametrize("name", ["block model", "weighted", "power-law blocks"])
def test_same_labels_for_every_form_of_the_same_graph(name):
    matrix = make(name)
    expected = None
    for form, graph in every_form(matrix):
        labels = quietly(graph, 3, coreset=Coreset(size=6 if name == "weighted" else 60), rng=17, **PAPER).labels
        expected = labels if expected is None else expected
        assert (labels == expected).all(), form


def test_the_caller_s_matrix_is_not_modified():
    matrix = make("block model")
    for form, graph in every_form(matrix):
        if sparse.issparse(graph) and graph.format in ("csr", "csc"):
            before = graph.data.tobytes(), graph.indices.tobytes(), graph.indptr.tobytes(), graph.has_sorted_indices
            quietly(graph, 3, rng=1, **PAPER)
            after = graph.data.tobytes(), graph.indices.tobytes(), graph.indptr.tobytes(), graph.has_sorted_indices
            assert before == after, form


def test_networkx_nodes_of_any_kind_keep_their_names():
    names = ["a", ("b", 1), frozenset({3}), 4.5, None.__class__, "f", "g", "h"]
    graph = nx.relabel_nodes(nx.barbell_graph(4, 0), dict(enumerate(names)))
    result = coreset_sc(graph, 2, rng=0, **PAPER)
    assert list(result.nodes) == names
    assert sorted(map(len, result.communities())) == [4, 4]
    assert set(names[:4]) in result.communities()
    assert result.as_dict()[("b", 1)] == result.labels[1]


def test_edge_weights_are_read_from_the_attribute():
    graph = nx.Graph()
    graph.add_edge(0, 1, weight=1.0, strength=9.0)
    graph.add_edge(1, 2, weight=9.0, strength=1.0)
    graph.add_edge(2, 3, weight=1.0, strength=9.0)
    assert coreset_sc(graph, 2, rng=0, weight="strength", **PAPER).labels.tolist() == [0, 0, 1, 1]
    for options in ({"objective": "normalized_cut"}, {"resolution": 1.0}):
        assert len(set(coreset_sc(graph, 2, rng=0, **options).labels[1:3])) == 1


@pytest.mark.parametrize(("n_tiny", "said"), [(1, "1 component of 2 nodes"), (2, "2 components of 4 nodes")])
def test_components_put_aside_are_counted(n_tiny, said):
    graph = nx.disjoint_union_all([nx.gnp_random_graph(60, 0.2, seed=1), *[nx.path_graph(2)] * n_tiny])
    (remark,) = [remark for remark in coreset_sc(graph, 2, rng=0).remarks if "aside" in remark]
    assert remark == f'{said} put aside, in no cluster (label -1); components="all" searches all'


def test_figures_of_a_result_agree_with_its_labels(blocks):
    result = coreset_sc(blocks.graph, 8, coreset=Coreset(size=300), rng=1, **PAPER)
    assert result.k == result.n_clusters == 8 and result.graph is blocks.graph  # the gate is skipped for a Graph
    assert result.sizes.sum() == 2400
    assert result.volume.sum() == blocks.graph.total_volume
    assert result.conductance.shape == (8,)
    assert (result.conductance <= result.normalized_cut).all()
    assert list(result.nodes) == list(range(2400))
    assert result.as_dict()[5] == result.labels[5]
    assert (np.diff(result.coreset.nodes) > 0).all()
    assert result.coreset.labels.shape == result.coreset.weights.shape == result.coreset.nodes.shape
    assert not result.isolated.any()
    assert list(result.seconds) == [
        "gate", "D²-sampling", "importance sampling", "coreset graph", "embedding", "k-means", "labeling"
    ]  # fmt: skip
    text = str(result)
    words = ["2,400 nodes", "8 clusters", f"{result.normalized_cut:.4f}", "undecided", "gate", "total", "self-loop"]
    assert [word for word in words if word not in text] == []
    assert repr(result) == "Clustering(2400 nodes in 8 clusters)"


def test_undecided_nodes_are_shown():
    sparse_blocks = graphclust.planted_partition(5, 400, 4, 0.5, rng=8)
    result = quietly(sparse_blocks.graph, 5, coreset=Coreset(size=20), rng=3, **PAPER)
    assert result.undecided.mean() > 0.8
    assert f"{result.undecided.sum():,} nodes" in str(result)


def coresets_of(blocks, **how):
    found = coreset_sc(blocks.graph, 8, coreset=Coreset(size=600, **how), rng=1, **PAPER)
    assert adjusted_rand_index(found.labels, blocks.labels) > 0.9, how
    return found.coreset


@pytest.mark.slow
def test_another_diagonal_changes_the_coreset_drawn(blocks):
    plain = coresets_of(blocks)
    for loops, shift in (("given", 1.0), ("implied", 0.5)):
        coreset = coresets_of(blocks, loops=loops, shift=shift)
        assert not np.array_equal(coreset.nodes, plain.nodes)  # other distances, so that others are drawn
    refuses(ParameterError, "shift", coreset_sc, blocks.graph, 8, coreset=Coreset(loops="given"), **PAPER)


@pytest.mark.parametrize("how", [{"sampling": "naive"}, {"second_term": "voronoi"}, {"rounds": 2}])
def test_naive_sampling_voronoi_and_rounds_draw_other_coresets_as_good(blocks, how):
    assert not np.array_equal(coresets_of(blocks, **how).weights, coresets_of(blocks).weights)


@pytest.mark.parametrize(("embedding", "function"), [("eigsh", "spectral"), ("power", "fast_spectral")])
def test_coreset_weights_may_stand_for_its_degrees(blocks, embedding, function, monkeypatch):
    real, given = getattr(embeddings, f"{function}_embedding"), []

    def spy(*arguments, degrees, **options):
        given.append(degrees)
        return real(*arguments, degrees=degrees, **options)

    monkeypatch.setattr(embeddings, f"{function}_embedding", spy)
    how = Coreset(size=600, embedding=embedding, degrees="weights")
    found = coreset_sc(blocks.graph, 8, coreset=how, rng=1, **PAPER)
    coreset_sc(blocks.graph, 8, coreset=replace(how, degrees="row_sums"), rng=1, **PAPER)
    assert np.array_equal(given[0], found.coreset.weights) and given[1] is None


def test_coreset_nodes_count_by_their_weights_in_k_means(blocks, monkeypatch):
    real, given = lloyd.kmeans, []

    def spy(*arguments, sample_weight=None, **options):
        given.append(sample_weight)
        return real(*arguments, sample_weight=sample_weight, **options)

    monkeypatch.setattr(lloyd, "kmeans", spy)
    coreset = coresets_of(blocks)
    assert np.array_equal(given[0], coreset.weights) and np.ptp(coreset.weights) > 0


def test_fewer_clusters_than_asked_for_are_announced():
    with (
        pytest.warns(GraphWarning, match="have no neighbor in the coreset"),
        pytest.warns(ConvergenceWarning, match=r"only \d+ of k=6"),
    ):
        result = coreset_sc(nx.path_graph(30), 6, coreset=Coreset(size=6), rng=0, **PAPER)  # a node is drawn twice
    assert result.n_clusters < 6
    assert any("of k=6" in remark for remark in result.remarks)


def test_remarks_say_what_has_become_of_isolated_nodes():
    """The gate knows no more than that it depends on the call."""
    said_by_gate = "3 isolated nodes.*each is a cluster, or in none .label -1. where k is given"
    with pytest.warns(GraphWarning, match=said_by_gate):
        graph = graphclust.as_graph(make("isolates"))
    found = [
        graphclust.communities(graph, rng=0),
        graphclust.communities(graph, components="largest", rng=0),
        coreset_sc(graph, 2, rng=0),
    ]
    found += [coreset_sc(graph, 2, rng=0, **PAPER), graphclust.spectral_clustering(graph, 2, rng=0)]
    said_of = {True: "each is a cluster", False: "in no cluster (label -1)"}
    told = [(result.remarks, (result.labels[[0, 3, 7]] >= 0).all()) for result in found]
    assert found[2].isolated.sum() == 3 and "3 isolated nodes" in str(found[2])
    for remarks, are_clusters in [*told, (graphclust.hierarchy(graph, rng=0).remarks, True)]:
        said = [remark for remark in remarks if "isolated" in remark]
        assert said == [f"3 isolated nodes have no edge: {said_of[are_clusters]}"]


@pytest.mark.parametrize("method", ["paper", "two-step"])
def test_a_coreset_is_labeled_in_the_numbering_of_the_nodes(method):
    planted = stochastic_block_model([20, 150, 60, 100, 30], 0.5, 0.01, rng=518)
    found = coreset_sc(planted.graph, 5, method=method, coreset=Coreset(size=200), rng=2)
    assert (found.coreset.labels == found.labels[found.coreset.nodes]).mean() > 0.95


def test_the_published_coreset_is_a_twentieth_of_the_nodes():
    assert [paper.published_size(n, k) for n, k in ((50, 2), (5_000, 2), (5_000, 100), (30_001, 2))] == [
        50, 1_000, 2_000, 1_501
    ]  # fmt: skip
    assert quietly(nx.karate_club_graph(), 2, rng=0, **PAPER).parameters["coreset"]["size"] == 34


def test_one_dominant_cluster_is_remarked():
    hub = nx.complete_graph(40)
    hub.add_edges_from([(0, 40), (40, 41), (41, 42), (42, 40), (1, 43), (43, 44), (44, 45), (45, 43)])
    lopsided = coreset_sc(hub, 3, rng=0)
    assert any("holds 99.1% of the volume" in remark for remark in lopsided.remarks)
    assert not any("of the volume" in remark for remark in coreset_sc(hub, 2, rng=0).remarks)
    even = coreset_sc(nx.connected_caveman_graph(3, 6), 3, rng=0)
    assert not any("of the volume" in remark for remark in even.remarks)


def test_the_listener_sees_the_stages_and_can_stop_them(blocks):
    seen = []
    options = {"coreset": Coreset(embedding="power"), "rng": 0, **PAPER}
    coreset_sc(blocks.graph, 8, progress=lambda *step: seen.append(step), **options)
    assert {"D²-sampling", "embedding"} <= {stage for stage, _, _ in seen}
    assert all(0 < done <= total for _, done, total in seen)

    def out_of_time(stage, done, total):
        if stage == "embedding":
            raise TimeoutError(stage)

    refuses(TimeoutError, None, coreset_sc, blocks.graph, 8, progress=out_of_time, **options)


def test_clusters_are_numbered_by_decreasing_size():
    labels = np.array([3, 3, 1, -1, 1, 1, 4])
    assert numbering_by_size(labels, 5).tolist() == [3, 0, 4, 1, 2, -1]
    assert numbering_by_size(labels, 5)[labels].tolist() == [1, 1, 0, -1, 0, 0, 2]
    assert numbering_by_size(np.array([1, 0]), 2).tolist() == [1, 0, -1]
    assert numbering_by_size(np.array([-1, -1]), 1).tolist() == [0, -1]


def test_ids_of_a_file_are_plain_numbers(tmp_path):
    edges = tmp_path / "gaps.txt"
    edges.write_text("10 20\n20 30\n10 30\n70 80\n80 90\n70 90\n30 70\n")
    result = coreset_sc(edges, 2, rng=0)
    assert result.communities() == [{10, 20, 30}, {70, 80, 90}]
    assert all(type(node) is int for node in result.as_dict())
    json.dumps(result.as_dict())


def sparse_blocks():
    return graphclust.planted_partition(8, 250, 16, 4, rng=1).graph


def triangles():
    """A graph whose neighbors are neighbors."""
    return graphclust.as_graph(nx.watts_strogatz_graph(2_000, 10, 0.1, seed=0))


@pytest.mark.parametrize("seed", range(3))
def test_closed_pairs_are_counted(seed):
    rng = np.random.default_rng(seed)
    complete = graphclust.as_graph(nx.complete_graph(10))  # of two picks of nine both may be the same
    assert share_in_common(complete, rng) == pytest.approx(8 / 9, abs=0.03)
    assert share_in_common(graphclust.as_graph(nx.complete_bipartite_graph(9, 9)), rng) == 0.0
    clustering = nx.average_clustering(nx.watts_strogatz_graph(2_000, 10, 0.1, seed=0))
    assert share_in_common(triangles(), rng) == pytest.approx(clustering * 0.9, abs=0.05)


def test_only_large_graphs_without_many_triangles_suit_a_coreset(monkeypatch):
    graph, rng = sparse_blocks(), np.random.default_rng(0)
    assert not suits_a_coreset(graph, 8, rng)
    monkeypatch.setattr(two_step, "BUDGET", graph.n_entries)
    assert suits_a_coreset(graph, 8, rng)
    assert suits_a_coreset(graph, 25, rng) and not suits_a_coreset(graph, 30, rng)  # 600 and 720 of 2,000 nodes
    monkeypatch.setattr(two_step, "BUDGET", 1)
    assert not suits_a_coreset(triangles(), 8, rng)
    assert not suits_a_coreset(graphclust.planted_partition(8, 250, 6, 1, rng=1).graph, 8, rng)  # of a mean degree of 7
    upper = sparse.triu(graph.to_scipy(), 1).tocoo()
    for spread, expected in ((0.5, True), (1.5, False)):  # some 16 and 3 edges of a node that count
        upper.data = np.random.default_rng(0).lognormal(0.0, spread, upper.nnz)
        assert suits_a_coreset(graphclust.as_graph(upper + upper.T), 8, rng) == expected
    for n, expected in ((202, True), (199, False)):  # all triangles
        assert suits_a_coreset(graphclust.as_graph(nx.complete_graph(n)), 1, rng) == expected


def test_the_method_taken_follows_the_graph(monkeypatch):
    monkeypatch.setattr(two_step, "BUDGET", 1)
    for graph, method in ((sparse_blocks(), "two-step"), (triangles(), "multilevel")):
        found = coreset_sc(graph, 8, rng=0)
        assert found.parameters["method"] == method and "method" in found.seconds
