"""What a cluster is worth, and what changes when clusters grow: written once, inlined into every loop.

An objective is a sum over clusters of score(inside, mass), two sums that add over nodes. `inside` is the weight between
nodes of the cluster, every edge twice, plus what each node brings along by itself; `mass` is the sum of the nodes'
masses. Ratio objectives score inside / mass, plain ones inside - pull mass^2.
"""

from typing import Any, NamedTuple

import numpy as np

from graphclust.compiled.runtime.jit_options import INLINED
from graphclust.compiled.runtime.loops import loop

# Clusters have mass: to ask of each whether what is divided by is zero would keep loops from taking several at a time.
UNGUARDED: dict[str, Any] = {"error_model": "numpy"}
LEAST_GAIN = 1e-12  # units; a smaller change may be round-off, and such moves could go round in circles


class Rows(NamedTuple):
    """A graph as the loops read it; empty weights stand for all ones."""

    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray


class RowSums(NamedTuple):
    """What the rows of a graph add up to, and their entries on the diagonal; shape (n,) each."""

    degrees: np.ndarray
    loops: np.ndarray


class NodeTerms(NamedTuple):
    """What each node adds to its cluster's sums, to `inside` by itself and to `mass`, and its degree; (n,) each."""

    loops: np.ndarray
    mass: np.ndarray
    degrees: np.ndarray


CHANCE, PLAIN, RATIO = 0, 1, 2


class Objective(NamedTuple):
    """The kind of score and its pull; `unit` is about what one good cluster is worth: the scale of round-off."""

    kind: int
    pull: float
    unit: float


class ClusterSums(NamedTuple):
    """What the score of each cluster follows from, and its number of nodes; shape (k,) each."""

    inside: np.ndarray
    mass: np.ndarray
    size: np.ndarray


@loop(**UNGUARDED)
def score(objective, inside, mass):
    """The worth of one cluster of positive mass."""
    if objective.kind == RATIO:
        return inside / mass
    return inside - objective.pull * mass * mass


@loop()
def value_of(objective, sums):
    """The sum of the scores of the clusters that have any mass."""
    value = 0.0
    for c in range(len(sums.mass)):
        if sums.mass[c] > 0.0:
            value += score(objective, sums.inside[c], sums.mass[c])
    return value


@loop(**UNGUARDED)
def gain_of_union(objective, link, inside_a, mass_a, inside_b, mass_b):
    """Change of the sum of scores when two clusters with the weight `link` between them become one."""
    if objective.kind == RATIO:
        return (inside_a + inside_b + 2.0 * link) / (mass_a + mass_b) - inside_a / mass_a - inside_b / mass_b
    if objective.kind == CHANCE:
        return link / (mass_a * mass_b)
    return 2.0 * (link - objective.pull * mass_a * mass_b)


@loop(**UNGUARDED)
def loss_of_leaving(objective, link, loop, mass, inside_own, mass_own):
    """How much the score of its cluster falls when a node leaves; `link` is its weight to the others of the cluster."""
    if objective.kind == RATIO:
        return inside_own / mass_own - (inside_own - 2.0 * link - loop) / (mass_own - mass)
    return 2.0 * link + loop - objective.pull * mass * (2.0 * mass_own - mass)


@loop(**UNGUARDED)
def gain_of_joining(objective, link, loop, mass, inside, mass_of):
    """How much the score of a cluster of positive mass rises when a node with the weight `link` to it comes."""
    if objective.kind == RATIO:
        return (inside + 2.0 * link + loop) / (mass_of + mass) - inside / mass_of
    return 2.0 * link + loop - objective.pull * mass * (2.0 * mass_of + mass)


@loop(**UNGUARDED)
def gain_of_link(objective, link, mass_of):
    """What a link between a node and a cluster of so much mass is worth to it inside, all else being the same."""
    return 2.0 * link / mass_of if objective.kind == RATIO else 2.0 * link


@loop(**INLINED)
def better_of(c, gain, best, most):
    """The candidate of more gain, of two as good the lower number, and its gain; best -1 is for none so far.

    In three steps without a branch: candidates come in no order, so it would be unpredictable.
    """
    lower = c if c < best else best
    best = lower if gain == most else best
    best = c if gain > most else best
    return best, (gain if gain > most else most)
