"""Embed the nodes of a graph by the top eigenvectors of N = D^-1/2 A D^-1/2, exactly or by the power method."""

from math import ceil, exp, log, log2

import numpy as np

from graphclust.checks import K_OF_GRAPH, Seed, as_choice, as_generator, as_weights, as_whole_number
from graphclust.graph.container import Graph, GraphLike
from graphclust.graph.laplacian import NormalizedAdjacency
from graphclust.io.graph_input import as_graph
from graphclust.progress import ProgressLike, as_progress
from graphclust.spectral.eigenvectors import Deflated, top_eigenpairs

FLOOR = 1e-300  # of a squared length: columns may be all zeros
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
    """The k top eigenvectors of the normalized adjacency, one row a node.

    G, weight : as `as_graph` takes them.
    k : number of columns, 1 <= k <= n_nodes.
    degrees : D, shape (n_nodes,); None for the row sums.
    rows : "unit" scales each row to length 1 (Ng, Jordan & Weiss 2001), "degree" by d^-1/2 (Shi & Malik 2000).
    rng : draws the solver's starting vector.

    Returns float64, shape (n_nodes, k), columns by decreasing eigenvalue, each with its largest entry positive; rows of
    nodes of degree 0 are zero. Each connected component is solved on its own, since its top vector D^1/2 1 is known;
    equal eigenvalues go to the component of larger volume. With k or more components nothing is left to solve.

    Raises ConvergenceError when no solver's eigenvectors stand up to a check, none being missed, after a bounded amount
    of work; ParameterError (k out of range, unknown rows, most eigenvectors of more than 20,000 nodes),
    GraphValidationError (no graph, impossible degrees), TypeError. Warns with GraphWarning as `as_graph` does.

    Source: Ng, Jordan & Weiss, "On spectral clustering: analysis and an algorithm", NIPS 2001; Shi & Malik, "Normalized
    cuts and image segmentation", IEEE PAMI 2000. The solvers: `graphclust.spectral.eigenvectors`.

    >>> import networkx as nx
    >>> spectral_embedding(nx.barbell_graph(3, 0), 2, rng=0).round(1)[:, 1].tolist()
    [0.8, 0.8, 0.6, -0.6, -0.8, -0.8]
    """
    graph, degrees, k, rng = _check(G, k, degrees, weight, rng)
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

    degrees : D, shape (n_nodes,); None for the row sums. The walk must not gain mass, or a few nodes would drown all
        others: where the row sum is more than D it is taken instead, and where it is less, the rest stays at the node.

    Raises ParameterError (k, n_columns, n_steps out of range), GraphValidationError (no graph, impossible degrees),
    TypeError. Warns with GraphWarning as `as_graph` does.

    Source: Macgregor, "Fast and simple spectral clustering in theory and practice", NeurIPS 2023, Algorithm 2.

    >>> import networkx as nx
    >>> fast_spectral_embedding(nx.barbell_graph(3, 0), 2, rng=0).shape
    (6, 2)
    """
    return walk_columns(
        G, k, degrees=degrees, n_columns=n_columns, n_steps=n_steps, weight=weight, rng=rng, progress=progress
    )[0]  # fmt: skip


def walk_columns(
    G: GraphLike, k: int, *, degrees=None, n_columns=None, n_steps=None, weight="weight", rng=None, progress=None
) -> tuple[np.ndarray, float]:
    """`fast_spectral_embedding`, and about how many eigenvectors its columns are still made of.

    The walk gives an eigenvector a share g of a column's squared length; their number is (sum g)^2 / sum g^2 where g is
    taken after half of the walk, when sum g is the squared length and sum g^2 that after all of it, in expectation.
    """
    graph, degrees, k, rng = _check(G, k, degrees, weight, rng)
    progress = as_progress(progress)
    n = graph.n_nodes
    n_columns = max(2, ceil(log2(k))) if n_columns is None else as_whole_number(n_columns, "n_columns", at_least=1)
    default_steps = 10 * max(1, ceil(log2(n / k)))
    n_steps = default_steps if n_steps is None else as_whole_number(n_steps, "n_steps", at_least=1)

    degrees = np.where(degrees > 0, np.maximum(degrees, graph.degrees), 0.0)
    loops = np.divide(degrees - graph.degrees, degrees, out=np.zeros(n), where=degrees > 0)[:, None]
    operator = NormalizedAdjacency(graph, degrees)
    columns = rng.standard_normal((n, n_columns))
    top = np.sqrt(degrees)
    # Sums by NumPy, not products by BLAS, whose last bits depend on its threads.
    columns -= top[:, None] * ((columns * top[:, None]).sum(axis=0) / (top * top).sum())
    log_scale, log_lengths = 0.0, np.zeros(2)
    for done in range(n_steps):
        if done and progress.out_of_time():
            break
        columns = operator.lazy_step(columns, 0.5) + 0.5 * loops * columns
        largest = np.abs(columns).max()
        if largest > 0:  # a power of the walk would underflow in the end
            columns /= largest
            log_scale += log(largest)
        if done + 1 in (n_steps // 2, n_steps):
            squared = max(float((columns * columns).sum()) / n_columns, FLOOR)
            log_lengths[int(done + 1 == n_steps)] = log(squared) + 2 * log_scale
        progress.step(done + 1, n_steps)
    n_left = exp(min(2 * log_lengths[0] - log_lengths[1], log(n)))
    return scale_rows(columns, degrees, "degree"), n_left


def scale_rows(vectors: np.ndarray, degrees: np.ndarray, rows: str) -> np.ndarray:
    """Rows to unit length, or divided by the root of the degree; zero rows stay zero."""
    length = np.sqrt(degrees if rows == "degree" else (vectors * vectors).sum(axis=1))
    return np.divide(vectors, length[:, None], out=np.zeros_like(vectors), where=length[:, None] > 0)


def _check(G, k, degrees, weight, rng) -> tuple[Graph, np.ndarray, int, np.random.Generator]:
    graph = as_graph(G, weight=weight)
    k = as_whole_number(k, "k", at_least=1, at_most=graph.n_nodes, why=", the number of nodes", if_none=K_OF_GRAPH)
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
                operator = NormalizedAdjacency(part, degrees[nodes])
                top = np.sqrt(degrees[nodes] / volumes[c])[:, None]
                unknown = Deflated(operator, top, 3.0) if known_top else operator  # 1 becomes -2, below all others
                values, vectors = top_eigenpairs(unknown, wanted - known_top, rng)
                candidates += [(value, c, nodes, vectors[:, i]) for i, value in enumerate(values.tolist())]
    candidates.sort(key=lambda pair: (-round(pair[0], 10), -volumes[pair[1]], pair[1]))
    return [(nodes, vector / np.sqrt((vector * vector).sum())) for _, _, nodes, vector in candidates[:k]]
