"""Planted graphs written straight to the disk: the blocks, the degrees, and that nothing gives the blocks away."""

import numpy as np
import pytest

from graphclust import ParameterError, adjusted_rand_index, coreset_sc, open_store, planted_store


def own_block(graph, labels):
    """For each entry whether it stays in its block, one row a node."""
    return (labels[graph.indices.reshape(graph.n_nodes, -1)] == labels[:, None]).sum(axis=1)


@pytest.mark.parametrize(
    "shape", [(2, 3, 2, 1), (4, 5, 4, 3), (6, 9, 4, 9), (10, 8, 6, 2), (2, 1, 0, 1), (60, 40, 12, 5)]
)
def test_every_node_has_its_neighbors_inside_and_outside(tmp_path, shape):
    n_blocks, size, inside, outside = shape
    graph, labels = planted_store(tmp_path / "g", *shape, rng=7)
    open_store(tmp_path / "g", verify="full")  # sorted, symmetric, nothing twice
    assert graph.n_nodes == n_blocks * size and (graph.degrees == inside + outside).all() and not graph.loops.any()
    assert (own_block(graph, labels) == inside).all() and (np.bincount(labels) == size).all()


def test_the_seed_and_nothing_else_decides(tmp_path, monkeypatch):
    first, labels = planted_store(tmp_path / "a", 6, 50, 8, 3, rng=1)
    other, _ = planted_store(tmp_path / "b", 6, 50, 8, 3, rng=2)
    monkeypatch.setattr("graphclust.generators.planted_stores.ENTRIES_PER_STEP", 100)
    monkeypatch.setattr("graphclust.generators.planted_stores.ENTRIES_PER_BLOCK", 30)
    monkeypatch.setattr("graphclust.compiled.runtime.blocks.n_threads", lambda: 1)
    again, labels_again = planted_store(tmp_path / "c", 6, 50, 8, 3, rng=1)
    assert np.array_equal(first.indices, again.indices) and np.array_equal(labels, labels_again)
    assert not np.array_equal(first.indices, other.indices)


def test_names_do_not_show_the_blocks(tmp_path):
    """Of nodes side by side, and of first neighbors, no more are of one block than chance puts there."""
    n_blocks, size = 50, 100
    graph, labels = planted_store(tmp_path / "g", n_blocks, size, 8, 8, rng=3)
    n = graph.n_nodes
    spread = 4 * np.sqrt(n / n_blocks)
    for step in (1, 2, size, n // 2, 64):
        assert abs((labels == np.roll(labels, step)).sum() - n / n_blocks) < spread
    first = graph.indices.reshape(n, -1)
    inside = labels[first] == labels[:, None]
    assert np.abs(inside.mean(axis=0) - 0.5).max() < 4 * 0.5 / np.sqrt(n)
    assert abs(np.corrcoef(np.arange(n), labels)[0, 1]) < 4 / np.sqrt(n)


def test_the_edges_outside_go_to_all_blocks(tmp_path):
    graph, labels = planted_store(tmp_path / "g", 10, 400, 4, 6, rng=4)
    pairs = np.zeros((10, 10), np.int64)
    np.add.at(pairs, (np.repeat(labels, 10), labels[graph.indices]), 1)
    expected = 400 * 6 / 5  # partners are blocks of the other parity of the sum
    odd = (np.add.outer(np.arange(10), np.arange(10)) % 2).astype(bool)
    assert np.abs(pairs[odd] - expected).max() < 6 * np.sqrt(2 * expected) and (pairs == pairs.T).all()


@pytest.mark.slow
def test_the_planted_blocks_are_found(tmp_path):
    graph, labels = planted_store(tmp_path / "g", 10, 300, 16, 4, rng=5)
    assert adjusted_rand_index(coreset_sc(graph, 10, rng=0).labels, labels) > 0.99


@pytest.mark.parametrize(
    "shape, words",
    [
        ((3, 10, 4, 2), "n_blocks=3 and inside_degree=4 must both be even"),
        ((4, 10, 5, 2), "must both be even"),
        ((4, 10, 10, 2), "inside_degree=10 is more than blocks of 10"),
        ((4, 10, 4, 11), "block_size"),
        ((4, 10, 0, 0), "at least one"),
        ((2**16, 2**15, 4, 2), "fewer than 2\\^31"),
    ],
)
def test_impossible_blocks_are_refused(tmp_path, shape, words):
    with pytest.raises(ParameterError, match=words):
        planted_store(tmp_path / "g", *shape)
    assert list(tmp_path.iterdir()) == []
