"""The votes of points whose label has changed: each takes the old one back, and gives one to its new cluster."""

from typing import NamedTuple

import numpy as np

from graphclust.compiled.runtime.loops import loop


class Voters(NamedTuple):
    """Of points by position, (n,) each: row, weight, w |x - center|^2 without the w, and the label of the last vote."""

    order: np.ndarray
    weights: np.ndarray
    sq_lengths: np.ndarray
    labels: np.ndarray


class Votes(NamedTuple):
    """Rows of points, and what weight each adds to which cluster; (2 n,): there is room for two votes a point."""

    rows: np.ndarray
    weights: np.ndarray
    clusters: np.ndarray


class Polled(NamedTuple):
    """By cluster, (k,): its points of positive weight, its sum of w |x - center|^2, and whether its votes changed."""

    counts: np.ndarray
    sq_lengths: np.ndarray
    touched: np.ndarray


@loop()
def change_votes(labels, voters, polled, votes):
    """Note the votes that change when the first points get these labels, those taken back first; returns how many.

    A label of -1 is that of a point without a vote. Labels and what is polled are brought up to date.
    """
    n_votes = 0
    brought = np.zeros(len(polled.counts))
    for taken_back in (True, False):
        for i in range(len(labels)):
            if labels[i] == voters.labels[i]:
                continue
            j = voters.labels[i] if taken_back else labels[i]
            if j >= 0:
                weight = -voters.weights[i] if taken_back else voters.weights[i]
                votes.rows[n_votes], votes.weights[n_votes], votes.clusters[n_votes] = voters.order[i], weight, j
                n_votes += 1
                brought[j] += weight * voters.sq_lengths[i]
                polled.touched[j] = True
                if weight != 0.0:
                    polled.counts[j] += -1.0 if taken_back else 1.0
            if not taken_back:
                voters.labels[i] = labels[i]
    for j in range(len(brought)):
        polled.sq_lengths[j] += brought[j]
    return n_votes
