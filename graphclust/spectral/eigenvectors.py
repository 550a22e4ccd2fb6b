"""Top eigenvectors, with a check of every solver's result.

LAPACK's solvers of a part of the spectrum return too few pairs of a multiple eigenvalue, and a Lanczos process from one
vector finds only one of its eigenvectors, however good the residuals. Neither reports it. So a result is checked
against the matrix: count, finite numbers, orthonormality and residuals; and after a Lanczos process, whether it missed
an eigenvalue. For this check a second process starts from a random vector orthogonal to all vectors found. A Ritz value
above t proves that an eigenvalue was missed. An eigenvalue above t stays hidden only if the start has a share of less
than 1/p_j(t) in its eigenvector, where p_j is the process's polynomial, v_(j+1) = p_j(N) v_1; for a random start that
is as unlikely as p_j(t) is large (van Dorsselaer, Hochstenbach & van der Vorst, "Computing probabilistic bounds for
extreme eigenvalues of symmetric matrices with the Lanczos method", SIAM J. Matrix Anal. Appl. 22, 2000).

If an eigenvalue was missed, ARPACK runs again on the complement of the vectors found. If a solver fails, the next one
is tried: LAPACK on the full matrix if that is small, else a block Lanczos process with thick restarts (Wu & Simon,
"Thick-restart Lanczos method for large symmetric eigenvalue problems", SIAM J. Matrix Anal. Appl. 22, 2000). The number
of products is bounded; beyond it, ConvergenceError says what was found.
"""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from math import ceil, log, pi

import numpy as np
from scipy.linalg import LinAlgError, eigh, qr
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from graphclust.errors import ConvergenceError, ParameterError

DENSE_SIZE = 128  # up to here a dense solver is quicker, and small enough that BLAS keeps to one thread
QUICK_DENSE = 1_000  # the dense solver takes 0.2 s, no longer than others that need a second try
LARGEST_DENSE = 3_000  # 6 s and 0.3 GB
LARGEST_MATRIX = 20_000  # where most eigenvectors are wanted nothing but a dense solver will do: 10 GB
DENSE_SHARE = 5  # more than one eigenvector in so many: ARPACK's O(n k^2), vector by vector, costs more than O(n^3)
TOLERANCE = 1e-8  # of residuals, against the largest eigenvalue; eigenvalues are then right to its square, or nearly
TRUSTED = 1e-6  # of what a solver returned: far from its tolerance, and so far no embedding changes visibly
EQUAL = 1e-10  # eigenvalues this close are one eigenvalue, whose eigenvectors any rotation may mix
MISSED = 1e-8  # an eigenvalue this far above the k-th one found, and not among them, was missed
RISK = 1e-4  # the probability that the search overlooks an eigenvalue that was missed, at most
FEW_PRODUCTS, MOST_PRODUCTS = 5_000, 40_000  # columns multiplied by one solver, up to QUICK_DENSE nodes and beyond:
# a mesh of 32,768 nodes takes 1,400, a path of 3,000 takes 32,000
LEAST_LANCZOS = 30  # vectors; ARPACK's own 20 take half as many products again on paths and meshes, 40 cost more each
LEAST_BLOCK, LARGEST_BLOCK = 8, 32  # columns; a block finds as many eigenvectors of one eigenvalue as it has columns
MOST_ROUNDS = 8  # on the complement of what was found; each finds one more eigenvector of each eigenvalue at least
LOST = 1e-9  # a column of which no more is left outside the basis is rounding
SHORTEST = 1e-300  # a step of length 0 has reached all that the start has a part in


class _Failed(Exception):
    """A solver's result is refused; n_converged of its pairs are eigenpairs."""

    def __init__(self, why: str, n_converged: int = 0):
        super().__init__(why)
        self.n_converged = n_converged


def top_eigenpairs(operator: LinearOperator, k: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The k largest eigenvalues of a symmetric operator, with their multiplicities, and orthonormal eigenvectors.

    operator : float64, shape (n, n); if it has a method `toarray`, small matrices are made by it.
    k : 1 <= k <= n.
    rng : one number is drawn from it, whatever the solvers need.

    Returns values, shape (k,), decreasing, and vectors, shape (n, k). Of an eigenvalue whose eigenvectors are not all
    among the k, the ones returned are as random as the starts. Each column's sign is open.

    Raises ConvergenceError when no solver's answer stands, after a bounded number of products; ParameterError when most
    eigenvectors of a matrix too large for dense solvers are wanted.

    >>> from scipy.sparse.linalg import aslinearoperator
    >>> values, vectors = top_eigenpairs(aslinearoperator(np.ones((4, 4))), 3, np.random.default_rng(0))
    >>> values.round(6) + 0.0
    array([4., 0., 0.])
    >>> vectors.shape
    (4, 3)
    """
    n = operator.shape[0]
    rng = np.random.default_rng(rng.integers(2**63))  # how much is drawn must not depend on the machine's solvers
    failures, n_converged = [], 0
    for name in _solvers(n, k):
        try:
            values, vectors = SOLVERS[name](operator, k, rng)
            return _any_basis(values, vectors, k, rng)
        except _Failed as failure:
            failures.append(f"{name}: {failure}")
            n_converged = max(n_converged, failure.n_converged)
    raise ConvergenceError(
        f"{n_converged} of k={k} eigenvectors converged on {n} nodes ({'; '.join(failures)}); use the power method, "
        "fewer clusters, or weights of a narrower range"
    )


def _solvers(n: int, k: int) -> list[str]:
    dense = ["divide and conquer", "qr iteration"]
    if n <= DENSE_SIZE or k * DENSE_SHARE >= n:
        if n > LARGEST_MATRIX:
            raise ParameterError(
                f"k={k} of {n} eigenvectors need a dense solver, which is limited to {LARGEST_MATRIX:,} nodes; lower k"
            )
        return dense
    return ["arpack", *(dense if n <= LARGEST_DENSE else ["block lanczos"])]


def _dense_pairs(operator, k: int, rng, driver: str) -> tuple[np.ndarray, np.ndarray]:
    """All eigenpairs: LAPACK's solvers of a part of them may leave out multiple ones."""
    n = operator.shape[0]
    matrix = operator.toarray() if hasattr(operator, "toarray") else operator @ np.identity(n)
    if not np.isfinite(matrix).all():
        raise _Failed("the matrix has non-finite entries")
    try:
        values, vectors = eigh(matrix, driver=driver, check_finite=False, overwrite_a=True)
    except LinAlgError as problem:
        raise _Failed(str(problem)) from None
    if len(values) != n:
        raise _Failed(f"only {len(values)} of all {n} pairs came back")
    return _check(operator, k, values, vectors)


def _by_arpack(operator, k, rng):
    """The k largest eigenpairs by ARPACK; pairs that it missed are searched for in the complement of the found ones."""
    values, vectors = _arpack_pairs(operator, k, rng)
    n_rounds = 0
    while _has_missed_one(operator, values, vectors, rng):
        # In a small matrix the dense solver finds all at once.
        if n_rounds == MOST_ROUNDS or len(vectors) <= QUICK_DENSE:
            raise _Failed("an eigenvalue was missed", k)
        others = Deflated(operator, vectors, 3.0 * max(1.0, float(np.abs(values).max())))
        _, more = _arpack_pairs(others, ceil(k / 2), rng)
        basis = np.linalg.qr(np.hstack([vectors, more]))[0]
        product = basis.T @ (operator @ basis)
        all_values, mixing = np.linalg.eigh((product + product.T) / 2)
        values, vectors = _check(operator, k, all_values[-k:], basis @ mixing[:, -k:])
        n_rounds += 1
    return values, vectors


def _arpack_pairs(operator, k: int, rng) -> tuple[np.ndarray, np.ndarray]:
    """What one run of ARPACK finds; _Failed where it does not converge within its budget of products."""
    budget = _Budget(operator)
    n = operator.shape[0]
    n_lanczos = min(n, max(2 * k + 1, LEAST_LANCZOS))
    start = rng.standard_normal(n)
    try:
        # ARPACK's own limit counts restarts, and does not hold where it breaks down again and again.
        pairs = eigsh(budget, k, which="LA", v0=start, ncv=n_lanczos, tol=TOLERANCE, maxiter=MOST_PRODUCTS)
    except ArpackError as problem:
        raise _Failed(str(problem), len(getattr(problem, "eigenvalues", ()))) from None
    return _check(operator, k, *pairs)


def _by_block_lanczos(operator, k, rng):
    """Thick restarts of a block Lanczos process from random columns.

    The basis is orthogonalized in full and Q^T N Q computed from the products, so that columns in which the process
    breaks down can be replaced by random ones.
    """
    budget = _Budget(operator)
    n, size = operator.shape[0], 0
    block = min(max(LEAST_BLOCK, k), LARGEST_BLOCK)
    kept = k + block
    largest = min(n, k + max(k, 10 * block))
    basis = np.empty((n, largest), order="F")
    projected = np.zeros((largest, largest))
    fresh, _ = _orthonormalize(rng.standard_normal((n, block)), basis[:, :0], rng)
    while True:
        basis[:, size : size + block] = fresh
        product = budget @ fresh
        coefficients = basis[:, : size + block].T @ product
        projected[: size + block, size : size + block] = coefficients
        projected[size : size + block, :size] = coefficients[:size].T
        size += block
        fresh, rest = _orthonormalize(product, basis[:, :size], rng)
        if size + block <= largest:
            continue
        square = projected[:size, :size]
        values, mixing = np.linalg.eigh((square + square.T) / 2)
        values, mixing = values[::-1], mixing[:, ::-1]
        residuals = np.sqrt(((rest @ mixing[size - block :, :k]) ** 2).sum(axis=0))
        budget.n_converged = int((residuals <= TOLERANCE * max(1.0, np.abs(values).max())).sum())
        if budget.n_converged == k:
            break
        basis[:, :kept] = basis[:, :size] @ mixing[:, :kept]
        projected[:] = 0.0
        projected[np.arange(kept), np.arange(kept)] = values[:kept]
        size = kept
    values, vectors = _check(operator, k, values[:k], basis[:, :size] @ mixing[:, :k])
    if _has_missed_one(operator, values, vectors, rng):
        raise _Failed("an eigenvalue was missed", k)
    return values, vectors


def _orthonormalize(columns, basis, rng) -> tuple[np.ndarray, np.ndarray]:
    """Q and R of the part of the columns outside a basis; for a column inside it, Q is random and R is 0."""
    scale = np.sqrt((columns * columns).sum(axis=0)).max()
    for _ in range(2):  # twice is enough
        columns = columns - basis @ (basis.T @ columns)
    q, r, order = qr(columns, mode="economic", pivoting=True)
    n_left = int((np.abs(np.diag(r)) > LOST * scale).sum())
    rest = np.zeros_like(r)
    rest[:n_left, order] = r[:n_left]
    if n_left < len(r):
        q[:, n_left:] = rng.standard_normal((len(q), len(r) - n_left))
        basis = np.hstack([basis, q[:, :n_left]])
        for _ in range(2):
            q[:, n_left:] -= basis @ (basis.T @ q[:, n_left:])
        q[:, n_left:] = np.linalg.qr(q[:, n_left:])[0]
    return q, rest


class Deflated(LinearOperator):
    """N - shift V V^T: lowers the eigenvalues of known eigenvectors, orthonormal columns of V, by the shift."""

    def __init__(self, operator: LinearOperator, known: np.ndarray, shift: float):
        super().__init__(np.float64, operator.shape)
        self.operator, self.known, self.shift = operator, known, shift

    def _matmat(self, columns: np.ndarray) -> np.ndarray:
        product = self.operator._matmat(columns)  # SciPy's checks take longer than the product of a small graph
        parts = self.shift * (self.known.T @ columns)
        # Of one vector the product of numbers is quicker than that of matrices.
        product -= self.known * parts if self.known.shape[1] == 1 else self.known @ parts
        return product

    def toarray(self) -> np.ndarray:
        return self.operator.toarray() - self.shift * (self.known @ self.known.T)


class _Budget(LinearOperator):
    """The same operator for a limited number of products, each of which must be finite."""

    def __init__(self, operator: LinearOperator):
        super().__init__(np.float64, operator.shape)
        self.operator = operator
        self.n_allowed = self.n_left = FEW_PRODUCTS if operator.shape[0] <= QUICK_DENSE else MOST_PRODUCTS
        self.n_converged = 0

    def _matmat(self, columns: np.ndarray) -> np.ndarray:
        self.n_left -= columns.shape[1]
        if self.n_left < 0:
            raise _Failed(f"no convergence after {self.n_allowed:,} products", self.n_converged)
        product = self.operator._matmat(columns)
        if not np.isfinite(product.sum()):
            raise _Failed("a product with the matrix has non-finite entries")
        return product

    def matvec(self, column: np.ndarray) -> np.ndarray:
        """The product with a column of shape (n,), without SciPy's checks: ARPACK asks for hundreds."""
        return self._matmat(column.reshape(-1, 1)).ravel()


def _check(operator, k: int, values: np.ndarray, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pairs by decreasing eigenvalue; _Failed unless the first k are orthonormal eigenpairs."""
    n = operator.shape[0]
    if len(values) < k or vectors.shape != (n, len(values)):
        raise _Failed(f"only {len(values)} pairs came back")
    if not (np.isfinite(values).all() and np.isfinite(vectors).all()):
        raise _Failed("non-finite numbers came back")
    order = np.argsort(-values, kind="stable")
    values, vectors = values[order], vectors[:, order]
    top = np.ascontiguousarray(vectors[:, :k])
    residuals = operator @ top - top * values[:k]
    trusted = np.sqrt((residuals * residuals).sum(axis=0)) <= TRUSTED * max(1.0, np.abs(values).max())
    if not trusted.all():
        raise _Failed("pairs came back that are not eigenpairs", int(trusted.sum()))
    if np.abs(top.T @ top - np.identity(k)).max() > TRUSTED:
        raise _Failed("eigenvectors came back that are not orthonormal")
    return values, vectors


def _has_missed_one(operator, values: np.ndarray, vectors: np.ndarray, rng) -> bool:
    """Whether there is an eigenvalue above the last of these, with an eigenvector orthogonal to all of them; see above.

    Without reorthogonalization, which the largest eigenvalue does not need.
    """
    budget = _Budget(operator)
    n = len(vectors)
    threshold = values.min() + MISSED * max(1.0, np.abs(values).max())
    # A random unit vector has less than x of a given direction with a probability of at most sqrt(2 n / pi) x.
    enough = log(2 * n / pi) / 2 - log(RISK)
    previous, length = np.zeros(n), 0.0
    current = rng.standard_normal(n)
    current -= vectors @ (vectors.T @ current)
    current /= np.sqrt((current * current).sum())
    polynomial, polynomial_before, log_scale = 1.0, 0.0, 0.0
    while log_scale + log(polynomial) < enough:
        product = budget.matvec(current)
        product -= vectors @ (vectors.T @ product)
        slope = float((current * product).sum())
        product -= slope * current + length * previous
        length_after = max(float(np.sqrt((product * product).sum())), SHORTEST)
        next_one = ((threshold - slope) * polynomial - length * polynomial_before) / length_after
        polynomial, polynomial_before = next_one, polynomial
        if polynomial <= 0.0:
            return True
        previous, current, length = current, product / length_after, length_after
        if polynomial > 1.0:
            polynomial_before, log_scale = polynomial_before / polynomial, log_scale + log(polynomial)
            polynomial = 1.0
    return False


def _any_basis(values: np.ndarray, vectors: np.ndarray, k: int, rng) -> tuple[np.ndarray, np.ndarray]:
    """k of the eigenpairs, with eigenvectors of equal eigenvalues that do not depend on the solver.

    They are the parts in the eigenspace of random columns, made orthonormal.
    """
    chosen = np.array(vectors[:, :k])
    first_of_each = np.flatnonzero(np.diff(values, prepend=np.inf) < -EQUAL * max(1.0, np.abs(values).max()))
    for first, last in pairwise([*first_of_each.tolist(), len(values)]):
        if last - first > 1 and first < k:
            space = vectors[:, first:last]
            columns = rng.standard_normal((len(space), min(last, k) - first))
            chosen[:, first:last] = space @ np.linalg.qr(space.T @ columns)[0]
    return values[:k], chosen


SOLVERS: dict[str, Callable[..., tuple[np.ndarray, np.ndarray]]] = {
    "divide and conquer": partial(_dense_pairs, driver="evd"), "qr iteration": partial(_dense_pairs, driver="ev"),
    "arpack": _by_arpack, "block lanczos": _by_block_lanczos,
}  # fmt: skip
