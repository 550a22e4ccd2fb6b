"""Numbers beyond what floats hold, or whose products are: right values, or errors that name the argument."""

import warnings

import networkx as nx
import numpy as np
import pytest
from cases import for_each

import graphclust as gc

HUGE = 10**400
BARBELL, CLUB = nx.barbell_graph(5, 0), nx.karate_club_graph()
POINTS = np.random.default_rng(0).normal(size=(40, 2))
HEAVY = [1e308] * 34

REFUSED = {
    "resolution": [
        lambda: gc.communities(CLUB, resolution=HUGE), lambda: gc.coreset_sc(CLUB, 3, resolution=1e308, rng=0),
        lambda: gc.modularity(CLUB, [0] * 34, resolution=HUGE), lambda: gc.hierarchy(CLUB, resolution=1e200),
    ],
    "max_size": [lambda: gc.communities(CLUB, max_size=HUGE), lambda: gc.coreset_sc(CLUB, 3, max_size=HUGE)],
    "time_budget": [lambda: gc.communities(CLUB, time_budget=HUGE)],
    "max_imbalance": [lambda: gc.balanced_partition(CLUB, 3, max_imbalance=HUGE)],
    "node_weight": [
        lambda: gc.balanced_partition(CLUB, 3, node_weight=HEAVY),
        lambda: gc.communities(CLUB, max_size=1e308, node_weight=HEAVY),
    ],
    "sample_weight": [
        lambda: gc.kernel_kmeans(POINTS, 4, sample_weight=1e-200),
        lambda: gc.coreset_kernel_kmeans(POINTS, 4, coreset_size=20, sample_weight=1e-200),
    ],
    "rows": [
        lambda: gc.coreset_sc(BARBELL, 2, rng=0).predict({"new": {0: HUGE}}),
        lambda: gc.coreset_sc(BARBELL, 2, rng=0).predict([[1e154] * 10]),
    ],
    "weight": [lambda: gc.communities([(0, 1, HUGE), (1, 2, 1)])],
    "G": [lambda: gc.estimate_memory((HUGE, 1), 2)],
    "batch_size": [lambda: gc.minibatch_kmeans(POINTS, 4, batch_size=HUGE)],
}  # fmt: skip


@for_each("argument", REFUSED)
def test_a_number_out_of_range_is_refused_by_the_name_of_its_argument(argument):
    for ask in REFUSED[argument]:
        with warnings.catch_warnings(), pytest.raises(gc.GraphClustError, match=rf"{argument}\b") as problem:
            warnings.simplefilter("error", RuntimeWarning)
            ask()
        assert len(str(problem.value)) < 300


@pytest.mark.filterwarnings("ignore::graphclust.errors.GraphWarning")
def test_extremes_within_range_change_no_result():
    assert gc.communities(CLUB, resolution=1e-308, rng=0).k == 1
    assert gc.balanced_partition(CLUB, 3, max_imbalance=1e308, rng=0).k == 3
    costs = [gc.kernel_kmeans(POINTS, 4, sample_weight=weight, rng=0).cost / weight for weight in (1e-140, 1.0, 1e140)]
    assert costs == pytest.approx([costs[1]] * 3, rel=1e-12)
    links = np.array([[1e139] * 5 + [0] * 5, [0] * 5 + [1e-300] * 5])
    clustering = gc.coreset_sc(BARBELL, 2, rng=0)
    assert clustering.predict(links).tolist() == clustering.labels[[0, 9]].tolist()


def test_nodes_may_weigh_nothing_in_equal_parts():
    grid = nx.grid_2d_graph(10, 10)
    weights = np.where(np.arange(100) % 3 == 0, 0.0, 1.0)
    parts = gc.balanced_partition(grid, 4, node_weight=weights, rng=0)
    assert np.bincount(parts.labels, weights).max() <= np.ceil(1.03 * weights.sum() / 4)
