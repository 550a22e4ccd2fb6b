"""Dense twins of kernel k-means, written from the formulas, and the data that the tests share."""

import numpy as np

SEEDS = [411, 2087, 9153]


def blobs(n: int, rng: np.random.Generator, d: int = 3, k: int = 4) -> np.ndarray:
    return rng.normal(size=(k, d))[rng.integers(k, size=n)] * 4.0 + rng.normal(size=(n, d))


def random_kernel(n: int, rng: np.random.Generator) -> np.ndarray:
    """Positive semi-definite, with a diagonal that varies."""
    factor = rng.normal(size=(n, 5)) * rng.uniform(0.5, 2.0, size=(n, 1))
    return factor @ factor.T


def twin_sq_distances(K, weights, labels, k):
    """|phi(x) - c_j|^2 from the definition, (n, k); infinite for empty clusters."""
    out = np.full((len(K), k), np.inf)
    for j in range(k):
        members = labels == j
        mass = weights[members].sum()
        if mass > 0:
            inner = K[:, members] @ weights[members] / mass
            norm = weights[members] @ K[np.ix_(members, members)] @ weights[members] / mass**2
            out[:, j] = np.diag(K) - 2 * inner + norm
    return out


def twin_cost(K, weights, labels, k):
    return float((weights * twin_sq_distances(K, weights, labels, k)[np.arange(len(K)), labels]).sum())


def twin_minibatch(K, seeds, batches, rate, tau=None, renormalize=False):
    """Coefficients of the centers on the points, (k, n), and labels of each batch, straight from the definition."""
    k, n = len(seeds), len(K)
    start = np.eye(n)[seeds]
    means = [[] for _ in range(k)]  # of each cluster: (batch, share, mean as coefficients, number of points)
    totals, seen = np.zeros(k), []

    def center(j):
        run, held = means[j], 0
        if tau is not None:
            for first in range(len(means[j]) - 1, -1, -1):
                held += means[j][first][2]
                if held >= tau:
                    run = means[j][first:]
                    break
        total, left = np.zeros(n), 1.0
        for share, mean, _ in reversed(run):
            total, left = total + left * share * mean, left * (1.0 - share)
        total = total + left * start[j] if len(run) == len(means[j]) else total
        return total / total.sum() if renormalize else total

    for batch in batches:
        C = np.array([center(j) for j in range(k)])
        labels = (np.einsum("jx,xy,jy->j", C, K, C)[:, None] - 2 * C @ K[:, batch]).argmin(axis=0)
        seen.append(labels)
        for j in range(k):
            members = batch[labels == j]
            totals[j] += len(members)
            if len(members):
                share = np.sqrt(len(members) / len(batch)) if rate == "sqrt" else len(members) / totals[j]
                means[j].append((share, np.bincount(members, minlength=n) / len(members), len(members)))
    return np.array([center(j) for j in range(k)]), seen


def coefficients_on_all(result, n):
    dense = np.zeros((result.centers.coefficients.shape[0], n))
    dense[:, result.centers.rows] = result.centers.coefficients.toarray()
    return dense
