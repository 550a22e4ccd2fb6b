"""Embed the nodes of a graph by the top eigenvectors of N = D^-1/2 A D^-1/2: exactly, or by two power methods.

The block power method takes a graph as a product B B^T, which is never formed (Halko, Martinsson & Tropp 2011). A few
dozen columns tell many more clusters apart, so that the cost does not grow with k as that of k eigenvectors does.
"""

from math import ceil, exp, log, log2

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from graphclust.checks import K_OF_GRAPH, Seed, as_choice, as_generator, as_weights, as_whole_number
from graphclust.compiled.graphs.csr import lazy_step
from graphclust.compiled.runtime.blocks import entry_blocks, run_in_blocks
from graphclust.errors import GraphValidationError
from graphclust.float_scaling import exponent_beyond, largest_size, times_power_of_two
from graphclust.graph.container import Graph, GraphLike
from graphclust.graph.matrices import as_checked_csr
from graphclust.io.graph_input import as_graph
from graphclust.progress import ProgressLike, as_progress
from graphclust.spectral.eigenvectors import Deflated, top_eigenpairs

ENTRIES_PER_BLOCK = 1 << 16  # fewer than usual: small graphs are multiplied hundreds of times
FLOOR = 1e-300  # of a squared length: columns may be all zeros
ROW_SCALES = ("unit", "degree")
N_STEPS = 12


class NormalizedAdjacency(LinearOperator):
    """N x without forming N; rows are computed independently, so the result does not depend on the threads.

    graph : the graph.
    degrees : float64, shape (n_nodes,); D, the row sums by default. A node of degree 0 has a zero row and column.
    """

    def __init__(self, graph: Graph, degrees: np.ndarray | None = None):
        super().__init__(np.float64, (graph.n_nodes, graph.n_nodes))
        self.graph = graph
        self.degrees = graph.degrees if degrees is None else degrees
        self.scale = np.divide(1.0, np.sqrt(self.degrees), out=np.zeros(graph.n_nodes), where=self.degrees > 0)
        self._blocks = entry_blocks(graph.indptr, ENTRIES_PER_BLOCK)

    def lazy_step(self, columns: np.ndarray, stay: float) -> np.ndarray:
        """stay x + (1 - stay) N x for each column x; shape (n_nodes, n_columns)."""
        out = np.empty_like(columns)
        scaled = self.scale[:, None] * columns
        run_in_blocks(lazy_step, self._blocks, self.graph.rows, (stay, self.scale), scaled, columns, out)
        return out

    def _matmat(self, columns: np.ndarray) -> np.ndarray:
        return self.lazy_step(np.ascontiguousarray(columns, dtype=np.float64), 0.0)

    def toarray(self) -> np.ndarray:
        """N as a dense matrix, symmetric to the bit."""
        return self.graph.to_scipy().toarray() * (self.scale[:, None] * self.scale[None, :])

    def _adjoint(self) -> "NormalizedAdjacency":
        return self


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

    G, k, weight : see `spectral_embedding`.
    degrees : D, shape (n_nodes,); None for the row sums. The walk must not gain mass, or a few nodes would drown all
        others: where the row sum is more than D it is taken instead, and where it is less, the rest stays at the node.
    n_columns : max(2, ceil(log2 k)) by default.
    n_steps : multiplications by (I + N)/2; 10 max(1, ceil(log2(n_nodes / k))) by default.

    Returns float64, shape (n_nodes, n_columns), rows scaled by d^-1/2. The top vector D^1/2 1, which carries no
    information, is projected out of the random columns. Nodes of degree 0 have zero rows.

    Raises ParameterError (k, n_columns, n_steps out of range), GraphValidationError (no graph, impossible degrees),
    TypeError. Warns with GraphWarning as `as_graph` does.

    Source: Macgregor, "Fast and simple spectral clustering in theory and practice", NeurIPS 2023, Algorithm 2.

    >>> import networkx as nx
    >>> fast_spectral_embedding(nx.barbell_graph(3, 0), 2, rng=0).shape
    (6, 2)
    """
    return walk_columns(
        G, k, degrees=degrees, n_columns=n_columns, n_steps=n_steps, weight=weight, rng=rng, progress=progress
    )[0]


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
    candidates = [(1.0, c, nodes, np.sqrt(degrees[nodes])) for c, nodes in enumerate(members)] if known_top else []
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


def block_power_embedding(
    B: sparse.csr_array,
    n_columns: int,
    *,
    n_steps: int = N_STEPS,
    rows: str = "unit",
    rng: Seed = None,
    progress: ProgressLike = None,
) -> np.ndarray:
    """Embed the rows of B by the top eigenvectors of D^-1/2 B B^T D^-1/2, where D are the row sums of B B^T.

    B : sparse, entries >= 0, shape (m, n), such as `two_step_factor`; n_columns : 1 <= n_columns <= m.
    n_steps : multiplications by B B^T; a column whose eigenvalue is a fraction f of the last one kept fades by
    f^n_steps. Where the budget of a `Progress` runs out fewer are made.
    rows : "unit" or "degree", as in `spectral_embedding`.

    Raises TypeError when B is no sparse array, GraphValidationError when it has negative or non-finite entries,
    ParameterError (n_columns, n_steps, rows).

    Returns float64, shape (m, n_columns), by decreasing eigenvalue; zero rows of B stay zero.

    Source: Halko, Martinsson & Tropp, "Finding structure with randomness", SIAM Review 53, 2011, Algorithms 4.4, 5.3.

    >>> B = sparse.csr_array([[1.0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]])
    >>> points = block_power_embedding(B, 2, rng=0)
    >>> bool(np.allclose(points @ points.T, [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]]))
    True
    """
    if not sparse.issparse(B):
        raise TypeError(
            f"B is a {type(B).__name__}, expected a SciPy sparse array, such as two_step_factor gives; a graph itself "
            "is embedded by spectral_embedding"
        )
    B = as_checked_csr(B, "B")
    m = B.shape[0]
    n_columns = as_whole_number(n_columns, "n_columns", at_least=1, at_most=m, why=", the number of rows")
    n_steps = as_whole_number(n_steps, "n_steps", at_least=1)
    as_choice(rows, "rows", ROW_SCALES)
    bad = np.flatnonzero(~((B.data >= 0) & np.isfinite(B.data)))
    if len(bad):
        raise GraphValidationError(f"B holds {B.data[bad[0]]} among its entries, expected finite numbers >= 0")
    rng, progress = as_generator(rng), as_progress(progress)
    exponent = exponent_beyond(largest_size(B), 1e-100, 1e100)  # that of B neither changes eigenvalues nor vectors
    B = B if exponent == 0 else times_power_of_two(B, -exponent)
    degrees = B @ (B.T @ np.ones(m))
    scale = np.divide(1.0, np.sqrt(degrees), out=np.zeros(m), where=degrees > 0)
    scaled = sparse.dia_array((scale[None, :], [0]), shape=(m, m)) @ B
    transposed = scaled.T.tocsr()
    basis = np.linalg.qr(scaled @ (transposed @ rng.standard_normal((m, n_columns))))[0]
    for done in range(n_steps - 1):
        if progress.out_of_time():
            break
        basis = np.linalg.qr(scaled @ (transposed @ basis))[0]
        progress.step(done + 1, n_steps)
    half = transposed @ basis
    _, mixing = np.linalg.eigh(half.T @ half)
    vectors = basis @ mixing[:, ::-1]
    largest = np.abs(vectors).argmax(axis=0)
    vectors *= np.where(vectors[largest, np.arange(n_columns)] < 0, -1.0, 1.0)
    vectors[degrees == 0] = 0.0
    embedded = scale_rows(vectors, degrees, rows)
    return embedded if exponent == 0 or rows == "unit" else np.ldexp(embedded, -exponent)
