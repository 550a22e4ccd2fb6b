"""Links of nodes to clusters, and the sums of clusters.

Where loops add up the links of a node, or of a cluster, to each cluster, links inside the cluster itself are frequent:
a branch on them is unpredictable, and repeated additions to one address stall on store-to-load forwarding. So they go
in turn to INNER accumulators after those of the clusters. These begin at LEAST_LINK, so that the cluster itself counts
as met.
"""

import numpy as np

from graphclust.compiled.graphs.objective import add_mass
from graphclust.compiled.runtime.loops import INLINED, UNCOUNTED, loop
from graphclust.compiled.runtime.prefetch import AHEAD, CACHED, ask_for_neighbors

INNER = 4  # fewer accumulators stall, more take longer to add up; a power of two, since `&` takes the turns
LEAST_LINK = 2.0**-1022  # not zero, so that its cluster counts as met; vanishes in a sum with any weight above 1e-291


@loop(**INLINED)
def sum_of_links(before, weight, layers):
    """A link and one more edge; of a graph with layers never zero, since weights may cancel and its cluster was met."""
    if len(layers) == 0:
        return before + weight
    else:
        total = before + weight
        return total if total != 0.0 else LEAST_LINK


LONG_ROW = 64  # entries; on shorter rows single look-ups are faster


@loop(**INLINED)
def weight_to_own(u, rows, labels):
    """Weight of the edges of u to others of its cluster; 0 for a node without a cluster."""
    own = labels[u]
    if own < 0:
        return 0.0
    row = rows.indices[rows.indptr[u] : rows.indptr[u + 1]]
    weights = rows.weights[rows.indptr[u] : rows.indptr[u + 1]]
    if len(weights) > 0 or len(row) < LONG_ROW:
        total = 0.0
        for e in range(len(row)):
            stays = (labels[np.uint32(row[e])] == own) & (row[e] != u)  # unsigned: no test for counting from the end
            total += np.float64(stays) * (weights[e] if len(weights) > 0 else 1.0)  # a branch is unpredictable
        return total
    count = 0  # a sum of whole numbers may be reordered, so that several labels are looked up at a time
    for e in range(len(row)):
        count += (labels[np.uint32(row[e])] == own) & (row[e] != u)
    return float(count)


@loop(**UNCOUNTED)
def weights_to_own(first, last, block, rows, labels, stays):
    """stays[u] = weight of the edges of u to others of its cluster; 0 for nodes without a cluster."""
    many = len(labels) > CACHED
    for u in range(first, last):
        if many and u + AHEAD < last:
            ask_for_neighbors(labels, rows, u + AHEAD)
        stays[u] = weight_to_own(u, rows, labels)


@loop(**UNCOUNTED)
def add_to_sums(labels, stays, terms, sums):
    """Adds to the sums of the clusters what each node brings, `stays` being its weight to others of its cluster."""
    for u in range(len(labels)):
        c = labels[u]
        if c >= 0:
            sums.inside[c] += stays[u] + terms.loops[u]
            add_mass(sums.mass, c, terms.mass[u], 1.0)
            sums.size[c] += 1


@loop()
def weights_to_others(first, last, block, rows, labels, leaving):
    """Sum each row's entries to nodes of other labels into leaving (n,); empty `weights` stand for all ones."""
    indptr, indices, weights = rows
    weighted = len(weights) > 0
    for u in range(first, last):
        own = labels[u]
        row = indices[indptr[u] : indptr[u + 1]]
        row_weights = weights[indptr[u] : indptr[u + 1]]
        # A sum of floats is not reordered, so the look-ups stay scalar: on rows of tens that beats vector gathers.
        total = 0.0
        for e in range(len(row)):
            if labels[np.uint32(row[e])] != own:  # unsigned: no test for counting from the end
                total += row_weights[e] if weighted else 1.0
        leaving[u] = total


@loop()
def choose_clusters(first, last, block, n_clusters, nodes, rows, labels, chosen):
    """chosen[i] = the cluster that node nodes[i] has most weight to, the lower of equals; -1 when to none."""
    indptr, indices, weights = rows
    weighted, many = len(weights) > 0, len(labels) > CACHED
    link = np.zeros(n_clusters)
    met = np.empty(n_clusters, np.int32)
    for i in range(first, last):
        u = nodes[i]
        if many and i + AHEAD < last:
            ask_for_neighbors(labels, rows, nodes[i + AHEAD])
        n_met = 0
        for e in range(indptr[u], indptr[u + 1]):
            c = labels[indices[e]]
            if c < 0:
                continue
            if link[c] == 0.0:
                met[n_met] = c
                n_met += 1
            link[c] += weights[e] if weighted else 1.0
        best = -1
        most = 0.0
        for j in range(n_met):
            c = met[j]
            if link[c] > most or (link[c] == most and c < best):
                most = link[c]
                best = c
            link[c] = 0.0
        chosen[i] = best
