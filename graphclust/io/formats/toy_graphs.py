"""The small classic graphs that NetworkX carries, by name, for people without a file."""

from dataclasses import replace

import numpy as np

from graphclust.errors import ParameterError
from graphclust.graph.container import Graph
from graphclust.io.graph_input import as_graph

__all__ = ["classic_graph"]

# NetworkX's function for each, and the attribute of nodes that is a known division.
NAMES = {
    "karate": ("karate_club_graph", "club"), "les-miserables": ("les_miserables_graph", None),
    "davis": ("davis_southern_women_graph", "bipartite"), "florentine": ("florentine_families_graph", None),
}  # fmt: skip
LEFT_OUT = "the weights that NetworkX gives the edges of this graph were left out"


def classic_graph(name: str) -> tuple[Graph, np.ndarray | None]:
    """A graph of the literature, and the int64 label of each node where a division is known, else None.

    name : "karate" (34 members of a club that split, Zachary 1977; labeled), "les-miserables" (77 characters,
        Knuth 1993), "davis" (18 women and 14 events, Davis et al. 1941; labeled by the two kinds), "florentine" (15
        families, Padgett and Ansell 1993). Edges are taken without weights, as in most of the literature; those that
        NetworkX's graphs of the first two names have are left out, which a remark says.

    Raises ParameterError for another name.

    >>> graph, labels = classic_graph("karate")
    >>> graph, np.bincount(labels)
    (Graph(34 nodes, 78 edges, unweighted), array([17, 17]))
    """
    if name not in NAMES:
        raise ParameterError(f"name={name!r} is not a classic graph, expected one of {', '.join(NAMES)}")
    import networkx

    function, attribute = NAMES[name]
    network, labels = getattr(networkx, function)(), None
    if attribute is not None:
        kinds = [kind for _, kind in network.nodes(data=attribute)]
        labels = np.array([sorted(set(kinds)).index(kind) for kind in kinds])
    graph = as_graph(network, weight=None)
    if any(weight is not None for *_, weight in network.edges(data="weight")):
        graph = replace(graph, remarks=(*graph.remarks, LEFT_OUT))
    return graph, labels
