"""The k-means family against scikit-learn and faiss, in one run with equal threads: time to an energy, and to the end.

    GRAPHCLUST_DATA=... BENCH_THREADS=1 python bench_kmeans.py mnist

The parts: embedding mnist letter sparse seeding; without a name all of them.

Energies are mean squared distances on points held out; E* is the lowest that any method reaches from the same start.
A rival's time to an energy is found by running it for 1, 2, 3, ... iterations' worth of time: for Lloyd and Elkan one
run with `max_iter` for each count is timed and validated. Threads: THREADS for all, medians over SEEDS.
"""

import os
import sys
import warnings

THREADS = int(os.environ.get("BENCH_THREADS", "1"))
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = str(THREADS)

import faiss  # noqa: E402
import numpy as np  # noqa: E402
from harness import write_table  # noqa: E402
from peers_data import points  # noqa: E402
from scipy import sparse  # noqa: E402
from sklearn.cluster import KMeans, kmeans_plusplus  # noqa: E402
from tools import timed  # noqa: E402

import graphclust  # noqa: E402

SEEDS = tuple(map(int, os.environ.get("BENCH_SEEDS", "1,2,3").split(",")))
SUFFIX = "" if THREADS == 1 else f"_{THREADS}_threads"
warnings.simplefilter("ignore")


def mnist() -> tuple[np.ndarray, np.ndarray]:
    """60,000 and 10,000 images of 784 pixels in [0, 1], float32."""
    images = points("mnist")[0] / np.float32(255)
    return images[:60_000], images[60_000:]


def letter() -> tuple[np.ndarray, np.ndarray]:
    X = points("letter")[0]
    X = X[np.random.default_rng(0).permutation(len(X))]
    return X[:17000], X[17000:]


def energy(V, centroids) -> float:
    centroids = np.asarray(centroids, dtype=V.dtype)
    return graphclust.block_sums(V, centroids).inertia / V.shape[0]


def iteration_curve(run, V, most: int) -> np.ndarray:
    """(seconds, energy) of run(max_iter) after 1, 2, ... iterations, some left out as the counts grow."""
    curve, count = [], 1
    while count <= most:
        seconds, (centroids, n_iter) = timed(run, count)
        curve.append((seconds, energy(V, centroids)))
        if n_iter < count:
            break
        count = max(count + 1, int(count * 1.3))
    return np.array(curve)


def time_to(curve: np.ndarray, level: float) -> float:
    reached = np.flatnonzero(curve[:, 1] <= level)
    return curve[reached[0], 0] if len(reached) else np.inf


def sklearn_run(X, start, algorithm):
    def run(max_iter):
        model = KMeans(len(start), init=start, n_init=1, tol=0.0, max_iter=max_iter, algorithm=algorithm).fit(X)
        return model.cluster_centers_, model.n_iter_

    return run


def faiss_run(X, start):
    def run(max_iter):
        model = faiss.Kmeans(
            X.shape[1], len(start), niter=max_iter, min_points_per_centroid=1, max_points_per_centroid=len(X)
        )
        model.train(X, init_centroids=start)
        return model.centroids, max_iter

    return run


def curves(X, V, start, seed: int, most: int) -> dict[str, tuple[np.ndarray, float, np.ndarray]]:
    """For each method its curve on V, the seconds of a whole run, and the centroids at its end."""
    k = len(start)
    found = {}
    ours = {
        "nested mini-batch": lambda **more: graphclust.nested_minibatch_kmeans(X, k, init=start, rng=seed, **more),
        "kmeans": lambda **more: graphclust.kmeans(X, k, init=start, max_iter=1000, **more),
    }
    for name, run in ours.items():
        seconds, result = timed(run)
        recorded = []
        table = run(validation=lambda centroids: recorded.append(centroids.copy()) or 0.0).validation  # noqa: B023
        table[:, 1] = [energy(V, centroids) for centroids in recorded]
        found[name] = table, seconds, result.centroids
    for algorithm in ("lloyd", "elkan"):
        run = sklearn_run(X, start, algorithm)
        seconds, (centroids, _) = timed(run, 1000)
        found[f"scikit-learn {algorithm}"] = iteration_curve(run, V, most), seconds, centroids
    run = faiss_run(X, start)
    n_iter = graphclust.kmeans(X, k, init=start, max_iter=1000).n_iter
    seconds, (centroids, _) = timed(run, n_iter)
    found["faiss"] = iteration_curve(run, V, most), seconds, centroids
    return found


def energy_table(name: str, title: str, X, V, k: int, most: int) -> None:
    """Seconds to 2 % and 1 % of E*, and to convergence, from k random points."""
    graphclust.nested_minibatch_kmeans(X[: 50 * k], k, batch_size=10 * k, rng=1)
    graphclust.kmeans(X[: 50 * k], k, rng=1)
    runs = []
    for seed in SEEDS:
        rows = np.random.default_rng(seed).choice(len(X), k, replace=False)
        found = curves(X, V, X[rows].copy(), seed, most)
        lowest = min(curve[:, 1].min() for curve, _, _ in found.values())
        runs.append({})
        for method, (curve, seconds, centroids) in found.items():
            times = [time_to(curve, level) for level in (1.02 * lowest, 1.01 * lowest, 1.01 * energy(V, centroids))]
            inertia = graphclust.block_sums(X, np.asarray(centroids, X.dtype)).inertia
            runs[-1][method] = (*times, seconds, inertia)
        print(seed, runs[-1], flush=True)
    medians = {method: np.median([run[method] for run in runs], axis=0) for method in runs[0]}
    nested = medians["nested mini-batch"]
    rows = []
    for method, line in medians.items():
        ratios = [f"{line[c] / nested[c]:.1f}" for c in (1, 3)]
        rows.append([method, *(f"{value:.3f}" for value in line[:4]), *ratios, f"{line[4]:.0f}"])
    head = ["method", "to 2 % s", "to 1 % s", "to 1 % of its own end s", "converged s"]
    head += ["to 1 % / nested", "converged / nested", "inertia"]
    note = f"k = {k}, {THREADS} thread(s), medians of seeds {SEEDS}; inf: not in {most} iterations."
    write_table(name, title, head, rows, note)


def bench_mnist() -> None:
    energy_table(f"kmeans_mnist{SUFFIX}", "MNIST, 60,000 x 784 float32, validation 10,000", *mnist(), 50, 25)


def bench_letter() -> None:
    energy_table(f"kmeans_letter{SUFFIX}", "Letter, 17,000 x 16 float32, validation 3,000", *letter(), 50, 150)


def topics(n: int, d: int, k: int, seed: int, mix: float = 0.2) -> sparse.csr_array:
    """Documents of k planted topics: words of Zipf frequency, a share `mix` of them by the topic's own ranking."""
    rng = np.random.default_rng(seed)
    frequency = np.cumsum(1.0 / np.arange(1, d + 1))
    lengths = rng.poisson(72, n)
    rows = np.repeat(np.arange(n), lengths)
    ranks = np.searchsorted(frequency, rng.random(len(rows)) * frequency[-1])
    ranking = np.array([rng.permutation(d) for _ in range(k)], dtype=np.int32)
    own = rng.random(len(rows)) < mix
    columns = np.where(own, ranking[rng.integers(0, k, n)[rows], ranks], ranks)
    X = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, d))
    X.sum_duplicates()
    X.data = (1.0 + np.log(X.data)) * np.log(n / np.bincount(X.indices, minlength=d))[X.indices]
    X = sparse.diags_array(1.0 / np.sqrt(X.multiply(X).sum(axis=1))) @ X
    return sparse.csr_array(X.astype(np.float32))


def bench_sparse() -> None:
    n, d, k = 100_000, 47_000, 50
    rows = []
    for seed in SEEDS:
        X = topics(n, d, k, seed)
        start = X[np.random.default_rng(seed).choice(n, k, replace=False)].toarray()
        if seed == SEEDS[0]:
            graphclust.nested_minibatch_kmeans(X[:2000], k, init=start, batch_size=500, max_iter=5, rng=1)
        nested_seconds, nested = timed(graphclust.nested_minibatch_kmeans, X, k, init=start, rng=seed)
        ours_seconds, ours = timed(graphclust.kmeans, X, k, init=start, max_iter=1000)
        theirs = sparse.csr_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
        few = 3
        few_seconds, _ = timed(sklearn_run(theirs, start, "lloyd"), few)
        plain = few_seconds / few * ours.n_iter
        inertias = nested.inertia, ours.inertia
        rows.append((nested_seconds, ours_seconds, plain, *inertias, nested.n_iter, ours.n_iter))
        print(X.nnz / n, *rows[-1], flush=True)
    line = np.median(rows, axis=0)
    lines = [
        ["nested mini-batch", f"{line[0]:.2f}", "1.0", f"{line[3]:.0f}", f"{line[5]:.0f}"],
        ["kmeans", f"{line[1]:.2f}", f"{line[1] / line[0]:.1f}", f"{line[4]:.0f}", f"{line[6]:.0f}"],
        ["scikit-learn lloyd (from 3 iterations)", f"{line[2]:.2f}", f"{line[2] / line[0]:.1f}", "", f"{line[6]:.0f}"],
    ]
    note = f"{n:,} x {d:,} CSR float32, about 62 entries a row, 50 planted topics, k = 50, {THREADS} thread(s)."
    write_table("kmeans_sparse", "Sparse points", ["method", "s", "/ nested", "inertia", "iterations"], lines, note)


def bench_seeding() -> None:
    X, _ = mnist()
    graphclust.kmeans_parallel(X[:2000], 20, rng=1)
    graphclust.kmeans_plusplus(X[:2000], 20, rng=1)
    lines = []
    for k in (50, 500):
        methods = {
            "scikit-learn k-means++, plain": lambda s, k=k: kmeans_plusplus(X, k, n_local_trials=1, random_state=s)[0],
            "k-means++, plain": lambda s, k=k: X[graphclust.kmeans_plusplus(X, k, rng=s)],
            "k-means++, greedy": lambda s, k=k: X[graphclust.kmeans_plusplus(X, k, greedy=True, rng=s)],
            "k-means||": lambda s, k=k: graphclust.kmeans_parallel(X, k, rng=s),
        }
        if k == 50:
            methods["scikit-learn k-means++, greedy"] = lambda s: kmeans_plusplus(X, 50, random_state=s)[0]
        figures = {}
        for name, method in methods.items():
            seeds = SEEDS if k == 50 or name == "k-means||" else SEEDS[:1]
            runs = []
            for seed in seeds:
                seconds, centroids = timed(method, seed)
                runs.append((seconds, graphclust.block_sums(X, centroids).inertia))
            figures[name] = np.median(runs, axis=0)
            print(k, name, figures[name], flush=True)
        seconds, inertia = figures["scikit-learn k-means++, plain"]
        for name, (s, i) in figures.items():
            lines.append([str(k), name, f"{s:.2f}", f"{seconds / s:.1f}", f"{i / inertia:.3f}"])
    head = ["k", "method", "s", "times faster than scikit-learn plain", "inertia / scikit-learn plain"]
    note = f"60,000 x 784 float32, {THREADS} thread(s); medians of 3 seeds, one at k = 500 but for k-means||."
    write_table("kmeans_seeding", "Seeding on MNIST", head, lines, note)


def bench_embedding() -> None:
    """Coreset-sized problems: Lloyd from the same start, and the seeding before it."""
    lines = []
    rng = np.random.default_rng(0)
    graphclust.kmeans(rng.random((2000, 8)), 50, init="greedy k-means++", rng=1)
    graphclust.kmeans(rng.random((2000, 80)), 50, rng=1)
    for n, d, k in ((2500, 8, 250), (20000, 32, 1000), (50000, 16, 200), (10000, 250, 250)):
        runs = []
        for seed in SEEDS:
            rng = np.random.default_rng(seed)
            spread = 0.8 * rng.standard_normal((n, d)) * rng.gamma(2.0, 0.5, (n, 1))
            X = rng.standard_normal((k, d))[rng.integers(0, k, n)] + spread
            greedy, rows = timed(graphclust.kmeans_plusplus, X, k, greedy=True, rng=1)
            their_greedy, _ = timed(kmeans_plusplus, X, k, random_state=1)
            start = X[rows]
            seconds, ours = timed(graphclust.kmeans, X, k, init=start, max_iter=1000)
            their_seconds, (centroids, _) = timed(sklearn_run(X, start, "lloyd"), 1000)
            single = X.astype(np.float32)
            faiss_seconds, _ = timed(faiss_run(single, single[rows]), ours.n_iter)
            ratio = graphclust.block_sums(X, centroids).inertia / ours.inertia
            runs.append((greedy, their_greedy, seconds, their_seconds, faiss_seconds, ratio))
        lines.append([f"{n:,} x {d}, k = {k}", *(f"{value:.4f}" for value in np.median(runs, axis=0))])
        print(*lines[-1], flush=True)
    head = ["points", "greedy seeding s", "scikit-learn's s", "kmeans s", "scikit-learn lloyd s"]
    head += ["faiss s (float32, as many iterations)", "scikit-learn's inertia / ours"]
    note = f"Planted Gaussian clusters, float64, {THREADS} thread(s), medians of seeds {SEEDS}."
    write_table("kmeans_embedding", "k-means at the size of coresets", head, lines, note)


if __name__ == "__main__":
    parts = {name.removeprefix("bench_"): f for name, f in list(globals().items()) if name.startswith("bench_")}
    for part in sys.argv[1:] or parts:
        parts[part]()
