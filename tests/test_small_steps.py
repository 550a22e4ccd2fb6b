"""Single steps by hand: what a whole clustering would hardly show."""

import numpy as np
import pytest
from scipy import sparse

from graphclust import DenseKernel, NormalizedCutKernel, as_graph
from graphclust.compiled.graphs import agglomeration
from graphclust.compiled.points.k_means import Totals, renew_centroids
from graphclust.coreset.by_blocks import all_points
from graphclust.points.kernel_k_means.matrix_kernels import gamma
from graphclust.results.confidence import FACTORS, leave_out_edges


def plain(loop):
    """A loop as Python runs it."""
    return getattr(loop, "py_func", loop)


def test_all_points_of_a_block_are_those_of_little_weight_too():
    chain = sparse.diags_array([[0.125] * 5, [0.125] * 5], offsets=[-1, 1]).tocsr()
    kernel = NormalizedCutKernel.of(chain, loops="given", shift=1.0)
    nodes, weights = all_points(kernel, 1, 4)
    assert nodes.tolist() == [1, 2, 3] and weights.tolist() == [0.25] * 3
    nodes, weights = all_points(kernel.restrict_kernel(np.array([1, 2, 4]), np.array([0.0, 0.5, 2.0])), 0, 3)
    assert nodes.tolist() == [1, 2] and weights.tolist() == [0.5, 2.0]


def push_again(a, is_ratio, clusters, gains, items, state):
    room = np.empty(len(clusters), np.int32)
    trace, pairs, masses = np.empty(0), np.empty((0, 2), np.int32), np.zeros(len(clusters))
    merger = agglomeration.Merger(clusters, gains, items, room, state, trace, pairs, masses, None)
    plain(agglomeration._push_again)(a, is_ratio, merger)


@pytest.mark.parametrize("is_ratio", [False, True])
def test_a_full_heap_is_made_anew_of_the_live_clusters_each_once(is_ratio):
    n, a, giant, dead = 6, 2, 3, (0, 5)
    clusters = np.zeros(n, agglomeration.CLUSTER)
    clusters["merged_into"] = np.arange(n)
    clusters["merged_into"][list(dead)] = 1
    clusters["gain"] = [9.0, 1.0, 2.0, 3.0, 4.0, 8.0]
    gains, items = np.full(6, 7.0), np.zeros(6, np.int32)  # entries that are no longer true
    state = np.array([len(gains), giant, 4, 0])
    push_again(a, is_ratio, clusters, gains, items, state)
    live = {1: 1.0, 2: 2.0, 4: 4.0} | ({} if is_ratio else {3: 3.0})
    size = int(state[0])
    assert sorted(items[:size].tolist()) == sorted(live), (
        "each once, without the dead, and the giant only if it may join"
    )
    assert {int(u): gain for u, gain in zip(items[:size], gains[:size], strict=True)} == live
    assert gains[0] == max(live.values())


def test_a_heap_with_room_keeps_what_it_holds():
    clusters = np.zeros(3, agglomeration.CLUSTER)
    clusters["merged_into"], clusters["gain"] = np.arange(3), [1.0, 2.0, 3.0]
    gains, items, state = np.array([5.0, 0.0, 0.0]), np.array([2, 0, 0], np.int32), np.array([1, 0, 3, 0])
    push_again(1, False, clusters, gains, items, state)
    assert state[0] == 2 and items[:2].tolist() == [2, 1] and gains[:2].tolist() == [5.0, 2.0]


def test_centroids_are_renewed_with_the_errors_of_their_points():
    # Of one point in the mean, of none, of two at -1 and 1, of two whose errors rounding has left below zero.
    totals = Totals(
        sums=np.array([[6.0], [0.5], [0.0], [2.0]]),
        masses=np.array([3.0, 1e-17, 2.0, 2.0]),
        sq_lengths=np.array([12.5, 5.0, 2.0, 1.75]),
        counts=np.array([1.0, 0.0, 2.0, 2.0]),
        touched=np.zeros(4, bool),
        sq_errors=np.full(4, -1.0),
    )
    centroids, moved = np.array([[1.0], [7.0], [0.0], [4.0]]), np.zeros(4)
    plain(renew_centroids)(0, 4, 0, np.arange(4), totals, np.zeros(1), centroids, moved)
    assert centroids[:, 0].tolist() == [2.0, 7.0, 0.0, 1.0] and moved.tolist() == [1.0, 0.0, 0.0, 3.0]
    assert totals.sq_errors.tolist() == [0.5, 0.0, 2.0, 0.0] and totals.masses[1] == 0.0


def mixed(u: int, v: int, drawn: int) -> int:
    """splitmix64's finalizer of the ends of an edge, in Python's whole numbers."""
    bits = (min(u, v) * FACTORS[0] + max(u, v) * FACTORS[1] + drawn) % 2**64
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> shift)) * factor % 2**64
    return bits ^ (bits >> 31)


def test_a_hash_of_both_ends_decides_which_edges_are_left_out():
    graph = as_graph(np.ones((30, 30)))
    for seed, share in ((518, 0.1), (2209, 0.5)):
        drawn = int(np.random.default_rng(seed).integers(2**64, dtype=np.uint64))
        less = leave_out_edges(graph, share, np.random.default_rng(seed)).to_scipy().toarray()
        expected = [[u == v or mixed(u, v, drawn) >= share * 2**64 for v in range(30)] for u in range(30)]
        assert (less > 0).tolist() == expected


def test_gamma_is_the_length_of_the_longest_point():
    for diagonal, longest in (([0.25, 0.0625], 0.5), ([4.0, 9.0], 3.0), ([0.0, 0.0], 0.0)):
        assert gamma(DenseKernel(np.diag(diagonal))) == longest
    indefinite = DenseKernel(np.diag([1.0, 1.0]))
    indefinite.diagonal = np.array([-4.0, -1.0])
    assert gamma(indefinite) == 0.0
