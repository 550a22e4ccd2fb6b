"""The steps of the coreset methods: D²-sampling, links between the nodes drawn, and labels for all other nodes.

Seeds are drawn in the feature space of a normalized-cut kernel, with a complete binary tree of sums, root at 0, leaf i
at i + n - 1 (Wong & Easton 1980), and without it. Two steps of the random walk say which coreset nodes share neighbors.
Every node goes to the nearest centroid of the coreset in kernel space, from the rows of the coreset nodes alone.
"""

from typing import NamedTuple

import numpy as np

from graphclust.compiled.graphs.cluster_sums import LEAST_LINK
from graphclust.compiled.graphs.csr import first_at_least
from graphclust.compiled.runtime.loops import ask_for, loop
from graphclust.compiled.runtime.prefetch import CACHED


@loop()
def build_tree(masses):
    n = len(masses)
    tree = np.empty(2 * n - 1)
    for i in range(n):  # an assignment of the slice brings two seconds of compiling, the text of an error about shapes
        tree[n - 1 + i] = masses[i]
    for parent in range(n - 2, -1, -1):
        tree[parent] = tree[2 * parent + 1] + tree[2 * parent + 2]
    return tree


@loop()
def set_leaf(tree, i, mass):
    node = i + len(tree) // 2
    tree[node] = mass
    while node > 0:
        node = (node - 1) // 2
        # Re-add the children: subtracting the change would drift below zero over many updates.
        tree[node] = tree[2 * node + 1] + tree[2 * node + 2]


@loop()
def draw_leaf(tree, uniform):
    """Leaf whose share of the total mass, which must be positive, contains `uniform` in [0, 1)."""
    n_internal = len(tree) // 2
    target = uniform * tree[0]
    node = 0
    while node < n_internal:
        left = 2 * node + 1
        if target < tree[left] or tree[left + 1] == 0.0:  # never a subtree without mass, whatever the rounding
            node = left
        else:
            target -= tree[left]
            node = left + 1
    return node - n_internal


# Positions in `tally`.
ENTRIES_READ, CLIPPED = range(2)
ROUND_OFF = 1e-12  # relative; a squared distance further below zero is the kernel's fault, and is counted


class KernelTerms(NamedTuple):
    """The d, the diagonal of K and the weights W of some nodes, float64, one each."""

    degrees: np.ndarray
    self_affinity: np.ndarray
    point_weights: np.ndarray


class SeedDistances(NamedTuple):
    """Squared distance of some nodes to their nearest seed, and its rank; what was read and clipped, by position."""

    sq_distances: np.ndarray
    nearest: np.ndarray
    tally: np.ndarray


@loop()
def sq_distance(own_affinity, seed_affinity, affinity, tally):
    """K_xx + K_yy - 2 K_xy, or 0 where that is negative."""
    distance = own_affinity + seed_affinity - 2.0 * affinity
    if distance < 0.0:
        if distance < -ROUND_OFF * (own_affinity + seed_affinity):
            tally[CLIPPED] += 1
        return 0.0
    return distance


@loop()
def add_seed(rank, seed, rows, terms, tree, distances):
    """Only a new seed and its neighbors can get closer: all others share no entry of K with it."""
    indptr, indices, weights = rows
    degrees, self_affinity, point_weights = terms
    sq_distances, nearest, tally = distances
    sq_distances[seed] = 0.0  # and so it is never drawn again
    nearest[seed] = rank
    set_leaf(tree, seed, 0.0)
    tally[ENTRIES_READ] += indptr[seed + 1] - indptr[seed]
    for e in range(indptr[seed], indptr[seed + 1]):
        x = indices[e]
        if x == seed:
            continue
        weight = weights[e] if len(weights) > 0 else 1.0
        affinity = weight / (degrees[x] * degrees[seed])
        distance = sq_distance(self_affinity[x], self_affinity[seed], affinity, tally)
        if distance < sq_distances[x]:
            sq_distances[x] = distance
            nearest[x] = rank
            set_leaf(tree, x, point_weights[x] * distance)


@loop()
def draw_seeds(first, last, uniforms, rows, terms, tree, distances, seeds):
    """Seeds number first..last-1, one for each uniform; returns how many there are when the mass is used up."""
    for rank in range(first, last):
        if not tree[0] > 0.0:
            return rank
        seeds[rank] = draw_leaf(tree, uniforms[rank])
        add_seed(rank, seeds[rank], rows, terms, tree, distances)
    return last


@loop()
def update_all_distances(rank, seed, rows, terms, affinity, distances):
    """The baseline's step: compare every node's distance to the new seed; `affinity` (n,) is zero, and left so."""
    indptr, indices, weights = rows
    degrees, self_affinity, _ = terms
    sq_distances, nearest, tally = distances
    for e in range(indptr[seed], indptr[seed + 1]):
        weight = weights[e] if len(weights) > 0 else 1.0
        affinity[indices[e]] = weight / (degrees[indices[e]] * degrees[seed])
    tally[ENTRIES_READ] += indptr[seed + 1] - indptr[seed]
    for x in range(len(sq_distances)):
        distance = 0.0 if x == seed else sq_distance(self_affinity[x], self_affinity[seed], affinity[x], tally)
        if distance < sq_distances[x]:
            sq_distances[x] = distance
            nearest[x] = rank
    for e in range(indptr[seed], indptr[seed + 1]):
        affinity[indices[e]] = 0.0


AHEAD = 8  # entries of a row: so far ahead of the one at hand its visitors are asked for, and twice as far their place


class Visits(NamedTuple):
    """The coreset nodes (by position) that each node z is a neighbor of, from starts[z] on, and the degrees of all z.

    Empty weights stand for all ones.
    """

    starts: np.ndarray
    visitors: np.ndarray
    weights: np.ndarray
    degrees: np.ndarray


@loop()
def count_visits(indices, starts):
    """How many coreset nodes each node z is a neighbor of, into starts[z + 1]."""
    many, end = len(starts) > CACHED, len(indices)
    for e in range(end):
        if many and e + AHEAD < end:
            ask_for(starts, indices[e + AHEAD])
        starts[indices[e] + 1] += 1


@loop()
def list_visits(rows, place, visitors, visit_weights):
    """The coreset nodes that each z is a neighbor of, in order; place (n,) starts at the lists' starts.

    place[z] ends one past the last visitor of z.
    """
    indptr, indices, weights = rows
    many, end = len(place) > CACHED, len(indices)
    for i in range(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            if many and e + 2 * AHEAD < end:
                ask_for(place, indices[e + 2 * AHEAD])
                ask_for(visitors, place[indices[e + AHEAD]])
            z = indices[e]
            visitors[place[z]] = i
            if len(weights) > 0:
                visit_weights[place[z]] = weights[e]
            place[z] += 1


@loop()
def shared_neighbors(first, last, block, made, most, scale, rows, visits):
    """Rows first..last-1 of scale_x scale_y sum_z A_xz A_zy / d_z, x != y, between coreset nodes, from their rows.

    Of more than `most` visitors of one z only those in the same run of `most` count, with their weights scaled up: the
    work is at most `most` times the entries of the coreset's rows, whatever the hubs. Returns the entries written; a
    row has room for as many as there are visits or coreset nodes, so that one more can always be written than counted.
    """
    lengths, out_indices, out_weights = made
    indptr, indices, weights = rows
    starts, visitors, visit_weights, degrees = visits
    weighted, many = len(weights) > 0, len(degrees) > CACHED
    link = np.zeros(len(scale))
    written = 0
    for x in range(first, last):
        start_of_row = written
        for e in range(indptr[x], indptr[x + 1]):
            if many and e + 2 * AHEAD < len(indices):
                ask_for(starts, indices[e + 2 * AHEAD])
                ask_for(degrees, indices[e + 2 * AHEAD])
                ask_for(visitors, starts[indices[e + AHEAD]])
            z = indices[e]
            w = weights[e] if weighted else 1.0
            start, end = starts[z], starts[z + 1]
            factor = w / degrees[z]
            n_visitors = end - start
            if n_visitors > most:  # a hub: the run that x is in stands for all its visitors
                run = (first_at_least(visitors, start, end, x) - start) // most
                end = min(start + (run + 1) * most, end)
                start += run * most
                if end - start > 1:
                    factor *= (n_visitors - 1) / (end - start - 1)  # x itself is no neighbor of its own
            for i in range(start, end):
                y = visitors[i]
                if y == x:
                    continue
                out_indices[written] = y  # counted only for the first link, without an unpredictable branch
                written += link[y] == 0.0
                # No product that rounds to zero: it would look as if y were not met yet, and be no edge.
                link[y] += max(factor * (visit_weights[i] if weighted else 1.0), LEAST_LINK)
        for i in range(start_of_row, written):
            y = out_indices[i]
            out_weights[i] = max(scale[x] * scale[y] * link[y], LEAST_LINK)
            link[y] = 0.0
        lengths[x] = written - start_of_row
    return written


PRODUCT, BEST, LABEL, DEGREE = range(4)
NOT_MET = -1.0  # no product: those are >= 0, and may be rounded to 0


class Centroids(NamedTuple):
    """The centroids of the clusters of a coreset in kernel space.

    members, weights : the coreset nodes of positive weight and their weights, sorted by cluster; cluster j from
        starts[j]. cluster_weights, sq_norms : of each cluster, and of its centroid; shape (n_clusters,).
    """

    members: np.ndarray
    weights: np.ndarray
    starts: np.ndarray
    cluster_weights: np.ndarray
    sq_norms: np.ndarray


class Assignment(NamedTuple):
    """Labels of nodes, whether no row of the coreset said anything about them, and the entries read by each block."""

    labels: np.ndarray
    undecided: np.ndarray
    entries_read: np.ndarray


@loop()
def label_nodes(first, last, block, rows, terms, centroids, met_only, assignment):
    """Labels of nodes first..last-1: argmin over clusters j of |c_j|^2 - 2 <x, c_j>, ties to the lower j.

    met_only : whether only clusters that have a neighbor of x are candidates, where there are any.

    All weights are positive, but for an empty cluster's, which is no candidate. <x, c_j> is 0 for clusters without a
    neighbor of x, so that beside the clusters met in the rows only the one of least |c_j|^2 can win; a node that no
    row meets is undecided and goes there.
    """
    indptr, indices, weights = rows
    degrees, self_affinity, _ = terms
    members, member_weights, starts, cluster_weights, sq_norms = centroids
    labels, undecided, entries_read = assignment
    n_clusters = len(cluster_weights)
    default = -1
    for j in range(n_clusters):
        if cluster_weights[j] > 0.0 and (default < 0 or sq_norms[j] < sq_norms[default]):
            default = j
    nodes = np.empty((last - first, 4))  # what is looked up often for each node, in half a memory line
    met = np.empty(last - first + 1, np.int64)  # with room for one that is not counted
    for x in range(first, last):
        nodes[x - first, PRODUCT] = NOT_MET
        nodes[x - first, BEST] = np.inf if met_only else sq_norms[default]
        nodes[x - first, LABEL] = default
        nodes[x - first, DEGREE] = degrees[x]
        undecided[x] = True
    for j in range(n_clusters):
        n_met = 0
        for i in range(starts[j], starts[j + 1]):
            y = members[i]
            scale = member_weights[i] / degrees[y]
            if first <= y < last and self_affinity[y] > 0.0:
                # Times d_y, because all products are divided by the degree of x below.
                n_met = _add(nodes, met, n_met, y - first, member_weights[i] * self_affinity[y] * degrees[y])
            start = first_at_least(indices, indptr[y], indptr[y + 1], first)
            for e in range(start, indptr[y + 1]):
                x = indices[e]
                if x >= last:
                    break
                entries_read[block] += 1
                if x != y:
                    n_met = _add(nodes, met, n_met, x - first, scale * (weights[e] if len(weights) > 0 else 1.0))
        for i in range(n_met):
            x = met[i]
            best, label = nodes[x, BEST], nodes[x, LABEL]
            value = sq_norms[j] - 2.0 * nodes[x, PRODUCT] / (nodes[x, DEGREE] * cluster_weights[j])
            better = (value < best) | ((value == best) & (j < label))
            nodes[x, PRODUCT] = NOT_MET
            nodes[x, BEST] = value if better else best
            nodes[x, LABEL] = j if better else label
            undecided[first + x] = False
    for x in range(first, last):
        labels[x] = np.int64(nodes[x - first, LABEL])


@loop()
def _add(nodes, met, n_met, x, product):
    """Add to the product of x with a cluster; returns how many nodes that met. No branch: it is unpredictable."""
    before = nodes[x, PRODUCT]
    met[n_met] = x
    nodes[x, PRODUCT] = product if before == NOT_MET else before + product
    return n_met + (before == NOT_MET)


@loop()
def approach_seeds(first, last, rank, seeds, terms, distances):
    """New seeds, of ranks from `rank` on, come near to their neighbors among the nodes first..last-1, to nobody else.

    terms and distances are those of the nodes of the block.
    """
    degrees, self_affinity, _ = terms
    sq_distances, nearest, tally = distances
    weighted = len(seeds.weights) > 0
    for i in range(len(seeds.nodes)):
        seed = seeds.nodes[i]
        if first <= seed < last:
            sq_distances[seed - first] = 0.0
            nearest[seed - first] = rank + i
        # From the first neighbor of the block on.
        for e in range(first_at_least(seeds.indices, seeds.indptr[i], seeds.indptr[i + 1], first), seeds.indptr[i + 1]):
            x = seeds.indices[e] - first
            if x >= last - first:  # columns increase: the rest is of later blocks
                break
            tally[ENTRIES_READ] += 1
            if x + first == seed:
                continue
            affinity = (seeds.weights[e] if weighted else 1.0) / (degrees[x] * seeds.degrees[i])
            distance = sq_distance(self_affinity[x], seeds.self_affinity[i], affinity, tally)
            if distance < sq_distances[x]:
                sq_distances[x] = distance
                nearest[x] = rank + i
