"""Embed the nodes of a graph by the top eigenvectors of N = D^-1/2 A D^-1/2, exactly or by the power method."""

from __future__ import annotations

from math import ceil, log2

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, eigsh

from graphclust.checks import Seed, as_choice, as_generator, as_weights, as_whole_number
from graphclust.errors import ConvergenceError, ParameterError
from graphclust.graph.checked_rows import graph_from_csr
from graphclust.graph.container import Graph, GraphLike
from graphclust.graph.gate import as_graph
from graphclust.graph.laplacian import NormalizedAdjacency
from graphclust.progress import ProgressLike, as_progress

__all__ = ["fast_spectral_embedding", "spectral_embedding"]

DENSE_SIZE = 128  # up to here a dense solver is quicker, and small enough that BLAS keeps to one thread
LARGEST_DENSE = 2_000  # the fallback when the sparse solver does not converge
TOLERANCE = 1e-8
ROW_SCALES = ("unit", "degree")


def spectral_embedding(
    G: GraphLike,
    k: int,
    *,
    degrees: np.ndarray | None = None,
    rows: str = "unit",
    weight: str | None = "weight",
    rng: Seed = None,
) -> np.ndarray:
    """The k top eigenvectors of the normalised adjacency, one row a node.

    G, weight : as `as_graph` takes them.
    k : number of columns, 1 <= k <= n_nodes.
    degrees : D, shape (n_nodes,); None for the row sums.
    rows : "unit" scales each row to length 1 (Ng, Jordan & Weiss 2001), "degree" by d^-1/2 (Shi & Malik 2000).
    rng : draws the solver's starting vector.

    Returns float64, shape (n_nodes, k), columns by decreasing eigenvalue, each with its largest entry positive; rows of
    nodes of degree 0 are zero. Each connected component is solved on its own, since its top vector D^1/2 1 is known;
    equal eigenvalues go to the component of larger volume. With k or more components nothing is left to solve.

    Raises ConvergenceError when neither the sparse solver nor its dense fallback (up to 2,000 nodes) succeeds.

    >>> import networkx as nx
    >>> spectral_embedding(nx.barbell_graph(3, 0), 2, rng=0).round(1)[:, 1].tolist()
    [0.8, 0.8, 0.6, -0.6, -0.8, -0.8]
    """
    graph, degrees, k, rng = _checked(G, k, degrees, weight, rng)
    as_choice(rows, "rows", ROW_SCALES)
    vectors = np.zeros((graph.n_nodes, k))
    for column, (nodes, vector) in enumerate(_top_vectors(graph, degrees, k, rng)):
        # The first of the largest entries, all that differ by rounding only, decides the sign.
        largest = np.argmax(np.abs(vector) > (1 - 1e-6) * np.abs(vector).max())
        vectors[nodes, column] = vector if vector[largest] > 0 else -vector
    return scale_rows(vectors, degrees, rows)


def fast_spectral_embedding(
    G: GraphLike,
    k: int,
    *,
    degrees: np.ndarray | None = None,
    n_columns: int | None = None,
    n_steps: int | None = None,
    weight: str | None = "weight",
    rng: Seed = None,
    progress: ProgressLike = None,
) -> np.ndarray:
    """A few random columns after many steps of the lazy random walk: the power method of Macgregor (2023).

    G, k, degrees, weight : see `spectral_embedding`.
    n_columns : max(2, ceil(log2 k)) by default.
    n_steps : multiplications by (I + N)/2; 10 max(1, ceil(log2(n_nodes / k))) by default.

    Returns float64, shape (n_nodes, n_columns), rows scaled by d^-1/2. The top vector D^1/2 1, which carries no
    information, is projected out of the random columns. Nodes of degree 0 have zero rows.

    Source: Macgregor, "Fast and simple spectral clustering in theory and practice", NeurIPS 2023, Algorithm 2.

    >>> import networkx as nx
    >>> fast_spectral_embedding(nx.barbell_graph(3, 0), 2, rng=0).shape
    (6, 2)
    """
    graph, degrees, k, rng = _checked(G, k, degrees, weight, rng)
    progress = as_progress(progress)
    n = graph.n_nodes
    n_columns = max(2, ceil(log2(k))) if n_columns is None else as_whole_number(n_columns, "n_columns", at_least=1)
    default_steps = 10 * max(1, ceil(log2(n / k)))
    n_steps = default_steps if n_steps is None else as_whole_number(n_steps, "n_steps", at_least=1)

    operator = NormalizedAdjacency(graph, degrees)
    columns = rng.standard_normal((n, n_columns))
    top = np.sqrt(graph.degrees)
    # Sums by NumPy, not products by BLAS, whose last bits depend on its threads.
    columns -= top[:, None] * ((columns * top[:, None]).sum(axis=0) / (top * top).sum())
    for done in range(n_steps):
        columns = operator.lazy_step(columns, 0.5)
        largest = np.abs(columns).max()
        if largest > 0:  # a power of the walk would underflow in the end
            columns /= largest
        progress.step(done + 1, n_steps)
    return scale_rows(columns, degrees, "degree")


def scale_rows(vectors: np.ndarray, degrees: np.ndarray, rows: str) -> np.ndarray:
    """Rows to unit length, or divided by the root of the degree; zero rows stay zero."""
    length = np.sqrt(degrees if rows == "degree" else (vectors * vectors).sum(axis=1))
    return np.divide(vectors, length[:, None], out=np.zeros_like(vectors), where=length[:, None] > 0)


def _checked(G, k, degrees, weight, rng) -> tuple[Graph, np.ndarray, int, np.random.Generator]:
    # Matrices of our own making come here too: graph_from_csr checks them and does not warn of isolated nodes.
    ours = isinstance(G, sparse.csr_array) and weight is not None and G.shape[0] == G.shape[1]
    graph = graph_from_csr(G.indptr, G.indices, G.data) if ours else as_graph(G, weight=weight)
    k = as_whole_number(k, "k", at_least=1, at_most=graph.n_nodes, why=", the number of nodes")
    degrees = graph.degrees if degrees is None else as_weights(degrees, graph.n_nodes, "degrees")
    return graph, degrees, k, as_generator(rng)


def _top_vectors(graph: Graph, degrees: np.ndarray, k: int, rng) -> list[tuple[np.ndarray, np.ndarray]]:
    """(nodes, vector on them) of the k largest eigenvalues of N; fewer when fewer nodes have edges."""
    component_of = np.where(degrees > 0, graph.components, -1)
    order = np.argsort(component_of, kind="stable")
    bounds = np.flatnonzero(np.diff(component_of[order], prepend=-2))
    members = [nodes for nodes in np.split(order, bounds[1:]) if component_of[nodes[0]] >= 0]
    volumes = [float(degrees[nodes].sum()) for nodes in members]
    known_top = degrees is graph.degrees
    candidates = []
    if known_top:
        candidates = [(1.0, c, nodes, np.sqrt(degrees[nodes])) for c, nodes in enumerate(members)]
    if not known_top or len(members) < k:
        for c, nodes in enumerate(members):
            wanted = min(len(nodes), k - len(members) + 1 if known_top else k)
            if wanted > known_top:
                part = graph if len(nodes) == graph.n_nodes else graph.subgraph(nodes)
                values, vectors = _eigenpairs(NormalizedAdjacency(part, degrees[nodes]), wanted, rng)
                candidates += [(values[i], c, nodes, vectors[:, i]) for i in range(int(known_top), wanted)]
    candidates.sort(key=lambda pair: (-round(pair[0], 10), -volumes[pair[1]], pair[1]))
    return [(nodes, vector / np.sqrt((vector * vector).sum())) for _, _, nodes, vector in candidates[:k]]


def _eigenpairs(operator: NormalizedAdjacency, k: int, rng) -> tuple[np.ndarray, np.ndarray]:
    """The k largest eigenvalues of a connected graph's N, decreasing, and their vectors."""
    n = operator.shape[0]
    start = rng.standard_normal(n)
    if n <= DENSE_SIZE or k >= n - 1:
        return _dense_eigenpairs(operator, k)
    for n_lanczos in (min(n, max(2 * k + 1, 20)), min(n, 4 * k + 60)):
        try:
            values, vectors = eigsh(operator, k, which="LA", v0=start, ncv=n_lanczos, tol=TOLERANCE)
        except (ArpackNoConvergence, ArpackError) as problem:
            failure = problem
            continue
        order = np.argsort(-values, kind="stable")
        return values[order], vectors[:, order]
    if n <= LARGEST_DENSE:
        return _dense_eigenpairs(operator, k)
    found = len(getattr(failure, "eigenvalues", ()))
    raise ConvergenceError(
        f"{found} of k={k} eigenvectors converged on {n} nodes ({failure}); use the power method, fewer clusters, "
        "or another rng"
    )


def _dense_eigenpairs(operator: NormalizedAdjacency, k: int) -> tuple[np.ndarray, np.ndarray]:
    n = operator.shape[0]
    if n > 20_000:
        raise ParameterError(
            f"k={k} of {n} eigenvectors need a dense solver, which is limited to 20,000 nodes; lower k"
        )
    scaled = operator.graph.to_scipy().toarray() * (operator.scale[:, None] * operator.scale[None, :])
    values, vectors = eigh(scaled, subset_by_index=(n - k, n - 1))
    return values[::-1], vectors[:, ::-1]
