"""Where loops add up the links of a node, or of a cluster, to each cluster.

Links inside the cluster itself are frequent: a branch on them is unpredictable, and repeated additions to one address
stall on store-to-load forwarding. So they go in turn to INNER accumulators after those of the clusters. These begin at
LEAST_LINK, so that the cluster itself counts as met.
"""

from graphclust.compiled.runtime.loops import INLINED, loop

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


@loop(**INLINED)
def place_of(c, inner, i, k):
    """Where the link of a row's i-th entry, to cluster c of k, is added; `inner` : whether it is one to keep apart.

    Counted from the row's start, so that sums are the same wherever the row lies.
    """
    return k + (i & (INNER - 1)) if inner else c
