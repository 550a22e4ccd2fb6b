"""Power-law blocks and degrees: sizes, degrees and mixing against what was asked for."""

import numpy as np
import pytest
from cases import refuses

from graphclust.errors import ParameterError
from graphclust.generators.planted_graphs import lfr_like


@pytest.mark.parametrize("mixing", [0.1, 0.4])
def test_degrees_and_mixing_on_average(mixing):
    graph, labels = lfr_like(20_000, 20, mixing, smallest=50, largest=500, rng=518)
    sizes = np.bincount(labels)
    assert sizes.sum() == 20_000 and sizes.min() >= 50 and sizes[:-1].max() <= 550
    assert 15 < graph.degrees.mean() < 20
    matrix = graph.to_scipy().tocoo()
    outside = (labels[matrix.row] != labels[matrix.col]).mean()
    assert mixing < outside < 1.25 * mixing
    assert graph.degrees.max() > 4 * graph.degrees.mean()  # a plain block model stays below twice the mean


def test_sizes_follow_the_exponent():
    """With density size^-2 between 10 and 1000 the mean size is 9.9 ln(100) = 46; with size^-0.5, 340."""
    for exponent, mean in ((2.0, 47.0), (0.5, 339.0)):
        sizes = np.bincount(
            lfr_like(200_000, 2, 0.5, size_exponent=exponent, smallest=10, largest=1000, rng=2209).labels
        )
        assert sizes.mean() == pytest.approx(mean, rel=0.15)


@pytest.mark.parametrize(("n_nodes", "smallest", "largest"), [(500, 20, 60), (65, 20, 30), (61, 20, 21), (7, 2, 3)])
def test_every_block_is_within_the_bounds(n_nodes, smallest, largest):
    for seed in range(20):
        sizes = np.bincount(lfr_like(n_nodes, 0.5, 0.2, smallest=smallest, largest=largest, rng=seed).labels)
        assert smallest <= sizes.min() and sizes.max() <= largest and sizes.sum() == n_nodes


def test_bounds_that_make_up_no_graph_are_refused():
    with pytest.raises(ParameterError, match=r"n_nodes=30; expected smallest <= 15 or largest >= 30$"):
        lfr_like(30, 2, 0.2, smallest=20, largest=25)


def test_of_a_steep_density_the_smallest_size_is_left():
    assert set(np.bincount(lfr_like(100, 2, 0.2, size_exponent=400, smallest=20, rng=0).labels)) == {20}


def test_in_small_blocks_the_mean_degree_is_kept():
    """Blocks of ten nodes, in which a node has nine others."""
    graph, labels = lfr_like(100_000, 4, 0.25, degree_exponent=1e6, smallest=10, largest=10, rng=7741)
    assert set(np.bincount(labels)) == {10}
    matrix = graph.to_scipy().tocoo()
    inside = (labels[matrix.row] == labels[matrix.col]).sum()
    assert inside == pytest.approx(3 * 100_000, rel=0.01)
    assert matrix.nnz == pytest.approx(4 * 100_000, rel=0.01)


def test_the_same_seed_gives_the_same_graph():
    one, other = (lfr_like(3000, 12, 0.2, rng=7741) for _ in range(2))
    assert (one.graph.indices == other.graph.indices).all() and (one.labels == other.labels).all()


def test_too_small_blocks_are_refused():
    refuses(ParameterError, "smallest=10 is too small", lfr_like, 1000, 30, 0.1, smallest=10, largest=50)
    for option in ({"mixing": 1.5}, {"mean_degree": 0}, {"n_nodes": 1}):
        with pytest.raises(ParameterError, match=next(iter(option))):
            lfr_like(**{"n_nodes": 1000, "mean_degree": 10, "mixing": 0.1} | option)
    with pytest.raises(ParameterError, match=r"mean_degree=1000 .* 900 neighbors in other blocks"):
        lfr_like(1000, 1000, 0.9, smallest=200, largest=200)
