"""Communities as NetworkX's functions give them: from a graph a list of sets of nodes, with `weight=` and `seed=`.

    import networkx as nx
    from graphclust.nx import coreset_communities
    nx.community.modularity(G, coreset_communities(G, 5, seed=1))

A node without edges, or put aside with its component, is a community of its own, beside the k that were asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from numbers import Integral
from typing import Any

import numpy as np

from graphclust.checks import as_generator
from graphclust.partition.coreset_sc import coreset_sc
from graphclust.profile.unknown_k import warn_if_unclear
from graphclust.results.clustering import Clustering
from graphclust.spectral.whole_graph import spectral_clustering

Weight = str | Callable[[Any, Any, Any], float | None] | None

__all__ = ["coreset_communities", "spectral_communities"]


def coreset_communities(
    G: Any, k: int | None = None, *, weight: Weight = "weight", seed: Any = None, **options: Any
) -> list[set[Hashable]]:
    """A partition of the nodes into exactly k communities, the largest first: `graphclust.coreset_sc`.

    G : an undirected networkx.Graph. weight : the edge attribute of the weights; an edge without it counts 1, and so do
        all where no edge has it, or with None. Or a function (u, v, attributes) of an edge that gives its weight, or
        None for no edge; in a multigraph, of all edges between two nodes, with their attributes by key.
    k : number of communities; None takes the number that the graph shows, and warns if it is not clear.
    seed : None, a whole number, a Generator, or, of which a number is drawn, a RandomState, a random.Random, or one of
        the modules random and numpy.random.
    options : of `graphclust.coreset_sc`, such as objective, resolution or effort.

    Raises what `coreset_sc` raises.

    >>> import networkx as nx
    >>> coreset_communities(nx.barbell_graph(4, 0), 2, seed=1)
    [{0, 1, 2, 3}, {4, 5, 6, 7}]
    """
    G, weight = _with_weights(G, weight)
    return _sets(coreset_sc(G, k, weight=weight, rng=as_rng(seed), **options))


def spectral_communities(
    G: Any, k: int | None = None, *, weight: Weight = "weight", seed: Any = None
) -> list[set[Hashable]]:
    """A partition of the nodes into k communities by eigenvectors: `graphclust.spectral_clustering`.

    Arguments as for `coreset_communities`. Raises what `spectral_clustering` raises.

    >>> import networkx as nx
    >>> spectral_communities(nx.barbell_graph(4, 0), 2, seed=1)
    [{0, 1, 2, 3}, {4, 5, 6, 7}]
    """
    G, weight = _with_weights(G, weight)
    return _sets(spectral_clustering(G, k, weight=weight, rng=as_rng(seed)))


def _sets(found: Clustering) -> list[set[Hashable]]:
    """The communities; of a clustering nothing else is returned, so that a k which is not clear is said here."""
    warn_if_unclear(found.remarks)
    return found.communities()


def as_rng(seed: Any, name: str = "seed") -> Any:
    """What our functions take as `rng` for what NetworkX's take as `seed`; a number stays one, for the record."""
    if isinstance(seed, np.random.RandomState) or seed is np.random:
        return int(seed.randint(np.iinfo(np.int32).max))
    if hasattr(seed, "randrange"):
        return seed.randrange(2**31)
    generator = as_generator(seed, name)
    return seed if seed is None or isinstance(seed, Integral) else generator


def _with_weights(G: Any, weight: Any) -> tuple[Any, str | None]:
    """The graph, and the attribute or None where no edge has it: our functions take that for a mistake.

    Of a function of edges the graph that it weighs.
    """
    if weight is None or not hasattr(G, "adjacency"):
        return G, weight
    if not callable(weight):
        return G, weight if any(weight in attributes for *_, attributes in G.edges(data=True)) else None
    import networkx

    weighted = networkx.DiGraph() if G.is_directed() else networkx.Graph()
    weighted.add_nodes_from(G)
    for u, v in type(weighted)(G).edges():  # of parallel edges one
        value = weight(u, v, G[u][v])
        if value is not None:
            weighted.add_edge(u, v, weight=value)
    return weighted, "weight"
