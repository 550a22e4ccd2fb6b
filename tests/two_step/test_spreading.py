"""Labels that spread along the edges."""

import numpy as np
from aims import random_labels
from graphs import make_graph

from graphclust.progress import Progress
from graphclust.two_step.in_memory import spread_labels


def test_labels_spread_to_everything_in_reach():
    graph = make_graph("path")
    labels = np.full(40, -1, np.int32)
    labels[[0, 39]] = 0, 1
    spread, n_labeled = spread_labels(graph, labels, 2, 0.0, Progress())
    assert n_labeled == list(range(2, 41, 2)) and spread.tolist() == [0] * 20 + [1] * 20
    two_pieces = make_graph("two cliques")
    labels = np.full(20, -1, np.int32)
    labels[3] = 0
    assert spread_labels(two_pieces, labels, 1, 0.0, Progress())[1] == [1, 9, 9]


def test_spreading_takes_the_label_of_most_weight():
    graph = make_graph("power-law blocks")
    A = graph.to_scipy().toarray()
    labels = random_labels(len(A), 3, 11).astype(np.int32)
    labels[::2] = -1
    after, _ = spread_labels(graph, labels, 3, 1.0, Progress())
    links = A @ np.array([labels == c for c in range(3)]).T.astype(float)
    expected = np.where(labels >= 0, labels, np.where(links.any(axis=1), links.argmax(axis=1), -1))
    assert (after == expected).all()


def test_a_round_that_gives_few_of_the_others_a_label_is_the_last():
    graph = make_graph("path")
    labels = np.full(40, -1, np.int32)
    labels[[0, 39]] = 0, 1
    for few, n_rounds in ((2 / 38, 1), (2 / 39, 19)):  # 2 of 38 get one, then 2 of 36, 2 of 34 ...
        _, n_labeled = spread_labels(graph, labels, 2, few, Progress())
        assert n_labeled == list(range(2, 2 * n_rounds + 3, 2))
