"""The small graphs that everything is tried on. Each is simple to draw, and each breaks something."""

import warnings

import networkx as nx
import numpy as np
from scipy import sparse

import graphclust as gc


def _from_edges(n: int, edges: list[tuple]) -> sparse.csr_array:
    """Symmetric matrix of (u, v) or (u, v, weight); a loop is stored once."""
    matrix = sparse.lil_array((n, n))
    for u, v, *weight in edges:
        matrix[u, v] = matrix[v, u] = weight[0] if weight else 1.0
    return matrix.tocsr()


def _of(graph: nx.Graph) -> sparse.csr_array:
    return nx.to_scipy_sparse_array(graph, weight=None, dtype=np.float64, format="csr")


def _weighted_grid() -> sparse.csr_array:
    """A grid whose weights run over twelve orders of magnitude."""
    grid = sparse.triu(_of(nx.grid_2d_graph(5, 7)), 1).tocoo()
    weights = 10.0 ** np.linspace(-6, 6, grid.nnz)
    upper = sparse.csr_array((weights, (grid.row, grid.col)), shape=grid.shape)
    return (upper + upper.T).tocsr()


def _tiny_pieces() -> sparse.csr_array:
    """A clique of 12, three single edges, a triangle, a looped node on its own and two isolated nodes."""
    pieces = [nx.complete_graph(12), *[nx.path_graph(2)] * 3, nx.complete_graph(3), nx.empty_graph(3)]
    matrix = _of(nx.disjoint_union_all(pieces)).tolil()
    matrix[21, 21] = 2.0
    return matrix.tocsr()


def _looped_sbm() -> sparse.csr_array:
    return gc.stochastic_block_model([20, 30, 10], 0.5, 0.02, self_loops=True, rng=71).graph.to_scipy()


GRAPHS = {
    "one node": lambda: sparse.csr_array((1, 1)),
    "one looped node": lambda: _from_edges(1, [(0, 0)]),
    "two nodes": lambda: _from_edges(2, [(0, 1)]),
    "no edges": lambda: sparse.csr_array((5, 5)),
    "loops only": lambda: _from_edges(4, [(0, 0), (1, 1, 2.0), (2, 2), (3, 3, 0.5)]),
    "some loops": lambda: _from_edges(6, [(0, 0), (0, 1), (1, 2), (2, 2, 3.0), (2, 3), (3, 4), (4, 5), (5, 0)]),
    "isolates": lambda: _from_edges(8, [(1, 2), (2, 4), (4, 1), (5, 6)]),
    "star": lambda: _of(nx.star_graph(30)),
    "clique": lambda: _of(nx.complete_graph(12)),
    "path": lambda: _of(nx.path_graph(40)),
    "complete bipartite": lambda: _of(nx.complete_bipartite_graph(7, 9)),
    "two cliques": lambda: _of(nx.disjoint_union(nx.complete_graph(9), nx.complete_graph(11))),
    "barbell": lambda: _of(nx.barbell_graph(10, 0)),
    "weighted": lambda: _from_edges(
        6, [(0, 1, 4.0), (1, 2, 4.0), (0, 2, 4.0), (2, 3, 0.25), (3, 4, 2.5), (4, 5, 2.5), (3, 5, 2.5)]
    ),
    "weights of all sizes": _weighted_grid,
    "karate": lambda: _of(nx.karate_club_graph()),
    "block model": lambda: gc.stochastic_block_model([40, 40, 40], 0.5, 0.02, rng=31).graph.to_scipy(),
    "looped block model": _looped_sbm,
    "sparse blocks": lambda: gc.planted_partition(6, 60, 6, 1, rng=53).graph.to_scipy(),
    "power-law blocks": lambda: gc.planted_partition(5, 80, 10, 2, degree_exponent=2.5, rng=97).graph.to_scipy(),
    "hub": lambda: _of(nx.compose(nx.star_graph(200), nx.cycle_graph(201))),
    "grid": lambda: _of(nx.grid_2d_graph(8, 12)),
    "tiny pieces": _tiny_pieces,
}


def all_graphs() -> list[str]:
    """Names, for pytest.mark.parametrize."""
    return list(GRAPHS)


def make(name: str) -> sparse.csr_array:
    """A fresh symmetric float64 CSR matrix in canonical order."""
    matrix = sparse.csr_array(GRAPHS[name](), dtype=np.float64)
    matrix.sum_duplicates()
    return matrix


def make_graph(name: str) -> gc.Graph:
    """The same as a checked Graph, without the warning about isolated nodes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gc.GraphWarning)
        return gc.as_graph(make(name))


def poisoned_except(graph: gc.Graph, kept: np.ndarray) -> gc.Graph:
    """The same degrees and row lengths, but other valid neighbors in every row that is not kept."""
    indices = graph.indices.copy()
    rng = np.random.default_rng(0)
    for u in np.setdiff1d(np.arange(graph.n_nodes), kept):
        row = slice(graph.indptr[u], graph.indptr[u + 1])
        indices[row] = np.sort(rng.choice(graph.n_nodes, row.stop - row.start, replace=False))
    assert (indices != graph.indices).any()
    return gc.Graph(graph.indptr, indices, graph.weights, graph.degrees, graph.loops)


def random_matrix(n: int, seed: int, share: float, gaps: int = 4) -> sparse.csr_array:
    """Random edges of random weights; a path links all nodes unless the seed is a multiple of gaps."""
    upper = sparse.triu(sparse.random_array((n, n), density=share, rng=np.random.default_rng(seed)), 1)
    path = sparse.diags_array([np.full(n - 1, 0.5)], offsets=[1]) if seed % gaps else sparse.csr_array((n, n))
    return sparse.csr_array(upper + upper.T + path + path.T)


def leafy_graph(n: int, n_leaves: int, seed: int) -> nx.Graph:
    """A connected graph with hubs, to which most leaves hang."""
    graph, rng = nx.powerlaw_cluster_graph(n, 3, 0.1, seed=seed), np.random.default_rng(seed)
    degrees = np.array([degree for _, degree in graph.degree()])
    graph.add_edges_from(zip(range(n, n + n_leaves), rng.choice(n, n_leaves, p=degrees / degrees.sum()), strict=True))
    return graph


def tied_copies(weights: np.ndarray) -> tuple[sparse.csr_array, np.ndarray, np.ndarray]:
    """A path whose nodes are as many copies as they weigh, tied by heavy edges; first copies; whose copy each is."""
    first, copies = np.cumsum(weights) - weights, np.repeat(np.arange(len(weights)), weights)
    n = len(copies)
    within = [(u, u + 1, 100.0) for u in range(n - 1) if copies[u] == copies[u + 1]]
    between = [(v - 1, v, 1.0) for v in first[1:].tolist()]
    return _from_edges(n, within + between), first, copies


def multilevel_labels(G, k: int, **options) -> np.ndarray:
    """The labels of the multilevel engine on all components."""
    return gc.coreset_sc(G, k, method="multilevel", components="all", **options).labels
