"""The estimators on nearest-neighbor graphs of points with classes: digits, PenDigits, Satellite and MNIST, 15-NN.

    GRAPHCLUST_DATA=... python bench_estimators.py [--repeats 3] [--only NAME ...]

k is the number of classes. All tools get one graph, of `knn_graph` (unweighted, union; MNIST's neighbors by Faiss), as
a precomputed affinity. Their times are of the clustering alone, medians of the seeds; scikit-learn runs in a process of
its own, after a first call that does not count, and that process ends after --patience seconds; so there are 10,000
drawn digits of MNIST as well. The last
column is with the making of the graph, by affinity="nearest_neighbors" of the estimators themselves. Leiden at k
bisects its resolution until k parts come out, see tools.py. Compilation is excluded.
"""

import multiprocessing
import time
import warnings

import numpy as np
from harness import asked, shown, write_table
from peers_data import points
from tools import LEIDEN_AT_K, sklearn_spectral, spread_over_seeds

from graphclust import CoresetSpectralClustering, SpectralClustering, adjusted_rand_index, knn_graph

N_NEIGHBORS = 15
SETS = ("digits", "pendigits", "satellite", "mnist-10000", "mnist")
MANY = 20_000  # points from which the whole-graph estimator is left out, and neighbors are found by Faiss


def load(name):
    if name != "digits":
        X, classes = points(name.split("-")[0])
        if "-" in name:
            drawn = np.random.default_rng(0).permutation(len(X))[: int(name.split("-")[1])]
            X, classes = X[drawn], classes[drawn]
        return X, np.unique(classes, return_inverse=True)[1]
    from sklearn.datasets import load_digits

    return load_digits(return_X_y=True)


def ours(model, **options):
    def run(matrix, k, seed):
        start = time.perf_counter()
        labels = model(k, affinity="precomputed", random_state=seed, **options).fit_predict(matrix)
        return labels, time.perf_counter() - start

    return run


def from_points(model, X, k):
    """Seconds of the estimator with the making of its graph."""
    start = time.perf_counter()
    model(k, affinity="nearest_neighbors", n_neighbors=N_NEIGHBORS, random_state=0).fit(X)
    return time.perf_counter() - start


def _answer(queue, matrix, k, repeats):
    warnings.filterwarnings("ignore")
    run = sklearn_spectral().run
    run(knn_graph(load("digits")[0], N_NEIGHBORS).to_scipy(), 10, 0)  # as the other tools are compiled by then
    queue.put([run(matrix, k, seed) for seed in range(repeats)])


def sklearn_within(patience, matrix, k, repeats):
    """Labels and seconds of each seed, or None where all of them took longer."""
    queue = multiprocessing.get_context("spawn").Queue()
    process = multiprocessing.get_context("spawn").Process(target=_answer, args=(queue, matrix, k, repeats))
    process.start()
    try:
        return queue.get(timeout=patience)
    except Exception:  # queue.Empty
        process.kill()
        return None
    finally:
        process.join()


def agreement(aris: list[float]) -> list[str]:
    """The median of the seeds, and half their range."""
    return [f"{np.median(aris):.3f}", f"{spread_over_seeds(aris):.3f}"]


def main() -> None:
    options = asked(__doc__, repeats=3, patience=180.0, only=list(SETS))
    tools = {
        "CoresetSpectralClustering": ours(CoresetSpectralClustering),
        "the same, normalized_cut": ours(CoresetSpectralClustering, objective="normalized_cut"),
        "SpectralClustering": ours(SpectralClustering),
        "Leiden at k": LEIDEN_AT_K.run,
    }
    digits = knn_graph(load("digits")[0], N_NEIGHBORS).to_scipy()
    for run in list(tools.values())[:3]:
        run(digits, 10, 0)  # compile
    rows = []
    for name in options.only:
        X, classes = load(name)
        n, k = len(X), int(classes.max()) + 1
        matrix = knn_graph(X, N_NEIGHBORS, method="approximate" if n > MANY else "exact", rng=0).to_scipy()
        first = None
        for tool, run in tools.items():
            if tool == "SpectralClustering" and n > MANY:
                continue
            runs = [run(matrix, k, seed) for seed in range(options.repeats)]
            aris = [adjusted_rand_index(labels, classes) for labels, _ in runs]
            seconds = float(np.median([seconds for _, seconds in runs]))
            first = first or seconds
            whole = ""
            if tool == "CoresetSpectralClustering" and n <= MANY:
                whole = f"{from_points(CoresetSpectralClustering, X, k):.2f}"
            times = [f"{seconds:.3f}", f"{seconds / first:.1f}", whole]
            rows.append(shown([name, str(n), str(k), tool, *agreement(aris), *times]))
        runs = sklearn_within(options.patience, matrix, k, options.repeats)
        if runs is None:
            rows.append([name, str(n), str(k), "scikit-learn", "", "", f"> {options.patience:.0f}", "", ""])
        else:
            from sklearn.cluster import SpectralClustering as Theirs

            seconds = float(np.median([seconds for _, seconds in runs]))
            whole = f"{from_points(Theirs, X, k):.2f}" if n <= MANY else ""
            aris = [adjusted_rand_index(labels, classes) for labels, _ in runs]
            times = [f"{seconds:.3f}", f"{seconds / first:.1f}", whole]
            rows.append([name, str(n), str(k), "scikit-learn", *agreement(aris), *times])
        shown(rows[-1])
    header = ["points", "n", "k", "tool", "ARI", "spread of ARI", "seconds", "times ours", "seconds with the graph"]
    title = f"Estimators on {N_NEIGHBORS}-nearest-neighbor graphs"
    write_table(
        "estimators", title, header, rows, "Spread is half the range over the seeds.", len(options.only) == len(SETS)
    )


if __name__ == "__main__":
    main()
