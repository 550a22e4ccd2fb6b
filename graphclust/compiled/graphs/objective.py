"""What a cluster is worth, and what changes when clusters grow: written once, inlined into every loop.

An objective is a sum over clusters of score(inside, mass), two sums that add over nodes. `inside` is the weight between
nodes of the cluster, every edge twice, plus what each node brings along by itself; `mass` is the sum of the nodes'
masses. Ratio objectives score inside / mass, additive ones inside - penalty mass^2.

The mass of a node or a cluster is a number, (n,), or several where a graph has layers, (n, n_masses); then objectives
are additive: inside - penalty (sum of penalty_i mass_i^2), with a penalty for each mass. What holds these penalties is
an argument of its own, `layers`, beside the objective that has it too: the length of a tuple and the dimensions of an
array decide what is compiled where they are arguments, so that loops over single numbers are what they would be alone.
"""

from typing import Any, NamedTuple

import numpy as np

from graphclust.compiled.runtime.loops import INLINED, loop

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


CHANCE, ADDITIVE, RATIO = 0, 1, 2  # CHANCE is no score: it only orders unions, by their excess over chance


class Objective(NamedTuple):
    """The kind of score and its penalty; `unit` is about what one good cluster is worth: the scale of round-off.

    layers : where nodes have several masses, a tuple of one array, the penalty of each, (n_masses,); else empty.
    """

    kind: int
    penalty: float
    unit: float
    layers: Any = ()


class ClusterSums(NamedTuple):
    """What the score of each cluster follows from, and its number of nodes; shape (k,) each, masses as of nodes."""

    inside: np.ndarray
    mass: np.ndarray
    size: np.ndarray


@loop(**INLINED)
def add_mass(masses, c, mass, times):
    if masses.ndim == 1:
        masses[c] += times * mass
    else:
        for i in range(masses.shape[1]):
            masses[c, i] += times * mass[i]


@loop(**INLINED)
def copy_mass(masses, c, others, other):
    if masses.ndim == 1:
        masses[c] = others[other]
    else:
        for i in range(masses.shape[1]):
            masses[c, i] = others[other, i]


@loop(**INLINED)
def clear_mass(masses, c):
    if masses.ndim == 1:
        masses[c] = 0.0
    else:
        for i in range(masses.shape[1]):
            masses[c, i] = 0.0


@loop(**INLINED)
def size_of_mass(masses, u):
    """The mass of u, or the sum of the sizes of its masses."""
    if masses.ndim == 1:
        return masses[u]
    else:
        total = 0.0
        for i in range(masses.shape[1]):
            total += abs(masses[u, i])
        return total


@loop()
def typical_product(masses, layers):
    """The square of the mean mass; of several, the mean over the nodes of the sum of penalties times squares."""
    total, n = 0.0, len(masses)
    if len(layers) == 0:
        for u in range(n):
            total += masses[u]
        return (total / n) ** 2
    else:
        for u in range(n):
            for i in range(len(layers[0])):
                total += abs(layers[0][i]) * masses[u, i] * masses[u, i]
        return total / n


@loop()
def no_masses(like, k):
    if like.ndim == 1:
        return np.zeros(k)
    else:
        return np.zeros((k, like.shape[1]))


@loop(**INLINED)
def product(layers, mass, other):
    """What chance puts between two by all their masses; the axis of the masses is the first."""
    total = 0.0
    for i in range(len(layers[0])):
        total += layers[0][i] * mass[i] * other[i]
    return total


@loop(**UNGUARDED)
def score(objective, inside, mass, layers):
    """The worth of one cluster of positive mass."""
    if len(layers) > 0:
        return inside - objective.penalty * product(layers, mass, mass)
    if objective.kind == RATIO:
        return inside / mass
    return inside - objective.penalty * mass * mass


@loop()
def value_of(objective, sums):
    """The sum of the scores of the clusters that have any mass."""
    value = 0.0
    for c in range(len(sums.mass)):
        if size_of_mass(sums.mass, c) > 0.0:
            value += score(objective, sums.inside[c], sums.mass[c], objective.layers)
    return value


@loop(**UNGUARDED)
def gain_of_union(objective, link, inside_a, mass_a, inside_b, mass_b, layers):
    """Change of the sum of scores when two clusters with the weight `link` between them become one."""
    if len(layers) > 0:
        by_chance = product(layers, mass_a, mass_b)
        return link / by_chance if objective.kind == CHANCE else 2.0 * (link - objective.penalty * by_chance)
    if objective.kind == RATIO:
        return (inside_a + inside_b + 2.0 * link) / (mass_a + mass_b) - inside_a / mass_a - inside_b / mass_b
    if objective.kind == CHANCE:
        return link / (mass_a * mass_b)
    return 2.0 * (link - objective.penalty * mass_a * mass_b)


@loop(**UNGUARDED)
def loss_of_leaving(objective, link, loop, mass, inside_own, mass_own, layers):
    """How much the score of its cluster falls when a node leaves; `link` is its weight to the others of the cluster."""
    if len(layers) > 0:
        by_chance = 2.0 * product(layers, mass, mass_own) - product(layers, mass, mass)
        return 2.0 * link + loop - objective.penalty * by_chance
    if objective.kind == RATIO:
        return inside_own / mass_own - (inside_own - 2.0 * link - loop) / (mass_own - mass)
    return 2.0 * link + loop - objective.penalty * mass * (2.0 * mass_own - mass)


@loop(**UNGUARDED)
def gain_of_joining(objective, link, loop, mass, inside, mass_of, layers):
    """How much the score of a cluster of positive mass rises when a node with the weight `link` to it comes."""
    if len(layers) > 0:
        by_chance = 2.0 * product(layers, mass, mass_of) + product(layers, mass, mass)
        return 2.0 * link + loop - objective.penalty * by_chance
    if objective.kind == RATIO:
        return (inside + 2.0 * link + loop) / (mass_of + mass) - inside / mass_of
    return 2.0 * link + loop - objective.penalty * mass * (2.0 * mass_of + mass)


@loop(**UNGUARDED)
def gain_of_link(objective, link, masses, c):
    """What a link between a node and cluster c is worth to it inside, all else being the same; masses : of clusters."""
    return 2.0 * link / size_of_mass(masses, c) if objective.kind == RATIO else 2.0 * link


@loop(**INLINED)
def better_of(c, gain, best, most):
    """The candidate of more gain, of two as good the lower number, and its gain; best -1 is for none so far.

    In three steps without a branch: candidates come in no order, so it would be unpredictable.
    """
    lower = c if c < best else best
    best = lower if gain == most else best
    best = c if gain > most else best
    return best, (gain if gain > most else most)
