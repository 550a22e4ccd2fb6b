"""Where loops add up the links of a node, or of a cluster, to each cluster.

Of the neighbors many are of the same cluster and many are not: a branch between the two is unpredictable, and
adding to the place of that cluster over and over would wait for itself. So its links go to INNER places after those of
the clusters, in turn. Those begin at LEAST_LINK, by which they look as if they were met already.
"""

from graphclust.compiled.runtime.jit_options import INLINED
from graphclust.compiled.runtime.loops import loop

INNER = 4  # fewer places wait for one another, more are more to add up; a power of two, since `&` takes the turns
LEAST_LINK = 2.0**-1022  # not zero, so that its cluster counts as met; vanishes in a sum with any weight above 1e-291


@loop(**INLINED)
def place_of(c, inner, i, k):
    """Where the link of a row's i-th entry, to cluster c of k, is added; `inner` : whether it is one to keep apart.

    Counted from the row's start, so that sums are the same wherever the row lies.
    """
    return k + (i & (INNER - 1)) if inner else c
