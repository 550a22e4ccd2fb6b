"""Quality measures against answers by hand, dense formulas, NetworkX and scikit-learn."""

import networkx as nx
import numpy as np
import pytest
from cases import for_each, refuses
from graphs import all_graphs, make, make_graph
from reference import quality as reference
from sklearn import metrics

import graphclust as gc
from graphclust.compiled.runtime import blocks
from graphclust.objective import cuts
from graphclust.objective.cuts import cut_and_volume

TRIANGLES = nx.barbell_graph(3, 0)  # two triangles joined by one edge


def random_labels(n: int, k: int, seed: int, *, unlabeled: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    labels = rng.integers(k, size=n)
    labels[rng.random(n) < unlabeled] = -1
    return labels


def test_a_loop_counts_once_in_the_volume_and_is_never_cut():
    A = np.array([[3.0, 1.0], [1.0, 0.0]])
    assert gc.cluster_volumes(A, [0, 1]).tolist() == [4.0, 1.0]
    assert gc.normalized_cut(A, [0, 1]) == pytest.approx(1 / 4 + 1 / 1)
    assert gc.conductance(A, [0, 1]) == pytest.approx([1.0, 1.0])


def test_an_edge_to_a_node_without_a_label_leaves_the_cluster():
    path = nx.path_graph(4)
    cut, volumes = cut_and_volume(make_graph("path"), np.r_[np.zeros(3, np.int64), -np.ones(37, np.int64)], 1)
    assert (cut.tolist(), volumes.tolist()) == ([1.0], [5.0])
    assert gc.normalized_cut(path, [0, 0, -1, -1]) == pytest.approx(1 / 3)
    assert gc.conductance(path, [0, 0, -1, -1]) == pytest.approx([1 / 3])


def test_one_cluster_and_every_node_its_own():
    assert gc.normalized_cut(TRIANGLES, np.zeros(6, int)) == 0.0
    assert gc.conductance(TRIANGLES, np.zeros(6, int)).tolist() == [0.0]
    assert gc.modularity(TRIANGLES, np.zeros(6, int)) == pytest.approx(0.0)
    assert gc.normalized_cut(TRIANGLES, np.arange(6)) == pytest.approx(6.0)
    assert gc.kernel_k_means_cost(TRIANGLES, np.arange(6), shift=0.7) == pytest.approx(0.0, abs=1e-15)


def test_labels_that_no_node_has_count_nothing():
    assert gc.normalized_cut(TRIANGLES, [0, 0, 0, 5, 5, 5]) == pytest.approx(2 / 7)
    assert gc.cluster_volumes(TRIANGLES, [0, 0, 0, 5, 5, 5]).tolist() == [7, 0, 0, 0, 0, 7]
    assert gc.conductance(TRIANGLES, [0, 0, 0, 2, 2, 2])[1] == 0.0


@pytest.mark.filterwarnings("ignore::graphclust.errors.GraphWarning")
def test_a_graph_without_edges():
    nothing = make("no edges")
    assert gc.normalized_cut(nothing, np.zeros(5, int)) == 0.0
    assert gc.conductance(nothing, np.arange(5)).tolist() == [0.0] * 5
    assert gc.modularity(nothing, np.arange(5)) == 0.0
    assert gc.kernel_k_means_cost(nothing, np.arange(5), shift=1.0) == 0.0
    assert gc.normalized_cut(nothing, -np.ones(5, int)) == 0.0
    assert gc.cluster_volumes(nothing, -np.ones(5, int)).shape == (0,)


@for_each("name", all_graphs())
@for_each("seed", [518, 7741])
def test_agrees_with_the_dense_formulas(name, seed):
    graph, A = make_graph(name), make(name).toarray()
    labels = random_labels(graph.n_nodes, 4, seed, unlabeled=0.1)
    cut, volumes = cut_and_volume(graph, labels, 4)
    expected_cut, expected_volumes = reference.cut_and_volume(A, labels, 4)
    assert cut == pytest.approx(expected_cut, rel=1e-12, abs=0)
    assert volumes == pytest.approx(expected_volumes, rel=1e-12, abs=0)
    used = expected_volumes > 0
    assert gc.normalized_cut(graph, labels) == pytest.approx((expected_cut[used] / expected_volumes[used]).sum())
    if A.any():
        assert gc.modularity(graph, labels) == pytest.approx(reference.modularity(A, labels), abs=1e-12)
    for shift in (0.0, 0.3):
        expected = reference.kernel_k_means_cost(A, labels, shift)
        assert gc.kernel_k_means_cost(graph, labels, shift=shift) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", [518, 2209, 7741])
def test_agrees_with_networkx(seed):
    graph = nx.gnp_random_graph(40, 0.2, seed=seed)
    for u, v in graph.edges:
        graph[u][v]["weight"] = 1.0 + (u * v) % 5
    labels = np.random.default_rng(seed).permutation(np.arange(40) % 3)
    clusters = [set(np.flatnonzero(labels == c).tolist()) for c in range(3)]
    expected = [nx.conductance(graph, cluster, weight="weight") for cluster in clusters]
    assert gc.conductance(graph, labels) == pytest.approx(expected)
    assert gc.modularity(graph, labels) == pytest.approx(nx.community.modularity(graph, clusters))
    two_sides = nx.normalized_cut_size(graph, clusters[0], weight="weight")
    assert gc.normalized_cut(graph, (labels > 0).astype(int)) == pytest.approx(two_sides)


def looped_graph(seed: int) -> nx.Graph:
    graph = nx.gnp_random_graph(30, 0.2, seed=seed)
    graph.add_edges_from((u, u) for u in range(0, 30, 4))
    for u, v in graph.edges:
        graph[u][v]["weight"] = 1.0 + (u * v) % 5
    return graph


@pytest.mark.parametrize("resolution", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("seed", [518, 2209])
def test_modularity_with_self_loops_counted_twice_is_that_of_networkx_and_igraph(seed, resolution):
    igraph = pytest.importorskip("igraph")
    graph = looped_graph(seed)
    labels = np.random.default_rng(seed).permutation(np.arange(30) % 3)
    twice = gc.modularity(graph, labels, resolution=resolution, self_loops="twice")
    clusters = [set(np.flatnonzero(labels == c).tolist()) for c in range(3)]
    assert twice == pytest.approx(nx.community.modularity(graph, clusters, resolution=resolution))
    other = igraph.Graph.from_networkx(graph)
    assert twice == pytest.approx(other.modularity(labels.tolist(), weights="weight", resolution=resolution))
    A = nx.to_numpy_array(graph)
    d, together = A.sum(axis=1), labels[:, None] == labels
    once = ((A - resolution * np.outer(d, d) / d.sum()) * together).sum() / d.sum()
    assert gc.modularity(graph, labels, resolution=resolution) == pytest.approx(once) and abs(once - twice) > 1e-3


@pytest.mark.parametrize("graph", [nx.les_miserables_graph(), looped_graph(7)], ids=["les miserables", "looped"])
def test_a_quotient_graph_has_the_modularity_of_its_graph(graph):
    """Its loops hold each inner edge in both directions, and self-loops as they are."""
    labels = np.arange(len(graph)) % 5
    assert gc.modularity(gc.quotient_graph(graph, labels), range(5)) == pytest.approx(gc.modularity(graph, labels))


@pytest.mark.parametrize("graph", [nx.les_miserables_graph(), looped_graph(7)], ids=["les miserables", "looped"])
def test_a_quotient_graph_of_edges_that_count_once_has_it_where_self_loops_count_twice(graph):
    labels = dict(zip(graph, np.arange(len(graph)) % 5, strict=True))
    quotient = nx.Graph()
    quotient.add_nodes_from(range(5))
    for u, v, w in graph.edges(data="weight"):
        before = quotient.get_edge_data(labels[u], labels[v], {"weight": 0.0})["weight"]
        quotient.add_edge(labels[u], labels[v], weight=before + w)
    twice = gc.modularity(graph, labels, self_loops="twice")
    assert gc.modularity(quotient, range(5), self_loops="twice") == pytest.approx(twice)
    assert abs(gc.modularity(quotient, range(5)) - twice) > 0.01


def test_conventions_agree_without_self_loops_and_other_words_are_refused():
    graph, labels = nx.karate_club_graph(), np.arange(34) % 3
    assert gc.modularity(graph, labels, self_loops="twice") == gc.modularity(graph, labels)
    with pytest.raises(gc.ParameterError, match="self_loops='thrice' is unknown, expected one of 'once', 'twice'"):
        gc.modularity(graph, labels, self_loops="thrice")


def test_a_clustering_of_a_graph_with_self_loops_says_how_they_count():
    found = gc.coreset_sc(looped_graph(3), 3, rng=0)
    assert any(remark.startswith("8 self-loops counted once in degrees and modularity") for remark in found.remarks)
    assert not any("self-loop" in remark for remark in gc.coreset_sc(nx.karate_club_graph(), 2, rng=0).remarks)


@for_each("name", ["karate", "looped block model", "weighted", "tiny pieces", "some loops"])
@for_each("shift", [0.0, 0.25, 1.0])
def test_cost_is_the_normalized_cut_and_a_constant(name, shift):
    graph = make_graph(name)
    n, k = int((~graph.isolated).sum()), 3
    trace = (graph.loops[~graph.isolated] / graph.degrees[~graph.isolated]).sum()
    for seed in range(20):
        labels = np.random.default_rng(seed).permutation(np.arange(graph.n_nodes) % k)
        if len(np.unique(labels[~graph.isolated])) < k:
            continue
        cost = gc.kernel_k_means_cost(graph, labels, shift=shift)
        assert cost == pytest.approx(gc.normalized_cut(graph, labels) + trace - k + shift * (n - k), abs=1e-12)


def test_scaling_all_weights_changes_no_ratio():
    A, labels = make("weighted"), np.array([0, 0, 1, 1, 2, 2])
    for measure in (gc.normalized_cut, gc.conductance, gc.modularity, gc.kernel_k_means_cost):
        assert np.array_equal(measure(A, labels), measure(A * 1024.0, labels))


def test_conductance_where_rounding_leaves_nothing_of_the_rest():
    """A sum of 1e17 and 1 is 1e17: the rest of the heavy cluster weighs at least what leaves it."""
    assert gc.conductance(np.array([[1e17, 1.0], [1.0, 0.0]]), [0, 1]).tolist() == [1.0, 1.0]
    rng = np.random.default_rng(518)
    for _ in range(50):
        A = 10.0 ** rng.uniform(-9, 9, (12, 12))
        A = np.triu(A, 1) + np.triu(A, 1).T
        found = gc.conductance(A, np.arange(12) // 6)
        assert (found > 0).all() and (found <= 1).all()


def test_the_sums_are_the_same_on_any_number_of_threads(monkeypatch):
    graph, labels = make_graph("weights of all sizes"), random_labels(35, 3, 17)
    expected = cut_and_volume(graph, labels, 3)
    monkeypatch.setattr(cuts, "entry_blocks", lambda indptr: blocks.row_blocks(len(indptr) - 1, 4))
    for n_threads in (1, 2):
        monkeypatch.setattr(blocks, "n_threads", lambda n=n_threads: n)
        assert all(np.array_equal(a, b) for a, b in zip(cut_and_volume(graph, labels, 3), expected, strict=True))


@for_each("seed", [3, 1066, 90210])
@for_each("k", [1, 2, 7, 300])
def test_agreement_of_labelings_equals_scikit_learn(seed, k):
    labels, other = random_labels(300, k, seed), random_labels(300, max(1, k // 2), seed + 1)
    half_right = np.where(np.random.default_rng(seed).random(300) < 0.5, labels, other)
    for one, two in [(labels, other), (labels, half_right), (labels, labels), (np.arange(300), labels)]:
        assert gc.adjusted_rand_index(one, two) == pytest.approx(metrics.adjusted_rand_score(one, two), abs=1e-12)
        expected = metrics.normalized_mutual_info_score(one, two)
        assert gc.normalized_mutual_information(one, two) == pytest.approx(expected, abs=1e-7)
        assert gc.adjusted_rand_index(one, two) == gc.adjusted_rand_index(two, one)


@for_each("average", ["arithmetic", "geometric", "min", "max"])
@for_each("k", [1, 2, 7, 150])
def test_mutual_information_by_all_averages_equals_scikit_learn(k, average):
    labels, other = random_labels(150, k, 5), random_labels(150, max(2, k // 3), 6)
    half_right = np.where(np.random.default_rng(k).random(150) < 0.5, labels, other)
    for one, two in [(labels, other), (labels, half_right), (labels, labels), (labels, np.zeros(150, int))]:
        normalized = metrics.normalized_mutual_info_score(one, two, average_method=average)
        assert gc.normalized_mutual_information(one, two, average=average) == pytest.approx(normalized, abs=1e-12)
        adjusted = metrics.adjusted_mutual_info_score(one, two, average_method=average)
        assert gc.adjusted_mutual_information(one, two, average=average) == pytest.approx(adjusted, abs=1e-9)


def test_adjusted_mutual_information_by_hand():
    # Of two pairs against two pairs, a third of the exchanges agree, with I = log 2, the others have I = 0.
    assert gc.adjusted_mutual_information([0, 0, 1, 1], [0, 1, 0, 1]) == pytest.approx(-1 / 3 / (1 - 1 / 3))
    assert gc.adjusted_mutual_information([0, 1, 2, 3], [3, 2, 1, 0]) == 1.0
    assert gc.adjusted_mutual_information([0, 1, 2, 3], [0, 0, 1, 1]) == 0.0
    assert gc.adjusted_mutual_information([0, 1, 2, 3], [0, 0, 1, 1], average="min") == 1.0
    assert gc.adjusted_mutual_information([0, 0, 0, -1], [0, 0, 0, 1]) == 1.0
    refuses(gc.ParameterError, "average='mean'", gc.adjusted_mutual_information, [0, 1], [0, 1], average="mean")


def test_agreement_leaves_out_nodes_without_a_label_in_either():
    labels, other = random_labels(200, 5, 1, unlabeled=0.2), random_labels(200, 5, 2, unlabeled=0.3)
    both = (labels >= 0) & (other >= 0)
    assert gc.adjusted_rand_index(labels, other) == gc.adjusted_rand_index(labels[both], other[both])
    assert gc.normalized_mutual_information(labels, other) == gc.normalized_mutual_information(
        labels[both], other[both]
    )


def test_large_labelings_do_not_overflow():
    labels = np.arange(3_000_000) % 2
    assert gc.adjusted_rand_index(labels, labels) == 1.0
    assert gc.adjusted_rand_index(labels, labels[::-1]) == 1.0
    assert abs(gc.adjusted_rand_index(labels, np.arange(3_000_000) % 3)) < 1e-6


def test_wrong_arguments_are_refused():
    refuses(gc.ParameterError, "shift=-1", gc.kernel_k_means_cost, TRIANGLES, [0] * 6, shift=-1)
    for agreement in (gc.adjusted_rand_index, gc.normalized_mutual_information):
        refuses(gc.GraphValidationError, r"other has shape \(2,\)", agreement, [0, 1, 1], [0, 1])
        refuses(gc.GraphValidationError, "no node", agreement, [-1, 1], [0, -1])
        refuses(gc.GraphValidationError, "no node", agreement, np.empty(0, int), np.empty(0, int))


def test_names_of_classes_are_labels_too():
    names, numbers = ["b", "a", "b", "c"], [1, 0, 1, 2]
    assert gc.adjusted_rand_index(names, numbers) == 1.0
    other = [True, False, False, True]
    assert gc.adjusted_rand_index(names, other) == gc.adjusted_rand_index(numbers, [1, 0, 0, 1]) < 1.0
    assert gc.normalized_mutual_information(np.array(names, dtype=object), names) == pytest.approx(1.0)
    refuses(
        TypeError, "other mixes types", gc.adjusted_rand_index, numbers, np.array(["a", None, "b", "c"], dtype=object)
    )
