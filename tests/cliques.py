"""Drawn graphs whose clusters nobody can miss, under names of all kinds: labels must land on the right nodes."""

import itertools

import networkx as nx
import numpy as np
from hypothesis import strategies as st

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=5)
NAMES = (TEXTS, st.integers(-50, 500), st.integers(0, 9).map(lambda i: i * 2**40))


@st.composite
def cliques(draw):
    """Weighted edges of two or three cliques and the nodes, all shuffled, some of them alone; and who belongs where."""
    sizes = draw(st.lists(st.integers(3, 5), min_size=2, max_size=3))
    n_alone = draw(st.integers(0, 2))
    n = sum(sizes) + n_alone
    names = st.lists(draw(st.sampled_from(NAMES)), min_size=n, max_size=n, unique=True)
    nodes = draw(names if n <= 10 else st.permutations(range(n)))
    starts = np.cumsum([0, *sizes])
    members = [nodes[a:b] for a, b in itertools.pairwise(starts)]
    edges = [(u, v, 2.0 + i) for clique in members for i, u in enumerate(clique) for v in clique[:i]]
    edges += [(clique[0], clique[0], 0.5) for clique in members[:1]]
    edges = [(v, u, w) if draw(st.booleans()) else (u, v, w) for u, v, w in edges]
    return draw(st.permutations(nodes)), draw(st.permutations(edges)), [set(clique) for clique in members]


def as_networkx(nodes, edges):
    G = nx.Graph()
    G.add_nodes_from(nodes)
    G.add_weighted_edges_from(edges)
    return G
