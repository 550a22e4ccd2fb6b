"""Top eigenvectors of a graph given as B B^T, from products with B alone: the graph itself is never formed.

Block power iteration with re-orthogonalization and a Rayleigh-Ritz step (Halko, Martinsson & Tropp 2011). A few dozen
columns tell many more clusters apart, so that the cost does not grow with k as that of k eigenvectors does.
"""

import numpy as np
from scipy import sparse

from graphclust.checks import Seed, as_choice, as_generator, as_whole_number
from graphclust.errors import GraphValidationError
from graphclust.float_scaling import exponent_beyond, largest_size, times_power_of_two
from graphclust.graph.matrices import as_checked_csr
from graphclust.progress import ProgressLike, as_progress
from graphclust.spectral.embedding import ROW_SCALES, scale_rows

N_STEPS = 12


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
