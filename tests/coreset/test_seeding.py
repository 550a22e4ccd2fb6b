"""D²-sampling in kernel space against its dense twin: distances, nearest seeds, what is read, what is refused."""

import networkx as nx
import numpy as np
import pytest
from cases import for_each, refuses
from graphs import all_graphs, make, make_graph, poisoned_except
from reference import algorithms as reference

from graphclust.compiled.graphs import coreset
from graphclust.coreset.sampling import construct_coreset, d2_seeding
from graphclust.errors import ConvergenceWarning, GraphClustError, GraphValidationError, ParameterError
from graphclust.io.graph_input import as_graph
from graphclust.objective.kernel import NormalizedCutKernel

WITH_EDGES = [name for name in all_graphs() if name not in ("one node", "no edges")]


def seeded(kernel, n_seeds, **options):
    """Seeds, with the warning for too few distinct points let through."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return d2_seeding(kernel, n_seeds, **options)


@for_each("name", WITH_EDGES)
@for_each(("loops", "shift"), [("implied", 0.0), ("implied", 0.3), ("given", 1.0)])
def test_kernel_is_that_of_the_formula(name, loops, shift):
    matrix = make(name)
    K, weights = reference.dense_kernel(matrix.toarray(), loops, shift)
    kernel = NormalizedCutKernel.of(make_graph(name), loops, shift)
    np.testing.assert_allclose(kernel.point_weights, weights, rtol=1e-14)
    np.testing.assert_allclose(kernel.self_affinity, np.diag(K), rtol=1e-13)
    for node in range(kernel.n_nodes):
        neighbors, affinities = kernel.row(node)
        np.testing.assert_allclose(affinities, K[node, neighbors], rtol=1e-13)


@for_each("method", ["tree", "naive"])
@for_each("name", WITH_EDGES)
def test_distances_and_nearest_seeds_equal_brute_force(name, method):
    matrix = make(name)
    K, weights = reference.dense_kernel(matrix.toarray())
    seeds = seeded(NormalizedCutKernel.of(make_graph(name)), 5, method=method, rng=7741)
    points = weights > 0
    expected = reference.sq_distances_to(K, seeds.nodes)
    scale = np.diag(K).max()
    np.testing.assert_allclose(seeds.sq_distances[points], expected[points], atol=1e-12 * scale)
    diagonal = np.diag(K)
    own = seeds.nodes[seeds.nearest]
    to_nearest = np.maximum(diagonal + diagonal[own] - 2 * K[np.arange(len(K)), own], 0)
    to_nearest[own == np.arange(len(K))] = 0
    np.testing.assert_allclose(to_nearest[points], expected[points], atol=1e-12 * scale)


def test_tree_starts_from_the_least_self_affinity_and_draws_one_more():
    kernel = NormalizedCutKernel.of(nx.karate_club_graph())
    K, weights = reference.dense_kernel(nx.to_numpy_array(nx.karate_club_graph()))
    seeds = d2_seeding(kernel, 6, rng=3)
    assert len(seeds.nodes) == 7
    assert seeds.nodes[0] == reference.least_self_affinity(K, weights)
    assert len(d2_seeding(kernel, 6, method="naive", rng=3).nodes) == 6


def test_no_seed_is_drawn_twice_after_the_first_two():
    kernel = NormalizedCutKernel.of(nx.path_graph(30))
    for seed in range(20):
        nodes = seeded(kernel, 25, rng=seed).nodes
        assert len(set(nodes[1:])) == len(nodes) - 1


def test_distances_never_increase_with_more_seeds():
    kernel = NormalizedCutKernel.of(make("block model"))
    previous = d2_seeding(kernel, 1, rng=11)
    for n_seeds in range(2, 20):
        seeds = d2_seeding(kernel, n_seeds, rng=11)
        assert (seeds.sq_distances <= previous.sq_distances).all()
        assert (seeds.sq_distances[seeds.nodes] == 0).all()
        previous = seeds


@pytest.mark.parametrize("name", ["karate", "block model"])
def test_without_self_loops_the_distribution_is_neither_degenerate_nor_uniform(name):
    matrix = make(name)
    matrix.setdiag(0)
    matrix.eliminate_zeros()
    kernel = NormalizedCutKernel.of(matrix)
    seeds = d2_seeding(kernel, 2, rng=5)
    masses = kernel.point_weights * seeds.sq_distances
    probabilities = masses / masses.sum()
    assert np.count_nonzero(probabilities) > 0.8 * kernel.n_nodes
    entropy = -(probabilities[probabilities > 0] * np.log(probabilities[probabilities > 0])).sum()
    assert np.log(kernel.n_nodes) * 0.7 < entropy < np.log(kernel.n_nodes) - 0.01
    assert probabilities.max() > 2 * np.median(probabilities)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 64])
def test_tree_draws_each_leaf_in_proportion_to_its_mass(n):
    masses = np.random.default_rng(n).random(n) * (np.arange(n) % 3 > 0)
    masses[-1] = 0.5
    tree = coreset.build_tree(masses)
    for leaf in range(0, n - 1, 2):
        masses[leaf] *= 0.25
        coreset.set_leaf(tree, leaf, masses[leaf])
    assert tree[0] == pytest.approx(masses.sum())
    ruler = (np.arange(40_000) + 0.5) / 40_000
    drawn = np.array([coreset.draw_leaf(tree, u) for u in ruler])
    np.testing.assert_allclose(np.bincount(drawn, minlength=n) / len(ruler), masses / masses.sum(), atol=1e-3)
    assert (masses[drawn] > 0).all()
    assert masses[coreset.draw_leaf(tree, np.nextafter(1.0, 0.0))] > 0


def test_a_sum_rounded_up_does_not_lead_to_a_leaf_without_mass():
    """Rounding twice makes the last target as large as the last mass, as if it belonged to the leaf behind it."""
    eps = 2.0**-52
    masses = np.array([1.5 * eps, 0.0, 1.0 + 2.0 * eps, 0.0])
    assert coreset.draw_leaf(coreset.build_tree(masses), np.nextafter(1.0, 0.0)) == 2


def test_a_tree_of_many_float32_sized_masses_reaches_the_last_leaves():
    n = (1 << 24) + (1 << 20)  # a running float32 sum of ones stops at 2^24
    tree = coreset.build_tree(np.ones(n))
    drawn = [coreset.draw_leaf(tree, u) for u in (np.arange(1000) + 0.999) / 1000]
    assert max(drawn) > 1 << 24
    assert tree[0] == n


def test_only_rows_of_seeds_are_read():
    matrix = make("block model")
    graph = as_graph(matrix)
    seeds = d2_seeding(NormalizedCutKernel.of(graph), 8, rng=19)
    assert seeds.entries_read == np.diff(graph.indptr)[seeds.nodes].sum()
    poisoned = poisoned_except(graph, seeds.nodes)
    again = d2_seeding(NormalizedCutKernel.of(poisoned), 8, rng=19)
    assert (again.nodes == seeds.nodes).all()
    assert (again.sq_distances == seeds.sq_distances).all()
    naive = d2_seeding(NormalizedCutKernel.of(graph), 8, method="naive", rng=19)
    assert naive.entries_read == np.diff(graph.indptr)[naive.nodes].sum()


def test_coinciding_nodes_end_the_drawing_with_a_warning():
    clique = NormalizedCutKernel.of(nx.complete_graph(8))  # with implied loops all rows of K are equal
    with pytest.warns(ConvergenceWarning, match="only 2 of 5 seeds"):
        seeds = d2_seeding(clique, 4, rng=1)
    assert (seeds.sq_distances == 0).all()


def test_a_zero_diagonal_is_an_error_that_names_the_remedy():
    refuses(ParameterError, "shift", NormalizedCutKernel.of, nx.path_graph(4), loops="given")
    kernel = NormalizedCutKernel.of(nx.path_graph(4))
    zero = NormalizedCutKernel(kernel.graph, kernel.degrees, np.zeros(4), kernel.point_weights)
    words = "masses of D²-sampling are all 0: K has a zero diagonal"
    refuses(GraphClustError, words, d2_seeding, zero, 2, rng=0)
    refuses(GraphClustError, words, construct_coreset, zero, 1, 2, sampling="parallel", rng=0)


def test_negative_distances_of_an_indefinite_kernel_are_clipped_and_counted():
    matrix = np.array([[0, 9, 1], [9, 0, 0], [1, 0, 0]], dtype=float)
    K, _ = reference.dense_kernel(matrix)
    assert (np.diag(K)[:, None] + np.diag(K)[None, :] - 2 * K).min() < -1e-3
    seeds = seeded(NormalizedCutKernel.of(matrix), 3, rng=2)
    assert seeds.n_clipped > 0
    assert (seeds.sq_distances >= 0).all()
    shifted = seeded(NormalizedCutKernel.of(matrix, shift=1.0), 3, rng=2)
    assert shifted.n_clipped == 0


@for_each("method", ["tree", "naive"])
@for_each(("n", "weight"), [(3, 0.3), (4, 0.7), (13, 0.1)])
def test_rounding_below_zero_is_not_counted_as_clipped(n, weight, method):
    """All points of a clique coincide; their distances come out as a few parts in 10^16, of either sign."""
    matrix = np.full((n, n), weight) - weight * np.eye(n)
    kernel = NormalizedCutKernel.of(matrix)
    products = matrix / (kernel.degrees[:, None] * kernel.degrees)
    assert (kernel.self_affinity[:, None] + kernel.self_affinity - 2 * products)[0, 1] < 0
    assert seeded(kernel, 3, method=method, rng=1).n_clipped == 0


def test_the_warning_tells_clipped_distances_from_copies():
    matrix = np.array([[0, 9, 1], [9, 0, 0], [1, 0, 0]], dtype=float)
    with pytest.warns(ConvergenceWarning, match="came out negative.*indefinite"):
        d2_seeding(NormalizedCutKernel.of(matrix), 3, method="naive", rng=2)


def test_scaling_the_weights_by_a_power_of_two_changes_no_draw():
    matrix = make("weights of all sizes")
    one = seeded(NormalizedCutKernel.of(matrix), 9, rng=4)
    other = seeded(NormalizedCutKernel.of(matrix * 2.0**17), 9, rng=4)
    assert (one.nodes == other.nodes).all()


@pytest.mark.parametrize(("n_seeds", "error"), [(0, ParameterError), (True, TypeError), (2.0, TypeError)])
def test_impossible_numbers_of_seeds(n_seeds, error):
    refuses(error, "n_seeds", d2_seeding, NormalizedCutKernel.of(nx.path_graph(4)), n_seeds)


def test_no_edges_and_unknown_policies():
    refuses(GraphValidationError, "no edges", NormalizedCutKernel.of, make_graph("no edges"))
    refuses(ParameterError, "loops='all'", NormalizedCutKernel.of, nx.path_graph(3), loops="all")
    refuses(ParameterError, "shift=-1", NormalizedCutKernel.of, nx.path_graph(3), shift=-1)


def test_progress_can_stop_the_drawing():
    def stop(stage, done, total):
        raise KeyboardInterrupt

    kernel = NormalizedCutKernel.of(nx.path_graph(50))
    for method in ("tree", "naive"):
        refuses(KeyboardInterrupt, None, d2_seeding, kernel, 10, method=method, rng=0, progress=stop)
